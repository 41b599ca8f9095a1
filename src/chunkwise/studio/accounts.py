"""Who may come in where others reach the server: names with roles, hashed passwords and keys, in one file."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from chunkwise.base.atomic_files import locked, replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted, did_you_mean
from chunkwise.records.json import json_text

Role = Literal["reader", "labeler", "owner"]
ROLES: tuple[Role, ...] = ("reader", "labeler", "owner")
"""Each may do what those before it may: look and ask; label; change runs, indexes and questions."""
KEYS_VARIABLE = "CHUNKWISE_KEYS"
LEAST_PASSWORD = 10
_LONGEST = 200
_NAME = re.compile(r"[\w.@+-]{1,64}")
_COST = (1 << 14, 8, 5)
"""Of scrypt: 16 MB and some tenths of a second for each try."""
_KEY = "cw_"


class Caller(NamedTuple):
    """Who asks, and what that person or program may do."""

    name: str
    role: Role
    is_known: bool = False
    """Whether it is the name of an account: what such a person says is signed with it."""

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True, slots=True)
class Account:
    """A person or a program."""

    name: str
    role: Role
    password: str = ""
    """Its hash; empty: nobody logs in by this name."""
    keys: tuple[str, ...] = ()
    """Hashes of keys that programs send."""

    @property
    def caller(self) -> Caller:
        return Caller(self.name, self.role, is_known=True)


@dataclass(frozen=True, slots=True)
class AccountList:
    """What a file of users holds."""

    format: Literal["chunkwise serve users"]
    version: Literal[1]
    users: tuple[Account, ...] = ()


def hashed_password(password: str) -> str:
    """With its own salt, so that equal passwords are not seen to be equal."""
    if not LEAST_PASSWORD <= len(password) <= _LONGEST:
        raise InvalidParameter(
            f"the password has {counted(len(password), 'character')}; expected {LEAST_PASSWORD} to {_LONGEST}"
        )
    salt = secrets.token_bytes(16)
    n, r, p = _COST
    return f"scrypt:{n}:{r}:{p}:{salt.hex()}:{_scrypt(password, salt, _COST).hex()}"


def _scrypt(password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    text = password[:_LONGEST].encode("utf-8", "replace")
    return hashlib.scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32)


def is_password(password: str, hashed: str) -> bool:
    """Takes as long for a name without a password: nothing is told by the time."""
    kind, *parts = hashed.split(":") if hashed else ("none",)
    if kind != "scrypt" or len(parts) != 5:
        _scrypt(password, b"no such user", _COST)
        return False
    n, r, p = (int(part) for part in parts[:3])
    result = _scrypt(password, bytes.fromhex(parts[3]), (n, r, p))
    return hmac.compare_digest(result, bytes.fromhex(parts[4]))


def new_key() -> str:
    return _KEY + secrets.token_urlsafe(32)


def hashed_key(key: str) -> str:
    """Keys are long and random: one hash is enough, and it is fast enough for every request."""
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


class Accounts:
    """Those of a file, read again when it changes, and those of the environment."""

    def __init__(self, file: Path | None = None, more: Sequence[Account] = ()) -> None:
        self._file = file
        self._more = tuple(more)
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int], tuple[Account, ...]] | None = None
        self.every()  # what cannot be read is told before anything is served

    def every(self) -> tuple[Account, ...]:
        if self._file is None:
            return self._more
        with self._lock:
            try:
                seen = self._file.stat()
            except OSError as error:
                raise ChunkwiseError(
                    f"{self._file} cannot be read: {error.strerror}; "
                    f"add a user: chunkwise serve users add {self._file} NAME"
                ) from None
            stamp = seen.st_mtime_ns, seen.st_ino
            if self._read is None or self._read[0] != stamp:
                self._read = stamp, read_accounts(self._file)
            return self._read[1] + self._more

    def named(self, name: str) -> Account | None:
        return next((item for item in self.every() if item.name == name), None)

    def of_key(self, key: str) -> Caller | None:
        wanted = hashed_key(key).encode()
        result = None
        for account in self.every():
            for item in account.keys:
                if hmac.compare_digest(item.encode("utf-8", "replace"), wanted):
                    result = account.caller
        return result

    def of_password(self, name: str, password: str) -> Caller | None:
        account = self.named(name)
        fits = is_password(password, account.password if account else "")
        return account.caller if account is not None and fits else None


def read_accounts(file: Path) -> tuple[Account, ...]:
    try:
        result = msgspec.json.decode(file.read_bytes(), type=AccountList)
    except OSError as error:
        raise ChunkwiseError(f"{file} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ChunkwiseError(
            f"{file} is not a users file: {error}; create one: chunkwise serve users add FILE NAME"
        ) from None
    return result.users


def write_accounts(file: Path, accounts: Sequence[Account]) -> None:
    """Whole or not at all, and for its owner's eyes."""
    text = json_text(AccountList("chunkwise serve users", 1, tuple(accounts)), indent=1)
    with replacing(file) as temporary, says_what_it_writes(file):
        temporary.write_text(text + "\n", "utf-8")
        os.chmod(temporary, 0o600)


def change_accounts(file: Path, change: Callable[[Sequence[Account]], Sequence[Account]]) -> None:
    """Reads, changes and writes a file while no other process does: two changes at once both count.

    Args:
        file: Need not exist yet.
        change: Returns the accounts that the file will have.
    """
    lock = file.with_name(f"{file.name}.lock")
    with says_what_it_writes(file):
        lock.touch(mode=0o600)
    with locked(lock, wait=True):
        changed = tuple(change(read_accounts(file) if file.exists() else ()))
        write_accounts(file, changed)
        if read_accounts(file) != changed:  # by what takes no lock, such as an editor
            raise ChunkwiseError(f"{file} was changed by another program; try again")


def with_account(
    accounts: Sequence[Account], name: str, role: Role | None, *, password: str = "", key: str = ""
) -> list[Account]:
    """The list with a user added, or with another password, one more key or another role; a new one is a reader."""
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"{name!r:.80} is not a valid user name: use up to 64 letters, digits and . _ @ + -"
        )
    old = next((item for item in accounts if item.name == name), None)
    made = old or Account(name, role or "reader")
    made = replace(
        made, role=role or made.role,
        password=hashed_password(password) if password else made.password,
        keys=(*made.keys, hashed_key(key)) if key else made.keys,
    )  # fmt: skip
    return [*(item for item in accounts if item.name != name), made]


def without_account(accounts: Sequence[Account], name: str) -> list[Account]:
    if all(item.name != name for item in accounts):
        known = [item.name for item in accounts]
        raise InvalidParameter(
            f"no user is named {name!r:.80}; {did_you_mean(name, known, 'known: ' + ', '.join(known))}"
        )
    return [item for item in accounts if item.name != name]


def accounts_in(environment: Mapping[str, str]) -> list[Account]:
    """Keys of CHUNKWISE_KEYS: `name=key` or `name/role=key`, parted by commas; a hash may stand for a key."""
    result = []
    for part in environment.get(KEYS_VARIABLE, "").split(","):
        if not part.strip():
            continue
        name, _, key = part.strip().partition("=")
        name, _, role = name.partition("/")
        if not key or not _NAME.fullmatch(name) or role not in ("", *ROLES):
            raise InvalidParameter(
                f"{KEYS_VARIABLE} has an invalid entry (not shown here); expected "
                "name=KEY or name/labeler=KEY, separated by commas"
            )
        if not key.startswith("sha256:") and len(key) < 16:
            raise InvalidParameter(
                f"the key of {name} in {KEYS_VARIABLE} has {counted(len(key), 'character')}; "
                "expected at least 16; create one: chunkwise serve users key"
            )
        hashed = key if key.startswith("sha256:") else hashed_key(key)
        result.append(
            Account(name, next((item for item in ROLES if item == role), "reader"), keys=(hashed,))
        )
    return result


@dataclass(slots=True)
class Sessions:
    """Who is logged in: in memory, so that a server that starts anew asks again."""

    accounts: Accounts
    seconds: float = 12 * 3600.0
    most: int = 10_000
    _known: dict[str, tuple[Account, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, name: str, now: float) -> str:
        account = self.accounts.named(name)
        assert account is not None
        token = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._known) >= self.most:
                self._known.pop(next(iter(self._known)))
            self._known[_hidden(token)] = account, now + self.seconds
        return token

    def caller(self, token: str, now: float) -> Caller | None:
        """None: unknown, too old, or the account is another one since: removed, or with a new password or role."""
        with self._lock:
            account, until = self._known.get(_hidden(token), (None, 0.0))
        if account is None or now > until or self.accounts.named(account.name) != account:
            self.end(token)
            return None
        return account.caller

    def end(self, token: str) -> None:
        with self._lock:
            self._known.pop(_hidden(token), None)


def _hidden(token: str) -> str:
    """Looked up by its hash: how long that takes says nothing about the token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()

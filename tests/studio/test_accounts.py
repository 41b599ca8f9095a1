"""Users, roles and keys: only hashes are kept, and who is removed is out at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.studio.accounts import (
    ROLES,
    Account,
    Accounts,
    Caller,
    Sessions,
    accounts_in,
    change_accounts,
    hashed_key,
    new_key,
    read_accounts,
    with_account,
    without_account,
    write_accounts,
)
from chunkwise.studio.rate_limits import RateLimit, RequestQueue
from tables import cases
from untimed import HANG

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def owner() -> Account:
    return with_account((), "ana", "owner", password=PASSWORD)[0]


def test_a_password_is_kept_as_its_hash_and_opens_for_its_name_alone(
    tmp_path: Path, owner: Account
) -> None:
    file = tmp_path / "users.json"
    write_accounts(file, [owner])
    assert PASSWORD not in file.read_text("utf-8")
    assert file.stat().st_mode & 0o077 == 0
    accounts = Accounts(file)
    assert accounts.of_password("ana", PASSWORD) == Caller("ana", "owner", is_known=True)
    assert accounts.of_password("ana", PASSWORD + "x") is None
    assert accounts.of_password("bea", PASSWORD) is None


def test_equal_passwords_have_different_hashes(owner: Account) -> None:
    assert with_account((), "bea", None, password=PASSWORD)[0].password != owner.password


@cases("password", ["short", "x" * 201])
def test_a_password_has_a_length(password: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{len(password)} .*10 to 200"):
        with_account((), "ana", None, password=password)


@cases("name", ["", "a b", "a\n", "x" * 65, "<img>", "a/b"])
def test_a_name_has_no_blanks_and_no_marks(name: str) -> None:
    with pytest.raises(InvalidParameter, match="user name"):
        with_account((), name, None, key=new_key())


def test_a_key_is_known_by_its_hash_until_the_file_has_it_no_more(tmp_path: Path) -> None:
    file, key = tmp_path / "users.json", new_key()
    write_accounts(file, with_account((), "wiki", None, key=key))
    accounts = Accounts(file)
    assert accounts.of_key(key) == Caller("wiki", "reader", is_known=True)
    assert accounts.of_key(key[:-1]) is None
    assert accounts.of_key(hashed_key(key)) is None
    write_accounts(file, without_account(accounts.every(), "wiki"))
    assert accounts.of_key(key) is None


def test_keys_of_the_environment_have_names_and_roles() -> None:
    found = accounts_in(
        {"CHUNKWISE_KEYS": f"wiki=sixteen-characters-1, bot/labeler={hashed_key('k')}"}
    )
    accounts = Accounts(None, found)
    assert accounts.of_key("sixteen-characters-1") == Caller("wiki", "reader", is_known=True)
    assert accounts.of_key("k") == Caller("bot", "labeler", is_known=True)
    for wrong in ("only-a-key-without-a-name", "wiki=short", "wiki/king=sixteen-characters-1"):
        with pytest.raises(InvalidParameter) as refused:
            accounts_in({"CHUNKWISE_KEYS": wrong})
        assert "sixteen" not in str(refused.value)


@cases(
    "content", ["", "[]", "{", '{"format": "else", "version": 1}', '{"format": "chunkwise serve users", "version": 2}',
                '{"format": "chunkwise serve users", "version": 1, "users": [{"name": "a", "role": "king"}]}']
)  # fmt: skip
def test_what_is_no_file_of_users_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "users.json").write_text(content, "utf-8")
    with pytest.raises(ChunkwiseError, match=r"users\.json"):
        read_accounts(tmp_path / "users.json")


def test_a_session_ends_by_time_by_leaving_and_with_its_account(
    tmp_path: Path, owner: Account
) -> None:
    file = tmp_path / "users.json"
    write_accounts(file, [owner])
    accounts = Accounts(file)
    sessions = Sessions(accounts, seconds=100)
    first, second, third = (sessions.begin("ana", now=0) for _ in range(3))
    assert sessions.caller(first, now=99) == Caller("ana", "owner", is_known=True)
    assert sessions.caller(first, now=101) is None
    sessions.end(second)
    assert sessions.caller(second, now=1) is None
    write_accounts(file, with_account(accounts.every(), "ana", "reader"))
    assert sessions.caller(third, now=1) is None


def test_a_role_may_what_those_below_it_may() -> None:
    for at, role in enumerate(ROLES):
        allowed = [Caller("x", role).may(other) for other in ROLES]
        assert allowed == [other <= at for other in range(len(ROLES))]


def test_a_rate_is_kept_for_each_caller_and_refusals_cost_nothing() -> None:
    clock = [0.0]
    rate = RateLimit(60, now=lambda: clock[0])
    assert [rate.take("a", 10) for _ in range(4)] == [0, 0, 0, 10]
    assert rate.take("a", 10) == 10
    assert rate.take("b", 10) == 0
    clock[0] = 10.0
    assert rate.take("a", 10) == 0
    assert rate.take("a", 10) == 10
    clock[0] = 1000.0
    assert [rate.take("a", 10) for _ in range(4)] == [0, 0, 0, 10]
    clock[0] = 2000.0
    assert rate.take("a", 500) == 0  # more than a bucket holds: a full one is enough
    assert rate.take("a", 500) == 30


def test_a_queue_ends() -> None:
    queue = RequestQueue(2)
    assert [queue.enter() for _ in range(3)] == [True, True, False]
    queue.leave()
    assert queue.enter()


def test_a_written_file_is_read_back(tmp_path: Path, owner: Account) -> None:
    users = with_account([owner], "wiki", "labeler", key=new_key())
    write_accounts(tmp_path / "u.json", users)
    assert list(read_accounts(tmp_path / "u.json")) == users
    assert json.loads((tmp_path / "u.json").read_text("utf-8"))["format"] == "chunkwise serve users"


_COMMANDS = """
import sys
from pathlib import Path
from chunkwise.studio.accounts import change_accounts, with_account, without_account
file, what, rounds = Path(sys.argv[1]), sys.argv[2], range(15)
print("ready", flush=True)
sys.stdin.readline()
for each in rounds:
    if what == "add":
        change_accounts(file, lambda known: with_account(known, f"new{each}", "reader", key="key"))
    elif what == "remove":
        change_accounts(file, lambda known: without_account(known, f"old{each}"))
    else:
        change_accounts(file, lambda known: with_account(known, "ana", None, key=f"key{each}"))
"""


@pytest.mark.usefixtures("processes")
def test_commands_in_several_processes_lose_no_change(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    write_accounts(
        file, [Account(name, "owner") for name in ("ana", *(f"old{n}" for n in range(15)))]
    )
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", _COMMANDS, str(file), what], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for what in ("add", "remove", "key")
    ]  # fmt: skip
    for each in racing:
        assert each.stdout is not None
        assert each.stdout.readline() == b"ready\n"
    for each in racing:
        assert each.stdin is not None
        each.stdin.close()
    for each in racing:
        with each:
            assert each.wait(HANG) == 0
    found = {each.name: each for each in read_accounts(file)}
    assert set(found) == {"ana", *(f"new{number}" for number in range(15))}
    assert len(found["ana"].keys) == 15


def test_a_file_that_another_program_writes_meanwhile_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "users.json"

    def write_over(place: Path, accounts: Sequence[Account]) -> None:
        write_accounts(place, [*accounts, Account("mallory", "owner")])

    monkeypatch.setattr("chunkwise.studio.accounts.write_accounts", write_over)
    with pytest.raises(ChunkwiseError, match="another program"):
        change_accounts(file, lambda known: with_account(known, "ana", "owner"))


def test_changes_at_once_all_count(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    names = [f"user{number}" for number in range(12)]

    def add(name: str) -> None:
        change_accounts(file, lambda known: with_account(known, name, "owner", key=new_key()))

    def remove(name: str) -> None:
        change_accounts(file, lambda known: without_account(known, name))

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(add, names))
        assert {each.name for each in read_accounts(file)} == set(names)
        list(threads.map(remove, names[:6]))
    assert {each.name for each in read_accounts(file)} == set(names[6:])

"""Keys and passwords: recognized and masked here, for the terminal, logs, files and errors."""

from __future__ import annotations

import os
import re
from functools import cache
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

# Each is tried at most a few times at each place of a text, however long: messages quote what others wrote.
_WORD = re.compile(r"[^\s'\"]+")
_USER = re.compile(r"(?:[\w+.-]:/+|\bpostgres\w*(?::|/+))[^:@/?]*(?=:)")
_BARE_USER = re.compile(r"[(\[{<,;=]*(?!(?:mailto|acct|sips?|xmpp):)[\w.+%-]+(?=:(?!/))")
_SECRET = re.compile("passw|pwd|secret|token|key|signature|credential|^sig$|^auth$")
_FILES_OF_KEYS = ("sslkey",)
"""Options that hold the name of a file, which is no secret."""
_OPTION = re.compile(r"[?&]([^=&?\s]*+)=")
_VALUE = re.compile(r"[^&\s'\"]*+")
_PASSWORD = re.compile(r"(\bpassword\s*+=\s*+)(?:'(?:[^'\\]|\\.)*+'|[^\s'\"&*]++)", re.IGNORECASE)
"""As PostgreSQL's own tools take one: `host=h password='p w'`."""
_SERVER = re.compile(
    r"[a-z][a-z0-9+.-]*://|postgres\w*:|postgres\w*//|[\w.+%-]+:[^/\\]*@[^@/]+(?:/|$)"
    r"|\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=",
    re.IGNORECASE,
)


def names_server(place: str) -> bool:
    """Whether this is meant for the address of a server, well written or not: no file or folder is called so."""
    return _SERVER.match(place) is not None


def names_secret(option: str) -> bool:
    """Whether the value of an address's option must not be shown; its name may be written in percent signs."""
    name = unquote_plus(option).strip().lower()
    return name not in _FILES_OF_KEYS and _SECRET.search(name) is not None


def mask(text: str) -> str:
    """Replace keys and passwords by ***: of the environment, of requests, of addresses however misspelled."""
    for secret in _environment_secrets():
        text = text.replace(secret, "***")
    text = mask_keys(text)
    if "@" in text:
        text = _WORD.sub(_mask_user, text)
    if "=" in text:
        text = _PASSWORD.sub(r"\1***", text)
        text = _mask_options(text)
    return text


def _mask_options(text: str) -> str:
    shown: list[str] = []
    behind = 0
    for option in _OPTION.finditer(text):
        if option.start() >= behind and names_secret(option[1]):
            value = _VALUE.match(text, option.end())
            shown += [text[behind : option.end()], "***"]
            behind = value.end() if value else option.end()
    return "".join(shown) + text[behind:]


def _mask_user(word: re.Match[str]) -> str:
    before, at, after = word[0].rpartition("@")
    user = (_USER.search(before) or _BARE_USER.match(before)) if at else None
    return f"{before[: user.end()]}:***@{after}" if user else word[0]


_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
_SHORTEST_SECRET = 12
"""Characters: what is shorter may be a word, as a password `postgres` is."""
_SHORTEST_PART = 6
"""Characters of a key that give it away: servers like to quote its beginning."""
_keys_in_use: set[str] = set()


def _environment_secrets() -> list[str]:
    """Values of variables that are named as keys and passwords are, as addresses spell them, too."""
    secrets: set[str] = set()
    for name, value in os.environ.items():
        value = value.strip()
        if len(value) >= _SHORTEST_SECRET and _VARIABLE.search(name):
            secrets |= {value, quote(value, safe="", errors="replace")}
    return sorted(secrets, key=len, reverse=True)  # one may contain another


def use_key(key: str) -> str:
    """Remember a key that is sent to a server: `mask` then hides it wherever it is quoted."""
    if len(key) >= _SHORTEST_SECRET:
        _keys_in_use.add(key)
    return key


def mask_keys(text: str, key: str | None = None) -> str:
    """Replace the keys in use from their beginning on, quoted in part or with escapes; addresses stay.

    Args:
        text: Any text.
        key: A key that the text may quote, however short; a short one is mostly a word elsewhere, such as `ollama`.
    """
    for item in sorted(
        _keys_in_use | {key or ""}, key=len, reverse=True
    ):  # one may begin as another does
        text = _key_pattern(item).sub("[key]", text) if item else text
    return text


@cache
def _key_pattern(key: str) -> re.Pattern[str]:
    if len(key) < _SHORTEST_PART:  # no secret but a word, as servers of one's own are given
        return re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")
    letters = [rf"(?:\\*{re.escape(item)}|(?:\\+u00|%){ord(item):02x})" for item in key]
    first, rest = "".join(letters[:_SHORTEST_PART]), "".join(letters[_SHORTEST_PART:])
    # However a server writes the rest, it ends where words end.
    return re.compile(rf"{first}(?:{rest})?(?:\\.|[^\s\"',])*", re.IGNORECASE)


def mask_address(url: str) -> str:
    """The address with *** for its passwords, however oddly it is spelled."""
    return _replace_secrets(url, ":***", "***")


def without_password(url: str) -> str:
    """The address to be typed again: the password then comes from PGPASSWORD or ~/.pgpass."""
    return _replace_secrets(url, "", None)


def _replace_secrets(url: str, user: str, option: str | None) -> str:
    """With other words for the passwords; None: without the option."""
    address, mark, query = url.partition("?")
    options = []
    for given in query.split("&"):
        name = given.partition("=")[0]
        if not names_secret(name):
            options.append(given)
        elif option is not None:
            options.append(f"{name}={option}")
    url = address + mark * bool(options) + "&".join(options)
    # The last of several @ counts, so this comes when none is left in a password among the options.
    return re.sub(r"^([^:/]*://[^:@/?]*):.*@", rf"\1{user}@", url, flags=re.DOTALL)


def address_secrets(url: str) -> list[str]:
    """The passwords of an address, as others may quote them."""
    parts = urlsplit(url)
    texts = [value for key, value in parse_qsl(parts.query) if names_secret(key)]
    spelt = re.match(r"^[^:/]*://[^:@/?]*:(.*)@", url, flags=re.DOTALL)
    return [secret for secret in (parts.password, spelt and spelt[1], *texts) if secret]

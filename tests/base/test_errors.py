"""Messages show no password, and quote what others wrote, however long it is."""

import pytest

from chunkwise.base.errors import ChunkwiseError

_LONG = 1_000_000
"""Characters: where work grows with their square, nobody sees the end of it."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no http://me:a:b@c@h/x, no", "no http://me:***@h/x, no"),
        ("'ftp://me:a' and ftp://you:b@h", "'ftp://me:a' and ftp://you:***@h"),
        ("http://h/?a=b?My_Token=c&d=e", "http://h/?a=b?My_Token=***&d=e"),
        ("?a&key=b?token=c x=y", "?a&key=*** x=y"),
        ("me@example.org, 3:4, a=b, ?page=2", "me@example.org, 3:4, a=b, ?page=2"),
        ("no 'me:a@b@h/x', (me:a@h)", "no 'me:***@h/x', (me:***@h)"),
        ("postgres//me:a@h/db postgresql//me:a@h", "postgres//me:***@h/db postgresql//me:***@h"),
        ("host=h password = a user=b", "host=h password = *** user=b"),
        ("password='a b\\' c' x=y", "password=*** x=y"),
        ("mailto:me@example.org a.md:3: b@c", "mailto:me@example.org a.md:3: b@c"),
    ],
)
def test_passwords_and_nothing_else_are_masked(text: str, shown: str) -> None:
    assert str(ChunkwiseError(text)) == shown


@pytest.mark.parametrize("before", ["@ = ", "a:/", "?", "http://me:"])
@pytest.mark.parametrize("after", ["", "=", "@"])
@pytest.mark.parametrize(
    "part",
    ["a", "a:/b:", "postgres:", "?", "&key", "key", "?key=", "/", ":", "@", "password=", "password ", "'"],
)  # fmt: skip
def test_a_long_message_is_shown_at_once(before: str, after: str, part: str) -> None:
    assert str(ChunkwiseError(before + part * (_LONG // len(part)) + after))

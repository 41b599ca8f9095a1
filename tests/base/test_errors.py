"""Messages show no password, and quote what others wrote, however long; a warning names the line of who called."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, warn_user
from tables import cases

_LONG = 200_000
"""Characters: where work grows with their square, nobody sees the end of it."""


@cases(
    "text, shown",
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


@pytest.mark.usefixtures("large_inputs")
@cases("before", ["@ = ", "a:/", "?", "http://me:"])
@cases("after", ["", "=", "@"])
@cases(
    "part",
    ["a", "a:/b:", "postgres:", "?", "&key", "key", "?key=", "/", ":", "@", "password=", "password ", "'"],
)  # fmt: skip
def test_a_long_message_is_shown_at_once(before: str, after: str, part: str) -> None:
    assert str(ChunkwiseError(before + part * (_LONG // len(part)) + after))


SOURCE = Path(chunkwise.__file__).parent
DOCUMENTS = [chunkwise.Document("a.md", "Leave is asked for in writing. It is given by noon.")]


def _lost_questions() -> object:
    query = chunkwise.Query("1", "leave", (chunkwise.Reference("gone", 0, 5),))
    kept = chunkwise.Query("2", "leave", (chunkwise.Reference("a.md", 0, 5),))
    return chunkwise.evaluate(DOCUMENTS, [query, kept], retriever="bm25")


def _lost_rows() -> object:
    rows = [{"doc_id": "a.md", "start": 0, "end": 5}, {"doc_id": "a.md", "text": "nowhere"}]
    return chunkwise.index(DOCUMENTS, chunks=rows, vectors="none")


CALLS: dict[str, Callable[[], object]] = {
    "chunk": lambda: list(chunkwise.chunk([*DOCUMENTS, "missing.md"])),
    "read": lambda: list(chunkwise.read([*DOCUMENTS, "missing.md"])),
    "index": lambda: chunkwise.index([*DOCUMENTS, "missing.md"], vectors="none"),
    "lint": lambda: chunkwise.lint([*DOCUMENTS, "missing.md"]),
    "profile": lambda: chunkwise.profile([*DOCUMENTS, "missing.md"]),
    "evaluate": _lost_questions,
    "index of rows": _lost_rows,
}


@cases("name", CALLS)
def test_a_warning_names_the_line_of_the_user(name: str) -> None:
    with pytest.warns(UserWarning, match=r"missing\.md|isn't in the document|'gone'") as seen:
        CALLS[name]()
    lines, first = inspect.getsourcelines(CALLS[name])
    for each in seen:
        assert each.filename == __file__
        assert first <= each.lineno < first + len(lines)


def test_the_same_text_is_shown_once_for_a_line() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_user("the well is dry")
    assert len(seen) == 1


def test_lines_of_the_standard_library_are_passed_by() -> None:
    @contextmanager
    def opened() -> Iterator[None]:
        yield
        warn_user("the door is open")

    namespace = {"__name__": "chunkwise.made_up", "opened": opened}
    exec("def verb():\n    with opened():\n        pass\n", namespace)
    with pytest.warns(UserWarning, match="door") as seen:
        namespace["verb"]()  # type: ignore[operator]
    assert seen[0].filename == __file__


def test_nobody_warns_past_it() -> None:
    """A stacklevel written down is right for one way of calling alone."""
    calls = [
        f"{file.relative_to(SOURCE)}"
        for file in SOURCE.rglob("*.py")
        if re.search(r"warnings\.warn\b|stacklevel", file.read_text(encoding="utf-8"))
        and file.name != "errors.py"
    ]
    assert calls == []

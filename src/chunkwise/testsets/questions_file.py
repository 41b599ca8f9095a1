"""Questions to be asked, from a file: any format of test sets, or plain text with one a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from chunkwise.core import Query
from chunkwise.errors import ChunkwiseError
from chunkwise.testsets.formats import Format, detect
from chunkwise.testsets.reading_json.json_entries import can_be_read_once, entries, shown_name
from chunkwise.testsets.reading_json.question_record import draft_of
from chunkwise.testsets.testset import Draft, Unreadable

OnBad = Callable[[str], None]
"""Gets a line for each question that cannot be read."""


def read_questions(name: str, on_bad: OnBad) -> list[Query]:
    """The questions of a file, `-` for standard input; ids are those given, else positions from 1.

    Where their answers stand is not looked at: what is wrong with that does not keep a question from being asked.
    """
    found: list[Query] = []
    places: dict[str, str] = {}
    for draft in _drafts(name):
        if isinstance(draft, Unreadable):
            on_bad(f"{draft.where}: {draft.reason}")
            continue
        query = draft.query
        if not query.text.strip():
            on_bad(f"{draft.where}: the question is empty")
        elif query.id in places:
            # Rows are joined with their questions by it.
            on_bad(f"{draft.where}: its id {query.id!r} is that of {places[query.id]}")
        else:
            places[query.id] = draft.where.removeprefix(f"{shown_name(name)}, ")
            found.append(Query(query.id, query.text))
    return found


def _drafts(name: str) -> Iterator[Draft | Unreadable]:
    format = None if can_be_read_once(name) else _format(name)
    if format is not None and format.name != "chunkwise":
        yield from format.read(Path(name))
        return
    for entry in entries(name, plain=True):
        where = f"{shown_name(name)}, {entry.where}"
        if entry.problem:
            yield Unreadable(where, entry.problem)
        else:
            yield draft_of(entry.value, entry.number, where, question_alone=True)


def _format(name: str) -> Format | None:
    """None: plain text, or no file at all, which reading it will tell."""
    try:
        return detect(name)
    except ChunkwiseError:
        return None

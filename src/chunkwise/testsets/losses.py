"""What of a test set a format could not hold: the file is read again, and compared with what was written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from chunkwise.base.wording import counted, listed, one_or_many
from chunkwise.core import Document, Query
from chunkwise.testsets.formats import Format
from chunkwise.testsets.reading import drafts_in
from chunkwise.testsets.testset import Draft, TestSet


def losses(
    format: Format, testset: TestSet, documents: Sequence[Document] | None, path: Path
) -> Iterator[str]:
    """A line for each part of the questions that a file of this format, just written, does not hold."""
    known: defaultdict[str, list[Query]] = defaultdict(list)
    for draft in drafts_in(format, path, documents):
        if isinstance(draft, Draft):
            known[_words(draft.question)].append(draft.query)
    lost: defaultdict[str, list[str]] = defaultdict(list)
    for query in testset.queries:
        # Some formats have no ids, but then the words of the question.
        back = min(known[_words(query)], key=lambda item: item.id != query.id, default=None)
        for part in ["the questions themselves"] if back is None else _lost(query, back):
            lost[part].append(repr(query.id))
    for part, ids in lost.items():
        names = listed(ids, 3)
        where = one_or_many(
            len(ids), f"question {names}", f"{counted(len(ids), 'question')} ({names})"
        )
        yield f"{format.title} can't represent {part}: {where}"
    if documents is None and any(query.references for query in testset.queries):
        yield "no documents given, so no texts are written; give the documents"


def _words(query: Query) -> str:
    return " ".join(query.text.split())


def _lost(query: Query, back: Query) -> Iterator[str]:
    """Parts of a question that are others after reading."""
    if query.id != back.id:
        yield "ids"
    if query.answer and query.answer != back.answer:
        yield "answers"
    for name in ("facts", "types", "labels"):
        if not set(getattr(query, name)) <= set(getattr(back, name)):
            yield name
    if query.split != back.split:
        yield "splits"
    if {frozenset(reference.places) for reference in query.references} != {
        frozenset(reference.places) for reference in back.references
    }:
        yield "references as they are"

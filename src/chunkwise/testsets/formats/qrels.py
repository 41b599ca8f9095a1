"""Judgments of documents (qrels): which questions were judged, and what is relevant to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from chunkwise.core import Passage
from chunkwise.testsets.formats.registry import WHOLE
from chunkwise.testsets.testset import GivenPassage, Unreadable, given_references


class Qrel(NamedTuple):
    """One line of qrels."""

    where: str
    query_id: str
    doc_id: str
    grade: int


class Judgments:
    """The relevant documents of each judged question, in the order of the file."""

    def __init__(self) -> None:
        self.relevant: dict[str, dict[str, None]] = {}
        self.where: dict[str, str] = {}
        self.splits: dict[str, str] = {}

    def add(self, judgment: Qrel, split: str = "") -> None:
        known = self.relevant.setdefault(judgment.query_id, {})
        self.where.setdefault(judgment.query_id, judgment.where)
        self.splits.setdefault(judgment.query_id, split)
        if judgment.grade > 0:
            known[judgment.doc_id] = None

    def passages(self, query_id: str, lengths: Mapping[str, int]) -> tuple[GivenPassage, ...]:
        """Each relevant document as a whole."""
        documents = self.relevant.get(query_id, ())
        whole = ([Passage(doc_id, 0, lengths.get(doc_id, WHOLE))] for doc_id in documents)
        return (*given_references(whole),)

    def without_question(self, asked: Iterable[str]) -> Iterator[Unreadable]:
        """Judged questions whose text is nowhere."""
        known = set(asked)
        for query_id, where in self.where.items():
            if query_id not in known:
                why = f"unknown question {query_id!r} in the judgments"
                yield Unreadable(where, why)


def grade_of(text: str) -> int | None:
    """The relevance as written: 1, -2, 1.0; None: no number."""
    try:
        return int(text) if len(text) < 20 else None
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number == number and abs(number) < 1e9 else None

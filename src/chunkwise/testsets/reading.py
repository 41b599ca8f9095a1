"""A test set from a file of any known format: read, placed in the documents, what is wrong reported, the rest kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chunkwise.core import Advance, Document, Query
from chunkwise.testsets.finding.placing import Placing
from chunkwise.testsets.formats import FORMATS, detect
from chunkwise.testsets.formats.chunkwise import read_drafts
from chunkwise.testsets.formats.placed import drafts_in
from chunkwise.testsets.reading_json.json_entries import can_be_read_once, shown_name
from chunkwise.testsets.reading_json.unread_fields import UnreadFields
from chunkwise.testsets.testset import REMARKS, Draft, OnProblem, Problem, TestSet, Unreadable

_BETWEEN_NOTES = 1000
"""Questions."""


@dataclass(frozen=True, slots=True)
class ReadTestSet:
    """A test set, and where in the file each of its questions stands, by id."""

    testset: TestSet
    where: dict[str, str]


def read_testset(
    path: str,
    documents: Sequence[Document] | None,
    on_problem: OnProblem,
    *,
    format: str | None = None,
    on_remark: OnProblem | None = None,
) -> TestSet:
    """The questions of a file whose references are places in these documents.

    A question one of whose references cannot be found is left out: scored on the others it would look easier than
    it is. Without documents nothing is looked for: ids and texts are those of the file, its places unchecked.
    What is worth a look and not wrong goes to `on_remark`.
    """
    return read_with_places(path, documents, on_problem, format=format, on_remark=on_remark).testset


def read_with_places(
    path: str,
    documents: Sequence[Document] | None,
    on_problem: OnProblem,
    *,
    format: str | None = None,
    on_remark: OnProblem | None = None,
    advance: Advance | None = None,
) -> ReadTestSet:
    """The same, with the line or entry of each question; `advance` is told how far it is."""
    advance = advance or (lambda amount, note: None)
    problems: dict[int, list[Problem]] = {}
    placing = Placing(documents or ())
    unplaced: list[Query] = []
    order: list[int] = []
    where: dict[str, str] = {}
    kept: dict[str, Draft] = {}
    unread = UnreadFields()
    for number, draft in enumerate(drafts_of(path, format, documents)):
        if number % _BETWEEN_NOTES == 0:
            advance(0, f"{number:,} questions read")
        problem = _refused(draft, where)
        if problem is not None:
            problems[number] = [problem]
        elif isinstance(draft, Draft):
            where[draft.query.id] = draft.where
            order.append(number)
            unread.add(draft)
            problems[number] = _mended(draft)
            if documents is None:
                unplaced.append(draft.query)
                if draft.names_texts:
                    kept[draft.query.id] = draft
            else:
                placing.add(draft)
    queries = unplaced
    if placing.wanted:
        advance(0, f"{placing.wanted:,} passages are looked for")
    for number, (id, query, found) in zip(order, placing.placed(), strict=documents is not None):
        problems[number] += found
        if query is None:
            del where[id]
        else:
            queries.append(query)
    told = [each for number in sorted(problems) for each in problems[number]]
    for each in (*told, *unread.problems(shown_name(path))):
        if each.kind not in REMARKS:
            on_problem(each)
        elif on_remark is not None:
            on_remark(each)
    name = "standard input" if path == "-" else Path(path).name
    return ReadTestSet(TestSet(tuple(queries), name, hash_of(queries), kept), where)


def drafts_of(
    path: str, format: str | None = None, documents: Sequence[Document] | None = None
) -> Iterator[Draft | Unreadable]:
    """Questions as the file has them; its format is told by how it begins."""
    if format is None and can_be_read_once(path):
        return read_drafts(path)
    return drafts_in(FORMATS[format] if format else detect(path), Path(path), documents)


def _refused(draft: Draft | Unreadable, known: dict[str, str]) -> Problem | None:
    if isinstance(draft, Unreadable):
        return Problem("unreadable", draft.where, "", draft.reason, dropped=True)
    id = draft.query.id
    if not draft.query.text.strip():
        return Problem("empty_question", draft.where, id, "the question is empty", dropped=True)
    if id in known:
        # Rows of results are joined with their questions by it.
        said = f"its id {id!r} is that of {known[id]}; give it another"
        return Problem("duplicate_id", draft.where, id, said, dropped=True)
    return None


def _mended(draft: Draft) -> list[Problem]:
    return [
        Problem("different_text", draft.where, draft.query.id, said, repaired=True)
        for said in draft.mended
    ]


def hash_of(queries: Iterable[Query]) -> str:
    """SHA-256 of what is asked and where the answers are, however the file was written."""
    digest = hashlib.sha256()
    for query in queries:
        said = [
            query.id, query.text, query.answer, query.split, query.types, query.facts,
            [reference.places for reference in query.references], query.labels,
        ]  # fmt: skip
        digest.update(json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode())
        digest.update(b"\n")
    return digest.hexdigest()

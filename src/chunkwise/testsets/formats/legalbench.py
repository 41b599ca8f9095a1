"""LegalBench-RAG: questions with snippets of files, each a span with its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import ClassVar

from chunkwise.core import Document, Passage, Query, Reference
from chunkwise.records.fields import (
    WrongField,
    items,
    offset,
    optional_string,
    record_of,
    string,
)
from chunkwise.records.json import without_half_characters
from chunkwise.records.read import read_json
from chunkwise.records.write import write_json
from chunkwise.testsets.formats import Losses
from chunkwise.testsets.formats.registry import JsonKeys, entries_of, made_of
from chunkwise.testsets.testset import Draft, TestSet, Unreadable, given_references


class LegalbenchFormat:
    """`{"tests": [{"query", "snippets": [{"file_path", "span": [start, end], "answer"}], "tags"}]}`."""

    name: ClassVar[str] = "legalbench"
    about: ClassVar[str] = "LegalBench-RAG JSON: spans of files"

    def accepts(self, path: Path, head: bytes) -> bool:
        keys = JsonKeys(head)
        return "snippets" in keys.at("tests") and not keys.is_ours("tests")

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        whole = read_json(str(path))
        tests = whole.get("tests") if isinstance(whole, dict) else None
        yield from made_of(path, entries_of(path, tests, "questions under 'tests'"), _draft)

    def write(
        self, testset: TestSet, documents: Sequence[Document] | None, path: Path
    ) -> list[str]:
        texts = {document.id: document.text for document in documents or ()}
        losses = Losses("LegalBench-RAG")
        losses.ids(testset)
        tests = []
        for query in testset.queries:
            _note(query, texts, losses)
            snippets = [
                _snippet(each, texts) for each in query.references if not _leaves(each.doc_id)
            ]
            tests.append({"query": query.text, "snippets": snippets, "tags": list(query.types)})
        write_json(path, {"tests": tests})
        return losses.lines()


def _draft(where: str, record: Mapping[str, object], id: str) -> Draft:
    text = string(record, "query", "question")
    references: list[list[Passage]] = []
    texts: list[str] = []
    for value in items(record.get("snippets"), "snippets"):
        snippet = record_of(value, "a snippet")
        file = string(snippet, "file_path")
        if _leaves(file):
            raise WrongField(f"its file_path {file!r} leaves the folder of the documents")
        span = items(snippet.get("span"), "spans")
        if len(span) != 2:
            raise WrongField(f"a span is {span!r}; [start, end] is expected")
        references.append([Passage(file, offset(span[0], "start"), offset(span[1], "end"))])
        texts.append(optional_string(snippet, "answer") or "")
    tags = tuple(
        without_half_characters(tag)
        for tag in items(record.get("tags"), "tags")
        if isinstance(tag, str) and tag
    )
    return Draft(where, Query(id, text, types=tags), (*given_references(references, texts),))


def _leaves(name: str) -> bool:
    """Whether the path of a file leads out of the folder it is said to be in."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or name[1:2] == ":"


def _snippet(reference: Reference, texts: Mapping[str, str]) -> dict[str, object]:
    start, end = reference.start, reference.end
    found: dict[str, object] = {"file_path": reference.doc_id, "span": [start, end]}
    if reference.doc_id in texts:
        found["answer"] = texts[reference.doc_id][start:end]
    return found


def _note(query: Query, texts: Mapping[str, str], losses: Losses) -> None:
    losses.fields(query, {"types"})
    if any(each.alternatives for each in query.references):
        losses.add(query, "LegalBench-RAG has no alternatives")
    if any(each.doc_id not in texts for each in query.references):
        losses.add(query, "the texts of its references are not known: name the documents")
    if any(_leaves(each.doc_id) for each in query.references):
        losses.add(
            query, "LegalBench-RAG's files stand in one folder; references outside are left out"
        )
    ordered = sorted((each.doc_id, each.start, each.end) for each in query.references)
    if any(a[0] == b[0] and a[2] >= b[1] for a, b in pairwise(ordered)):
        losses.add(query, "LegalBench-RAG's own reader refuses spans that touch or overlap")

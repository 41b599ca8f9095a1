"""LegalBench-RAG: questions with snippets of files, each a span with its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
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
from chunkwise.testsets.formats.registry import JsonKeys, entries_of, made_of
from chunkwise.testsets.testset import Draft, TestSet, Unreadable, given_references


class LegalbenchFormat:
    """`{"tests": [{"query", "snippets": [{"file_path", "span": [start, end], "answer"}], "tags"}]}`."""

    name: ClassVar[str] = "legalbench"
    title: ClassVar[str] = "LegalBench-RAG"

    def accepts(self, path: Path, head: bytes) -> bool:
        keys = JsonKeys(head)
        return "snippets" in keys.at("tests") and not keys.is_ours("tests")

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        whole = read_json(str(path))
        tests = whole.get("tests") if isinstance(whole, dict) else None
        yield from made_of(path, entries_of(path, tests, "questions under 'tests'"), _draft)

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        texts = {document.id: document.text for document in documents or ()}
        tests = []
        for query in testset.queries:
            snippets = [_snippet(reference, texts) for reference in query.references]
            tests.append({"query": query.text, "snippets": snippets, "tags": list(query.types)})
        write_json(path, {"tests": tests})


def _draft(where: str, record: Mapping[str, object], id: str) -> Draft:
    text = string(record, "query", "question")
    references: list[list[Passage]] = []
    texts: list[str] = []
    for value in items(record.get("snippets"), "snippets"):
        snippet = record_of(value, "a snippet")
        file = string(snippet, "file_path")
        span = items(snippet.get("span"), "spans")
        if len(span) != 2:
            raise WrongField(f"a span is {span!r}; expected [start, end]")
        references.append([Passage(file, offset(span[0], "start"), offset(span[1], "end"))])
        texts.append(optional_string(snippet, "answer") or "")
    tags = tuple(
        without_half_characters(tag)
        for tag in items(record.get("tags"), "tags")
        if isinstance(tag, str) and tag
    )
    return Draft(where, Query(id, text, types=tags), (*given_references(references, texts),))


def _snippet(reference: Reference, texts: Mapping[str, str]) -> dict[str, object]:
    start, end = reference.start, reference.end
    result: dict[str, object] = {"file_path": reference.doc_id, "span": [start, end]}
    if reference.doc_id in texts:
        result["answer"] = texts[reference.doc_id][start:end]
    return result

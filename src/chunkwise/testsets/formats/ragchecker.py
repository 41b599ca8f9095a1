"""RAGChecker: questions with the answer that is expected and what a system said; no gold passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from chunkwise.core import Document, Query
from chunkwise.records.fields import identifier, optional_string, string
from chunkwise.records.read import read_json
from chunkwise.records.write import write_json
from chunkwise.testsets.formats.registry import JsonKeys, entries_of, made_of
from chunkwise.testsets.testset import Draft, TestSet, Unreadable


class RagcheckerFormat:
    """`{"results": [{"query_id", "query", "gt_answer", "response", "retrieved_context"}]}`."""

    name: ClassVar[str] = "ragchecker"
    title: ClassVar[str] = "RAGChecker"

    def accepts(self, path: Path, head: bytes) -> bool:
        keys = JsonKeys(head)
        return {"query", "gt_answer"} <= keys.at("results") and not keys.is_ours("results")

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        whole = read_json(str(path))
        results = whole.get("results") if isinstance(whole, dict) else None
        yield from made_of(path, entries_of(path, results, "questions under 'results'"), _draft)

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        results = [
            {
                "query_id": query.id,
                "query": query.text,
                "gt_answer": query.answer or "",
                "response": "",
                "retrieved_context": [],
            }
            for query in testset.queries
        ]
        write_json(path, {"results": results})


def _draft(where: str, record: Mapping[str, object], number: str) -> Draft:
    # What was retrieved says nothing about what should have been.
    id = identifier(record, "query_id") or number
    answer = optional_string(record, "gt_answer") or None
    return Draft(where, Query(id, string(record, "query"), answer=answer))

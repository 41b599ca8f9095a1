"""Ragas samples: a question, its reference answer, and passages given as text alone.

`contexts` of the older form are what a system retrieved where an `answer` stands beside them;
only without one are they the passages the question was made from.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from chunkwise.core import Document, Query
from chunkwise.records.fields import WrongField, items, kind, optional_string, string
from chunkwise.records.json import parse_json, without_half_characters
from chunkwise.records.read import Row, csv_rows, read_json, read_json_lines, read_text
from chunkwise.records.write import write_csv, write_json, write_json_lines
from chunkwise.testsets.formats.registry import JsonKeys, entries_of, header, made_of
from chunkwise.testsets.testset import Draft, GivenPassage, TestSet, Unreadable

_FORMS = ({"user_input"}, {"question", "ground_truth"}, {"question", "ground_truths"})
_KINDS = ("synthesizer_name", "evolution_type")
_COLUMNS = ("user_input", "reference", "reference_contexts")


class RagasFormat:
    """`user_input`, `reference`, `reference_contexts`; once `question`, `ground_truth`, `contexts`."""

    name: ClassVar[str] = "ragas"
    title: ClassVar[str] = "Ragas"

    def accepts(self, path: Path, head: bytes) -> bool:
        if path.suffix.lower() == ".csv":
            return any(form <= header(head) for form in _FORMS)
        keys = JsonKeys(head)
        return any(
            form <= keys.at(*at) and not keys.is_ours(*at)
            for at in ((), ("samples",))
            for form in _FORMS
        )

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        yield from made_of(path, _entries(path), _draft)

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        texts = {document.id: document.text for document in documents or ()}
        samples = [_sample(query, texts) for query in testset.queries]
        suffix = path.suffix.lower()
        if suffix == ".csv":
            cells = (
                sample | {"reference_contexts": json.dumps(sample["reference_contexts"])}
                for sample in samples
            )
            write_csv(path, _COLUMNS, cells)
        elif suffix == ".jsonl":
            write_json_lines(path, samples)
        else:
            write_json(path, samples)


def _entries(path: Path) -> Iterator[Row]:
    if path.suffix.lower() == ".csv":
        return csv_rows(read_text(str(path)), str(path))
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return read_json_lines(str(path))
    whole = read_json(str(path))
    samples = whole.get("samples") if isinstance(whole, dict) and "samples" in whole else whole
    return entries_of(path, [samples] if isinstance(samples, dict) else samples, "samples")


def _draft(where: str, record: Mapping[str, object], number: str) -> Draft:
    question = record.get("user_input")
    if isinstance(question, list):
        raise WrongField("a multi-turn conversation; only single questions are supported")
    text = string(record, "user_input", "question")
    given = record.get("reference_contexts")
    if not given and not record.get("answer"):
        given = record.get("contexts")
    answer = optional_string(record, "reference", "ground_truth")
    truths = _listed(record.get("ground_truths"), "ground_truths")
    kinds = tuple(kind for name in _KINDS if (kind := optional_string(record, name)))
    query = Query(number, text, answer=answer or (truths[0] if truths else None), types=kinds)
    passages = (
        GivenPassage("reference", f"passage {number}", text=text)
        for number, text in enumerate(dict.fromkeys(_listed(given, "contexts")), 1)
    )
    return Draft(where, query, tuple(passages))


def _listed(value: object, what: str) -> list[str]:
    """Texts of a list; a cell of a table holds it as JSON or as Python writes it."""
    if isinstance(value, str):
        if not value.strip():
            return []
        value = _parsed(value.strip(), what)
    result = items(value, what)
    for item in result:
        if not isinstance(item, str):
            raise WrongField(f"one of its {what} is {kind(item)}, not text")
    return [
        without_half_characters(item) for item in result if isinstance(item, str) and item.strip()
    ]


def _parsed(cell: str, what: str) -> object:
    try:
        return parse_json(cell)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise WrongField(f"its {what} are {cell[:60]!r}; expected a list") from None


def _sample(query: Query, texts: Mapping[str, str]) -> dict[str, object]:
    places = (reference for reference in query.references if reference.doc_id in texts)
    passages = [texts[place.doc_id][place.start : place.end] for place in places]
    return {
        "user_input": query.text,
        "reference": query.answer or "",
        "reference_contexts": passages,
    }

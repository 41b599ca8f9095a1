"""AutoRAG: `qa.parquet` with the ids of passages, and `corpus.parquet` with the passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Passage, Query
from chunkwise.documents.walk import AUTORAG_CORPUS as _CORPUS
from chunkwise.documents.walk import AUTORAG_QUERIES as _QA
from chunkwise.records.fields import WrongField, identifier, kind, optional_string, string
from chunkwise.records.json import without_half_characters
from chunkwise.records.read import Row, parquet_rows
from chunkwise.records.write import arrow, write_parquet
from chunkwise.testsets.formats.registry import WHOLE, made_of
from chunkwise.testsets.testset import Draft, TestSet, Unreadable, given_references

_UNDATED = datetime(1970, 1, 1)  # the field is obligatory, and a run must give the same bytes again


class AutoragFormat:
    """A passage of the corpus is a document here: its own file may not be at hand."""

    name: ClassVar[str] = "autorag"
    title: ClassVar[str] = "AutoRAG"

    def accepts(self, path: Path, head: bytes) -> bool:
        if path.is_dir():
            return (path / _QA).is_file()
        return head.startswith(b"PAR1")

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        qa, corpus = _files(path)
        passages = _passages(corpus) if corpus is not None else iter(())
        texts = {passage.id: passage.text for passage in passages if isinstance(passage, Document)}

        def draft(where: str, row: Mapping[str, object], number: str) -> Draft:
            id = identifier(row, "qid") or number
            groups = _groups(row.get("retrieval_gt"))
            references = [_reference(group, texts) for group in groups]
            answers = _flat(row.get("generation_gt"), "generation_gt")
            answer = next((text for text in answers if text), None)
            messages = [texts.get(first.doc_id, "") for first, *_ in references]
            query = Query(id, string(row, "query"), answer=answer)
            return Draft(where, query, (*given_references(references, messages),))

        yield from made_of(qa, _rows(qa, ("qid", "query", "retrieval_gt", "generation_gt")), draft)

    def documents(self, path: Path) -> Iterator[Document | Unreadable]:
        corpus = _files(path)[1]
        if corpus is None:
            raise ChunkwiseError(f"no {_CORPUS} beside {path}; give the documents with --documents")
        yield from _passages(corpus)

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        rows: list[dict[str, object]] = []
        for query in testset.queries:
            groups = (
                list(dict.fromkeys(place.doc_id for place in reference.places))
                for reference in query.references
            )
            rows.append(
                {
                    "qid": without_half_characters(query.id),
                    "query": without_half_characters(query.text),
                    "retrieval_gt": list(map(list, dict.fromkeys(map(tuple, groups)))),
                    "generation_gt": [without_half_characters(query.answer)]
                    if query.answer
                    else [],
                }
            )
        pa = arrow()
        write_parquet(path / _QA, rows, _qa_schema(pa))
        if documents is not None:
            write_parquet(path / _CORPUS, list(map(_corpus_row, documents)), _corpus_schema(pa))


def _passages(corpus: Path) -> Iterator[Document | Unreadable]:
    return made_of(
        corpus, _rows(corpus, ("doc_id", "contents", "path", "start_end_idx")), _document
    )


def _files(path: Path) -> tuple[Path, Path | None]:
    qa = path / _QA if path.is_dir() else path
    if not qa.is_file():
        raise ChunkwiseError(f"{path} has no {_QA}; expected an AutoRAG folder")
    corpus = qa.parent / _CORPUS
    return qa, corpus if corpus.is_file() else None


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """The second of the columns must be there: AutoRAG's files have it."""
    return parquet_rows(str(path), columns, needed=columns[1])


def _document(where: str, row: Mapping[str, object], number: str) -> Document:
    id = identifier(row, "doc_id")
    if id is None:
        raise WrongField("no 'doc_id'")
    source = optional_string(row, "path") or ""
    return Document(id, string(row, "contents"), source=source, metadata=_place(row))


def _place(row: Mapping[str, object]) -> dict[str, object]:
    """Where the passage starts in its file; AutoRAG writes 0 and 0 where it did not find out."""
    span = row.get("start_end_idx")
    if isinstance(span, list) and len(span) == 2 and span != [0, 0]:
        return {"start": span[0]}
    return {}


def _groups(value: object) -> list[list[str]]:
    """All of the outer list, any of an inner one; a flat list means all, a text is one id."""
    if value is None:
        return []
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        nested = [_flat(item, "retrieval_gt") for item in value]
        return [group for group in nested if group]
    return [[id] for id in _flat(value, "retrieval_gt")]


def _flat(value: object, what: str) -> list[str]:
    if value is None:
        return []
    result: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str):
            raise WrongField(f"its {what} contains {kind(item)}, not text")
        result.append(without_half_characters(item))
    return result


def _reference(group: list[str], texts: Mapping[str, str]) -> list[Passage]:
    return [Passage(id, 0, len(texts[id]) if id in texts else WHOLE) for id in dict.fromkeys(group)]


def _corpus_row(document: Document) -> dict[str, object]:
    return {
        "doc_id": document.id,
        "contents": without_half_characters(document.text),
        "metadata": {"last_modified_datetime": _UNDATED, "prev_id": None, "next_id": None},
        "path": document.source or document.id,
        "start_end_idx": [0, max(0, len(document.text) - 1)],  # the last character, not its end
    }


def _qa_schema(pa: Any) -> Any:
    text = pa.string()
    return pa.schema(
        {
            "qid": text,
            "query": text,
            "retrieval_gt": pa.list_(pa.list_(text)),
            "generation_gt": pa.list_(text),
        }
    )


def _corpus_schema(pa: Any) -> Any:
    text = pa.string()
    dated = pa.struct(
        {"last_modified_datetime": pa.timestamp("us"), "prev_id": text, "next_id": text}
    )
    return pa.schema(
        {
            "doc_id": text,
            "contents": text,
            "metadata": dated,
            "path": text,
            "start_end_idx": pa.list_(pa.int64()),
        }
    )

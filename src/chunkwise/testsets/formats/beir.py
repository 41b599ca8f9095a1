"""BEIR: a folder with `corpus.jsonl`, `queries.jsonl` and judgments of documents in `qrels/*.tsv`.

As BEIR does, questions without a judgment are left out; without any qrels all are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Query
from chunkwise.documents.walk import BEIR_CORPUS as _CORPUS
from chunkwise.documents.walk import BEIR_QUERIES as _QUERIES
from chunkwise.records.fields import WrongField, identifier, listed, optional_string, string
from chunkwise.records.read import csv_records, read_json_lines, read_text
from chunkwise.records.write import text_file, write_json_lines
from chunkwise.testsets.formats.qrels import Judgments, Qrel, grade_of
from chunkwise.testsets.formats.registry import JsonKeys, judged_documents, made_of
from chunkwise.testsets.testset import Draft, TestSet, Unreadable

_HEADER = ("query-id", "corpus-id", "score")
_SPLITS = {"test": "test", "dev": "validation", "val": "validation", "validation": "validation"}
_FILES = {"": "test.tsv", "test": "test.tsv", "validation": "dev.tsv"}


class BeirFormat:
    """Relevance is that of a document, so a reference is a whole document."""

    name: ClassVar[str] = "beir"
    title: ClassVar[str] = "BEIR"

    def accepts(self, path: Path, head: bytes) -> bool:
        if path.name == _QUERIES and JsonKeys(head).is_ours():
            return False
        path, is_folder = _folder(path), path.is_dir()
        if not (path / _QUERIES).is_file():
            return False
        if not _qrels(path) and not (is_folder and (path / _CORPUS).is_file()):
            return False
        # Questions of another form may lie beside a corpus of this name.
        first = next(read_json_lines(str(path / _QUERIES)), None)
        return (
            not first
            or not isinstance(first.value, dict)
            or not {"_id", "id"}.isdisjoint(first.value)
        )

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        path = _folder(path)
        queries = path / _QUERIES
        if not queries.is_file():
            raise ChunkwiseError(f"{path} has no {_QUERIES}; expected a BEIR folder")
        files = _qrels(path)
        judgments = Judgments()
        for file in files:
            split = _SPLITS.get(file.stem.lower(), "") if len(files) > 1 else ""
            for judgment in _judged(file):
                if isinstance(judgment, Unreadable):
                    yield judgment
                else:
                    judgments.add(judgment, split)
        lengths = self._lengths(path, judgments)
        asked: set[str] = set()

        def draft(where: str, record: Mapping[str, object], number: str) -> Draft:
            id = identifier(record, "_id", "id")
            if id is None:
                raise WrongField(f"no '_id' among {listed(record)}")
            asked.add(id)
            query = Query(id, string(record, "text"), split=judgments.splits.get(id, ""))
            return Draft(where, query, judgments.passages(id, lengths))

        for found in made_of(queries, read_json_lines(str(queries)), draft):
            if (
                isinstance(found, Unreadable)
                or not files
                or found.question.id in judgments.relevant
            ):
                yield found
        yield from judgments.without_question(asked)

    def documents(self, path: Path) -> Iterator[Document | Unreadable]:
        path = _folder(path)
        corpus = path / _CORPUS
        if not corpus.is_file():
            raise ChunkwiseError(f"{path} has no {_CORPUS}; give the documents with --documents")

        def document(where: str, record: Mapping[str, object], number: str) -> Document:
            id = identifier(record, "_id", "id")
            if id is None:
                raise WrongField(f"no '_id' among {listed(record)}")
            title = optional_string(record, "title") or ""
            return Document(id, string(record, "text"), title=title, source=str(corpus))

        yield from made_of(corpus, read_json_lines(str(corpus)), document)

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        rows: dict[str, list[tuple[str, str]]] = {_FILES[""]: []}
        for query in testset.queries:
            judged = [(query.id, doc_id) for doc_id in judged_documents(query)]
            rows.setdefault(_FILES.get(query.split, _FILES[""]), []).extend(judged)
        folder = path / "qrels"
        for file in _qrels(path):
            if file.parent != folder or file.name not in rows:
                raise ChunkwiseError(
                    f"{file} would become part of the output; write to an empty folder"
                )
        if documents is not None:
            corpus = ({"_id": d.id, "title": d.title, "text": d.text} for d in documents)
            write_json_lines(path / _CORPUS, corpus)
        write_json_lines(
            path / _QUERIES, ({"_id": item.id, "text": item.text} for item in testset.queries)
        )
        for name, judged in rows.items():
            with text_file(folder / name) as out:
                lines = [_HEADER, *((*pair, "1") for pair in judged)]
                out.writelines("\t".join(map(_cell, line)) + "\n" for line in lines)

    def _lengths(self, path: Path, judgments: Judgments) -> dict[str, int]:
        """Lengths of the documents that are relevant to something."""
        if not (path / _CORPUS).is_file():
            return {}
        wanted = {doc_id for record in judgments.relevant.values() for doc_id in record}
        documents = (
            document for document in self.documents(path) if isinstance(document, Document)
        )
        return {document.id: len(document.text) for document in documents if document.id in wanted}


def _folder(path: Path) -> Path:
    """The folder itself, or that of the file of its questions."""
    return path.parent if path.name == _QUERIES and not path.is_dir() else path


def _qrels(path: Path) -> list[Path]:
    folder = path / "qrels"
    files = sorted(folder.glob("*.tsv")) if folder.is_dir() else []
    return files or [file for file in (path / "qrels.tsv",) if file.is_file()]


def _judged(path: Path) -> Iterator[Qrel | Unreadable]:
    for _, _, line, cells in csv_records(read_text(str(path)), "\t"):
        where = f"{path}, line {line}"
        row = [cell.strip() for cell in cells]
        if not any(row) or (line == 1 and row[0].lower() == _HEADER[0]):
            continue
        grade = grade_of(row[2]) if len(row) == 3 else None
        if grade is None:
            yield Unreadable(where, f"{row!r}; expected a question, a document and a score")
        else:
            yield Qrel(where, row[0], row[1], grade)


def _cell(text: str) -> str:
    """By the rules of CSV where a sign of it stands in the text."""
    if any(sign in text for sign in '"\t\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text

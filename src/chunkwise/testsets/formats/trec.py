"""TREC: judgments (`qid 0 docid grade`) with topics beside them, as a table or in the classic form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Query
from chunkwise.documents.walk import TREC_ASKING as _ASKING
from chunkwise.documents.walk import TREC_JUDGING as _JUDGING
from chunkwise.documents.walk import holds_judgments
from chunkwise.records.read import read_text
from chunkwise.records.write import text_file
from chunkwise.testsets.formats.qrels import Judgments, Qrel, grade_of
from chunkwise.testsets.formats.registry import judged_documents
from chunkwise.testsets.testset import Draft, TestSet, Unreadable

_TOP = re.compile(r"<top>", re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*+(?:Number:\s*+)?([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?([^<]*)", re.IGNORECASE)


class TrecFormat:
    """Relevance is that of a document, so a reference is a whole document."""

    name: ClassVar[str] = "trec"
    title: ClassVar[str] = "TREC"

    def accepts(self, path: Path, head: bytes) -> bool:
        if path.is_dir():
            return _named(path, _JUDGING) is not None and _named(path, _ASKING) is not None
        text = head.removeprefix(b"\xef\xbb\xbf")
        if text.lstrip()[:5].lower() == b"<top>":
            return True
        return holds_judgments(head)

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        qrels, topics = _pair(path)
        judgments = Judgments()
        for found in _judged(qrels) if qrels is not None else ():
            if isinstance(found, Unreadable):
                yield found
            else:
                judgments.add(found)
        asked: set[str] = set()
        for where, id, text in _topics(topics):
            if id is None:
                yield Unreadable(where, text)
                continue
            asked.add(id)
            if qrels is None or id in judgments.relevant:
                yield Draft(where, Query(id, text), judgments.passages(id, {}))
        yield from judgments.without_question(asked)

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        topics: list[str] = []
        rows: list[str] = []
        for query in testset.queries:
            names = judged_documents(query)
            topics.append(f"{_word(query.id)}\t{_one_line(query.text)}\n")
            rows += (f"{_word(query.id)} 0 {_word(name)} 1\n" for name in names)
        for name, lines in (("qrels.txt", rows), ("topics.tsv", topics)):
            with text_file(path / name) as out:
                out.writelines(lines)


def _named(folder: Path, parts: tuple[str, ...], other_than: Path | None = None) -> Path | None:
    """The first file of a folder with one of these words in its name."""
    files = (path for path in sorted(folder.iterdir()) if path.is_file() and path != other_than)
    return next((file for file in files if any(part in file.name.lower() for part in parts)), None)


def _pair(path: Path) -> tuple[Path | None, Path]:
    """The judgments and the topics; the one given, the other found beside it."""
    if path.is_dir():
        qrels, topics = _named(path, _JUDGING), _named(path, _ASKING)
    elif _begins_with_topics(path):
        qrels, topics = _named(path.parent, _JUDGING, path), path
    else:
        qrels, topics = path, _named(path.parent, _ASKING, path)
    if topics is None:
        folder = path if path.is_dir() else path.parent
        raise ChunkwiseError(
            f"no topics beside {qrels or path}: put a file such as topics.tsv"
            f" (id, tab, question) into {folder}"
        )
    return qrels, topics


def _begins_with_topics(path: Path) -> bool:
    return read_text(str(path)).lstrip()[:5].lower() == "<top>"


def _judged(path: Path) -> Iterator[Qrel | Unreadable]:
    for number, line in enumerate(read_text(str(path)).split("\n"), 1):
        cells = line.split()
        if not cells:
            continue
        where = f"{path}, line {number}"
        grade = grade_of(cells[3]) if len(cells) == 4 else None
        if grade is None:
            shown = line.strip()[:80]
            yield Unreadable(where, f"{shown!r}; expected question, 0, document and grade")
        else:
            yield Qrel(where, cells[0], cells[2], grade)


def _topics(path: Path) -> Iterator[tuple[str, str | None, str]]:
    """Place, id and question of each topic; without an id the text is the reason."""
    text = read_text(str(path))
    if text.lstrip()[:5].lower() == "<top>":
        for number, top in enumerate(_TOP.split(text)[1:], 1):
            id, title = _NUMBER.search(top), _TITLE.search(top)
            where = f"{path}, topic {number}"
            if id is None or title is None:
                yield where, None, "expected <num> and <title>"
            else:
                yield where, id[1], " ".join(title[1].split())
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            id_text, tab, question = line.strip("\r").partition("\t")
            where = f"{path}, line {number}"
            if tab and id_text.strip():
                yield where, id_text.strip(), question.strip()
            else:
                yield (
                    where,
                    None,
                    f"{line.strip()[:80]!r}; expected an id, a tab and a question",
                )


def _one_line(text: str) -> str:
    return " ".join(text.split()) if any(sign in text for sign in "\t\r\n") else text.strip()


def _word(name: str) -> str:
    return re.sub(r"\s", "_", name)

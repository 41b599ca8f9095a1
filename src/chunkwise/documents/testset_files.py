"""Files of a test set that hold its questions and judgements: they lie beside its documents, and are none."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import PurePosixPath

from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents.source import Source

BEIR_CORPUS, BEIR_QUERIES = "corpus.jsonl", "queries.jsonl"
AUTORAG_CORPUS, AUTORAG_QUERIES = "corpus.parquet", "qa.parquet"
TREC_JUDGING = ("qrel",)
TREC_ASKING = ("topic", "quer", "question")
"""Words in the names of TREC's files."""

_BEIR_JUDGEMENTS = ("qrels", "qrels.tsv")
_BEIR_HEADER = b"query-id\tcorpus-id\tscore"
_JUDGEMENT = re.compile(rb"\S+[ \t]+(?:0|Q0|q0)[ \t]+\S+[ \t]+-?\d+[ \t]*\r?")
_LOOKED_AT = 50
_MARK = b"\xef\xbb\xbf"

NO_DOCUMENT = (
    "questions or judgements of a test set, which are no documents; name the field of the text with --text-field to "
    "read it as documents"
)

Head = Callable[[str], bytes]
"""The first bytes of a file in the folder, by its name."""


def holds_judgements(head: bytes) -> bool:
    """Whether a file begins with judgements as TREC has them: question, 0, document, grade."""
    lines = _lines(head)
    return bool(lines) and all(_JUDGEMENT.fullmatch(line) for line in lines)


def holds_topics(head: bytes) -> bool:
    """Whether a file begins with topics: `<top>`, or an id, a tab and a question a line."""
    if head.removeprefix(_MARK).lstrip()[:5].lower() == b"<top>":
        return True
    rows = [line.split(b"\t") for line in _lines(head)]
    return bool(rows) and all(
        len(row) == 2 and len(row[0].split()) == 1 and row[1].strip() for row in rows
    )


def _lines(head: bytes) -> list[bytes]:
    """The first that are not empty; the last of the head may be cut."""
    text = head.removeprefix(_MARK)
    lines = [line for line in text.split(b"\n")[:_LOOKED_AT] if line.strip()]
    return lines[:-1] if len(lines) > 1 and not text.endswith(b"\n") else lines


def may_be_of_testset(path: str) -> bool:
    """Whether a path could be that of questions or judgements, by its name alone."""
    parts = PurePosixPath(path).parts
    name = parts[-1].lower() if parts else ""
    return (
        name in (BEIR_QUERIES, AUTORAG_QUERIES)
        or (len(parts) > 1 and parts[-2] == _BEIR_JUDGEMENTS[0] and name.endswith(".tsv"))
        or any(part in name for part in (*TREC_JUDGING, *TREC_ASKING))
    )


def no_documents_among(names: Collection[str], head: Head) -> set[str]:
    """Of the files and folders of one folder those of questions and judgements: of BEIR, AutoRAG and TREC."""
    found: set[str] = set()
    known = set(names)
    if BEIR_QUERIES in known and not known.isdisjoint((BEIR_CORPUS, *_BEIR_JUDGEMENTS)):
        found |= {BEIR_QUERIES, *_BEIR_JUDGEMENTS} & known
    if {AUTORAG_QUERIES, AUTORAG_CORPUS} <= known:
        found.add(AUTORAG_QUERIES)
    judging = [each for each in _named(known, TREC_JUDGING) if holds_judgements(head(each))]
    if judging:
        asking = (each for each in _named(known, TREC_ASKING) if holds_topics(head(each)))
        found |= {*judging, *asking}
    return found


def _named(names: Iterable[str], parts: tuple[str, ...]) -> list[str]:
    return [name for name in names if any(part in name.lower() for part in parts)]


def no_documents_below(paths: Iterable[str], head: Head) -> set[str]:
    """The same of all paths below a folder or in an archive, `/` between their parts."""
    folders: dict[str, set[str]] = defaultdict(set)
    every = list(paths)
    for path in every:
        folder, _, name = path.rpartition("/")
        folders[folder].add(name)
        above, _, last = folder.rpartition("/")
        if folder:
            folders[above].add(last)
    refused: set[str] = set()
    for folder, names in folders.items():
        inside = f"{folder}/" if folder else ""
        found = no_documents_among(names, partial(_head_inside, head, inside))
        refused |= {f"{inside}{name}" for name in found}
    return {path for path in every if path in refused or path.rpartition("/")[0] in refused}


def _head_inside(head: Head, folder: str, name: str) -> bytes:
    return head(f"{folder}{name}")


def is_no_document(source: Source) -> bool:
    """Whether a file that was named itself holds the questions or judgements of a test set."""
    if source.path is None or not may_be_of_testset(os.path.abspath(source.path)):
        return False
    folder, name = os.path.split(os.path.abspath(source.path))
    head = file_head(folder, name)
    if head.removeprefix(_MARK).lower().startswith(_BEIR_HEADER):
        return True
    # What else lies there is only looked at where the file itself could be one: folders may be large.
    is_known = name in (BEIR_QUERIES, AUTORAG_QUERIES)
    if not is_known and not holds_judgements(head) and not holds_topics(head):
        return False
    try:
        return name in no_documents_among(os.listdir(folder), partial(file_head, folder))
    except OSError:
        return False  # reading it will say so


def file_head(folder: str, name: str) -> bytes:
    """The first bytes of a file; of what cannot be read none."""
    path = os.path.join(folder, name)
    try:
        return Source(name, path, path=path).head()
    except UnreadableDocument:
        return b""

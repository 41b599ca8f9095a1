"""The files below a folder, in a fixed order, without those nobody means: pictures, lock files, what a tool has built,
what chunkwise itself wrote, and the questions and judgments of a test set, which lie beside its documents."""

from __future__ import annotations

import csv
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.object_store import StoredFile
from chunkwise.base.own_files import HEAD, PAGE_FORMAT, begins_as_findings, begins_as_page
from chunkwise.base.wording import one_or_many, plural, thousands
from chunkwise.documents.glob_patterns import matches, names_a_kind
from chunkwise.documents.loader import OnUnreadable, suffix_of
from chunkwise.documents.source import Source, os_reason, printable
from chunkwise.records.fields import is_chunk
from chunkwise.records.json import parse_json

SWEEP_RECORD = ".chunkwise-sweep"
"""Lies beside what a sweep has written."""
PACKAGES_HERE = "pyvenv.cfg"
"""Lies in a folder of installed packages."""
DATASET_RECORDS = ("state.json", "dataset_info.json")
"""What Hugging Face writes beside the rows of a data set."""
SWEEP_FILES = (
    "sweep.toml",
    "recommendation.toml",
    "results.json",
    "report.html",
    "questions.json",
    "questions.dropped.json",
)


def walk(folder: str, on_unreadable: OnUnreadable, depth: int | None = None) -> Iterator[str]:
    """Paths below `folder`, `/` between parts, sorted; links to folders are not followed."""
    pending = [("", 1)]
    while pending:
        below, level = pending.pop()
        if below and not below.endswith("/"):
            yield below
            continue
        path = os.path.join(folder, below) if below else folder
        try:
            with os.scandir(path) as result:
                entries = sorted(result, key=lambda entry: entry.name)
        except OSError as error:
            if not below:
                raise  # the folder the user named
            on_unreadable(UnreadableDocument(printable(path), os_reason(error)))
            continue
        names = {entry.name for entry in entries}
        if below and PACKAGES_HERE in names:
            continue
        children = []
        meant = names_meant(names, partial(file_head, path))
        for entry in entries:
            if entry.name not in meant:
                continue
            if not _is_folder(entry):
                children.append((below + entry.name, level))
            elif entry.is_symlink():
                why = "symbolic links to folders aren't followed; give the folder itself"
                on_unreadable(UnreadableDocument(printable(os.path.join(path, entry.name)), why))
            elif (depth is None or level < depth) and not is_built(entry.name, names):
                children.append((below + entry.name + "/", level + 1))
        # A folder sorts with its slash, so that all paths come in the order of their ids.
        pending.extend(sorted(children, reverse=True))


def names_meant(names: Collection[str], head: Head) -> set[str]:
    """Of the files and folders of one folder those that somebody means: nothing hidden, installed, asked or swept."""
    asking = no_documents_among(names, head)
    swept = SWEEP_FILES if SWEEP_RECORD in names else ()
    if DATASET_RECORDS[0] in names and any(name.endswith(".arrow") for name in names):
        swept = (*swept, *DATASET_RECORDS)
    return {
        name for name in names if not is_left_out(name) and name not in swept and name not in asking
    }


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; opening it will say so
        return False


_KINDS = {
    "picture": "png jpg jpeg gif bmp tif tiff webp ico icns heic heif avif psd ai eps svg svgz xcf raw cr2 nef dng jp2",
    "sound": "mp3 wav flac ogg oga opus m4a aac wma aiff mid midi",
    "video": "mp4 m4v mov avi mkv webm wmv flv mpg mpeg ogv 3gp",
    "font": "ttf otf woff woff2 eot pfb ttc",
    "program or compiled file": "exe dll so dylib a o obj lib class jar war pyc pyo pyd wasm beam elc rlib pdb bin app "
    "msi deb rpm apk dmg iso img",
    "data dump": "npy npz pkl pickle h5 hdf5 hdf mat rdata rds sqlite sqlite3 db mdb dump pt pth "
    "onnx safetensors gguf ckpt tfrecord bson idx pack lmdb",
}
_BY_SUFFIX = {f".{end}": kind for kind, ends in _KINDS.items() for end in ends.split()}
_DRAWN = (".svg", ".svgz", ".ai", ".eps")
"""Pictures made of lines, which no OCR reads."""
_LOCKS = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml poetry.lock pipfile.lock "
    "cargo.lock composer.lock gemfile.lock uv.lock pdm.lock go.sum mix.lock podfile.lock "
    "flake.lock bun.lock bun.lockb packages.lock.json gradle.lockfile conda-lock.yml deno.lock "
    "pubspec.lock cartfile.resolved package.resolved".split()
)
_MINIFIED = re.compile(r"[.-]min\.(?:js|css|mjs|cjs)\Z|\.(?:js|css|mjs|cjs)\.map\Z", re.IGNORECASE)
_SCRIPTS = (".js", ".mjs", ".cjs", ".css")
_LONG_LINE = 5_000
"""Bytes; who writes code by hand breaks a line sooner."""
_MANY = {"program or compiled file": "programs and compiled files"}

_BUILT = {
    "dist": ("package.json", "pyproject.toml", "setup.py"),
    "build": (
        "package.json",
        "pyproject.toml",
        "setup.py",
        "build.gradle",
        "build.gradle.kts",
        "CMakeLists.txt",
    ),
    "target": ("Cargo.toml", "pom.xml", "build.sbt"),
    "vendor": ("go.mod", "composer.json", "Gemfile"),
    "bower_components": ("bower.json", "package.json"),
    "Pods": ("Podfile",),
    "_build": ("mix.exs", "dune-project", "conf.py", "Makefile"),
}
"""Folders a tool fills, told by a file beside them: alone their names are anybody's."""
LEFT_OUT_FOLDERS = frozenset(
    {"node_modules", "__pycache__", "__MACOSX", "venv", "CVS", "_darcs", "site-packages"}
)
_EGG = ".egg-info"


def is_left_out(name: str) -> bool:
    """Hidden files, version control, installed packages."""
    return name.startswith(".") or name in LEFT_OUT_FOLDERS or name.endswith(_EGG)


def is_built(name: str, beside: Collection[str]) -> bool:
    """Whether a folder of this name, beside these files, is what a tool made of the others."""
    return any(sign in beside for sign in _BUILT.get(name, ()))


def kind_of_name(name: str) -> str:
    """What is passed over by its name: `picture`, `lock file`; empty for all else."""
    name = name[name.rfind("/") + 1 :].lower()
    if name in _LOCKS:
        return "lock file"
    if _MINIFIED.search(name):
        return "minified file"
    return _BY_SUFFIX.get(suffix_of(name), "")


def is_minified(name: str, head: Callable[[], bytes]) -> bool:
    """Whether a script or a style sheet is one line without end, by its first bytes."""
    if suffix_of(name) not in _SCRIPTS:
        return False
    return max(map(len, head().split(b"\n"))) >= _LONG_LINE


LEFT_OUT = "left out"
"""Why a file is not read that the user's patterns leave out."""


class FileFilter:
    """Which files below a folder are read: the user's patterns first, then what nobody means."""

    def __init__(
        self, include: Sequence[str] = (), exclude: Sequence[str] = (), *, pictures: bool = False
    ) -> None:
        self._include = tuple(include)
        self._exclude = tuple(exclude)
        self._pictures = pictures

    def why_not(self, path: str, head: Callable[[], bytes], *, named: bool = False) -> str:
        """Empty for a file that is read, else `LEFT_OUT` or its kind; `named`: the user named such files."""
        if any(matches(pattern, path) for pattern in self._exclude):
            return LEFT_OUT
        if self._include:
            fits = [pattern for pattern in self._include if matches(pattern, path)]
            if not fits:
                return LEFT_OUT
            named = named or any(map(names_a_kind, fits))
        if named:
            return ""
        kind = kind_of_name(path)
        if kind == "picture" and self._pictures and suffix_of(path) not in _DRAWN:
            return ""
        return kind or ("minified file" if is_minified(path, head) else "")

    @property
    def patterns(self) -> str:
        """By the names they have in Python and, behind dashes, on the command line."""
        given = [("include", item) for item in self._include]
        given += [("exclude", item) for item in self._exclude]
        return " ".join(f"{name} {pattern!r}" for name, pattern in given)


def in_words(kinds: Mapping[str, int]) -> str:
    """`12 pictures, 1 lock file`, the most first."""
    by_count = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(
        f"{thousands(count)} {one_or_many(count, kind, _MANY.get(kind, plural(2, kind)))}"
        for kind, count in by_count
    )


_LONGEST_LINE = 1 << 24
_PAGE = b'<meta name="generator" content="chunkwise">'
_ISSUE_FIELDS = frozenset("kind doc_id source chunk offset line column before after".split())


OWN_PAGE = "a chunkwise report, not a document"
"""Why a page is not read, be it HTML or data."""


def is_page(value: object) -> bool:
    """Whether JSON holds what a page shows."""
    return isinstance(value, Mapping) and value.get("format") == PAGE_FORMAT


def is_written_by_us(path: Path, stored: StoredFile | None = None) -> bool:
    """Whether a file holds results, a page, chunks or issues; a file of questions is always the user's own."""
    suffix = path.suffix.lower()
    with stored.open() if stored else path.open("rb") as file:
        if suffix == ".parquet":
            return is_chunk(_parquet_columns(file))
        head = file.read(HEAD)
        if suffix in (".html", ".htm"):
            return _PAGE in head
        if begins_as_findings(head) or begins_as_page(head):
            return True
        file.seek(0)
        line = file.readline(_LONGEST_LINE).decode("utf-8", "replace")
    names = set(_fields(line, suffix))
    return is_chunk(names) or names >= _ISSUE_FIELDS


def _fields(line: str, suffix: str) -> Iterable[str]:
    """Of the first record of a file."""
    if suffix == ".csv":
        return next(csv.reader([line]), [])
    try:
        record = parse_json(line)
    except (ValueError, RecursionError):
        return ()
    return record if isinstance(record, dict) else ()


def _parquet_columns(file: BinaryIO) -> list[str]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return []
    try:
        return list(pq.read_schema(file).names)
    except pa.ArrowException:
        return []


BEIR_CORPUS, BEIR_QUERIES = "corpus.jsonl", "queries.jsonl"
AUTORAG_CORPUS, AUTORAG_QUERIES = "corpus.parquet", "qa.parquet"
TREC_JUDGING = ("qrel",)
TREC_ASKING = ("topic", "quer", "question")
"""Words in the names of TREC's files."""

_BEIR_JUDGEMENTS = ("qrels", "qrels.tsv")
_JUDGEMENT = re.compile(rb"\S+[ \t]+(?:0|Q0|q0)[ \t]+\S+[ \t]+-?\d+[ \t]*\r?")
_LOOKED_AT = 50
_MARK = b"\xef\xbb\xbf"

Head = Callable[[str], bytes]
"""The first bytes of a file in the folder, by its name."""


def holds_judgments(head: bytes) -> bool:
    """Whether a file begins with judgments as TREC has them: question, 0, document, grade."""
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
    """Whether a path could be that of questions or judgments, by its name alone."""
    parts = PurePosixPath(path).parts
    name = parts[-1].lower() if parts else ""
    return (
        name in (BEIR_QUERIES, AUTORAG_QUERIES)
        or (len(parts) > 1 and parts[-2] == _BEIR_JUDGEMENTS[0] and name.endswith(".tsv"))
        or any(part in name for part in (*TREC_JUDGING, *TREC_ASKING))
    )


def no_documents_among(names: Collection[str], head: Head) -> set[str]:
    """Of the files and folders of one folder those of questions and judgments: of BEIR, AutoRAG and TREC."""
    documents: set[str] = set()
    known = set(names)
    if BEIR_QUERIES in known and not known.isdisjoint((BEIR_CORPUS, *_BEIR_JUDGEMENTS)):
        documents |= {BEIR_QUERIES, *_BEIR_JUDGEMENTS} & known
    if {AUTORAG_QUERIES, AUTORAG_CORPUS} <= known:
        documents.add(AUTORAG_QUERIES)
    judging = [item for item in _named(known, TREC_JUDGING) if holds_judgments(head(item))]
    if judging:
        asking = (item for item in _named(known, TREC_ASKING) if holds_topics(head(item)))
        documents |= {*judging, *asking}
    return documents


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
        texts = no_documents_among(names, partial(_head_inside, head, inside))
        refused |= {f"{inside}{name}" for name in texts}
    return {path for path in every if path in refused or path.rpartition("/")[0] in refused}


def _head_inside(head: Head, folder: str, name: str) -> bytes:
    return head(f"{folder}{name}")


def file_head(folder: str, name: str) -> bytes:
    """The first bytes of a file; of what cannot be read none."""
    path = os.path.join(folder, name)
    try:
        return Source(name, path, path=path).head()
    except UnreadableDocument:
        return b""

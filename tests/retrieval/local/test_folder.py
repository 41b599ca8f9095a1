"""The index folder: whole or as it was before, whatever happens to the one who writes it."""

from __future__ import annotations

import errno
import importlib.util
import json
import linecache
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise import ChunkwiseError, Document
from chunkwise.core import Span
from chunkwise.ext import get_strategy
from chunkwise.options import IndexOptions, LoadOptions
from chunkwise.retrieval.local import folder as folder_module
from chunkwise.retrieval.local import manifest as manifest_module
from chunkwise.retrieval.local.manifest import MANIFEST_NAME
from retrieval.tiny_embedder import Tiny, WholeTexts
from tables import cases

DOCUMENTS = [
    Document(
        f"notes/{number}.md", f"# Note {number}\n\nThe {word} number {number} is here.\n\n" * 3
    )
    for number, word in enumerate(["heron", "otter", "badger", "falcon"])
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "kb"
    chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())
    return folder


@pytest.fixture
def folder(tmp_path: Path, made_once: Path) -> Path:
    return Path(shutil.copytree(made_once, tmp_path / "kb"))


def arrays_of(folder: Path) -> dict[str, bytes]:
    """The bytes of every array that counts."""
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    home = folder / manifest["generation"]
    assert sorted(manifest["files"]) == sorted(path.name for path in home.iterdir())
    return {name: (home / name).read_bytes() for name in manifest["files"]}


def ask(folder: Path, word: str = "otter") -> list[str]:
    index = chunkwise.open_index(folder, embedder=Tiny())
    return [hit.doc_id for hit in index.search(word, retriever="bm25", k=2)]


def test_an_index_replaced_while_it_is_opened_is_opened_as_it_is_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_manifest, replaced = folder_module.read_manifest, list[str]()

    def read_late(place: Path) -> manifest_module.Manifest:
        manifest = read_manifest(place)
        if not replaced:
            replaced.append(manifest.generation)
            chunkwise.index([Document("new", "A new plum.")], into=folder, embedder=Tiny())
        return manifest

    chunkwise.index(DOCUMENTS[:2], into=folder, embedder=Tiny())
    monkeypatch.setattr(folder_module, "read_manifest", read_late)
    assert chunkwise.open_index(folder).source.ids() == ["new"]
    shutil.rmtree(folder / read_manifest(folder).generation)
    with pytest.raises(ChunkwiseError, match="is missing"):
        chunkwise.open_index(folder)


def test_one_generation_and_a_manifest_are_all_there_is(folder: Path) -> None:
    chunkwise.index(DOCUMENTS[:2], into=folder, embedder=Tiny())
    chunkwise.index(DOCUMENTS[1:], into=folder, embedder=Tiny())
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 3
    assert {MANIFEST_NAME, folder_module.LOCK_NAME} < set(names)


@pytest.mark.unwatched
def test_an_index_made_step_by_step_equals_a_fresh_one_to_the_bit(tmp_path: Path) -> None:
    changed = Document(DOCUMENTS[2].id, "# Changed\n\nNothing is as it was.\n")
    renamed = Document("elsewhere/0.md", DOCUMENTS[0].text, metadata={"by": "me"})
    steps = [
        DOCUMENTS[:1],
        DOCUMENTS,
        [DOCUMENTS[3], DOCUMENTS[0], DOCUMENTS[1]],
        [DOCUMENTS[0], changed, renamed, DOCUMENTS[3]],
        [],
        [changed, *DOCUMENTS[:2], renamed],
    ]
    for number, step in enumerate(steps):
        chunkwise.index(step, into=tmp_path / "kb", embedder=Tiny(), rebuild=not step)
        fresh = tmp_path / f"fresh{number}"
        chunkwise.index(step, into=fresh, embedder=Tiny())
        assert arrays_of(tmp_path / "kb") == arrays_of(fresh)
        said, expected = (
            {**json.loads((each / MANIFEST_NAME).read_text()), "generation": ""}
            for each in (tmp_path / "kb", fresh)
        )
        assert said == expected


def test_changes_are_counted(folder: Path) -> None:
    changed = Document(DOCUMENTS[0].id, "Another text.")
    new = Document("new.md", "A new text.")
    index = chunkwise.index([changed, DOCUMENTS[1], new], into=folder, embedder=Tiny())
    changes = index.changes
    assert changes is not None
    assert (changes.added, changes.changed, changes.removed, changes.unchanged) == (1, 1, 2, 1)
    assert str(changes) == "1 added, 1 changed, 2 removed, 1 unchanged"


def test_nothing_is_written_when_nothing_has_changed(folder: Path) -> None:
    before = (folder / MANIFEST_NAME).stat().st_mtime_ns, arrays_of(folder)
    model = Tiny()
    index = chunkwise.index(DOCUMENTS, into=folder, embedder=model)
    assert str(index.changes) == "4 unchanged"
    assert model.calls == 0
    assert ((folder / MANIFEST_NAME).stat().st_mtime_ns, arrays_of(folder)) == before


def test_a_run_without_changes_does_not_load_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chunkwise import models

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the model was loaded")

    with monkeypatch.context() as patched:
        patched.setattr(models, "get_embedder", lambda *_, **__: Tiny())
        chunkwise.index(DOCUMENTS, into=tmp_path / "kb", embedder="tiny")
    monkeypatch.setattr(models, "get_embedder", refuse)
    for documents in (DOCUMENTS, DOCUMENTS[::-1], DOCUMENTS[:2]):
        index = chunkwise.index(documents, into=tmp_path / "kb")
        assert len(index) == len(documents)
    with pytest.raises(AssertionError, match="the model was loaded"):
        chunkwise.index([*DOCUMENTS, Document("new", "New.")], into=tmp_path / "kb")


def test_a_reader_goes_on_while_the_index_is_replaced(folder: Path) -> None:
    reader = chunkwise.open_index(folder, embedder=Tiny())
    chunkwise.index(DOCUMENTS[:1], into=folder, embedder=Tiny())
    assert reader.search("falcon", retriever="bm25", k=1)[0].doc_id == "notes/3.md"
    assert reader.search("falcon", retriever="dense", k=1)[0].doc_id == "notes/3.md"
    assert len(chunkwise.open_index(folder)) == 1


def test_opening_reads_next_to_nothing_whatever_the_size(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    for name in ("text.bytes", "atom.vector"):
        stored = manifest["files"][name]
        stored["shape"][0] += 1 << 28
        path = folder / manifest["generation"] / name
        os.truncate(path, int(np.prod(stored["shape"])))  # holes take no room on the disk
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest))
    before = resource.getrusage(resource.RUSAGE_SELF)
    index = chunkwise.open_index(folder, embedder=Tiny())
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert index.stats().bytes > 2 << 30
    pages = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt
    assert pages < 2_000  # of a gigabyte that is read, tens of thousands
    assert index.search("otter", retriever="bm25", k=1)[0].doc_id == "notes/1.md"


def test_a_folder_that_is_no_index_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("ten years of work")
    for rebuild in (False, True):
        with pytest.raises(ChunkwiseError, match=r"isn't an index and isn't empty.*thesis\.txt"):
            chunkwise.index(DOCUMENTS, into=tmp_path, embedder=Tiny(), rebuild=rebuild)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    (tmp_path / "thesis.txt").unlink()
    (tmp_path / MANIFEST_NAME).write_text('{"name": "my web page"}')
    for rebuild in (False, True):
        with pytest.raises(
            ChunkwiseError, match="t a chunkwise index manifest; use another folder"
        ):
            chunkwise.index(DOCUMENTS, into=tmp_path, embedder=Tiny(), rebuild=rebuild)
    assert (tmp_path / MANIFEST_NAME).read_text() == '{"name": "my web page"}'


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "kb").write_text("x")
    with pytest.raises(ChunkwiseError, match="is a file; expected a folder"):
        chunkwise.index(DOCUMENTS, into=tmp_path / "kb", embedder=Tiny())
    with pytest.raises(ChunkwiseError, match="kb"):
        chunkwise.open_index(tmp_path / "kb")
    with pytest.raises(ChunkwiseError, match=r"isn't an index.*chunkwise index"):
        chunkwise.open_index(tmp_path / "nowhere")


def _files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != folder_module.LOCK_NAME
    )


@pytest.mark.unwatched
def test_every_truncated_file_is_found_when_the_index_is_opened(folder: Path) -> None:
    names = [path.relative_to(folder) for path in _files(folder)]
    assert len(names) > 30
    for name in names:
        path = folder / name
        whole = path.read_bytes()
        if not whole:
            continue
        path.write_bytes(whole[:-1])
        with pytest.raises(ChunkwiseError, match="rebuild"):
            chunkwise.open_index(folder)
        with pytest.raises(ChunkwiseError, match="rebuild"):
            chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())
        path.write_bytes(whole)
    assert ask(folder) == ["notes/1.md"]


@pytest.mark.unwatched
def test_every_missing_file_is_found(folder: Path) -> None:
    for path in _files(folder):
        whole = path.read_bytes()
        path.unlink()
        with pytest.raises(ChunkwiseError, match=r"rebuild|isn't an index|unfinished"):
            chunkwise.open_index(folder)
        path.write_bytes(whole)
    assert ask(folder) == ["notes/1.md"]


@pytest.mark.unwatched
def test_every_flipped_bit_is_found_on_demand(folder: Path) -> None:
    chunkwise.open_index(folder).verify()
    for path in _files(folder):
        whole = path.read_bytes()
        if path.name == MANIFEST_NAME or not whole:
            continue
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(ChunkwiseError, match=f"{path.name} is damaged"):
            chunkwise.open_index(folder).verify()
        path.write_bytes(whole)


@cases(
    "change, message",
    [
        ({"format": 99}, "index format 99"),
        ({"format": 0}, "index format 0"),
        ({"format": None}, "index format None"),
        ({"generation": "../elsewhere"}, "is damaged"),
        ({"generation": 7}, "is damaged"),
        (
            {"files": {"../../etc/passwd": {"dtype": "|u1", "shape": [1], "check": ""}}},
            "is damaged",
        ),
        ({"files": []}, "is damaged"),
        ({"files": {}}, "is damaged"),
        ({"settings": {"strategy": "structure", "vectors": "unheard"}}, "is damaged"),
        ({"settings": {"strategy": "structure", "vectors": "late", "dimensions": 8}}, "is damaged"),
        ({"settings": {"unheard": 1}}, "is damaged"),
        ({"languages": 3}, "is damaged"),
    ],
)
def test_a_foreign_manifest_is_told(folder: Path, change: dict[str, object], message: str) -> None:
    values = {**json.loads((folder / MANIFEST_NAME).read_text()), **change}
    (folder / MANIFEST_NAME).write_text(json.dumps(values))
    with pytest.raises(ChunkwiseError, match=message) as told:
        chunkwise.open_index(folder)
    assert "rebuild" in str(told.value)
    chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(), rebuild=True)
    assert ask(folder) == ["notes/1.md"]


@cases("text", ["", "{", "[]", "null", "\x00\x01", '{"kind": "chunkwise index"}'])
def test_a_broken_manifest_is_told(folder: Path, text: str) -> None:
    (folder / MANIFEST_NAME).write_text(text)
    with pytest.raises(ChunkwiseError):
        chunkwise.open_index(folder)


# What is done elsewhere is done by forks of one process, since starting Python takes longer.
_ELSEWHERE = textwrap.dedent(
    """
    import json, os, signal, sys
    sys.path.insert(0, {here!r})
    from pathlib import Path
    from tiny_embedder import Tiny
    import chunkwise
    from chunkwise import Document
    from chunkwise.retrieval.local import manifest, folder

    left = 0

    def counted(home, name):
        real = getattr(home, name)

        def call(*arguments, **keywords):
            global left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **keywords)

        setattr(home, name, call)

    for home, name in [
        (manifest._Growing, "add"), (manifest._Growing, "write"), (manifest.os, "fsync"), (Path, "unlink"),
        (Path, "replace"), (Path, "mkdir"), (folder.shutil, "rmtree"), (os, "unlink"),
    ]:
        counted(home, name)

    def killed(at, folder):
        '''A writer, killed at the n-th thing it does to the disk; or how far away that was.'''
        global left
        left = at
        chunkwise.index(documents, into=folder, embedder=Tiny())
        return left

    def two(folder):
        '''Two writers at once; how they ended.'''
        children = []
        for name in ("heron", "otter"):
            children.append(os.fork())
            if not children[-1]:
                for round in range(3):
                    changed = [Document(f"{{name}}{{n}}", f"{{name}} {{n}} {{round}}") for n in range(5)]
                    chunkwise.index(changed, into=folder, embedder=Tiny())
                os._exit(0)
        return [os.waitpid(child, 0)[1] for child in children]

    def sets(folder):
        '''Where strings have other hashes: a set in its order, and what an index does with it.'''
        metadata = {{"tags": set("abcdefgh"), "at": Path("x")}}
        made = chunkwise.index(
            [Document("a", "A text.", metadata=metadata)], into=folder, vectors="none"
        )
        return [list(set("abcdefgh")), str(made.changes), str(made.source.document(0).metadata)]

    documents = [Document(f"new/{{n}}.md", f"A new otter, number {{n}}.") for n in range(2)]
    chunkwise.index(documents, embedder=Tiny(), vectors="none")  # imports what there is to import
    for line in sys.stdin:
        child = os.fork()
        if not child:
            work, os.environ["CHUNKWISE_HOME"], given = json.loads(line)
            print(json.dumps(globals()[work](*given)), flush=True)
            os._exit(0)
        if status := os.waitpid(child, 0)[1]:
            print(json.dumps("killed" if status == signal.SIGKILL else "failed"), flush=True)
    """
)


class Elsewhere:
    """Another process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._asked, self._answers = process.stdin, process.stdout
        self._unread = 0
        self._looks = select.poll()  # `select` knows the first thousand open files only
        self._looks.register(self._answers, select.POLLIN)

    def begin(self, work: str, *given: object) -> None:
        while self._unread:  # left by a test that failed
            self.answer()
        self._asked.write(json.dumps([work, os.environ["CHUNKWISE_HOME"], given]) + "\n")
        self._asked.flush()
        self._unread += 1

    def is_done(self, milliseconds: int) -> bool:
        """Within that time."""
        return bool(self._looks.poll(milliseconds))

    def answer(self) -> Any:
        self._unread -= 1
        return json.loads(self._answers.readline())

    def killed(self, at: int, folder: Path) -> Any:
        """`killed`, or how far away the point was."""
        self.begin("killed", at, str(folder))
        return self.answer()


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    code = _ELSEWHERE.format(here=str(Path(__file__).parents[1]))
    with subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "1"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        yield Elsewhere(process)


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_a_writer_killed_at_any_point_leaves_a_whole_index(
    folder: Path, elsewhere: Elsewhere
) -> None:
    before = arrays_of(folder)
    old, new = ["notes/1.md"], ["new/0.md", "new/1.md"]
    seen = []
    calls = 1_000_000 - elsewhere.killed(1_000_000, folder)
    after = arrays_of(folder)
    # The manifest is replaced before some forty files of the old generation go, one by one.
    for at in [3, calls // 2, *range(calls - 53, calls - 43, 2), calls - 30, calls - 20, calls]:
        chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())  # clears what the killed one left
        assert arrays_of(folder) == before
        assert len(list(folder.iterdir())) == 3
        assert elsewhere.killed(at, folder) == "killed"
        found = ask(folder)
        assert found in (old, new)
        assert arrays_of(folder) == (before if found == old else after)
        seen.append(found)
    assert seen.count(old) > 2
    assert seen.count(new) > 2


def test_the_first_writer_killed_is_no_obstacle(tmp_path: Path, elsewhere: Elsewhere) -> None:
    for at in (2, 100):
        assert elsewhere.killed(at, tmp_path / "kb") == "killed"
        with pytest.raises(ChunkwiseError, match=r"isn't an index|unfinished"):
            chunkwise.open_index(tmp_path / "kb")
    chunkwise.index(DOCUMENTS, into=tmp_path / "kb", embedder=Tiny())
    assert ask(tmp_path / "kb") == ["notes/1.md"]
    assert len(list((tmp_path / "kb").iterdir())) == 3


def test_a_full_disk_is_told_and_the_index_stays(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    chunkwise.index(DOCUMENTS, into=folder, vectors="none")
    before = arrays_of(folder)
    many = [Document(f"{number}", f"Number {number} of many. " * 50) for number in range(60)]
    # A limit on the size of files stands for a disk without room: writing fails in the same way.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        with pytest.raises(ChunkwiseError, match="cannot write"):
            chunkwise.index(many, into=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert arrays_of(folder) == before
    assert len(list(folder.iterdir())) == 3
    assert ask(folder) == ["notes/1.md"]
    assert len(chunkwise.index(many, into=folder)) == 60


def test_an_error_on_the_way_leaves_the_index_as_it_was(folder: Path) -> None:
    before = arrays_of(folder)

    class Stops(Tiny):
        def token_vectors(self, texts):  # type: ignore[no-untyped-def]
            if any("stop here" in text for text in texts):
                raise KeyboardInterrupt
            return super().token_vectors(texts)

    documents = [Document("a", "A fine text."), Document("b", "Now stop here.")]
    with pytest.raises(KeyboardInterrupt):
        chunkwise.index(documents, into=folder, embedder=Stops())
    assert arrays_of(folder) == before
    assert len(list(folder.iterdir())) == 3


def test_the_second_writer_is_told_who_is_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "LOCK_WAIT", 0.3)
    with folder_module.locked(folder):
        began = time.monotonic()
        with pytest.raises(ChunkwiseError, match=rf"process {os.getpid()}\b"):
            chunkwise.index([], into=folder, embedder=Tiny())
        assert time.monotonic() - began >= 0.3  # it did wait
        # Readers need no lock.
        assert ask(folder) == ["notes/1.md"]
    chunkwise.index(DOCUMENTS[:1], into=folder, embedder=Tiny())


def test_two_writers_come_one_after_the_other(folder: Path, elsewhere: Elsewhere) -> None:
    elsewhere.begin("two", str(folder))
    while not elsewhere.is_done(20):
        # Readers come at any time, and find one whole index or the other.
        assert len(chunkwise.open_index(folder).source.ids()) in (4, 5)
    assert elsewhere.answer() == [0, 0]
    index = chunkwise.open_index(folder, embedder=Tiny())
    index.verify()
    ids = index.source.ids()
    assert ids in ([f"heron{n}" for n in range(5)], [f"otter{n}" for n in range(5)])


def test_what_an_index_was_made_with_is_kept(folder: Path) -> None:
    index = chunkwise.index(DOCUMENTS[:2], into=folder, embedder=Tiny())
    assert index.settings == chunkwise.open_index(folder).settings
    for given, both in [
        ({"strategy": "tokens"}, ("structure(max_tokens=400", "tokens(max_tokens=400")),
        ({"vectors": "own"}, ("'late'", "'own'")),
        ({"context": "headings"}, ("'none'", "'headings'")),
        ({"settings": IndexOptions(language="de")}, ("'auto'", "'de'")),
        ({"settings": IndexOptions(tokenizer="words")}, ("'o200k_base'", "'words'")),
        ({"embedder": "minilm"}, ("'tiny-16'", "'minilm'")),
        ({"embedder": Tiny(8)}, ("'tiny-16'", "'tiny-8'")),
    ]:
        with pytest.raises(ChunkwiseError, match="rebuild") as told:
            chunkwise.index(DOCUMENTS, into=folder, **{"embedder": Tiny(), **given})  # type: ignore[arg-type]
        assert all(name in str(told.value) for name in both)
    assert len(chunkwise.open_index(folder)) == 2
    again = chunkwise.index(
        DOCUMENTS, "tokens", into=folder, embedder=WholeTexts(), vectors="own", rebuild=True
    )
    assert again.settings.strategy == "tokens(max_tokens=400, overlap=0)"
    assert chunkwise.open_index(folder).settings == again.settings


def test_vectors_of_another_model_are_refused(folder: Path) -> None:
    other = chunkwise.open_index(folder, embedder=Tiny(16, "other"))
    with pytest.raises(ChunkwiseError, match=r"'tiny-16'.*'other-16'"):
        other.search("otter", retriever="dense")
    assert other.search("otter", retriever="bm25", k=1)[0].doc_id == "notes/1.md"
    with pytest.raises(ChunkwiseError, match=r"'tiny-16'.*'other-16'"):
        chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(16, "other"))


HOSTILE_IDS = [
    "../../etc/passwd", "/etc/passwd", "a\nb", "a\x00b", "", " ", "index.json", "🦦" * 300, "..",
    "x" * 5000, "\ud800", "a/b/../c", "C:\\x", "*", "[a-z]", "%s", "{0}", "\u202e",
]  # fmt: skip


def test_ids_are_data(tmp_path: Path) -> None:
    documents = [
        Document(id, f"Text number {number}.", title=id, source=id, metadata={id: id})
        for number, id in enumerate(HOSTILE_IDS)
    ]
    chunkwise.index(documents, into=tmp_path / "kb", embedder=Tiny())
    index = chunkwise.open_index(tmp_path / "kb", embedder=Tiny())
    assert index.source.ids() == HOSTILE_IDS
    assert [index.source.document(number) for number in range(len(index))] == documents
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "kb"]
    assert len(list((tmp_path / "kb").iterdir())) == 3


def test_an_index_of_nothing(tmp_path: Path) -> None:
    for vectors in ("late", "none"):
        made = chunkwise.index([], into=tmp_path / vectors, embedder=Tiny(), vectors=vectors)  # type: ignore[arg-type]
        opened = chunkwise.open_index(tmp_path / vectors, embedder=Tiny())
        for index in (made, opened):
            assert len(index) == 0
            assert index.stats().chunks == 0
            assert index.search("anything", retriever="bm25") == []
            assert len(index.source.atom_table()) == 0
    assert opened.settings.vectors == "none"
    chunkwise.index(DOCUMENTS, into=tmp_path / "late", embedder=Tiny())
    assert ask(tmp_path / "late") == ["notes/1.md"]


@pytest.mark.unwatched
def test_hundreds_of_small_documents(tmp_path: Path) -> None:
    documents = [Document(f"{number}.txt", f"Room {number}") for number in range(300)]
    index = chunkwise.index(documents, into=tmp_path / "kb", vectors="none")
    assert (len(index), index.stats().chunks) == (300, 300)
    assert [hit.doc_id for hit in index.search("room 237", k=1)] == ["237.txt"]
    documents[100] = Document("100.txt", "Cellar 237")
    index = chunkwise.index(documents, into=tmp_path / "kb")
    assert str(index.changes) == "1 changed, 299 unchanged"
    assert {hit.doc_id for hit in index.search("237", k=5)} == {"237.txt", "100.txt"}


def test_the_index_is_not_read_as_a_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some text about herons.")
    for _ in range(2):
        index = chunkwise.index(
            tmp_path,
            into=tmp_path / "kb",
            vectors="none",
            options=LoadOptions(on_unreadable=_raise),
        )
        assert index.source.ids() == ["a.txt"]


def _raise(problem: Exception) -> None:
    raise problem


def test_inputs_that_cannot_be_read_do_not_empty_an_index(folder: Path, tmp_path: Path) -> None:
    before = arrays_of(folder)
    with pytest.raises(ChunkwiseError, match=r"1 skipped.*with 4 documents"):
        chunkwise.index(
            tmp_path / "misspelt",
            into=folder,
            embedder=Tiny(),
            options=LoadOptions(on_unreadable=lambda _: None),
        )
    assert arrays_of(folder) == before


def test_an_index_beside_another_does_not_read_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Some text about herons.")
    for name in ("kb1", "kb2"):
        into = tmp_path / "docs" / name
        index = chunkwise.index(
            tmp_path / "docs", into=into, vectors="none", options=LoadOptions(on_unreadable=_raise)
        )
        assert index.source.ids() == ["a.txt"]


def test_what_cannot_be_read_once_keeps_its_documents(tmp_path: Path) -> None:
    home = tmp_path / "docs"
    home.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (home / name).write_text(f"The text of {name} about herons.")
    with zipfile.ZipFile(home / "more.zip", "w") as packed:
        packed.writestr("d.txt", "The text of d about otters.")
    skipped: list[Exception] = []

    def update() -> chunkwise.Index:
        return chunkwise.index(
            home,
            into=tmp_path / "kb",
            embedder=Tiny(),
            options=LoadOptions(on_unreadable=skipped.append),
        )

    assert sorted(update().source.ids()) == ["a.txt", "b.txt", "c.txt", "more.zip/d.txt"]
    (home / "b.txt").write_bytes(b"")
    (home / "more.zip").write_bytes((home / "more.zip").read_bytes()[:30])
    (home / "c.txt").unlink()
    index = update()
    assert len(skipped) == 2
    assert str(index.changes) == "1 removed, 3 unchanged, 2 skipped"
    assert index.changes is not None
    (note,) = index.changes.notes
    assert note.startswith("2 documents")
    assert "b.txt, more.zip/d.txt" in note
    assert index.search("otters", retriever="bm25", k=1)[0].doc_id == "more.zip/d.txt"
    assert ask(tmp_path / "kb", "b.txt")[0] == "b.txt"
    before = (tmp_path / "kb" / MANIFEST_NAME).stat().st_mtime_ns
    assert str(update().changes) == "3 unchanged, 2 skipped"
    assert (tmp_path / "kb" / MANIFEST_NAME).stat().st_mtime_ns == before


def test_documents_below_a_folder_that_is_not_there_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"The text of {name}.")

    def update(*inputs: str) -> str:
        made = chunkwise.index(
            inputs, into="kb", vectors="none", options=LoadOptions(on_unreadable=lambda _: None)
        )
        return str(made.changes)

    assert update("one/", "two/") == "2 added"
    (tmp_path / "two").rename(tmp_path / "away")
    assert update("one", str(tmp_path / "two")) == "2 unchanged, 1 skipped"
    (tmp_path / "away").rename(tmp_path / "two")
    (tmp_path / "one").rename(tmp_path / "away")
    # The first of two equal names has the plain id, even while it is away.
    assert update("one", "two") == "2 unchanged, 1 skipped"
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "a.txt").write_text("The text of three.")
    assert update("one", "three", "two") == "1 added, 2 unchanged, 1 skipped"
    index = chunkwise.open_index("kb")
    documents = [index.source.document(number) for number in range(len(index))]
    texts = {document.id: document.text for document in documents}
    assert texts == {
        "a.txt": "The text of one.",
        "two/a.txt": "The text of two.",
        "three/a.txt": "The text of three.",
    }
    assert update("two") == "1 changed, 2 removed"


def test_an_index_is_not_emptied_by_mistake(folder: Path) -> None:
    before = arrays_of(folder)
    with pytest.raises(ChunkwiseError, match=r"is unchanged, with 4 documents.*rebuild"):
        chunkwise.index([], into=folder, embedder=Tiny())
    with pytest.raises(ChunkwiseError, match="with 4 documents"):
        chunkwise.open_index(folder, embedder=Tiny()).update([])
    assert arrays_of(folder) == before
    assert len(chunkwise.index([], into=folder, embedder=Tiny(), rebuild=True)) == 0


def test_an_index_is_verified_beside_a_writer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chunkwise.retrieval.local import folder as folder_module

    reader_opens = folder_module.open_folder

    def open_and_replace(folder: Path) -> object:
        found = reader_opens(folder)
        monkeypatch.setattr(folder_module, "open_folder", reader_opens)  # the writer verifies, too
        chunkwise.index(DOCUMENTS[:1], into=folder, embedder=Tiny())
        return found

    monkeypatch.setattr(folder_module, "open_folder", open_and_replace)
    folder_module.verify_folder(folder)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are not listed here")
def test_small_indexes_keep_no_files_open(folder: Path) -> None:
    index = chunkwise.open_index(folder, embedder=Tiny())
    assert index.search("otter")
    opened = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    assert not [path for path in opened if path.startswith(str(folder.resolve()))]


def test_too_many_open_files_are_told_with_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))  # as a map does, without a name

    monkeypatch.setattr(manifest_module, "_SMALL", 0)
    monkeypatch.setattr(np, "memmap", refused)
    told = rf"cannot read {re.escape(str(folder))}.*: Too many open files"
    with pytest.raises(ChunkwiseError, match=told):
        chunkwise.open_index(folder)


def test_the_same_call_twice_is_the_same_index(tmp_path: Path) -> None:
    for count in (2, 3):
        made = chunkwise.index(
            DOCUMENTS[:count], into=tmp_path / "kb", vectors="none", embedder="minilm"
        )
        assert len(made) == count
    for model in ("minilm", Tiny()):
        with pytest.raises(ChunkwiseError, match=r"without vectors.*rebuild"):
            chunkwise.index(DOCUMENTS, into=tmp_path / "kb", embedder=model)


def test_sets_are_the_same_in_every_process(tmp_path: Path, elsewhere: Elsewhere) -> None:
    metadata = {"tags": set("abcdefgh"), "at": Path("x")}
    index = chunkwise.index(
        [Document("a", "A text.", metadata=metadata)], into=tmp_path / "kb", vectors="none"
    )
    written = (tmp_path / "kb" / MANIFEST_NAME).stat().st_mtime_ns
    elsewhere.begin("sets", str(tmp_path / "kb"))
    order, changes, told = elsewhere.answer()
    assert order != list(set("abcdefgh"))  # or nothing would be shown
    assert changes == "1 unchanged"
    assert told == str(index.source.document(0).metadata)
    assert "['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']" in told
    assert (tmp_path / "kb" / MANIFEST_NAME).stat().st_mtime_ns == written


@cases("value", [{(1, 2): "x"}, object(), [object()]])
def test_metadata_that_cannot_be_kept_is_told(tmp_path: Path, value: object) -> None:
    document = Document("notes/7.md", "A text.", metadata={"fine": 1, "odd": value})
    with pytest.raises(ChunkwiseError, match=r"'notes/7.md'.*'odd'"):
        chunkwise.index([document], into=tmp_path / "kb", vectors="none")


_MINE = """
from chunkwise.core import Span

class Mine:
    def split(self, document):
        middle = len(document.text) // {parts}
        return [Span(0, middle), Span(middle, len(document.text))]
"""


def test_a_strategy_of_ones_own_is_known_by_its_code(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"

    def mine(parts: int) -> object:
        path.write_text(_MINE.format(parts=parts))
        linecache.clearcache()
        spec = importlib.util.spec_from_file_location(f"mine_{parts}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module.Mine()

    kb = tmp_path / "kb"
    chunkwise.index(DOCUMENTS[:2], mine(2), into=kb, vectors="none")  # type: ignore[arg-type]
    assert len(chunkwise.index(DOCUMENTS[:3], mine(2), into=kb)) == 3  # type: ignore[arg-type]
    with pytest.raises(ChunkwiseError, match=r"code of the strategy 'Mine'.*rebuild"):
        chunkwise.index(DOCUMENTS, mine(3), into=kb)  # type: ignore[arg-type]
    with pytest.raises(ChunkwiseError, match=r"'Mine'.*pass strategy="):
        chunkwise.open_index(kb).update(DOCUMENTS)
    with pytest.raises(ChunkwiseError, match="code of the strategy"):
        chunkwise.index(DOCUMENTS, _twice(), into=kb)
    opened = chunkwise.open_index(kb, strategy=mine(2))  # type: ignore[arg-type]
    assert str(opened.update(DOCUMENTS)) == "1 added, 3 unchanged"


def _twice() -> Any:
    """As in a notebook, where a class is written again under its name."""

    class Mine:
        def split(self, document: Any) -> list[Span]:
            return [Span(0, len(document.text))]

    Mine.__qualname__ = "Mine"
    return Mine()


def test_the_code_of_a_strategy_is_told_apart_to_the_constant() -> None:
    def code(size: int) -> str:
        class Mine:
            SIZE = size

            @staticmethod
            def split(document: Any) -> list[Span]:
                return [Span(0, Mine.SIZE)]

        return get_strategy(Mine()).code

    assert code(1) == code(1) != code(2)
    assert get_strategy("sentences(max_tokens=9)").code == ""


def test_damage_is_not_carried_over(tmp_path: Path) -> None:
    """An update seals what it copies: bytes that changed since they were written must not pass for the document's."""
    documents = [Document(name, f"{name} tells of herring and salt.") for name in ("a", "b", "c")]
    chunkwise.index(documents, into=tmp_path / "kb", vectors="none")
    (text,) = (tmp_path / "kb").glob(".generation-*/text.bytes")
    whole = text.read_bytes()
    text.write_bytes(whole.replace(b"herring", b"gerbils"))
    changed = [*documents[:2], Document("c", "c has changed.")]
    with pytest.raises(ChunkwiseError, match=r"text\.bytes is damaged"):
        chunkwise.index(changed, into=tmp_path / "kb", vectors="none")
    text.write_bytes(whole)
    assert chunkwise.index(changed, into=tmp_path / "kb", vectors="none").changes.changed == 1


@pytest.mark.parametrize(
    ("name", "bad"), [("text.bytes", b"\xff"), ("record.bytes", b"["), ("id.bytes", b"\xff")]
)
def test_bytes_that_cannot_be_read_are_told(tmp_path: Path, name: str, bad: bytes) -> None:
    chunkwise.index([Document("a", "herring and salt")], into=tmp_path / "kb", vectors="none")
    (file,) = (tmp_path / "kb").glob(f".generation-*/{name}")
    file.write_bytes(bad * file.stat().st_size)
    with pytest.raises(ChunkwiseError, match="the index is damaged"):
        chunkwise.open_index(tmp_path / "kb").search("herring", retriever="bm25")


def test_an_index_that_was_never_finished_is_no_folder_of_documents(tmp_path: Path) -> None:
    """As `kill -9` leaves the folder of a first run."""
    (tmp_path / "kb" / ".generation-000001").mkdir(parents=True)
    (tmp_path / "kb" / ".index.lock").touch()
    with pytest.raises(ChunkwiseError, match=r"unfinished .*again: .*index DOCUMENTS --into .*kb"):
        chunkwise.open_index(tmp_path / "kb")

"""Addresses are read like folders: the same documents, in the same order, and only what changed is read again."""

from __future__ import annotations

import errno
import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

fsspec = pytest.importorskip("fsspec")

import chunkwise  # noqa: E402
from chunkwise.base import object_store  # noqa: E402
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument  # noqa: E402
from chunkwise.base.object_store import (  # noqa: E402
    StoredFile,
    address_of,
    local_name,
    may_pass,
    version_of,
)
from chunkwise.core import Document  # noqa: E402
from chunkwise.documents import LoadOptions, remote_documents  # noqa: E402
from chunkwise.documents.remote_documents import walk_store  # noqa: E402
from chunkwise.documents.walk import is_left_out  # noqa: E402
from how_many import examples  # noqa: E402
from tables import cases  # noqa: E402

Files = dict[str, bytes]


class Store:
    """The file system `memory://` of fsspec, with the requests it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files = fsspec.filesystem("memory")
        self.read: list[str] = []
        self.fail: Callable[[str, int], None] = lambda path, count: None
        real = type(self.files).cat_file

        def cat_file(files: Any, path: str, **range: Any) -> bytes:
            self.read.append(path)
            self.fail(path, self.read.count(path))
            data: bytes = real(files, path, **range)
            return data

        monkeypatch.setattr(type(self.files), "cat_file", cat_file)
        monkeypatch.setattr(object_store, "_FIRST_WAIT", 0.0)

    def put(self, files: Files) -> None:
        for name, data in files.items():
            self.files.pipe_file(f"/{name}", data)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    made = Store(monkeypatch)
    yield made
    made.files.store.clear()
    made.files.pseudo_dirs[:] = [""]


def _read(source: Any, **options: Any) -> tuple[list[tuple[str, str]], list[str]]:
    problems: list[UnreadableDocument] = []
    load = LoadOptions(**options, on_passed_over=lambda line: None, on_unreadable=problems.append)
    documents = list(chunkwise.read(source, load))
    return [(each.id, each.text) for each in documents], [each.reason for each in problems]


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("inside.md", "Inside an archive.")
    return made.getvalue()


SORTS: Files = {
    "docs/a-b.md": b"# One\n\nText.",
    "docs/a.md": b"# Leave\n\nThirty days.",
    "docs/a/z.txt": b"Deep.",
    "docs/rows.jsonl": b'{"id": "r1", "text": "A record."}\n{broken\n',
    "docs/more.zip": _zip(),
    "docs/picture.png": b"\x89PNG",
    "docs/.hidden.md": b"Hidden.",
    "docs/node_modules/m.js": b"x",
    "docs/empty.txt": b"",
    "docs/latin.txt": b"gr\xfc\xdfe",
    "docs/results.json": b'{"format": "chunkwise results", "version": 1}',
    "docs/set/corpus.jsonl": b'{"_id": "1", "text": "Of a test set."}\n',
    "docs/set/queries.jsonl": b'{"_id": "1", "text": "A question?"}\n',
    "docs/my-env/pyvenv.cfg": b"",
    "docs/my-env/lib.py": b"x = 1",
    "docs/code/package.json": b'{"name": "x"}',
    "docs/code/dist/built.md": b"Built.",
}


@cases("below", ["", "/", "/*.md", "/**/*.md", "/a.md", "/more.zip", "/nowhere"])
def test_an_address_holds_the_documents_that_the_same_folder_holds(
    store: Store, tmp_path: Path, below: str
) -> None:
    store.put(SORTS)
    for name, data in SORTS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert _read(f"memory://docs{below}") == _read(f"{tmp_path}/docs{below}")


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\\\0*?[]"), min_size=1, max_size=6
)


@settings(max_examples=examples(20))
@given(st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8))
def test_names_come_in_the_order_of_their_paths_whatever_they_are(names: set[str]) -> None:
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    wanted = []
    for name in sorted(names):
        # A name that is a folder, too, has no place in a folder; the hidden are left out.
        if any(other != name and other.startswith(f"{name}/") for other in names):
            continue
        if any(part in (".", "..") or part != part.strip() for part in name.split("/")):
            continue
        files.pipe_file(f"/root/{name}", b"x")
        wanted.append(name)
    found = (
        [each.below for each in walk_store("memory://root", "/root", pytest.fail)] if wanted else []
    )
    hidden = {name for name in wanted if any(map(is_left_out, name.split("/")))}
    assert found == [name for name in wanted if name not in hidden]
    files.store.clear()
    files.pseudo_dirs[:] = [""]


def test_include_and_exclude_hold_for_addresses(store: Store) -> None:
    store.put(SORTS)
    found, _ = _read("memory://docs", include=["*.md", "*.txt"], exclude=["a", "latin.txt"])
    assert [id for id, _ in found] == ["a-b.md", "a.md"]


def test_two_addresses_with_the_same_names(store: Store) -> None:
    store.put({"x/one/a.md": b"1", "x/two/a.md": b"2"})
    found, _ = _read(["memory://x/one", "memory://x/two", "memory://x/one/a.md"])
    assert found == [("a.md", "1"), ("two/a.md", "2")]


def test_a_small_file_is_asked_for_once_and_a_large_one_is_not_held_twice(store: Store) -> None:
    store.put({"d/small.md": b"Small.", "d/large.txt": b"word " * 500_000})
    (_, large), (_, small) = _read("memory://d")[0]
    assert small == "Small."
    assert len(large) == 2_500_000
    assert store.read.count("/d/small.md") == 1
    assert store.read.count("/d/large.txt") <= 3


def test_a_file_of_many_records_is_read_in_ranges(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [b'{"id": "%d", "text": "Record %d. %s"}\n' % (n, n, b"x" * 900) for n in range(3000)]
    store.put({"d/rows.jsonl": b"".join(lines)})
    monkeypatch.setattr(object_store, "_BLOCK", 1 << 18)
    documents = chunkwise.read(
        "memory://d/rows.jsonl", options=LoadOptions(on_unreadable=pytest.fail)
    )
    assert next(documents).text.startswith("Record 0.")
    assert len(store.read) == 2  # its opening, and one block
    assert len(list(documents)) == 2999


class Busy(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"answered {status}")
        self.status = status


@pytest.mark.parametrize("error", [Busy(503), Busy(429), ConnectionResetError(), TimeoutError()])
def test_a_busy_store_is_asked_again(store: Store, error: Exception) -> None:
    store.put({"d/a.md": b"There."})

    def fail(path: str, count: int) -> None:
        if count < object_store.ATTEMPTS:
            raise error

    store.fail = fail
    assert _read("memory://d") == ([("a.md", "There.")], [])
    assert len(store.read) == object_store.ATTEMPTS


def test_a_library_that_tried_for_minutes_is_not_asked_six_times(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def wait_in_vain(path: str, count: int) -> None:
        nonlocal now
        now += 86.0  # as long as that of Azure takes over a host that does not answer
        raise ConnectionRefusedError(errno.ECONNREFUSED, "nobody there")

    store.put({"d/a.md": b"A."})
    store.fail = wait_in_vain
    monkeypatch.setattr(object_store, "clock", lambda: now)
    assert _read("memory://d/a.md") == ([], ["nobody there"])
    assert store.read == ["/d/a.md"] * 2


def test_a_request_that_took_long_by_itself_is_asked_again_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, calls = 0.0, 0

    def send() -> str:
        nonlocal now, calls
        now, calls = now + 200.0, calls + 1  # a large file over a slow line
        if calls == 1:
            raise ConnectionResetError(errno.ECONNRESET, "reset")
        return "sent"

    monkeypatch.setattr(object_store, "clock", lambda: now)
    monkeypatch.setattr(object_store, "_FIRST_WAIT", 0.0)
    assert object_store.asked(send) == "sent"


def test_one_bad_file_is_told_and_the_rest_goes_on(store: Store) -> None:
    store.put({f"d/{n:02}.md": b"Text %d." % n for n in range(50)})

    def fail(path: str, count: int) -> None:
        if path == "/d/07.md":
            raise Busy(503)
        if path == "/d/08.md":
            raise Busy(403)
        if path == "/d/09.md":
            raise RuntimeError("strange\nwords")

    store.fail = fail
    found, problems = _read("memory://d")
    assert len(found) == 47
    assert problems == [
        f"the server answered 503 {object_store.ATTEMPTS} times: answered 503",
        "permission denied",
        "RuntimeError: strange words",
    ]
    assert store.read.count("/d/08.md") == 1


def test_a_folder_that_cannot_be_listed_is_told_and_the_rest_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put({"d/a/1.md": b"1", "d/b/2.md": b"2", "d/c/3.md": b"3"})
    real = type(store.files).ls

    def ls(files: Any, path: str, **how: Any) -> Any:
        if path.endswith("/b"):
            raise Busy(403)
        return real(files, path, **how)

    monkeypatch.setattr(type(store.files), "ls", ls)
    problems: list[str] = []
    found = list(
        chunkwise.read(
            "memory://d", options=LoadOptions(on_unreadable=lambda each: problems.append(str(each)))
        )
    )
    assert [each.id for each in found] == ["a/1.md", "c/3.md"]
    assert problems == ["memory://d/b/: permission denied"]


def test_a_listing_that_breaks_off_loses_nothing_that_was_listed(store: Store) -> None:
    def sources() -> Iterator[Any]:
        for number in range(5):
            yield remote_documents.Source(
                str(number), str(number), stored=StoredFile("memory://", f"/{number}", 1)
            )
        raise OSError(errno.EIO, "gone")

    store.put({str(number): b"x" for number in range(5)})
    found = []

    def read_all() -> None:
        for source, _ in remote_documents.read_ahead(sources(), lambda source: True):
            found.append(source.id)

    with pytest.raises(OSError, match="gone"):
        read_all()
    assert found == ["0", "1", "2", "3", "4"]


def test_files_are_read_together_and_folders_listed_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put({f"d/{n}/a.md": b"Text." for n in range(8)})
    together = threading.Barrier(4)
    real = type(store.files).ls

    def ls(files: Any, path: str, **how: Any) -> Any:
        if path != "/d":
            together.wait(600)  # nobody passes before four have come
        return real(files, path, **how)

    store.fail = lambda path, count: together.wait(600) and None
    monkeypatch.setattr(type(store.files), "ls", ls)
    assert len(_read("memory://d")[0]) == 8


# What changed


def test_a_server_that_sends_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = 0

    class Endless:
        def read(self, count: int) -> bytes:
            nonlocal sent
            sent += count
            return b"word " * (count // 5) + b"x" * (count % 5)

        def __enter__(self) -> Endless:
            return self

        def __exit__(self, *error: object) -> None:
            pass

    class Web:
        kwargs: ClassVar[dict[str, Any]] = {}

        def invalidate_cache(self) -> None:
            pass

        def info(self, path: str) -> dict[str, Any]:
            return {"name": path, "type": "file", "size": None}

        def open(self, path: str, mode: str, **how: Any) -> Endless:
            return Endless()

    for place in (object_store, remote_documents):
        monkeypatch.setattr(place, "store", lambda address: (Web(), address))
    monkeypatch.setattr(object_store, "LARGEST", 3 << 20)
    problems = _read("https://example.org/a.txt", max_bytes=2 << 20)[1]
    assert problems == ["larger than 2,097,152 bytes"]
    assert sent < 8 << 20
    problems = _read("https://example.org/a.jsonl")[1]
    assert problems == ["larger than 3,145,728 bytes"]


def _index(source: str, into: Path, *, keep_others: bool = False, **options: Any) -> Any:
    reading = LoadOptions(on_unreadable="ignore", **options)
    return chunkwise.index(
        source, into=into, vectors="none", options=reading, keep_others=keep_others
    )


def test_an_update_reads_only_what_changed(store: Store, tmp_path: Path) -> None:
    store.put({f"d/{n}.md": b"Text %d." % n for n in range(6)})
    _index("memory://d", tmp_path / "kb")
    store.put({"d/3.md": b"Another text.", "d/7.md": b"New."})
    store.files.rm("/d/5.md")
    store.read.clear()
    made = _index("memory://d", tmp_path / "kb")
    assert sorted(store.read) == ["/d/3.md", "/d/7.md"]
    changes = made.changes
    assert (changes.added, changes.changed, changes.removed, changes.unchanged) == (1, 1, 1, 4)
    fresh = _index("memory://d", tmp_path / "fresh")
    assert [each.to_dict() for each in made.chunks()] == [each.to_dict() for each in fresh.chunks()]
    store.read.clear()
    assert _index("memory://d", tmp_path / "kb").changes.unchanged == 6
    assert store.read == []


def test_a_library_that_remembers_listings_is_asked_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[str, Any] = {}
    real = type(store.files).ls

    def ls(files: Any, path: str, detail: bool = True, **how: Any) -> Any:
        return known.setdefault(path.strip("/"), real(files, path, detail=detail))

    def invalidate_cache(files: Any, path: str | None = None) -> None:
        # As that of Azure: by the name it uses itself, and no other spelling.
        known.clear() if path is None else known.pop(path, None)

    monkeypatch.setattr(type(store.files), "ls", ls)
    monkeypatch.setattr(type(store.files), "invalidate_cache", invalidate_cache)
    for text in (b"One.", b"Another."):
        store.put({"d/a.md": text})
        made = _index("memory://d/", tmp_path / "kb")
    assert made.changes.changed == 1
    assert not known


def test_an_index_in_memory_is_brought_up_to_date_alike(store: Store) -> None:
    store.put({"d/a.md": b"A.", "d/b.md": b"B."})
    made = chunkwise.index("memory://d", vectors="none")
    store.read.clear()
    store.put({"d/b.md": b"B, again."})
    assert made.update("memory://d").changed == 1
    assert store.read == ["/d/b.md"]


def test_another_way_to_read_reads_all_again(store: Store, tmp_path: Path) -> None:
    store.put({"d/a.html": b"<nav>Menu</nav><main><p>Text.</p></main>"})
    _index("memory://d", tmp_path / "kb")
    store.read.clear()
    made = _index("memory://d", tmp_path / "kb", keep_boilerplate=True)
    assert store.read == ["/d/a.html"]
    assert made.changes.changed == 1


def test_what_could_not_be_read_and_files_of_records_are_read_again(
    store: Store, tmp_path: Path
) -> None:
    store.put({"d/a.md": b"A.", "d/bad.txt": b"", "d/r.jsonl": b'{"text": "1"}\n{"text": "2"}\n'})
    _index("memory://d", tmp_path / "kb")
    store.read.clear()
    made = _index("memory://d", tmp_path / "kb")
    assert sorted(store.read) == ["/d/bad.txt", "/d/r.jsonl"]
    assert (made.changes.unchanged, made.changes.skipped) == (3, 1)
    # What need not be read counts as read: beside it, what cannot be read is no error.
    store.files.rm("/d/r.jsonl")
    with pytest.warns(UserWarning, match="bad"):
        made = chunkwise.index("memory://d", into=tmp_path / "kb", vectors="none")
    assert (made.changes.unchanged, made.changes.skipped) == (1, 1)


def test_a_record_that_takes_the_id_of_a_file_makes_it_be_read(
    store: Store, tmp_path: Path
) -> None:
    store.put({"d/z.md": b"Z."})
    _index("memory://d", tmp_path / "kb")
    store.put({"d/a.jsonl": b'{"id": "z.md", "text": "I am z, too."}\n{"id": "2", "text": "2"}\n'})
    made = _index("memory://d", tmp_path / "kb")
    fresh = _index("memory://d", tmp_path / "fresh")
    assert [each.to_dict() for each in made.chunks()] == [each.to_dict() for each in fresh.chunks()]


def test_what_is_added_keeps_the_others(store: Store, tmp_path: Path) -> None:
    store.put({"d/a.md": b"A.", "e/b.md": b"B."})
    _index("memory://d", tmp_path / "kb")
    made = _index("memory://e", tmp_path / "kb", keep_others=True)
    assert len(made) == 2
    made = _index("memory://d", tmp_path / "kb", keep_others=True)
    assert made.changes.unchanged == 2


@cases(
    "info, version",
    [
        ({"size": 3, "ETag": '"abc"', "LastModified": "today"}, '3 "abc"'),
        ({"size": 3, "mtime": 17.5}, "3 17.5"),
        ({"size": 3, "generation": "9"}, "3 9"),
        ({"size": 3, "modificationTime": 17, "accessTime": 18}, "3 17"),
        ({"size": 3, "modification_time": 17, "access_time": 18}, "3 17"),
        ({"size": 3}, ""),
    ],
)
def test_a_version_is_a_tag_or_size_and_time(info: dict[str, Any], version: str) -> None:
    assert version_of(info) == version


# Names


@cases(
    "name, address",
    [
        ("s3://bucket/docs", "s3://bucket/docs"),
        ("S3://bucket/docs", "s3://bucket/docs"),
        ("s3:/bucket/docs", "s3://bucket/docs"),
        (Path("s3://bucket/docs"), "s3://bucket/docs"),
        ("memory://a", "memory://a"),
        ("https://example.org/?q=1", "https://example.org/?q=1"),
        ("docs/a.md", None),
        ("C:/docs", None),
        ("postgresql://host/db", None),
        ("file:///docs", None),
        ("zip://a.zip", None),
        ("-", None),
    ],
)
def test_what_is_an_address(name: str | os.PathLike[str], address: str | None) -> None:
    assert address_of(name) == address


def test_a_folder_that_is_called_like_one_is_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s3:/bucket").mkdir(parents=True)
    (tmp_path / "s3:/bucket/a.md").write_text("Here.")
    monkeypatch.chdir(tmp_path)
    assert _read("s3://bucket")[0] == [("a.md", "Here.")]


def test_an_address_of_this_machine_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "a b.md").write_text("Here.")
    assert local_name("docs/a.md") == "docs/a.md"
    assert _read(f"file://{tmp_path}/a%20b.md")[0] == [("a b.md", "Here.")]


@cases(
    "scheme, package",
    [("gs", "gcsfs"), ("az", "adlfs"), ("sftp", "paramiko")],
)
def test_a_package_that_is_missing_is_named_with_the_command(scheme: str, package: str) -> None:
    if _is_installed(package):
        pytest.skip(f"{package} is installed")
    with pytest.raises(UnreadableDocument, match=rf"pip install 'chunkwise\[remote\]' {package}"):
        list(chunkwise.read(f"{scheme}://host/docs"))


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package.replace("-", "_")) is not None


def test_a_name_in_a_store_is_never_taken_for_an_address(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Mine.")
    # As a hostile writer to a bucket may name an object: fsspec joins what stands behind `::`.
    name = f"d/x::file:{str(secret).replace('/', '_')}"
    store.put({name: b"Theirs."})
    assert [text for _, text in _read("memory://d")[0]] == ["Theirs."]
    assert StoredFile("memory://d", f"/{name}", None).read() == b"Theirs."


def test_a_name_that_a_library_cuts_short_is_told(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put({"d/a": b"Another.", "d/a#1.md": b"Meant.", "d/b.md": b"B."})
    real = store.files._strip_protocol

    def cut(path: str) -> str:  # as the one of HDFS does, which takes each name for an address
        return str(real(path)).partition("#")[0]

    monkeypatch.setattr(type(store.files), "_strip_protocol", staticmethod(cut))
    read, problems = _read("memory://d/*.md")
    assert read == [("b.md", "B.")]
    assert problems == ["this object store's library doesn't support names with '#' or '?'"]


def test_no_password_is_kept_or_shown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from chunkwise.documents import inputs

    monkeypatch.setattr(
        inputs, "look_up", lambda address: (StoredFile("memory://", "/d/a.md", 2, "1"), False)
    )
    store.put({"d/a.md": b"A."})
    (found,) = chunkwise.read(
        "sftp://bob:hunter2@host/a.md", options=LoadOptions(on_unreadable=pytest.fail)
    )
    assert found.source == "sftp://bob:***@host/a.md"
    signed = "https://h/a.md?X-Amz-Signature=abc&sig=def&X-Amz-Credential=ghi&page=2"
    (found,) = chunkwise.read(signed, options=LoadOptions(on_unreadable=pytest.fail))
    assert found.id == "a.md"
    assert not any(word in found.source for word in ("abc", "def", "ghi"))
    assert "page=2" in found.source


def test_errors_that_pass_and_errors_that_stay() -> None:
    assert may_pass(OSError(errno.EBUSY, "slow down"))
    assert not may_pass(FileNotFoundError(errno.ENOENT, "no"))
    assert not may_pass(Busy(404))
    raised = OSError("wrapped")
    raised.__cause__ = Busy(503)
    assert may_pass(raised)


# Written


def test_chunks_are_written_whole_or_not_at_all(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chunkwise.chunkers.write_chunks import chunk_file

    store.put({"d/a.md": b"# A\n\nText."})
    chunks = list(chunkwise.chunk("memory://d"))
    for name in ("c.jsonl", "c.parquet", "c.csv"):
        with chunk_file(tmp_path / name) as write:
            write(chunks)
        with chunk_file(Path(f"memory://out/{name}")) as write:
            write(chunks)
            assert not store.files.exists(f"/out/{name}")
        assert store.files.cat_file(f"/out/{name}") == (tmp_path / name).read_bytes()
    with pytest.raises(RuntimeError), chunk_file(Path("memory://out/c.jsonl")) as write:
        raise RuntimeError
    assert store.files.cat_file("/out/c.jsonl") == (tmp_path / "c.jsonl").read_bytes()

    def put_file(files: Any, *given: Any, **how: Any) -> None:
        raise Busy(403)

    monkeypatch.setattr(type(store.files), "put_file", put_file)
    refused = pytest.raises(ChunkwiseError, match=r"cannot write memory://out/d.+answered 403")
    with refused, chunk_file(Path("memory://out/d.csv")) as write:
        write(chunks)
    assert not store.files.exists("/out/d.csv")


def test_what_has_documents_of_stores_is_equal_however_it_was_read() -> None:
    assert Document("a", "x", revision="1") == Document("a", "x", revision="2")


@cases("knows_ranges", [True, False])
@cases("size", [None, 40])
def test_a_part_of_a_page_of_the_web_is_that_part(knows_ranges: bool, size: int | None) -> None:
    """Whether the server sends the part alone, or everything from the beginning."""
    pytest.importorskip("aiohttp")
    data = bytes(range(40))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            sent = data
            if asked and knows_ranges:
                low, _, high = asked.removeprefix("bytes=").partition("-")
                sent = data[int(low) : int(high) + 1 if high else None]
            self.send_response(206 if asked and knows_ranges else 200)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/page"
    try:
        file = StoredFile(address, address, size)
        for start, end in [
            (0, None),
            (5, None),
            (0, 7),
            (5, 7),
            (5, 40),
            (5, 100),
            (30, 40),
            (39, 40),
        ]:
            assert file.read(start, end) == data[start:end], (start, end)
        with file.open() as opened:
            opened.seek(20)
            assert opened.read(5) == data[20:25]
    finally:
        server.shutdown()
        server.server_close()


def test_a_part_of_a_file_in_a_store_is_that_part(store: Store) -> None:
    store.put({"docs/a": bytes(range(40))})
    for size in (None, 40):
        file = StoredFile("memory://docs", "/docs/a", size)
        for start, end in [(0, None), (5, None), (0, 7), (5, 7), (5, 40), (5, 100), (39, 40)]:
            assert file.read(start, end) == bytes(range(40))[start:end], (size, start, end)

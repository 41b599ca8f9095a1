"""Folders, patterns, standard input, names; nothing bad takes the run down."""

from __future__ import annotations

import errno
import io
import os
import pickle
import subprocess
import sys
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents import LoadOptions, Source, is_stream, load, loaders, read, sources
from tables import cases


def ids(documents: list[Document]) -> list[str]:
    return [document.id for document in documents]


def test_a_folder_is_read_sorted_without_what_nobody_means(reader, write, tmp_path) -> None:
    wanted = ["a-b.md", "a.txt", "a/z.txt", "b.md", "sub/deep/x.py"]
    hidden = [".hidden.md", ".git/config", "sub/.cache/y.md"]
    installed = ["node_modules/m.js", "venv/v.py", "my-env/pyvenv.cfg", "my-env/lib.py"]
    for name in [*wanted, *hidden, *installed]:
        write(name, "x")
    documents = reader(tmp_path)
    assert ids(documents) == wanted
    assert documents[-1].source == os.path.join(tmp_path, "sub/deep/x.py")
    assert reader.skipped == []


@cases(
    "pattern, expected",
    [
        ("docs/*.md", ["a.md"]),
        ("docs/**/*.md", ["a.md", "x/b.md", "x/y/c.md"]),
        ("docs/*/?.md", ["x/b.md"]),
        ("docs/**/[bc].md", ["x/b.md", "x/y/c.md"]),
        ("docs/**/[!bc].md", ["a.md"]),
        ("*/x/**", ["docs/x/b.md", "docs/x/y/c.md"]),
    ],
)
def test_patterns(reader, write, tmp_path, pattern, expected) -> None:
    for name in ["docs/a.md", "docs/n.txt", "docs/x/b.md", "docs/x/y/c.md", "docs/.h/d.md"]:
        write(name, "x")
    assert ids(reader(tmp_path / pattern)) == expected
    assert reader.skipped == []


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(reader, write) -> None:
    write("a1.md", "other")
    assert reader.one(write("a[1].md", "this")).text == "this"


def test_a_document_is_named_by_what_the_user_gave(reader, write, tmp_path) -> None:
    path = write("one/a.md", "1")
    assert ids(reader(path)) == ["a.md"]
    assert ids(reader(tmp_path)) == ["one/a.md"]


def test_taken_ids_get_the_folder_above_in_front(reader, write, tmp_path) -> None:
    for name in ["x/one/a.md", "x/two/a.md", "y/two/a.md"]:
        write(name, name)
    given = [tmp_path / name for name in ("x/one", "x/two", "y/two")]
    assert ids(reader(*given)) == ["a.md", "two/a.md", "two/a.md~2"]


def test_one_path_need_not_be_in_a_list(write, tmp_path) -> None:
    path = write("a.md", "x")
    for given in (path, str(path), tmp_path, [path]):
        assert ids(list(read(given, options=LoadOptions(on_unreadable=pytest.fail)))) == ["a.md"]
        assert [source.id for source in sources(given, pytest.fail)] == ["a.md"]


def test_a_file_given_twice_is_read_once(reader, write, tmp_path) -> None:
    path = write("a.md", "x")
    assert ids(reader(tmp_path, path, tmp_path / "*.md")) == ["a.md"]


def test_records_of_two_corpora_with_one_id(reader, write, tmp_path) -> None:
    write("a.jsonl", '{"id":"x","text":"1"}')
    write("b.jsonl", '{"id":"x","text":"2"}')
    documents = reader(tmp_path)
    assert [document.text for document in documents] == ["1", "2"]
    assert ids(documents) == ["x", "b.jsonl/x"]
    assert reader.skipped == []


def test_what_is_not_there(reader, tmp_path, write) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    good = write("good.txt", "fine")
    missing, pattern = tmp_path / "missing.md", tmp_path / "none" / "*.md"
    assert ids(reader(missing, pattern, empty, "nul\0", good)) == ["good.txt"]
    assert reader.reasons[:3] == [
        "no such file or folder",
        "no file matches this pattern",
        "no files in this folder",
    ]
    assert len(reader.skipped) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_fifo_or_device_is_never_waited_for(reader, tmp_path, write) -> None:
    os.mkfifo(tmp_path / "pipe")
    write("z.txt", "fine")
    assert ids(reader(tmp_path, "/dev/zero")) == ["z.txt"]
    assert [reason.split(";")[0] for reason in reader.reasons] == [
        "not a regular file (a FIFO)",
        "not a regular file (a device)",
    ]


def test_loops_of_links(reader, tmp_path, write) -> None:
    write("a/x.md", "fine")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert ids(reader(tmp_path)) == ["a/x.md"]
    assert sorted(reader.reasons) == [
        "a loop of symbolic links",
        "no such file or folder",
        "symbolic links to folders aren't followed; give the folder itself",
    ]
    assert ids(reader(tmp_path / "**" / "*.md")) == ["a/x.md"]


def test_permission_denied(reader, tmp_path, write, monkeypatch) -> None:
    write("a.md", "x")
    write("shut/b.md", "x")
    write("c.md", "fine")
    # Refused by hand: to the administrator, who may run these tests, no file is closed.
    for name, refused in (("open", "a.md"), ("scandir", "shut/")):
        monkeypatch.setattr(os, name, _refusing(getattr(os, name), str(tmp_path / refused)))
    assert ids(reader(tmp_path)) == ["c.md"]
    assert reader.reasons == ["permission denied", "permission denied"]


def _refusing(function, refused):
    def guarded(path, *rest):
        if os.path.normpath(path) == os.path.normpath(refused):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return function(path, *rest)

    return guarded


def test_a_file_that_vanishes_in_mid_run(write, tmp_path) -> None:
    write("a.md", "x")
    write("b.md", "y")
    skipped: list = []
    texts = []
    found = sources([tmp_path], skipped.append)
    first = next(found)
    Path(first.path).unlink()
    for source in [first, *found]:
        texts += [d.text for d in load(source, LoadOptions(), skipped.append)]
    assert texts == ["y"]
    assert [problem.reason for problem in skipped] == ["no such file or folder"]


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes only here")
def test_a_name_that_is_not_utf8(reader, tmp_path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "wb") as file:
        file.write(b"x")
    assert reader.one(tmp_path).id == "caf\ufffd.md"


def test_standard_input(reader, monkeypatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"# A\r\n\r\n## B\r\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    (document,) = reader("-", "-")
    assert (document.id, document.format, document.text) == (
        "stdin",
        "markdown",
        "# A\r\n\r\n## B\r\n",
    )
    assert reader.reasons == ["can be read only once"]


def test_closed_standard_input(reader, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert reader("-") == []
    assert reader.reasons == ["closed"]


def test_sources_travel_between_processes(write, tmp_path) -> None:
    write("a.md", "text")
    (source,) = sources([tmp_path], pytest.fail)
    again = pickle.loads(pickle.dumps(source))
    assert again == source
    assert (again.read(), again.head(2)) == (b"text", b"te")


@cases(
    "name, data, expected",
    [("a.jsonl", b"{}", True), ("a.csv", b"a", True), ("a.md", b"x", False), ("a.csv", b"", False)],
)
def test_streams_are_files_of_many_records(name, data, expected) -> None:
    assert is_stream(Source(name, name, data=data)) is expected


def test_a_forced_loader_says_whether_a_file_is_a_stream() -> None:
    source = Source("a.jsonl", "a.jsonl", data=b"{}")
    assert not is_stream(source, LoadOptions(loader="text"))
    assert is_stream(Source("a.md", "a.md", data=b"{}"), LoadOptions(loader="jsonl"))


def test_every_built_in_loader_has_what_a_loader_has() -> None:
    for name in loaders.builtin:
        loader = loaders.get(name)()
        assert isinstance(loader.stream, bool)
        assert all(suffix.startswith(".") for suffix in loader.suffixes)


def test_what_cannot_be_read_is_a_warning_and_with_nothing_else_an_error(tmp_path) -> None:
    (tmp_path / "a.md").write_text("Text.")
    missing = [tmp_path / "missing", tmp_path / "gone"]
    for given in ([*missing, tmp_path / "a.md"], [tmp_path / "a.md", *missing]):
        with pytest.warns(UserWarning, match="no such file") as told:
            assert len(list(read(given))) == 1
        assert [str(each.message).rpartition("/")[2] for each in told] == [
            "missing: no such file or folder",
            "gone: no such file or folder",
        ]
    with (
        pytest.warns(UserWarning, match="gone: no such file"),
        pytest.raises(UnreadableDocument, match=r"missing: no such file or folder$"),
    ):
        list(read(missing))
    assert list(read([])) == []


class ShoutLoader:
    suffixes = (".shout",)

    def accepts(self, name, head):
        return name.endswith(self.suffixes)

    def load(self, source, options, on_unreadable):
        text = source.read().decode()
        if text == "crash":
            raise KeyError("parser bug")
        yield Document(source.id, text.upper())


class UnmadeLoader(ShoutLoader):
    def __init__(self):
        raise RuntimeError("no license")


def test_a_third_party_loader_and_its_crash(reader, write, monkeypatch, tmp_path) -> None:
    points = [
        EntryPoint("shout", f"{__name__}:ShoutLoader", "chunkwise.loaders"),
        EntryPoint("broken", "no_such_module:X", "chunkwise.loaders"),
        EntryPoint("unmade", f"{__name__}:UnmadeLoader", "chunkwise.loaders"),
    ]
    monkeypatch.setattr(EntryPoint, "load", lambda self: _loaded(self))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    monkeypatch.syspath_prepend(tmp_path)  # another path, other packages
    write("a.shout", "hey")
    write("b.shout", "crash")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert [document.text for document in reader(tmp_path)] == ["HEY"]
    assert [str(warning.message) for warning in seen] == [
        "the loader 'broken' cannot be loaded: ImportError: no_such_module",
        "cannot create the loader 'unmade': no license",
    ]
    assert reader.reasons == [
        "the shout loader failed: KeyError: 'parser bug'; report this message to its authors, with the output of "
        "`chunkwise doctor` and, if possible, the file"
    ]


def _loaded(point: EntryPoint) -> type:
    if point.name == "broken":
        raise ImportError("no_such_module")
    return UnmadeLoader if point.name == "unmade" else ShoutLoader


def test_what_the_callers_callback_raises_is_not_swallowed(write) -> None:
    class StopRunError(Exception):
        pass

    def stop(problem: object) -> None:
        raise StopRunError

    path = write("c.jsonl", '{"text":"a"}\nbad\n')
    with pytest.raises(StopRunError):
        list(read([path], options=LoadOptions(on_unreadable=stop)))


@pytest.mark.usefixtures("processes")
def test_heavy_libraries_are_imported_only_when_needed() -> None:
    heavy = "{'lxml', 'docx', 'pypdfium2'}"
    program = (
        "import sys, chunkwise.documents as d\nassert 'numpy' not in "
        "sys.modules\nlist(d.load(d.Source('a.md', 'a.md', data=b'x'), d.LoadOptions(), "
        f"print))\nsys.exit(' '.join({heavy} & set(sys.modules)) or None)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | _path())


def _path() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(sys.path)}

"""Files from outside are read within limits: one that takes too much is one line, and the rest goes on."""

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base import limited_processes as limited
from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.base.limits import VARIABLE
from chunkwise.chunkers.chunk import chunk_each
from chunkwise.core import Document
from chunkwise.documents import InputReader, reading
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.reading import SMALL
from cli.in_process import Run, here
from documents.hostile_files import compressed_pdf, plain_pdf, recursive_pdf

__all__ = ["here"]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits hold on POSIX alone")

Write = Callable[[str, bytes | str], Path]
_TOLD = "needs more than 300MB of memory; if you trust it: --limits memory=600MB, or --limits none"
_NARROW = LoadOptions(limits="memory=300MB")


@pytest.fixture(autouse=True)
def limits_are_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(reading, "_stay_here", set())
    monkeypatch.setattr(reading, "_has_told", False)
    monkeypatch.setattr(limited.readers, "_next_start", 0.0)
    yield
    limited.readers.end_all()


def told(source: object, options: LoadOptions = _NARROW) -> list[str]:
    """The ids of documents and the reasons of problems, in order."""
    found = InputReader(source, options).documents()
    return [each.id if isinstance(each, Document) else each.reason for each in found]


def a_corpus(write: Write) -> Path:
    write("corpus/a.pdf", plain_pdf())
    write("corpus/b.pdf", recursive_pdf())
    write("corpus/c.html", "<p>The harbour is closed at night.</p>")
    write("corpus/d.pdf", compressed_pdf(6_000_000))
    write("corpus/e.md", "# Harbour\n\nClosed.")
    return write("corpus/f.pdf", plain_pdf(b"The last.")).parent


@pytest.mark.usefixtures("processes")
def test_a_file_that_takes_all_memory_is_one_line_and_the_rest_goes_on(write: Write) -> None:
    assert len(recursive_pdf()) < 800
    assert told(a_corpus(write)) == ["a.pdf", _TOLD, "c.html", _TOLD, "e.md", "f.pdf"]


@pytest.mark.usefixtures("processes")
def test_with_several_jobs_too(write: Write) -> None:
    corpus = a_corpus(write)
    one, two = (
        [str(each) if isinstance(each, UnreadableDocument) else each.document.id for each in found]
        for found in (chunk_each(corpus, options=_NARROW, jobs=jobs) for jobs in (1, 2))
    )
    assert one == two
    assert f"{corpus}/b.pdf: {_TOLD}" in two


@pytest.mark.usefixtures("processes")
def test_members_of_an_archive_too(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        for name, data in (("a.pdf", recursive_pdf()), ("b.pdf", plain_pdf())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    assert told(tmp_path / "all.tar") == [_TOLD, "all.tar/b.pdf"]


@pytest.mark.usefixtures("processes", "large_inputs")
def test_files_that_are_read_as_a_stream_too(write: Write) -> None:
    rows = 1 + SMALL // 4
    write("corpus/a.csv", "a,b\n" + "1,2\n" * rows)
    write("corpus/b.jsonl", '{"many": [' + "[1]," * rows + '0]}\n{"text": "Closed."}\n')
    write("corpus/c.jsonl", '{"id": "c", "text": "Closed."}\n')
    assert told(write("corpus/d.csv", "id,text\nd,The last.\n").parent) == [_TOLD, _TOLD, "c", "d"]


@pytest.mark.usefixtures("processes")
def test_time_is_limited_too(write: Write) -> None:
    write("slow.py", _LOADER.format("while True: pass"))
    path = write("a.txt", "Text.")
    options = LoadOptions(loader=f"{path.parent}/slow.py:Mine", limits="time=1s")
    assert told(path, options) == [
        "needs more than 1 s of CPU time; if you trust it: --limits time=2s, or --limits none"
    ]


@pytest.mark.usefixtures("processes")
def test_a_parser_that_crashes_costs_one_file(write: Write) -> None:
    write("crash.py", _LOADER.format("if 'Text' in source.read().decode(): os.abort()"))
    loader = f"{write('b.md', 'More.').parent}/crash.py:Mine"
    found = told([write("a.md", "Text."), write("b.md", "More.")], LoadOptions(loader=loader))
    assert found == [
        f"damaged or malicious: the {loader} parser crashed (SIGABRT)",
        "b.md",
    ]


@pytest.mark.usefixtures("processes")
def test_a_process_ended_from_outside_is_no_fault_of_the_file(write: Write) -> None:
    write("kill.py", _LOADER.format("os.kill(os.getpid(), 9)"))
    path = write("a.md", "Text.")
    (problem,) = told(path, LoadOptions(loader=f"{path.parent}/kill.py:Mine"))
    assert "was killed (SIGKILL), most likely for lack of memory; free memory" in problem
    assert "harm" not in problem


@pytest.mark.usefixtures("processes")
def test_where_no_process_can_be_started_it_is_told_once_and_tried_again(
    write: Write, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    files = [write(f"{name}.html", "<p>Harbour.</p>") for name in "ab"]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/bin/false")
        assert told(files) == ["a.html", "b.html"]
    (warning,) = recwarn
    assert "without memory and time limits: cannot start a process" in str(warning.message)  # fmt: skip
    monkeypatch.setattr(limited.readers, "_next_start", 0.0)
    assert told(files) == ["a.html", "b.html"]
    assert limited.readers._all


@pytest.mark.usefixtures("processes")
def test_a_loader_of_ours_is_never_kept_here(
    write: Write, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    def cannot(*_: object) -> Iterator[Document]:
        raise limited.CannotBeSent
        yield

    path = write("a.html", "<p>Harbour.</p>")
    with monkeypatch.context() as patch:
        patch.setattr(reading, "_guarded", cannot)
        assert told(path) == ["a.html"]
    (warning,) = recwarn
    assert "a.html is read without memory and time limits" in str(warning.message)
    assert told(path) == ["a.html"]
    assert limited.readers._all


_LOADER = """
import os
from chunkwise import Document
class Mine:
    suffixes = (".txt",)
    def accepts(self, name, head):
        return True
    def load(self, source, options, on_unreadable):
        {}
        yield Document(source.id, source.read().decode(), source=source.origin)
"""


def test_a_loader_that_cannot_travel_is_called_here(write: Write) -> None:
    seen = []

    class Mine:
        suffixes = (".txt",)
        stream = False

        def accepts(self, name: str, head: bytes) -> bool:
            return True

        def load(self, source: object, *_: object) -> Iterator[Document]:
            seen.append(source)
            yield Document("mine", "Text.")

    options = LoadOptions(loader=Mine())
    assert told(write("a.txt", "x"), options) == ["mine"]
    assert len(seen) == 1


@pytest.mark.usefixtures("processes")
def test_a_loader_of_the_script_itself_and_a_script_that_is_not_fit_to_be_imported(
    write: Write, tmp_path: Path
) -> None:
    write("a.html", "<p>Harbour.</p>")
    script = write(
        "script.py",
        f"{_LOADER.format('print(__name__)')}\nimport chunkwise\n"
        "print(next(chunkwise.read('a.html')).text)\n"
        "print(next(chunkwise.read('a.html', chunkwise.options.LoadOptions(loader=Mine()))).text)\n",
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("Harbour.\n__main__\n<p>Harbour.</p>\n", "")


@pytest.mark.usefixtures("processes")
def test_a_function_that_reads_pictures_is_called_here(write: Write) -> None:
    seen = []

    def ocr(picture: bytes) -> str:
        seen.append(picture[:4])
        return "The text of the picture."

    path = write("scan.pdf", plain_pdf(b" "))
    (document,) = chunkwise.read(path, LoadOptions(ocr=ocr))
    assert document.text == "The text of the picture."
    assert seen == [b"\x89PNG"]


@pytest.mark.usefixtures("processes")
def test_a_function_that_fails_is_told_as_before(write: Write) -> None:
    def ocr(_: bytes) -> str:
        raise RuntimeError("no model")

    (problem,) = told(write("scan.pdf", plain_pdf(b" ")), LoadOptions(ocr=ocr))
    assert "RuntimeError: no model" in problem


def test_the_usual_files_of_a_short_command_need_no_process(write: Write) -> None:
    files = {"a.md": "# A", "b.txt": "B", "c.csv": "text\nC\n", "d.py": "x = 1\n"}
    files |= {"e.jsonl": '{"text": "E"}\n', "f.json": '{"text": "F"}', "g.tex": "Text."}
    assert len(told([write(name, text) for name, text in files.items()])) == 7
    assert not limited.readers._all


@pytest.mark.usefixtures("processes")
def test_a_large_file_of_theirs_does(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SMALL", 1000)
    nested = write("a.json", "[" + "[]," * 30_000_000 + "[]]")
    assert told([nested, write("b.txt", "B " * 1000)]) == [_TOLD, "b.txt"]
    assert limited.readers._all


def test_no_limits_no_process(write: Write) -> None:
    assert told(write("a.pdf", plain_pdf()), LoadOptions(limits="none")) == ["a.pdf"]
    assert not limited.readers._all


@pytest.mark.usefixtures("processes")
def test_the_command_takes_limits(write: Write, here: Run) -> None:
    a_corpus(write)
    done = here("chunk", "corpus", "--limits", "memory=300MB", "-o", "out.jsonl")
    assert done.returncode == 3
    assert f"skipped corpus/b.pdf: {_TOLD}\n" in done.stderr
    wrong = here("chunk", "corpus", "--limits", "3 apples")
    assert wrong.returncode == 2
    assert (
        "limits is '3 apples'; allowed: memory=4GB,time=300s, either of them, or none"
        in wrong.stderr
    )
    with pytest.raises(InvalidParameter):
        LoadOptions(limits="memory=lots")


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_python_files_that_lie_beside_the_documents_are_not_imported(
    jobs: str, write: Write, tmp_path: Path
) -> None:
    script = write(
        "bin/command.py",
        "from chunkwise.cli.main import main\nif __name__ == '__main__':\n    main()\n",
    )
    for name in ("json", "pickle", "multiprocessing", "signal", "chunkwise", "encodings", "os"):
        write(f"sent/{name}.py", f"open({str(tmp_path / 'ran')!r}, 'a').write('{name}')")
    write("sent/a.html", "<p>Harbour.</p>")
    write("sent/b.html", "<p>Heron.</p>")
    done = subprocess.run(
        [sys.executable, script, "chunk", "a.html", "b.html", "-j", jobs, "-o", tmp_path / "out.jsonl"],
        cwd=tmp_path / "sent", env={**os.environ, "PYTHONPATH": str(Path(chunkwise.__file__).parents[1])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 2

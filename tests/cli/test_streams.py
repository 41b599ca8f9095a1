"""Readers that go away, and disks that are full."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.cli import progress
from chunkwise.report.sanitize import harmless_json
from chunkwise.retrieval.local.folder import verify_folder
from cli.in_process import Run, here, with_streams
from tables import cases
from untimed import HANG

__all__ = ["here"]  # a fixture

FULL = Path("/dev/full")
OWN_PROCESS = ("--help", "chunk lamps.txt")
"""How a process starts and ends is the same for every command; what it does in between is seen in this one."""


def chunkwise(folder: Path, words: str, *, out: int, err: int) -> int:
    """The exit status of a command that writes there."""
    if words not in OWN_PROCESS:
        return with_streams(folder, *words.split(), out=out, err=err)
    command = (sys.executable, "-m", "chunkwise", *words.split())
    return subprocess.run(command, cwd=folder, stdout=out, stderr=err, timeout=HANG).returncode


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe whose reader has gone before the first byte."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.fixture
def said(tmp_path: Path) -> Iterator[int]:
    number = os.open(tmp_path / "said", os.O_RDWR | os.O_CREAT)
    yield number
    os.close(number)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a document and an index of it, `kb`."""
    from chunkwise import index

    folder = tmp_path_factory.mktemp("place")
    (folder / "lamps.txt").write_text("A lamp is lit at dusk. " * 400)
    index(str(folder / "lamps.txt"), "tokens(max_tokens=10)", into=folder / "kb", vectors="none")
    return folder


@pytest.mark.usefixtures("processes")
@cases(
    "words",
    [
        "--help",
        "list strategies",
        "chunk lamps.txt",
        "chunk lamps.txt --json -q",
        "search kb lamp -k 300 --json",
    ],
)
def test_a_command_nobody_reads_ends_quietly(
    place: Path, words: str, unread: int, said: int
) -> None:
    assert chunkwise(place, words, out=unread, err=said) == 0
    assert os.fstat(said).st_size == 0


def test_messages_nobody_reads_do_not_stop_the_work(place: Path, unread: int, said: int) -> None:
    words = "index nowhere.md lamps.txt --into made --vectors none"
    assert chunkwise(place, words, out=said, err=unread) == 3
    assert chunkwise(place, "search made lamp --json", out=said, err=unread) == 0
    assert os.fstat(said).st_size > 0


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(not FULL.exists(), reason="needs a disk that is full")
@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [
        ("--help", ""),
        ("--help", "1"),
        ("list strategies", ""),
        ("list strategies --json", "1"),
        ("chunk lamps.txt", ""),
        ("chunk lamps.txt --json -q", "1"),
        ("profile lamps.txt --json", ""),
        ("search kb lamp", "1"),
    ],
)
def test_a_full_disk_is_one_line(
    place: Path,
    tmp_path: Path,
    said: int,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    unbuffered: str,
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with FULL.open("wb") as full:
        assert chunkwise(place, words, out=full.fileno(), err=said) == 1
    told = (tmp_path / "said").read_text()
    assert told == "error: cannot write to standard output: No space left on device\n"


def test_progress_never_says_the_same_line_twice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, "-1")
    with progress.progress("reading", 0, quiet=False) as advance:
        for note in ("1 file", "1 file", "2 files", "2 files"):
            advance(1, note)
    assert capsys.readouterr().err == "reading: 1 file\nreading: 2 files\n"


CONTROLS = "\x7f\x85\x9b31m\u061c\u200e\u200f\u202a\u202e\u2066\u2069\ufeff"


@cases(
    "words",
    [
        "chunk a.md --json",
        "search kb heron --json",
        "lint a.md --json -s words(max_words=3)",
        "profile a.md --json",
    ],
)
def test_json_on_a_screen_has_no_character_that_a_terminal_obeys(
    words: str, here: Run, tmp_path: Path
) -> None:
    from chunkwise import index

    text = f"A heron{CONTROLS} stands in the reeds{CONTROLS}and (see"
    (tmp_path / "a.md").write_text(f"# Title{CONTROLS}\n\n{text}\n\n# Next\n\nAn otter.\n")
    index(str(tmp_path / "a.md"), "words(max_words=8)", into=tmp_path / "kb", vectors="none")
    done = here(*words.split())
    assert done.stdout
    assert not set(CONTROLS.replace("31m", "")) & set(done.stdout)


@given(st.text(max_size=20) | st.text(st.sampled_from(CONTROLS + '\\"'), max_size=9))
def test_what_is_spelled_out_is_the_same_value(text: str) -> None:
    for value in (text, {text: [text]}):
        written = json.dumps(value, ensure_ascii=False)
        assert json.loads(harmless_json(written)) == value


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)], ids=["stdout", "stderr", "all"])
@pytest.mark.parametrize("words", ["chunk lamps.txt", "index lamps.txt --into new --vectors none"])
def test_a_closed_stream_is_one_that_leads_nowhere(
    place: Path, words: str, closed: tuple[int, ...]
) -> None:
    """Nor does a file get its number, into which a library could print."""

    def close() -> None:
        for number in closed:
            os.close(number)

    done = subprocess.run(
        (sys.executable, "-m", "chunkwise", *words.split()), cwd=place, preexec_fn=close,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    if words.startswith("index"):
        verify_folder(place / "new")

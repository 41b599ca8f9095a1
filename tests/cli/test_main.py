"""The command as a whole: what help loads, what the shell learns, and Ctrl-C while several processes are at work."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chunkwise.cli import main as main_module
from chunkwise.documents.source import Source
from cli.in_process import Run, here
from interrupting import listening
from tables import cases
from untimed import HANG

__all__ = ["here"]  # a fixture

pytestmark = pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX")


@pytest.mark.usefixtures("processes")
def test_help_and_import_load_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "import chunkwise\n"
        "assert 'numpy' not in sys.modules\n"
        "from chunkwise.cli.main import group\n"
        "group(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'rich', 'regex', 'lxml', 'pyarrow', 'chunkwise.chunkers.chunk'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("processes")
def test_the_shell_learns_that_something_does_not_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # That the status is 0 where all is well, test_doctor_command.py sees.
    monkeypatch.delenv("CHUNKWISE_MODELS")
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "nothing here"))
    done = run("doctor", "--json")
    assert done.returncode == 1
    assert "chunkwise models get minilm" in done.stdout


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More than can be done before the last of the interrupts."""
    folder = tmp_path_factory.mktemp("many")
    text = "The lamp is lit at dusk. It burns until the last ferry has gone.\n\n" * 2_000
    for number in range(200):
        (folder / f"{number}.txt").write_text(text)
    return folder


def _answering_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores them


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX")
@pytest.mark.parametrize(("seconds", "written"), [(0.0, 0), (0.1, 0), (0.0, 1)])
def test_ctrl_c_is_one_line(many: Path, tmp_path: Path, seconds: float, written: int) -> None:
    """As soon as it has begun, a moment later, and when all are at work: some of it is written."""
    running = subprocess.Popen(
        [sys.executable, "-m", "chunkwise", "chunk", many, "-j", "2", "-o", "x.jsonl"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_answering_interrupts,
    )
    give_up = time.monotonic() + HANG
    while running.poll() is None and not any(  # what it writes into
        file.stat().st_size >= written for file in tmp_path.iterdir()
    ):
        assert time.monotonic() < give_up
        time.sleep(0.005)
    time.sleep(seconds)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=HANG)  # which ends when the last process has ended
    assert err.strip() == "chunkwise: stopped"
    assert out == ""
    # Both are 130 to a shell; Python ends itself by the signal where that came in the midst of an `exec`.
    assert running.returncode in (130, -signal.SIGINT)
    assert list(tmp_path.iterdir()) == []


@cases(
    "address",
    ["postgress://me:geheim@h/db", "postgresql:/me:geheim@127.0.0.1:1/db", "postgres:me:geheim@h/db",
     "https://me:geheim@h/x", "postgres://me:ge/geheim@127.0.0.1:1/db", "ftp://h/x?password=geheim&a=b",
     "postgresql://me:geheim@127.0.0.1:1/db", "postgres//me:geheim@h/db", "me:geheim@h/db", "me:geheim@h",
     "postgresql://me:ge@geheim@127.0.0.1:1/db", "host=h password=geheim dbname=x", "password='ge geheim' host=h"],
)  # fmt: skip
@cases(
    "words",
    ["index a.md --vectors none --into {}", "search {} heron", "chunk {}", "chunk a.md -o {}", "chunk a.md -s {}",
     "evaluate a.md --test-queries {}", "compare {} other.json", "index a.md --into kb --embedder {}", "{}",
     "testset check {}", "tune --resume -o {}", "runs --history {}", "runs baseline --history {}"],
)  # fmt: skip
def test_no_message_shows_the_password_of_an_address_wherever_it_is_given(
    words: str, address: str, here: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("A heron.")
    done = here(*(word.format(address) for word in words.split()))
    assert done.returncode, done.stderr
    if "--into {}" in words or "--history {}" in words:
        assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "geheim" not in done.stdout + done.stderr
    assert not [path for path in tmp_path.rglob("*") if "geheim" in path.name]


def test_too_little_memory_is_one_line(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def group(**_: object) -> None:
        raise MemoryError("Unable to allocate 3.2 GiB")

    monkeypatch.setattr(main_module, "group", group)
    done = here("profile", ".")
    assert done.returncode == 1
    assert done.stderr.startswith("chunkwise: not enough memory (Unable to allocate")
    assert done.stderr.count("\n") == 1


def test_a_file_that_does_not_fit_into_memory_is_told(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small.txt").write_text("A lamp is lit at dusk.")
    (tmp_path / "large.txt").write_text("A lamp is lit at dusk. " * 99)
    read = Source.read

    def little_memory(source: Source, limit: int | None = None) -> bytes:
        if source.name == "large.txt":
            raise MemoryError
        return read(source, limit)

    monkeypatch.setattr(Source, "read", little_memory)
    done = here("chunk", ".", "--json")
    assert done.returncode == 3
    assert done.stderr.startswith(
        "chunkwise: skipped ./large.txt: needs more memory than available"
    )
    assert "dusk" in done.stdout


@pytest.mark.usefixtures("processes")
def test_an_interrupt_amid_a_destructor_is_not_forgotten() -> None:
    code = (
        "import sys, time, chunkwise.cli.main as m\nclass Late:\n    def __del__(self): raise "
        "KeyboardInterrupt\ndef group(**_):\n    Late()\n    time.sleep(600)\nm.group = "
        "group\nm.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, preexec_fn=listening
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "chunkwise: stopped\n")

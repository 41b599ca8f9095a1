"""Work in parts: in order, by other processes, which may die, and are ended at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.runner import WorkerDied, all_or_none, begin_workers, map_parts
from chunkwise.base.user_code import run_file

pytestmark = pytest.mark.usefixtures("processes")


class UnfitToTravel(Exception):
    """Cannot be made from its arguments again."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def work(part: list[Any]) -> Iterator[object]:
    """What a test asks for; here, since a process imports it by its name."""
    for given in part:
        match given:
            case "pid":
                yield os.getpid()
            case "die":
                os._exit(1)
            case "once", path:
                if not Path(path).exists():
                    Path(path).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                yield "later"
            case "unfit":
                raise UnfitToTravel("left", "right")
            case "foreseen":
                raise InvalidParameter("max_tokens is 0")
            case "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            case "large":
                for _ in range(64):
                    yield b"x" * (1 << 20)
            case "sleep":
                time.sleep(3600)
            case int():
                yield 2 * given
            case _:
                yield 1 / 0


def lost(part: list[Any], error: WorkerDied) -> object:
    assert len(part) == 1
    return f"lost {part[0]}"


def found(*parts: list[Any], jobs: int = 2, function: Any = work) -> list[Any]:
    return list(map_parts(function, parts, jobs, "work", lost))


def test_results_come_in_order_from_one_process_and_from_others() -> None:
    parts = [list(range(at, at + 3)) for at in range(0, 60, 3)]
    expected = [2 * each for each in range(60)]
    assert found(*parts, jobs=1) == found(*parts) == expected
    pids = found(*[["pid"]] * 6)
    assert os.getpid() not in pids
    assert len(set(pids)) <= 2


def test_of_pieces_that_end_in_an_error_there_is_none() -> None:
    assert list(all_or_none(iter(["a", "b"]))) == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        next(all_or_none(1 // each for each in (2, 1, 0)))


def test_errors_travel_and_interrupts_are_for_the_one_who_waits() -> None:
    assert found([1, "interrupt", 2]) == [2, 4]
    with pytest.raises(InvalidParameter, match="max_tokens is 0"):
        found(["foreseen"])
    with pytest.raises(ZeroDivisionError) as caught:
        found(["anything"])
    assert "in work" in caught.value.__notes__[0]
    with pytest.raises(ChunkwiseError, match="UnfitToTravel in a worker process: leftright"):
        found(["unfit"])


def test_what_cannot_be_sent_is_told() -> None:
    with pytest.raises(ChunkwiseError, match=r"can't be pickled.*lock.*metadata.*jobs=1"):
        found([Lock()])
    with pytest.raises(InvalidParameter, match="t be pickled for another process"):
        found([1], function=lambda part: part)


def test_what_kills_its_process_is_lost_and_nothing_else(tmp_path: Path) -> None:
    expected = [2, 4, 6, "lost die", 8, 10, 12]
    assert found([1, 2, 3, "die", 4], [5, 6]) == expected
    assert found([1, ("once", str(tmp_path / "mark")), 2]) == [2, "later", 4]


def test_much_is_found_piece_by_piece_in_a_file() -> None:
    sizes = [len(each) for each in map_parts(work, [["large"]] * 2, 2, "work", lost)]
    assert sizes == [1 << 20] * 128


def test_what_is_given_up_keeps_nobody_waiting() -> None:
    began = time.monotonic()
    with begin_workers(2, work, "work") as workers:
        for _ in range(6):
            workers.submit(["sleep"])
        time.sleep(0.5)
    assert time.monotonic() - began < 3


def test_an_interrupt_ends_all(tmp_path: Path) -> None:
    script = _file(tmp_path, INTERRUPTED, "script.py")
    run = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout
    worker = int(run.stdout.readline())
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert time.monotonic() - began < 2
    assert "KeyboardInterrupt" in told
    assert not Path(f"/proc/{worker}").exists()


INTERRUPTED = """
import os, time
from chunkwise.base.runner import map_parts
class Sleeping:
    def __call__(self, part):
        for each in part:
            if each:
                time.sleep(3600)
            yield os.getpid()
if __name__ == "__main__":
    for pid in map_parts(Sleeping(), [[0], [1], [1]], 2, "sleep", None):
        print(pid, flush=True)
"""
DOUBLED = (
    "class Doubled:\n    def __call__(self, part):\n        return [2 * each for each in part]\n"
)


def _file(tmp_path: Path, text: str, name: str = "mine.py") -> Path:
    file = tmp_path / name
    file.write_text(text)
    return file


def test_a_file_that_changed_meanwhile_is_run_as_it_was(tmp_path: Path) -> None:
    """Results of one run come from one version of a file, whatever its writer saves while it runs."""
    file = _file(tmp_path, DOUBLED)
    made = run_file(file, 1).Doubled()
    file.write_text(DOUBLED.replace("2 *", "3 *"))
    assert found([21], function=made) == [42]
    file.unlink()
    assert found([21], function=made) == [42]


def test_a_worker_that_looks_a_file_up_finds_the_version_of_its_parent(tmp_path: Path) -> None:
    text = (
        "from pathlib import Path\nfrom chunkwise.base.user_code import run_file\n"
        "class Looking:\n    def __call__(self, part):\n"
        "        return run_file(Path(part[0]), 99).Doubled()([21])\n"
    )
    file = _file(tmp_path, DOUBLED)
    run_file(file, 1)
    file.write_text(DOUBLED.replace("2 *", "3 *"))
    looking = run_file(_file(tmp_path, text, "look.py"), 1).Looking()
    assert found([str(file)], function=looking) == [42]


def test_a_worker_runs_no_file_that_its_work_does_not_name(tmp_path: Path) -> None:
    mark = tmp_path / "run"
    text = f"with open({str(mark)!r}, 'a') as file:\n    file.write('x')\n"
    run_file(_file(tmp_path, text, "other.py"), 1)
    assert found([21], function=run_file(_file(tmp_path, DOUBLED), 1).Doubled()) == [42]
    assert mark.read_text() == "x"  # by this process alone


def test_a_file_that_does_not_run_in_a_worker_is_told(tmp_path: Path) -> None:
    only_here = (
        f"import os\nif os.getpid() != {os.getpid()}:\n    raise RuntimeError('only there')\n"
    )
    made = run_file(_file(tmp_path, only_here + DOUBLED), 1).Doubled()
    with pytest.raises(ChunkwiseError, match=r"mine\.py cannot be run: RuntimeError: only there"):
        found([21], function=made)


SCRIPT = """
import chunkwise
{own}
def run():
    texts = [chunkwise.Document(str(n), "One sentence. " * 9) for n in range(200)]
    print(len(list(chunkwise.chunk(texts, {strategy}, jobs=2))))
{guard}
    run()
"""
OWN = """
class Halves:
    def split(self, document):
        middle = len(document.text) // 2
        return [(0, middle), (middle, len(document.text))]
"""


def _run_script(
    tmp_path: Path, own: str, strategy: str, guard: str
) -> subprocess.CompletedProcess[str]:
    script = _file(tmp_path, SCRIPT.format(own=own, strategy=strategy, guard=guard), "script.py")
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("own", "strategy", "guard", "told"),
    [
        ("", "'sentences'", "if True:", "200\n"),  # nothing of the script is needed elsewhere
        (OWN, "Halves()", "if __name__ == '__main__':", "400\n"),
    ],
)
def test_scripts_that_use_processes(
    tmp_path: Path, own: str, strategy: str, guard: str, told: str
) -> None:
    assert _run_script(tmp_path, own, strategy, guard).stdout == told


def test_a_script_without_a_guard_whose_classes_are_needed_is_told(tmp_path: Path) -> None:
    found = _run_script(tmp_path, OWN, "Halves()", "if True:")
    assert found.returncode
    assert "needs its code under" in found.stderr.splitlines()[-1]

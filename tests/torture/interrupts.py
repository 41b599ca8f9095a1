"""Commands killed and signalled at any moment: what was there stays whole, and the same command again ends well."""

from __future__ import annotations

import json
import random
import shutil
import signal
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from chunkwise.base.atomic_files import scratch_folder
from interrupting import (
    Command,
    begun,
    check_cache,
    check_json,
    check_sweep,
    index_size,
    left_behind,
)
from torture.run import Part

_DOCUMENTS = 12
_OLD = 4
"""Documents of the index that is there before."""
_KB = ("--into", "kb", "-q")
_QUESTIONS = ("--test-queries", "queries.json")
WORK: dict[str, tuple[str, ...]] = {
    "index": ("index", "docs", *_KB, "--vectors", "none"),
    "index with vectors": ("index", "docs", *_KB),
    "chunk": ("chunk", "docs", "-o", "chunks.jsonl", "-q"),
    "evaluate": ("evaluate", "docs", *_QUESTIONS, "--vectors", "none", "-o", "results.json", "-q"),
    "tune": ("tune", "docs", *_QUESTIONS, "--embedder", "none", "-o", "sweep", "-q"),
}
_OFTEN = (14, 4, 8, 1, 1)
"""How often each is tried: an index has the most to lose, a sweep takes longest."""


def _corpus(folder: Path) -> None:
    (folder / "docs").mkdir()
    for number in range(_DOCUMENTS):
        text = "".join(f"Lamp {number} of row {row} was lit at dusk. " for row in range(20))
        (folder / "docs" / f"{number}.txt").write_text(text)
    rows = [
        {"query": f"When was lamp {n} lit?", "relevant_text": f"Lamp {n} of row 3 was lit at dusk."}
        for n in range(_DOCUMENTS)
    ]
    (folder / "queries.json").write_text(json.dumps(rows))


@cache
def _before(kind: str) -> tuple[Path, float]:
    """A folder as it is before the command, and the seconds that the command takes undisturbed."""
    # Cleared away by the next process that makes one: this one is killed in the end.
    place = _places.enter_context(scratch_folder(prefix="chunkwise-torture-"))
    folder = place / "before"
    folder.mkdir()
    _corpus(folder)
    if kind.startswith("index"):
        few = [f"docs/{number}.txt" for number in range(_OLD)]
        ended = Command(folder, "index", *few, *WORK[kind][2:], forked=True).run()
        assert ended.status == 0, ended.err
    tried = place / "tried"
    shutil.copytree(folder, tried)
    assert Command(tried, *WORK[kind], forked=True).preload().status == 0
    shutil.rmtree(tried)
    shutil.copytree(folder, tried)
    started = monotonic()
    ended = Command(tried, *WORK[kind], forked=True).run()
    assert ended.status == 0, ended.err
    return folder, monotonic() - started


_places = ExitStack()


def _moment(rng: random.Random, folder: Path, kind: str, takes: float) -> object:
    """Any moment, or soon after what is written last has begun to be written."""
    if rng.random() < 0.5:
        return rng.uniform(0.0, 1.1 * takes)
    names = {"chunk": ".chunks*", "evaluate": ".results*", "tune": "sweep/**/outcomes/*"}
    pattern = names.get(kind, "kb/.generation-000002*")
    wait, later = begun(lambda: any(folder.glob(pattern))), rng.uniform(0, 0.1)

    def moment(running: object) -> None:
        wait(running)  # type: ignore[arg-type]
        until = monotonic() + later
        while monotonic() < until and running.poll() is None:  # type: ignore[attr-defined]
            pass

    return moment


def _interrupted(rng: random.Random, numbers: dict[str, int]) -> str:
    [kind] = rng.choices(list(WORK), _OFTEN)
    name = rng.choice(list(numbers))
    before, takes = _before(kind)
    with TemporaryDirectory(prefix="torture-") as place:
        folder = Path(place) / "work"
        shutil.copytree(before, folder)
        moment = _moment(rng, folder, kind, takes)
        # Most are copies of this process; some begin with the interpreter, as people's do.
        command = Command(folder, *WORK[kind], forked=rng.random() < 0.9)
        ended = command.signalled(
            numbers[name], moment, whole_group=rng.random() < 0.3  # type: ignore[arg-type]
        )  # fmt: skip
        what = f"{kind}, {name}, status {ended.status}"
        try:
            assert ended.is_clean, ended.err[-800:]
            _check(kind, folder)
            again = Command(folder, *WORK[kind], forked=True).run()
            assert again.status == 0, again.err[-800:]
            assert _check(kind, folder), "the second run left nothing"
            assert left_behind(folder) == [], left_behind(folder)
        except Exception as error:
            error.args = (f"{what}: {error}",)
            raise
        return f"{kind}, {'ended before' if ended.came_too_late else name}"


def _check(kind: str, folder: Path) -> bool:
    """What is there is whole; whether it is what the whole command makes."""
    check_cache(folder / "home" / "vectors.sqlite")
    if kind.startswith("index"):
        size = index_size(folder / "kb")
        assert size in (_OLD, _DOCUMENTS), f"the index has {size} documents"
        return size == _DOCUMENTS
    if kind == "evaluate":
        return check_json(folder / "results.json")
    if kind == "tune":
        if (folder / "sweep").exists():
            check_sweep(folder / "sweep")
        return (folder / "sweep" / "results.json").exists()
    path = folder / "chunks.jsonl"
    if not path.exists():
        return False
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {row["doc_id"] for row in rows} == {f"{number}.txt" for number in range(_DOCUMENTS)}
    return True


def kill(rng: random.Random) -> str:
    """kill -9."""
    return _interrupted(rng, {"kill": signal.SIGKILL})


def stop(rng: random.Random) -> str:
    """Ctrl-C, a terminal that is closed, a system that goes down."""
    return _interrupted(
        rng, {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "hang up": signal.SIGHUP}
    )


def _part(name: str, title: str, about: str, case: Callable[[random.Random], str]) -> Part:
    return Part(name, title, about, case, block=1, hang=900)


_WHOLE = "at any moment: what was or what was to be is there, whole; the same command again ends well, nothing left"
KILLS = _part("kills", "Commands killed", f"index, chunk, evaluate or tune, killed {_WHOLE}", kill)
SIGNALS = _part(
    "signals", "Commands stopped", f"the same with Ctrl-C, SIGTERM or SIGHUP {_WHOLE}", stop
)

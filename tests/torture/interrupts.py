"""Commands killed and signalled at any moment: what was there stays whole, and the same command again ends well."""

from __future__ import annotations

import json
import random
import shutil
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

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
_OFTEN = (5, 2, 2, 2, 1)
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
    keep = TemporaryDirectory(prefix="torture-")
    _keeps.append(keep)
    folder = Path(keep.name) / "before"
    folder.mkdir()
    _corpus(folder)
    if kind.startswith("index"):
        few = [f"docs/{number}.txt" for number in range(_OLD)]
        words = ["none" if word == "none" else word for word in WORK[kind][2:]]
        ended = Command(folder, "index", *few, *words).run()
        assert ended.status == 0, ended.err
    tried = Path(keep.name) / "tried"
    shutil.copytree(folder, tried)
    started = monotonic()
    ended = Command(tried, *WORK[kind]).run()
    assert ended.status == 0, ended.err
    return folder, monotonic() - started


_keeps: list[TemporaryDirectory[str]] = []


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
        command = Command(folder, *WORK[kind])
        ended = command.signalled(
            numbers[name], moment, whole_group=rng.random() < 0.3  # type: ignore[arg-type]
        )  # fmt: skip
        what = f"{kind}, {name}, status {ended.status}"
        try:
            assert ended.is_clean, ended.err[-800:]
            _check(kind, folder)
            again = command.run()
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

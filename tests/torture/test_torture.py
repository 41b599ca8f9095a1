"""A short part of `make torture`; and that it finds what is wrong, counts it once, and goes on where it was left."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from interrupting import Command
from torture.__main__ import PARTS, ROOT, page
from torture.chunks import CHUNKS
from torture.files import FILES
from torture.interrupts import KILLS, SIGNALS
from torture.run import Part, Record, run, run_cases
from untimed import HANG

pytestmark = pytest.mark.usefixtures("processes")

SEED = 3


SHORT = {CHUNKS: 400, FILES: 100, KILLS: 1, SIGNALS: 1}
SEEDS = {KILLS: 4, SIGNALS: 4}
"""Of which the first case is an index."""


@pytest.mark.unwatched
@pytest.mark.parametrize("part", SHORT, ids=lambda part: part.name)
def test_a_short_run_finds_nothing_wrong(part: Part, tmp_path: Path) -> None:
    seed = SEEDS.get(part, SEED)
    total = run(part, Record(tmp_path, part, seed), seed, cases=SHORT[part])
    assert total.wrong == []
    assert total.kinds.total() >= SHORT[part]


def hostile(rng: random.Random) -> str:
    """One in ten is wrong in one way or another."""
    number = rng.randrange(20)
    if number == 0:
        raise ValueError("a wrong case")
    if number == 1:
        os._exit(7)
    return "even" if number % 2 == 0 else "odd"


HOSTILE = Part("hostile", "Hostile", "one that fails", hostile, block=10, hang=HANG)


def expected(numbers: range) -> dict[int, int]:
    drawn = ((case, random.Random(f"{SEED} hostile {case}").randrange(20)) for case in numbers)
    return {case: number for case, number in drawn if number < 2}


@pytest.mark.unwatched
def test_every_wrong_case_is_told_once_whatever_it_does_to_its_process(tmp_path: Path) -> None:
    record = Record(tmp_path, HOSTILE, SEED)
    total = run(HOSTILE, record, SEED, cases=30, jobs=2)
    wrong = expected(range(30))
    assert wrong, "the seed has no wrong case"
    assert {each.case for each in total.wrong} == set(wrong)
    assert total.kinds.total() == 30
    says = {0: "ValueError: a wrong case", 1: "status 7"}
    for each in total.wrong:
        assert says[wrong[each.case]] in each.what


def sleeping(rng: random.Random) -> str:
    time.sleep(HANG)
    return "woke up"


@pytest.mark.unwatched
def test_a_case_that_does_not_end_is_wrong(tmp_path: Path) -> None:
    part = Part("sleeping", "Sleeping", "one that does not end", sleeping, block=1, hang=0.5)
    total = run(part, Record(tmp_path, part, SEED), SEED, cases=1)
    assert [each.what for each in total.wrong] == ["no answer for 0.5 seconds"]


def fine(rng: random.Random) -> str:
    return "fine"


FINE = Part("fine", "Fine", "one that holds", fine, block=5, hang=60)


def test_a_run_goes_on_behind_what_is_on_disk_and_does_a_torn_line_again(tmp_path: Path) -> None:
    first = Record(tmp_path, FINE, SEED)
    for number in (0, 2):
        first.add(run_cases(FINE, SEED, range(number * 5, number * 5 + 5), number))
    with first.path.open("a", encoding="utf-8") as file:
        file.write('{"block": 3, "kinds": {"fi')
    again = Record(tmp_path, FINE, SEED)
    assert again.done == {0, 2}
    total = run(FINE, again, SEED, cases=25)
    assert total.kinds == {"fine": 25}
    assert Record(tmp_path, FINE, SEED).done == {0, 1, 2, 3, 4}


def test_the_same_seed_makes_the_same_cases() -> None:
    twice = [run_cases(CHUNKS, SEED, range(20)).kinds for _ in range(2)]
    assert twice[0] == twice[1]


def test_the_page_is_written_whole_but_for_its_counts(tmp_path: Path) -> None:
    shown = (ROOT / "docs" / "benchmarks" / "torture.md").read_text(encoding="utf-8").splitlines()
    records = {name: Record(tmp_path, part, SEED) for name, part in PARTS.items()}
    counts = ("| ", "- ", "chunkwise ")
    told = [line for line in page(records, SEED).splitlines() if line.strip()]
    assert [line for line in told if not line.startswith(counts)] == [
        line for line in shown if line.strip() and not line.startswith(counts)
    ]
    assert all(any(part.about in line for line in shown) for part in PARTS.values())


@pytest.mark.unwatched
def test_a_copy_that_is_interrupted_before_it_runs_anything_is_no_wrong_case(
    tmp_path: Path,
) -> None:
    command = Command(tmp_path, "--version", forked=True)
    ended = [command.signalled(signal.SIGINT, lambda running: None) for _ in range(10)]
    assert {each.status for each in ended} <= {0, 130}
    assert not any(each.err for each in ended)

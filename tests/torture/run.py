"""Numbered cases in processes of their own: seeded, counted on disk as they end, gone on with where they were left."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

_MOST_WRONG = 20
"""Cases kept of a block: what is wrong in all of them would fill the disk."""
_LONGEST = 2000
"""Characters kept of what went wrong."""


@dataclass(frozen=True)
class Part:
    """A kind of case; a case that raises is wrong, one that does not end or takes its process along is, too."""

    name: str
    title: str
    about: str
    """What a case is, for the page."""
    case: Callable[[random.Random], str]
    """What it was, to be counted under: a strategy, a format, a signal."""
    block: int
    """Cases handed to a process at a time."""
    hang: float
    """Seconds of no answer about a block after which its process is ended."""


class Wrong(NamedTuple):
    """A case that did not hold."""

    case: int
    what: str


@dataclass
class Block:
    """What became of some cases."""

    number: int
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Block) -> None:
        """Count another's cases in, too."""
        self.kinds += other.kinds
        self.wrong += other.wrong
        self.seconds += other.seconds


class Record:
    """The blocks of a part that are done, a line each; a line that a kill cut off is done again."""

    def __init__(self, folder: Path, part: Part, seed: int) -> None:
        self.path = folder / f"{part.name}-{seed}.jsonl"
        self.done: set[int] = set()
        self.total = Block(-1)
        text = self.path.read_text(encoding="utf-8") if self.path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        for line in whole.splitlines():
            row = json.loads(line)
            wrong = [Wrong(*each) for each in row["wrong"]]
            self._count(Block(row["block"], Counter(row["kinds"]), wrong, row["seconds"]))

    def add(self, block: Block) -> None:
        """Note a block, on disk first."""
        row = {
            "block": block.number, "kinds": block.kinds, "wrong": block.wrong[:_MOST_WRONG],
            "seconds": round(block.seconds, 3),
        }  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=True) + "\n")
        self._count(block)

    def _count(self, block: Block) -> None:
        self.done.add(block.number)
        self.total.add(block)


def run_cases(part: Part, seed: int, numbers: range, number: int = 0) -> Block:
    """Run them, in this process."""
    block = Block(number)
    started = time.monotonic()
    for case in numbers:
        try:
            # A text as a seed is the same on every machine.
            kind = part.case(random.Random(f"{seed} {part.name} {case}"))
        except Exception as error:
            kind = "wrong"
            block.wrong.append(Wrong(case, f"{type(error).__name__}: {error}"[:_LONGEST]))
        block.kinds[kind] += 1
    block.seconds = time.monotonic() - started
    return block


def _serve(pipe: Connection, part: Part, seed: int) -> None:
    pipe.send(None)  # imported: from here on an answer is waited for
    while True:
        try:
            numbers, number = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(run_cases(part, seed, numbers, number))


class _Process:
    """A process that runs cases, and is replaced when it dies or hangs."""

    def __init__(self, part: Part, seed: int) -> None:
        self._part, self._seed = part, seed
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def run(self, numbers: range, number: int) -> Block:
        """The block; where the process dies or hangs, its cases one by one, to know which it was."""
        block = self._answer(numbers, number)
        if isinstance(block, Block):
            return block
        if len(numbers) == 1:
            return Block(number, Counter({"wrong": 1}), [Wrong(numbers[0], block)])
        whole = Block(number)
        for case in numbers:
            whole.add(self.run(range(case, case + 1), number))
        return whole

    def _answer(self, numbers: range, number: int) -> Block | str:
        is_new = False
        if self._process is None:
            context = get_context("spawn")
            self._pipe, there = context.Pipe()
            self._process = context.Process(
                target=_serve, args=(there, self._part, self._seed), daemon=self._part.block > 1
            )
            self._process.start()
            there.close()
            is_new = True
        assert self._pipe is not None
        try:
            if is_new:
                self._pipe.recv()  # it is ready
            self._pipe.send((numbers, number))
            if self._pipe.poll(self._part.hang):
                block: Block = self._pipe.recv()
                return block
            what = f"no answer for {self._part.hang:g} seconds"
        except (EOFError, OSError):
            self._process.join()
            what = f"the process died with status {self._process.exitcode}"
        self.stop()
        return what

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def run(
    part: Part,
    record: Record,
    seed: int,
    *,
    cases: int | None = None,
    until: float | None = None,
    jobs: int = 1,
    tell: Callable[[Block], Any] = lambda total: None,
) -> Block:
    """Run blocks that are not done until there are so many cases, the clock has come so far, or Ctrl-C."""
    lock, stopped = Lock(), Event()
    blocks: Iterator[int] = (number for number in count() if number not in record.done)

    def work() -> None:
        process = _Process(part, seed)
        try:
            while not stopped.is_set():
                with lock:
                    number = next(blocks)
                    first = number * part.block
                    late = until is not None and time.monotonic() >= until
                    if late or (cases is not None and first >= cases):
                        return
                block = process.run(range(first, first + part.block), number)
                with lock:
                    if (
                        not stopped.is_set()
                    ):  # a block whose process was ended with this one says nothing
                        record.add(block)
                        tell(record.total)
        finally:
            process.stop()

    threads = [Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
    except KeyboardInterrupt:
        stopped.set()
        raise
    return record.total

"""MB/s of chunkwise and of the installed peers on the same text: interleaved, best of five."""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks import corpora
from benchmarks.peers import CHARACTERS, PEERS, TOKENS, Peer, Split
from benchmarks.subject import bare_tokenizer, chunkwise
from benchmarks.tables import table

_BY_TOKENS = f"max_tokens={TOKENS}, overlap=0, tokenizer=cl100k_base"
_BY_CHARACTERS = f"max_tokens={CHARACTERS}, overlap=0, tokenizer=characters"
_TOO_SLOW = 20.0
"""Seconds after which a contender is not run again."""


class Row(NamedTuple):
    """A row of the benchmark: our strategies in it and the ratio asked of the slowest of them."""

    name: str
    strategies: tuple[str, ...]
    bar: float
    format: str = "text"
    bare: float = 0.0
    """Least share of the bare tokenizer's speed."""


ROWS = (
    Row("tokens", (f"tokens({_BY_TOKENS})",), 4.0, bare=0.8),
    Row("sentences by characters", (f"sentences({_BY_CHARACTERS})",), 10.0),
    Row("sentences by tokens", (f"sentences({_BY_TOKENS})",), 10.0),
    Row("recursive by characters", (f"recursive({_BY_CHARACTERS})",), 2.0),
    Row("recursive by tokens", (f"recursive({_BY_TOKENS})",), 3.0),
    Row("recursive, Markdown separators, by characters", (f"recursive({_BY_CHARACTERS})",), 1.0, "markdown"),
    Row("recursive, Markdown separators, by tokens", (f"recursive({_BY_TOKENS})",), 3.0, "markdown"),
    Row("structure by characters", (f"structure({_BY_CHARACTERS})", f"sections({_BY_CHARACTERS})"), 1.0, "markdown"),
    Row("structure by tokens", (f"structure({_BY_TOKENS})", f"sections({_BY_TOKENS})"), 1.0, "markdown"),
    Row("paragraphs", (f"paragraphs({_BY_CHARACTERS})", f"paragraphs({_BY_CHARACTERS}, merge=True)"), 1.0),
)  # fmt: skip


class Result(NamedTuple):
    """One contender in one row."""

    name: str
    ours: bool
    reference: bool
    rate: float
    chunks: int


def contenders(row: Row) -> tuple[list[tuple[str, bool, bool, Split]], list[str]]:
    """Name, ours, reference and function of everyone in a row, and a line for each that is missing."""
    found: list[tuple[str, bool, bool, Split]] = []
    for strategy in row.strategies:
        name = strategy.split("(")[0] + (" merge" if "merge" in strategy else "")
        found.append((f"chunkwise {name}", True, False, chunkwise(strategy, row.format)))
    if row.bare:
        found.append(("bare tokenizer (bpe-openai)", False, True, bare_tokenizer()))
    missing: list[str] = []
    for peer in (peer for peer in PEERS if peer.row == row.name):
        split = _made(peer, missing)
        if split is not None:
            found.append((peer.name, False, peer.reference, split))
    return found, missing


def _made(peer: Peer, missing: list[str]) -> Split | None:
    try:
        return peer.make()
    except Exception as error:
        missing.append(
            f"{peer.name} left out: {type(error).__name__}: {str(error).splitlines()[0][:100]}"
        )
        return None


def measure(row: Row, size: int, rounds: int) -> tuple[list[Result], list[str]]:
    """Best of `rounds`, every contender once a round."""
    text = corpora.markdown(size) if row.format == "markdown" else corpora.prose(size)
    megabytes = len(text.encode()) / corpora.MEGABYTE
    found, notes = contenders(row)
    best: dict[str, float] = {}
    chunks: dict[str, int] = {}
    for number in range(rounds):
        for name, _, _, split in found:
            if number and (name not in best or best[name] > _TOO_SLOW):
                continue
            gc.collect()
            began = time.perf_counter()
            try:
                chunks[name] = len(split(text))
            except Exception as error:
                notes.append(f"{name} failed: {type(error).__name__}: {str(error)[:100]}")
                continue
            best[name] = min(time.perf_counter() - began, best.get(name, float("inf")))
    results = [
        Result(name, ours, reference, megabytes / best[name], chunks[name])
        for name, ours, reference, _ in found
        if name in best
    ]
    return results, notes


def report(row: Row, results: Sequence[Result], notes: Sequence[str]) -> str:
    """The row as a table, with its bars and whether they are met."""
    ranked = sorted(results, key=lambda result: -result.rate)
    shown = [(_label(result), f"{result.rate:.2f}", result.chunks) for result in ranked]
    lines = [f"### {row.name}\n", table(("", "MB/s", "chunks"), shown), ""]
    peers = [result for result in results if not result.ours and not result.reference]
    for ours in (result for result in results if result.ours):
        if peers:
            fastest = max(peers, key=lambda result: result.rate)
            lines.append(
                _verdict(
                    f"{ours.name} / {fastest.name} (fastest peer)",
                    ours.rate / fastest.rate,
                    row.bar,
                )
            )
        bare = [result.rate for result in results if result.name.startswith("bare")]
        if bare:
            lines.append(_verdict(f"{ours.name} / bare tokenizer", ours.rate / bare[0], row.bare))
    return "\n".join([*lines, *(f"- {note}" for note in notes), ""])


def _label(result: Result) -> str:
    if result.ours:
        return f"**{result.name}**"
    return f"{result.name} ⁱ" if result.reference else result.name


def _verdict(what: str, ratio: float, bar: float) -> str:
    return f"- {what}: {ratio:.2f}×, bar {bar:g}×: {'met' if ratio >= bar else '**missed**'}"


def run(size: int = 800_000, rounds: int = 5, rows: Sequence[str] = ()) -> str:
    """All rows as Markdown."""
    logging.disable(logging.WARNING)  # a peer that warns of every chunk would be timed writing
    parts = [
        f"{TOKENS} tokens (cl100k_base) or {CHARACTERS} characters per chunk, no overlap; {size / 1e6:g} MB of "
        f"{corpora.origin()}; best of {rounds}, interleaved. ⁱ: does a different job, not used as a bar.\n"
    ]
    for row in ROWS:
        if not rows or any(wanted in row.name for wanted in rows):
            results, notes = measure(row, size, rounds)
            parts.append(report(row, results, notes))
            print(parts[-1], file=sys.stderr, flush=True)
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", help="parts of row names; all rows where none is given")
    parser.add_argument("--size", type=int, default=800_000, help="bytes of text")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    run(given.size, given.rounds, given.rows)


if __name__ == "__main__":
    main()

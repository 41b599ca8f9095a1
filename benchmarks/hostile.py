"""Every built-in strategy on hostile inputs of 10 MB, against prose of the same size: at most 3× the time."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial

from benchmarks import corpora
from benchmarks.isolated import TooSlow, isolated
from benchmarks.peers import PEERS, Split
from benchmarks.subject import bare_tokenizer, chunkwise
from benchmarks.tables import table
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER

BAR = 3.0
STRATEGIES = (
    "characters", "words", "tokens", "sentences", "paragraphs", "recursive",
    "recursive(max_tokens=1000, tokenizer=characters)", "sections", "structure", "code",
)  # fmt: skip

ON_THE_PAGE = (
    "no separators", "one line of words", "white space", "ten thousand headings", "headings only",
    "a million short lines", "Yes. No.", "emoji families", "flags", "CJK without spaces", "list items",
    "dashes", "slashes",
)  # fmt: skip
"""What `make bench` runs; all the others by name, or with none named, from here."""


def seconds(strategy: str, text: str, format: str, limit: float) -> float:
    """Processor time of one run in a process of its own, vocabulary loaded before."""
    return _processor_time(chunkwise(strategy, format), text, limit)


def _processor_time(split: Split, text: str, limit: float) -> float:
    def work() -> float:
        split("Warm up.")
        began = time.process_time()
        split(text)
        return time.process_time() - began

    return float(isolated(work, limit))


def run(
    size: int = 10 * corpora.MEGABYTE,
    strategies: Sequence[str] = STRATEGIES,
    names: Sequence[str] = (),
    peers: bool = False,
) -> str:
    """The tables as Markdown, a figure over the bar in bold."""
    chosen = [name for name in corpora.hostile_names() if not names or name in names]
    prose = {s: seconds(s, corpora.prose(size), "text", 600) for s in strategies}
    rows: list[list[str]] = [["**prose**, seconds", *(f"{prose[s]:.2f}" for s in strategies)]]
    print(rows[0], file=sys.stderr, flush=True)
    over: list[str] = []
    for name in chosen:
        text, format = corpora.hostile(name, size)
        row = [name]
        for strategy in strategies:
            cell, missed = _cell(strategy, text, format, prose[strategy])
            row.append(cell)
            if missed:
                bare = _processor_time(bare_tokenizer(DEFAULT_TOKENIZER), text, 60)
                over.append(
                    f"- over the bar: {strategy} on {name}: {cell.replace('*', '')}; the bare tokenizer "
                    f"takes {bare:.1f} s to read it, and no text is cut by tokens without that"
                )
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    heads = [s if "characters)" not in s else "recursive by characters" for s in strategies]
    told = [
        f"{size / 1e6:g} MB each; the first row in seconds of CPU time, the others as multiples of it; "
        f"bar {BAR:g}×.\n",
        table(["", *heads], rows),
        "",
        *(over or ["No input exceeds the target."]),
    ]
    return "\n".join([*told, "", *([peers_on_hostile()] if peers else [])])


def _cell(strategy: str, text: str, format: str, prose: float) -> tuple[str, bool]:
    stop = max(30.0, 10 * prose)
    try:
        took = seconds(strategy, text, format, stop)
    except TooSlow:
        return f"**> {stop:.0f} s**", True
    except RuntimeError as error:
        return f"**{error}**", True
    missed = took > BAR * prose
    shown = f"{took / prose:.2f}"
    return (f"**{shown}** ({took:.1f} s)" if missed else shown), missed


def _size(split: Split, text: str) -> int:
    return len(split(text))


def peers_on_hostile(size: int = 500_000, limit: float = 20.0) -> str:
    """The peers on smaller hostile inputs, in seconds, each cut off after `limit`."""
    inputs = (
        "no separators",
        "one line of words",
        "a million short lines",
        "Yes. No.",
        "headings only",
    )
    rows = []
    for peer in (peer for peer in PEERS if not peer.row.startswith("paragraphs")):
        row = [f"{peer.name}, {peer.row}"]
        for name in inputs:
            text, _ = corpora.hostile(name, size)
            try:
                split = peer.make()
                began = time.perf_counter()
                isolated(partial(_size, split, text), limit)
                row.append(f"{time.perf_counter() - began:.2f}")
            except TooSlow:
                row.append(f"> {limit:.0f}")
            except ImportError:
                break
            except Exception as error:
                row.append(str(error)[:40])
        if len(row) > 1:
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    return f"### Peers on {size / 1e6:g} MB, seconds\n\n" + table(["", *inputs], rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="inputs; all where none is given")
    parser.add_argument("--size", type=int, default=10 * corpora.MEGABYTE, help="bytes")
    parser.add_argument("--strategy", action="append", help="repeatable; all where none is given")
    parser.add_argument("--peers", action="store_true", help="the peers too, at a smaller size")
    given = parser.parse_args()
    print(run(given.size, given.strategy or STRATEGIES, given.names, given.peers))


if __name__ == "__main__":
    main()

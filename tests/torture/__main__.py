"""Cases of every part, for as long as one likes: seeded, and gone on with where they were left."""

from __future__ import annotations

import argparse
import platform
import random
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from chunkwise import __version__
from chunkwise.base.cores import cores
from chunkwise.base.wording import counted
from torture.chunks import CHUNKS
from torture.files import FILES
from torture.growth import GROWTH
from torture.interrupts import KILLS, SIGNALS
from torture.run import Block, Part, Record, run

PARTS = {part.name: part for part in (CHUNKS, FILES, GROWTH, KILLS, SIGNALS)}
ROOT = Path(__file__).resolve().parents[2]
_SHOWN = 20


def main() -> int:
    """Run the parts one after the other; status 1 where a case was wrong."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all where none is given")
    parser.add_argument("--cases", type=int, help="of each part, those of earlier runs counted in")
    parser.add_argument("--minutes", type=float, help="for each part; neither: until Ctrl-C")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "torture")
    parser.add_argument("--replay", metavar="PART:CASE", help="run one case again, in this process")
    parser.add_argument(
        "--html", type=Path, help="write the counts of the folder here, run nothing"
    )
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    if given.replay:
        name, _, case = given.replay.partition(":")
        if name not in PARTS or not case.isdecimal():
            parser.error(f"--replay is {given.replay!r}; expected a part and a number: chunks:4711")
        print(PARTS[name].case(random.Random(f"{given.seed} {name} {case}")))
        return 0
    records = {name: Record(given.folder, part, given.seed) for name, part in PARTS.items()}
    if given.html:
        given.html.write_text(page(records, given.seed), encoding="utf-8")
        return 0
    for name in given.parts or PARTS:
        part, record = PARTS[name], records[name]
        until = time.monotonic() + 60 * given.minutes if given.minutes else None
        try:
            run(
                part, record, given.seed, cases=given.cases, until=until, jobs=given.jobs, tell=_progress(part)
            )  # fmt: skip
        except KeyboardInterrupt:
            print("\nstopped; run again to go on", file=sys.stderr)
            return 130
        _tell(part, record.total, given.seed)
    return int(any(records[name].total.wrong for name in given.parts or PARTS))


def _progress(part: Part) -> Callable[[Block], None]:
    return lambda total: print(f"\r{_sum(part, total)}", end="", file=sys.stderr)


def _sum(part: Part, total: Block) -> str:
    return f"{part.title}: {counted(total.kinds.total(), 'case')}, {len(total.wrong):,} wrong"


def _tell(part: Part, total: Block, seed: int) -> None:
    print(f"\r{_sum(part, total)}, {total.seconds:,.0f} s")
    for kind, number in sorted(total.kinds.items()):
        print(f"    {kind}: {number:,}")
    for wrong in total.wrong[:_SHOWN]:
        print(f"    --seed {seed} --replay {part.name}:{wrong.case}: {wrong.what}")


def page(records: dict[str, Record], seed: int) -> str:
    """The counts as a page of the docs."""
    rows = [
        f"| {PARTS[name].title} | {PARTS[name].about} | {record.total.kinds.total():,} | {len(record.total.wrong):,} "
        f"| {record.total.seconds / 60:,.0f} |"
        for name, record in records.items()
    ]
    kinds = [
        f"- {PARTS[name].title}: "
        + ", ".join(f"{kind} {number:,}" for kind, number in sorted(record.total.kinds.items()))
        for name, record in records.items()
        if record.total.kinds
    ]
    return _PAGE.format(
        version=__version__, day=date.today(), python=platform.python_version(), machine=platform.machine(),
        cores=cores(), seed=seed, rows="\n".join(rows), mended=_MENDED, kinds="\n".join(kinds),
    )  # fmt: skip


_MENDED = """\
The run went on over several commits, none of which changed what the others had tried in a way that is known. Wrong when
they were first run, mended, and run again with their blocks: a cut inside a cluster (`structure`, a mark that joins the
indent of a lead-in) and a hang-up while an array was read from disk, which ended in a traceback. Mended in the checks
themselves: two commands interrupted before Python had read anything of them, and two texts of which `raptor` makes one
chunk of the small and four of the large, and writes summaries from two on.

Since then, on later commits and other cases (seeds 20, 21, 2026 and 2027, a busy machine, minutes instead of hours),
which are not counted above: 25,500 texts cut, 24,400 files damaged, 380 texts grown, 157 commands killed and 142
stopped. One was wrong, in the check itself, mended and run again: a command interrupted while its process was still
being made. A further 277 signals were aimed at what is published, while two processes filled the disk: 62 at an index,
86 at what is kept of models, 43 at results, 42 at sweeps, 44 at a history. Nothing was lost; two ended in a traceback,
since a folder went while the bytes of a download were counted, which is mended and has a test. The long run has not
been made again on these commits.
"""
"""What the last long run found, and what was done about it: written by hand, renewed with the run."""

_PAGE = """# Torture

Written by `make torture`: the counts of its last long run. Every case is made from a seed and its number, so that one
that is wrong can be run again (`--replay`); a case is wrong when it breaks what is promised, raises what is no error of
ours, takes its process along, or does not end. See [security](../explanation/security.md) for what is promised.

chunkwise {version}, {day}, Python {python}, {machine}, {cores} cores, seed {seed}.

| part | what a case is | cases | wrong | minutes of a core |
|---|---|---|---|---|
{rows}

{mended}
By kind:

{kinds}

    make torture                                    # all parts until Ctrl-C; run again to go on
    make torture TORTURE="chunks --cases 1000000"   # one part, so many cases
    make torture TORTURE="--minutes 5 --seed 7"     # other cases, five minutes a part
    make torture TORTURE="--replay chunks:4711"     # one case again
"""

if __name__ == "__main__":
    sys.exit(main())

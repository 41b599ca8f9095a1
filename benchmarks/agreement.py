"""Whether late vectors rank the chunkings of a grid as vectors of their own do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.saved_results import SavedResults
from benchmarks.sweep import CHROMA, material, plan_of
from benchmarks.tables import table
from chunkwise.stats.agreement import kendall
from chunkwise.tuning.run import sweep_workers as running
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.sweep import Sweep
from chunkwise.tuning.sweep_result import Outcome

BAR = 0.8
MEASURES = ("recall@1000t", "recall@5", "ndcg@5")
FOLDER = "grid"
"""Of the record, in the folder that is saved."""

Pair = tuple[Outcome, Outcome]
"""Of one configuration with late vectors, and with its own."""


def pairs(place: Path, exact: bool) -> tuple[list[Pair], int]:
    """Those of the grid that are known both ways, and how many the grid has."""
    documents, queries = material()
    sweep, record = Sweep((), None, (), ()), SweepRecord(place / FOLDER)
    own = plan_of({"dense": "own", "hybrid": "own"})
    if exact:
        running.run_plan(own, documents, queries, sweep, record)
    known = record.known()
    wanted = [each for each in own.configurations if each.key in known]
    late = replace(own, configurations=tuple(replace(each, vectors="late") for each in wanted))
    found = running.run_plan(late, documents, queries, sweep, record) if wanted else []
    both = [(one, known[each.key]) for one, each in zip(found, wanted, strict=True)]
    return both, len(own.configurations)


def run(saved: SavedResults) -> str:
    """Kendall's tau by measure and retriever, as Markdown."""
    if not CHROMA.available:
        return "- left out: its data are not there\n"
    with saved.place() as place:
        both, grid = pairs(place, saved.exact)
    if len(both) < 2:
        return "- left out: every chunk has to be embedded for it, about 45 minutes of two cores; ask with `--exact`\n"
    rows = [
        [
            measure,
            *(
                _tau(_of(both, measure, retriever), measure)
                for retriever in ("", "dense", "hybrid")
            ),
        ]
        for measure in MEASURES
    ]
    tau = float(rows[0][1])
    part = "" if len(both) == grid else " on this part of the grid"
    return "\n".join([
        f"{len(both)} of the {grid} configurations with vectors above (34 chunkings × dense, hybrid) on chroma_eval, "
        "per-chunk embeddings compared with late chunking; means over all 472 questions.\n",
        table(["Kendall's τ of the two rankings", "all", "dense alone", "hybrid alone"], rows),
        "",
        f"- {MEASURES[0]}: τ {tau:.2f}, bar {BAR}: {'met' if tau >= BAR else '**missed**'}{part}",
        *(_choice(_of(both, measure), measure) for measure in MEASURES),
        "",
    ])  # fmt: skip


def _of(both: Sequence[Pair], measure: str, retriever: str = "") -> list[Pair]:
    """Those that have the measure: parents that are handed out for their children have no ndcg."""
    return [
        each
        for each in both
        if retriever in ("", each[0].configuration.retriever)
        and all(any(score is not None for score in one.scores[measure]) for one in each)
    ]


def _means(both: Sequence[Pair], measure: str) -> tuple[np.ndarray, np.ndarray]:
    late, own = (
        np.array([np.nanmean(np.array(each[at].scores[measure], float)) for each in both])
        for at in (0, 1)
    )
    return late, own


def _tau(both: Sequence[Pair], measure: str) -> str:
    tau = kendall(*_means(both, measure))
    return "–" if tau is None else f"{tau:.2f}"


def _choice(both: Sequence[Pair], measure: str) -> str:
    """What it costs to have looked at late vectors."""
    late, own = _means(both, measure)
    best = int(late.argmax())
    place = 1 + int((own > own[best]).sum())
    return (
        f"- {measure}: the best with late vectors ({both[best][0].configuration.label}) is number {place} with "
        f"its own, {100 * (own.max() - own[best]):.1f} points under the best there; late and own means differ by "
        f"{100 * np.abs(late - own).mean():.1f} points on average (late less own: {100 * (late - own).mean():+.1f})"
    )

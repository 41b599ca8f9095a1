"""Who leads the usual sweep on public question sets, and what tuning gains over the common defaults."""

from __future__ import annotations

from benchmarks.saved_results import SavedResults
from benchmarks.swept import LARGE, MOST, Swept, all_swept
from benchmarks.tables import table
from chunkwise.stats.paired import PairedDifference, holm, paired_difference
from chunkwise.tuning.choose.choose import choose
from chunkwise.tuning.sweep_result import Outcome, Standing, SweepResult
from chunkwise.tuning.validation import TEST

RETRIEVERS = ("bm25", "dense", "hybrid")
SHOWN = 3
"""Of each retriever."""


def run(saved: SavedResults) -> str:
    """A table a set, as Markdown."""
    with saved.place() as place:
        found = all_swept(place)
    if not found:
        return "- left out: their data are not there\n"
    return "\n".join([
        "The usual sweep with late vectors, half of the questions to choose and half to judge "
        f"(seed 0); of a set with more than {MOST:,} questions a seeded sample of {MOST:,}. With more than "
        f"{LARGE // 1_000_000} million characters (cuad) neither overlap nor headings are tried, and several sizes "
        "with the usual weights alone. Bold: shown (p < 0.05 after Holm).\n",
        *(_told(each) for each in found),
    ])  # fmt: skip


def _told(swept: Swept) -> str:
    inputs, sweep = swept.prepared.inputs, swept.prepared.sweep
    queries, splits = inputs.questions.queries, inputs.splits
    documents = inputs.documents
    whole = choose(swept.outcomes, queries, splits, sweep, swept.prepared.plan, documents)
    chunks = [each for each in swept.outcomes if each.configuration.strategy]
    alone = choose(chunks, queries, splits, sweep, swept.prepared.plan, documents)
    several = whole.fit.kept if whole.fit else ""
    fitted = next((one for one in swept.outcomes if one.configuration.retriever == several), None)
    rows = _leaders(whole, swept.outcomes, several)
    tied = sum(each.tied for each in whole.standings)
    return "\n".join([
        f"### {swept.name}\n",
        f"{len(documents)} documents, {len(queries)} questions ({splits.count(TEST)} of them test), "
        f"{len(swept.outcomes)} configurations, {tied} of them tied with the best.\n",
        table([sweep.objective, "validation", "test", "95 % interval"], rows),
        "",
        f"> {whole.sentence}\n",
        table(
            ["on the test questions, points", "against recursive 1000/200 characters", "against sentences 1024/200"],
            [
                ["the choice among chunkings: " + _label(alone), *_gains(swept, _chosen(alone))],
                *([[f"multi-scale: {several}", *_gains(swept, fitted)]] if fitted else []),
            ],
        ),
        "",
    ])  # fmt: skip


def _leaders(tuning: SweepResult, outcomes: list[Outcome], several: str) -> list[list[str]]:
    """The best of every retriever on validation, then several sizes, then the defaults."""
    by_key = {each.configuration.key: each.configuration for each in outcomes}
    shown: dict[str, Standing] = {}
    for retriever in RETRIEVERS:
        own = [each for each in tuning.standings if by_key[each.key].retriever == retriever]
        defaults = [each for each in own if by_key[each.key].baseline]
        shown |= {each.key: each for each in own[:SHOWN] + defaults}
    shown |= {each.key: each for each in tuning.standings if by_key[each.key].retriever == several}
    shown |= {each.key: each for each in tuning.standings if each.key == tuning.chosen}
    return [
        [_marked(each, tuning, by_key[each.key].baseline), *_figures(each)]
        for each in sorted(shown.values(), key=lambda one: -(one.validation.mean or 0.0))
    ]


def _marked(standing: Standing, tuning: SweepResult, baseline: str) -> str:
    notes = [
        *(["**chosen**"] if standing.key == tuning.chosen else []),
        *(["default"] if baseline else []),
        *(["tied"] if standing.tied else []),
    ]
    return f"{standing.label} ({', '.join(notes)})" if notes else standing.label


def _figures(standing: Standing) -> list[str]:
    test = standing.test
    if test is None or test.mean is None or test.low is None or test.high is None:
        return [f"{standing.validation.mean or 0:.3f}", "–", "–"]
    return [f"{standing.validation.mean or 0:.3f}", f"{test.mean:.3f}", f"{test.low:.3f}–{test.high:.3f}"]  # fmt: skip


def _chosen(tuning: SweepResult) -> Outcome:
    return next(each for each in tuning.outcomes if each.configuration.key == tuning.chosen)


def _label(tuning: SweepResult) -> str:
    return _chosen(tuning).configuration.label


def _gains(swept: Swept, chosen: Outcome) -> list[str]:
    """Paired on the test questions, against each default with the retriever that suits it best on validation."""
    objective, splits = swept.prepared.sweep.objective, swept.prepared.inputs.splits
    rows = [at for at, side in enumerate(splits) if side == TEST]
    others = [at for at, side in enumerate(splits) if side != TEST]
    names = dict.fromkeys(each.configuration.baseline for each in swept.outcomes)
    found: list[PairedDifference | None] = []
    for name in filter(None, names):
        own = [each for each in swept.outcomes if each.configuration.baseline == name]
        best = max(own, key=lambda each: _sum(each, objective, others))
        first, second = ([one.scores[objective][at] for at in rows] for one in (best, chosen))
        found.append(paired_difference(first, second) if best is not chosen else None)
    adjusted = iter(holm([each.p for each in found if each]))
    return [_gain(each, next(adjusted)) if each else "itself" for each in found]


def _sum(outcome: Outcome, objective: str, rows: list[int]) -> float:
    return sum(outcome.scores[objective][at] or 0.0 for at in rows)


def _gain(paired: PairedDifference, p: float) -> str:
    mean, low, high = (100 * each for each in paired.difference)
    told = f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"
    return told if p > 0.05 else f"**{told}**"

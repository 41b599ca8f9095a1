"""How far below the best the choice is with few questions: half of them choose, or all with what levers lend."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.half_rule import half_choice
from benchmarks.kept import Kept
from benchmarks.score_matrices import ALL_SETS, ScoredSet, scored_set
from benchmarks.tables import table
from chunkwise.stats.intervals import resampled_means
from chunkwise.tuning.choose import priors_and_shrinkage
from chunkwise.tuning.choose.choose import recommended_column
from chunkwise.tuning.choose.priors_and_shrinkage import (
    NO_PRIOR,
    LeverEffects,
    LeverPrior,
    expected_means,
    shared_levers,
)
from chunkwise.tuning.choose.score_table import ScoreTable, score_table_of
from chunkwise.tuning.run.race_and_finalists import Race
from chunkwise.tuning.sweep import Sweep
from chunkwise.tuning.toml_file import toml_line
from chunkwise.tuning.validation import VALIDATION

COUNTS = (15, 30, 60, 120)
DRAWS = 50
FEWEST_LEFT = 20
"""Questions that judge, at least."""
OBJECTIVE = "recall@1000t"
PRIORS = ("recall@1000t", "recall@5", "ndcg@5")
"""Objectives that the package has a prior for."""
FAMILIES = dict.fromkeys(("xquad_en", "xquad_de", "xquad_zh", "squad2 + distractors"), "squad")
"""Sets with the same articles: none of them tells what to expect of another."""


def family(name: str) -> str:
    return FAMILIES.get(name, name)


def tables_of(scored: ScoredSet, objective: str) -> ScoreTable:
    """Every configuration with a score for every question; nothing is chosen yet."""
    outcomes = [each for each in scored.outcomes if None not in each.scores.get(objective, (None,))]
    found = score_table_of(outcomes, (VALIDATION,) * len(scored.queries), _sweep(objective))
    assert found is not None
    return found


def _sweep(objective: str, seed: int = 0) -> Sweep:
    return Sweep((), None, (), (), objective, seed=seed)


def prior_of(tables: dict[str, ScoreTable]) -> LeverPrior:
    """What levers do on these sets, on average, and how far that differs; each family counts as one."""
    names = {family(name) for name in tables}
    weight = {
        name: 1 / len(names) / sum(family(other) == family(name) for other in tables)
        for name in tables
    }
    found: dict[str, dict[tuple[str, str], float]] = {}
    rest: dict[str, float] = {}
    for name, own in tables.items():
        effects = LeverEffects([shared_levers(each.configuration) for each in own.outcomes])
        means = own.better(own.validation, range(len(own.outcomes))).mean(axis=0)
        means = means - means.mean()
        values = effects.of(means[None, :])[0]
        found[name] = dict(zip(effects.pairs, values.tolist(), strict=True))
        rest[name] = float(((means - effects.design @ values) ** 2).mean())
    pairs = sorted({pair for own in found.values() for pair in own})
    usual = {pair: _weighed(found, weight, pair) for pair in pairs}
    spreads = {}
    for lever in sorted({lever for lever, _ in pairs}):
        away = {
            name: [(own[pair] - usual[pair]) ** 2 for pair in pairs if pair[0] == lever and pair in own]
            for name, own in found.items()
        }  # fmt: skip
        known = {name: float(np.mean(own)) for name, own in away.items() if own}
        total = sum(weight[name] for name in known)
        several = len({family(name) for name in known})
        if several > 1:
            mean = sum(weight[name] * own for name, own in known.items()) / total
            spreads[lever] = float(np.sqrt(mean * several / (several - 1)))
    effects_by: dict[str, dict[str, float]] = {}
    for (lever, value), effect in usual.items():
        effects_by.setdefault(lever, {})[value] = round(effect, 4)
    alone = float(np.sqrt(sum(weight[name] * own for name, own in rest.items())))
    return LeverPrior(
        effects_by, {name: round(own, 4) for name, own in spreads.items()}, round(alone, 4)
    )


def _weighed(
    found: dict[str, dict[tuple[str, str], float]],
    weight: dict[str, float],
    pair: tuple[str, str],
) -> float:
    own = [name for name in found if pair in found[name]]
    return sum(weight[name] * found[name][pair] for name in own) / sum(weight[name] for name in own)


class Draw(NamedTuple):
    """Points below the best on the questions not used."""

    half: float
    plain: float
    """The best mean of all questions."""
    alone: float
    """All questions, levers lend strength, no prior."""
    chosen: float
    """The same with the prior of the other sets: the rule."""
    multiscale: float


def drawn(own: ScoreTable, queries: Sequence[object], prior: LeverPrior, count: int, draw: int) -> Draw:  # fmt: skip
    """One draw of so many questions; all others judge."""
    order = np.random.default_rng([draw, count]).permutation(len(own.validation))
    used, judging = np.sort(order[:count]), np.sort(order[count:])
    columns = list(range(len(own.outcomes)))
    judged = own.better(own.validation[judging], columns).mean(axis=0)
    part = replace(own, validation=own.validation[used], seed=draw)
    scores = part.better(part.validation, part.entrants)
    levers = [shared_levers(own.outcomes[at].configuration) for at in own.entrants]
    without, with_prior = (
        recommended_column(part, expected_means(scores, levers, each).means)
        for each in (NO_PRIOR, prior)
    )
    several = next(
        at for at, each in enumerate(own.outcomes) if each.configuration.label == "multiscale"
    )
    picked = [half_choice(own, used, draw), int(scores.mean(axis=0).argmax()), without, with_prior]
    return Draw(*(100 * float(judged.max() - judged[at]) for at in (*picked, several)))


RULES = {
    "half": "half choose, the cheapest of the tied within a point",
    "plain": "all choose, the best mean",
    "alone": "all choose, levers lend, no prior",
    "chosen": "all choose, levers lend, prior of other sets",
    "multiscale": "plain multi-scale, no choice",
}


def regrets(scored: Sequence[ScoredSet], objective: str = OBJECTIVE) -> dict[tuple[str, int], list[Draw]]:  # fmt: skip
    """By set and number of questions, of every draw; the prior of a set comes from other families alone."""
    tables = {each.name: tables_of(each, objective) for each in scored}
    found: dict[tuple[str, int], list[Draw]] = {}
    for each in scored:
        others = {name: own for name, own in tables.items() if family(name) != family(each.name)}
        prior = prior_of(others) if others else NO_PRIOR
        for count in COUNTS:
            if len(each.queries) - count >= FEWEST_LEFT:
                found[each.name, count] = [
                    drawn(tables[each.name], each.queries, prior, count, draw)
                    for draw in range(DRAWS)
                ]
        print(f"{each.name}: {DRAWS} draws of each size", file=sys.stderr, flush=True)
    return found


def _interval(values: NDArray[np.float64]) -> str:
    """Of the mean over sets, each the mean of its draws: draws are drawn again, sets stay."""
    means = resampled_means(values, seed=0, resamples=2000).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{values.mean():.2f} ({low:.2f}–{high:.2f})"


def run(kept: Kept) -> str:
    """Two tables, as Markdown."""
    with kept.place() as place:
        scored = [scored_set(each, place) for each in ALL_SETS if each.available]
    if not scored:
        return "- left out: their data are not there\n"
    found = regrets(scored)
    names = [each.name for each in scored]
    rows = []
    for rule, words in RULES.items():
        cells = []
        for count in COUNTS:
            own = [
                [getattr(draw, rule) for draw in found[name, count]]
                for name in names
                if (name, count) in found
            ]
            cells.append(_interval(np.array(own).T))
        rows.append([words, *cells])
    by_set = [
        [
            f"{name}, {len(each.queries)} questions, {len(each.outcomes)} configurations",
            *(
                " / ".join(f"{np.mean([getattr(draw, rule) for draw in found[name, count]]):.1f}"
                           for rule in ("half", "chosen", "multiscale"))
                if (name, count) in found else "–"
                for count in COUNTS
            ),
        ]
        for name, each in zip(names, scored, strict=True)
    ]  # fmt: skip
    return "\n".join([
        f"Points of {OBJECTIVE} below the best configuration on the questions not used: means over {len(names)} sets, "
        f"{DRAWS} draws of each size (seeds 0 to {DRAWS - 1}); 95 % intervals by drawing the draws again. The usual "
        "sweep with late vectors, all its weights of several sizes among what may be chosen; of large sets a seeded "
        "sample of the documents (benchmarks/score_matrices.py). The best is the best by the questions that judge, "
        "which nobody can know beforehand. The prior of a set never comes from that set, nor from another with the "
        "same articles (the three xquad and squad2). The halves are drawn at random. The constants of the rule "
        "(a point, two points, four times the noise) were set while looking at these sets; only the prior is left out "
        "set by set.\n",
        table(["questions", *map(str, COUNTS)], rows),
        "",
        _bars(rows, found, names),
        "",
        _racing({each.name: tables_of(each, OBJECTIVE) for each in scored}),
        "",
        "Set by set: half choose / the rule / plain multi-scale.\n",
        table(["questions", *map(str, COUNTS)], by_set),
        "",
    ])  # fmt: skip


def _bars(rows: list[list[str]], found: dict[tuple[str, int], list[Draw]], names: list[str]) -> str:
    def mean(rule: str, count: int) -> float:
        own = [
            [getattr(draw, rule) for draw in found[name, count]]
            for name in names
            if (name, count) in found
        ]
        return float(np.mean(own))  # fmt: skip

    said = {
        "at 30 questions at most half of what half-and-half gives away": mean("chosen", 30) <= mean("half", 30) / 2,
        "at 120 questions no more than half-and-half": mean("chosen", 120) <= mean("half", 120),
        "never more than a point below plain multi-scale": all(
            mean("chosen", count) <= mean("multiscale", count) + 1 for count in COUNTS
        ),
    }  # fmt: skip
    return "\n".join(f"- {what}: {'met' if met else 'missed'}" for what, met in said.items())


RACED, RACES = 120, 10
"""Questions of a sweep whose dear configurations race; draws of them."""


class Raced(NamedTuple):
    """All configurations but the best of a first half, which they race against."""

    asked: int
    """Pairs of a question and a configuration."""
    pairs: int
    dropped: int
    ahead: int
    """Of those dropped, how many were ahead of the best on all questions."""


def raced(own: ScoreTable, draw: int) -> Raced:
    """The configurations of even numbers are known, as those without a reranker are; the others race the best."""
    rows = np.random.default_rng([draw, 5]).permutation(own.validation)[:RACED]
    scores = own.better(rows, range(len(own.outcomes)))
    means = scores.mean(axis=0)
    best = int(means[::2].argmax()) * 2
    race = Race(tuple(scores[:, best].tolist()))
    asked = dropped = ahead = 0
    others = range(1, scores.shape[1], 2)
    for column in others:
        seen = np.full(len(rows), np.nan)
        for block in race.blocks(len(rows)):
            seen[block] = scores[block, column]
            if race.lost(seen):
                dropped += 1
                ahead += bool(means[column] > means[best])
                break
        asked += int((~np.isnan(seen)).sum())
    return Raced(asked, len(rows) * len(others), dropped, ahead)


def _racing(tables: dict[str, ScoreTable]) -> str:
    found = [raced(own, draw) for own in tables.values() for draw in range(RACES)]
    asked, pairs, dropped, ahead = (sum(column) for column in zip(*found, strict=True))
    raced_in_all = sum(len(own.outcomes) // 2 for own in tables.values()) * RACES
    return (
        f"Racing: {RACED} questions, {RACES} draws of each set, half of the configurations known, the others in a race "
        "with the best of those: "
        f"{100 * asked / pairs:.0f} % of what would be asked was asked, {dropped:,} of {raced_in_all:,} were dropped, "
        f"{ahead} of these were ahead of the best in the end."
    )


def write_priors(scored: Sequence[ScoredSet], path: Path) -> None:
    """What the package expects of levers: of all sets together."""
    lines = [
        "# What levers did on public question sets (points / 100), made by benchmarks/few_questions.py.",
        "# Effects are means over families of sets, spreads how far they differ, alone what no lever explains.",
    ]
    for objective in PRIORS:
        prior = prior_of({each.name: tables_of(each, objective) for each in scored})
        lines += ["", f'["{objective}"]', toml_line("alone", [prior.alone])]
        lines += [f'["{objective}".spreads]']
        lines += [toml_line(name, [own]) for name, own in prior.spreads.items()]
        for lever, values in prior.effects.items():
            lines.append(f'["{objective}".effects."{lever}"]')
            lines += [toml_line(value, [effect]) for value, effect in values.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sets = [
        scored_set(each, Path(sys.argv[1]))
        for each in ALL_SETS
        if each.available and (Path(sys.argv[1]) / each.folder).is_dir()
    ]
    write_priors(sets, Path(priors_and_shrinkage.__file__).with_name("lever_priors.toml"))

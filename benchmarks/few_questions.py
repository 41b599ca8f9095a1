"""How far below the best the choice is with no or few questions of people, and what generated questions tell."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.saved_results import SavedResults
from benchmarks.score_matrices import ALL_SETS, ScoredSet, scored_set
from benchmarks.tables import table
from chunkwise.stats.agreement import kendall
from chunkwise.tuning.choose import priors_and_shrinkage
from chunkwise.tuning.choose.choose import recommended_column
from chunkwise.tuning.choose.priors_and_shrinkage import (
    NO_PRIOR,
    LeverEffects,
    LeverPrior,
    expectation,
    shared_levers,
)
from chunkwise.tuning.choose.score_table import ScoreTable, score_table_of
from chunkwise.tuning.plan.grid import default_sweep
from chunkwise.tuning.run.race import Race
from chunkwise.tuning.toml_file import toml_line
from chunkwise.tuning.validation import VALIDATION

COUNTS = (0, 15, 30, 60, 120)
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
    """Every configuration, and people's questions; nothing is chosen yet."""
    sweep = default_sweep((), None, has_headings=True, objective=objective)
    found = score_table_of(scored.outcomes, (VALIDATION,) * len(scored.queries), sweep)
    assert found is not None
    return replace(found, validation=np.arange(scored.people))


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


RULES = {
    "chosen": "the choice of `tune`",
    "no_prior": "the same without a prior",
    "best_mean": "the best mean",
    "face_value": "the choice, with generated questions as people's",
    "multiscale": "plain multi-scale",
    "recursive": "`recursive` 1000/200 with its best retriever",
}


Regrets = dict[str, float]
"""Points below the best on the questions not used, by rule."""


def drawn(scored: ScoredSet, own: ScoreTable, prior: LeverPrior, count: int, draw: int) -> Regrets:
    """One draw of so many questions; all others judge."""
    order = np.random.default_rng([draw, count]).permutation(scored.people)
    used, judging = np.sort(order[:count]), np.sort(order[count:])
    judged = own.better(judging, range(len(own.outcomes))).mean(axis=0)
    level = float(own.scores[own.validation].mean())

    def choice(rows: NDArray[np.int64], prior: LeverPrior) -> int:
        part = replace(own, validation=rows, seed=draw)
        configurations = [own.outcomes[at].configuration for at in own.entrants]
        scores = part.better(rows, part.entrants)
        return recommended_column(part, expectation(scores, configurations, prior, level))

    labels = [each.configuration for each in own.outcomes]
    recursive = [at for at, each in enumerate(labels) if each.baseline.startswith("recursive")]
    generated = np.arange(scored.people, len(scored.queries))
    picked = {
        "chosen": choice(used, prior),
        "face_value": choice(np.concatenate([used, generated]), prior),
        "multiscale": next(at for at, each in enumerate(labels) if each.label == "multiscale"),
        "recursive": max(recursive, key=lambda at: float(judged[at])),
    }
    if count:
        picked["no_prior"] = choice(used, NO_PRIOR)
        picked["best_mean"] = int(own.scores[used].mean(axis=0).argmax())
    return {rule: 100 * float(judged.max() - judged[at]) for rule, at in picked.items()}


def regrets(
    scored: Sequence[ScoredSet], objective: str = OBJECTIVE
) -> dict[tuple[str, int], list[Regrets]]:
    """By set and number of questions, of every draw; the prior of a set comes from other families alone."""
    tables = {each.name: tables_of(each, objective) for each in scored}
    found: dict[tuple[str, int], list[Regrets]] = {}
    for each in scored:
        others = {name: own for name, own in tables.items() if family(name) != family(each.name)}
        prior = prior_of(others)
        for count in COUNTS:
            if each.people - count >= FEWEST_LEFT:
                found[each.name, count] = [
                    drawn(each, tables[each.name], prior, count, draw)
                    for draw in range(DRAWS if count else 1)
                ]
        print(f"{each.name}: {DRAWS} draws of each size", file=sys.stderr, flush=True)
    return found


def run(saved: SavedResults) -> str:
    """Regret with so many questions, over all sets and set by set, and what generated questions tell."""
    with saved.place() as place:
        scored = [scored_set(each, place) for each in ALL_SETS if each.available]
    if not scored:
        return "- left out: their data are not there\n"
    found = regrets(scored)
    names = [each.name for each in scored]

    def values(rule: str, count: int) -> list[list[float]]:
        """Of each set its draws."""
        draws = (found[name, count] for name in names if (name, count) in found)
        return [[each[rule] for each in own] for own in draws if rule in own[0]]

    def cell(own: list[list[float]]) -> str:
        return (
            f"{np.mean([np.mean(each) for each in own]):.2f} / {max(map(max, own)):.1f}"
            if own
            else "–"
        )

    header = ["questions of people", *map(str, COUNTS)]
    rows = [[words, *(cell(values(rule, count)) for count in COUNTS)] for rule, words in RULES.items()]  # fmt: skip
    by_set = [
        [
            f"{name}, {each.people} questions",
            *(
                " · ".join(
                    cell([[draw[rule] for draw in found[name, count]]])
                    for rule in ("chosen", "multiscale", "recursive")
                )
                if (name, count) in found
                else "–"
                for count in COUNTS
            ),
        ]
        for name, each in zip(names, scored, strict=True)
    ]
    return "\n".join([
        f"Points of {OBJECTIVE} below the best configuration on the questions not used, mean / worst draw: "
        f"{len(names)} sets, {DRAWS} draws of each size. The usual sweep with late vectors; of large sets a seeded "
        "sample of the documents (benchmarks/score_matrices.py). The best is the best by the questions that judge, "
        "which nobody can know beforehand. The prior of a set never comes from that set, nor from another with the "
        "same articles (the three xquad and squad2); the rule has no other constant that was fitted to these sets "
        "but the standard error that it subtracts.\n",
        table(header, rows),
        "",
        "Set by set: the choice · plain multi-scale · `recursive` 1000/200.\n",
        table(header, by_set),
        "",
        "### What generated questions tell\n",
        generated_questions(scored),
        "",
        _racing({each.name: tables_of(each, OBJECTIVE) for each in scored}),
        "",
    ])  # fmt: skip


FEWEST_OF_A_KIND = 5


def generated_questions(scored: Sequence[ScoredSet]) -> str:
    """By kind: how they rank configurations beside people's questions, and what choosing by them alone gives away."""
    rows: dict[str, list[tuple[int, float, float]]] = {}
    for each in scored:
        own = tables_of(each, OBJECTIVE)
        human = own.scores[own.validation].mean(axis=0)
        kinds: dict[str, list[int]] = {"all kinds": list(range(each.people, len(each.queries)))}
        for row in kinds["all kinds"]:
            kinds.setdefault(each.queries[row].types[1], []).append(row)
        for kind, numbers in kinds.items():
            if len(numbers) >= FEWEST_OF_A_KIND:
                means = own.scores[numbers].mean(axis=0)
                regret = 100 * float(human.max() - human[means.argmax()])
                rows.setdefault(kind, []).append(
                    (len(numbers), kendall(human, means) or 0.0, regret)
                )
    return "\n".join([
        f"Kinds with {FEWEST_OF_A_KIND} questions of a set or more. τ: Kendall's rank correlation of the "
        "configurations' means with those on people's questions; regret: points below the best of "
        "what these questions alone put first. No weight of them in the choice lowered its regret on the sets left "
        "out, so they have none: they are there to be reviewed.\n",
        table(
            ["kind", "sets", "questions", "τ, mean (least)", "regret, mean / worst"],
            [
                [
                    kind,
                    str(len(own)),
                    str(sum(count for count, _, _ in own)),
                    f"{np.mean([tau for _, tau, _ in own]):.2f} ({min(tau for _, tau, _ in own):.2f})",
                    f"{np.mean([regret for _, _, regret in own]):.1f} / {max(regret for _, _, regret in own):.1f}",
                ]
                for kind, own in sorted(rows.items())
            ],
        ),
    ])  # fmt: skip


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
        lines += ["", f'["{objective}"]', toml_line("alone", prior.alone)]
        lines += [f'["{objective}".spreads]']
        lines += [toml_line(name, own) for name, own in prior.spreads.items()]
        for lever, values in prior.effects.items():
            lines.append(f'["{objective}".effects."{lever}"]')
            lines += [toml_line(value, effect) for value, effect in values.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sets = [
        scored_set(each, Path(sys.argv[1]))
        for each in ALL_SETS
        if each.available and (Path(sys.argv[1]) / each.folder).is_dir()
    ]
    write_priors(sets, Path(priors_and_shrinkage.__file__).with_name("lever_priors.toml"))

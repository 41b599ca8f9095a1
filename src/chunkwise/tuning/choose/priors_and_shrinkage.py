"""What every configuration is expected to reach on questions not asked yet: means with their noise shrunk."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import spec
from chunkwise.stats.intervals import ScoreMatrix, mean
from chunkwise.tuning.sweep import Configuration

Means = NDArray[np.float64]
"""One number a configuration."""
Levers = Mapping[str, str]
"""Of one configuration: the value of each."""
SPREAD = 0.02
"""How far effects differ from one corpus to the next, where nothing was measured: 2 points."""
_LEAST_SPREAD = 0.01
"""So that enough questions can overrule any prior."""
_SAME = 1e-3
"""Levers that always change together share what they do: of as many configurations as this share, they do nothing."""
_DIGITS = 9
"""Of expected means: beyond them they depend on the order of adding up."""


@dataclass(frozen=True, slots=True)
class LeverPrior:
    """What levers did on public question sets."""

    effects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By lever and value: what it adds to the objective on average."""
    spreads: Mapping[str, float] = field(default_factory=dict)
    """By lever: how far that differs from one corpus to the next, a standard deviation."""
    alone: float = SPREAD
    """The same for what no lever explains."""

    def of(self, levers: Sequence[Levers]) -> Means:
        """What is expected of each configuration before a question is asked, but for a constant."""
        return np.array([
            sum(self.effects.get(name, {}).get(value, 0.0) for name, value in lever.items()) for lever in levers
        ], dtype=np.float64)  # fmt: skip

    def variance(self, name: str) -> float:
        return max(self.spreads.get(name, SPREAD), _LEAST_SPREAD) ** 2

    @property
    def variance_alone(self) -> float:
        return max(self.alone, _LEAST_SPREAD) ** 2


NO_PRIOR = LeverPrior()


@cache
def public_priors() -> Mapping[str, LeverPrior]:
    """Those that were measured on public question sets, by objective."""
    file = resources.files("chunkwise") / "tuning" / "choose" / "lever_priors.toml"
    return {
        objective: LeverPrior(own["effects"], own["spreads"], own["alone"])
        for objective, own in tomllib.loads(file.read_text("utf-8")).items()
    }


def shared_levers(configuration: Configuration) -> dict[str, str]:
    """The levers that a configuration has in common with others, each with its value.

    Several sizes at once are searched by words, by vectors or by both, as chunks are; their weights are a lever of
    their own.
    """
    levers = dict(configuration.levers)
    if "retriever" not in levers:
        return levers
    name = searched_by(configuration.retriever)
    if levers.get("weights") == "usual" and not is_multiscale(configuration.retriever):
        del levers["weights"]
    return levers | {"retriever": name}


def is_multiscale(retriever: str) -> bool:
    """Whether it searches several sizes at once."""
    return retriever.partition("(")[0].strip() == "multiscale"


def searched_by(retriever: str) -> str:
    """The name of a retriever of chunks; of several sizes, that of the one that goes by words, vectors or both, too."""
    name, given = spec.parse(retriever)
    if not is_multiscale(retriever):
        return name
    if not given.get("dense", 0.5):
        return "bm25"
    return "hybrid" if given.get("words", 1) else "dense"


class LeverEffects:
    """Which part of the differences between configurations is each lever's, by least squares over all of them."""

    def __init__(self, levers: Sequence[Levers]) -> None:
        pairs = list(dict.fromkeys(pair for lever in levers for pair in lever.items()))
        has = np.array(
            [[float(lever.get(name) == value) for name, value in pairs] for lever in levers]
        )
        varied = [at for at in range(len(pairs)) if 0 < has[:, at].sum() < len(levers)]
        self.pairs = [pairs[at] for at in varied]
        """Lever and value, of those that some configurations have and others have not."""
        own = has[:, varied].reshape(len(levers), -1)
        self.design: ScoreMatrix = own - own.mean(axis=0)
        """Configurations × pairs."""
        self._solved = np.linalg.solve(
            self.design.T @ self.design + _SAME * np.eye(len(varied)), self.design.T
        )

    def of(self, rows: ScoreMatrix) -> ScoreMatrix:
        """Rows × pairs: what each value adds in every row of scores."""
        result: ScoreMatrix = rows @ self._solved.T
        return result

    def places(self) -> dict[str, list[int]]:
        """Of each lever its pairs."""
        result: dict[str, list[int]] = {}
        for at, (name, _) in enumerate(self.pairs):
            result.setdefault(name, []).append(at)
        return result


class Shrunk(NamedTuple):
    """Means with their noise shrunk."""

    means: Means
    worth: float
    """As many questions as what was thought beforehand counts for."""


def expected_means(
    scores: ScoreMatrix,
    levers: Sequence[Levers],
    prior: LeverPrior = NO_PRIOR,
    level: float = 0.0,
) -> Shrunk:
    """Of each configuration, from questions × configurations, none missing, more is better.

    A score is what its question gives to all configurations, what the values of the configuration's levers add, what
    it adds alone, and noise. What was not expected beforehand of a lever, and of a configuration alone, is believed by
    the share σ² / (σ² + s² / n): σ is how far it differs from corpus to corpus, s how far from question to question,
    n the number of questions. σ is larger where these questions clearly differ more than was thought. So with many
    questions the expected means are the means.
    """
    questions, width = scores.shape
    if not questions:  # what was thought beforehand, around the level
        before = prior.of(levers)
        return Shrunk(np.round(before - before.mean() + level, _DIGITS) + 0.0, np.inf)
    means = np.array([mean(column) for column in scores.T])
    before = prior.of(levers)
    effects = LeverEffects(levers)
    # How hard a question is does not matter for the choice.
    rows = scores - scores.mean(axis=1, keepdims=True) - (before - before.mean())
    values = effects.of(rows)
    rest = rows - values @ effects.design.T
    # One question that was not seen is as unlike the others as scores allow.
    unseen = float(np.ptp([0.0, 1.0, scores.min(), scores.max()])) ** 2 / 4 / (questions + 1)
    expected = before - before.mean() + means.mean()
    noise = truth = 0.0
    for name, places in effects.places().items():
        own, design = values[:, places], effects.design[:, places]
        spread = _variance(own) + unseen / len(places)
        sure = max(prior.variance(name), _seen(own.mean(axis=0), spread / questions))
        expected = expected + design @ own.mean(axis=0) * _share(sure, spread, questions)
        weight = float((design**2).sum()) / width
        noise, truth = noise + spread * weight, truth + sure * weight
    spread = _variance(rest) + unseen
    sure = max(prior.variance_alone, _seen(rest.mean(axis=0), spread / questions))
    expected = expected + rest.mean(axis=0) * _share(sure, spread, questions)
    worth = (noise + spread) / (truth + sure)
    return Shrunk(np.round(expected, _DIGITS) + 0.0, worth)


def _variance(rows: ScoreMatrix) -> float:
    """From question to question, the mean over all columns."""
    return float(rows.var(axis=0, ddof=1).mean()) if len(rows) > 1 and rows.size else 0.0


_CLEAR = 4.0
"""Times the variance of noise: what is seen beyond that is no noise, however much less was thought."""


def _seen(effects: Means, noise: float) -> float:
    """How far effects differ on these questions, beyond what noise explains with room to spare."""
    return max(0.0, float((effects**2).mean()) - _CLEAR * noise)


def _share(sure: float, spread: float, questions: int) -> float:
    return sure / (sure + spread / questions)


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """Of every configuration, and what of it was expected beforehand."""

    means: Means
    cautious: Means
    """The same less a standard error: that of the difference to what the prior favors, which so keeps ties."""
    prior: Mapping[str, Mapping[str, float]]
    """By lever and value, of those that were tried; empty: nothing was expected."""
    prior_questions: float | None
    """Weight of the prior in questions; None without a prior."""


def expectation(
    scores: ScoreMatrix,
    configurations: Sequence[Configuration],
    prior: LeverPrior = NO_PRIOR,
    level: float = 0.0,
) -> Expectation:
    """Means, scores and levers of each configuration as `expected_means` has them."""
    levers = [shared_levers(configuration) for configuration in configurations]
    result = expected_means(scores, levers, prior, level)
    tried = {pair for lever in levers for pair in lever.items()}
    told = {
        name: {value: effect for value, effect in values.items() if (name, value) in tried}
        for name, values in prior.effects.items()
    }
    told = {name: values for name, values in told.items() if len(values) > 1}
    is_known = told and np.isfinite(result.worth)
    cautious = result.means - (_standard_errors(scores, prior.of(levers)) if told else 0.0)
    return Expectation(
        result.means, np.round(cautious, _DIGITS) + 0.0, told, result.worth if is_known else None
    )


def _standard_errors(scores: ScoreMatrix, before: Means) -> Means:
    """Of the difference of each configuration to the one that most was expected of beforehand."""
    if len(scores) < 2:
        return np.zeros(scores.shape[1])
    differences = scores - scores[:, [int(before.argmax())]]
    errors: Means = differences.std(axis=0, ddof=1) / np.sqrt(len(scores))
    return errors

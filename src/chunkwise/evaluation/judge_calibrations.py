"""How far a judge can be trusted: its verdicts beside the truth, its best threshold, and what is kept of that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import as_set, counted, format_number, thousands
from chunkwise.core import Score
from chunkwise.evaluation.results import KnownJudge, Results, short_name
from chunkwise.metrics.judges.relevance_judges import NEAR
from chunkwise.metrics.registry import metric_of
from chunkwise.models.home_folder import home
from chunkwise.options import Against
from chunkwise.records.write import text_file
from chunkwise.stats.agreement import agreement
from chunkwise.stats.intervals import Interval, ScoreMatrix, clustered_interval

WEAK = 0.2
"""Kappa under which two judges agree slightly at best (Landis and Koch 1977)."""
MOST_UNSCORED = 0.5
FEWEST_VERDICTS = 20
"""Under this nothing can be said: with ten verdicts kappa may be anything from chance to perfection."""


class Verdict(NamedTuple):
    """What a judge said of one passage, beside what is so."""

    question: str
    is_relevant: bool
    said: Score


class Confusion(NamedTuple):
    """How many passages of each class were called what."""

    relevant_as_relevant: int = 0
    relevant_as_irrelevant: int = 0
    irrelevant_as_relevant: int = 0
    irrelevant_as_irrelevant: int = 0

    @property
    def relevant(self) -> int:
        return self.relevant_as_relevant + self.relevant_as_irrelevant

    @property
    def irrelevant(self) -> int:
        return self.irrelevant_as_relevant + self.irrelevant_as_irrelevant

    @property
    def scored(self) -> int:
        return self.relevant + self.irrelevant


@dataclass(frozen=True, slots=True)
class Cost:
    """What 1,000 verdicts take."""

    calls: float = 0.0
    prompt_tokens: float = 0.0
    output_tokens: float = 0.0
    money: float | None = 0.0
    """US dollars; None: the model's price is not known."""
    minutes: float | None = None
    """None: nothing was asked this time."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The figures of one judge on one set of questions, each with its 95% interval."""

    judge: str
    """Its identity: all its verdicts depend on."""
    name: str
    """llm, similarity, spans, labels."""
    against: Against
    question_set: str
    """A hash of the questions."""
    questions: int
    """With at least one passage that was judged."""
    accuracy: Interval | None
    """Share of the verdicts that are right."""
    kappa: Interval | None
    """1: always right; 0: as often as by chance; None: all passages are of one class, and so are the verdicts."""
    missed: Interval | None
    """Of the relevant passages, the share that was called irrelevant."""
    false_alarms: Interval | None
    """Of the irrelevant passages, the share that was called relevant."""
    confusion: Confusion
    unscored: Mapping[str, int] = field(default_factory=dict)
    """Reasons, and how many passages have no verdict for each."""
    cost: Cost | None = None
    """Per 1,000 verdicts; None: not known."""
    when: str = ""
    """Date and time, UTC."""

    @property
    def verdicts(self) -> int:
        """That were asked for, had or not."""
        return self.confusion.scored + sum(self.unscored.values())

    @property
    def unscored_share(self) -> float:
        return sum(self.unscored.values()) / self.verdicts if self.verdicts else 0.0

    @property
    def weakness(self) -> str:
        """Why its figures say little, in words; empty where they may be read."""
        if self.unscored_share > MOST_UNSCORED:
            return f"{thousands(sum(self.unscored.values()))} of {counted(self.verdicts, 'verdict')} failed"
        if self.kappa is not None and self.kappa.mean < WEAK:
            return f"κ is {format_number(self.kappa.mean, 'number')}, under {as_set(WEAK)}{self._one_word}"
        return ""

    @property
    def _one_word(self) -> str:
        counts = self.confusion
        if not counts.relevant_as_irrelevant + counts.irrelevant_as_irrelevant:
            return "; it calls every passage relevant"
        if not counts.relevant_as_relevant + counts.irrelevant_as_relevant:
            return "; it calls every passage irrelevant"
        return ""


def similarity_identity(embedder: str, threshold: float) -> str:
    """Of a judge by similarity: all its verdicts depend on."""
    return f"similarity:{embedder}:{float(threshold)!r}"


def spans_identity(threshold: float) -> str:
    return f"spans:{float(threshold)!r}"


def calibration(
    verdicts: Sequence[Verdict],
    *,
    judge: str,
    name: str,
    against: Against,
    question_set: str = "",
    cost: Cost | None = None,
    seed: int = 0,
) -> Calibration:
    """The figures of these verdicts; unscored ones are counted and in no figure."""
    scored = [verdict for verdict in verdicts if verdict.said.value is not None]
    groups = _groups(scored)
    right, wrong = groups[:, [0, 3]].sum(axis=1), groups[:, [1, 2]].sum(axis=1)

    def share(part: NDArray[np.float64], rest: NDArray[np.float64]) -> Interval | None:
        counts = np.column_stack([part, rest])
        return clustered_interval(counts, _part, worst=(0, 1), best=(1, 0), seed=seed)

    known = agreement([row.is_relevant for row in scored], [row.said.value == 1 for row in scored])
    kappa = _kappa_interval(groups, seed)
    if kappa is not None and known.kappa is not None:
        # Counted in whole numbers it is exact.
        kappa = kappa._replace(mean=known.kappa)
    return Calibration(
        judge, name, against, question_set, len({verdict.question for verdict in verdicts}),
        share(right, wrong), kappa, share(groups[:, 1], groups[:, 0]), share(groups[:, 2], groups[:, 3]),
        Confusion(*(int(count) for count in groups.sum(axis=0))),
        dict(Counter(verdict.said.reason for verdict in verdicts if verdict.said.value is None)), cost,
    )  # fmt: skip


def _groups(scored: Sequence[Verdict]) -> ScoreMatrix:
    """Questions × the four counts of a `Confusion`."""
    row = {
        id: number
        for number, id in enumerate(dict.fromkeys(verdict.question for verdict in scored))
    }
    table = np.zeros((len(row), 4))
    for verdict in scored:
        wrong = verdict.is_relevant != (verdict.said.value == 1)
        column = int(wrong) if verdict.is_relevant else 3 - int(wrong)
        table[row[verdict.question], column] += 1
    return table


def _kappa_interval(groups: ScoreMatrix, seed: int) -> Interval | None:
    """With a question that was not seen: as many of its passages are relevant as of the others, all judged wrong, or
    all judged right."""
    relevant, irrelevant = float(groups[:, :2].sum()), float(groups[:, 2:].sum())
    worst, best = (0.0, relevant, irrelevant, 0.0), (relevant, 0.0, 0.0, irrelevant)
    return clustered_interval(groups, _kappa, worst=worst, best=best, seed=seed)


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def _part(counts: ScoreMatrix) -> NDArray[np.float64]:
    return _share(counts[:, 0], counts.sum(axis=1))


def _kappa(counts: ScoreMatrix) -> NDArray[np.float64]:
    return kappa_of(*counts.T)


def kappa_of(
    both: NDArray[np.float64],
    missed: NDArray[np.float64],
    false: NDArray[np.float64],
    neither: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Cohen's, of many tables of counts at once; NaN where chance alone makes the two agree."""
    total = both + missed + false + neither
    chance = (both + missed) * (both + false) + (false + neither) * (missed + neither)
    return _share(total * (both + neither) - chance, total**2 - chance)


class Threshold(NamedTuple):
    """A cosine from which a passage is best called relevant."""

    value: float
    kappa: float
    """On the very passages it was chosen by: somewhat too good."""
    kappa_elsewhere: float | None
    """Chosen on one half of the questions, measured on the other, both ways; None: too few questions."""


def best_threshold(
    cosines: Sequence[float], is_relevant: Sequence[bool], questions: Sequence[str]
) -> Threshold | None:
    """The line with the highest kappa, about half-way between the two cosines it parts, with as few digits as tell it
    from both; None: there is one class only."""
    known = ~np.isnan(np.asarray(cosines, dtype=np.float64))
    near = np.asarray(cosines, dtype=np.float64)[known]
    truth = np.asarray(is_relevant, dtype=bool)[known]
    result = _best(near, truth)
    if result is None:
        return None
    number = {id: at for at, id in enumerate(dict.fromkeys(questions))}
    half = np.array([number[id] % 2 for id in questions])[known]
    return Threshold(*result, _elsewhere(near, truth, half))


def _elsewhere(
    near: NDArray[np.float64], truth: NDArray[np.bool_], half: NDArray[np.int64]
) -> float | None:
    called = np.zeros(len(near), dtype=bool)
    for own in (0, 1):
        chosen = _best(near[half == own], truth[half == own])
        if chosen is None:
            return None
        called[half != own] = near[half != own] >= chosen[0]
    return agreement(truth.tolist(), called.tolist()).kappa


def _best(near: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float] | None:
    """The line and its kappa."""
    relevant, irrelevant = int(truth.sum()), int((~truth).sum())
    if not relevant or not irrelevant:
        return None
    order = np.argsort(-near, kind="stable")
    ranked = near[order]
    both = np.cumsum(truth[order]).astype(np.float64)
    false = np.arange(1, len(near) + 1) - both
    kappa = kappa_of(both, relevant - both, false, irrelevant - false)
    # A line can only be drawn between two cosines that differ; behind the last all are called relevant.
    parts = np.append(ranked[:-1] > ranked[1:], True)
    kappa[~parts] = -np.inf
    at = int(np.argmax(kappa))
    below = ranked[at + 1] if at + 1 < len(ranked) else None
    return _round(below, float(ranked[at])), float(kappa[at])


def _round(below: float | None, above: float) -> float:
    """A short number over the one and at most the other: written down, it draws the same line."""
    middle = above if below is None else (float(below) + above) / 2
    for digits in range(2, 16):
        short = round(middle, digits)
        if (below is None or below + NEAR < short) and short <= above:
            return short
    return middle


def calibrations_file() -> Path:
    return home() / "calibrations.json"


def known_calibration(judge_identity: str, question_set: str = "") -> Calibration | None:
    """The one on these questions if it has verdicts enough, else the one with the most, of equals the latest; None:
    this judge was never measured here."""

    def worth(each: Calibration) -> tuple[bool, int, str]:
        is_own = each.question_set == question_set and each.confusion.scored >= FEWEST_VERDICTS
        return is_own, each.confusion.scored, each.when

    known = (item for item in _read(calibrations_file()) if item.judge == judge_identity)
    return max(known, key=worth, default=None)


def same_calibration(judge: str, against: Against, question_set: str) -> Calibration | None:
    """What was measured before of this judge on these very questions."""
    key = (judge, against, question_set)
    return next((item for item in _read(calibrations_file()) if _key(item) == key), None)


def keep_calibration(calibration: Calibration) -> bool:
    """Writes it down, unless a larger one of the same judge on the same questions is there; whether it did."""
    path = calibrations_file()
    known = {_key(item): item for item in _read(path)}
    before = known.get(_key(calibration))
    if before is not None and before.confusion.scored > calibration.confusion.scored:
        return False
    now = datetime.now(UTC).isoformat(timespec="seconds")
    known[_key(calibration)] = replace(calibration, when=calibration.when or now)
    rows = msgspec.to_builtins([known[key] for key in sorted(known)])
    text = json.dumps({"version": 1, "calibrations": rows}, indent=1)
    with text_file(path) as out:
        out.write(text + "\n")
    return True


def _key(calibration: Calibration) -> tuple[str, str, str]:
    return calibration.judge, calibration.against, calibration.question_set


class _File(msgspec.Struct):
    version: Literal[1]
    calibrations: list[Calibration]


def _read(path: Path) -> list[Calibration]:
    """Those of the file; a damaged one is none."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(path.read_bytes(), type=_File).calibrations
    return []


NOT_MEASURED = "not measured: chunkwise testset calibrate"
_AGAINST = {"labels": "human labels", "spans": "gold spans"}


class AskedJudge(NamedTuple):
    """Whose opinion was asked."""

    model: str
    identity: str
    """All its verdicts depend on: by this it is calibrated."""


def calibrations_told(
    judges: Mapping[str, AskedJudge], question_set: str = ""
) -> dict[str, KnownJudge]:
    """What is known here of those that were ever measured, on these questions where it was: no part of the results,
    another machine knows other."""
    return {
        name: KnownJudge(
            known.against, known.question_set == question_set, known.accuracy and known.accuracy.mean,
            known.kappa and known.kappa.mean, known.confusion.scored, known.weakness,
        )
        for name, row in judges.items()
        if (known := known_calibration(row.identity, question_set)) is not None
    }  # fmt: skip


def judged_by(results: Results, metric: str) -> str:
    """One line for a metric of this name; empty: it rests on nobody's opinion."""
    judges = results.data.get("judges")
    judge = _judge_of(metric)
    told = judges.get(judge) if isinstance(judges, dict) else None
    if not isinstance(told, dict):
        return ""
    known = results.calibrations.get(judge)
    return f"judged by {short_name(str(told.get('model')))}; {_measured(known, metric)}"


def _judge_of(metric: str) -> str:
    """Whose opinion a metric is, by its name in a table; empty: nobody's."""
    known = metric_of(metric)
    return known.opinion_of if known else ""


def is_weak(results: Results, metric: str) -> bool:
    """Whether whoever judged is known to be little better than chance: what it praises is not praised."""
    known = results.calibrations.get(_judge_of(metric))
    says_something = known is not None and known.verdicts >= FEWEST_VERDICTS
    return bool(says_something and known and known.weakness and judged_by(results, metric))


def _measured(known: KnownJudge | None, metric: str) -> str:
    if known is None or known.verdicts < FEWEST_VERDICTS:
        few = f"measured with fewer than {counted(FEWEST_VERDICTS, 'verdict')}: chunkwise testset calibrate"
        return few if known is not None and known.same_questions else NOT_MEASURED
    figures = [
        f"{name} {format_number(value, 'number')}"
        for name, value in (("accuracy", known.accuracy), ("κ", known.kappa))
        if value is not None
    ]
    declared = metric_of(metric)
    what = "" if declared and declared.judge else " as a judge of relevance"
    weak = f": weak, {known.weakness}" if known.weakness else ""
    # How a judge fares depends on the documents and on how people ask: figures of other questions are a hint.
    where = "on these questions" if known.same_questions else "measured elsewhere"
    where += f", {counted(known.verdicts, 'verdict')}"
    return f"against {_AGAINST[known.against]}{what}: {', '.join(figures)} ({where}){weak}"

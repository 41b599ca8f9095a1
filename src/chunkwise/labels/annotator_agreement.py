"""How far people agree: Krippendorff's alpha of their grades, Cohen's kappa of each two, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from chunkwise.evaluation.judge_calibrations import kappa_of
from chunkwise.labels.question_labels import JudgedPassage, QuestionLabels
from chunkwise.labels.store import GRADES, RELEVANT
from chunkwise.stats.agreement import agreement, coincidences, krippendorff
from chunkwise.stats.intervals import Interval, clustered_interval

_VALUES = len(GRADES)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two people on the passages that both graded."""

    first: str
    second: str
    passages: int
    same: float | None
    """Share of the passages they say the same of: relevant or not."""
    kappa: Interval | None
    """Of relevant or not; None: chance alone makes them agree, or they share no passage."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """All people together."""

    questions: int
    """Those that several people graded."""
    passages: int
    alpha: Interval | None
    """Of the grades 0 to 3, in their order; passages of one question are no independent witnesses."""
    pairs: tuple[PairAgreement, ...]
    disputed: int
    """Passages with different grades that nobody has decided."""
    relevance_disputed: int
    """Those of them that some call relevant and others not."""


def label_agreement(labels: Sequence[QuestionLabels]) -> LabelAgreement:
    """From what stands now."""
    shared = [
        own
        for question in labels
        if (own := [passage for passage in question.passages if len(passage.grades) > 1])
    ]
    people = sorted(
        {who for judged_passages in shared for passage in judged_passages for who in passage.grades}
    )
    passages = [passage for judged_passages in shared for passage in judged_passages]
    return LabelAgreement(
        len(shared),
        len(passages),
        _alpha(shared),
        tuple(_pair(shared, one, other) for one, other in combinations(people, 2)),
        sum(passage.is_disputed for passage in passages),
        sum(passage.is_relevance_disputed for passage in passages),
    )


def disputed_passages(
    labels: Sequence[QuestionLabels],
) -> list[tuple[QuestionLabels, JudgedPassage]]:
    """What is to be adjudicated: disagreements on whether a passage answers first, then on how well."""
    passages = [
        (label, passage) for label in labels for passage in label.passages if passage.is_disputed
    ]
    return sorted(passages, key=lambda pair: not pair[1].is_relevance_disputed)


def _alpha(shared: Sequence[Sequence[JudgedPassage]]) -> Interval | None:
    if not shared:
        return None
    tables = np.stack(
        [
            coincidences([[*passage.grades.values()] for passage in passages], _VALUES)
            for passages in shared
        ]
    )
    margins = tables.sum(axis=(0, 1))
    worst = np.zeros((_VALUES, _VALUES))
    worst[0, -1] = worst[-1, 0] = 1
    return clustered_interval(
        tables.reshape(len(tables), -1), lambda rows: krippendorff(rows.reshape(-1, _VALUES, _VALUES)),
        worst=worst.ravel(), best=np.diag(margins).ravel(),
    )  # fmt: skip


def _pair(shared: Sequence[Sequence[JudgedPassage]], one: str, other: str) -> PairAgreement:
    both: list[tuple[bool, bool]] = []
    groups: list[list[int]] = []
    for passages in shared:
        pairs = [
            (passage.grades[one] >= RELEVANT, passage.grades[other] >= RELEVANT)
            for passage in passages
            if one in passage.grades and other in passage.grades
        ]
        both += pairs
        groups.append(
            [
                pairs.count((a, b))
                for a, b in ((True, True), (True, False), (False, True), (False, False))
            ]
        )
    known = agreement([yes for yes, _ in both], [yes for _, yes in both])
    kappa = None
    if known.kappa is not None:
        counts = np.array(groups, dtype=np.float64)
        yes, no = counts[:, [0, 1]].sum(), counts[:, [2, 3]].sum()
        # A question that was not seen: as many passages are relevant, and the two agree on none, or on all.
        kappa = clustered_interval(
            counts, _kappa, worst=(0, max(yes, 1), max(no, 1), 0), best=(max(yes, 1), 0, 0, max(no, 1))
        )  # fmt: skip
        kappa = kappa and kappa._replace(mean=known.kappa)
    return PairAgreement(one, other, known.items, known.same, kappa)


def _kappa(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return kappa_of(*counts.T)

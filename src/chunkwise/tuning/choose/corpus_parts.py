"""Whether parts of the corpus want a setting of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from chunkwise.core import Document, Query
from chunkwise.stats.intervals import OUTSIDE, Interval, ScoreMatrix, mean
from chunkwise.stats.paired import PairedDifference, holm_shares, paired_difference
from chunkwise.tuning.choose.score_table import ScoreTable
from chunkwise.tuning.sweep_result import CorpusPart
from chunkwise.tuning.validation import Rows, held_out

FEWEST_QUERIES = 10
"""Questions a part needs to be looked at."""


def corpus_parts(
    score_table: ScoreTable, chosen: int, queries: Sequence[Query], documents: Sequence[Document]
) -> tuple[CorpusPart, ...]:
    """By folder, or by format where all documents are in one; the best is found on the part's validation questions.

    It is compared with the overall choice on the part's test questions, where there are none on folds of its
    validation questions that had no part in finding it; with Holm's correction over the parts.
    """
    rows = {
        name: own
        for name, own in _rows_of(score_table, queries, documents).items()
        if _is_enough(score_table, *own)
    }
    best = {name: _best(score_table, chosen, own[0]) for name, own in rows.items()}
    judged = {name: _judged(score_table, chosen, best[name], own) for name, own in rows.items()}

    def paired(name: str, outside: float) -> PairedDifference:
        difference = paired_difference(*judged[name].T, outside=outside)
        assert difference is not None  # these questions have a score in every column
        return difference

    shares = holm_shares([paired(name, OUTSIDE).p for name in rows])
    return tuple(
        _part(score_table, name, best[name], sum(map(len, rows[name])), judged[name], difference)
        for name, share in zip(rows, shares, strict=True)
        for difference in [paired(name, share).difference]
    )


def _judged(
    score_table: ScoreTable, chosen: int, best: int, rows: tuple[Rows, Rows]
) -> ScoreMatrix:
    """Question by question what the overall choice reaches in a part, and what the best for it does."""
    validation, test = rows
    if len(score_table.test):
        return score_table.scores[test][:, [chosen, best]]
    scores = score_table.scores[validation]
    out = held_out(
        scores,
        lambda some: [_best(score_table, chosen, validation[some]), chosen],
        score_table.seed,
    )
    assert out is not None  # a part has ten questions at least
    return out.scores[:, ::-1]


def small_parts(
    score_table: ScoreTable, queries: Sequence[Query], documents: Sequence[Document]
) -> dict[str, int]:
    """The parts that have too few questions to be looked at, with their number."""
    result = _rows_of(score_table, queries, documents).items()
    return {
        name: sum(map(len, rows)) for name, rows in result if not _is_enough(score_table, *rows)
    }


def _rows_of(
    score_table: ScoreTable, queries: Sequence[Query], documents: Sequence[Document]
) -> dict[str, tuple[Rows, Rows]]:
    """The validation and the test questions of each part that has any question."""
    part_of = _parts_of(documents)
    rows: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        if query.references and (name := part_of.get(query.references[0].doc_id)) is not None:
            rows.setdefault(name, []).append(number)
    return {
        name: (np.intersect1d(score_table.validation, own), np.intersect1d(score_table.test, own))
        for name, own in sorted(rows.items())
    }


def _is_enough(score_table: ScoreTable, validation: Rows, test: Rows) -> bool:
    judges = len(test) > 0 or not len(score_table.test)
    return len(validation) + len(test) >= FEWEST_QUERIES and len(validation) > 0 and judges


def _best(score_table: ScoreTable, chosen: int, validation: Rows) -> int:
    means = [mean(column) for column in score_table.better(validation, score_table.entrants).T]
    # Of equal ones the overall choice, so that nothing is gained where nothing differs.
    return max(
        zip(means, score_table.entrants, strict=True), key=lambda own: (own[0], own[1] == chosen)
    )[1]


def _part(
    score_table: ScoreTable,
    name: str,
    best: int,
    questions: int,
    judged: ScoreMatrix,
    difference: Interval,
) -> CorpusPart:
    gain, *ends = (score_table.sign * end + 0.0 for end in difference)
    low, high = sorted(ends)
    configuration = score_table.outcomes[best].configuration
    chosen_mean, best_mean = (mean(column) for column in judged.T)
    return CorpusPart(
        name, questions, configuration.key, configuration.label, best_mean, chosen_mean, gain, low, high,
        worth_it=low > 0,
    )  # fmt: skip


def _parts_of(documents: Sequence[Document]) -> Mapping[str, str]:
    """The part of each document; empty where there is only one."""
    common = _common_folder([document.id for document in documents])
    by: tuple[Callable[[Document], str], ...] = (
        lambda document: _folder(document.id, common),
        lambda document: document.format,
    )
    for name in by:
        parts = {document.id: name(document) for document in documents}
        if len(set(parts.values())) > 1:
            return parts
    return {}


def _folder(id: str, above: int) -> str:
    """The first folder below the common one; documents beside the folders have none."""
    steps = id.split("/")
    return steps[above] + "/" if len(steps) > above + 1 else "./"


def _common_folder(ids: Sequence[str]) -> int:
    """How many folders all documents are inside of."""
    ways = [id.split("/")[:-1] for id in ids]
    depth = 0
    while ways and all(len(way) > depth and way[depth] == ways[0][depth] for way in ways):
        depth += 1
    return depth

"""Which questions choose (validation) and which judge the choice (test): one split, or cross-validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.core import Query
from chunkwise.stats.intervals import ScoreMatrix, mean

VALIDATION, TEST = "validation", "test"
UNREVIEWED = "unreviewed"
"""The side of generated questions beside enough that people accepted: they neither choose nor judge."""
Rows = NDArray[np.intp]
"""Numbers of questions."""
FEWEST = 4
"""Questions; fewer are not split, and all of them choose."""
_ROUNDING = 1e-9


def split(queries: Sequence[Query], share: float, seed: int) -> tuple[str, ...]:
    """The file's own split where every question has one and both sides occur; else about `share` go to test.

    Question by question, in the order of the file, each goes to the side that its document, its type, both together
    and the whole set have too few of; where that does not decide, a hash of its id does. So every document and type
    is on both sides, and questions added at the end move none of those before them.
    """
    if not 0 <= share < 1:
        raise InvalidParameter(
            f"the share of test questions is {share}; expected 0 (none) to less than 1, such as 0.5"
        )
    own = tuple(TEST if query.split.lower() == TEST else VALIDATION for query in queries)
    if all(query.split for query in queries) and len(set(own)) == 2:
        return own
    if len(queries) < FEWEST or not share:
        return (VALIDATION,) * len(queries)
    asked: Counter[Hashable] = Counter()
    tested: Counter[Hashable] = Counter()
    result: list[str] = []
    for query in queries:
        groups = _groups(query)
        asked.update(groups.keys())
        # Half a question either way is nothing that a group lacks or has too much of.
        lacking = sum(
            weight * (share * asked[group] - tested[group] - 0.5)
            for group, weight in groups.items()
        )
        to_test = lacking > 0
        if abs(lacking) < _ROUNDING:
            to_test = _drawn(query.id, seed) < share
        if len(result) == FEWEST - 1 and len(set(result)) == 1:
            to_test = result[0] == VALIDATION
        result.append(TEST if to_test else VALIDATION)
        if to_test:
            tested.update(groups.keys())
    return tuple(result)


def _groups(query: Query) -> dict[Hashable, float]:
    """What a question is counted in, and how much that weighs: the smallest group most."""
    document = query.references[0].doc_id if query.references else None
    types = query.types
    return {
        ("both", document, types): 4.0,
        ("document", document): 2.0,
        ("types", types): 1.0,
        ("all",): 1.0,
    }


def _drawn(id: str, seed: int) -> float:
    """From 0 to 1, the same for an id wherever it stands."""
    digest = blake2b(f"{seed}\0{id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


FOLDS = 5
REPEATS = 4
"""Ways to divide the questions into folds: with one, much would hang on who sits with whom."""

Choose = Callable[[Rows], Sequence[int]]
"""From numbers of questions to columns: the choice, and what it is compared with."""


class HeldOut(NamedTuple):
    """Scores of what was chosen without the question they are of."""

    scores: ScoreMatrix
    """Questions × what `Choose` hands out, each the mean over the repeats."""
    chosen: dict[int, float]
    """Columns with the share of the folds that chose them, the most frequent first."""


def folds(questions: int, seed: int, repeat: int = 0) -> list[Rows]:
    """Of numbers of questions, in an order drawn by the seed; as many as there are questions for."""
    order = np.random.default_rng([seed, 2, repeat]).permutation(questions)
    return [np.sort(order[first::FOLDS]) for first in range(min(FOLDS, questions))]


def held_out(scores: ScoreMatrix, choose: Choose, seed: int) -> HeldOut | None:
    """`scores`: questions × columns, none missing. None: with fewer than two questions nothing is left to choose by."""
    questions = len(scores)
    if questions < 2:
        return None
    result, counts = [], Counter[int]()
    # Folds of one question each are the same however they are drawn.
    for repeat in range(REPEATS if questions > FOLDS else 1):
        for fold in folds(questions, seed, repeat):
            columns = choose(np.delete(np.arange(questions), fold))
            counts[columns[0]] += 1
            result.append((fold, scores[fold][:, list(columns)]))
    rows = np.concatenate([fold for fold, _ in result])
    values = np.concatenate([own for _, own in result])[np.argsort(rows, kind="stable")]
    each = values.reshape(questions, -1, values.shape[1])
    means = np.array([[mean(column) for column in array.T] for array in each])
    total = sum(counts.values())
    order = sorted(counts, key=lambda column: (-counts[column], column))
    return HeldOut(means, {column: counts[column] / total for column in order})


FEW = 30
"""Questions that choose; of fewer it is said what they can show."""


def few_choose(chose: int) -> str:
    """Said before anything is run; empty: enough of the questions choose."""
    if chose >= FEW:
        return ""
    return f"{counted(chose, 'validation question')} can show only large differences; use {FEW} or more"

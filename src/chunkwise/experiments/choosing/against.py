"""The choice and the common defaults, on questions that did not choose."""

from __future__ import annotations

from chunkwise.evaluation.comparing.comparison import NO_DIFFERENCE
from chunkwise.experiments.choosing.field import Field
from chunkwise.experiments.tuning import Against
from chunkwise.stats.holm import holm
from chunkwise.stats.paired import compare
from chunkwise.stats.table import mean
from chunkwise.stats.ties import LEVEL


def against(field: Field, chosen: int) -> tuple[Against, ...]:
    """Each default with the retriever that suits it best on validation; p after Holm over the defaults.

    Empty without test questions; a choice that is a default is not held against that one, however it is searched.
    """
    found = []
    for name, column in defaults(field).items():
        first, second = (field.scores[field.test, at] for at in (column, chosen))
        paired = compare(first, second, seed=field.seed)
        if paired is not None and name != field.outcomes[chosen].configuration.baseline:
            found.append((name, field.outcomes[column].configuration.key, paired))
    adjusted = holm([paired.p for _, _, paired in found])
    return tuple(
        Against(name, key, *paired.difference, p, _words(field.sign * paired.difference.mean, p))
        for (name, key, paired), p in zip(found, adjusted, strict=True)
    )


def defaults(field: Field) -> dict[str, int]:
    """By name, in the order of the plan; of each the column of the retriever that suits it best on validation.

    Of equally good ones the last, which mixes words and vectors: the stronger one to be held against.
    """
    found: dict[str, int] = {}
    means = {}
    for column in field.entrants:
        name = field.outcomes[column].configuration.baseline
        if not name:
            continue
        means[column] = mean(field.better(field.validation, [column])[:, 0])
        if name not in found or means[column] >= means[found[name]]:
            found[name] = column
    return found


def _words(gain: float, p: float) -> str:
    if p > LEVEL or not gain:
        return NO_DIFFERENCE
    return "better" if gain > 0 else "worse"

"""What of a comparison is shown first: the objective, the four questions and the usual costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chunkwise.base.wording import counted, listed
from chunkwise.evaluation.comparing.comparison import NO_DIFFERENCE, Comparison, Contrast, Tested
from chunkwise.evaluation.comparing.whole_figures import CONTEXT
from chunkwise.evaluation.four_questions import FOUR
from chunkwise.evaluation.verdicts import family
from chunkwise.report.plain_text import one_line

_FEW = 8
"""Measures that are all shown."""
_MOST_NAMED = 4
_QUESTIONS = frozenset(metric for _, metric in FOUR)
_COSTS = frozenset({"chunks", "median_tokens", "storage", CONTEXT})


def first_metrics(comparison: Comparison) -> list[str]:
    """The measures that say whether one run is better; all of them where they are few."""
    every = list(dict.fromkeys(name for each in comparison.contrasts for name in each.metrics))
    objectives = {each.objective for each in comparison.contrasts}
    first = [name for name in every if name in objectives or family(name) in _QUESTIONS]
    return every if len(every) <= _FEW else first


def first_figures(names: Iterable[str]) -> list[str]:
    """Figures of whole runs that answer one of the four questions, or say what a run costs."""
    return [name for name in names if name in _COSTS or family(name) in _QUESTIONS]


def behind(contrast: Contrast, shown: Iterable[str]) -> list[str]:
    """What the measures that are not shown say: by which of them a run is better, and how many show nothing."""
    rest = {name: each for name, each in contrast.metrics.items() if name not in set(shown)}
    verdicts = dict.fromkeys(each.verdict for each in rest.values())
    told = [_by(word, rest) for word in sorted(verdicts) if word != NO_DIFFERENCE]
    if silent := sum(each.verdict == NO_DIFFERENCE for each in rest.values()):
        told.append(f"{NO_DIFFERENCE} by {counted(silent, 'measure')}")
    return told


def _by(word: str, rest: Mapping[str, Tested]) -> str:
    names = [one_line(name, 40) for name, each in rest.items() if each.verdict == word]
    return f"{word} by {listed(names, _MOST_NAMED)}"

"""Whether documents and questions are still what was measured: figures of their own, and questions paired by run."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, one_or_many, percent, thousands
from chunkwise.core import Document, Query
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.scoring import SearchMore
from chunkwise.metrics.metric import CutCounts
from chunkwise.profiling.profile import profile_documents
from chunkwise.stats.control_chart import Fall, paired_falls, unpaired_falls
from chunkwise.text.language import language_of_text
from chunkwise.text.terms import folded, stemmer, stop_words
from chunkwise.tracking.explain_difference import RunChanges, changes_between, common_questions
from chunkwise.tracking.run import KeptQuestion, KeptRun

Embed = Callable[[Sequence[str]], NDArray[np.floating[Any]]]
FAR = 0.6
"""A question may be this near to a test question and still be unlike it, where the test questions are nearer still."""
RARE = 0.05
"""Of the test questions themselves: those that are as far from their nearest as this share of them count as far."""
_FEWEST = 10
"""Test questions of which such a share can be told."""
_FEWEST_COMMON = 6
"""Questions that two runs share, from which on they are compared pair by pair."""
EXAMPLES = 10
_NEAREST = 3
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class DriftFigure:
    """One figure of the corpus, then and now."""

    name: str
    before: float | None
    """None: it is a share of what changed since then."""
    after: float
    is_share: bool = False

    @property
    def words(self) -> str:
        """ "sections 120 → 180 (+50%)"."""
        if self.before is None:
            return f"{self.name}: {percent(self.after)}"
        if self.is_share:
            return f"{self.name} {percent(self.before)} → {percent(self.after)}"
        message = f"{self.name} {thousands(self.before)} → {thousands(self.after)}"
        if not self.before:
            return message
        return f"{message} ({100 * (self.after / self.before - 1):+,.0f}%)"


def corpus_state(documents: Sequence[Document], cuts: CutCounts | None) -> dict[str, Json]:
    """What is remembered of a corpus: numbers and names of languages."""
    total = profile_documents(documents).total
    result: dict[str, Json] = {
        "documents": total.documents, "tokens": total.tokens, "sections": total.sections.count,
        "languages": dict(total.languages),
    }  # fmt: skip
    if cuts is not None and cuts.chunks:
        result["boundary_issues"] = cuts.with_issues / cuts.chunks
    return result


def corpus_drift(
    before: Mapping[str, Json], after: Mapping[str, Json], changes: RunChanges | None = None
) -> tuple[DriftFigure, ...]:
    """What is not as it was; of languages the share of documents in each."""
    figures = []
    for name in ("documents", "tokens", "sections"):
        one, other = _number(before.get(name)), _number(after.get(name))
        if one is not None and other is not None and one != other:
            figures.append(DriftFigure(name, one, other))
    first, second = _shares(before.get("languages")), _shares(after.get("languages"))
    for name in dict.fromkeys([*first, *second]) if first and second else ():
        one, other = first.get(name, 0.0), second.get(name, 0.0)
        if abs(one - other) >= 0.01:
            figures.append(DriftFigure(f"language {name}", one, other, is_share=True))
    one, other = (_number(record.get("boundary_issues")) for record in (before, after))
    if one is not None and other is not None and one != other:
        figures.append(DriftFigure("boundary issues", one, other, is_share=True))
    documents = changes.documents if changes else None
    total = _number(after.get("documents"))
    if documents and total:
        moved = len(documents.added) + len(documents.changed) + len(documents.removed)
        share = moved / (total + len(documents.removed))  # of all that either run had
        figures.append(
            DriftFigure("documents added, changed or removed", None, share, is_share=True)
        )
    return tuple(figures)


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _shares(value: Json) -> dict[str, float]:
    if not isinstance(value, dict):
        return {}
    counts = {name: _number(count) or 0.0 for name, count in value.items()}
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()} if total else {}


@dataclass(frozen=True, slots=True)
class UnlikeQuestion:
    """A question that people asked and that no test question is like."""

    text: str
    similarity: float | None
    """To the nearest test question."""
    nearest: str
    """That test question."""
    new_words: tuple[str, ...]
    documents: tuple[str, ...]
    """Those that are found for it, the best first."""


@dataclass(frozen=True, slots=True)
class QuestionDrift:
    """What people ask against what is tested; shares of the live questions."""

    questions: int
    new_words: float
    """Half their words or more are in no test question."""
    far: float | None
    """They are far from every test question in vector space; None: there are no vectors."""
    found_nothing: float | None
    low_scores: float | None
    """Their best hit scores lower than that of nearly all test questions; None: nobody searched, or all score alike."""
    unlike: float
    """Far from every test question; without vectors those with new words."""
    frequent_new_words: tuple[str, ...]
    examples: tuple[UnlikeQuestion, ...]

    @property
    def words(self) -> str:
        are = one_or_many(self.questions, "is", "are")
        return f"{percent(self.unlike)} of {counted(self.questions, 'live question')} {are} unlike any test question"


def question_drift(
    live: Sequence[Query], tests: Sequence[Query], *, embed: Embed | None = None, search: SearchMore | None = None
) -> QuestionDrift:  # fmt: skip
    """`embed` gives vectors of length 1; `search` asks what is evaluated."""
    language = language_of_text(" ".join(query.text for query in tests))
    known = {word for query in tests for word in _words(query.text, language)}
    own = [_words(query.text, language) for query in live]
    fresh = [tuple(word for stem, word in words.items() if stem not in known) for words in own]
    counts = list(map(len, own))
    is_new = np.array(
        [2 * len(new) >= count > 0 for new, count in zip(fresh, counts, strict=True)], dtype=bool
    )
    near: NDArray[np.float64] | None = None
    at = np.zeros(len(live), dtype=np.int64)
    is_far: NDArray[np.bool_] | None = None
    if embed is not None and live and tests:
        near, at, least = _similarities(live, tests, embed)
        is_far = near < least
    nothing: NDArray[np.bool_] | None = None
    low: NDArray[np.bool_] | None = None
    hits: list[list[Any]] = [[] for _ in live]
    if search is not None and live:
        hits = search([Query(f"live-{n}", query.text) for n, query in enumerate(live)])
        nothing = np.array([not group for group in hits], dtype=bool)
        low = _low_scores(hits, search(tests) if len(tests) >= _FEWEST else [])
    unlike = is_new if is_far is None else is_far
    order = sorted(
        np.flatnonzero(unlike).tolist(),
        key=lambda n: (near[n] if near is not None else -len(fresh[n]), n),
    )
    examples = tuple(
        UnlikeQuestion(
            live[n].text,
            None if near is None else round(float(near[n]), 4),
            tests[int(at[n])].text if near is not None else "",
            fresh[n],
            tuple(dict.fromkeys(hit.doc_id for hit in hits[n]))[:_NEAREST],
        )
        for n in order[:EXAMPLES]
    )
    frequent = Counter(word for group in fresh for word in group)
    return QuestionDrift(
        len(live), _share(is_new) or 0.0, _share(is_far), _share(nothing), _share(low), _share(unlike) or 0.0,
        tuple(word for word, _ in frequent.most_common(EXAMPLES)), examples,
    )  # fmt: skip


def _share(where: NDArray[np.bool_] | None) -> float | None:
    if where is None:
        return None
    return float(where.mean()) if len(where) else 0.0


def _words(text: str, language: str) -> dict[str, str]:
    """By their stems, without those that say nothing and without numbers."""
    stem, small = stemmer(language), stop_words(language)
    result = dict.fromkeys(folded(word) for word in _WORD.findall(text))
    kept = [word for word in result if word not in small and not _DIGITS.fullmatch(word)]
    return {stem(word): word for word in kept}


def _similarities(
    live: Sequence[Query], tests: Sequence[Query], embed: Embed
) -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    """To the nearest test question, which one that is, and what is near enough."""
    own = np.asarray(embed([query.text for query in tests]), dtype=np.float64)
    others = np.asarray(embed([query.text for query in live]), dtype=np.float64)
    among = own @ own.T
    np.fill_diagonal(among, -1.0)
    least = FAR
    if len(tests) >= _FEWEST:
        least = min(FAR, float(np.quantile(among.max(axis=1), RARE)))
    apart = others @ own.T
    return apart.max(axis=1), apart.argmax(axis=1), least


def _low_scores(
    live: Sequence[Sequence[Any]], tests: Sequence[Sequence[Any]]
) -> NDArray[np.bool_] | None:
    best = [max(hit.score for hit in test) for test in tests if test]
    if len(best) < _FEWEST or min(best) == max(best):
        return None
    least = float(np.quantile(best, RARE))
    return np.array([bool(group) and max(hit.score for hit in group) < least for group in live])


class PairedScore(NamedTuple):
    """A question that two runs asked, and its score in each by one metric."""

    then: KeptQuestion
    now: KeptQuestion
    old: float
    new: float

    @property
    def change(self) -> float:
        return self.new - self.old


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """Which questions two runs have in common: these are compared pair by pair, where there are enough."""

    before: KeptRun
    after: KeptRun
    common: tuple[tuple[int, int], ...]
    """Places in both."""

    @classmethod
    def of(cls, before: KeptRun, after: KeptRun) -> PairedRuns:
        changes = changes_between(before, after)
        return cls(before, after, common_questions(before, after, changes))

    @property
    def is_paired(self) -> bool:
        """Few questions in both say little about the many that are in one."""
        fewer = min(len(self.before.questions), len(self.after.questions))
        return len(self.common) >= max(_FEWEST_COMMON, fewer / 2)

    def falls(self, metrics: Sequence[str]) -> list[Fall | None]:
        """Of each metric, paired by question where it has scores by question and the questions are the same."""
        runs = self.before, self.after
        paired = [name for name in metrics if self.is_paired and name in self.after.scores]
        sides = [
            [[_known(run.scores[name][pair[side]]) for name in paired] for pair in self.common]
            for side, run in enumerate(runs)
        ]
        falls = dict(zip(paired, paired_falls(*sides), strict=True)) if paired else {}
        others = [name for name in metrics if name not in falls]
        samples = [[run.sample(name) for name in others] for run in runs]
        falls |= zip(others, unpaired_falls(*samples, family=len(metrics)), strict=True)
        return [falls[name] for name in metrics]

    def moved(self, metric: str) -> list[PairedScore]:
        """Common questions that have both scores, with these."""
        if metric not in self.before.scores or metric not in self.after.scores:
            return []
        first, second = self.before.scores[metric], self.after.scores[metric]
        return [
            PairedScore(self.before.questions[one], self.after.questions[other], before, after)
            for one, other in self.common
            if (before := first[one]) is not None and (after := second[other]) is not None
        ]


def _known(score: float | None) -> float:
    return math.nan if score is None else score

"""What changed from one run to another, how much of a figure's difference came from it, and what likely made it fall.

The difference of a metric is that of its means over all scored questions. It is divided so, and the parts add up to it:

- *questions*: what the means over all questions differ by beyond the means over the common ones. Common is what both
  runs asked in the same words, expected the same of, and scored.
- *documents*: among common questions, the sum of the changes of those that see a document which was added, removed or
  changed (it is referred to, or retrieved in either run), over the number of common questions.
- the rest: that of the other common questions. It is that of the settings or of the versions, whichever changed; of the
  documents, which weigh words and fill ranks for all questions, where neither did; unknown where nothing changed.

Where settings or versions changed beside the documents, questions that see changed documents do not tell them apart:
their part carries all the names.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from chunkwise.base.schema import schema
from chunkwise.base.wording import (
    Kind,
    all_listed,
    counted,
    format_change,
    plural,
    shortened,
    thousands,
)
from chunkwise.evaluation.results import Json
from chunkwise.metrics.registry import lower_is_better, metric_of
from chunkwise.options import IndexOptions, ScoreOptions, SearchOptions
from chunkwise.records.json import json_text, plain
from chunkwise.stats.intervals import Interval
from chunkwise.stats.paired import paired_difference
from chunkwise.tracking.run import KeptQuestion, KeptRun

QUESTIONS, DOCUMENTS, SETTINGS, VERSIONS = "questions", "documents", "settings", "versions"
UNKNOWN = "unknown"
_SHOWN = 40
"""Characters of a setting in a line."""


@dataclass(frozen=True, slots=True)
class SetChange:
    """Which of many things with ids are new, gone or changed."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    @property
    def words(self) -> str:
        """ "+3 ~1 −2"; empty where nothing changed."""
        counts = (("+", self.added), ("~", self.changed), ("−", self.removed))
        return " ".join(f"{sign}{thousands(len(ids))}" for sign, ids in counts if ids)


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A setting or a version that differs; None: it is not there."""

    name: str
    before: Json
    after: Json

    @property
    def words(self) -> str:
        """ "k 5 → 10"."""
        return f"{self.name} {_shown(self.before)} → {_shown(self.after)}"


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What two runs were made with, and how that differs."""

    documents: SetChange | None
    """None: they differ, or may, and which is unknown."""
    questions: SetChange | None
    settings: tuple[ValueChange, ...]
    versions: tuple[ValueChange, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """What changed, a part each; empty: nothing did."""
        texts = []
        for name, change in ((DOCUMENTS, self.documents), (QUESTIONS, self.questions)):
            if change is None:
                texts.append(f"other {name}")
            elif change:
                texts.append(f"{name} {change.words}")
        return (*texts, *(setting.words for setting in (*self.settings, *self.versions)))


@dataclass(frozen=True, slots=True)
class DifferencePart:
    """What one cause adds to the difference."""

    cause: str
    """questions, documents, settings, versions, several of them joined by "or", or "unknown"."""
    amount: float
    questions: int
    """Of how many questions; 0 if the metric is not a mean over questions."""
    words: str
    """As in "12 new questions"."""
    note: str = ""
    """Configurations that are tied with it."""


@dataclass(frozen=True, slots=True)
class DividedDifference:
    """One metric in two runs, and what the difference is made of."""

    before: float
    after: float
    difference: float
    parts: tuple[DifferencePart, ...]
    """Without those of nothing; they add up to the difference."""
    common: int = 0
    """Questions that both runs asked and scored."""
    paired: Interval | None = None
    """The mean difference of the common questions with its 95% interval."""
    is_lower_better: bool = False

    @property
    def words(self) -> str:
        """ "−3.1 points: −2.4 by 12 new questions, −0.7 by changed documents"."""
        kind: Kind = "score" if max(abs(self.before), abs(self.after)) <= 1 else "number"
        message = format_change(self.difference, kind)
        if len(self.parts) == 1:
            return f"{message} by {self.parts[0].words}"
        parts = [f"{format_change(part.amount, kind)} by {part.words}" for part in self.parts]
        return f"{message}: {', '.join(parts)}" if parts else message


@dataclass(frozen=True, slots=True)
class RunDifference:
    """A run against another."""

    before: int
    after: int
    changes: RunChanges
    metrics: Mapping[str, DividedDifference]
    """Of both runs, in the order of the later one."""
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    """Metrics that one run alone has."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; every difference with its sentence."""
        result: dict[str, Any] = plain(self)
        for name, difference in self.metrics.items():
            result["metrics"][name]["words"] = difference.words
        result["changes"]["words"] = list(self.changes.words)
        return result


def changes_between(before: KeptRun, after: KeptRun) -> RunChanges:
    """What differs in documents, questions, settings and versions."""
    documents = _documents(before, after)
    return RunChanges(
        documents,
        _questions(before, after, documents),
        tuple(value for value in _values(before.settings, after.settings) if _counts(value)),
        _values(before.versions, after.versions),
    )


def _counts(setting: ValueChange) -> bool:
    # A judge that only one of the runs asked changed no figure that both have.
    return setting.name != "judge_model" or bool(setting.before and setting.after)


def common_questions(
    before: KeptRun, after: KeptRun, changes: RunChanges
) -> tuple[tuple[int, int], ...]:
    """Places in both runs of the questions that ask and expect the same."""
    changed = {*changes.questions.changed} if changes.questions else set()
    places = {question.id: at for at, question in enumerate(before.questions)}
    return tuple(
        (places[question.id], at)
        for at, question in enumerate(after.questions)
        if question.id in places and question.id not in changed
    )


def _documents(before: KeptRun, after: KeptRun) -> SetChange | None:
    first, second = before.documents, after.documents
    if first is None or second is None:
        same = before.documents_hash == after.documents_hash
        return SetChange() if same and before.documents_hash else None
    return SetChange(
        tuple(id for id in second if id not in first),
        tuple(id for id in first if id not in second),
        tuple(id for id, own in second.items() if id in first and first[id] != own),
    )


def _questions(before: KeptRun, after: KeptRun, documents: SetChange | None) -> SetChange | None:
    if not before.questions and not after.questions:
        return SetChange() if before.questions_hash == after.questions_hash else None
    first = {question.id: question for question in before.questions}
    second = {question.id: question for question in after.questions}
    return SetChange(
        tuple(id for id in second if id not in first),
        tuple(id for id in first if id not in second),
        tuple(
            id
            for id, kept_question in second.items()
            if id in first and not _is_same(first[id], kept_question, documents)
        ),
    )


def _is_same(one: KeptQuestion, other: KeptQuestion, documents: SetChange | None) -> bool:
    """Whether both ask the same and expect the same; what a changed document says anew is the document's doing."""
    if one.text and other.text and one.text != other.text:  # of a sweep's file only ids are known
        return False
    if not one.fingerprint or not other.fingerprint or one.fingerprint == other.fingerprint:
        return True
    return documents is None or bool(_ids(documents) & {*one.documents, *other.documents})


def _ids(change: SetChange) -> set[str]:
    return {*change.added, *change.removed, *change.changed}


def _values(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ValueChange, ...]:
    return tuple(
        ValueChange(name, before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )


def _shown(value: Json) -> str:
    if value is None or value == "":
        return "none"
    text = value if isinstance(value, str) else json_text(value)
    return shortened(text, _SHOWN)


def difference_of(before: KeptRun, after: KeptRun) -> RunDifference:
    """Every metric that both runs have, divided."""
    changes = changes_between(before, after)
    pairing = _Division(before, after, changes)
    metrics = {
        name: found
        for name in after.figures
        if name in before.figures and (found := pairing.divided(name)) is not None
    }
    return RunDifference(
        before.number,
        after.number,
        changes,
        metrics,
        tuple(name for name in before.figures if name not in after.figures),
        tuple(name for name in after.figures if name not in before.figures),
    )


@dataclass(frozen=True, slots=True)
class DividedScores:
    """The sums behind a division, exact."""

    before: Fraction
    after: Fraction
    questions: Fraction
    documents: Fraction
    rest: Fraction
    common: int
    seeing: int
    """Common questions that see a changed document."""


def divided_scores(
    before: Mapping[str, float | None],
    after: Mapping[str, float | None],
    same: set[str],
    seeing: set[str],
) -> DividedScores | None:
    """Scores by question, divided; `same` questions are asked in both runs, `seeing` ones see changed documents.

    None: one of the runs has no score at all.
    """
    first = {id: Fraction(score) for id, score in before.items() if score is not None}
    second = {id: Fraction(score) for id, score in after.items() if score is not None}
    if not first or not second:
        return None
    all_first, all_second = _mean(first.values()), _mean(second.values())
    common = [id for id in second if id in first and id in same]
    if not common:
        return DividedScores(
            all_first, all_second, all_second - all_first, Fraction(0), Fraction(0), 0, 0
        )
    moved = {id: second[id] - first[id] for id in common}
    of_documents = sum((moved[id] for id in common if id in seeing), Fraction(0)) / len(common)
    rest = sum((moved[id] for id in common if id not in seeing), Fraction(0)) / len(common)
    return DividedScores(
        all_first, all_second, all_second - all_first - of_documents - rest, of_documents, rest,
        len(common), sum(id in seeing for id in common),
    )  # fmt: skip


def _mean(values: Any) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


@dataclass(frozen=True, slots=True)
class _Division:
    before: KeptRun
    after: KeptRun
    changes: RunChanges
    same: set[str] = field(default_factory=set)
    seeing: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        moved = _ids(self.changes.documents) if self.changes.documents else set()
        for one, other in common_questions(self.before, self.after, self.changes):
            old, new = self.before.questions[one], self.after.questions[other]
            self.same.add(new.id)
            if moved & {*_seen(new), *_seen(old)}:
                self.seeing.add(new.id)

    def divided(self, metric: str) -> DividedDifference | None:
        scores = [
            dict(
                zip(
                    (question.id for question in run.questions),
                    run.scores.get(metric, ()),
                    strict=False,
                )
            )
            for run in (self.before, self.after)
        ]
        if not all(scores):
            return self._of_whole_runs(metric)
        result = divided_scores(scores[0], scores[1], self.same, self.seeing)
        if result is None:
            return None
        parts = [self._of_questions(result, scores), *self._of_common(result)]
        return DividedDifference(
            float(result.before),
            float(result.after),
            float(result.after - result.before),
            tuple(part for part in parts if part.amount),
            result.common,
            self._paired(scores),
            lower_is_better(metric),
        )

    def _paired(self, scores: Sequence[Mapping[str, float | None]]) -> Interval | None:
        first, second = scores
        pairs = [
            (one, other)
            for id, other in second.items()
            if id in self.same and other is not None and (one := first.get(id)) is not None
        ]
        if not pairs:
            return None
        difference = paired_difference(*zip(*pairs, strict=True))
        return None if difference is None else difference.difference

    def _of_questions(
        self, found: DividedScores, scores: Sequence[Mapping[str, float | None]]
    ) -> DifferencePart:
        if not found.common:
            why = "no question is scored in both runs, so causes can't be isolated"
            return DifferencePart(QUESTIONS, float(found.questions), 0, "other questions", why)
        change = self.changes.questions or SetChange()
        counts = {"new": change.added, "dropped": change.removed, "changed": change.changed}
        messages = [f"{thousands(len(ids))} {name}" for name, ids in counts.items() if ids]
        total = sum(map(len, counts.values()))
        first, second = scores
        once = sum((first.get(id) is None) != (second.get(id) is None) for id in self.same)
        words = f"{all_listed(messages)} {plural(total, 'question')}" if messages else ""
        if once:
            one_run = f"{counted(once, 'question') if not messages else thousands(once)} scored in only one run"
            words = f"{words} and {one_run}" if words else one_run
        return DifferencePart(QUESTIONS, float(found.questions), total + once, words)

    def _of_common(self, scores: DividedScores) -> list[DifferencePart]:
        named = self._named
        if self.changes.documents is None:
            # Which questions see a changed document is unknown: they stay together.
            return [
                self._part(
                    [DOCUMENTS, *named], float(scores.documents + scores.rest), scores.common
                )
            ]
        if self.changes.documents and not named:
            return [self._part([DOCUMENTS], float(scores.documents + scores.rest), scores.common)]
        return [
            self._part([DOCUMENTS, *named], float(scores.documents), scores.seeing),
            self._part(named, float(scores.rest), scores.common - scores.seeing),
        ]

    def _of_whole_runs(self, metric: str) -> DividedDifference | None:
        """A figure that is no mean over questions: whatever changed may have changed it."""
        first, second = (run.figures[metric].mean for run in (self.before, self.after))
        if first is None or second is None:
            return None
        causes = [DOCUMENTS] if self.changes.documents is None or self.changes.documents else []
        asks = self.before.questions_hash and _looks_at_questions(metric)
        if asks and (self.changes.questions is None or self.changes.questions):
            causes.append(QUESTIONS)
        apart = second - first
        parts = (self._part([*causes, *self._named], apart, 0),) if apart else ()
        return DividedDifference(
            first, second, apart, parts, is_lower_better=lower_is_better(metric)
        )

    @property
    def _named(self) -> list[str]:
        own = ((SETTINGS, self.changes.settings), (VERSIONS, self.changes.versions))
        return [name for name, changed in own if changed]

    def _part(self, causes: Sequence[str], amount: float, questions: int) -> DifferencePart:
        if not causes:
            words = "unknown: documents, settings and versions are the same"
            return DifferencePart(UNKNOWN, amount, questions, words)
        names = " or ".join([", ".join(causes[:-1]), causes[-1]] if len(causes) > 1 else causes)
        together = f"{all_listed(causes)} changed together and cannot be separated"
        note = together if len(causes) > 1 else ""
        changes = {SETTINGS: self.changes.settings, VERSIONS: self.changes.versions}.get(names, ())
        words = changes[0].words if len(changes) == 1 else f"changed {names}"
        return DifferencePart(names, amount, questions, words, note)


def _looks_at_questions(metric: str) -> bool:
    """Whether questions can change it; boundary issues are those of the chunks alone."""
    known = metric_of(metric)
    return known is None or known.per == "question" or "references" in known.needs


def _seen(question: KeptQuestion) -> list[str]:
    return [*question.documents, *(hit.doc_id for hit in question.hits)]


_NAMED = 160


_OPTIONS = {
    field.name: field
    for kind in (IndexOptions, SearchOptions, ScoreOptions)
    for field in schema(kind)
}


def likely_cause(
    found: RunDifference, since: int, metric: str, is_lower_better: bool, command: str
) -> tuple[str, str]:
    """What made most of the fall that began in this run, and a command that shows whether it did, if there is one."""
    divided = found.metrics.get(metric)
    sign = 1 if is_lower_better else -1
    parts = [part for part in divided.parts if sign * part.amount > 0] if divided else []
    if not parts:
        messages = found.changes.words
        what = ", ".join(messages) if messages else "no recorded setting changed"
        return f"{what} in run {since}", ""
    part = max(parts, key=lambda difference_part: abs(difference_part.amount))
    return _cause_words(part, since, found), _checked_by(part, found, command)


def _cause_words(part: DifferencePart, since: int, difference: RunDifference) -> str:
    documents = difference.changes.documents
    if part.cause == DOCUMENTS and documents:
        return f"changed documents in run {since} ({documents.words})"
    words = shortened(part.words, _NAMED)
    return f"{words} in run {since}" if part.cause != QUESTIONS else f"{words}, in run {since}"


def _checked_by(part: DifferencePart, difference: RunDifference, command: str) -> str:
    """Where one setting or one package changed, the same again with what it was."""
    if part.cause == SETTINGS and len(difference.changes.settings) == 1:
        (only,) = difference.changes.settings
        if only.name in _OPTIONS and only.before not in (None, ""):
            return with_option(command, _OPTIONS[only.name].flags, str(only.before))
    if part.cause == VERSIONS and len(difference.changes.versions) == 1:
        (only,) = difference.changes.versions
        if only.before and only.name != "python":
            return f"pip install {shlex.quote(f'{only.name}=={only.before}')} && {command}"
    if (
        part.cause not in (DOCUMENTS, QUESTIONS, SETTINGS, VERSIONS)
        and not difference.changes.words
    ):
        return command  # again: what differs without a change is noise
    return ""


def with_option(command: str, flags: Sequence[str], value: str) -> str:
    """The command with this value of an option, in place of the one it has."""
    words = shlex.split(command)
    for at in reversed([at for at, word in enumerate(words) if word in flags]):
        del words[at : at + 2]
    return shlex.join([*words, flags[0], value])

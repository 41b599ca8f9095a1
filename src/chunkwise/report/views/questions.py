"""Questions of an evaluation: each as a row, the worst with what was missed, and how the scores are spread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkwise.base.wording import counted, thousands
from chunkwise.base.wording import score as score_of
from chunkwise.core import Document
from chunkwise.evaluation.results import FoundSpan, Missed, QuestionResult, Results
from chunkwise.report.charts import BAR, Chart, Drawing, Panel, chart, span
from chunkwise.report.sanitize import few_lines

_MOST_HITS = 10
_HIT_CHARACTERS, _HIT_LINES = 360, 3
_MOST_DOCUMENTS = 5
_EDGES = (0.2, 0.4, 0.6, 0.8)
_RANGES = (
    ("0", "none"),
    ("< 0.2", "over 0, under 0.2"),
    ("< 0.4", "0.2 to under 0.4"),
    ("< 0.6", "0.4 to under 0.6"),
    ("< 0.8", "0.6 to under 0.8"),
    ("< 1", "0.8 to under 1"),
    ("1", "the full score"),
)
"""As an axis names them, and as a table does."""
_COLORS = ["var(--zero)", *["var(--part)"] * (len(_RANGES) - 2), BAR]


@dataclass(frozen=True, slots=True)
class JudgedHits:
    """What one judge says of each hit of a question, the best hit first."""

    judge: str
    verdicts: tuple[bool | None, ...]
    """None: it could not tell."""
    relevant_ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question with its scores."""

    id: str
    text: str
    types: tuple[str, ...]
    type_numbers: tuple[int, ...]
    """Places of its types among those of all questions."""
    score: float | None
    why_unscored: str
    scores: Mapping[str, float | None]
    reasons: tuple[str, ...]
    """Why some metrics have no score, each reason once."""
    documents: tuple[str, ...]
    context_tokens: int
    relevant_hits: int
    has_hits: bool
    judged: tuple[JudgedHits, ...]

    @property
    def score_words(self) -> str:
        """Every score in a line."""
        return " · ".join(f"{name} {score_of(value)}" for name, value in self.scores.items())


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """Every question, in the order of the test set."""

    rows: tuple[QuestionRow, ...]
    types: tuple[str, ...]
    names_judges: bool
    """There are several, so each is named beside its verdicts."""


@dataclass(frozen=True, slots=True)
class MissedPassage:
    """Gold text that no hit covers."""

    doc_id: str
    start: int
    end: int
    text: str
    rank: int | None
    """Where it stands further down; None: not among the hits that were looked at."""

    @property
    def goes_on(self) -> bool:
        """Whether the text is only its beginning."""
        return self.end - self.start > len(self.text)


@dataclass(frozen=True, slots=True)
class WrongHit:
    """What was retrieved for a question that did badly."""

    doc_id: str
    start: int
    end: int
    rank: int
    tokens: int
    is_right_document: bool
    relevant: Mapping[str, bool | None]
    text: str
    """How it begins; empty where the document is not known."""

    @property
    def verdicts(self) -> list[tuple[bool | None, list[str]]]:
        """Judges of one mind together: relevant, not relevant, no verdict."""
        by_verdict = [
            (verdict, [judge for judge, own in self.relevant.items() if own is verdict])
            for verdict in (True, False, None)
        ]
        return [(verdict, judges) for verdict, judges in by_verdict if judges]


@dataclass(frozen=True, slots=True)
class WorstQuestion:
    """What was missed, and what took its place."""

    id: str
    text: str
    types: tuple[str, ...]
    score: float | None
    missed: tuple[MissedPassage, ...]
    hits: tuple[WrongHit, ...]
    more_hits: int


@dataclass(frozen=True, slots=True)
class ScoreRanges:
    """How many questions got everything, a part, and nothing."""

    full: int
    between: int
    none: int
    unscored: int
    chart: Chart


def question_table(results: Results) -> QuestionTable | None:
    """None: there are no questions."""
    if not results.questions:
        return None
    types = sorted({type for question in results.questions for type in question.types})
    judges = list(
        dict.fromkeys(
            judge for question in results.questions for hit in question.hits for judge in hit.relevant
        )
    )  # fmt: skip
    rows = tuple(_row(each, results.objective, types, judges) for each in results.questions)
    return QuestionTable(rows, tuple(types), len(judges) > 1)


def _row(
    question: QuestionResult, objective: str, types: Sequence[str], judges: Sequence[str]
) -> QuestionRow:
    return QuestionRow(
        question.id,
        question.text,
        question.types,
        tuple(types.index(type) for type in dict.fromkeys(question.types)),
        question.scores.get(objective),
        question.unscored.get(objective, ""),
        dict(question.scores),
        tuple(dict.fromkeys(question.unscored.values())),
        question.documents[:_MOST_DOCUMENTS],
        question.context_tokens,
        sum(any(hit.relevant.values()) for hit in question.hits),
        bool(question.hits),
        tuple(_judged(question, judges)),
    )


def _judged(question: QuestionResult, judges: Sequence[str]) -> list[JudgedHits]:
    judged = []
    for judge in judges:
        verdicts = tuple(hit.relevant.get(judge) for hit in question.hits)
        if verdicts and (any(each is not None for each in verdicts) or len(judges) == 1):
            ranks = tuple(hit.rank for hit in question.hits if hit.relevant.get(judge))
            judged.append(JudgedHits(judge, verdicts, ranks))
    return judged


def worst_questions(
    results: Results, documents: Mapping[str, Document]
) -> tuple[WorstQuestion, ...]:
    """The worst first; hits have their texts where `documents` has them."""
    by_id = {question.id: question for question in results.questions}
    return tuple(
        _worst(by_id[id], results.objective, documents) for id in results.worst if id in by_id
    )


def _worst(
    question: QuestionResult, objective: str, documents: Mapping[str, Document]
) -> WorstQuestion:
    right = {piece.doc_id for piece in question.missed} or set(question.documents)
    return WorstQuestion(
        question.id,
        question.text,
        question.types,
        question.scores.get(objective),
        missed_passages(question.missed),
        tuple(_hit(hit, right, documents) for hit in question.hits[:_MOST_HITS]),
        max(len(question.hits) - _MOST_HITS, 0),
    )


def missed_passages(missed: Sequence[Missed]) -> tuple[MissedPassage, ...]:
    return tuple(MissedPassage(*piece.passage, piece.text, piece.rank) for piece in missed)


def _hit(hit: FoundSpan, right: set[str], documents: Mapping[str, Document]) -> WrongHit:
    document = documents.get(hit.doc_id)
    text = (hit.summary or document.text[hit.start : hit.end]) if document else ""
    return WrongHit(
        hit.doc_id, hit.start, hit.end, hit.rank, hit.token_count,
        any(place.doc_id in right for place in hit.places), dict(hit.relevant),
        few_lines(text, _HIT_CHARACTERS, _HIT_LINES),
    )  # fmt: skip


def score_ranges(results: Results) -> ScoreRanges | None:
    """None: no question has a score."""
    scores = [question.scores.get(results.objective) for question in results.questions]
    known = [score for score in scores if score is not None]
    if not known:
        return None
    counts = counted_by_range(known)
    full, between, none, unscored = counts[-1], sum(counts[1:-1]), counts[0], len(scores) - len(known)  # fmt: skip
    summary = f"{thousands(full)} with the full score, {thousands(between)} in between, {thousands(none)} with none"
    summary += f", {thousands(unscored)} unscored" if unscored else ""
    return ScoreRanges(
        full, between, none, unscored,
        chart(
            lambda drawing: _columns(counts, drawing),
            f"Questions by {results.objective}: {summary}",
            ("score", "questions"),
            [(name, thousands(count)) for (_, name), count in zip(_RANGES, counts, strict=True)],
        ),
    )  # fmt: skip


def counted_by_range(scores: Sequence[float]) -> list[int]:
    """How many of the scores lie in each range."""
    counts = [0] * len(_RANGES)
    for score in scores:
        at = (
            0 if score <= 0 else len(_RANGES) - 1 if score >= 1 else 1 + bisect_right(_EDGES, score)
        )
        counts[at] += 1
    return counts


def _columns(counts: Sequence[int], drawing: Drawing) -> None:
    panel = Panel(
        drawing, 4, 20, drawing.width - 8, 130, span(0, len(counts)), span(0, max(counts))
    )
    labels = [(at + 0.5, short) for at, (short, _) in enumerate(_RANGES)]
    panel.x_axis(labels, "score of a question", base=True)
    for at, ((_, name), count) in enumerate(zip(_RANGES, counts, strict=True)):
        left, top = panel.x(at + 0.06), panel.y(count)
        width, height = panel.x(at + 0.94) - left, panel.bottom - top
        drawing.bar(left, top, width, height, _COLORS[at], f"{name}: {counted(count, 'question')}")
        drawing.text(left + width / 2, top - 6, thousands(count), anchor="middle")

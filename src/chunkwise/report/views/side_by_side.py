"""The choice of a sweep and a common default side by side: questions with what each retrieved, documents as each cuts
them, and what the cuts break."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from chunkwise.core import Passage
from chunkwise.evaluation.results import Missed
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.metric import CutCounts
from chunkwise.report.lint_report import kind_name
from chunkwise.report.sanitize import clean_lines
from chunkwise.report.views.lint import BY_KIND, CutsView, cuts_view
from chunkwise.report.views.questions import MissedPassage, missed_passages
from chunkwise.report.views.sweep_charts import SweepFigures, cost_of
from chunkwise.tuning.sweep_result import Outcome

_MOST_QUESTIONS = 200
_ROOM = 2_000_000
"""Bytes of HTML for all questions: the page stays one that can be sent by mail."""
_ROW_BYTES, _HIT_BYTES = 1_100, 190
"""Of HTML around the texts of a question and of a hit."""
_MOST_HITS = 10
_AROUND = 160
"""Characters kept before and behind gold text."""
_OPENING = 220
"""Characters shown of a hit without any."""
_MOST_GOLD = 1200
_MOST_DOCUMENTS = 8
_CHARACTERS = 4_000
"""Of each document: enough to see how it is cut."""
_TOTALS = {
    "chunks that begin or end badly": "chunks_with_issues",
    "cuts with an issue": "cuts_with_issues",
}


@dataclass(frozen=True, slots=True)
class RetrievedSpan:
    """A stretch of a document that was handed on."""

    doc_id: str
    start: int
    end: int
    rank: int
    summary: str = ""
    """What a summary says; it stands for places between `start` and `end`."""


@dataclass(frozen=True, slots=True)
class SideResult:
    """What one configuration retrieved for a question."""

    score: float | None
    """The objective; None: unscored."""
    hits: tuple[RetrievedSpan, ...]
    missed: tuple[Missed, ...] = ()
    """Of the gold text, with the rank at which it stands further down."""


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """One question, asked of both."""

    id: str
    text: str
    gold: tuple[Passage, ...]
    chosen: SideResult
    baseline: SideResult


@dataclass(frozen=True, slots=True)
class ComparedDocument:
    """One document with the chunks of both, as offsets into its text."""

    doc_id: str
    chosen: tuple[tuple[int, int], ...]
    baseline: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What a view is made of besides figures; it takes of the texts what it shows, and no more than it has room for."""

    chosen: str
    """What the choice is called."""
    baseline: str
    """What the default it is compared with is called."""
    questions: tuple[ComparedQuestion, ...]
    """The worst of the choice first; some 200 are enough."""
    texts: Mapping[str, str]
    """Whole documents by id; hits of documents that are not here are shown without text."""
    documents: tuple[ComparedDocument, ...] = ()
    cuts: Mapping[str, CutCounts] = field(default_factory=dict)
    """Boundary issues with examples, by the name of the configuration."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A stretch of a text; gold text is marked."""

    text: str
    is_gold: bool = False


@dataclass(frozen=True, slots=True)
class SideHit:
    """A hit with its text."""

    doc_id: str
    start: int
    end: int
    rank: int
    holds_gold: bool
    is_summary: bool
    parts: tuple[TextPart, ...]
    """Empty where the document is not known."""


@dataclass(frozen=True, slots=True)
class SideHits:
    """What one side retrieved, and missed."""

    score: float | None
    hits: tuple[SideHit, ...]
    more_hits: int
    missed: tuple[MissedPassage, ...]


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """One question with both sides."""

    id: str
    text: str
    chosen: SideHits
    baseline: SideHits

    @property
    def difference(self) -> float | None:
        if self.chosen.score is None or self.baseline.score is None:
            return None
        return self.chosen.score - self.baseline.score

    @property
    def kinds(self) -> list[str]:
        """What filters look for."""
        less, score = self.difference, self.chosen.score
        so = (
            ("worse", less is not None and less < 0),
            ("better", less is not None and less > 0),
            ("nothing", score is not None and score <= 0),
        )
        return [name for name, is_so in so if is_so]


@dataclass(frozen=True, slots=True)
class CutPiece:
    """A chunk of a document."""

    shared: str
    """What the chunk before has too: it is stored, embedded and paid for twice."""
    text: str


@dataclass(frozen=True, slots=True)
class CutSide:
    """One document as one side cuts it."""

    chunks: int
    pieces: tuple[CutPiece, ...]
    """As far as the text is shown."""


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """One document as both cut it."""

    doc_id: str
    characters: int
    shown: int
    """Of the characters."""
    chosen: CutSide
    baseline: CutSide


@dataclass(frozen=True, slots=True)
class IssueCount:
    """Issues of one kind in one chunking."""

    share: float
    """For each chunk there is."""
    count: int


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One kind of boundary issue, or all of them."""

    name: str
    help: str
    counts: tuple[IssueCount, ...]
    most: float
    """The share at which a bar is full."""


@dataclass(frozen=True, slots=True)
class IssueTable:
    """What the cuts of the choice break, beside what those of the defaults break."""

    columns: tuple[str, ...]
    rows: tuple[IssueRow, ...]
    absent: tuple[str, ...]
    """Kinds that occur in none."""
    choice_has_chunks: bool

    @property
    def by_kind(self) -> str:
        return BY_KIND


@dataclass(frozen=True, slots=True)
class NamedCuts:
    """Examples of cuts of one configuration."""

    label: str
    cuts: CutsView


@dataclass(frozen=True, slots=True)
class SideBySideView:
    """Questions and documents as the choice and a default treat them."""

    chosen: str
    baseline: str
    questions: tuple[QuestionPair, ...]
    more_questions: int
    """Those that found no room."""
    documents: tuple[DocumentPair, ...]
    cuts: tuple[NamedCuts, ...]


def side_by_side_view(both: SideBySide) -> SideBySideView:
    """As many questions as there is room for, in the order given."""
    questions: list[QuestionPair] = []
    used = 0
    for question in both.questions[:_MOST_QUESTIONS]:
        pair = _question(question, both.texts)
        used += _html_bytes(pair)
        if questions and used > _ROOM:
            break
        questions.append(pair)
    known = [each for each in both.documents if each.doc_id in both.texts][:_MOST_DOCUMENTS]
    return SideBySideView(
        both.chosen,
        both.baseline,
        tuple(questions),
        len(both.questions) - len(questions),
        tuple(_document(each, both.texts[each.doc_id]) for each in known),
        tuple(NamedCuts(label, cuts_view(cuts)) for label, cuts in both.cuts.items()),
    )


def _question(question: ComparedQuestion, texts: Mapping[str, str]) -> QuestionPair:
    sides = (_side(each, question.gold, texts) for each in (question.chosen, question.baseline))
    return QuestionPair(question.id, question.text, *sides)


def _side(side: SideResult, gold: Sequence[Passage], texts: Mapping[str, str]) -> SideHits:
    return SideHits(
        side.score,
        tuple(_hit(hit, gold, texts) for hit in side.hits[:_MOST_HITS]),
        max(len(side.hits) - _MOST_HITS, 0),
        missed_passages(side.missed),
    )


def _hit(hit: RetrievedSpan, gold: Sequence[Passage], texts: Mapping[str, str]) -> SideHit:
    # A summary is text of its own: gold between its first place and its last may lie in none of them.
    own = [
        (each.start, each.end)
        for each in gold
        if each.doc_id == hit.doc_id
        and each.start < hit.end
        and hit.start < each.end
        and not hit.summary
    ]
    text, start, end = texts.get(hit.doc_id), hit.start, hit.end
    if hit.summary:
        text, start, end = hit.summary, 0, len(hit.summary)
    parts = () if text is None else marked_text(text, start, end, own)
    return SideHit(
        hit.doc_id, hit.start, hit.end, hit.rank, bool(own), bool(hit.summary), parts
    )  # fmt: skip


def marked_text(
    text: str, start: int, end: int, gold: Iterable[tuple[int, int]]
) -> tuple[TextPart, ...]:
    """`text[start:end]` with the gold text marked; what lies far from any gold is left out."""
    start, end = max(start, 0), min(end, len(text))
    inside = _merged((max(low, start), min(high, end)) for low, high in gold)
    if not inside:
        more = " …" if end - start > _OPENING else ""
        return (TextPart(clean_lines(text[start : min(end, start + _OPENING)]) + more),)
    parts, at = [], start
    for low, high in inside:
        parts.append(TextPart(_gap(text, at, low, first=at == start)))
        cut = min(high, low + _MOST_GOLD)
        parts.append(
            TextPart(clean_lines(text[low:cut]) + (" …" if cut < high else ""), is_gold=True)
        )
        at = high
    tail = min(end, at + _AROUND)
    parts.append(TextPart(clean_lines(text[at:tail]) + (" …" if tail < end else "")))
    return tuple(part for part in parts if part.text)


def _gap(text: str, start: int, end: int, *, first: bool) -> str:
    """Between two gold texts, or before the first."""
    if end - start <= 2 * _AROUND:
        return clean_lines(text[start:end])
    before = "" if first else clean_lines(text[start : start + _AROUND])
    return f"{before} … {clean_lines(text[end - _AROUND : end])}"


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if low >= high:
            continue
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _html_bytes(pair: QuestionPair) -> int:
    """About so many bytes its row will take."""
    texts = [pair.text, pair.id]
    hits = 0
    for side in (pair.chosen, pair.baseline):
        hits += len(side.hits)
        texts += [hit.doc_id for hit in side.hits]
        texts += [part.text for hit in side.hits for part in hit.parts]
        texts += [piece.text[:420] for piece in side.missed[:3]]
    written = sum(len(escape(text).encode("utf-8", "replace")) for text in texts)
    return _ROW_BYTES + hits * _HIT_BYTES + written


def _document(document: ComparedDocument, text: str) -> DocumentPair:
    return DocumentPair(
        document.doc_id,
        len(text),
        min(len(text), _CHARACTERS),
        _cut_side(text, document.chosen),
        _cut_side(text, document.baseline),
    )


def _cut_side(text: str, spans: Sequence[tuple[int, int]]) -> CutSide:
    pieces, covered = [], 0
    for start, end in sorted(spans):
        if start >= _CHARACTERS:
            break
        end = min(end, _CHARACTERS)
        again = min(max(covered, start), end)
        pieces.append(CutPiece(clean_lines(text[start:again]), clean_lines(text[again:end])))
        covered = max(covered, end)
    return CutSide(len(spans), tuple(pieces))


def issue_table(figures: SweepFigures) -> IssueTable | None:
    """A column a configuration, a row a kind, as shares of the chunks; None: nothing was counted."""
    columns = [
        each
        for each in ([figures.chosen] if figures.chosen else []) + figures.baselines()
        if each.boundary_issues
    ]
    unique = list({each.configuration.key: each for each in columns}.values())
    if not unique:
        return None
    kinds = [kind for kind in KINDS if any(each.boundary_issues.get(kind) for each in unique)]
    most = max((_count(each, kind).share for each in unique for kind in kinds), default=1.0) or 1.0
    rows = [
        IssueRow(name, "Each counted once.", own, max(1.0, *(count.share for count in own)))
        for name, total in _TOTALS.items()
        if all(total in each.boundary_issues for each in unique)
        for own in [tuple(_count(each, total) for each in unique)]
    ]
    rows += [
        IssueRow(kind_name(kind), KINDS[kind], tuple(_count(each, kind) for each in unique), most)
        for kind in kinds
    ]
    return IssueTable(
        tuple(_column(figures, each) for each in unique),
        tuple(rows),
        tuple(kind_name(kind) for kind in KINDS if kind not in kinds),
        not figures.chosen or bool(figures.chosen.boundary_issues),
    )


def _count(outcome: Outcome, kind: str) -> IssueCount:
    count = outcome.boundary_issues.get(kind, 0)
    return IssueCount(count / max(cost_of(outcome, "chunks") or 0.0, 1.0), count)


def _column(figures: SweepFigures, outcome: Outcome) -> str:
    configuration = outcome.configuration
    return "the choice" if configuration.key == figures.tuning.chosen else configuration.baseline

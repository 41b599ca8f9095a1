"""Labeling in the browser: a question with passages in no order that tells who found them, and what was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, thousands
from chunkwise.core import Passage, Query
from chunkwise.labels.annotator_agreement import disputed_passages
from chunkwise.labels.assignment_and_progress import (
    SHARE,
    LabelProgress,
    label_progress,
    next_questions,
    people_needed,
    shuffled,
    tells_apart,
)
from chunkwise.labels.pool import DEPTH, MOST_DEPTH, pool_of
from chunkwise.labels.question_labels import QuestionLabels, labels_of, question_labels
from chunkwise.labels.store import (
    GRADES,
    WITH_PLACE,
    EventKind,
    LabelEvent,
    LabelProblem,
    LabelStore,
    Pool,
    check_name,
)
from chunkwise.report.search_report import marked_words
from chunkwise.report.view import View
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import ApiRequest, NoParameters, NotFound, NotReady
from chunkwise.text.terms import query_terms
from chunkwise.tracking.run import time_text, utc_now

_AROUND = 280
"""Characters shown before and behind a passage, in grey."""
GUIDELINES = Path(".chunkwise") / "labeling-guidelines.md"
"""Shown beside the passages; a project may have one."""
_MOST_GUIDELINES = 20_000
_AT_IT = timedelta(minutes=10)
"""For so long a question that somebody opened is left to them."""


class LabelingRequest(ApiRequest, frozen=True):
    """Who labels, and which question."""

    who: Annotated[str, Meta(description="annotator")] = ""
    id: Annotated[str, Meta(description="question; empty: the next")] = ""
    depth: Annotated[int, Meta(ge=1, le=MOST_DEPTH, description="hits per retriever")] = DEPTH
    share: Annotated[float, Meta(ge=0.0, le=1.0, description="of questions for two people")] = SHARE


@dataclass(frozen=True, slots=True)
class PassageSentence:
    """A sentence, or the part of one that a passage has."""

    start: int
    end: int
    text: str
    is_inside: bool
    """Of the passage; the others stand around it."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where words of the question are in it."""


@dataclass(frozen=True, slots=True)
class BlindPassage:
    """A passage to judge; who found it is not told."""

    doc_id: str
    title: str
    document: int | None
    start: int
    end: int
    sentences: tuple[PassageSentence, ...]
    """With those around it; they join to a stretch of the document."""
    grade: int | None
    """What this person said of it; None: nothing yet."""
    flag: str | None
    """The comment that this person flagged it with, perhaps empty; None: it has no flag."""


@dataclass(frozen=True, slots=True)
class OwnGold:
    """A place that this person selected as the answer."""

    key: str
    doc_id: str
    document: int | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class LabelingView(View):
    """A question with its passages, blind, and how far this person and all are."""

    who: str
    id: str
    """Empty: no question waits for this person."""
    question: str
    types: tuple[str, ...]
    answer: str
    pool: str
    depth: int
    people: int
    """How many are to label it."""
    passages: tuple[BlindPassage, ...]
    gold: tuple[OwnGold, ...]
    state: str
    """nothing, skipped, or empty."""
    last: str
    """The key of what this person said last, which `u` undoes; empty: nothing."""
    waiting: tuple[str, ...]
    """The questions that wait for this person, the most useful first."""
    grades: tuple[str, ...]
    """What each grade says."""
    guidelines: str
    """The project's own words on how to grade; empty: it has none."""


def labeling(project: Project, request: LabelingRequest) -> LabelingView:
    check_name(request.who)
    store = project.labels()
    # Two people who ask at the same moment are given two questions: one chooses and notes it, then the other.
    with store.alone():
        labels = {item.query_id: item for item in labels_of(store)}
        since = time_text(datetime.now(UTC) - _AT_IT)
        waiting = next_questions(
            list(project.queries.values()), labels, request.who, share=request.share,
            informative=_informative(project, labels), opened=store.openings(since),
        )  # fmt: skip
        id = request.id or (waiting[0] if waiting else "")
        query = project.queries.get(id)
        if query is not None:
            store.opened_by(id, request.who)
    if query is None:
        if request.id:
            raise NotFound(f"there is no question {request.id!r:.80} to label")
        return LabelingView(
            request.who, "", "", (), "", "", 0, 0, (), (), "", _last(store, request.who), (),
            tuple(GRADES.values()), "",
        )  # fmt: skip
    pool = _pool(project, store, query, request.depth)
    own = next(iter(question_labels(store.events(id), store.pools(id))), None)
    return LabelingView(
        request.who, id, query.text, query.types, query.answer or "", pool.key, pool.depth,
        people_needed(id, request.share), _passages(project, store, query, pool, own, request.who),
        _gold(project, store, id, request.who), _state(own, request.who), _last(store, request.who, id),
        tuple(waiting), tuple(GRADES.values()), _guidelines(),
    )  # fmt: skip


def _guidelines() -> str:
    """Of a file beside the labels; one that cannot be read is left out."""
    try:
        return GUIDELINES.read_text("utf-8")[:_MOST_GUIDELINES]
    except (OSError, UnicodeDecodeError):
        return ""


def _informative(project: Project, labels: dict[str, QuestionLabels]) -> dict[str, float]:
    """By question, how much labels would tell the two leading runs apart; without two runs nothing."""
    results = [run.results for run in project.runs if run.results is not None]

    def leads(at: int) -> float:
        figure = results[at].summary.get(results[at].objective)
        return -(figure.mean if figure and figure.mean is not None else 0.0)

    best = sorted(range(len(results)), key=leads)[:2]
    if len(best) < 2:
        return {}
    first, second = ({item.id: item for item in results[at].questions} for at in best)
    return {
        id: tells_apart(
            [Passage(hit.doc_id, hit.start, hit.end) for hit in first[id].hits],
            [Passage(hit.doc_id, hit.start, hit.end) for hit in second[id].hits],
            [item.place for item in labels[id].passages] if id in labels else [],
        )
        for id in first
        if id in second
    }


def _pool(project: Project, store: LabelStore, query: Query, depth: int) -> Pool:
    """The one that people judge already, as long as the question is the same."""
    known = [
        item for item in store.pools(query.id) if item.query == query.text and item.depth == depth
    ]
    if known:
        return known[-1]
    index = project.ready_index()
    with project.search_lock:
        made = pool_of(index, query, depth=depth, embedder=project.embedder)
    return store.add_pool(made)


def _passages(
    project: Project,
    store: LabelStore,
    query: Query,
    pool: Pool,
    own: QuestionLabels | None,
    who: str,
) -> tuple[BlindPassage, ...]:
    message = {item.place: item.grades.get(who) for item in own.passages} if own else {}
    flags = {
        item.place: item.comment
        for item in store.standing(query.id)
        if item.kind == "flag" and item.who == who
    }
    mark = _marker(project, query.text)
    shown = []
    for item in shuffled(pool, who):
        place = Passage(item.doc_id, item.start, item.end)
        number = project.corpus.number_of(item.doc_id)
        title = "" if number is None else project.corpus.document(number).title
        shown.append(
            BlindPassage(
                item.doc_id, title or item.doc_id, number, item.start, item.end,
                _sentences(project, place, item.text, mark=mark), message.get(place), flags.get(place),
            )
        )  # fmt: skip
    return tuple(shown)


Mark = Callable[[str], tuple[tuple[int, int], ...]]


def _marker(project: Project, question: str) -> Mark:
    """Finds words of a question in a text, in any of their forms."""
    languages = project.index.source.languages if project.index is not None else ["en"]
    terms = query_terms(question, languages)
    return lambda text: marked_words(text, terms, languages)


def _unmarked(text: str) -> tuple[tuple[int, int], ...]:
    return ()


def _sentences(
    project: Project, place: Passage, text: str, around: int = _AROUND, mark: Mark = _unmarked
) -> tuple[PassageSentence, ...]:
    """Of a passage and what stands around it; of one whose document is gone or has changed, what it was."""
    number = project.corpus.number_of(place.doc_id)
    whole = "" if number is None else project.corpus.document(number).text
    if number is None or whole[place.start : place.end] != text:
        return (PassageSentence(place.start, place.end, text, True, mark(text)),)
    starts = project.corpus.analyzed(number).sentences
    low, high = max(0, place.start - around), min(len(whole), place.end + around)
    first = int(starts.searchsorted(low, "right")) - 1
    last = min(int(starts.searchsorted(high, "left")), len(starts))
    edges = {*starts[max(first, 0) : last].tolist(), place.start, place.end}
    edges.add(int(starts[last]) if last < len(starts) else len(whole))
    return tuple(
        PassageSentence(
            one,
            other,
            whole[one:other],
            place.start <= one and other <= place.end,
            mark(whole[one:other]),
        )
        for one, other in pairwise(sorted(edges))
    )


def _gold(project: Project, store: LabelStore, id: str, who: str) -> tuple[OwnGold, ...]:
    return tuple(
        OwnGold(
            item.key,
            item.doc_id,
            project.corpus.number_of(item.doc_id),
            item.start,
            item.end,
            item.text,
        )
        for item in store.standing(id)
        if item.kind == "gold" and item.who == who
    )


def _state(own: QuestionLabels | None, who: str) -> str:
    if own is None:
        return ""
    return "nothing" if who in own.nothing else "skipped" if who in own.skipped else ""


def _last(store: LabelStore, who: str, id: str | None = None) -> str:
    """What counts and was said last."""
    events = store.events(id)
    gone = {item.undoes for item in events if item.kind == "undo"}
    own = [
        item for item in events if item.who == who and item.kind != "undo" and item.key not in gone
    ]
    return own[-1].key if own else ""


class LabelRequest(ApiRequest, frozen=True):
    """What a person says."""

    key: Annotated[str, Meta(description="unique: sent twice, stored once")] = ""
    kind: Annotated[EventKind, Meta(description="kind of the event")] = "grade"
    who: Annotated[str, Meta(description="name of the labeler")] = ""
    id: Annotated[str, Meta(description="of the question")] = ""
    doc_id: Annotated[str, Meta(description="document")] = ""
    start: Annotated[int, Meta(ge=0, description="first character")] = 0
    end: Annotated[int, Meta(ge=0, description="end")] = 0
    grade: Annotated[Annotated[int, Meta(ge=0, le=3)] | None, Meta(description="0 to 3")] = None
    seconds: Annotated[
        Annotated[float, Meta(ge=0.0, le=10000000.0)] | None, Meta(description="time to answer")
    ] = None
    pool: Annotated[str, Meta(description="the key of the pool")] = ""
    undoes: Annotated[str, Meta(description="key of a withdrawn label")] = ""
    comment: Annotated[str, Meta(max_length=2000, description="comment of a flag")] = ""


@dataclass(frozen=True, slots=True)
class LabelKept(View):
    """A label that is kept; it outlives whatever follows."""

    key: str
    is_new: bool
    last: str
    """What `u` would undo now."""


def keep_label(project: Project, request: LabelRequest) -> LabelKept:
    query = project.queries.get(request.id)
    if query is None:
        raise NotFound(f"there is no question {request.id!r:.80}; it may have been dropped")
    number = project.corpus.number_of(request.doc_id) if request.doc_id else None
    text = ""
    if request.kind in WITH_PLACE:
        if number is None:
            raise NotFound(
                f"there is no document {request.doc_id!r:.80} here; it may have been removed"
            )
        whole = project.corpus.document(number).text
        if not request.start < request.end <= len(whole):
            raise InvalidParameter(
                f"the place is {thousands(request.start)} to {thousands(request.end)}; "
                f"the document has {counted(len(whole), 'character')}"
            )
        text = whole[request.start : request.end]
    store = project.labels()
    event = LabelEvent(
        key=str(request.key), kind=str(request.kind), query_id=query.id, query=query.text, who=str(request.who),  # type: ignore[arg-type]
        when=utc_now(), doc_id=str(request.doc_id), start=request.start, end=request.end, text=text,
        grade=request.grade, seconds=request.seconds, pool=str(request.pool), undoes=str(request.undoes),
        comment=str(request.comment),
    )  # fmt: skip
    try:
        new = store.add(event)
    except LabelProblem as error:
        # The disk is full or the file is locked: a label that is sent again later is kept, so that none is given up.
        raise NotReady(str(error)) from error
    return LabelKept(event.key, bool(new), _last(store, event.who, query.id))


@dataclass(frozen=True, slots=True)
class LabelsView(View):
    """How far labeling is, who did how much, how far people agree."""

    place: str
    progress: LabelProgress


def labels(project: Project, request: NoParameters) -> LabelsView:
    store = project.labels()
    return LabelsView(store.place, label_progress(store, list(project.queries.values())))


@dataclass(frozen=True, slots=True)
class PersonGrade:
    """What one person said."""

    who: str
    grade: int


@dataclass(frozen=True, slots=True)
class PersonFlag:
    """Why one person wants others to look at a passage."""

    who: str
    comment: str


@dataclass(frozen=True, slots=True)
class DisputedPassage:
    """A passage that people graded differently, or that somebody flagged."""

    id: str
    question: str
    doc_id: str
    document: int | None
    start: int
    end: int
    sentences: tuple[PassageSentence, ...]
    grades: tuple[PersonGrade, ...]
    flags: tuple[PersonFlag, ...]
    is_relevance: bool
    """Whether some call it relevant and others not."""


@dataclass(frozen=True, slots=True)
class AdjudicationView(View):
    """What people disagree on; whether a passage answers at all comes first."""

    disputed: tuple[DisputedPassage, ...]
    decided: int
    grades: tuple[str, ...]


def adjudication(project: Project, request: NoParameters) -> AdjudicationView:
    store = project.labels()
    result = labels_of(store)
    flags: dict[tuple[str, Passage], list[PersonFlag]] = {}
    for event in store.standing():
        if event.kind == "flag":
            key = event.query_id, event.place
            flags.setdefault(key, []).append(PersonFlag(event.who, event.comment))
    shown = disputed_passages(result)
    known = {(own.query_id, item.place) for own, item in shown}
    shown += [
        (own, item)
        for own in result
        for item in own.passages
        if item.adjudicated is None
        and (key := (own.query_id, item.place)) in flags
        and key not in known
    ]
    disputed = []
    for own, item in shown:
        disputed.append(
            DisputedPassage(
                own.query_id, own.query, item.place.doc_id, project.corpus.number_of(item.place.doc_id),
                item.place.start, item.place.end,
                _sentences(project, item.place, item.text, mark=_marker(project, own.query)),
                tuple(PersonGrade(who, grade) for who, grade in item.grades.items()),
                tuple(flags.get((own.query_id, item.place), ())), item.is_relevance_disputed,
            )
        )  # fmt: skip
    decided = sum(item.adjudicated is not None for own in result for item in own.passages)
    return AdjudicationView(tuple(disputed), decided, tuple(GRADES.values()))


class SentencesRequest(ApiRequest, frozen=True):
    """Which stretch of a document."""

    number: Annotated[int, Meta(ge=0, description="of the document in the list")] = 0
    start: Annotated[int, Meta(ge=0, description="first character")] = 0
    end: Annotated[int, Meta(ge=0, description="end")] = 0
    around: Annotated[int, Meta(ge=0, le=20000, description="characters around it")] = 2000
    q: Annotated[str, Meta(max_length=4000, description="question whose words are marked")] = ""


@dataclass(frozen=True, slots=True)
class SentencesView(View):
    """A stretch of a document in sentences: gold is selected by them."""

    doc_id: str
    title: str
    characters: int
    sentences: tuple[PassageSentence, ...]


def sentences(project: Project, request: SentencesRequest) -> SentencesView:
    document = project.corpus.document(request.number)
    start = min(request.start, max(len(document.text) - 1, 0))
    end = max(start + 1, min(request.end, len(document.text), start + _MOST_SENTENCES))
    place = Passage(document.id, start, end)
    mark = _marker(project, request.q) if request.q else _unmarked
    result = _sentences(project, place, document.text[start:end], request.around, mark)
    return SentencesView(document.id, document.title or document.id, len(document.text), result)


_MOST_SENTENCES = 12_000
"""Characters of a passage."""

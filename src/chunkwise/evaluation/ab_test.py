"""Two configurations on live questions, side by side or interleaved: who is better, looked at as often as one likes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.core import Document, Query, Reference
from chunkwise.evaluation.results import FoundSpan, Results
from chunkwise.metrics.registry import lower_is_better
from chunkwise.records.fields import WrongField, items, record_of, shown, string
from chunkwise.records.read import OnBadRow, Row, Shape, rows, shown_name
from chunkwise.stats.sequential import SequentialMean, State, sequential_mean
from chunkwise.testsets.check import Problem
from chunkwise.testsets.question_record import LIST_FIELDS, TEXT, draft_of
from chunkwise.testsets.reading import placed_drafts
from chunkwise.testsets.testset import Draft, Unreadable

How = Literal["parallel", "interleaved"]
LogKind = Literal["labels", "clicks", "teams"]
Team = Literal["a", "b"]
TOLERANCE = 0.02
"""A smaller difference is none that matters."""
_MOST_DRAFTED = 10
_CLICKS = "clicks"
_TEAM_CLICKS = ("clicks_a", "clicks_b")
_WINNER = "winner"
_WINS = {"a": -1.0, "b": 1.0, "tie": 0.0, "none": 0.0}
_WHEN = ("time", "timestamp", "when", "date")
_SHAPE = Shape(LIST_FIELDS, what="questions")


class _Place(Protocol):
    @property
    def doc_id(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


P = TypeVar("P", bound=_Place)


def team_draft(first: Sequence[P], second: Sequence[P], rng: random.Random) -> list[tuple[P, Team]]:
    """One list of two rankings: in every round each takes its best hit that is not there yet, a coin says who begins.

    Team-draft interleaving (Radlinski, Kurup and Joachims 2008). Hits that share half of the shorter one are the same.
    It ends with the last round in which both had one, so that both have the same chance of a click.
    """
    waiting: dict[Team, list[P]] = {"a": list(first), "b": list(second)}
    drafted: list[tuple[P, Team]] = []
    while len(drafted) < _MOST_DRAFTED:
        order: list[Team] = ["a", "b"]
        rng.shuffle(order)
        for team in order:
            own = waiting[team]
            while own and any(_same(own[0], other) for other, _ in drafted):
                own.pop(0)
            if not own:
                return drafted[: len(drafted) // 2 * 2]
            drafted.append((own.pop(0), team))
    return drafted


def _same(one: _Place, other: _Place) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return one.doc_id == other.doc_id and 2 * shared >= shorter


def credited(drafted: Sequence[tuple[_Place, Team]], clicks: Iterable[_Place]) -> float:
    """1: more clicks on what b put there, -1: on what a did, 0: as many; a click goes to the first hit it lies in."""
    won: dict[Team, int] = {"a": 0, "b": 0}
    for click in clicks:
        for hit, team in drafted:
            if hit.doc_id == click.doc_id and hit.start < click.end and click.start < hit.end:
                won[team] += 1
                break
    return float((won["b"] > won["a"]) - (won["a"] > won["b"]))


class LiveLog(NamedTuple):
    """What was asked, in the order of the log, and what says who answered better."""

    kind: LogKind
    queries: list[Query]
    """Each entry has its number as its id; clicked places are references. None for `teams`."""
    outcomes: list[float]
    """Of `teams`: who won, from -1 (a) to 1 (b)."""
    when: dict[str, str]
    """By the number of the entry, where the log says it."""


def read_live_log(
    name: str, documents: Sequence[Document], on_bad: OnBadRow, kind: LogKind | None = None
) -> LiveLog:
    """Entries with references (labels), with `clicks` (places or ids of documents), or with the clicks of each team.

    Without a `kind` the first entry tells it. A bad entry is a line to `on_bad`, and the rest goes on.
    """
    known = {document.id: len(document.text) for document in documents}
    queries: list[Query] = []
    drafts: list[Draft | Unreadable] = []
    outcomes: list[float] = []
    when: dict[str, str] = {}
    for row in rows(name, _SHAPE):
        where = f"{shown_name(name)}, {row.where}"
        try:
            record = _record(row)
            kind = kind or _kind_of(record)
            if kind == "teams":
                outcomes.append(_outcome(record))
            elif kind == "clicks":
                text = string(record, *TEXT)
                references = tuple(_clicked(record, known))
                queries.append(Query(str(row.number), text, references))
            else:
                drafts.append(_draft(record, row.number, where))
        except WrongField as error:
            on_bad(f"{where}: {error}")
            continue
        at = str(len(outcomes)) if kind == "teams" else str(row.number)
        said = (record.get(field) for field in _WHEN)
        when[at] = next((item for item in said if isinstance(item, str)), "")
    if kind is None:
        raise ChunkwiseError(f"no readable entries in {shown_name(name)}")
    if kind == "labels":
        queries = list(_placed(drafts, documents, on_bad, shown_name(name)))
    return LiveLog(kind, queries, outcomes, when)


def _record(row: Row) -> Mapping[str, Any]:
    if row.problem:
        raise WrongField(row.problem)
    return record_of(row.value, "the entry")


def _kind_of(record: Mapping[str, object]) -> LogKind:
    if _WINNER in record or all(name in record for name in _TEAM_CLICKS):
        return "teams"
    return "clicks" if _CLICKS in record else "labels"


def _outcome(record: Mapping[str, object]) -> float:
    if _WINNER in record:
        text = str(record[_WINNER]).strip().lower()
        if text not in _WINS:
            raise WrongField(f"its winner is {shown(record[_WINNER])}; expected a, b or tie")
        return _WINS[text]
    if all(name in record for name in _TEAM_CLICKS):
        a, b = (_count(record[name], name) for name in _TEAM_CLICKS)
        return float((b > a) - (a > b))
    raise WrongField("no fields clicks_a and clicks_b, or winner")


def _count(value: object, name: str) -> int:
    if isinstance(value, list):
        return len(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise WrongField(f"its {name} is {shown(value)}; expected a number of clicks")
    return value


def _clicked(record: Mapping[str, object], known: Mapping[str, int]) -> Iterator[Reference]:
    """Places that were clicked; a document alone is all of it."""
    given = record.get(_CLICKS)
    for item in [given] if isinstance(given, str | dict) else items(given, _CLICKS):
        place = {"doc_id": item} if isinstance(item, str) else item
        fields: Mapping[str, Any] = record_of(place, "a click")
        id = string(fields, "doc_id", "document", "id")
        if id not in known:
            raise WrongField(f"a click is in {id!r}, which isn't among the documents")
        start, end = fields.get("start", 0), fields.get("end", known[id])
        fits = type(start) is int and type(end) is int and 0 <= start < end <= known[id]
        if not fits:
            raise WrongField(
                f"a click at {shown(start)} to {shown(end)} is outside {id!r}, which has "
                f"{counted(known[id], 'character')}"
            )
        yield Reference(id, start, end)


def _draft(record: Mapping[str, Any], number: int, where: str) -> Draft:
    draft = draft_of(dict(record), number, where)
    if isinstance(draft, Unreadable):
        raise WrongField(draft.reason)
    # The same question comes again and again in a log.
    return replace(draft, question=replace(draft.question, id=str(number)))


def _placed(
    drafts: Iterable[Draft | Unreadable],
    documents: Sequence[Document],
    on_bad: OnBadRow,
    file: str,
) -> tuple[Query, ...]:
    def told(problem: Problem) -> None:
        if problem.dropped:
            on_bad(f"{problem.where}: {problem.text}")

    return placed_drafts(drafts, documents, told, file=file).queries


@dataclass(frozen=True, slots=True)
class ABResult:
    """Which of two configurations answers better, as far as it is shown."""

    a: str
    b: str
    metric: str
    how: How
    sequence: SequentialMean
    """Of the differences b − a, question by question in the order of the log; higher is better for b."""
    unscored: int
    tolerance: float
    when: tuple[str, ...] = ()
    """Of each question that counts, where the log says it."""

    @property
    def state(self) -> State:
        """What is shown the first time that something is; later looks do not take it back."""
        decided = self.sequence.decided_at(self.tolerance)
        return self.sequence.state(-1 if decided is None else decided - 1, self.tolerance)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        sequence = self.sequence
        looks = [
            {"questions": n, "mean": float(sequence.mean[n - 1]), "low": float(sequence.low[n - 1]),
             "high": float(sequence.high[n - 1]), "p": float(sequence.p[n - 1])}
            for n in range(1, len(sequence) + 1)
        ]  # fmt: skip
        return {
            "a": self.a, "b": self.b, "metric": self.metric, "how": self.how, "level": sequence.level,
            "tolerance": self.tolerance, "questions": len(sequence), "unscored": self.unscored, "state": self.state,
            "decided_at": sequence.decided_at(self.tolerance), "more_needed": sequence.more_needed(self.tolerance),
            "looks": looks,
        }  # fmt: skip


Evaluate = Callable[[Sequence[Query]], Results]
"""One configuration on questions."""


def ab_test(
    log: LiveLog,
    a: Evaluate | None = None,
    b: Evaluate | None = None,
    *,
    how: How = "parallel",
    metric: str | None = None,
    tolerance: float = TOLERANCE,
    level: float = 0.95,
    seed: int = 0,
) -> ABResult:
    """The log's questions answered by both, or its own outcomes where people saw both.

    In parallel both are scored by `metric`; interleaved, the one wins whose hits hold more of what was clicked, or of
    the references. The same question is answered once, and counts each time it was asked, with a toss of its own.
    """
    if log.kind == "teams":
        sequence = sequential_mean(log.outcomes, level=level)
        named = tuple(log.when.get(str(n), "") for n in range(1, len(log.outcomes) + 1))
        return ABResult("a", "b", "wins", "interleaved", sequence, 0, tolerance, named)
    if a is None or b is None:
        raise InvalidParameter("missing a and b; only a log with the hits of both can omit them")
    asked: dict[Query, str] = {}
    for query in log.queries:
        asked.setdefault(replace(query, id=""), query.id)
    once = [replace(query, id=id) for query, id in asked.items()]
    first, second = a(once), b(once)
    answered = [(query, asked[replace(query, id="")]) for query in log.queries]
    if how == "interleaved":
        metric = "wins"
        one, other = (
            {question.id: question.hits for question in side.questions} for side in (first, second)
        )
        of_rows = [
            (_win(one.get(id), other.get(id), query, seed), query.id) for query, id in answered
        ]
    else:
        metric = metric or _common_objective(first, second)
        scores = _differences(first, second, metric)
        of_rows = [(scores.get(id), query.id) for query, id in answered]
    known = [(score, id) for score, id in of_rows if score is not None]
    sequence = sequential_mean([score for score, _ in known], level=level)
    return ABResult(
        first.label, second.label, metric, how, sequence, len(of_rows) - len(known), tolerance,
        tuple(log.when.get(id, "") for _, id in known),
    )  # fmt: skip


def _common_objective(first: Results, second: Results) -> str:
    if first.objective != second.objective:
        raise InvalidParameter(
            f"the main metric is {first.objective} for a and {second.objective} for b; choose "
            "one: --metric recall@1000t"
        )
    return first.objective


def _differences(first: Results, second: Results, metric: str) -> dict[str, float]:
    """b − a by question; higher is better for b."""
    sign = -1.0 if lower_is_better(metric) else 1.0
    others = {question.id: question.scores.get(metric) for question in second.questions}
    differences = {}
    for question in first.questions:
        one, other = question.scores.get(metric), others.get(question.id)
        if one is not None and other is not None:
            differences[question.id] = max(-1.0, min(1.0, sign * (other - one)))
    return differences


def _win(
    first: Sequence[FoundSpan] | None, second: Sequence[FoundSpan] | None, query: Query, seed: int
) -> float | None:
    """Of one entry of the log; None: a side has no hits, or nothing says what was wanted."""
    if first is None or second is None or not query.references:
        return None
    # By the entry, so that a longer log changes no earlier toss: copies of one toss would be no more evidence.
    rng = random.Random(f"{seed} {query.id} {query.text}")
    return credited(team_draft(first, second, rng), query.references)

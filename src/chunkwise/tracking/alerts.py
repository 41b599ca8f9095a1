"""What a watch found: a run beside the one it is compared with, and the alerts that stand, are known, or are over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import msgspec

from chunkwise.base.sqlite import Statements
from chunkwise.evaluation.evaluate_system import uncovered_share
from chunkwise.evaluation.results import Json
from chunkwise.records.json import json_text, plain
from chunkwise.stats.control_chart import Alarm
from chunkwise.tracking.drift import PairedScore
from chunkwise.tracking.run import KeptHit, parsed

T = TypeVar("T")
AlertState = Literal["open", "acknowledged", "closed"]
_LOST_MOST = 5
"""Questions that an alert shows."""


@dataclass(frozen=True, slots=True)
class WatchedFigure:
    """One metric of a run against the run it is compared with."""

    before: float
    after: float
    """Means over the questions that are compared."""
    difference: float
    """After minus before."""
    low: float
    high: float
    """Of the difference: its 95% interval."""
    p: float | None = None
    """Of this metric alone; None: other questions, so that there is nothing to pair."""
    pairs: int = 0
    """Questions in both runs; 0: other questions."""
    tolerance: float = 0.0
    """What a fall must amount to."""
    is_lower_better: bool = False
    alarm: Alarm | None = None
    """fall: the test against the other run shows it; decay: the chart of all runs does."""

    @property
    def fall(self) -> float:
        """By how much it is worse; negative: it is better."""
        return self.difference if self.is_lower_better else -self.difference

    @property
    def is_shown_worse(self) -> bool:
        """By its own interval, without regard to other metrics."""
        return self.low > 0 if self.is_lower_better else self.high < 0


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """What a watch found out about a run."""

    run: int
    name: str
    """Of the watch: that of the baseline its runs are compared with."""
    reference: int
    """The run it is compared with; its own number: it is the first."""
    branch: str = ""
    figures: Mapping[str, WatchedFigure] = field(default_factory=dict)
    corpus: Mapping[str, Json] = field(default_factory=dict)
    """Size, languages, sections, boundary issues."""
    live: Mapping[str, Json] = field(default_factory=dict)
    """How far what people ask is from what is tested."""


@dataclass(frozen=True, slots=True)
class TypeFall:
    """How the questions of one type fared."""

    name: str
    questions: int
    difference: float


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A place that was retrieved."""

    doc_id: str
    start: int
    end: int
    text: str = ""
    """Empty unless texts are kept."""


@dataclass(frozen=True, slots=True)
class LostQuestion:
    """A question that lost much, and what is retrieved for it now and was then."""

    id: str
    text: str
    before: float
    after: float
    gained: tuple[RetrievedPassage, ...] = ()
    lost: tuple[RetrievedPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class Alert:
    """A metric that fell, from the run that showed it on."""

    metric: str
    name: str
    """Of the watch."""
    kind: Alarm
    figure: WatchedFigure
    reference: int
    since: int
    """The run since which the metric is down."""
    first_run: int
    """The run that raised it."""
    last_run: int
    """The latest run at which it is open."""
    when: str
    """When it was raised, in UTC."""
    types: tuple[TypeFall, ...] = ()
    """The worst first."""
    lost: tuple[LostQuestion, ...] = ()
    cause: str = ""
    """The likeliest one, in words."""
    check: str = ""
    """A command that checks it."""
    state: AlertState = "open"
    number: int = 0
    """0: not remembered yet."""
    acknowledged: float | None = None
    """The fall that somebody knows of."""
    branch: str = ""
    """Of the run that raised it: another branch has its own alerts."""

    def is_worse_than_known(self) -> bool:
        """By what a fall must amount to, beyond the fall that was acknowledged."""
        known = self.acknowledged
        return known is None or self.figure.fall > known + self.figure.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return plain(self)


def insert_watched(statements: Statements, watched: WatchedRun) -> None:
    statements.execute(
        "insert into watched_runs (run, name, found) values (?, ?, ?)",
        watched.run, watched.name, json_text(watched),
    )  # fmt: skip


def watched_from(statements: Statements, name: str | None) -> list[WatchedRun]:
    """In the order of their runs."""
    return _found(statements, WatchedRun, "watched_runs", "run", name)


def alerts_from(statements: Statements, name: str | None = None) -> list[Alert]:
    """In the order in which they were raised."""
    return _found(statements, Alert, "alerts", "number", name)


def _found(
    statements: Statements, kind: type[T], table: str, order: str, name: str | None
) -> list[T]:
    """The rows of all watches, or of the one of this name."""
    chosen, values = ("", []) if name is None else (" where name = ?", [name])
    rows = statements.rows(f"select found from {table}{chosen} order by {order}", *values)
    return [msgspec.convert(parsed("found", found), kind) for (found,) in rows]


def write_alert(statements: Statements, alert: Alert) -> Alert:
    """With its number, which a new one gets here."""
    if not alert.number:
        (last,) = statements.rows("select coalesce(max(number), 0) from alerts")[0]
        alert = replace(alert, number=int(last) + 1)
    statements.execute(
        "insert into alerts (number, name, found) values (?, ?, ?)"
        " on conflict (number) do update set found = excluded.found",
        alert.number, alert.name, json_text(alert),
    )  # fmt: skip
    return alert


def merged(
    known: Sequence[Alert], raised: Sequence[Alert], watched: WatchedRun
) -> tuple[list[Alert], list[Alert]]:
    """What becomes of the alerts of a watch with a new run: all that are to be written, and those to be told.

    One alert a metric: raised once, told at every run it stands at, quiet from when it is acknowledged until it is
    worse, over when the fall is no longer shown or another run is the reference.
    """
    now = {alert.metric: alert for alert in raised}
    written, alerts = [], []
    for old in known:
        if old.state == "closed" or old.branch not in ("", watched.branch):
            continue
        new = now.pop(old.metric, None) if old.reference == watched.reference else None
        figure = watched.figures.get(old.metric)
        if new is None and figure is None and old.reference == watched.reference:
            continue  # not measured this time
        still = new is not None or (
            old.reference == watched.reference and figure is not None and figure.is_shown_worse
        )
        if not still:
            written.append(replace(old, state="closed", last_run=watched.run))
            continue
        newest = new or replace(old, figure=figure or old.figure)
        own = replace(
            newest, number=old.number, first_run=old.first_run, when=old.when, last_run=watched.run,
            state=old.state, acknowledged=old.acknowledged,
        )  # fmt: skip
        if old.since <= own.since:  # what it began with, not what came on top of it
            own = replace(own, since=old.since, cause=old.cause, check=old.check)
        if own.state == "acknowledged" and own.is_worse_than_known():
            own = replace(own, state="open", acknowledged=None)
        written.append(own)
        if own.state == "open":
            alerts.append(own)
    fresh = [alert for alert in raised if alert.metric in now]
    return [*written, *fresh], [*alerts, *fresh]


def falls_by_type(moved: Sequence[PairedScore], sign: int) -> tuple[TypeFall, ...]:
    """The type that fell most first; `sign` is -1 where higher is better."""
    by_type: dict[str, list[float]] = {}
    for score in moved:
        for name in score.now.types:
            by_type.setdefault(name, []).append(score.change)
    types = [TypeFall(name, len(own), math.fsum(own) / len(own)) for name, own in by_type.items()]
    return tuple(sorted(types, key=lambda fall: -sign * fall.difference))


def lost_most(moved: Sequence[PairedScore], sign: int) -> tuple[LostQuestion, ...]:
    """The few questions that lost most, with what is retrieved for them now and was then."""
    worst = sorted(moved, key=lambda score: -sign * score.change)
    lost = [row for row in worst if sign * row.change > 0][:_LOST_MOST]
    return tuple(
        LostQuestion(now.id, now.text, old, new, *_passages(then.hits, now.hits, now.documents))
        for then, now, old, new in lost
    )


def _passages(
    then: Sequence[KeptHit], now: Sequence[KeptHit], answering: Sequence[str] = ()
) -> tuple[tuple[RetrievedPassage, ...], tuple[RetrievedPassage, ...]]:
    """Gained and lost: those of which the other run found less than half; those of documents that answer first."""

    def apart(own: Sequence[KeptHit], others: Sequence[KeptHit]) -> tuple[RetrievedPassage, ...]:
        return tuple(RetrievedPassage(*hit) for hit in own if uncovered_share(hit, others) > 0.5)

    lost = sorted(apart(then, now), key=lambda hit: hit.doc_id not in answering)
    return apart(now, then), tuple(lost)

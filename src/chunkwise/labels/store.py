"""Labels of a project in one SQLite file: events (a grade, a gold span, a skip, an undo) are added, never changed."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar, get_args

import msgspec

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName
from chunkwise.base.own_files import own_file_above
from chunkwise.base.sqlite import SqliteFile, SqliteFormat, Statements
from chunkwise.base.wording import counted, did_you_mean
from chunkwise.core import Passage
from chunkwise.records.json import json_text
from chunkwise.tracking.run import utc_now

T = TypeVar("T")
EventKind = Literal["grade", "gold", "nothing", "skip", "undo", "adjudicate", "flag"]
KINDS: tuple[EventKind, ...] = get_args(EventKind)
WITH_PLACE: tuple[EventKind, ...] = ("grade", "gold", "adjudicate", "flag")
WITH_GRADE: tuple[EventKind, ...] = ("grade", "adjudicate")
GRADES = {
    0: "off topic",
    1: "on topic, no answer",
    2: "partial answer",
    3: "complete answer",
}
"""What each grade says of a passage."""
RELEVANT = 2
"""The least grade of a passage that holds an answer or a part of one."""
LONGEST_NAME = 80
LONGEST_COMMENT = 2_000


class LabelProblem(ChunkwiseError):
    """Labels cannot be read or written; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEvent:
    """Something a person said; never changed afterwards."""

    key: str
    """Of this event alone, chosen by whoever sends it: what is sent twice is kept once."""
    kind: EventKind
    query_id: str
    query: str
    """The question as it was read."""
    who: str
    when: str
    """In UTC."""
    doc_id: str = ""
    start: int = 0
    end: int = 0
    text: str = ""
    """What stood at the place: by it the place is found again in a document that has changed."""
    grade: int | None = None
    seconds: float | None = None
    """From when it was shown until this was said."""
    pool: str = ""
    """The key of the pool the passage came from; empty: the person found it."""
    undoes: str = ""
    """The key of the event that counts no more."""
    comment: str = ""
    """Why a passage is flagged for others to look at."""

    @property
    def place(self) -> Passage:
        return Passage(self.doc_id, self.start, self.end)


def new_key() -> str:
    return secrets.token_hex(12)


def check_event(event: LabelEvent) -> None:
    """Raises where an event says what none can say."""
    if event.kind not in KINDS:
        hint = did_you_mean(str(event.kind), KINDS, f"allowed: {', '.join(KINDS)}")
        raise InvalidParameter(f"kind is {event.kind!r:.80}; {hint}")
    check_name(event.who)
    for name in ("key", "query_id"):
        if not getattr(event, name).strip():
            raise InvalidParameter(f"{name} is empty; every label needs one")
    if event.kind in WITH_PLACE and (not event.doc_id or not 0 <= event.start < event.end):
        raise InvalidParameter(
            f"the span is {event.doc_id!r:.80}, {event.start} to {event.end}; expected a "
            f"document and start < end"
        )
    if (event.kind in WITH_GRADE) != (event.grade is not None) or event.grade not in (
        None,
        *GRADES,
    ):
        allowed = (
            "a grade is 0, 1, 2 or 3" if event.kind in WITH_GRADE else "only passages have grades"
        )
        raise InvalidParameter(f"grade is {event.grade!r:.20} for {event.kind}; {allowed}")
    if event.seconds is not None and not (math.isfinite(event.seconds) and event.seconds >= 0):
        raise InvalidParameter(f"seconds is {event.seconds!r}; the minimum is 0")
    if event.comment and event.kind != "flag":
        raise InvalidParameter(f"only flags have comments, not {event.kind}")
    if len(event.comment) > LONGEST_COMMENT:
        raise InvalidParameter(
            f"comment has {counted(len(event.comment), 'character')}; the maximum is "
            f"{LONGEST_COMMENT}"
        )
    if (event.kind == "undo") != bool(event.undoes):
        raise InvalidParameter("an undo needs the event to undo, and only an undo has one")


def check_name(who: str) -> None:
    """Names are shown in tables and compared as they are written."""
    if not who.strip() or who != who.strip() or len(who) > LONGEST_NAME or not who.isprintable():
        raise InvalidParameter(
            f"who is {who!r:.100}; expected a one-line name of at most "
            f"{counted(LONGEST_NAME, 'character')}"
        )


def standing(events: Iterable[LabelEvent]) -> list[LabelEvent]:
    """What counts now, in order: undone events are left out, and so is what the same person said of it before."""
    known = list(events)
    gone = {event.undoes for event in known if event.kind == "undo"}
    result: dict[tuple[object, ...], LabelEvent] = {}
    for event in known:
        if event.kind == "undo" or event.key in gone:
            continue
        # A question is skipped, or nothing answers it, as a whole; a passage is graded by itself.
        about = ("whole",) if event.kind in ("nothing", "skip") else (event.kind, *event.place)
        about_all = (event.query_id, event.who, *about)
        result.pop(about_all, None)
        result[about_all] = event
    return list(result.values())


LABELS_VARIABLE = "CHUNKWISE_LABELS"
FOLDER, FILE = ".chunkwise", "labels.db"
WAIT = 10.0
"""Seconds for which another writer is waited for."""
LABELS_FILE = SqliteFormat(
    "file of labels", 0x63686C62, (
        "create table events (number {serial}, key text not null unique, query_id text not null,"
        " undoes text not null, content text not null)",
        "create index events_of_question on events (query_id, number)",
        "create table pools (number {serial}, key text not null unique, query_id text not null,"
        " happened text not null, content text not null)",
        "create index pools_of_question on pools (query_id, number)",
        "create table openings (number {serial}, query_id text not null, who text not null, "
        "happened text not null)",
    ), LabelProblem,
    "restore a backup, or remove it and import an export: chunkwise testset labels import "
    "labels.jsonl",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PooledPassage:
    """A stretch of a document that retrievers found, and how well each did."""

    doc_id: str
    start: int
    end: int
    text: str
    found_by: dict[str, int]
    """The best rank of it by each retriever; nobody who labels is shown this."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What is to be judged for a question: the hits of several retrievers down to a depth, joined where they meet."""

    key: str
    query_id: str
    query: str
    depth: int
    retrievers: tuple[str, ...]
    passages: tuple[PooledPassage, ...]
    when: str


def labels_place(named: str | Path | None = None, folder: str | Path = ".") -> Path:
    """What is named, else `CHUNKWISE_LABELS`, else `.chunkwise/labels.db` here or in the nearest folder above."""
    given = named if named not in (None, "") else os.environ.get(LABELS_VARIABLE, "").strip()
    if given:
        return Path(given).expanduser()
    return own_file_above(Path(folder).resolve(), Path(FOLDER, FILE))


class LabelStore:
    """Events in the order in which they were kept."""

    def __init__(self, path: str | Path, *, wait: float = WAIT) -> None:
        self._database = SqliteFile(Path(path).expanduser(), LABELS_FILE, wait)

    @property
    def place(self) -> str:
        return self._database.shown

    def exists(self) -> bool:
        return self._database.exists()

    def add(self, events: LabelEvent | Iterable[LabelEvent]) -> int:
        """Keeps what is new, all or nothing, and says how many; they are there when this returns, whatever follows."""
        given = [events] if isinstance(events, LabelEvent) else list(events)
        for event in given:
            check_event(event)
        if not given:
            return 0
        with self._database.writing() as statements:
            known = _known_keys(statements, [label_event.key for label_event in given])
            new = list(
                {
                    label_event.key: label_event
                    for label_event in given
                    if label_event.key not in known
                }.values()
            )
            _check_undone(statements, new)
            statements.many(
                "insert into events (key, query_id, undoes, content) values (?, ?, ?, ?)",
                [[event.key, event.query_id, event.undoes, json_text(event)] for event in new],
            )
        return len(new)

    def events(self, query_id: str | None = None) -> list[LabelEvent]:
        """All that was ever said, of all questions or of one, in order."""
        return self._kept("events", LabelEvent, query_id)

    def standing(self, query_id: str | None = None) -> list[LabelEvent]:
        """What counts now."""
        return standing(self.events(query_id))

    def add_pool(self, pool: Pool) -> Pool:
        """Keeps it once, and gives it as it is kept."""
        made = replace(pool, when=pool.when or utc_now())
        with self._database.writing() as statements:
            statements.execute(
                "insert or ignore into pools (key, query_id, happened, content) values (?, ?, ?, "
                "?)",
                made.key, made.query_id, made.when, json_text(made),
            )  # fmt: skip
        return made

    def pools(self, query_id: str | None = None) -> list[Pool]:
        """In the order in which they were made; the last one of a question is the one that is judged."""
        return self._kept("pools", Pool, query_id)

    def opened_by(self, query_id: str, who: str) -> None:
        """Notes that somebody is at a question, so that others are given another one first."""
        with self._database.writing() as statements:
            statements.execute(
                "insert into openings (query_id, who, happened) values (?, ?, ?)", query_id, who, utc_now()
            )  # fmt: skip

    def openings(self, since: str) -> dict[str, str]:
        """By person the question that each opened last, if since this time."""
        if not self.exists():
            return {}
        with self._database.reading() as statements:
            rows = statements.rows(
                "select who, query_id from openings where happened >= ? order by number", since
            )
        return {str(who): str(query_id) for who, query_id in rows}

    def alone(self) -> AbstractContextManager[None]:
        """One at a time of all processes that ask: for what stands in files beside the labels."""
        return self._database.alone()

    def _kept(self, table: str, kind: type[T], query_id: str | None) -> list[T]:
        """What a table has of all questions, or of one, in order."""
        if not self.exists():
            return []
        only, values = ("", []) if query_id is None else (" where query_id = ?", [query_id])
        with self._database.reading() as statements:
            rows = statements.rows(f"select content from {table}{only} order by number", *values)
        try:
            return [msgspec.json.decode(content, type=kind) for (content,) in rows]
        except msgspec.MsgspecError as error:
            raise LabelProblem(
                f"a row of the file of labels {self.place} is damaged: {error}; "
                f"{LABELS_FILE.when_damaged}"
            ) from None

    def __repr__(self) -> str:
        return f"<LabelStore {self.place}: {counted(len(self.events()), 'event')}>"


def _known_keys(statements: Statements, keys: Sequence[str]) -> set[str]:
    result: set[str] = set()
    for at in range(0, len(keys), 500):
        some = keys[at : at + 500]
        marks = ", ".join("?" * len(some))
        rows = statements.rows(f"select key from events where key in ({marks})", *some)
        result |= {str(row[0]) for row in rows}
    return result


def _check_undone(statements: Statements, new: Sequence[LabelEvent]) -> None:
    """Whoever said something may take it back, once."""
    beside = {event.key: event for event in new}
    for event in new:
        if event.kind != "undo":
            continue
        rows = statements.rows("select content from events where key = ?", event.undoes)
        kept = [msgspec.json.decode(content, type=LabelEvent) for (content,) in rows]
        undone = kept[0] if kept else beside.get(event.undoes)
        if undone is None or undone.kind == "undo":
            raise UnknownName(f"there is no label {event.undoes!r:.80} to undo")
        if undone.who != event.who:
            raise InvalidParameter(
                f"{event.who} can't undo a label by {undone.who}; adjudicate it instead"
            )
        if statements.rows("select 1 from events where undoes = ?", event.undoes):
            raise InvalidParameter("this label was undone already")

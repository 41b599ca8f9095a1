"""Labels of a project in one SQLite file: events are added and never changed; several people may write at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.base.wording import counted
from chunkwise.labels.event import LabelEvent, LabelProblem, check_event, standing
from chunkwise.records.json import WrongType, json_text, read_as
from chunkwise.tracking.database import FileKind, Migrations, SqliteDatabase, Statements
from chunkwise.tracking.origin import utc_now

LABELS_VARIABLE = "CHUNKWISE_LABELS"
FOLDER, FILE = ".chunkwise", "labels.db"
WAIT = 10.0
"""Seconds for which another writer is waited for."""
LABELS_FILE = FileKind(
    "file of labels", 0x63686C62, LabelProblem,
    "put a copy in its place, or move it away and take an export in: chunkwise labels import labels.jsonl",
)  # fmt: skip
MIGRATIONS: Migrations = (
    (
        "create table state (id integer primary key, version integer not null)",
        "insert into state (id, version) values (1, 1)",
        "create table events (number {serial}, key text not null unique, kind text not null, query_id text not null,"
        " query text not null, who text not null, happened text not null, doc_id text not null,"
        " start integer not null, end_ integer not null, passage text not null, grade integer, seconds real,"
        " pool text not null, undoes text not null)",
        "create index events_of_question on events (query_id, number)",
        "create table pools (number {serial}, key text not null unique, query_id text not null,"
        " happened text not null, content text not null)",
        "create index pools_of_question on pools (query_id, number)",
        "create table openings (number {serial}, query_id text not null, who text not null, happened text not null)",
    ),
)
"""What was released is never changed: what comes later is a further version."""

_COLUMNS = (
    "key, kind, query_id, query, who, happened, doc_id, start, end_, passage, grade, seconds, pool, undoes"
)  # fmt: skip
_NAMES = (
    "key", "kind", "query_id", "query", "who", "when", "doc_id", "start", "end", "text", "grade", "seconds",
    "pool", "undoes",
)  # fmt: skip
assert set(_NAMES) == {field.name for field in fields(LabelEvent)}


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
    start = Path(folder).resolve()
    for each in (start, *start.parents):
        if (each / FOLDER / FILE).is_file() and (
            each / FOLDER / FILE
        ).stat().st_uid == os.geteuid():
            return each / FOLDER / FILE
        if os.path.lexists(each / ".git") or each == Path.home():
            break
    return start / FOLDER / FILE


class LabelStore:
    """Events in the order in which they were kept."""

    def __init__(self, path: str | Path, *, wait: float = WAIT) -> None:
        self._database = SqliteDatabase(Path(path).expanduser(), MIGRATIONS, wait, LABELS_FILE)

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
            known = _known_keys(statements, [each.key for each in given])
            new = list({each.key: each for each in given if each.key not in known}.values())
            _check_undone(statements, new)
            statements.many(
                f"insert into events ({_COLUMNS}) values ({', '.join('?' * len(_NAMES))})",
                [[getattr(event, name) for name in _NAMES] for event in new],
            )
        return len(new)

    def events(self, query_id: str | None = None) -> list[LabelEvent]:
        """All that was ever said, of all questions or of one, in order."""
        if not self.exists():
            return []
        only, values = ("", []) if query_id is None else (" where query_id = ?", [query_id])
        with self._database.reading() as statements:
            rows = statements.rows(f"select {_COLUMNS} from events{only} order by number", *values)
        return [self._read(LabelEvent, dict(zip(_NAMES, row, strict=True))) for row in rows]

    def standing(self, query_id: str | None = None) -> list[LabelEvent]:
        """What counts now."""
        return standing(self.events(query_id))

    def add_pool(self, pool: Pool) -> Pool:
        """Keeps it once, and gives it as it is kept."""
        made = replace(pool, when=pool.when or utc_now())
        with self._database.writing() as statements:
            statements.execute(
                "insert or ignore into pools (key, query_id, happened, content) values (?, ?, ?, ?)",
                made.key, made.query_id, made.when, json_text(made),
            )  # fmt: skip
        return made

    def pools(self, query_id: str | None = None) -> list[Pool]:
        """In the order in which they were made; the last one of a question is the one that is judged."""
        import json

        if not self.exists():
            return []
        only, values = ("", []) if query_id is None else (" where query_id = ?", [query_id])
        with self._database.reading() as statements:
            rows = statements.rows(f"select content from pools{only} order by number", *values)
        return [self._read(Pool, json.loads(row[0])) for row in rows]

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
        return self._database.alone(lambda _: None)

    def _read(self, kind: type, value: Any) -> Any:
        try:
            return read_as(kind, value)
        except WrongType as error:
            raise LabelProblem(
                f"a row of the file of labels {self.place} is damaged: {error.way.removeprefix('.')} is {error.found}; "
                f"{LABELS_FILE.when_damaged}"
            ) from None

    def __repr__(self) -> str:
        return f"<LabelStore {self.place}: {counted(len(self.events()), 'event')}>"


def _known_keys(statements: Statements, keys: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for at in range(0, len(keys), 500):
        some = keys[at : at + 500]
        marks = ", ".join("?" * len(some))
        rows = statements.rows(f"select key from events where key in ({marks})", *some)
        found |= {str(row[0]) for row in rows}
    return found


def _check_undone(statements: Statements, new: Sequence[LabelEvent]) -> None:
    """Whoever said something may take it back, once."""
    beside = {event.key: (event.kind, event.who) for event in new}
    for event in new:
        if event.kind != "undo":
            continue
        rows = statements.rows("select kind, who from events where key = ?", event.undoes)
        kind, who = rows[0] if rows else beside.get(event.undoes, ("", ""))
        if not kind or kind == "undo":
            raise UnknownName(f"there is no label {event.undoes!r:.80} that could be undone")
        if who != event.who:
            raise InvalidParameter(
                f"{event.who} cannot undo what {who} said; who disagrees adjudicates it"
            )
        if statements.rows("select 1 from events where undoes = ?", event.undoes):
            raise InvalidParameter("this label was undone already")

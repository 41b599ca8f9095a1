"""The tables of a history: their schema, and a run to and from its row; what runs share is kept once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import msgspec

from chunkwise.base.sqlite import Statements, Tables
from chunkwise.records.json import json_text
from chunkwise.tracking.run import KeptRun, RunSummary, fingerprint, parsed

TABLES: Tables = (
    "create table state (id integer primary key, version integer not null, last_run integer not null)",
    "insert into state (id, version, last_run) values (1, 1, 0)",
    # Documents and questions, as several runs have the same.
    "create table shared (hash text primary key, content text not null)",
    "create table runs (number integer primary key, key text not null unique, kind text not null,"
    " summary text not null, rest text not null, documents text references shared,"
    " questions text not null references shared)",
    "create table baselines (name text not null, kind text not null, run integer not null references runs,"
    " happened text not null, primary key (name, kind))",
    "create index runs_of_kind on runs (kind, number)",
    "create table watched_runs (run integer primary key references runs, name text not null, found text not null)",
    "create table alerts (number integer primary key, name text not null, found text not null)",
    "create index watched_by_name on watched_runs (name, run)",
)
DELETE_UNSHARED = (
    "delete from shared where hash not in"
    " (select questions from runs union select documents from runs where documents is not null)"
)


def insert_run(statements: Statements, run: KeptRun) -> None:
    """The row of a run, and what it shares with others."""
    documents = None if run.documents is None else _share(statements, dict(run.documents))
    questions = _share(statements, [replace(question, hits=()) for question in run.questions])
    rest = {
        "scores": run.scores,
        "details": run.details,
        "hits": [question.hits for question in run.questions],
    }
    summary = {field.name: getattr(run, field.name) for field in fields(RunSummary)}
    statements.execute(
        "insert into runs (number, key, kind, summary, rest, documents, questions) values (?, ?, ?, ?, ?, ?, ?)",
        run.number, run.key, run.kind, json_text(summary), json_text(rest), documents, questions,
    )  # fmt: skip


def _share(statements: Statements, content: object) -> str:
    text = json_text(content)
    hash = fingerprint(text)
    statements.execute(
        "insert into shared (hash, content) values (?, ?) on conflict do nothing", hash, text
    )
    return hash


def summaries_from(
    statements: Statements, kind: str | None = None, last: int | None = None
) -> Sequence[Any]:
    """Numbers and summaries, the latest first."""
    chosen, values = ("", []) if kind is None else (" where kind = ?", [kind])
    most = "" if last is None else f" limit {int(last)}"
    return statements.rows(
        f"select number, summary from runs{chosen} order by number desc{most}", *values
    )


def parsed_summary(text: Any) -> RunSummary:
    """A run without its questions; a ValueError where somebody else has changed it."""
    return msgspec.convert(parsed("summary", text), RunSummary)


def run_from(statements: Statements, number: int) -> KeptRun | None:
    """One run with all that is kept of it; None: there is no such run."""
    rows = statements.rows(
        "select key, summary, rest, documents, questions from runs where number = ?", number
    )
    if not rows:
        return None
    key, summary, rest, documents, questions = rows[0]
    result = {**parsed("summary", summary), **parsed("rest", rest), "key": key}
    asked = _shared(statements, questions)
    result["questions"] = [
        {**question, "hits": hits} for question, hits in zip(asked, result.pop("hits"), strict=True)
    ]
    result["documents"] = None if documents is None else _shared(statements, documents)
    return msgspec.convert(result, KeptRun)


def _shared(statements: Statements, hash: str) -> Any:
    rows = statements.rows("select content from shared where hash = ?", hash)
    return parsed("shared", rows[0][0] if rows else None)

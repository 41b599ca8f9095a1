"""The tables of a history: their schema, and a run to and from its rows; what runs share is kept once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from chunkwise.base.sqlite import Statements, Tables
from chunkwise.records.json import json_text
from chunkwise.tracking.run import KeptQuestion, KeptRun, hash_of_json

TABLES: Tables = (
    "create table state (id integer primary key, version integer not null, last_run integer not null)",
    "insert into state (id, version, last_run) values (1, 1, 0)",
    "create table corpora (number {serial}, hash text not null unique)",
    "create table documents (number {serial}, id text not null, fingerprint text not null,"
    " unique (id, fingerprint))",
    "create table corpus_documents (corpus integer not null references corpora, document integer not null"
    " references documents, primary key (corpus, document))",
    "create table questions (number {serial}, hash text not null unique, id text not null, text text not null,"
    " fingerprint text not null, types text not null, documents text not null)",
    "create table runs (number integer primary key, key text not null unique, kind text not null,"
    " happened text not null, label text not null, objective text not null, settings text not null,"
    " versions text not null, documents_hash text not null,"
    " questions_hash text not null, corpus integer references corpora, git_revision text not null,"
    " git_branch text not null, user_name text not null, host text not null, seconds double precision,"
    " money double precision, source text not null, details text not null)",
    "create table figures (run integer not null references runs, position integer not null, metric text not null,"
    " mean double precision, low double precision, high double precision, scored integer not null,"
    " questions integer not null, detectable double precision, scores text not null, primary key (run, metric))",
    "create table run_questions (run integer not null references runs, position integer not null,"
    " question integer not null references questions, hits text not null, primary key (run, position))",
    "create table baselines (name text not null, kind text not null, run integer not null references runs,"
    " happened text not null, primary key (name, kind))",
    "create index runs_of_kind on runs (kind, number)",
    "create table watched_runs (run integer primary key references runs, name text not null,"
    " reference integer not null, found text not null)",
    "create table alerts (number integer primary key, name text not null, metric text not null,"
    " state text not null, happened text not null, first_run integer not null, last_run integer not null,"
    " found text not null)",
    "create index watched_by_name on watched_runs (name, run)",
)


RUN_COLUMNS = (
    "number, kind, happened, label, objective, settings, versions, documents_hash, questions_hash, user_name, host,"
    " git_revision, git_branch, seconds, money, source"
)
_FIGURE = ("mean", "low", "high", "scored", "questions", "detectable")


def insert_run(statements: Statements, run: KeptRun) -> None:
    """All rows of a run."""
    statements.execute(
        f"insert into runs ({RUN_COLUMNS}, corpus, details, key)"
        f" values ({', '.join('?' * 19)})",
        run.number, run.kind, run.when, run.label, run.objective, json_text(run.settings),
        json_text(run.versions), run.documents_hash, run.questions_hash, run.origin.user,
        run.origin.host, run.origin.git_revision, run.origin.git_branch, run.seconds, run.money,
        run.source, _corpus(statements, run.documents), json_text(run.details), run.key,
    )  # fmt: skip
    statements.many(
        "insert into figures (run, position, metric, mean, low, high, scored, questions, detectable, scores)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            [run.number, at, metric, each.mean, each.low, each.high, each.scored, each.questions,
             each.detectable, json_text(run.scores.get(metric, ()))]
            for at, (metric, each) in enumerate(run.figures.items())
        ],
    )  # fmt: skip
    hashes = [_question_hash(each) for each in run.questions]
    statements.many(
        "insert into questions (hash, id, text, fingerprint, types, documents) values (?, ?, ?, ?, ?, ?)"
        " on conflict do nothing",
        [
            [hash, each.id, each.text, each.fingerprint, json_text(each.types), json_text(each.documents)]
            for hash, each in zip(hashes, run.questions, strict=True)
        ],
    )  # fmt: skip
    statements.many(
        "insert into run_questions (run, position, question, hits)"
        " select ?, ?, number, ? from questions where hash = ?",
        [
            [run.number, at, json_text([list(hit) for hit in each.hits]), hash]
            for at, (hash, each) in enumerate(zip(hashes, run.questions, strict=True))
        ],
    )


def _question_hash(question: KeptQuestion) -> str:
    return hash_of_json(
        [question.id, question.text, question.fingerprint, question.types, question.documents]
    )


def _corpus(statements: Statements, documents: Mapping[str, str] | None) -> int | None:
    """The number of these documents together, which are kept once, however many runs read them."""
    if documents is None:
        return None
    hash = hash_of_json(dict(documents))
    known = statements.rows("select number from corpora where hash = ?", hash)
    if known:
        return int(known[0][0])
    statements.execute("insert into corpora (hash) values (?)", hash)
    number = int(statements.rows("select number from corpora where hash = ?", hash)[0][0])
    rows = list(documents.items())
    statements.many(
        "insert into documents (id, fingerprint) values (?, ?) on conflict do nothing",
        rows,
    )
    statements.many(
        "insert into corpus_documents (corpus, document)"
        " select ?, number from documents where id = ? and fingerprint = ? on conflict do nothing",
        [[number, *row] for row in rows],
    )
    return number


def figures_from(statements: Statements, first: int) -> dict[int, dict[str, Any]]:
    """By run, from this number on."""
    found: dict[int, dict[str, Any]] = {}
    for run, metric, *values in statements.rows(
        f"select run, metric, {', '.join(_FIGURE)} from figures where run >= ? order by run, position",
        first,
    ):
        found.setdefault(run, {})[_name(metric)] = dict(zip(_FIGURE, values, strict=True))
    return found


def summary_values(row: Sequence[Any]) -> dict[str, Any]:
    number, kind, when, label, objective, settings, versions, documents, questions = row[:9]
    user, host, revision, branch, seconds, money, source = row[9:16]
    origin = {"user": user, "host": host, "git_revision": revision, "git_branch": branch}
    return {
        "number": number, "kind": kind, "when": when, "label": label, "objective": objective,
        "settings": _parsed("settings", settings), "versions": _parsed("versions", versions),
        "documents_hash": documents, "questions_hash": questions, "origin": origin,
        "seconds": seconds, "money": money, "source": source,
    }  # fmt: skip


def _name(metric: Any) -> str:
    """Of a metric, whatever somebody else wrote there."""
    return metric if isinstance(metric, str) else repr(metric)


def _parsed(name: str, text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"{name} is no JSON") from None


def whole_run(statements: Statements, row: Sequence[Any]) -> KeptRun:
    number, (corpus, details, key) = row[0], row[16:]
    figures: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    for metric, *values, own in statements.rows(
        f"select metric, {', '.join(_FIGURE)}, scores from figures where run = ? order by position",
        number,
    ):
        metric = _name(metric)
        figures[metric] = dict(zip(_FIGURE, values, strict=True))
        if found := _parsed(f"scores.{metric}", own):
            scores[metric] = found
    questions = [
        {
            "id": id, "text": text, "fingerprint": print_, "types": _parsed("types", types),
            "documents": _parsed("documents", documents), "hits": _parsed("hits", hits),
        }
        for id, text, print_, types, documents, hits in statements.rows(
            "select id, text, fingerprint, types, documents, hits from run_questions"
            " join questions on number = question where run = ? order by position",
            number,
        )
    ]  # fmt: skip
    documents: dict[str, str] | None = None
    if corpus is not None:
        documents = dict(
            statements.rows(
                "select id, fingerprint from corpus_documents join documents on number = document"
                " where corpus = ? order by id",
                corpus,
            )
        )
    run = {
        **summary_values(row), "figures": figures, "scores": scores, "questions": questions, "documents": documents,
        "details": _parsed("details", details), "key": key,
    }  # fmt: skip
    return msgspec.convert(run, KeptRun)

"""`chunkwise testset import-queries`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Amount, Count, Name, Option, argument
from chunkwise.base.wording import counted, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.options import (
    QuietOption,
)
from chunkwise.cli.progress import progress
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import say, say_skipped
from chunkwise.report.report import Column, Next, Note, Report, ReportPart, ValueTable

if TYPE_CHECKING:
    from chunkwise.models.embed.embedder import Embedder
    from chunkwise.testsets.query_log import LiveQuery, QueryGroups, QueryLog

_TOLD = 10
"""Bad entries with a line each; those behind are counted."""
_SHOWN = 10
"""Clusters."""
_HIDDEN = {
    "key": "a key or a password", "email": "an e-mail address", "card": "a card number",
}  # fmt: skip


class ImportQueriesOptions(QuietOption, JsonOrReport, group="Questions"):
    """The options of `chunkwise testset import-queries`."""

    log: Annotated[str, argument("LOG")]
    into: Annotated[Path, Option(
        "Test set to create or extend: .json or .jsonl", metavar="FILE", common=True, writes="any"
    )]  # fmt: skip
    count: Annotated[Amount, Option(
        "Questions to sample by frequency; 0: all", long_flag="--sample", metavar="N", common=True
    )] = 200  # fmt: skip
    seed: Annotated[Amount, Option("Random seed of the sample", metavar="N")] = 0
    query_field: Annotated[Name | None, Option(
        "Question field, may be nested: request.query", metavar="FIELD", default_text="detected", common=True
    )] = None  # fmt: skip
    count_field: Annotated[Name | None, Option(
        "Frequency field", metavar="FIELD", default_text="detected"
    )] = None  # fmt: skip
    longest: Annotated[Count, Option("Skip longer questions", metavar="CHARACTERS")] = 500
    embedder: Annotated[Name | None, Option(
        "Embedding model for deduplication", flag="-e", metavar="NAME", default_text="none: compare words",
        common=True,
    )] = None  # fmt: skip
    language: Annotated[Name, Option(
        "Stemming language: en, de …, auto, none", metavar="CODE"
    )] = "auto"  # fmt: skip


@dataclass_command("import-queries", ImportQueriesOptions)
def command(options: ImportQueriesOptions) -> None:
    """Import real user questions from a log: deduplicate, cluster and sample.

    LOG is JSON lines, a JSON list, CSV, Parquet or plain lines ('-': standard input). Each question is saved with its
    frequency, spellings, cluster and share of the log. Keys, passwords, email addresses and card numbers are
    redacted.

    Examples:
      chunkwise testset import-queries log.jsonl --into q-live.json
      chunkwise testset import-queries searches.csv --into q-live.json -q

    Questions already in the file are kept unchanged. Next, add the passage that answers each ("relevant_text"), then
    run: chunkwise testset check q-live.json SOURCE
    """
    from chunkwise.testsets.formats.chunkwise import QuestionsFile, is_there
    from chunkwise.testsets.query_log import grouped, read_query_log, sampled

    file = QuestionsFile.read(options.into) if is_there(options.into) else QuestionsFile.new(options.into)  # fmt: skip
    embedder = _embedder(options)
    bad = 0

    def on_bad(line: str) -> None:
        nonlocal bad
        bad += 1
        if bad <= _TOLD:
            say_skipped(line)

    with progress("importing", 0, options.quiet or options.as_json) as advance:
        log = read_query_log(
            options.log, on_bad, query_field=options.query_field, count_field=options.count_field,
            longest=options.longest, advance=advance,
        )  # fmt: skip
        if bad > _TOLD:
            say(f"skipped {counted(bad - _TOLD, 'more unreadable entry')}")
        _say_left_out(log, options.longest)
        if not log.asked:
            raise ChunkwiseError(f"no questions in {options.log}; nothing was written")
        groups = grouped(log, embedder=embedder, language=options.language, advance=advance)
    drawn = sampled(groups.queries, options.count or None, seed=options.seed)
    new = _new_ones(drawn, file.rows)
    names = {query.cluster: query.text for query in reversed(groups.queries)}
    if new:
        file.rows += [_row(query, names[query.cluster]) for query in new]
        file.write()
    if options.as_json or not options.quiet:
        options.print_result(
            lambda: _report(log, groups, drawn, new, options),
            lambda: _summary(log, groups, drawn, new, bad, options.into),
        )
    leave(skipped=bad)


def _embedder(options: ImportQueriesOptions) -> Embedder | None:
    """Before the log is read: a name that is none is told at once."""
    if options.embedder is None or options.embedder == "none":
        return None
    from chunkwise.models import get_embedder

    return get_embedder(options.embedder)


def _say_left_out(log: QueryLog, longest: int) -> None:
    for kind, count in log.hidden.items():
        say(f"redacted {_HIDDEN[kind]} in {counted(count, 'entry')} as [{kind}]")
    if log.too_long:
        say(
            f"skipped {thousands(log.too_long)} longer than {counted(longest, 'character')} "
            "(--longest)"
        )
    if log.wordless:
        say(f"skipped {thousands(log.wordless)} without words")


def _new_ones(drawn: Sequence[LiveQuery], rows: Sequence[dict[str, Any]]) -> list[LiveQuery]:
    """Those that are not in the file yet, by their ids or their words."""
    from chunkwise.testsets.formats.chunkwise import id_of_row
    from chunkwise.testsets.query_log import LiveQuery
    from chunkwise.testsets.review import question_of

    known = {id_of_row(row) for row in rows}
    known |= {LiveQuery(question_of(row), 1).id for row in rows}
    return [query for query in drawn if query.id not in known]


def _row(query: LiveQuery, cluster: str) -> dict[str, Any]:
    return {
        "query_id": query.id, "query": query.text, "types": ["live"], "asked": query.asked,
        "weight": round(query.weight, 3), "cluster": cluster,
        **({"wordings": list(query.wordings)} if query.wordings else {}),
    }  # fmt: skip


def _summary(
    log: QueryLog,
    groups: QueryGroups,
    drawn: Sequence[LiveQuery],
    new: Sequence[LiveQuery],
    bad: int,
    into: Path,
) -> dict[str, Any]:
    return {
        "into": str(into), "entries": log.rows, "asked": log.total, "spellings": len(log.asked),
        "questions": len(groups.queries), "clusters": len(groups.clusters), "language": groups.language,
        "sampled": len(drawn), "added": len(new), "skipped": bad,
        "left_out": {"too_long": log.too_long, "wordless": log.wordless},
        "hidden": dict(log.hidden), "queries": [{"id": query.id, **asdict(query)} for query in drawn],
    }  # fmt: skip


def _report(
    log: QueryLog,
    groups: QueryGroups,
    drawn: Sequence[LiveQuery],
    new: Sequence[LiveQuery],
    options: ImportQueriesOptions,
) -> Report:
    clusters = groups.clusters
    rows = tuple(
        (sum(query.asked for query in cluster) / log.total, cluster[0].text, len(cluster) - 1)
        for cluster in clusters
    )
    columns = (Column("asked", "share"), Column("cluster"), Column("other questions", "count"))
    title = (
        f"{thousands(log.total)} asked: {counted(len(groups.queries), 'question')} in "
        f"{counted(len(log.asked), 'spelling')}, {counted(len(clusters), 'cluster')}"
    )
    known = len(drawn) - len(new)
    there = f", {thousands(known)} already in the file" if known else ""
    parts: list[ReportPart] = [
        ValueTable(columns, rows, brief_rows=_SHOWN),
        Note(
            f"{counted(len(drawn), 'question')} drawn{there}; {counted(len(new), 'new one')} in "
            f"{options.into}."
        ),
    ]
    if new:
        parts.append(Note("Add the passage that answers each question (relevant_text)."))
        parts.append(Next(f"chunkwise testset check {options.into} SOURCE"))
    return Report(title, tuple(parts))

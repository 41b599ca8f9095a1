"""`chunkwise monitor ab`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import click
from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Amount, Name, Option, Share
from chunkwise.base.wording import as_set, counted, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.llm import LlmClients, ends_dry_run, or_local
from chunkwise.cli.options import AllowOption, NeededQueries, SourceOptions
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import SkippedInputs, say
from chunkwise.core import Document, Query
from chunkwise.evaluation.ab_test import ABResult, ab_test, read_live_log
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import Results
from chunkwise.evaluation.scoring import Listeners
from chunkwise.metrics.judges.judge import LLM, judge_names
from chunkwise.options import IndexOptions, LlmOptions, ScoreOptions, SearchOptions
from chunkwise.report.report import Column, Estimate, Headline, Note, Report, ValueTable
from chunkwise.retrieval.indexes import documents_in
from chunkwise.tuning.recommendation_file_and_code import read_recommendation

_LOOKS = 8


class ABOptions(LlmOptions, AllowOption, SourceOptions, JsonOrReport, group="Test"):
    """The options of `chunkwise monitor ab`."""

    a: Annotated[Path | None, Option(
        "Current configuration", metavar="FILE", common=True
    )] = None  # fmt: skip
    b: Annotated[Path | None, Option(
        "Candidate configuration", metavar="FILE", common=True
    )] = None  # fmt: skip
    test_queries: NeededQueries
    how: Annotated[Literal["parallel", "interleaved"], Option(
        "Score both in parallel, or interleave their hits", common=True
    )] = "parallel"  # fmt: skip
    by: Annotated[Literal["labels", "clicks", "teams"] | None, Option(
        "Evidence of which is better", default_text="as in the log", common=True
    )] = None  # fmt: skip
    metric: Annotated[Name | None, Option(
        "Metric in parallel mode: recall@1000t, mrr@5 …", flag="-m", metavar="NAME", default_text="main metric",
        common=True,
    )] = None  # fmt: skip
    judge: Annotated[Name | None, Option(
        "Judge, for metrics that need one: llm", metavar="NAMES"
    )] = None  # fmt: skip
    tolerance: Annotated[Share, Option(
        "Stop once the difference is proven smaller", metavar="SHARE"
    )] = 0.02  # fmt: skip
    level: Annotated[Annotated[float, Meta(ge=0.5, le=0.999)], Option(
        "Confidence level over all looks", metavar="SHARE"
    )] = 0.95  # fmt: skip
    seed: Annotated[Amount, Option(
        "Random seed of interleaving and LLM", metavar="N"
    )] = 0  # fmt: skip


@dataclass_command("ab", ABOptions)
def command(options: ABOptions) -> None:
    """Run an A/B test of two configurations on logged questions.

    SOURCE is the documents. Both configurations answer every question of the log. The confidence interval is valid at
    every look (sequential testing), so checking daily doesn't raise the false alarm rate.

    Examples:
      chunkwise monitor ab docs/ --a now.toml --b new.toml -Q live.jsonl
      chunkwise monitor ab docs/ --a a.toml --b b.toml -Q q.json --how interleaved
      chunkwise monitor ab -Q seen-by-people.jsonl

    Configurations are files in the format of recommendation.toml.
    """

    if options.by != "teams" and (options.a is None) != (options.b is None):
        raise click.UsageError("missing configurations: --a CONFIG --b CONFIG")
    bad = SkippedInputs()
    clients = LlmClients(options, options.quiet or options.as_json)
    documents = _documents(options, bad) if options.a is not None else []
    log = read_live_log(options.test_queries, documents, bad, options.by)
    if log.kind != "teams" and options.a is None:
        raise click.UsageError(
            "the log has no results of a and b: give SOURCE, --a CONFIG and --b CONFIG"
        )
    if options.dry_run:
        say("for a; b takes about the same")
    result = ab_test(
        log, _answering(options.a, documents, options, clients, bad),
        _answering(options.b, documents, options, clients, bad), how=options.how,
        metric=options.metric, tolerance=options.tolerance, level=options.level, seed=options.seed,
    )  # fmt: skip
    options.print_result(lambda: _report(result), result.to_dict)
    if not len(result.sequence):
        say("no evidence in any question: references, clicks or a judge are needed")
    leave(skipped=bad.count or clients.fell_short)


def _documents(options: ABOptions, bad: Callable[[object], None]) -> list[Document]:

    paths = options.sources()
    with progress("reading", bytes_of(paths), options.quiet) as advance:
        documents = []
        for document in documents_in(
            paths, options.loading(Path(options.test_queries), on_unreadable=bad)
        ):
            documents.append(document)
            advance(len(document.text), f"{counted(len(documents), 'document')} read")
    if not documents:
        raise ChunkwiseError(f"no readable documents in {', '.join(paths)}")
    return documents


def _answering(
    config: Path | None,
    documents: Sequence[Document],
    options: ABOptions,
    clients: LlmClients,
    bad: Callable[[object], None],
) -> Callable[[Sequence[Query]], Results] | None:
    """One configuration, as a function of questions."""

    if config is None:
        return None
    chosen = read_recommendation(config)
    made_with, searching = chosen.part(IndexOptions), chosen.part(SearchOptions)
    client = (
        clients.of(or_local(options.llm_name)) if LLM in judge_names(options.judge or "") else None
    )

    def answer(queries: Sequence[Query]) -> Results:
        with progress(f"answering ({config.name})", 0, options.quiet):
            return evaluate(
                list(documents), list(queries), metrics=options.metric or "retrieval", judge=options.judge,
                llm=client, score=ScoreOptions(seed=options.seed),
                listeners=Listeners(on_bad=bad, on_estimate=ends_dry_run(options)),
                search=searching, index=made_with,
            )  # fmt: skip

    return answer


def _report(result: ABResult) -> Report:
    sequence, count = result.sequence, len(result.sequence)
    looks = sorted({max(1, round(count * part / _LOOKS)) for part in range(1, _LOOKS + 1)})
    rows = tuple(
        (
            at,
            Estimate(
                *(float(array[at - 1]) for array in (sequence.mean, sequence.low, sequence.high))
            ),
            float(sequence.p[at - 1]),
            result.when[at - 1] if result.when else "",
        )
        for at in (looks if count else ())
    )
    columns = (
        Column("questions", "count"),
        Column("b − a", "change"),
        Column("p", "p"),
        Column("asked"),
    )
    unscored = f", {thousands(result.unscored)} more without a score" if result.unscored else ""
    title = f"{result.metric}, {result.how}: {counted(count, 'question')}{unscored}"
    sides = (Note(f"a: {result.a}"), Note(f"b: {result.b}"))
    return Report(title, (Headline(verdict(result)), ValueTable(columns, rows), *sides))


def verdict(found: ABResult) -> str:
    """What is shown, and whether to stop."""
    sequence = found.sequence
    decided = sequence.decided_at(found.tolerance)
    if decided is None:
        more = sequence.more_needed(found.tolerance)
        wait = (
            f"about {counted(more, 'more question')} at the current difference"
            if more
            else "the number needed isn't known yet"
        )
        return f"Inconclusive so far: continue; {wait}."
    day = found.when[decided - 1] if found.when and found.when[decided - 1] else ""
    since = f"shown after {counted(decided, 'question')}" + (f" ({day})" if day else "")
    if found.state == "alike":
        return f"No difference of {as_set(found.tolerance)} or more, {since}: stop and choose the cheaper one."
    better, worse = ("b", "a") if found.state == "higher" else ("a", "b")
    return f"{better} is better than {worse}, {since}: stop and choose {better}."

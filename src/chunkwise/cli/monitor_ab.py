"""`chunkwise monitor ab`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click
from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Amount, Name, Option, Share
from chunkwise.base.wording import as_set, counted, format_interval, format_number, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import SKIPPED
from chunkwise.cli.llm import DryRunEnded, LlmClients, or_local, show_estimate
from chunkwise.cli.options import AllowOption, Json, SourceOptions
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.streams import SkippedInputs, print_json, say
from chunkwise.core import Document, Query
from chunkwise.options import IndexOptions, LlmOptions, ScoreOptions, SearchOptions
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.evaluation.ab_test import ABResult
    from chunkwise.evaluation.results import Results
    from chunkwise.models.llm.cost import LlmEstimate

_LOOKS = 8


class ABOptions(LlmOptions, AllowOption, SourceOptions, group="Test"):
    """The options of `chunkwise monitor ab`."""

    a: Annotated[Path | None, Option(
        "Current configuration", metavar="FILE", common=True
    )] = None  # fmt: skip
    b: Annotated[Path | None, Option(
        "Candidate configuration", metavar="FILE", common=True
    )] = None  # fmt: skip
    test_queries: Annotated[Name, Option(
        "Log of questions with references or clicks", flag="-Q --test-queries", long_flag="--queries", metavar="FILE",
        common=True,
    )]  # fmt: skip
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
    as_json: Json = False


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
    from chunkwise.evaluation.ab_test import ab_test, read_live_log

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
    try:
        found = ab_test(
            log, _answering(options.a, documents, options, clients, bad),
            _answering(options.b, documents, options, clients, bad), how=options.how,
            metric=options.metric, tolerance=options.tolerance, level=options.level, seed=options.seed,
        )  # fmt: skip
    except DryRunEnded as ended:
        say("this is for a; b takes about the same")
        show_estimate(ended.estimate, options.as_json)
        return
    if options.as_json:
        print_json(found.to_dict())
    else:
        _show(found)
    if bad.count or clients.fell_short:
        sys.exit(SKIPPED)


def _documents(options: ABOptions, bad: Callable[[object], None]) -> list[Document]:
    from chunkwise.retrieval.indexes import documents_in

    paths = options.sources()
    with progress("reading", bytes_of(paths), options.quiet) as advance:
        found = []
        for document in documents_in(
            paths, options.loading(Path(options.test_queries), on_unreadable=bad)
        ):
            found.append(document)
            advance(len(document.text), f"{counted(len(found), 'document')} read")
    if not found:
        raise ChunkwiseError(f"no readable documents in {', '.join(paths)}")
    return found


def _answering(
    config: Path | None,
    documents: Sequence[Document],
    options: ABOptions,
    clients: LlmClients,
    bad: Callable[[object], None],
) -> Callable[[Sequence[Query]], Results] | None:
    """One configuration, as a function of questions."""
    from chunkwise.evaluation.evaluate import evaluate
    from chunkwise.evaluation.scoring import Listeners
    from chunkwise.metrics.judges.judge import LLM, judge_names
    from chunkwise.tuning.recommendation_file_and_code import read_recommendation

    if config is None:
        return None
    chosen = read_recommendation(config)
    made_with, searching = chosen.part(IndexOptions), chosen.part(SearchOptions)
    client = (
        clients.of(or_local(options.llm_name)) if LLM in judge_names(options.judge or "") else None
    )

    def on_estimate(estimate: LlmEstimate) -> None:
        if options.dry_run:
            raise DryRunEnded(estimate)

    def answer(queries: Sequence[Query]) -> Results:
        with progress(f"answering ({config.name})", 0, options.quiet):
            return evaluate(
                list(documents), list(queries), metrics=options.metric or "retrieval", judge=options.judge,
                llm=client, score=ScoreOptions(seed=options.seed),
                listeners=Listeners(on_bad=bad, on_estimate=on_estimate),
                search=searching, index=made_with,
            )  # fmt: skip

    return answer


def _show(found: ABResult) -> None:
    sequence = found.sequence
    count = len(sequence)
    click.echo(f"a  {one_line(found.a)}\nb  {one_line(found.b)}")
    click.echo(f"{found.metric}, {found.how}: {counted(count, 'question')}"
               + (f", {thousands(found.unscored)} more without a score" if found.unscored else ""))  # fmt: skip
    if not count:
        say("no evidence in any question: references, clicks or a judge are needed")
        return
    click.echo("\n  questions   b − a        interval for all looks   p")
    looks = sorted({max(1, round(count * part / _LOOKS)) for part in range(1, _LOOKS + 1)})
    for at in looks:
        ends = format_interval(float(sequence.low[at - 1]), float(sequence.high[at - 1]), "change")
        when = f"   {one_line(found.when[at - 1], 20)}" if found.when and found.when[at - 1] else ""
        click.echo(
            f"  {thousands(at):>9}   {format_number(float(sequence.mean[at - 1]), 'change'):<11} "
            f" {ends:<23}  "
            f"{format_number(float(sequence.p[at - 1]), 'p')}{when}"
        )
    click.echo(f"\n{verdict(found)}")


def verdict(found: ABResult) -> str:
    """What is shown, and whether to stop."""
    sequence = found.sequence
    decided = sequence.decided_at(found.tolerance)
    if decided is None:
        more = sequence.more_needed(found.tolerance)
        wait = (
            f"about {counted(more, 'more question')} at the current difference"
            if more
            else "the number still needed is unknown yet"
        )
        return f"Inconclusive so far: continue; {wait}."
    day = found.when[decided - 1] if found.when and found.when[decided - 1] else ""
    since = f"shown after {counted(decided, 'question')}" + (f" ({day})" if day else "")
    if found.state == "alike":
        return f"No difference of {as_set(found.tolerance)} or more, {since}: stop and choose the cheaper one."
    better, worse = ("b", "a") if found.state == "higher" else ("a", "b")
    return f"{better} is better than {worse}, {since}: stop and choose {better}."

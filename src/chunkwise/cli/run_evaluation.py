"""What `evaluate` and `watch` do with the same options: checked before anything is read, then run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Generic, TypeVar

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Name, Names, Option
from chunkwise.base.wording import as_set, counted
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import chunk_each
from chunkwise.cli.cut_documents import ChunkSummary, readable
from chunkwise.cli.dataclass_options import is_typed
from chunkwise.cli.llm import (
    AskingStrategy,
    LlmClients,
    asking_strategy,
    ends_dry_run,
    estimate_documents,
    or_local,
    refuse_unasked,
    show_spent,
)
from chunkwise.cli.options import (
    ConfigOption,
    JobsOption,
    Output,
    Queries,
    SourceOptions,
    check_questions_flag,
    parted,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import ReportOptions
from chunkwise.cli.streams import say, say_skipped
from chunkwise.core import Document, OnProgress, Query
from chunkwise.evaluation.evaluate import evaluate, named_judges
from chunkwise.evaluation.gate import MetricLimit, missed_limits
from chunkwise.evaluation.judging import judge_error
from chunkwise.evaluation.live_retriever import is_live
from chunkwise.evaluation.results import Results
from chunkwise.evaluation.run_file import COUNTED
from chunkwise.evaluation.scoring import Listeners, OnSearch
from chunkwise.evaluation.sources import SCRIPTS, documents_beside, no_documents
from chunkwise.evaluation.system_under_test import with_budget
from chunkwise.metrics.registry import chosen
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.options import IndexOptions, LiveOptions, LlmOptions, ScoreOptions, SearchOptions
from chunkwise.retrieval.indexes import named_index
from chunkwise.tracking.record_run import run_of_results
from chunkwise.tracking.run import KeptRun


class EvaluationOptions(
    ScoreOptions, LiveOptions, IndexOptions, SearchOptions, LlmOptions, ConfigOption, JobsOption,
    SourceOptions, ReportOptions, group="Input",
):  # fmt: skip
    """What is evaluated, and how: options of every command that evaluates."""

    test_queries: Queries = None
    hits: Annotated[Name | None, Option(
        "Score another system's results", metavar="FILE", common=True
    )] = None  # fmt: skip
    chunks: Annotated[Name | None, Option(
        "Score chunks made by another tool", metavar="FILE", common=True
    )] = None  # fmt: skip
    more_sources: Annotated[Names, Option(
        "Documents, if SOURCE is an index", long_flag="--documents", metavar="SOURCE"
    )] = ()  # fmt: skip
    types: Annotated[Name | None, Option(
        "Question types to compare", metavar="A,B", group="Metrics",
        default_text="easiest and hardest",
    )] = None  # fmt: skip
    at_least: Annotated[Names, Option(
        "Exit with status 4 if metric M is below X", long_flag="--fail-under", metavar="M=X", group="Metrics",
        common=True,
    )] = ()  # fmt: skip
    at_most: Annotated[Names, Option(
        "Exit with status 4 if metric M is above X", long_flag="--fail-over", metavar="M=X", group="Metrics",
        common=True,
    )] = ()  # fmt: skip
    output: Output = None

    @property
    def asks_llm(self) -> bool:
        """Whether a language model is among the judges, which stand with commas between them."""
        return "llm" in parted(str(self.judge or ""))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation found, and what it was made with."""

    results: Results
    documents: list[Document]
    queries: list[Query]
    left_out: tuple[str, ...]
    """What could not be used, a line each; all have been told."""


Checked = TypeVar("Checked", bound=EvaluationOptions)


@dataclass(frozen=True, slots=True)
class PreparedEvaluation(Generic[Checked]):
    """Options that were found to make sense, before anything is read; it may be run more than once."""

    options: Checked
    paths: list[str]
    limits: list[MetricLimit]
    types: tuple[str, str] | None

    def run(self, on_search: OnSearch | None = None) -> Evaluated:
        """`on_search` gets what asks further questions of the same system; a dry run raises `EstimateMade`."""
        documents: list[Document] = []
        queries: list[Query] = []
        results, left_out = _results(self.paths, self.options, documents, queries, on_search)
        return Evaluated(results, documents, queries, left_out)

    def missed(self, results: Results) -> list[str]:
        """The limits that do not hold, told."""
        lines = missed_limits(results, self.limits)
        for line in lines:
            click.echo(f"chunkwise: {line}", err=True)
        return lines


def prepare(options: Checked) -> PreparedEvaluation[Checked]:
    """What is wrong with the options is told here."""
    options = _checked_count(_checked_judge(options))
    paths = _paths(options)
    if not (options.source or options.more_sources or options.include):
        options = replace(options, exclude=(*options.exclude, *SCRIPTS))
    limits = [*_limits(options.at_least, 1), *_limits(options.at_most, -1)]
    limits = _measured_as(limits, options)
    types = _types(options.types)
    return PreparedEvaluation(options, paths, limits, types)


def kept_run(found: Evaluated, keep_text: bool) -> KeptRun:
    """As a history keeps it."""

    return run_of_results(
        found.results, documents=found.documents, queries=found.queries, keep_text=keep_text
    )


def _paths(options: EvaluationOptions) -> list[str]:
    """The documents or the index."""
    paths = [*options.source, *options.more_sources]
    check_questions_flag(options, options.test_queries)
    if not paths:
        if options.test_queries is None:
            raise click.UsageError(
                "nothing to evaluate: give documents or an index, and questions with --queries FILE"
            )
        paths = [documents_beside(options.test_queries, say)]
    return paths


def _results(
    paths: list[str],
    options: EvaluationOptions,
    documents: list[Document],
    queries: list[Query],
    on_search: OnSearch | None,
) -> tuple[Results, tuple[str, ...]]:

    total = bytes_of(paths)
    lines: list[str] = []

    def bad(line: str) -> None:
        if options.strict:
            raise ChunkwiseError(line)
        lines.append(line)
        (say if line.endswith(COUNTED) else say_skipped)(line)

    @contextmanager
    def stages(name: str, steps: int) -> Iterator[OnProgress]:
        with progress(name, steps or total, options.quiet) as advance:
            yield advance

    clients = LlmClients(options, options.quiet or options.as_json)
    client = clients.of(options.llm_name) if options.asks_llm and options.llm_name else None
    asking = _asking(options, clients)
    if asking and options.dry_run and (estimate := _summaries(paths, options, asking)):
        ends_dry_run(options)(estimate)
    results = evaluate(
        paths[0] if len(paths) == 1 else paths, options.test_queries,
        strategy=asking.strategy if asking else options.strategy,
        retriever=options.retriever, k=None if options.budget else options.k,
        index=replace(options.part(IndexOptions), strategy=None, llm=None, tokenizer=None),
        search=replace(options.part(SearchOptions), k=None, retriever=None),
        score=options.part(ScoreOptions), live=options.part(LiveOptions), hits=options.hits,
        chunks=options.chunks, llm=client, options=options.loading(), jobs=options.workers(total),
        listeners=Listeners(
            on_bad=bad, on_note=say, on_documents=documents.extend,
            on_questions=queries.extend, on_estimate=ends_dry_run(options), on_search=on_search, stages=stages,
        ),
    )  # fmt: skip
    if asking and asking.client and not options.quiet:
        show_spent(asking.client.spent)
    if asking is not None and clients.fell_short:
        lines.append("some summaries could not be written")
    return results, tuple(lines)


def say_why_silent(results: Results) -> bool:
    """Whether the language model could not be asked everything: the reason, whole, beside a table that shortens it."""

    error = judge_error(results)
    if error:
        say(f"LLM judge metrics are partly unscored: {error}")
    return bool(error)


def _types(named: str | None) -> tuple[str, str] | None:
    if named is None:
        return None
    names = parted(named)
    if len(names) != 2 or names[0] == names[1]:
        raise click.UsageError(
            f"--types {named!r}: expected two question types, such as --types list,cross-domain"
        )
    return names[0], names[1]


def _checked_judge(options: Checked) -> Checked:
    """A language model is named where one is asked, and only there."""
    if options.asks_llm:
        return replace(options, llm=or_local(options.llm_name))
    if not _strategy_asks(options):
        refuse_unasked("no language model is used; add --judge llm")
    return options


def _checked_count(options: Checked) -> Checked:
    """What is typed beats what a file says; a number of hits and a budget that are typed contradict each other."""
    if not is_typed("k"):
        return options
    if not is_typed("budget"):
        options = replace(options, budget=None)
    if (budget := _budget(options)) is not None:
        filled = f"a budget of {counted(budget, 'token')} determines the number of hits"
        raise click.UsageError(f"-k {options.k} conflicts: {filled}; leave out -k or --budget")
    return options


def _budget(options: EvaluationOptions) -> int | None:
    """The tokens a question gets; None: it gets `-k` hits."""

    if options.hits or is_live(options.retriever):
        return options.budget
    return with_budget(options.part(SearchOptions)).budget


def _limits(words: tuple[str, ...], sign: int) -> list[MetricLimit]:
    """What was asked for, read from the words given."""
    result = []
    for text in words:
        match = re.fullmatch(r"\s*([\w.@-]+)\s*=\s*(-?(?:\d+\.?\d*|\.\d+))\s*(%?)\s*", text)
        if not match:
            raise click.UsageError(
                f"{text!r} isn't a limit; expected METRIC=VALUE, such as recall@5=0.8"
            )
        value = float(match[2]) / (100 if match[3] else 1)
        if not -1 <= value <= 1:
            raise click.UsageError(
                f"{text!r}: {as_set(value)} isn't between -1 and 1; expected a share, such as "
                "recall@5=0.8 or recall@5=80%"
            )
        result.append(MetricLimit(match[1], value, sign))
    return result


def _measured_as(limits: list[MetricLimit], options: EvaluationOptions) -> list[MetricLimit]:
    """Limits by the names the figures will have; one that names no figure is told before anything is read."""

    k, budget = options.k or 5, _budget(options) if limits else None
    asked = named_judges(options.judge)[0] if limits else []
    result = []
    for limit in limits:
        known = chosen(options.metrics, k, budget, asked=asked)
        name = limit.name
        if name not in known:
            names = chosen(name, k, budget, asked=asked)
            name = names[0] if len(names) == 1 else name
        if name not in known:
            raise click.UsageError(f"{name} isn't measured here; measured: {', '.join(known)}")
        result.append(limit._replace(name=name))
    return result


def measured_names(names: str | None, options: EvaluationOptions) -> list[str]:
    """Metrics that are named with commas, as the figures will call them; one that is not measured is told at once."""
    given = [MetricLimit(name, 0.0, 1) for name in parted(names)]
    return [limit.name for limit in _measured_as(given, options)]


def _strategy_asks(options: EvaluationOptions) -> bool:
    """Whether documents are to be cut by a strategy that asks a model."""

    return bool(options.strategy and get_strategy(options.strategy).asks_a_model)


def _asking(options: EvaluationOptions, clients: LlmClients) -> AskingStrategy | None:
    """The strategy where it asks a model itself: within the same limit of cost as the judge."""
    if not options.strategy or not _strategy_asks(options):
        return None
    return asking_strategy(str(options.strategy), options, clients)


def _summaries(
    paths: list[str], options: EvaluationOptions, asking: AskingStrategy
) -> LlmEstimate | None:
    """What a dry run tells; None: all are known, so that it can go on to what a judge is asked about them."""

    if asking.client is None or options.hits or named_index(paths) is not None:
        return None
    alone = asking.alone()
    questions = no_documents(paths, options.test_queries) if options.test_queries else ()
    outcomes = chunk_each(paths, alone, options=options.loading(*questions))
    with progress("counting", bytes_of(paths), options.quiet) as advance:
        cut = readable(outcomes, ChunkSummary(alone, options.strict), advance)
        estimate = estimate_documents(cut, asking, None)
    if options.asks_llm and not estimate.calls:
        return None
    if options.asks_llm:
        say("for summaries only; judge calls are known once they are written")
    return estimate

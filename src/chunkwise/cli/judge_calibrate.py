"""`chunkwise judge calibrate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from chunkwise.cli.inputs import SKIPPED, document_options, load_options
from chunkwise.cli.llm_options import (
    is_typed,
    llm_client,
    llm_options,
    or_local,
    refuse_unasked,
    show_estimate,
    show_spent,
)

if TYPE_CHECKING:
    from chunkwise.evaluation.calibrating import Measured
    from chunkwise.evaluation.calibration_pairs import Pairs
    from chunkwise.judges.judge import Judge
    from chunkwise.models.embed.embedder import Embedder
    from chunkwise.models.llm.client import LlmClient

JUDGES = ("llm", "similarity", "spans", "labels")

_EXAMPLES = """
\b
Examples:
  chunkwise judge calibrate handbook/ --test-queries queries.json --judge llm --llm local
  chunkwise judge calibrate handbook/ --test-queries queries.json --judge llm --llm openai:gpt-4o-mini --dry-run
  chunkwise judge calibrate handbook/ --test-queries queries.json --judge similarity,llm --against labels \\
      --llm openai:gpt-4o-mini --max-cost 1 -n 200
  chunkwise judge calibrate handbook/ --test-queries queries.json --judge similarity --json | jq .judges[0].kappa
\b
Right and wrong are people's labels where the questions have any; else the references of each question are relevant,
and passages near to it that touch none are taken for irrelevant. `chunkwise evaluate` prints what is known of a judge
beside its figures.
\b
Exit status: 0 measured, 3 something was left out or a judge could not be asked (each with a line on stderr),
1 an error, 2 wrong usage or value.
"""


class _Asked(NamedTuple):
    """A judge, all its verdicts depend on, and what a judge by similarity compares with."""

    judge: Judge
    identity: str
    embedder: Embedder | None = None


@click.command("calibrate", epilog=_EXAMPLES)
@click.option("--test-queries", "--queries", metavar="FILE", required=True,
              help="Questions with labels or references: JSON, SQuAD, BEIR, TREC …")  # fmt: skip
@click.option("--judge", "judges", metavar="NAMES", show_default="llm with --llm, else similarity",
              help=f"With commas: {', '.join(JUDGES)}.")  # fmt: skip
@click.option("--against", type=click.Choice(["labels", "spans"]), show_default="labels, where there are any",
              help="What is taken for the truth.")  # fmt: skip
@click.option("-n", "--count", type=click.IntRange(2), default=100, show_default=True, metavar="N",
              help="Verdicts to ask for: half about relevant passages, spread over the questions.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Of the passages drawn and of the resamples.")  # fmt: skip
@click.option("-s", "--strategy", metavar="SPEC", show_default="sentences, as long as the references",
              help="What cuts the passages taken for irrelevant.")  # fmt: skip
@click.option("--model", metavar="NAME", show_default="minilm",
              help="What the similarity judge compares with.")  # fmt: skip
@click.option("--similarity-threshold", type=click.FloatRange(-1, 1), default=0.7, show_default=True,
              metavar="COSINE", help="From which on it calls a passage relevant.")  # fmt: skip
@click.option("--relevance-threshold", type=click.FloatRange(0, 1, min_open=True), default=0.5, show_default=True,
              metavar="SHARE", help="Of a reference that the spans judge asks for.")  # fmt: skip
@click.option("--show", type=click.IntRange(0), default=4, show_default=True, metavar="N",
              help="Wrong verdicts to show.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON on stdout, nothing else.")
@llm_options
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Measure judges: how often they are right about passages whose relevance is known.

    INPUTS are documents (files, folders, globs, archives) or an index. Without INPUTS the documents are those beside
    the file of questions.
    """
    names = _names(options)
    client = llm_client(options) if "llm" in names else None
    pairs, left_out = _pairs(inputs, options)
    _refuse_truth_itself(names, pairs)
    asked = [_asked(name, client, options) for name in names]
    if options["dry_run"]:
        _estimate(asked, pairs, options)
        return
    measured = [_measured(each, pairs, options) for each in asked]
    _show(measured, pairs, options)
    if client is not None and not options["quiet"]:
        show_spent(client.spent)
    if left_out or any(each.error for each in measured):
        sys.exit(SKIPPED)


def _names(options: dict[str, Any]) -> list[str]:
    asks = is_typed("llm")
    given = options["judges"] if options["judges"] is not None else "llm" if asks else "similarity"
    names = list(dict.fromkeys(name.strip().lower() for name in given.split(",")))
    for name in names:
        if name not in JUDGES:
            raise click.UsageError(f"no judge is named {name!r}; there are: {', '.join(JUDGES)}")
    if "llm" in names:
        or_local(options)
    else:
        refuse_unasked("no judge asks a language model; add --judge llm")
    return names


def _pairs(inputs: tuple[str, ...], options: dict[str, Any]) -> tuple[Pairs, bool]:
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.messages import say, say_skipped
    from chunkwise.cli.progress import progress
    from chunkwise.evaluation.calibrating import documents_and_questions
    from chunkwise.evaluation.calibration_pairs import known_pairs
    from chunkwise.evaluation.left_out import LeftOut

    def bad(line: str) -> None:
        if options["strict"]:
            raise ChunkwiseError(line)
        say_skipped(line)

    left_out = LeftOut(bad, lambda line: say(f"mended {line}"))
    paths = list(inputs)
    if not paths:
        beside = Path(options["test_queries"]).parent
        say(f"no documents are named: those in {beside}/ beside the questions are taken")
        paths = [str(beside)]
    with progress("drawing passages", 0, options["quiet"]) as advance:
        advance(0, "documents are read")
        documents, queries = documents_and_questions(
            paths, options["test_queries"], left_out, load_options(options)
        )
        advance(0, f"{len(queries):,} questions, {len(documents):,} documents")
        pairs = known_pairs(
            queries, documents, against=options["against"], count=options["count"],
            seed=options["seed"], strategy=options["strategy"],
        )  # fmt: skip
    if len(pairs) < options["count"] and not options["quiet"]:
        say(f"{len(pairs):,} passages are known, {options['count']:,} were asked for: all are used")
    return pairs, left_out.any


def _refuse_truth_itself(names: list[str], pairs: Pairs) -> None:
    if pairs.against in names:
        other = "labels" if pairs.against == "spans" else "spans"
        raise click.UsageError(
            f"{pairs.against} are what the judges are held against: measured by themselves they are always right; "
            f"add --against {other}, or leave the judge {pairs.against} out"
        )


def _asked(name: str, client: LlmClient | None, options: dict[str, Any]) -> _Asked:
    from chunkwise.judges.calibration import spans_identity

    if client is not None and name == "llm":
        from chunkwise.judges.llm.judge import LlmJudge

        judge = LlmJudge(client)
        return _Asked(judge, judge.identity)
    if name == "similarity":
        return _similarity(options)
    if name == "spans":
        from chunkwise.judges.spans import SpanJudge

        threshold = options["relevance_threshold"]
        return _Asked(SpanJudge(threshold), spans_identity(threshold))
    from chunkwise.judges.labels import LabelJudge

    return _Asked(LabelJudge(), "labels")


def _similarity(options: dict[str, Any]) -> _Asked:
    from chunkwise.cli.weights import fetch_weights
    from chunkwise.judges.calibration import similarity_identity
    from chunkwise.judges.similarity import SimilarityJudge
    from chunkwise.models import DEFAULT, get_embedder

    model, threshold = options["model"] or DEFAULT, options["similarity_threshold"]
    fetch_weights(model, options["quiet"])
    embedder = get_embedder(model)
    identity = similarity_identity(embedder.identity, threshold)
    return _Asked(SimilarityJudge(embedder, threshold), identity, embedder)


def _estimate(asked: list[_Asked], pairs: Pairs, options: dict[str, Any]) -> None:
    from chunkwise.judges.llm.judge import LlmJudge

    for each in asked:
        if isinstance(each.judge, LlmJudge):
            show_estimate(each.judge.estimate(pairs.queries, pairs.hits), options["as_json"])


def _measured(asked: _Asked, pairs: Pairs, options: dict[str, Any]) -> Measured:
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.messages import say
    from chunkwise.cli.progress import progress
    from chunkwise.evaluation.calibrating import calibrate, steps
    from chunkwise.judges.calibration_store import keep_calibration

    total = steps(asked.judge, pairs)
    with progress(f"asking {asked.judge.name}", total, options["quiet"]) as advance:
        measured = calibrate(
            asked.judge, pairs, identity=asked.identity, embedder=asked.embedder,
            seed=options["seed"], advance=advance,
        )  # fmt: skip
    if measured.calibration.confusion.scored:
        try:
            keep_calibration(measured.of_the_judge)
        except ChunkwiseError as error:  # the figures are wanted all the same
            say(error)
    return measured


def _show(measured: list[Measured], pairs: Pairs, options: dict[str, Any]) -> None:
    if options["as_json"]:
        import json

        from chunkwise.report.judge.as_json import calibration_json

        told = calibration_json(measured, pairs)
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    elif not options["quiet"]:
        from rich.console import Console

        from chunkwise.report.judge.terminal import render_calibration

        console = Console(file=sys.stdout, highlight=False)
        render_calibration(measured, pairs, console, show=options["show"])
    _warn(measured, options)


def _warn(measured: list[Measured], options: dict[str, Any]) -> None:
    """Where the page of figures is not shown, a warning is not to get lost; an error is one in any case."""
    from chunkwise.cli.messages import say
    from chunkwise.report.judge.terminal import warning_of

    for each in measured:
        unseen = options["as_json"] or options["quiet"] or each.error
        if unseen and (warning := warning_of(each)):
            say(f"{each.calibration.name}: {warning}")

"""`chunkwise evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.config_option import config_option
from chunkwise.cli.evaluate_checks import check_count, check_judge
from chunkwise.cli.evaluate_limits import limits_of, measured_as, missed_limits
from chunkwise.cli.evaluate_summaries import asking_where_it_does, summaries_to_write
from chunkwise.cli.inputs import (
    SKIPPED,
    check_outputs,
    document_options,
    jobs_option,
    load_options,
    worker_count,
)
from chunkwise.cli.llm_options import (
    LlmClients,
    llm_options,
    show_estimate,
    show_spent,
)
from chunkwise.cli.page_option import page_option

if TYPE_CHECKING:
    from chunkwise.core import Document, OnProgress
    from chunkwise.evaluation.results import Results
    from chunkwise.models.llm.cost import LlmEstimate

NOT_REACHED = 4
"""Exit status when a figure is not what `--at-least` or `--at-most` asks for."""


_EXAMPLES = """
\b
Examples:
  chunkwise evaluate handbook/ --test-queries queries.json                    # the usual chunks and search, all metrics
  chunkwise evaluate handbook/ --test-queries queries.json -s "sentences(max_tokens=200)" --output results.json
  chunkwise evaluate kb --test-queries queries.json --metrics retrieval_precision,boundary_issues -k 5
  chunkwise evaluate kb --test-queries queries.json --retriever multiscale --budget 1000 --report page.html
  chunkwise evaluate --hits theirs.jsonl --documents handbook/ --test-queries queries.json
  chunkwise evaluate handbook/ --chunks langchain.jsonl --test-queries queries.json
  chunkwise evaluate kb --test-queries queries.json --judge llm --llm local --dry-run   # what would be asked
  chunkwise evaluate kb --test-queries queries.json --at-least recall@5=0.8 --at-most boundary_issues=0.1   # for CI
\b
Then: chunkwise compare before.json after.json
\b
Exit status: 0 evaluated, 3 something was left out or a judge could not be asked (each with a line on stderr),
4 a figure is not as asked for, 1 an error, 2 wrong usage or value.
"""


@click.command("evaluate", epilog=_EXAMPLES)
@click.option("--test-queries", "--queries", metavar="FILE", required=True,
              help="Questions with references: JSON, SQuAD, BEIR, TREC, Chroma, Ragas, AutoRAG …")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Keep the results: JSON with every question's scores.")  # fmt: skip
@page_option("--report", "PAGE", "Draw the results: one HTML page.")
@click.option("--metrics", default="all", show_default=True, metavar="NAMES",
              help="Metrics or groups, with commas: retrieval, retrieval_precision, completeness, boundary_issues, "
              "citation_accuracy, answers, faithfulness, chroma, recall@10, recall@500t …")  # fmt: skip
@click.option("-s", "--strategy", metavar="SPEC", show_default="structure",
              help='How documents are cut: "name(parameter=value, …)"; see `chunkwise strategies`.')  # fmt: skip
@click.option("--retriever", metavar="SPEC", show_default="multiscale with a budget, else hybrid",
              help="bm25, dense, hybrid, multiscale; parameters in brackets.")  # fmt: skip
@click.option("-k", "count", type=click.IntRange(1), default=5, show_default=True, metavar="N",
              help="Hits a question.")  # fmt: skip
@click.option("--budget", type=click.IntRange(1), metavar="TOKENS",
              help="Instead: as many hits as fit into so many tokens.")  # fmt: skip
@click.option("--neighbours", type=click.IntRange(0), default=0, metavar="N",
              help="Hand out the N chunks on either side, too.")  # fmt: skip
@click.option("--mmr", type=float, metavar="0…1", help="Fewer hits that say the same.")
@click.option(
    "--rerank", metavar="MODEL", help="Read the best again with this model: maxsim (local), …"
)
@click.option("--model", metavar="NAME", show_default="minilm", help="What makes vectors.")
@click.option("--vectors", metavar="KIND", show_default="late", help="late, own, both, none.")
@click.option("--context", metavar="KIND", show_default="none", help="headings, or none.")
@click.option("--language", metavar="CODE", show_default="auto", help="Of the words.")
@click.option("--hits", metavar="FILE",
              help="Another system's hits: query_id, doc_id, start, end (or text), rank.")  # fmt: skip
@click.option("--chunks", metavar="FILE",
              help="Another tool's chunks of these documents, with or without offsets.")  # fmt: skip
@click.option(
    "--answers", metavar="FILE", help="Answers with citations: query_id, answer, citations."
)
@click.option("--judge", type=click.Choice(["llm"]),
              help="Ask a language model (--llm, else the local one), too: metrics that end in .llm.")  # fmt: skip
@llm_options
@click.option("--documents", multiple=True, metavar="INPUT", help="The same as INPUTS.")
@click.option("--split", default="", metavar="NAME", help="Only the questions of this split.")
@click.option("--unit", type=click.Choice(["characters", "tokens"]), default="characters",
              show_default=True, help="What lengths of text are counted in.")  # fmt: skip
@click.option("--relevance-threshold", type=click.FloatRange(0, 1), default=0.5, show_default=True, metavar="SHARE",
              help="A hit is relevant when it covers so much of a reference.")  # fmt: skip
@click.option("--similarity-threshold", type=click.FloatRange(-1, 1), default=0.7, show_default=True, metavar="COSINE",
              help="… or, for the similarity judge, when it is so near to the question.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the resamples."
)
@click.option("--at-least", multiple=True, metavar="NAME=VALUE", help="Exit with 4 below this.")
@click.option("--at-most", multiple=True, metavar="NAME=VALUE", help="Exit with 4 above this.")
@click.option(
    "--json", "as_json", is_flag=True, help="The results as JSON on stdout, nothing else."
)
@config_option
@jobs_option
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Measure a chunking and a search with questions, and say how sure the figures are.

    INPUTS are documents (files, folders, globs, archives), which are cut and indexed in memory, or an index that
    `chunkwise index` made. Without INPUTS the documents are those beside the file of questions.
    """
    check_judge(options)
    check_count(options)
    paths, files = _paths(inputs, options)
    limits = [*limits_of(options["at_least"], 1), *limits_of(options["at_most"], -1)]
    limits = measured_as(limits, options)
    outputs = check_outputs([*paths, *files], options["output"], page=options["report"])
    documents: list[Document] = []
    try:
        results, left_out = _results(paths, outputs, options, documents)
    except _OnlyCounted as counted:
        show_estimate(counted.estimate, options["as_json"])
        return
    written = _write(results, options, documents)
    _show(results, options)
    for name in written:
        if not options["quiet"]:
            click.echo(f"written: {options[name]}", err=True)
    missed = missed_limits(results, limits)
    for line in missed:
        click.echo(f"chunkwise: {line}", err=True)
    if len(written) < sum(options[name] is not None for name in _FILES):
        sys.exit(1)
    silent = _say_why_silent(results)
    if missed:
        sys.exit(NOT_REACHED)
    if left_out or silent:
        sys.exit(SKIPPED)


class _OnlyCounted(Exception):
    """Ends a dry run once it is known what would be asked."""

    def __init__(self, estimate: LlmEstimate) -> None:
        super().__init__()
        self.estimate = estimate


def _paths(inputs: tuple[str, ...], options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The documents or the index, and the other files that are read."""
    from chunkwise.cli.messages import say

    paths = [*inputs, *options["documents"]]
    files = [
        options[name] for name in ("test_queries", "hits", "chunks", "answers") if options[name]
    ]
    if not paths:
        beside = Path(options["test_queries"]).parent
        say(f"no documents are named: those in {beside}/ beside the questions are taken")
        paths = [str(beside)]
    return paths, files


def _results(
    paths: list[str], outputs: list[Path], options: dict[str, Any], documents: list[Document]
) -> tuple[Results, bool]:
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.messages import say, say_skipped
    from chunkwise.cli.progress import bytes_of, progress
    from chunkwise.evaluation.evaluate import evaluate

    def counted(estimate: LlmEstimate) -> None:
        if options["dry_run"]:
            raise _OnlyCounted(estimate)

    total = bytes_of(paths)
    lines: list[str] = []

    def bad(line: str) -> None:
        if options["strict"]:
            raise ChunkwiseError(line)
        lines.append(line)
        say_skipped(line)

    @contextmanager
    def stages(name: str, steps: int) -> Iterator[OnProgress]:
        with progress(name, steps or total, options["quiet"]) as advance:
            yield advance

    judge, clients = options["judge"], LlmClients(options)
    client = clients.of(options["llm"]) if judge else None
    if judge and options["llm"] == "local" and not options["quiet"]:
        say("the small local model is weak at this: measure it with `chunkwise judge calibrate`")
    own = asking_where_it_does(options, clients)
    _fetch_weights(paths, options)
    if own and options["dry_run"] and (told := summaries_to_write(paths, outputs, options, own)):
        raise _OnlyCounted(told)
    results = evaluate(
        paths[0] if len(paths) == 1 else paths, options["test_queries"],
        strategy=own.strategy if own else options["strategy"],
        model=options["model"], vectors=options["vectors"], context=options["context"],
        language=options["language"], retriever=options["retriever"], k=options["count"],
        budget=options["budget"], neighbours=options["neighbours"], mmr=options["mmr"],
        rerank=options["rerank"], metrics=options["metrics"], split=options["split"], unit=options["unit"],
        relevance_threshold=options["relevance_threshold"],
        similarity_threshold=options["similarity_threshold"], seed=options["seed"], hits=options["hits"],
        chunks=options["chunks"], answers=options["answers"], judge=judge, llm=client,
        on_estimate=counted, options=load_options(options),
        jobs=worker_count(options["jobs"], total), leave_out=outputs, on_bad=bad,
        on_mended=lambda line: say(f"mended {line}"),
        on_documents=documents.extend, stages=stages,
    )  # fmt: skip
    if own and own.client and not options["quiet"]:
        show_spent(own.client.spent)
    return results, bool(lines) or (own is not None and clients.fell_short)


def _say_why_silent(results: Results) -> bool:
    """Whether the language model could not be asked everything: the reason, whole, beside a table that shortens it."""
    from chunkwise.cli.messages import say
    from chunkwise.evaluation.judges_told import judge_error

    error = judge_error(results)
    if error:
        say(f"the language model could not be asked, and what it was to judge is unscored: {error}")
    return bool(error)


def _fetch_weights(paths: list[str], options: dict[str, Any]) -> None:
    """With a bar of their own, where vectors will be needed."""
    from chunkwise.cli.weights import fetch_weights
    from chunkwise.evaluation.subjects.sources import needs_model
    from chunkwise.models import DEFAULT

    if options["hits"] is None and needs_model(paths, options["vectors"], options["retriever"]):
        fetch_weights(options["model"] or DEFAULT, options["quiet"])


_FILES = ("output", "report")


def _write(results: Results, options: dict[str, Any], documents: list[Document]) -> list[str]:
    """Writes the files and says which are written; a disk may be full, and the figures are wanted all the same."""
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.messages import say
    from chunkwise.evaluation.files.results_file import write_results

    written = []
    for name in _FILES:
        if options[name] is None:
            continue
        try:
            if name == "output":
                write_results(results, options[name])
            else:
                from chunkwise.report.evaluation.page import write_evaluation_page

                known = {document.id: document for document in documents}
                write_evaluation_page(results, options[name], known)
            written.append(name)
        except ChunkwiseError as error:
            say(error)
    return written


def _show(results: Results, options: dict[str, Any]) -> None:
    if options["as_json"]:
        from chunkwise.evaluation.files.results_file import results_text

        click.echo(results_text(results), nl=False)
    elif not options["quiet"]:
        from rich.console import Console

        from chunkwise.report.evaluation.terminal import render_evaluation

        render_evaluation(results, Console(file=sys.stdout, highlight=False))

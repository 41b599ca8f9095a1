"""`chunkwise evaluate`."""

from __future__ import annotations

import shlex

from chunkwise.base.errors import InvalidParameter
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.report_options import write_or_say
from chunkwise.cli.run_evaluation import EvaluationOptions, kept_run, prepare, say_why_silent
from chunkwise.cli.streams import say
from chunkwise.evaluation.results import Results, results_text
from chunkwise.evaluation.verdicts_and_advice import type_robustness
from chunkwise.report.evaluation_report import evaluation_report


class EvaluateOptions(EvaluationOptions, KeepOptions):
    """The options of `chunkwise evaluate`."""


@dataclass_command("evaluate", EvaluateOptions)
def command(options: EvaluateOptions) -> None:
    """Score a chunking and retrieval configuration on test questions.

    SOURCE is documents (files, folders, globs, archives), which are chunked and indexed in memory, or an index. A
    test set with documents (BEIR, SQuAD, AutoRAG) provides both documents and questions. Without SOURCE, the
    documents in the folder of the questions are used, except code.

    Examples:
      chunkwise evaluate docs/ -Q q.json -s sentences -o b.json
      chunkwise evaluate docs/ -Q q.json -r ./mine.py:search
      chunkwise evaluate docs/ -Q q.json --fail-under recall@5=0.8

    Next: chunkwise compare before.json after.json
    """

    prepared = prepare(options)
    options = prepared.options
    keeper = RunKeeper(options, quiet=options.quiet)
    evaluated = prepared.run()
    results = evaluated.results
    types = _types_there(results, prepared.types)
    is_saved = write_or_say(options.output, results.save, options.quiet)
    keeper.keep(lambda: kept_run(evaluated, options.keep_text))
    texts = {document.id: document for document in evaluated.documents}
    is_written = options.print_and_write(
        lambda: evaluation_report(results, types=types, next_command=_next_command(options)),
        lambda: results_text(results),
        lambda: evaluation_report(results, texts, types),
        is_kept=bool(options.output) and is_saved,
    )
    missed, is_silent = prepared.missed(results), say_why_silent(results)
    leave(
        failed=not (is_saved and is_written),
        wrong_usage=bool(options.types) and types is None,
        not_reached=bool(missed),
        skipped=bool(evaluated.left_out) or is_silent,
    )


def _types_there(results: Results, types: tuple[str, str] | None) -> tuple[str, str] | None:
    """None where those of a type have no score: the figures, which may have cost much, are shown all the same."""

    try:
        return types if types and type_robustness(results, types) else None
    except InvalidParameter as error:
        say(f"--types: {error}")
        return None


def _next_command(options: EvaluationOptions) -> str:
    """Other configurations, on the same questions."""
    if not options.source or options.test_queries is None:
        return ""
    return (
        f"chunkwise tune {shlex.join(options.source)} -Q {shlex.quote(str(options.test_queries))}"
    )

"""`chunkwise tune`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.inputs import SKIPPED, document_options, jobs_option, load_options, worker_count

if TYPE_CHECKING:
    from chunkwise.evaluation.left_out import LeftOut
    from chunkwise.experiments.plan import Plan
    from chunkwise.experiments.sweep import Sweep
    from chunkwise.experiments.tune import Material
    from chunkwise.experiments.tuning import Tuning

FOLDER = "chunkwise-tune"
PLAN = "sweep.toml"

_EXAMPLES = """
\b
Examples:
  chunkwise tune handbook/ --test-queries queries.json              # a sensible sweep, a recommendation, report.html
  chunkwise tune handbook/ --test-queries queries.json --dry-run    # how much work it is, and nothing else
  chunkwise tune sweep.toml -o out                                  # a plan of your own, kept under version control
  chunkwise tune --resume -o out                                    # or the same command again: goes on
  chunkwise tune handbook/ --test-queries queries.json --model none --time "5 min"   # by words alone
\b
Then: chunkwise index handbook/ --into kb --config chunkwise-tune/recommendation.toml
\b
Exit status: 0 done, 3 something was left out (a line on stderr), 1 an error, 2 wrong usage or value.
"""


@click.command("tune", epilog=_EXAMPLES)
@click.option(
    "--test-queries",
    "--queries",
    metavar="FILE",
    help="Questions with references, in any known format.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=FOLDER,
              show_default=True, metavar="FOLDER", help="Where everything is kept, finished or not.")  # fmt: skip
@click.option(
    "--objective", metavar="METRIC", show_default="recall@1000t", help="What is to be high."
)
@click.option(
    "-k", "count", type=click.IntRange(1), metavar="N", show_default="5", help="Hits a question."
)
@click.option(
    "--model", metavar="NAME", show_default="minilm", help="What makes vectors; none: words alone."
)
@click.option(
    "--time", "budget", metavar="TIME", help='The time that may be spent: "10 min", "90 s".'
)
@click.option(
    "--exact", is_flag=True, help="Embed every distinct chunk by itself, not only the finalists'."
)
@click.option(
    "--seed", type=int, metavar="N", show_default="0", help="Of the split and the resamples."
)
@click.option("--resume", is_flag=True, help="Go on with the sweep in the output folder.")
@click.option("--dry-run", is_flag=True, help="Say how much work it is, and stop.")
@click.option(
    "--json", "as_json", is_flag=True, help="The recommendation as JSON on stdout, nothing else."
)
@jobs_option
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Find the chunking and the search that work for your documents, and prove it.

    INPUTS are documents, or a plan (sweep.toml). The choice is made on one part of the questions and judged on the
    other. What is done is kept: the same command goes on where it was stopped.
    """
    from chunkwise.cli.messages import say, say_skipped
    from chunkwise.evaluation.left_out import LeftOut

    folder = Path(options["output"])
    sweep = _sweep(inputs, folder, options)
    left_out = LeftOut(say_skipped)
    material = _material(sweep, left_out, folder, options)
    plan = _plan(sweep)
    if not options["quiet"]:
        for line in _work(sweep, plan, material, folder):
            say(line)
    if options["dry_run"]:
        return
    _keep_plan(sweep, folder)
    tuning = _run(sweep, plan, material, folder, left_out, options)
    _write(tuning, sweep, material, folder, options)
    if left_out.any:
        sys.exit(SKIPPED)


def _sweep(inputs: tuple[str, ...], folder: Path, options: dict[str, Any]) -> Sweep:
    """From a plan, from the folder, or the usual one."""
    from chunkwise.experiments.sweep_file import read_sweep

    if options["resume"]:
        if inputs:
            raise click.UsageError(
                "--resume goes on with what is in the folder: name no documents beside it"
            )
        if not (folder / PLAN).is_file():
            raise click.UsageError(
                f"{folder} holds no sweep to go on with; name another folder: -o FOLDER"
            )
        return read_sweep(folder / PLAN)
    if len(inputs) == 1 and inputs[0].lower().endswith(".toml"):
        return _changed(read_sweep(inputs[0]), options)
    if not inputs:
        raise click.UsageError("no documents: name files or folders, or a plan: sweep.toml")
    return _usual(inputs, options)


def _usual(inputs: tuple[str, ...], options: dict[str, Any]) -> Sweep:
    from chunkwise.experiments.usual_sweep import usual_sweep

    # Whether there are headings is seen when the documents are read; sections without any are simply sentences.
    sweep = usual_sweep(inputs, options["test_queries"], has_headings=True)
    return _changed(sweep, options)


def _changed(sweep: Sweep, options: dict[str, Any]) -> Sweep:
    """What is said on the command line wins."""
    from dataclasses import replace

    from chunkwise.experiments.budget import parse_budget
    from chunkwise.experiments.usual_sweep import usual_retrieval

    names = {"test_queries": "test_queries", "objective": "objective", "count": "k", "seed": "seed"}
    given = {ours: options[name] for name, ours in names.items() if options[name] is not None}
    if options["exact"]:
        given["exact"] = True
    if options["budget"]:
        given["seconds"] = parse_budget(options["budget"]).seconds
    if options["model"]:
        given["model"] = "" if options["model"] == "none" else options["model"]
        given["retrieval"] = usual_retrieval(given["model"])
    return replace(sweep, **given)


def _material(sweep: Sweep, left_out: LeftOut, folder: Path, options: dict[str, Any]) -> Material:
    from chunkwise.experiments.tune import read_material

    written = [path.resolve() for path in (folder, folder / PLAN)]
    return read_material(sweep, left_out, options=load_options(options), leave_out=written)


def _plan(sweep: Sweep) -> Plan:
    """Whether a model gives vectors of single tokens is told by the model itself."""
    from chunkwise.experiments.plan import plan
    from chunkwise.models import DEFAULT, get_embedder
    from chunkwise.models.embedder import TokenEmbedder

    late = sweep.model in ("", DEFAULT) or isinstance(get_embedder(sweep.model), TokenEmbedder)
    return plan(sweep, late=late)


def _work(sweep: Sweep, plan: Plan, material: Material, folder: Path) -> list[str]:
    """What there is to do, before it is done."""
    from chunkwise.experiments.estimate import estimate
    from chunkwise.experiments.record import Record

    known = Record(folder).known()
    told = estimate(
        plan, documents=len(material.documents), characters=material.characters,
        tokens=material.characters // 4, questions=len(material.questions),
        tokens_per_second=_SPEED, known=known,
    )  # fmt: skip
    lines = [f"{len(material.documents):,} documents, {len(material.questions):,} questions"]
    lines += told.words
    if known:
        lines.append(f"{len(known):,} configurations are done already")
    return lines


_SPEED = 2500.0
"""Tokens a second of the model on one core of a server."""


def _keep_plan(sweep: Sweep, folder: Path) -> None:
    from chunkwise.atomic import replacing, says_what_it_writes
    from chunkwise.experiments.sweep_text import sweep_text

    path = folder / PLAN
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text(sweep_text(sweep, folder), encoding="utf-8")


def _run(
    sweep: Sweep, plan: Plan, material: Material, folder: Path, left_out: LeftOut,
    options: dict[str, Any],
) -> Tuning:  # fmt: skip
    from chunkwise.cli.progress import progress
    from chunkwise.cli.weights import fetch_weights
    from chunkwise.experiments.tune import tune

    fetch_weights(sweep.model, options["quiet"])
    return tune(
        sweep, plan, material, folder, left_out=left_out,
        jobs=worker_count(options["jobs"], material.characters),
        stages=lambda name, total: progress(name, total, options["quiet"]),
    )  # fmt: skip


def _write(
    tuning: Tuning, sweep: Sweep, material: Material, folder: Path, options: dict[str, Any]
) -> None:
    from chunkwise.cli.tune_explorer import explorer
    from chunkwise.experiments.recommendation import snippets, write_recommendation
    from chunkwise.experiments.recommended_settings import chosen_configuration, recommendation_of
    from chunkwise.experiments.tuning_file import write_tuning
    from chunkwise.report.tuning.page import write_tuning_page

    write_tuning(tuning, folder / "results.json")
    chosen = chosen_configuration(tuning)
    shown = explorer(tuning, sweep, material.documents, material.questions.queries)
    code = snippets(recommendation_of(chosen, sweep)) if chosen else None
    write_tuning_page(tuning, folder / "report.html", explorer=shown, code=code)
    written = ["results.json", "report.html"]
    if chosen is not None:
        recommended = recommendation_of(chosen, sweep)
        write_recommendation(recommended, folder / "recommendation.toml", tuning.sentence)
        written.insert(0, "recommendation.toml")
    if options["as_json"]:
        _print_json(tuning, sweep)
    elif not options["quiet"]:
        from rich.console import Console

        from chunkwise.report.tuning.terminal import render_tuning

        render_tuning(tuning, Console(file=sys.stdout, highlight=False))
        click.echo(f"written to {folder}/: {', '.join(written)}", err=True)


def _print_json(tuning: Tuning, sweep: Sweep) -> None:
    import json

    from chunkwise.experiments.recommended_settings import chosen_configuration, recommendation_of

    chosen = chosen_configuration(tuning)
    told = {
        "sentence": tuning.sentence,
        "caveats": list(tuning.caveats),
        "recommendation": None if chosen is None else recommendation_of(chosen, sweep).settings(),
    }
    click.echo(json.dumps(told, ensure_ascii=False))

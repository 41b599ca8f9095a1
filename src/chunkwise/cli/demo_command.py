"""`chunkwise demo`."""

from __future__ import annotations

from pathlib import Path

import click

_EXAMPLES = """
\b
Examples:
  chunkwise demo                       # the corpus inside the package, tuned: out/report.html
  chunkwise demo --output /tmp/demo
  chunkwise demo --model none          # by words alone, in a few seconds
"""


@click.command("demo", epilog=_EXAMPLES)
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), default="out",
              show_default=True, metavar="FOLDER", help="Where report and recommendation go.")  # fmt: skip
@click.option("--model", default="minilm", show_default=True, metavar="NAME",
              help="What makes vectors; none: words alone.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
def command(output: Path, model: str, quiet: bool) -> None:
    """Tune for the corpus inside the package: 13 small documents, 132 questions, under a minute."""
    import chunkwise
    from chunkwise.cli.tune_command import command as tune
    from chunkwise.cli.tune_command import run_sweep
    from chunkwise.tuning.plan.default_sweep import default_retrieval
    from chunkwise.tuning.sweep import Grid, Sweep

    model = "" if model == "none" else model
    package = Path(chunkwise.__file__).parent
    # Few sizes, and no finalists embedded chunk by chunk: it is done while one watches.
    sweep = Sweep(
        (str(package / "corpus"),),
        str(package / "corpus_questions.json"),
        (Grid(_STRATEGIES, (("max_tokens", _SIZES),)),),
        default_retrieval(model),
        model=model,
        finalists=0,
    )
    run_sweep(sweep, output, tune.make_context("tune", ["--quiet"] if quiet else []).params)
    if not quiet:
        click.echo(f"open {output / 'report.html'} in a browser", err=True)
        click.echo("your documents: chunkwise tune FOLDER --test-queries questions.json", err=True)


_STRATEGIES = ("sentences", "recursive", "structure", "sections")
_SIZES = (100, 200, 400)

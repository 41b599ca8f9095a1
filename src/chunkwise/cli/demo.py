"""`chunkwise demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from chunkwise.base.schema import Name, Option
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import QuietOption, VerboseOption

_STRATEGIES = ("sentences", "recursive", "structure", "sections")
_SIZES = (100, 200, 400)


class DemoOptions(VerboseOption, QuietOption):
    """The options of `chunkwise demo`."""

    output: Annotated[Path, Option(
        "Output folder", flag="-o", metavar="FOLDER", common=True
    )] = Path("out")  # fmt: skip
    embedder: Annotated[Name, Option(
        "Embedding model; none: BM25 only", flag="-e", metavar="NAME", common=True
    )] = "minilm"  # fmt: skip


@dataclass_command("demo", DemoOptions)
def command(options: DemoOptions) -> None:
    """Run `tune` on the bundled corpus: 13 documents, 132 questions, under a minute.

    Examples:
      chunkwise demo
      chunkwise demo --output /tmp/demo
      chunkwise demo --embedder none
    """
    import chunkwise
    from chunkwise.cli.tune import SweepOptions, tune_and_show
    from chunkwise.tuning.plan.grid import default_retrieval
    from chunkwise.tuning.plan.prepare import SweepSource
    from chunkwise.tuning.sweep import Grid, Sweep

    model = "" if options.embedder == "none" else options.embedder
    package = Path(chunkwise.__file__).parent
    # Few sizes: it is done while one watches.
    sweep = Sweep(
        (str(package / "corpus"),),
        str(package / "corpus_questions.json"),
        (Grid(_STRATEGIES, (("max_tokens", _SIZES),)),),
        default_retrieval(model),
        embedder=model,
    )
    shown = SweepOptions(
        output=options.output, source=(), quiet=options.quiet, verbose=options.verbose
    )
    tune_and_show(SweepSource(sweep), shown)
    if not options.quiet:
        click.echo(f"open {options.output / 'report.html'} in a browser", err=True)
        click.echo("next, on your documents: chunkwise tune FOLDER -Q questions.json", err=True)

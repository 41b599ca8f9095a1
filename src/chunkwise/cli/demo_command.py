"""`chunkwise demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_EXAMPLES = """
\b
Examples:
  chunkwise demo                       # the corpus inside the package, tuned: out/report.html
  chunkwise demo --output /tmp/demo
"""


@click.command("demo", epilog=_EXAMPLES)
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), default="out",
              show_default=True, metavar="FOLDER", help="Where report and recommendation go.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
@click.pass_context
def command(context: click.Context, output: Path, quiet: bool) -> None:
    """Tune for the corpus inside the package: 13 small documents, 132 questions, under a minute."""
    import chunkwise
    from chunkwise.cli.tune_command import command as tune

    package = Path(chunkwise.__file__).parent
    plan = output / "demo.toml"
    output.mkdir(parents=True, exist_ok=True)
    documents, questions = package / "corpus", package / "corpus_questions.json"
    plan.write_text(_PLAN.format(documents=documents.as_posix(), questions=questions.as_posix()))
    given: dict[str, Any] = {"output": output, "quiet": quiet}
    context.invoke(tune, inputs=(str(plan),), **given)


_PLAN = """\
# What `chunkwise demo` tries: few sizes, so that it is done while you watch.
[sweep]
documents = "{documents}"
test_queries = "{questions}"
finalists = 0

[[sweep.chunkers]]
strategy = ["sentences", "recursive", "structure", "sections"]
max_tokens = [100, 200, 400]

[sweep.retrieval]
retriever = ["bm25", "dense", "hybrid", "multiscale"]
"""

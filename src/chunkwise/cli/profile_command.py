"""`chunkwise profile`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from chunkwise.cli.inputs import (
    SKIPPED,
    check_outputs,
    chosen_inputs,
    document_options,
    load_options,
)
from chunkwise.cli.page_option import page_option

_EXAMPLES = """
\b
Examples:
  chunkwise profile handbook/                       # in the terminal
  chunkwise profile handbook/ --page profile.html   # one self-contained page
  chunkwise profile corpus.jsonl --json > profile.json
"""


@click.command("profile", epilog=_EXAMPLES)
@page_option("--page", "FILE.html", "Write one self-contained page with charts.")
@click.option("--tokenizer", default="o200k_base", show_default=True, metavar="NAME",
              help="What sizes are counted by, as for strategies.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Only JSON on stdout.")
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Tell what a corpus looks like before anything is chosen: sizes, sections, languages, and where to start."""
    from chunkwise.cli.messages import say
    from chunkwise.cli.profile_run import run_profile

    paths = chosen_inputs(inputs)
    outputs = check_outputs(paths, page=options["page"])
    profile, skipped = run_profile(paths, outputs, options, load_options(options))
    if not profile.total.documents:  # leaving so, an older page stays
        say("no document was read; there is nothing to profile")
        sys.exit(SKIPPED)
    if options["as_json"]:
        click.echo(json.dumps(profile.to_dict(), ensure_ascii=False, indent=2))
    if options["page"]:
        from chunkwise.base.atomic import replacing
        from chunkwise.report.profile.page import profile_page

        with replacing(options["page"]) as temporary:
            page = profile_page(profile, ", ".join(paths))
            temporary.write_text(page, encoding="utf-8", errors="replace")
        if not options["quiet"]:
            click.echo(f"written: {options['page']}", err=True)
    if not (options["as_json"] or options["page"]):
        from rich.console import Console

        from chunkwise.report.profile.terminal import render_profile

        render_profile(profile, Console())
    if skipped:
        sys.exit(SKIPPED)

"""`chunkwise studio`."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.schema import Name, Option
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.keep_run import HistoryOption
from chunkwise.cli.llm import llm_client
from chunkwise.cli.options import Labels, Queries, Sources
from chunkwise.cli.server_options import ListeningOptions, ServedSourceOptions
from chunkwise.cli.streams import say
from chunkwise.options import LlmOptions

if TYPE_CHECKING:
    from chunkwise.studio.project_sources import ProjectSources


class StudioOptions(ListeningOptions, LlmOptions, ServedSourceOptions, HistoryOption):
    """The options of `chunkwise studio`."""

    source: Sources = ()
    demo: Annotated[bool, Option(
        "Show the bundled corpus, with questions and two runs", group="Input", common=True
    )] = False  # fmt: skip
    test_queries: Queries = None
    labels: Labels = None
    into: Annotated[Name, Option(
        "Index that a recommendation is applied to", metavar="PLACE", group="Server"
    )] = "kb"  # fmt: skip
    new_token: Annotated[bool, Option(
        "Change the token in the address; old addresses end", group="Server"
    )] = False  # fmt: skip
    no_browser: Annotated[bool, Option(
        "Only print the address", group="Server", common=True
    )] = False  # fmt: skip


@dataclass_command("studio", StudioOptions)
def command(options: StudioOptions) -> None:
    """Look at documents, cuts, searches and runs in the browser, on this machine alone.

    SOURCE are documents (files, folders, globs, archives), or an index, and files of results of evaluate and tune.

    Examples:
      chunkwise studio docs/
      chunkwise studio docs/ --embedder minilm
      chunkwise studio kb
      chunkwise studio kb runs/*.json -Q q.json

    Ctrl-C ends it. What you make is written to .chunkwise/ and to the folders of sweeps; the address stays the same at
    the next start. docs/tutorials/studio.md is a tour.
    """
    settings = options.settings()
    from chunkwise.studio.access_control import kept_token
    from chunkwise.studio.server import serve

    sources = _sources(options)

    def ready(address: str, _: str) -> None:
        click.echo(address)
        sys.stdout.flush()
        if not options.quiet:
            token = "; it holds the token, so keep it to yourself" if "token=" in address else ""
            say(f"the studio is open at this address{token}. Ctrl-C ends it")
        if not options.no_browser and _has_screen():
            # A browser may take seconds to come up, and the server need not wait for it.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    page = "/documents" if sources.documents or sources.index else "/runs"
    try:
        token = (
            kept_token(Path(".chunkwise"), renew=options.new_token)
            if settings.users is None
            else ""
        )
        serve(sources, settings, page=page, token=token, on_ready=ready)
    except KeyboardInterrupt:
        if not options.quiet:
            say("the studio is closed")


def _sources(options: StudioOptions) -> ProjectSources:
    import chunkwise
    from chunkwise.studio.project_sources import ProjectSources

    questions, index = "", ""
    documents: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    if options.demo:
        if options.source:
            raise click.UsageError(
                f"--demo shows the corpus inside the package; leave {options.source[0]} out, or leave --demo out"
            )
        package = Path(chunkwise.__file__).parent
        documents = (str(package / "corpus"),)
        questions = str(package / "corpus_questions.json")
    elif options.source:
        documents, index, runs = options.sorted_sources(options.source)
    else:
        raise click.UsageError(
            "nothing to show: name documents, an index or files of results, or see the sample: chunkwise studio --demo"
        )
    return ProjectSources(
        documents=documents, index=index, runs=runs, questions=options.test_queries or questions,
        embedder=options.embedder or "", demo=options.demo, history=options.history, labels=options.labels,
        loading=options.loading, into=options.into, llm=llm_client(options, options.quiet),
        llm_name=options.llm_name or "",
    )  # fmt: skip


def _has_screen() -> bool:
    """Without one a browser in the terminal might come up, in the middle of our lines."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True

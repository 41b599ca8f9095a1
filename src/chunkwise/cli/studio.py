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
        "Open the bundled corpus, with questions and two runs", group="Input", common=True
    )] = False  # fmt: skip
    test_queries: Queries = None
    labels: Labels = None
    into: Annotated[Name, Option(
        "Index to apply a recommendation to", metavar="PLACE", group="Server"
    )] = "kb"  # fmt: skip
    new_token: Annotated[bool, Option(
        "Replace the access token in the URL", group="Server"
    )] = False  # fmt: skip
    no_browser: Annotated[bool, Option(
        "Print the URL without opening a browser", group="Server", common=True
    )] = False  # fmt: skip


@dataclass_command("studio", StudioOptions)
def command(options: StudioOptions) -> None:
    """Explore documents, chunks, searches and runs in the browser.

    SOURCE is documents (files, folders, globs, archives) or an index, and result files of evaluate and tune. The
    studio runs on this machine only, unless you set --host.

    Examples:
      chunkwise studio docs/
      chunkwise studio docs/ --embedder minilm
      chunkwise studio kb
      chunkwise studio kb runs/*.json -Q q.json

    Your work is saved in .chunkwise/ and in the sweep folders; the URL stays the same. Tour:
    docs/tutorials/studio.md. Stop with Ctrl-C.
    """
    settings = options.settings()
    from chunkwise.studio.access_control import kept_token
    from chunkwise.studio.server import serve

    sources = _sources(options)

    def ready(address: str, _: str) -> None:
        click.echo(address)
        sys.stdout.flush()
        if not options.quiet:
            token = ", which contains your access token" if "token=" in address else ""
            say(f"the studio is open at this URL{token}; stop with Ctrl-C")
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
                f"--demo opens the bundled corpus; leave out {options.source[0]} or --demo"
            )
        package = Path(chunkwise.__file__).parent
        documents = (str(package / "corpus"),)
        questions = str(package / "corpus_questions.json")
    elif options.source:
        documents, index, runs = options.sorted_sources(options.source)
    else:
        raise click.UsageError(
            "nothing to show: give documents, an index or result files, or try: chunkwise studio "
            "--demo"
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

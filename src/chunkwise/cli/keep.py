"""`--keep`: a run joins the history of the project, once its results are written or printed; and where that is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from chunkwise.cli.commands import is_typed, option
from chunkwise.cli.streams import say, shown_place

if TYPE_CHECKING:
    from chunkwise.core import Document
    from chunkwise.tracking.kept_run import KeptRun
    from chunkwise.tracking.store import History

HISTORY_VARIABLE = "CHUNKWISE_HISTORY"


@dataclass(frozen=True, kw_only=True)
class HistoryOption:
    """Which history is meant."""

    history: str | None = option(
        "--history", metavar="PLACE", envvar=HISTORY_VARIABLE, show_envvar=True,
        show_default=".chunkwise/history.db here or above",
        help="The history: a file, or postgresql://user@host/database for a team.",
    )  # fmt: skip

    def opened(self) -> History:
        """The history that is named, here or before the name of the command, or that of the project around us."""
        from chunkwise.tracking.store import History, history_place

        outer = click.get_current_context().obj
        named = outer if isinstance(outer, str) and not is_typed("history") else self.history
        return History(history_place(named))


def hand_down(context: click.Context, place: str | None) -> None:
    """`chunkwise history --history FILE show 1` means the same as with the option at the end."""
    if context.get_parameter_source("place") is ParameterSource.COMMANDLINE:
        context.obj = place


@dataclass(frozen=True, kw_only=True)
class KeepOptions(HistoryOption):
    """Whether the run is remembered, and where."""

    keep: bool = option(
        "--keep", is_flag=True,
        help="Keep this run in the project's history: figures, settings, versions, fingerprints; no text of documents.",
    )  # fmt: skip
    keep_text: bool = option(
        "--keep-text", is_flag=True,
        help="The same, with the text of passages where the command retrieves any.",
    )  # fmt: skip


class RunKeeper:
    """Keeps a run when its results are safe; what is wrong with the history is told, and changes nothing else."""

    def __init__(self, options: KeepOptions, *, quiet: bool = False) -> None:
        self.keeps = options.keep or options.keep_text or is_typed("history")
        self.fingerprints: dict[str, str] = {}
        """Of the documents that passed by."""
        self._options = options
        self._quiet = quiet
        self._began = time.monotonic()

    def passing(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents; what they hold is known by its fingerprint afterwards."""
        for document in documents:
            self.see(document)
            yield document

    def see(self, document: Document) -> None:
        from chunkwise.evaluation.results import document_hash

        if self.keeps:
            self.fingerprints[document.id] = document_hash(document)

    def keep(self, made: Callable[[], KeptRun]) -> None:
        """`made` gives the run; it is not asked where nothing is kept."""
        if not self.keeps:
            return
        try:
            sys.stdout.flush()
        finally:  # nobody may read it any more
            self._add(made)

    def _add(self, made: Callable[[], KeptRun]) -> None:
        from chunkwise.base.errors import ChunkwiseError

        seconds = time.monotonic() - self._began
        try:
            history = self._options.opened()
            added = history.add(replace(made(), seconds=seconds))
        except ChunkwiseError as error:
            say(f"this run is not kept: {error}")
            return
        if not self._quiet:
            say(f"kept as run {added.number} in {shown_place(history.place)}")

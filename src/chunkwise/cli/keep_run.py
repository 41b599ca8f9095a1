"""`--save`: a run joins the history of the project before its results are shown, and where that is.

`--mlflow`, `--otel` and `--prometheus` stand beside it: figures are handed on to what a team has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chunkwise.base.atomic_files import check_writable
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Name, Option, Options
from chunkwise.cli.dataclass_options import is_typed
from chunkwise.cli.streams import say, shown_place
from chunkwise.core import Document
from chunkwise.tracking import HISTORY_VARIABLE
from chunkwise.tracking.database import history_place

if TYPE_CHECKING:
    from chunkwise.tracking.history import History
    from chunkwise.tracking.run import KeptRun


class HistoryOption(Options, group="History"):
    """Which history is meant."""

    history: Annotated[Name | None, Option(
        "History: a file, or postgresql://user@host/database", metavar="PLACE", variable=HISTORY_VARIABLE,
        default_text=".chunkwise/history.db",
    )] = None  # fmt: skip

    def opened(self) -> History:
        """The history that is named, or that of the project around us."""
        from chunkwise.tracking.history import History

        return History(history_place(self.history))


class ExporterOptions(Options, group="History"):
    """Who else is told the figures of a run."""

    mlflow: Annotated[Name | None, Option(
        "Log metrics to MLflow: http://HOST:5000, sqlite:///mlflow.db", metavar="URI"
    )] = None  # fmt: skip
    otel: Annotated[bool, Option("Send metrics to OTEL_EXPORTER_OTLP_ENDPOINT")] = False
    prometheus: Annotated[Path | None, Option(
        "Write metrics for Prometheus (node_exporter)", metavar="FILE.prom"
    )] = None  # fmt: skip


class KeepOptions(HistoryOption, ExporterOptions, group="History"):
    """Whether the run is remembered, and where; and who else is told its figures."""

    keep: Annotated[bool, Option(
        "Add this run to the project's history", long_flag="--save", group="Output", common=True
    )] = False  # fmt: skip
    keep_text: Annotated[bool, Option(
        "Like --save, with the text of passages", long_flag="--save-text"
    )] = False  # fmt: skip


class RunKeeper:
    """Keeps a run when its results are safe, and hands its figures on.

    What is wrong with the history or with another service is told, and changes nothing else.
    """

    def __init__(self, options: KeepOptions, *, quiet: bool = False) -> None:
        self.keeps = options.keep or options.keep_text or is_typed("history")
        self.fingerprints: dict[str, str] = {}
        """Of the documents that passed by."""
        self._options = options
        self._quiet = quiet
        self._began = time.monotonic()
        self._exporters = exporters_of(options)

    def see(self, document: Document) -> None:
        """What it holds is known by its fingerprint afterwards."""
        from chunkwise.documents.document_hash import document_hash

        if self.keeps or self._exporters:
            self.fingerprints[document.id] = document_hash(document)

    def keep(self, made: Callable[[], KeptRun]) -> None:
        """`made` gives the run; it is not asked where nothing is kept."""
        if not self.keeps and not self._exporters:
            return
        with _told("the run is neither saved nor exported"):
            run = replace(made(), seconds=time.monotonic() - self._began)
            if self.keeps:
                with _told("the run is not saved"):
                    history = self._options.opened()
                    run = replace(run, number=history.add(run).number)
                    self._say(f"saved as run {run.number} in {shown_place(history.place)}")
            hand_on(run, self._exporters, self._say)

    def _say(self, line: str) -> None:
        if not self._quiet:
            say(line)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """An error is one line, and the figures that were measured stay what they are."""
    try:
        yield
    except (ChunkwiseError, ValueError, OSError) as error:
        say(f"{what}: {error}")


def hand_on(
    run: KeptRun,
    exporters: Mapping[str, Callable[[KeptRun], object]],
    on_done: Callable[[str], None],
) -> None:
    """Figures to other services; one that does not take them is told, and the others get them."""
    if not exporters:
        return
    from chunkwise.tracking.record_run import without_secrets

    # Only histories clear away what nobody else should see.
    run = without_secrets(run)
    for name, export in exporters.items():
        with _told(f"no metrics sent to {name}"):
            export(run)
            on_done(f"metrics sent to {name}")


def exporters_of(options: ExporterOptions) -> dict[str, Callable[[KeptRun], object]]:
    """By what they are called; what is missing for one is an error before any work is done."""
    result: dict[str, Callable[[KeptRun], object]] = {}
    if options.mlflow is None and not options.otel and options.prometheus is None:
        return result
    from chunkwise.tracking import export_to_mlflow_otel_prometheus as exporting

    if (uri := options.mlflow) is not None:
        exporting.check_exporter("mlflow")
        result["MLflow"] = lambda run: exporting.log_to_mlflow(run, uri)
    if options.otel:
        exporting.check_exporter("otel")
        result["OpenTelemetry"] = exporting.send_otel
    if (file := options.prometheus) is not None:
        check_writable(file)
        result[f"Prometheus ({file})"] = lambda run: exporting.write_prometheus(run, file)
    return result

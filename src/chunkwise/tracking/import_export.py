"""Runs handed on, as tables and to MLflow, OpenTelemetry and Prometheus; and files of results that become runs."""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from glob import glob, has_magic
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.evaluation.results import read_results
from chunkwise.records.json import WrongType, json_text, parse_json, read_as
from chunkwise.records.write import arrow, csv_file, json_lines_file, parquet_file, text_file
from chunkwise.tracking import RunKind
from chunkwise.tracking.history import History
from chunkwise.tracking.record_run import run_of_results, run_of_sweep
from chunkwise.tracking.run import KeptRun, RunOrigin, RunSummary, time_text
from chunkwise.tuning.sweep_result import FORMAT as SWEEP_FORMAT
from chunkwise.tuning.sweep_result import VERSION as SWEEP_VERSION
from chunkwise.tuning.sweep_result import SweepResult

TableFormat = Literal["csv", "jsonl", "parquet"]
_OF_RUN = {
    "run": "int64", "when": "string", "kind": "string", "label": "string", "git_revision": "string",
    "git_branch": "string", "user": "string", "host": "string", "source": "string", "documents_hash": "string",
    "questions_hash": "string", "settings_hash": "string", "chunkwise": "string", "settings": "string",
    "seconds": "float64", "money": "float64",
}  # fmt: skip
_OF_FIGURE = {
    "metric": "string", "is_objective": "bool_", "mean": "float64", "low": "float64", "high": "float64",
    "scored": "int64", "questions": "int64", "detectable": "float64",
}  # fmt: skip
_OF_SCORE = {
    "question": "string", "text": "string", "types": "string", "metric": "string", "score": "float64"
}  # fmt: skip


def columns(*, by_question: bool) -> dict[str, str]:
    """Names and types of Arrow, in their order."""
    return {**_OF_RUN, **(_OF_SCORE if by_question else _OF_FIGURE)}


def export_rows(
    history: History, *, by_question: bool = False, kind: RunKind | None = None
) -> Iterator[dict[str, object]]:
    """In the order of the runs."""
    for run in history.runs(kind):
        own = _run(run)
        if by_question:
            yield from ({**own, **row} for row in _scores(history, run.number))
            continue
        for metric, figure in run.figures.items():
            yield {
                **own, "metric": metric, "is_objective": metric == run.objective, "mean": figure.mean,
                "low": figure.low, "high": figure.high, "scored": figure.scored,
                "questions": figure.questions, "detectable": figure.detectable,
            }  # fmt: skip


def _run(run: RunSummary) -> dict[str, object]:
    origin = run.origin
    return {
        "run": run.number, "when": run.when, "kind": run.kind, "label": run.label,
        "git_revision": origin.git_revision, "git_branch": origin.git_branch, "user": origin.user,
        "host": origin.host, "source": run.source, "documents_hash": run.documents_hash,
        "questions_hash": run.questions_hash, "settings_hash": run.settings_hash,
        "chunkwise": run.versions.get("chunkwise", ""), "settings": json_text(run.settings),
        "seconds": run.seconds, "money": run.money,
    }  # fmt: skip


def _scores(history: History, number: int) -> Iterator[dict[str, object]]:
    run = history.run(number)
    for at, question in enumerate(run.questions):
        for metric, scores in run.scores.items():
            yield {
                "question": question.id, "text": question.text, "types": ", ".join(question.types),
                "metric": metric, "score": scores[at],
            }  # fmt: skip


def write_rows(
    rows: Iterator[dict[str, object]], path: Path, form: TableFormat, *, by_question: bool = False
) -> int:
    """How many there are; the file is whole or not there."""
    kinds = columns(by_question=by_question)
    count = 0

    def counted() -> Iterator[dict[str, object]]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    schema: Any = None
    if form == "parquet":
        pa = arrow()
        schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in kinds.items()])
    with replacing(path) as temporary, says_what_it_writes(path):
        if form == "csv":
            opened = csv_file(temporary, tuple(kinds))
        elif form == "jsonl":
            opened = json_lines_file(temporary)
        else:
            opened = parquet_file(temporary, schema)
        with opened as append:
            append(counted())
    return count


EXPERIMENT_VARIABLE = "MLFLOW_EXPERIMENT_NAME"
ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
_EXPERIMENT = "chunkwise"
_PATIENCE = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "10", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2"}
"""MLflow would try a server that does not answer for many minutes."""
_SECONDS = 10
_LONGEST_PARAMETER, _LONGEST_TAG = 6000, 5000
_PARAMETERS_AT_ONCE, _METRICS_AT_ONCE = 100, 1000
_NOT_IN_MLFLOW = re.compile(r"[^/\w.\- ]")


class RunGauge(NamedTuple):
    """A number of a run with what it is of."""

    name: str
    """Of the family, as `figure_low`."""
    value: float
    metric: str = ""
    """Empty: it is of the run as a whole."""


_HELP = {
    "figure": "Mean of a metric of the run.",
    "figure_low": "Lower end of the 95 % interval of a metric.",
    "figure_high": "Upper end of the 95 % interval of a metric.",
    "figure_questions": "Questions that are scored by a metric.",
    "run_timestamp_seconds": "When the run was made, in seconds since 1970.",
    "run_number": "Number of the run in its history.",
    "run_duration_seconds": "How long the run took.",
    "run_cost_dollars": "What language models cost.",
    "run_info": "What was run; always 1.",
}


def gauges(run: RunSummary) -> Iterator[RunGauge]:
    """The numbers of a run that are known."""
    for metric, figure in run.figures.items():
        for name, value in (
            ("figure", figure.mean), ("figure_low", figure.low), ("figure_high", figure.high),
            ("figure_questions", figure.scored or None),
        ):  # fmt: skip
            if value is not None and math.isfinite(value):
                yield RunGauge(name, float(value), metric)
    yield RunGauge("run_timestamp_seconds", _seconds(run))
    for name, known in (
        ("run_number", run.number or None), ("run_duration_seconds", run.seconds), ("run_cost_dollars", run.money),
    ):  # fmt: skip
        if known is not None:
            yield RunGauge(name, float(known))


def _seconds(run: RunSummary) -> float:
    return datetime.strptime(run.when, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()


def _about(run: RunSummary) -> dict[str, str]:
    """What was run, by which version, of which state of the repository; what is not known is left out."""
    known = {
        "label": run.label, "objective": run.objective, "branch": run.origin.git_branch,
        "revision": run.origin.git_revision, "version": run.versions.get("chunkwise", ""),
    }  # fmt: skip
    return {name: value for name, value in known.items() if value}


def check_exporter(what: str, package: str, extra: str) -> None:
    """Before any work is done: a package that is missing is told with the command that installs it."""
    try:
        there = find_spec(package) is not None
    except ModuleNotFoundError:  # the package it is in is missing
        there = False
    if not there:
        raise MissingExtra(what, extra)


def check_mlflow() -> None:
    check_exporter("--mlflow", "mlflow", "mlflow")


def check_otel() -> None:
    check_exporter("--otel", "opentelemetry.exporter.otlp.proto.http", "otel")


# Prometheus


def write_prometheus(run: RunSummary, file: Path) -> None:
    """The text format, for the textfile collector of node_exporter; the file is whole or not there."""
    with text_file(file) as out:
        out.write(prometheus_text(run))


def prometheus_text(run: RunSummary) -> str:
    """The gauges of a run in the text format of Prometheus."""
    found = list(gauges(run))
    lines = []
    for family, help in _HELP.items():
        own = [each for each in found if each.name == family]
        if family == "run_info":
            samples = [f"chunkwise_run_info{_labels({'kind': run.kind, **_about(run)})} 1"]
        else:
            samples = [
                f"chunkwise_{family}{_labels({'kind': run.kind, **({'metric': each.metric} if each.metric else {})})} "
                f"{each.value!r}"
                for each in own
            ]
        if samples:
            name = f"chunkwise_{family}"
            lines += [f"# HELP {name} {help}", f"# TYPE {name} gauge", *samples]
    return "\n".join(lines) + "\n"


def _labels(values: dict[str, str]) -> str:
    quoted = (f'{name}="{_in_label(value)}"' for name, value in values.items())
    return "{" + ",".join(quoted) + "}"


def _in_label(value: str) -> str:
    plain = value.encode("utf-8", "replace").decode()
    return plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", " ")


# OpenTelemetry


def send_otel(run: RunSummary) -> None:
    """Gauges by OTLP over HTTP, to where OTEL_EXPORTER_OTLP_ENDPOINT says; they have arrived when this returns."""
    check_otel()
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult
    from opentelemetry.sdk.resources import Resource

    service = os.environ.get("OTEL_SERVICE_NAME") or "chunkwise"
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], resource=Resource.create({"service.name": service}))
    try:
        _record(provider.get_meter("chunkwise", run.versions.get("chunkwise", "")), run)
        data = reader.get_metrics_data()
    finally:
        provider.shutdown()
    address = os.environ.get(ENDPOINT_VARIABLE) or "http://localhost:4318"
    with _foreign_errors(f"the collector at {address}"):
        exporter = OTLPMetricExporter(timeout=_SECONDS)
        try:
            result = exporter.export(data)
        finally:
            exporter.shutdown()
    if result is not MetricExportResult.SUCCESS:
        raise ChunkwiseError(
            f"the collector at {address} did not take the metrics; is it running, and does it speak OTLP over HTTP? "
            f"{ENDPOINT_VARIABLE} names another"
        )


def _record(meter: Any, run: RunSummary) -> None:
    about = {"kind": run.kind, **_about(run)}
    made: dict[str, Any] = {}
    for each in gauges(run):
        if each.name not in made:
            made[each.name] = meter.create_gauge(
                f"chunkwise.{each.name}", description=_HELP[each.name]
            )
        made[each.name].set(each.value, {**about, **({"metric": each.metric} if each.metric else {})})  # fmt: skip


# MLflow


def log_to_mlflow(run: RunSummary, uri: str) -> str:
    """A run of MLflow with figures as metrics and settings as parameters; its id."""
    check_mlflow()
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    # What MLflow prints must not stand among JSON.
    with _foreign_errors(f"MLflow at {uri}"), redirect_stdout(sys.stderr):
        from mlflow.entities import Metric, Param, RunTag
        from mlflow.tracking import MlflowClient

        client = MlflowClient(tracking_uri=uri)
        when = int(_seconds(run) * 1000)
        metrics = [
            Metric(_mlflow_name(each), each.value, when, 0)
            for each in gauges(run)
            if each.name != "run_timestamp_seconds"
        ]
        settings = {name: json_text(value) if not isinstance(value, str) else value
                    for name, value in run.settings.items()}  # fmt: skip
        params = [
            Param(_in_mlflow(name), value[:_LONGEST_PARAMETER]) for name, value in settings.items()
        ]
        tags = {
            **{f"chunkwise.{name}": value[:_LONGEST_TAG] for name, value in _about(run).items()},
            "chunkwise.kind": run.kind, "chunkwise.run": str(run.number or ""),
            "chunkwise.documents": run.documents_hash, "chunkwise.questions": run.questions_hash,
            "mlflow.source.name": "chunkwise", "mlflow.source.git.commit": run.origin.git_revision,
        }  # fmt: skip
        made = client.create_run(_experiment(client), when, run_name=run.label[:200] or run.kind)
        found = str(made.info.run_id)
        try:
            for metrics_now in _batches(metrics, _METRICS_AT_ONCE):
                client.log_batch(found, metrics=metrics_now)
            for params_now in _batches(params, _PARAMETERS_AT_ONCE):
                client.log_batch(found, params=params_now)
            client.log_batch(found, tags=[RunTag(name, value) for name, value in tags.items() if value])  # fmt: skip
        except BaseException:
            client.set_terminated(found, "FAILED")
            raise
        client.set_terminated(found, "FINISHED")
        return found


def _experiment(client: Any) -> str:
    """The id of the experiment; it is made where there is none."""
    name = os.environ.get(EXPERIMENT_VARIABLE) or _EXPERIMENT
    known = client.get_experiment_by_name(name)
    return str(client.create_experiment(name) if known is None else known.experiment_id)


def _mlflow_name(gauge: RunGauge) -> str:
    """`recall_at_5`, `recall_at_5.low`; of the run as a whole `run_duration_seconds`."""
    if not gauge.metric:
        return gauge.name
    end = gauge.name.removeprefix("figure").removeprefix("_")
    return _in_mlflow(gauge.metric) + (f".{end}" if end else "")


def _in_mlflow(name: str) -> str:
    """A name as MLflow allows it, which knows no @."""
    return _NOT_IN_MLFLOW.sub("_", name.replace("@", "_at_"))[:240] or "_"


def _batches(values: Sequence[Any], most: int) -> Iterator[Sequence[Any]]:
    return (values[at : at + most] for at in range(0, len(values), most))


@contextmanager
def _foreign_errors(what: str) -> Iterator[None]:
    """Whatever a library of others raises is one line, and what it logs meanwhile is none."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    except ChunkwiseError:
        raise
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ChunkwiseError(f"{what} did not take it: {why[:300]}") from error
    finally:
        logging.disable(before)


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file and the run it is."""

    file: str
    number: int
    is_new: bool
    """False: the run was in the history already."""


def import_results(
    history: History, paths: Iterable[str | Path], on_bad: Callable[[ChunkwiseError], None]
) -> list[ImportedFile]:
    """The oldest file first; what is no file of results is told to `on_bad`, and the others are taken."""
    runs: list[tuple[str, KeptRun]] = []
    for path in _files(paths):
        try:
            runs.append((str(path), run_of_file(path)))
        except ChunkwiseError as error:
            on_bad(error)
    found = []
    for name, run in sorted(runs, key=lambda each: (each[1].when, each[0])):
        added = history.add(run, again=False)
        found.append(ImportedFile(name, added.number, added.is_new))
    return found


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    """Each once; a pattern is one where no shell has looked at it, a folder the results in it."""
    seen: set[Path] = set()
    for given in paths:
        name = str(given)
        if has_magic(name) and not Path(name).exists():
            named = [Path(each) for each in sorted(glob(name, recursive=True))] or [Path(name)]
        else:
            named = sorted(Path(name).glob("*.json")) if Path(name).is_dir() else [Path(name)]
            named = named or [Path(name)]
        for path in named:
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield path


def run_of_file(path: Path) -> KeptRun:
    """What an evaluation or a sweep wrote; its time is that of the file, who made it is not known."""
    if is_sweep_file(path):
        run = run_of_sweep(read_sweep(path))
    else:
        run = run_of_results(read_results(path))
    try:
        content, written = path.read_bytes(), path.stat().st_mtime
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    when = time_text(datetime.fromtimestamp(written, UTC))
    key = sha256(content).hexdigest()
    return replace(run, key=key, when=when, source=path.name, origin=RunOrigin())


def is_sweep_file(path: Path) -> bool:
    """Whether a file says at its beginning that it holds the results of a sweep."""
    try:
        with path.open("rb") as file:
            return f'"{SWEEP_FORMAT}"' in file.read(200).decode("utf-8", "replace")
    except OSError:  # reading it whole will say why
        return False


def read_sweep(path: Path) -> SweepResult:
    """What a sweep wrote; an error says which file, what is wrong and where."""
    try:
        value = parse_json(path.read_text("utf-8"))
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ChunkwiseError(f"{path} is no JSON, or breaks off ({error})") from None
    if type(value) is not dict or value.get("format") != SWEEP_FORMAT:
        raise ChunkwiseError(f"{path} is JSON, but no results of a sweep")
    version = value.get("version")
    if type(version) is not int or not 1 <= version <= SWEEP_VERSION:
        raise ChunkwiseError(
            f"{path}: its version is {version!r}; this chunkwise reads 1 to {SWEEP_VERSION}"
        )
    try:
        found: SweepResult = read_as(SweepResult, value)
    except WrongType as misfit:
        where = misfit.way.removeprefix(".")
        raise ChunkwiseError(f"{path} is damaged: {where} is {misfit.found}") from None
    return found

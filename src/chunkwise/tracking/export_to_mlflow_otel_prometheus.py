"""The figures of a run handed on to MLflow, OpenTelemetry and Prometheus."""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.records.json import json_text
from chunkwise.records.write import text_file
from chunkwise.tracking.run import RunSummary

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
    "figure_low": "Lower end of the 95% interval of a metric.",
    "figure_high": "Upper end of the 95% interval of a metric.",
    "figure_questions": "Scored questions of a metric.",
    "run_timestamp_seconds": "Time of the run, in seconds since 1970.",
    "run_number": "Number of the run in its history.",
    "run_duration_seconds": "Duration of the run.",
    "run_cost_dollars": "Cost of language models.",
    "run_info": "The command of the run; always 1.",
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


_PACKAGES = {"mlflow": "mlflow", "otel": "opentelemetry.exporter.otlp.proto.http"}


def check_exporter(extra: str) -> None:
    """Before any work is done: a package that is missing is told with the command that installs it."""
    try:
        there = find_spec(_PACKAGES[extra]) is not None
    except ModuleNotFoundError:  # the package it is in is missing
        there = False
    if not there:
        raise MissingExtra(f"--{extra}", extra)


# Prometheus


def write_prometheus(run: RunSummary, file: Path) -> None:
    """The text format, for the textfile collector of node_exporter; the file is whole or not there."""
    with text_file(file) as out:
        out.write(prometheus_text(run))


def prometheus_text(run: RunSummary) -> str:
    """The gauges of a run in the text format of Prometheus."""
    result = list(gauges(run))
    lines = []
    for family, help in _HELP.items():
        own = [row for row in result if row.name == family]
        if family == "run_info":
            samples = [f"chunkwise_run_info{_labels({'kind': run.kind, **_about(run)})} 1"]
        else:
            samples = [
                f"chunkwise_{family}{_labels({'kind': run.kind, **({'metric': row.metric} if row.metric else {})})} "
                f"{row.value!r}"
                for row in own
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
    check_exporter("otel")
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
            f"the collector at {address} rejected the metrics; check that it accepts OTLP over "
            f"HTTP, or set another in {ENDPOINT_VARIABLE}"
        )


def _record(meter: Any, run: RunSummary) -> None:
    about = {"kind": run.kind, **_about(run)}
    made: dict[str, Any] = {}
    for gauge in gauges(run):
        if gauge.name not in made:
            made[gauge.name] = meter.create_gauge(
                f"chunkwise.{gauge.name}", description=_HELP[gauge.name]
            )
        made[gauge.name].set(gauge.value, {**about, **({"metric": gauge.metric} if gauge.metric else {})})  # fmt: skip


# MLflow


def log_to_mlflow(run: RunSummary, uri: str) -> str:
    """A run of MLflow with figures as metrics and settings as parameters; its id."""
    check_exporter("mlflow")
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    # What MLflow prints must not stand among JSON.
    with _foreign_errors(f"MLflow at {uri}"), redirect_stdout(sys.stderr):
        from mlflow.entities import Metric, Param, RunTag
        from mlflow.tracking import MlflowClient

        client = MlflowClient(tracking_uri=uri)
        when = int(_seconds(run) * 1000)
        metrics = [
            Metric(_mlflow_name(gauge), gauge.value, when, 0)
            for gauge in gauges(run)
            if gauge.name != "run_timestamp_seconds"
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
        result = str(made.info.run_id)
        try:
            for metrics_now in _batches(metrics, _METRICS_AT_ONCE):
                client.log_batch(result, metrics=metrics_now)
            for params_now in _batches(params, _PARAMETERS_AT_ONCE):
                client.log_batch(result, params=params_now)
            client.log_batch(result, tags=[RunTag(name, value) for name, value in tags.items() if value])  # fmt: skip
        except BaseException:
            client.set_terminated(result, "FAILED")
            raise
        client.set_terminated(result, "FINISHED")
        return result


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
        raise ChunkwiseError(f"{what} rejected the run: {why[:300]}") from error
    finally:
        logging.disable(before)

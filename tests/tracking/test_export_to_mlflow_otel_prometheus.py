"""Figures handed on: each against the real thing where it is installed (`make exporters` installs all of them)."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.tracking import export_to_mlflow_otel_prometheus as exporting
from chunkwise.tracking.export_to_mlflow_otel_prometheus import (
    check_exporter,
    gauges,
    log_to_mlflow,
    prometheus_text,
    send_otel,
    write_prometheus,
)
from chunkwise.tracking.run import KeptFigure, KeptRun, RunOrigin
from tracking.made_runs import kept_run
from untimed import HANG

WHEN = datetime(2026, 1, 5, 8, tzinfo=UTC).timestamp()


def run(**more: Any) -> KeptRun:
    figures = {
        "recall@5": KeptFigure(0.75, 0.6, 0.9, 2, 2, 0.1), "boundary_issues": KeptFigure(0.02),
        "unscored": KeptFigure(None, questions=2),
    }  # fmt: skip
    origin = RunOrigin(git_branch="main", git_revision="a" * 40)
    given = {"figures": figures, "number": 7, "seconds": 1.5, "origin": origin}
    return kept_run(**{**given, **more})


def test_all_numbers_that_are_known_are_handed_on() -> None:
    assert [tuple(each) for each in gauges(run())] == [
        ("figure", 0.75, "recall@5"), ("figure_low", 0.6, "recall@5"), ("figure_high", 0.9, "recall@5"),
        ("figure_questions", 2.0, "recall@5"), ("figure", 0.02, "boundary_issues"),
        ("run_timestamp_seconds", WHEN, ""), ("run_number", 7.0, ""), ("run_duration_seconds", 1.5, ""),
    ]  # fmt: skip


def test_what_is_missing_is_told_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("no_such_package", "no_such.package.inside"):
        monkeypatch.setitem(exporting._PACKAGES, "mlflow", name)
        with pytest.raises(
            MissingExtra, match=r"--mlflow needs .* pip install 'chunkwise\[mlflow\]'"
        ):
            check_exporter("mlflow")
    monkeypatch.setitem(exporting._PACKAGES, "mlflow", "json")
    check_exporter("mlflow")


SAMPLE = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (\S+)')


def samples(text: str) -> dict[tuple[str, ...], float]:
    """By the grammar of the format: every line is a comment or a sample."""
    found = {}
    typed = set()
    assert text.endswith("\n")
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# TYPE "):
            typed.add(line.split()[2])
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match is not None, line
            assert match[1] in typed
            key = (match[1], *re.findall(r'\w+="(?:[^"\\\n]|\\[\\n"])*"', match[2]))
            assert key not in found
            found[key] = float(match[3])
    return found


def test_prometheus_gets_gauges(tmp_path: Path) -> None:
    write_prometheus(run(), tmp_path / "chunkwise.prom")
    text = (tmp_path / "chunkwise.prom").read_text()
    found = samples(text)
    assert found["chunkwise_figure", 'kind="evaluate"', 'metric="recall@5"'] == 0.75
    assert found["chunkwise_figure_low", 'kind="evaluate"', 'metric="recall@5"'] == 0.6
    assert found["chunkwise_run_number", 'kind="evaluate"'] == 7
    (info,) = (key for key in found if key[0] == "chunkwise_run_info")
    assert 'branch="main"' in info
    assert 'version="0.1.0"' in info
    assert "unscored" not in text
    assert list(tmp_path.iterdir()) == [tmp_path / "chunkwise.prom"]


ANY = {
    "label": st.text(), "metric": st.text(min_size=1), "value": st.floats(allow_nan=False, allow_infinity=False)
}  # fmt: skip


@given(**ANY)
def test_no_text_breaks_the_format(label: str, metric: str, value: float) -> None:
    text = prometheus_text(run(label=label, figures={metric: KeptFigure(value)}))
    assert value in samples(text).values()


@given(**ANY)
def test_the_parser_of_prometheus_reads_it(label: str, metric: str, value: float) -> None:
    parser = pytest.importorskip(
        "prometheus_client.parser", reason="prometheus_client is not installed"
    )
    text = prometheus_text(run(label=label, figures={metric: KeptFigure(value)}))
    families = {each.name: each for each in parser.text_string_to_metric_families(text)}
    ((_, labels, read, *_),) = families["chunkwise_figure"].samples
    assert read == value
    assert labels["metric"] == metric.encode("utf-8", "replace").decode().replace("\r", " ")


class _Collector(BaseHTTPRequestHandler):
    """Takes what OTLP sends."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append((self.path, self.headers, body))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Collector) as server:
        server.bodies, server.status = [], 200  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(HANG)


def otel() -> Any:
    pytest.importorskip(
        "opentelemetry.exporter.otlp.proto.http", reason="OpenTelemetry is not installed"
    )
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

    return metrics_service_pb2.ExportMetricsServiceRequest


def test_a_collector_gets_metrics(collector: Any) -> None:
    request = otel()()
    send_otel(run())
    ((path, _, body),) = collector.bodies
    assert path == "/v1/metrics"
    request.ParseFromString(body)
    (of_resource,) = request.resource_metrics
    assert {each.key: each.value.string_value for each in of_resource.resource.attributes}[
        "service.name"
    ] == "chunkwise"
    ((scope),) = of_resource.scope_metrics
    found = {
        (metric.name, attributes.get("metric", "")): point.as_double
        for metric in scope.metrics
        for point in metric.gauge.data_points
        for attributes in [{each.key: each.value.string_value for each in point.attributes}]
    }
    assert found["chunkwise.figure", "recall@5"] == 0.75
    assert found["chunkwise.figure", "boundary_issues"] == 0.02
    assert found["chunkwise.run_number", ""] == 7
    assert found == {(f"chunkwise.{each.name}", each.metric): each.value for each in gauges(run())}


def test_a_collector_that_refuses_is_one_clear_error(collector: Any) -> None:
    otel()
    collector.status = 400
    with pytest.raises(
        ChunkwiseError, match=r"the collector at http://127\.0\.0\.1:\d+ rejected the run"
    ):
        send_otel(run())


def mlflow() -> Any:
    return pytest.importorskip("mlflow.tracking", reason="MLflow is not installed").MlflowClient


def logged(client: Any, found: str) -> Any:
    (experiment,) = (each for each in client.search_experiments() if each.name == "chunkwise")
    (made,) = client.search_runs([experiment.experiment_id])
    assert made.info.run_id == found
    assert made.info.status == "FINISHED"
    return made


@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_the_run_in_a_store(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="MLflow's own stores are not installed")
    client = mlflow()
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    many = {f"setting {n}": "x" * 9000 for n in range(250)}
    settings = {"strategy": "structure", "k": 5, "odd: @ name": None, **many}
    found = log_to_mlflow(run(settings=settings), uri)
    made = logged(client(tracking_uri=uri), found)
    assert made.data.metrics["recall_at_5"] == 0.75
    assert made.data.metrics["recall_at_5.low"] == 0.6
    assert made.data.metrics["boundary_issues"] == 0.02
    assert made.data.metrics["run_duration_seconds"] == 1.5
    assert made.data.params["strategy"] == "structure"
    assert made.data.params["k"] == "5"
    assert len(made.data.params) == 253
    assert made.data.tags["chunkwise.run"] == "7"
    assert made.data.tags["mlflow.source.git.commit"] == "a" * 40
    assert made.info.start_time == WHEN * 1000


@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_the_run_on_a_server(tmp_path: Path) -> None:
    """The server in a process of its own, as a team has it."""
    client = mlflow()
    pytest.importorskip("mlflow.server", reason="MLflow's server is not installed")
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'server.db'}"}
    with (tmp_path / "log.txt").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "1",
             "--backend-store-uri", f"sqlite:///{tmp_path / 'server.db'}"],
            cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    uri = f"http://127.0.0.1:{port}"
    try:
        _wait(uri, server)
        found = log_to_mlflow(run(), uri)
        assert logged(client(tracking_uri=uri), found).data.metrics["recall_at_5"] == 0.75
    finally:
        os.killpg(server.pid, 15)
        server.wait(HANG)


def _wait(uri: str, server: "subprocess.Popen[bytes]") -> None:
    from urllib.error import URLError
    from urllib.request import urlopen

    waited = threading.Event()
    while server.poll() is None:
        try:
            with urlopen(f"{uri}/health", timeout=HANG):
                return
        except (URLError, OSError):
            waited.wait(0.2)
    pytest.fail("the server ended")


@pytest.mark.filterwarnings("ignore")
def test_a_server_that_is_not_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow()
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(
        ChunkwiseError, match=r"MLflow at http://127\.0\.0\.1:1 rejected the run"
    ) as failed:
        log_to_mlflow(run(), "http://127.0.0.1:1")
    assert "\n" not in str(failed.value)

"""Sweeps of a page: the command that the terminal would run, its folder alone, stopped and gone on with."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from chunkwise.documents.walk import SWEEP_RECORD
from chunkwise.studio import sweeps
from chunkwise.studio.background_jobs import Job
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources
from chunkwise.tracking.alerts import Alert, WatchedFigure, write_alert
from chunkwise.tracking.history import History
from chunkwise.tuning.sweep_result import write_sweep_result
from report.made_tuning import made_tuning
from studio.made_studio import client_of, read_project
from tracking.made_runs import kept_run
from untimed import HANG

WAITS = "import sys, time; print('chunkwise: 12 configurations', file=sys.stderr, flush=True); time.sleep(600)"
ENDS = "import sys; print('chunkwise: 12 configurations', file=sys.stderr)"
FAILS = "import sys; print('chunkwise: nothing to tune', file=sys.stderr); sys.exit(1)"


class Commands:
    """Stands for the program: says what was asked for, and runs what a test wants."""

    def __init__(self) -> None:
        self.script = WAITS
        self.asked: list[list[str]] = []

    def started(self, command: Sequence[str]) -> Job:
        self.asked.append(list(command))
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", self.script], stderr=subprocess.PIPE, text=True
        )
        return Job(process)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands()
    monkeypatch.setattr(sweeps, "started", made.started)
    return made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    made = Project(
        ProjectSources(documents=("a.txt",), questions="q.json", history=str(tmp_path / "h.db"))
    )
    yield made
    made.stop()
    for job in (*made.sweeps.values(), *made.applied.values()):
        job.process.kill()
        job.process.wait(timeout=HANG)
        job.reader.join(timeout=HANG)


@pytest.fixture
def client(project: Project) -> TestClient:
    return client_of(project)


def finish(project: Project) -> None:
    for job in (*project.sweeps.values(), *project.applied.values()):
        job.process.wait(timeout=HANG)
        job.reader.join(timeout=HANG)


@pytest.mark.usefixtures("processes")
def test_a_sweep_is_the_command_of_the_terminal(client: TestClient, commands: Commands) -> None:
    form = {"name": "first", "objective": "recall@500t", "embedder": "none", "time": "1 min"}
    found = client.post("/api/sweeps/start", json=form).json()
    assert commands.asked == [
        ["tune", "a.txt", "--queries", "q.json", "--embedder", "none", "-o", "first",
         "--objective", "recall@500t", "--time-limit", "1 min"]
    ]  # fmt: skip
    assert [(row["name"], row["state"]) for row in found["rows"]] == [("first", "running")]


@pytest.mark.usefixtures("processes")
def test_questions_made_in_the_studio_are_swept_without_naming_a_file(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    project = read_project(ProjectSources(documents=("a.txt",), labels="labels.db"))
    client = client_of(project)
    place = {"doc_id": "a.txt", "start": 0, "end": 6}
    client.post("/api/edit/save", json={"text": "What is at the end?", "gold": [place]})
    assert client.get("/api/sweeps").json()["why_not"] == ""
    commands.script = ENDS
    client.post("/api/sweeps/estimate", json={})
    assert commands.asked[-1][3] == str(Path(".chunkwise") / "questions.json")
    refused = client.post("/api/sweeps/estimate", json={"questions": "labels"})
    assert refused.status_code == 400
    assert "no question has labels yet" in refused.json()["error"]
    (id,) = project.queries
    label = {"key": "k", "kind": "grade", "who": "ada", "id": id, "grade": 3, **place}
    assert client.post("/api/label", json=label).status_code == 200
    assert client.get("/api/sweeps").json()["labeled"] == 1
    client.post("/api/sweeps/estimate", json={"questions": "labels"})
    file = Path(commands.asked[-1][3])
    (row,) = json.loads(file.read_text("utf-8"))
    assert [(each["doc_id"], each["start"], each["end"]) for each in row["references"]] == [
        ("a.txt", 0, 6)
    ]


@pytest.mark.usefixtures("processes")
def test_an_estimate_is_what_a_dry_run_says(client: TestClient, commands: Commands) -> None:
    commands.script = ENDS
    found = client.post("/api/sweeps/estimate", json={}).json()
    assert commands.asked[0][-1] == "--dry-run"
    assert found["lines"] == ["12 configurations"]
    assert found["command"].startswith("chunkwise tune a.txt --queries q.json")
    commands.script = FAILS
    refused = client.post("/api/sweeps/estimate", json={})
    assert refused.status_code == 400
    assert refused.json()["error"] == "nothing to tune"


@pytest.mark.usefixtures("processes")
def test_it_is_stopped_as_ctrl_c_does_and_another_waits_for_it(
    client: TestClient, commands: Commands, project: Project
) -> None:
    client.post("/api/sweeps/start", json={"name": "first"})
    refused = client.post("/api/sweeps/start", json={"name": "second"})
    assert refused.status_code == 503
    assert "the sweep first is running" in refused.json()["error"]
    client.post("/api/sweeps/stop", json={"name": "first"})
    finish(project)
    rows = client.get("/api/sweeps").json()["rows"]
    assert [row["state"] for row in rows] == ["stopped"]
    assert project.sweeps["first"].process.returncode not in (0, None)
    assert client.post("/api/sweeps/start", json={"name": "second"}).status_code == 200
    assert client.post("/api/sweeps/stop", json={"name": "third"}).status_code == 404


@pytest.mark.usefixtures("processes")
def test_what_went_wrong_is_told(client: TestClient, commands: Commands, project: Project) -> None:
    commands.script = FAILS
    client.post("/api/sweeps/start", json={})
    finish(project)
    (row,) = client.get("/api/sweeps").json()["rows"]
    assert row["state"] == "failed"
    assert row["lines"] == ["nothing to tune"]


@pytest.mark.usefixtures("processes")
def test_a_stopped_sweep_is_resumed_with_its_own_settings(
    client: TestClient, commands: Commands, tmp_path: Path
) -> None:
    commands.script = ENDS
    (tmp_path / "first" / SWEEP_RECORD).mkdir(parents=True)
    (tmp_path / "first" / "sweep.toml").write_text("", "utf-8")
    assert client.get("/api/sweeps").json()["rows"][0]["state"] == "stopped"
    client.post("/api/sweeps/start", json={"name": "first", "embedder": "minilm"})
    assert commands.asked == [["tune", "--resume", "-o", "first"]]


def write_sweep(folder: Path) -> None:
    (folder / SWEEP_RECORD / "outcomes").mkdir(parents=True)
    for number in range(3):
        (folder / SWEEP_RECORD / "outcomes" / f"{number}.json").write_text("{}", "utf-8")
    write_sweep_result(made_tuning(), folder / "results.json")
    (folder / "recommendation.toml").write_text("", "utf-8")


@pytest.mark.usefixtures("processes")
def test_a_sweep_of_the_command_line_is_shown_with_its_report_and_applied(
    client: TestClient, commands: Commands, project: Project, tmp_path: Path
) -> None:
    commands.script = ENDS
    write_sweep(tmp_path / "theirs")
    (row,) = client.get("/api/sweeps").json()["rows"]
    assert (row["name"], row["state"], row["done"], row["can_apply"]) == ("theirs", "done", 3, True)
    assert client.get("/api/sweeps").json()["name"] == "chunkwise-tune"
    write_sweep(tmp_path / "chunkwise-tune")
    assert client.get("/api/sweeps").json()["name"] == "chunkwise-tune-2"
    shutil.rmtree(tmp_path / "chunkwise-tune")
    assert client.get(f"/runs/{row['run']}").status_code == 200
    assert client.get("/api/sweeps").json()["rows"][0]["run"] == row["run"]  # it is read once
    client.post("/api/sweeps/apply", json={"name": "theirs"})
    config = str(Path("theirs") / "recommendation.toml")
    assert commands.asked == [["index", "a.txt", "--into", "kb", "--rebuild", "--config", config]]
    finish(project)
    assert client.get("/api/sweeps").json()["rows"][0]["applying"] == "done"


@pytest.mark.parametrize(
    "name", ["..", "../x", "/tmp/x", "a/b", "", ".", "x" * 80, "-o", "a b", "C:\\x"]
)
def test_a_folder_is_inside_the_project_and_nowhere_else(
    client: TestClient, commands: Commands, name: str
) -> None:
    for path in ("start", "estimate", "apply"):
        assert client.post(f"/api/sweeps/{path}", json={"name": name}).status_code == 400
    assert commands.asked == []


def test_a_folder_of_other_files_stays_as_it_is(
    client: TestClient, commands: Commands, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    for name in ("mine", "link", "a.txt"):
        assert client.post("/api/sweeps/start", json={"name": name}).status_code == 400
    assert commands.asked == []


def test_without_documents_or_questions_the_page_says_what_to_start(
    tmp_path: Path, commands: Commands
) -> None:
    project = Project(ProjectSources(documents=("a.txt",)))
    client = client_of(project)
    assert "needs questions" in client.get("/api/sweeps").json()["why_not"]
    assert client.post("/api/sweeps/start", json={}).status_code == 400


@pytest.mark.usefixtures("processes")
def test_events_tell_until_nothing_runs(
    client: TestClient, commands: Commands, project: Project
) -> None:
    commands.script = ENDS
    client.post("/api/sweeps/start", json={"name": "first"})
    finish(project)
    told = client.get("/api/sweeps/events").text
    assert told.startswith("data: {")
    assert told.endswith("event: done\ndata: {}\n\n")


def test_an_alert_is_acknowledged(client: TestClient, project: Project, tmp_path: Path) -> None:
    history = History(tmp_path / "h.db")
    history.add(kept_run({"q1": 0.9}))
    history.add(kept_run({"q1": 0.2}))
    figure = WatchedFigure(0.9, 0.2, -0.7, -0.8, -0.6, p=0.001, pairs=9)
    alert = Alert("recall@5", "main", "fall", figure, 1, 2, 2, 2, "2026-01-01T00:00:00Z")
    with history._database.writing() as statements:
        write_alert(statements, alert)
    (row,) = client.get("/api/runs").json()["alerts"]
    assert row["state"] == "open"
    assert "Acknowledge alert" in client.get("/runs").text
    found = client.post("/api/alerts/acknowledge", json={"number": row["number"]}).json()
    assert [each["state"] for each in found["alerts"]] == ["acknowledged"]
    assert client.post("/api/alerts/acknowledge", json={"number": 99}).status_code == 400

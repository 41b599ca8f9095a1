"""A studio over a small corpus with hostile documents, two runs, a sweep, a test set; and a client that may ask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from chunkwise.studio.access_control import TokenAccess
from chunkwise.studio.app import server_app
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources, sort_sources
from chunkwise.tracking.history import History
from chunkwise.tuning.sweep_result import write_sweep_result
from made_results import results
from report.made_tuning import made_tuning
from report.reading_pages import EVIL
from tracking.made_runs import kept_run

TOKEN, PORT = "the-token-of-the-tests", 8420
ADDRESS = f"http://127.0.0.1:{PORT}"
LEAVE = (
    "# Leave\n\nAnnual leave is asked for in writing, four weeks ahead.\n\n## Who decides\n\n"
    "The harbour master decides within five days. A refusal says why.\n\n- one lamp\n- two lamps\n"
)
HOSTILE = EVIL.replace("\x00", "").replace("\ud800", "") + "\n" + "w" * 300


def write_corpus(folder: Path) -> None:
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE, "utf-8")
    (folder / "hostile.md").write_text(f"# {HOSTILE}\n\n{HOSTILE} 👍🏽 lamp {HOSTILE}\n", "utf-8")
    (folder / "line.txt").write_text("lamps and boats 👍 " * 3_000, "utf-8")
    (folder / "deutsch.txt").write_text(
        "Der Leuchtturm ist nicht auf der Insel, und das Boot auch nicht.\n" * 9, "utf-8"
    )
    (folder / "empty.txt").write_text("", "utf-8")


def write_harbours(folder: Path, count: int = 8) -> None:
    """Documents with enough to find for every question: pools of several passages."""
    for number in range(count):
        text = (
            f"Harbour {number} has lamps. Leave is decided by its master, and asked for in writing."
        )
        (folder / f"harbour{number}.txt").write_text(f"{text}\n\n" * 3, "utf-8")


def write_project(folder: Path) -> ProjectSources:
    write_corpus(folder / "docs")
    for number, name in enumerate(("before.json", "after.json")):
        results(seed=number, lift=number / 10, count=12).save(folder / name)
    write_sweep_result(made_tuning(), folder / "sweep.json")
    questions = [
        {"id": "q01", "query": "How is leave asked for?", "relevant_text": "asked for in writing"}
    ]
    (folder / "questions.json").write_text(json.dumps(questions), "utf-8")
    history = History(folder / "history.db")
    for mean in (0.5, 0.7):
        history.add(kept_run({"q1": mean, "q2": 0.4}))
    named = [str(folder / name) for name in ("docs", "before.json", "after.json", "sweep.json")]
    documents, index, runs = sort_sources(named)
    return ProjectSources(
        documents=documents, index=index, runs=runs, questions=str(folder / "questions.json"),
        history=str(folder / "history.db"), labels=str(folder / "labels.db"),
    )  # fmt: skip


def read_project(sources: ProjectSources) -> Project:
    """With all that is done in the background done."""
    project = Project(sources)
    project.start()
    project.wait()
    return project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = read_project(write_project(tmp_path_factory.mktemp("studio")))
    assert [step.problem for step in made.steps] == [""] * len(made.steps)
    return made


def client_of(project: Project, **headers: str) -> TestClient:
    app = server_app(project, access=TokenAccess(TOKEN, PORT), port=PORT)
    given = headers or {"authorization": f"Bearer {TOKEN}"}
    return TestClient(
        app, base_url=ADDRESS, headers=given, follow_redirects=False, raise_server_exceptions=False
    )


@pytest.fixture
def client(project: Project) -> TestClient:
    return client_of(project)


def number_of(project: Project, id: str) -> int:
    found = project.corpus.number_of(id)
    assert found is not None
    return found

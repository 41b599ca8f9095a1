"""The way through the studio: what is done, and the one next step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import chunkwise
from chunkwise.studio.project_sources import ProjectSources
from studio.made_studio import client_of, read_project, write_harbours


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    write_harbours(tmp_path / "docs")
    return tmp_path


def following(client: TestClient) -> str:
    view = client.get("/api/tour").json()
    return view["next"]["label"] if view["next"] else ""


def test_every_step_ends_in_the_next(folder: Path) -> None:
    glossary = Path(chunkwise.__file__).parent / "corpus" / "glossary.md"
    (folder / "docs" / "glossary.md").write_text(glossary.read_text("utf-8"), "utf-8")
    project = read_project(ProjectSources(documents=("docs",)))
    client = client_of(project)
    assert following(client) == "Draft questions"
    assert client.post("/api/drafts/start", json={"count": 2}).status_code == 200
    assert project.drafting is not None
    assert project.drafting.thread is not None
    project.drafting.thread.join()
    drafted = len(project.queries)
    assert following(client).startswith(f"Review {drafted}")
    for id in list(project.queries):
        view = client.get("/api/edit", params={"id": id}).json()
        kept = {name: view[name] for name in ("id", "text", "answer", "revision")}
        client.post("/api/edit/save", json={**kept, "action": "accept", "types": view["types"]})
    assert following(client) == "Label passages"
    place = {"doc_id": "harbour0.txt", "start": 0, "end": 9}
    label = {"key": "k", "kind": "grade", "who": "ada", "id": id, "grade": 3, **place}
    client.post("/api/label", json=label)
    assert following(client) == "Find the best configuration"
    names = [step["name"] for step in client.get("/api/tour").json()["steps"] if step["is_done"]]
    assert names == ["Documents", "Questions", "Review", "Labels"]


def test_an_undone_change_brings_a_question_back_as_it_was(folder: Path) -> None:
    rows = [{"id": "q1", "query": "Who decides?", "relevant_text": "Leave is decided", "note": "mine"}]  # fmt: skip
    (folder / "q.json").write_text(json.dumps(rows), "utf-8")
    project = read_project(ProjectSources(documents=("docs",), questions="q.json"))
    client = client_of(project)
    assert following(client) == "Label passages"  # people's questions need no review
    before = (folder / "q.json").read_text("utf-8")
    for action in ("drop", "accept"):
        view = client.get("/api/edit", params={"id": "q1"}).json()
        change = {"id": "q1", "revision": view["revision"], "text": "Who?", "action": action}
        assert client.post("/api/edit/save", json=change).status_code == 200
        assert client.post("/api/edit/save", json={"id": "q1", "action": "undo"}).status_code == 200
        assert json.loads((folder / "q.json").read_text("utf-8")) == json.loads(before)
        again = client.post("/api/edit/save", json={"id": "q1", "action": "undo"})
        assert again.status_code == 404
    view = client.get("/api/edit", params={"id": "q1"}).json()
    change = {"id": "q1", "revision": view["revision"], "text": "Who?"}
    client.post("/api/edit/save", json=change)
    other = json.loads((folder / "q.json").read_text("utf-8"))
    other[0]["query"] = "Somebody else's?"
    (folder / "q.json").write_text(json.dumps(other), "utf-8")
    refused = client.post("/api/edit/save", json={"id": "q1", "action": "undo"})
    assert refused.status_code == 409
    assert "Somebody else's?" in (folder / "q.json").read_text("utf-8")


def test_an_index_or_runs_alone_have_no_way(folder: Path) -> None:
    project = read_project(ProjectSources())
    assert client_of(project).get("/api/tour").json() == {"steps": [], "next": None}

"""The review page over the questions of a sweep: the order of `tune --review`, and the leaders after every answer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import chunkwise
from chunkwise.studio.project import ProjectSources
from studio.made_studio import client, client_of, project, read_project

__all__ = ["client", "project"]  # fixtures

PLAN = """[sweep]
source = "docs"
embedder = "none"

[[sweep.chunkers]]
strategy = ["sentences", "structure"]
max_tokens = [50, 200]

[[sweep.retrieval]]
retriever = ["bm25"]
"""


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A studio over the questions that a sweep generated."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name in ("ferry-safety-manual.md", "recipes-of-the-salt-kitchen.md"):
        shutil.copy(Path(chunkwise.__file__).with_name("corpus") / name, tmp_path / "docs")
    (tmp_path / "sweep.toml").write_text(PLAN)
    chunkwise.tune("sweep.toml", output="out")
    sources = ProjectSources(documents=("docs",), questions="out/questions.json")
    return client_of(read_project(sources))


def test_each_answer_moves_the_leaders_and_brings_the_next_question(swept: TestClient) -> None:
    waiting = {row["id"] for row in swept.get("/api/questions").json()["rows"]}
    id, asked = next(iter(waiting)), set[str]()
    for action in ("accept", "drop", "accept"):
        view = swept.get("/api/edit", params={"id": id}).json()
        sent = {name: view[name] for name in ("id", "revision", "text", "types")}
        assert swept.post("/api/edit/save", json={**sent, "action": action}).status_code == 200
        asked.add(id)
        id = view["following"]
        assert id in waiting - asked
    outlook = swept.get("/api/edit/outlook").json()
    assert outlook["progress"].startswith("2 questions decide")
    assert len(outlook["leaders"]) == 5
    assert sum(each["chance"] for each in outlook["leaders"]) <= 1.001
    assert outlook["ending"] == ""
    skipped = [swept.get("/api/edit", params={"id": id}).json()["following"]]
    while skipped[-1]:
        view = swept.get("/api/edit", params={"id": skipped[-1]}).json()
        skipped.append(view["following"])
    assert len({id, *skipped[:-1]}) == len(skipped) <= len(waiting - asked)


def test_questions_of_no_sweep_have_no_leaders(client: TestClient) -> None:
    assert client.get("/api/edit/outlook").json()["leaders"] == []

"""Questions drafted in the studio: by rules or a scripted model, kept one by one, reviewed in a real browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chunkwise.models import get_language_model
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.models.llm.client import LlmClient
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources
from chunkwise.testsets.generate.generate import CALLS_A_QUESTION
from models.chat_server import ChatServer, asked, chat_server
from real_browser import needs_browser, opened_browser
from studio.browsed_studio import BrowsedStudio
from studio.made_studio import TOKEN, client_of, read_project
from testsets.generate.rule_model import LEAVE, SALT, by_words
from untimed import HANG

OWN = {"query_id": "own", "query": "Who lights the lamp?", "relevant_text": "the rota clerk"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text(LEAVE, "utf-8")
    (tmp_path / "docs" / "salt.md").write_text(SALT, "utf-8")
    (tmp_path / "questions.json").write_text(json.dumps([OWN]), "utf-8")
    made = read_project(
        ProjectSources(documents=("docs",), questions="questions.json", labels="labels.db")
    )
    yield made
    made.stop()
    finish(made)


def finish(project: Project) -> None:
    if project.drafting is not None and project.drafting.thread is not None:
        project.drafting.thread.join(timeout=HANG)


def rows(project: Project) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(project.questions_file().read_text("utf-8"))
    return found


@pytest.fixture
def model(project: Project) -> Iterator[ChatServer]:
    with chat_server(lambda payload: json.dumps(by_words(asked(payload)))) as server:
        project.llm = LlmClient(get_language_model(server.name()))
        yield server


def test_a_model_drafts_and_every_draft_waits_for_a_review(
    project: Project, model: ChatServer
) -> None:
    client = client_of(project)
    told = client.post("/api/drafts/estimate", json={"count": 3, "by": "model"}).json()
    assert told["calls"] > 0
    assert model.requests == []
    assert client.post("/api/drafts/start", json={"count": 3, "by": "model"}).status_code == 200
    finish(project)
    view = client.get("/api/drafts").json()
    assert (view["state"], view["made"], view["wanted"]) == ("done", 3, 3)
    own, *drafted = rows(project)
    assert own["query"] == OWN["query"]
    assert len(drafted) == 3
    for row in drafted:
        for place in row["references"]:
            whole = project.corpus.document(project.corpus.number_of(place["doc_id"]) or 0).text
            assert whole[place["start"] : place["end"]] == place["text"]
    assert view["unreviewed"] == 4
    assert {row["query_id"] for row in drafted} < set(project.queries)
    states = {row["id"]: row["state"] for row in client.get("/api/questions").json()["rows"]}
    assert set(states.values()) == {"unreviewed"}


def test_one_question_is_estimated_with_all_calls_it_may_take(
    project: Project, model: ChatServer
) -> None:
    client = client_of(project)
    told = [
        client.post("/api/drafts/estimate", json={"count": count, "by": "model"}).json()["calls"]
        for count in (1, 2)
    ]
    assert told[0] == told[1] == 2 * CALLS_A_QUESTION


def test_what_was_drafted_or_dropped_is_not_drafted_again(
    project: Project, model: ChatServer
) -> None:
    client = client_of(project)
    client.post("/api/drafts/start", json={"count": 2, "by": "model"})
    finish(project)
    first = rows(project)[1]
    view = client.get("/api/edit", params={"id": first["query_id"]}).json()
    client.post(
        "/api/edit/save",
        json={"id": first["query_id"], "action": "drop", "revision": view["revision"]},
    )
    client.post("/api/drafts/start", json={"count": 20, "by": "model"})
    finish(project)
    texts = [row["query"] for row in rows(project)]
    assert len(texts) == len(set(texts))
    assert first["query"] not in texts
    assert client.get("/api/drafts").json()["note"] != ""  # why there are no more


def test_rules_draft_without_any_model(project: Project) -> None:
    client = client_of(project)
    refused = client.post("/api/drafts/start", json={"by": "model"})
    assert refused.status_code == 400
    assert "--llm" in refused.json()["error"]
    client.post("/api/drafts/start", json={"count": 2})
    finish(project)
    assert client.get("/api/drafts").json()["made"] == 2
    assert all("extracted" in row["types"] for row in rows(project)[1:])


def test_it_is_stopped_and_keeps_what_it_has_and_only_one_goes_at_a_time(project: Project) -> None:
    waits, seen = threading.Event(), threading.Event()

    def slow(payload: dict[str, Any]) -> str:
        seen.set()
        waits.wait(HANG)
        return json.dumps(by_words(asked(payload)))

    client = client_of(project)
    with chat_server(slow) as server:
        project.llm = LlmClient(get_language_model(server.name()), concurrency=1)
        client.post("/api/drafts/start", json={"count": 5, "by": "model"})
        assert seen.wait(HANG)
        assert client.post("/api/drafts/start", json={}).status_code == 503
        assert client.post("/api/drafts/stop", json={}).json()["state"] == "stopping"
        waits.set()
        finish(project)
    assert client.get("/api/drafts").json()["state"] == "stopped"
    assert len(rows(project)) <= 2
    assert client.get("/api/drafts/events").text.endswith("event: done\ndata: {}\n\n")


def test_a_model_that_does_not_answer_is_told(project: Project) -> None:
    client = client_of(project)
    with chat_server(lambda payload: (500, "no")) as server:
        project.llm = LlmClient(get_language_model(server.name()))
        client.post("/api/drafts/start", json={"count": 2, "by": "model"})
        finish(project)
    view = client.get("/api/drafts").json()
    assert view["made"] == 0
    assert view["note"] != ""


@pytest.mark.usefixtures("browser")
@needs_browser
@pytest.mark.unwatched
def test_drafts_are_reviewed_by_the_keyboard_with_the_passage_beside_them(
    project: Project, model: ChatServer
) -> None:
    studio = BrowsedStudio(project)
    studio.start()
    try:
        with opened_browser() as browser:
            studio.browser = browser
            browser.size(1280)
            form = "document.querySelector('#draft-form')"
            browser.open(
                f"{studio.address}/questions?token={TOKEN}", f"!{form}.by.options[1].disabled"
            )
            browser.click("#drafting > summary")
            browser.do(lambda page: page.select_option("#draft-form [name=by]", "model"))
            browser.fill("#draft-form [name=count]", "3")
            told = "document.querySelector('#draft-told').textContent"
            browser.click("#draft-form button[value=estimate]")
            browser.wait_for(f"{told}.includes('call')")
            browser.click("#draft-form button[value=start]")
            # The list is drawn anew, with what was drafted.
            browser.wait_for(f"{told}.includes('3 questions drafted')")
            browser.wait_for("document.querySelectorAll('#question-table tbody tr').length === 4")
            browser.wait_for(
                "document.querySelector('.way .primary').textContent.startsWith('Review ')"
            )
            assert browser.axe_findings() == []
            browser.follow(".way .primary")
            asked_now = "document.querySelector('textarea').value"
            browser.wait_for(asked_now)
            for key in "sad":
                before = browser.run(asked_now)
                gold = browser.run("document.querySelector('#gold .gold')?.textContent ?? ''")
                assert gold in LEAVE + SALT
                assert gold != ""
                browser.press(key)
                browser.wait_for(f"{asked_now} && {asked_now} !== {json.dumps(before)}")
            assert [row.get("review") for row in rows(project)].count("accepted") == 1
            assert len(rows(project)) == 3  # one of four was dropped
            browser.press("u")
            browser.wait_for(f"{asked_now} === {json.dumps(before)}")
            assert len(rows(project)) == 4
            assert browser.faults == []
    finally:
        studio.stop()

"""Labels and questions over the API: blind passages, labels that stay, edits that lose nobody's words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from chunkwise.labels.store import LabelStore
from chunkwise.studio.project import Project
from chunkwise.testsets.review import Review
from studio.made_studio import (
    HOSTILE,
    client_of,
    number_of,
    read_project,
    write_harbours,
    write_project,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("labeling")
    sources = write_project(folder)
    write_harbours(folder / "docs")
    return read_project(sources)


@pytest.fixture
def own(shared: Project, tmp_path: Path) -> Iterator[Project]:
    """With labels and questions of this test alone."""
    questions = [
        {"id": "q01", "query": "How is leave asked for?", "relevant_text": "asked for in writing"},
        {"query": "Who decides on leave?", "answer": "The harbour master.", "types": ["easy"]},
        {"id": "evil", "query": HOSTILE},
    ]
    (tmp_path / "questions.json").write_text(json.dumps(questions), "utf-8")
    before = shared.sources
    shared.sources = replace(
        before, labels=str(tmp_path / "labels.db"), questions=str(tmp_path / "questions.json")
    )
    shared.read_questions()
    yield shared
    shared.sources = before
    shared.read_questions()


@pytest.fixture
def asking(own: Project) -> TestClient:
    return client_of(own)


def post(client: TestClient, path: str, status: int = 200, **values: Any) -> Any:
    found = client.post(path, json=values)
    assert found.status_code == status, found.text
    return found.json()


def get(client: TestClient, path: str, **values: Any) -> Any:
    found = client.get(path, params=values)
    assert found.status_code == 200, found.text
    return found.json()


def _label(client: TestClient, view: Any, at: int, grade: int, key: str, who: str = "ada") -> Any:
    passage = view["passages"][at]
    place = {name: passage[name] for name in ("doc_id", "start", "end")}
    return post(
        client, "/api/label", key=key, kind="grade", who=who, id=view["id"], grade=grade, seconds=1.5,
        pool=view["pool"], **place,
    )  # fmt: skip


def test_passages_are_blind_and_what_is_said_of_them_stays(
    asking: TestClient, own: Project
) -> None:
    view = get(asking, "/api/labeling", who="ada", id="q01")
    assert len(view["passages"]) >= 2
    told = json.dumps(view)
    assert not any(word in told for word in ("bm25", "multiscale", "found_by", "rank", "score"))
    assert _label(asking, view, 0, 3, "one")["is_new"]
    assert not _label(asking, view, 0, 3, "one")["is_new"]
    again = get(asking, "/api/labeling", who="ada", id="q01")
    assert [each["grade"] for each in again["passages"]].count(3) == 1
    assert again["last"] == "one"
    assert again["pool"] == view["pool"]
    other = get(asking, "/api/labeling", who="grace", id="q01")
    assert {each["grade"] for each in other["passages"]} == {None}
    post(asking, "/api/label", key="two", kind="undo", who="ada", id="q01", undoes="one")
    assert get(asking, "/api/labeling", who="ada", id="q01")["last"] == ""
    assert len(own.labels().events()) == 2


def test_sentences_of_a_passage_join_to_a_stretch_of_its_document(
    asking: TestClient, own: Project
) -> None:
    for id in ("q01", "evil"):
        for each in get(asking, "/api/labeling", who="ada", id=id)["passages"]:
            text = own.corpus.document(each["document"]).text
            low, high = each["sentences"][0]["start"], each["sentences"][-1]["end"]
            assert "".join(part["text"] for part in each["sentences"]) == text[low:high]
            inside = [part for part in each["sentences"] if part["is_inside"]]
            assert (inside[0]["start"], inside[-1]["end"]) == (each["start"], each["end"])


def test_a_label_that_cannot_be_is_a_sentence(asking: TestClient) -> None:
    view = get(asking, "/api/labeling", who="ada", id="q01")
    passage = {name: view["passages"][0][name] for name in ("doc_id", "start", "end")}
    for status, wrong in (
        (400, {"grade": 7}), (400, {"who": ""}), (404, {"id": "gone"}), (404, {"doc_id": "gone.md"}),
        (400, {"end": 10**9}), (400, {"kind": "love"}), (400, {"color": "red"}),
    ):  # fmt: skip
        sent = {
            "key": "k",
            "kind": "grade",
            "who": "ada",
            "id": "q01",
            "grade": 2,
            **passage,
            **wrong,
        }
        assert len(post(asking, "/api/label", status, **sent)["error"]) > 20
    assert asking.post("/api/label", content=b"[1").status_code == 400
    assert asking.get("/api/label").status_code == 405
    assert asking.post("/api/labels", json={}).status_code == 405


def test_two_people_agree_or_are_adjudicated(asking: TestClient) -> None:
    for who, grade in (("ada", 3), ("grace", 0)):
        view = get(asking, "/api/labeling", who=who, id="q01")
        # Each sees them in an order of their own.
        places = [(each["doc_id"], each["start"]) for each in view["passages"]]
        _label(asking, view, places.index(min(places)), grade, f"key of {who}", who)
    found = get(asking, "/api/labels")["progress"]
    assert found["agreement"]["relevance_disputed"] == 1
    assert [(each["who"], each["labels"], each["seconds"]) for each in found["people"]] == [
        ("ada", 1, 1.5), ("grace", 1, 1.5),
    ]  # fmt: skip
    (disputed,) = get(asking, "/api/adjudication")["disputed"]
    place = {name: disputed[name] for name in ("doc_id", "start", "end")}
    post(asking, "/api/label", key="end", kind="adjudicate", who="eve", id="q01", grade=2, **place)
    assert get(asking, "/api/adjudication") == {
        **get(asking, "/api/adjudication"), "disputed": [], "decided": 1,
    }  # fmt: skip


def test_a_question_is_made_changed_tagged_accepted_and_dropped(
    asking: TestClient, own: Project
) -> None:
    path = own.questions_file()
    made = post(asking, "/api/edit/save", text="What is a lamp?", types=["new", "lamps"])
    assert made["id"] in own.queries
    assert made["types"] == ["new", "lamps"]
    second = get(asking, "/api/edit", id="2")
    assert second["state"] == "unreviewed"
    changed = post(
        asking, "/api/edit/save", id="2", revision=second["revision"], text="Who says yes to leave?",
        answer="The harbour master.", types=["easy"],
    )  # fmt: skip
    assert changed["state"] == "edited"
    assert changed["told"]
    accepted = get(asking, "/api/edit", id="q01")
    number = number_of(own, "leave.md")
    text = own.corpus.document(number).text
    at = text.index("four weeks")
    kept = post(
        asking, "/api/edit/save", id="q01", action="accept", revision=accepted["revision"], text=accepted["text"],
        gold=[{"doc_id": "leave.md", "start": at, "end": at + 10}],
    )  # fmt: skip
    assert [(each["text"], each["document"]) for each in kept["gold"]] == [("four weeks", number)]
    evil = get(asking, "/api/edit", id="evil")
    post(asking, "/api/edit/save", id="evil", action="drop", revision=evil["revision"])
    rows = json.loads(path.read_text("utf-8"))
    assert [row.get("query_id", row.get("id")) for row in rows] == ["q01", "2", made["id"]]
    assert "evil" in path.with_name("questions.dropped.json").read_text("utf-8")
    assert "evil" not in own.queries


def test_of_two_tabs_the_second_is_told_and_nothing_is_written_over(asking: TestClient) -> None:
    opened = get(asking, "/api/edit", id="q01")
    values = {"id": "q01", "revision": opened["revision"]}
    post(asking, "/api/edit/save", **values, text="The words of the first tab?")
    told = post(asking, "/api/edit/save", 409, **values, text="The words of the second?")["error"]
    assert "The words of the first tab?" in told
    assert get(asking, "/api/edit", id="q01")["text"] == "The words of the first tab?"
    now = get(asking, "/api/edit", id="q01")["revision"]
    post(asking, "/api/edit/save", id="q01", revision=now, text="The words of the second?")
    post(asking, "/api/edit/save", 404, id="nobody", revision="", text="x")
    post(asking, "/api/edit/save", 400, text=" ")


def test_two_studios_and_the_terminal_on_one_file_lose_nothing(
    asking: TestClient, own: Project
) -> None:
    other = client_of(copy(own))  # knows nothing of what the first one reads and writes
    with ThreadPoolExecutor(4) as together:
        made = list(
            together.map(
                lambda at: post((asking, other)[at % 2], "/api/edit/save", text=f"Question {at}?"),
                range(8),
            )
        )
    assert len({each["id"] for each in made}) == 8
    opened = get(other, "/api/edit", id="q01")
    in_the_terminal = Review(own.questions_file())
    in_the_terminal.go_to("q01")
    in_the_terminal.accept()
    values = {"id": "q01", "revision": opened["revision"]}
    post(other, "/api/edit/save", 409, **values, text="What the other studio says?")
    for client, who in ((asking, "ada"), (other, "bo")):
        _label(client, get(client, "/api/labeling", id="q01", who=who), 0, 2, f"key-{who}", who)
    rows = json.loads(own.questions_file().read_text("utf-8"))
    assert {f"Question {at}?" for at in range(8)} < {row["query"] for row in rows}
    assert rows[0]["review"] == "accepted"
    for client in (asking, other):
        listed = {row["text"] for row in get(client, "/api/questions")["rows"]}
        assert {row["query"] for row in rows if row.get("id") != "evil"} <= listed
    assert {event.who for event in own.labels().events()} == {"ada", "bo"}


def test_a_question_about_a_document_that_is_gone_is_still_read_and_changed(
    asking: TestClient, own: Project
) -> None:
    rows = json.loads(own.questions_file().read_text("utf-8"))
    gold = {"doc_id": "gone.md", "start": 0, "end": 4, "text": "Gone"}
    rows.append({"id": "gone", "query": "What was there?", "references": [gold]})
    own.questions_file().write_text(json.dumps(rows), "utf-8")
    own.read_questions()
    opened = get(asking, "/api/edit", id="gone")
    assert opened["text"] == "What was there?"
    told = post(
        asking, "/api/edit/save", 404, id="gone", revision=opened["revision"], text="What is there?",
        gold=[{"doc_id": "gone.md", "start": 0, "end": 4}],
    )["error"]  # fmt: skip
    assert "'gone.md'" in told
    saved = post(
        asking, "/api/edit/save", id="gone", revision=opened["revision"], text="What is there?"
    )
    assert saved["text"] == "What is there?"
    for page in ("/questions", "/question?id=gone", "/edit?id=gone"):
        assert asking.get(page).status_code in (200, 404)  # a page, or a sentence on one
    kept = json.loads(own.questions_file().read_text("utf-8"))[-1]
    assert kept["references"] == [gold]


def test_evidence_is_found_by_words_near_each_other_without_an_index(
    asking: TestClient, own: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "index", None)
    (first, *_) = get(asking, "/api/evidence", q="Who decides within five days?")["places"]
    assert first["doc_id"] == "leave.md"
    assert "harbour master decides" in first["text"]
    text = own.corpus.document(first["document"]).text
    assert text[first["start"] : first["end"]] == first["text"]
    assert get(asking, "/api/evidence", q="zzzz qqqq")["places"] == []
    assert isinstance(own.labels(), LabelStore)

"""Labeling in a real browser: by the keyboard alone, two people at once, the studio gone for a while, hostile text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from real_browser import needs_browser, opened_browser
from studio.browsed_studio import BrowsedStudio
from studio.made_studio import HOSTILE, TOKEN, read_project, write_harbours, write_project

pytestmark = [needs_browser, pytest.mark.unwatched]

LABELS = 40
"""Given by the keyboard in a row."""
HERE = "[...document.querySelectorAll('#passages > li')].findIndex((each) => each.classList.contains('here'))"
IDLE = "localStorage.getItem('chunkwise-pending') in {null: 1, '[]': 1}"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowsedStudio]:
    folder = tmp_path_factory.mktemp("labeling-browser")
    sources = write_project(folder)
    write_harbours(folder / "docs")
    asked = ("How is leave asked for?", "Who decides on lamps?", "Der Leuchtturm?", HOSTILE)
    questions = [{"id": f"q{at:02}", "query": f"{asked[at % 4]} {at}"} for at in range(24)]
    (folder / "questions.json").write_text(json.dumps(questions), "utf-8")
    made = BrowsedStudio(read_project(sources))
    made.start()
    try:
        with opened_browser() as browser:
            made.browser = browser
            browser.open(
                f"{made.address}/labeling?token={TOKEN}", "document.querySelector('#sign')"
            )
            yield made
    finally:
        made.stop()


@pytest.mark.usefixtures("browser")
def test_pages_are_whole_narrow_and_wide_light_and_dark(studio: BrowsedStudio) -> None:
    browser = studio.browser
    browser.faults.clear()
    browser.requests.clear()
    browser.run("localStorage.setItem('chunkwise-name', 'ada')")
    ready = {
        "/labeling?id=q03": "document.querySelector('#passages > li.here') && document.querySelector('#progress p')",
        "/adjudication": "document.querySelector('#note').textContent",
        "/edit?id=q03": "document.querySelector('textarea').value",
        "/edit": "document.querySelector('#state').textContent",
    }
    for width, scheme in ((390, "light"), (1920, "dark")):
        browser.size(width)
        browser.scheme(scheme)
        for path, condition in ready.items():
            studio.open(path, condition)
            assert browser.run("document.documentElement.scrollWidth") <= width, path
            assert browser.run("document.title") not in ("", "owned")
            assert browser.run("document.querySelectorAll('h1').length") == 1
            unnamed = browser.run(
                "[...document.querySelectorAll('a[href], button, input, textarea')].filter((each) => "
                "each.checkVisibility() && !(each.textContent.trim() || each.ariaLabel || each.labels?.length))"
                ".map((each) => each.outerHTML.slice(0, 120))"
            )
            assert unnamed == []
            assert browser.axe_findings() == [], path
    assert browser.faults == []
    foreign = [each for each in browser.requests if not each.startswith((studio.address, "about:"))]
    assert foreign == []


@pytest.mark.usefixtures("browser")
def test_labels_by_the_keyboard_alone_while_another_person_labels(studio: BrowsedStudio) -> None:
    browser, store = studio.browser, studio.project.labels()
    browser.size(1280)
    studio.as_person("ada")
    before = len(store.events())
    stop = threading.Event()
    turns = threading.Semaphore(4)  # who labels faster leaves questions for the other
    theirs: list[str] = []

    def other() -> None:
        while not stop.is_set():
            view = studio.api("/api/labeling?who=grace")
            for number, each in enumerate(view["passages"]):
                turns.acquire()
                if stop.is_set() or not view["id"]:
                    return
                place = {name: each[name] for name in ("doc_id", "start", "end")}
                body = {
                    "key": f"{view['id']} {number}",
                    "who": "grace",
                    "id": view["id"],
                    "grade": number % 4,
                }
                studio.api("/api/label", {**body, **place, "kind": "grade", "pool": view["pool"]})
                theirs.append(body["key"])

    beside = threading.Thread(target=other)
    beside.start()
    try:
        for number in range(LABELS):
            question, place = browser.run(f"[document.querySelector('#asked').textContent, {HERE}]")
            browser.press(str(number % 4))
            browser.wait_for(
                f"document.querySelector('#asked').textContent !== {json.dumps(question)} || {HERE} !== {place}"
            )
            turns.release()
    finally:
        stop.set()
        turns.release()
        beside.join()
    browser.wait_for(IDLE)
    own = [each for each in store.events() if each.who == "ada" and each.kind == "grade"]
    assert len(own) == LABELS
    assert [each.grade for each in own] == [number % 4 for number in range(LABELS)]
    assert all(each.seconds is not None for each in own)
    assert len(store.events()) == before + LABELS + len(theirs)
    assert browser.faults == []


@pytest.mark.usefixtures("browser")
def test_every_key_does_what_the_help_says(studio: BrowsedStudio) -> None:
    browser, store = studio.browser, studio.project.labels()
    studio.as_person("eve", "/labeling?id=q01")
    count = browser.run("document.querySelectorAll('#passages > li.passage-card').length")
    assert count > 1
    browser.press("j")
    assert browser.run(HERE) == 1
    browser.press("k")
    assert browser.run(HERE) == 0
    browser.press("3")
    browser.wait_for("document.querySelector('.toast').checkVisibility()")
    browser.press("u")
    browser.wait_for("document.querySelectorAll('.grade[aria-pressed=true]').length === 0")
    assert [each.kind for each in store.events("q01") if each.who == "eve"] == ["grade", "undo"]
    browser.press("g")
    browser.press("]")
    chosen = browser.run("document.querySelectorAll('.passage-text > .gold').length")
    browser.press("[")
    assert 1 <= browser.run("document.querySelectorAll('.passage-text > .gold').length") <= chosen
    browser.press("Enter")
    browser.wait_for("document.querySelector('.gold-row')")
    (gold,) = [each for each in store.standing("q01") if each.kind == "gold"]
    assert gold.text == gold.text.strip() != ""
    browser.press("?")
    assert browser.run("document.querySelector('#help').open")
    browser.run("document.querySelector('#help').close()")
    question = browser.run("document.querySelector('#asked').textContent")
    browser.press("f")
    browser.fill("#flag textarea", "two places <b>say</b> it")
    browser.click("#flag button[value=flag]")
    browser.wait_for("document.querySelector('.comment').textContent.includes('<b>say</b>')")
    browser.press("n")  # with gold it is asked which of the two is meant
    browser.click("#sure button[value=keep]")
    assert browser.run("document.querySelector('#asked').textContent") == question
    browser.press("n")
    browser.click("#sure button[value=nothing]")
    browser.wait_for(f"document.querySelector('#asked').textContent !== {json.dumps(question)}")
    assert not [each for each in store.standing("q01") if each.kind == "gold"]
    browser.click(".toast button")
    browser.wait_for(f"document.querySelector('#asked').textContent === {json.dumps(question)}")
    browser.wait_for("document.querySelector('.gold-row')")
    question = browser.run("document.querySelector('#asked').textContent")
    browser.press("s")
    browser.wait_for(f"document.querySelector('#asked').textContent !== {json.dumps(question)}")
    kinds = [each.kind for each in store.events() if each.who == "eve"]
    assert kinds == ["grade", "undo", "gold", "flag", "undo", "nothing", "undo", "gold", "skip"]
    assert browser.faults == []


@pytest.mark.usefixtures("browser")
def test_who_listens_is_told_the_passage_and_the_next_question(studio: BrowsedStudio) -> None:
    browser = studio.browser
    studio.as_person("helen", "/labeling?id=q04")
    focused = "document.activeElement"
    assert browser.run(f"{focused}.id") == "asked"
    browser.press("j")
    name, described, current, count = browser.run(
        f"[{focused}.ariaLabel, document.getElementById({focused}.getAttribute('aria-describedby')).textContent, "
        f"{focused}.ariaCurrent, document.querySelectorAll('#passages > .passage-card').length]"
    )
    assert name == f"Passage 2 of {count}"
    view = studio.api("/api/labeling?who=helen&id=q04")
    assert described == "".join(each["text"] for each in view["passages"][1]["sentences"])
    assert current == "true"
    browser.press("3")
    told = browser.run("document.querySelector('.toast[role=status] span').textContent")
    assert told == f"Passage 2: {view['grades'][3]}"
    question = browser.run("document.querySelector('#asked').textContent")
    browser.press("s")
    browser.wait_for(
        f"{focused}.id === 'asked' && {focused}.textContent !== {json.dumps(question)}"
    )


@pytest.mark.usefixtures("browser")
def test_a_studio_that_goes_between_two_labels_loses_none(studio: BrowsedStudio) -> None:
    browser, store = studio.browser, studio.project.labels()
    studio.as_person("joan", "/labeling?id=q02")
    browser.press("2")
    browser.wait_for(IDLE)
    studio.stop()
    browser.press("1")
    browser.wait_for("document.querySelector('#refused').checkVisibility()")
    studio.start()
    browser.wait_for(IDLE)
    browser.wait_for("document.querySelector('#refused').hidden")
    assert [each.grade for each in store.events("q02") if each.who == "joan"] == [2, 1]
    browser.faults.clear()  # the browser tells of every request that nobody answered


@pytest.mark.usefixtures("browser")
def test_hostile_text_is_shown_to_the_letter_and_obeyed_in_nothing(studio: BrowsedStudio) -> None:
    browser = studio.browser
    studio.as_person("<b>ada</b>", "/labeling?id=q03")
    view = studio.api("/api/labeling?who=%3Cb%3Eada%3C/b%3E&id=q03")
    shown = browser.run(
        "[...document.querySelectorAll('.passage-text')].map((each) => each.textContent)"
    )
    assert shown == [
        "".join(part["text"] for part in each["sentences"]) for each in view["passages"]
    ]
    assert browser.run("document.title") == "Labeling – studio"
    assert (
        browser.run(
            "document.querySelectorAll('#labeling script, #labeling img, #labeling b').length"
        )
        == 0
    )
    assert browser.faults == []


@pytest.mark.usefixtures("browser")
def test_two_tabs_on_one_question_lose_nothing_that_was_typed(studio: BrowsedStudio) -> None:
    browser = studio.browser
    studio.open("/edit?id=q05", "document.querySelector('textarea').value")
    other = studio.api("/api/edit?id=q05")
    studio.api(
        "/api/edit/save", {"id": "q05", "revision": other["revision"], "text": "From another tab?"}
    )
    browser.run("document.querySelector('textarea').focus()")
    browser.type("Mine!")
    browser.click("button[value=save]")
    browser.wait_for("!document.querySelector('#refused').hidden")
    assert "From another tab?" in browser.run("document.querySelector('#refused').textContent")
    assert "Mine!" in browser.run("document.querySelector('textarea').value")
    studio.open(
        "/edit?id=q05", "document.querySelector('textarea').value"
    )  # the tab is closed and opened again
    assert "Mine!" in browser.run("document.querySelector('textarea').value")
    browser.click("button[value=save]")
    browser.wait_for(
        "!document.querySelector('#mine').hidden"
    )  # it is told again, and written when one says so
    browser.click("#mine")
    browser.wait_for("document.querySelector('.toast').textContent.startsWith('Question saved')")
    assert "Mine!" in studio.api("/api/edit?id=q05")["text"]
    browser.click("#find")
    browser.wait_for("document.querySelector('#evidence li button')")
    browser.click("#evidence li button")
    browser.run("document.querySelector('.toast').hidden = true")
    browser.click("button[value=save]")
    browser.wait_for("!document.querySelector('.toast').hidden")
    assert browser.run("document.querySelector('#gold .gold').textContent") != ""
    assert len(studio.api("/api/edit?id=q05")["gold"]) == 1
    browser.faults.clear()  # a refusal is an answer that the browser tells of


@pytest.mark.usefixtures("browser")
def test_disagreements_are_decided_by_the_keyboard(studio: BrowsedStudio, tmp_path: Path) -> None:
    browser = studio.browser
    browser.faults.clear()
    view = studio.api("/api/labeling?who=ada&id=q06")
    place = {name: view["passages"][0][name] for name in ("doc_id", "start", "end")}
    for who, grade in (("ada", 3), ("hedy", 0)):
        body = {
            "key": f"six {who}",
            "kind": "grade",
            "who": who,
            "id": "q06",
            "grade": grade,
            **place,
        }
        studio.api("/api/label", body)
    studio.as_person("eve", "/adjudication")
    left = browser.run("document.querySelectorAll('#passages > li').length")
    browser.press("2")
    browser.press("3")  # before the next passage is drawn: says nothing of it
    browser.wait_for(f"document.querySelectorAll('#passages > li').length === {left - 1}")
    decided = [each for each in studio.project.labels().events() if each.kind == "adjudicate"]
    assert [(each.who, each.grade) for each in decided] == [("eve", 2)]
    browser.click(".toast button")
    browser.wait_for(f"document.querySelectorAll('#passages > li').length === {left}")
    assert browser.faults == []

"""People who label in real browsers: by the keyboard alone, with a studio that is killed, two at once."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from chunkwise.labels.assignment_and_progress import people_needed
from chunkwise.labels.store import LabelEvent, LabelProblem, LabelStore
from chunkwise.studio.project_sources import ProjectSources
from real_browser import Browser, needs_browser, opened_browser
from studio.browsed_studio import BrowsedStudio
from studio.made_studio import TOKEN, read_project, write_harbours
from untimed import HANG

pytestmark = [needs_browser, pytest.mark.unwatched]

ASKED = "document.querySelector('#asked').textContent"
HERE = "[...document.querySelectorAll('#passages > li')].findIndex((each) => each.classList.contains('here'))"
SENT = "localStorage.getItem('chunkwise-pending') in {null: 1, '[]': 1}"
READY = "document.querySelector('#passages > li.here')"
DONE = "!document.querySelector('#labeling').hidden && !document.querySelector('#passages > li')"


def write_sources(folder: Path, questions: int) -> ProjectSources:
    docs = folder / "docs"
    docs.mkdir()
    write_harbours(docs, 12)
    rows = [
        {"id": f"q{at:03}", "query": f"Who decides on leave in harbour {at}?"}
        for at in range(questions)
    ]
    (folder / "questions.json").write_text(json.dumps(rows), "utf-8")
    return ProjectSources(
        documents=(str(docs),),
        questions=str(folder / "questions.json"),
        labels=str(folder / "labels.db"),
    )


@contextmanager
def browsed(sources: ProjectSources) -> Iterator[BrowsedStudio]:
    studio = BrowsedStudio(read_project(sources))
    studio.start()
    try:
        yield studio
    finally:
        studio.stop()


def sign_in(browser: Browser, address: str, who: str) -> None:
    """As a person does: the address of the terminal, a name, Enter."""
    browser.size(1280)
    browser.open(address, "document.querySelector('#sign')")
    browser.run("document.querySelector('#sign input').focus()")
    browser.type(who)
    browser.press("Enter")
    browser.wait_for(f"{READY} || {DONE}")


def judge(browser: Browser, grade: int) -> None:
    """One key, and the next passage or question is there."""
    browser.run(f"window.seen = {ASKED} + {HERE}")
    browser.press(str(grade))
    browser.wait_for(f"{ASKED} + {HERE} !== window.seen")


def said(labels: Path, who: str) -> list[int]:
    """The grades of a person, as they stand in the file."""
    with closing(sqlite3.connect(labels)) as file, file:
        rows = file.execute(
            "select json_extract(content, '$.grade') from events where json_extract(content, '$.who') = ?"
            " and json_extract(content, '$.kind') = 'grade' order by number",
            (who,),
        )
        return [grade for (grade,) in rows]


LABELS = 500
"""As many as a person gives in a day."""


@pytest.mark.usefixtures("browser")
def test_hundreds_of_labels_by_the_keyboard_alone(tmp_path: Path) -> None:
    sources = write_sources(tmp_path, 80)
    with browsed(sources) as studio, opened_browser() as browser:
        sign_in(browser, f"{studio.address}/labeling?token={TOKEN}", "ada")
        for number in range(LABELS):
            judge(browser, number % 4)
        browser.wait_for(SENT)
        assert said(tmp_path / "labels.db", "ada") == [number % 4 for number in range(LABELS)]
        assert browser.faults == []


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def process(sources: ProjectSources, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a user starts it, and the address it prints."""
    command = [sys.executable, "-m", "chunkwise", "studio", *sources.documents, "--no-browser", "--quiet"]  # fmt: skip
    command += ["--test-queries", sources.questions, "--labels", str(sources.labels), "--port", str(port)]  # fmt: skip
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip().replace("/documents?", "/labeling?")
    finally:
        started.kill()
        started.wait(HANG)
        started.stdout.close()


@pytest.mark.usefixtures("browser")
def test_kill_9_between_two_labels_loses_neither(tmp_path: Path) -> None:
    sources, port = write_sources(tmp_path, 4), free_port()
    labels = tmp_path / "labels.db"
    with opened_browser() as browser:
        with process(sources, port) as (studio, address):
            sign_in(browser, address, "ada")
            for grade in (3, 1):
                judge(browser, grade)
            browser.wait_for(SENT)
            os.kill(studio.pid, signal.SIGKILL)
            studio.wait(HANG)
            assert said(labels, "ada") == [3, 1]
            judge(browser, 2)
            refused = "document.querySelector('#refused')"
            browser.wait_for(f"{refused}.checkVisibility()")
            assert said(labels, "ada") == [3, 1]
        with process(sources, port) as (_, address):
            browser.open("about:blank")
            browser.open(address, READY)
            browser.wait_for(SENT)
            browser.wait_for(f"{refused}.hidden")
            assert said(labels, "ada") == [3, 1, 2]


@pytest.mark.usefixtures("browser")
def test_who_signs_in_before_the_documents_are_indexed_need_not_ask_again(tmp_path: Path) -> None:
    with browsed(write_sources(tmp_path, 2)) as studio, opened_browser() as browser:
        not_ready = {"error": "the documents are being indexed; search again in a moment"}
        browser.do(
            lambda page: page.route(
                "**/api/labeling?*",
                lambda route: route.fulfill(status=503, json=not_ready),
                times=2,
            )
        )
        sign_in(browser, f"{studio.address}/labeling?token={TOKEN}", "ada")
        assert not browser.faults[2:]


@pytest.mark.usefixtures("browser")
def test_a_full_disk_keeps_labels_in_the_browser_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = write_sources(tmp_path, 2)
    adds = LabelStore.add

    def full(store: LabelStore, events: LabelEvent | Iterable[LabelEvent]) -> int:
        raise LabelProblem("the file of labels cannot be used: No space left on device")

    with browsed(sources) as studio, opened_browser() as browser:
        sign_in(browser, f"{studio.address}/labeling?token={TOKEN}", "ada")
        monkeypatch.setattr(LabelStore, "add", full)
        judge(browser, 3)
        refused = "document.querySelector('#refused')"
        browser.wait_for(f"{refused}.textContent.includes('No space left on device')")
        monkeypatch.setattr(LabelStore, "add", adds)
        browser.wait_for(f"{SENT} && {refused}.hidden")
        assert said(tmp_path / "labels.db", "ada") == [3]


@pytest.mark.usefixtures("browser")
def test_two_annotators_in_two_browsers_share_some_questions_and_are_adjudicated(
    tmp_path: Path,
) -> None:
    sources = write_sources(tmp_path, 10)
    people, failed = {"ada": 0, "grace": 3}, []
    ids = [f"q{at:03}" for at in range(10)]
    both = {id for id in ids if people_needed(id) == 2}
    assert 0 < len(both) < len(ids)

    def label(who: str, address: str) -> None:
        try:
            with opened_browser() as browser:
                sign_in(browser, f"{address}/labeling?token={TOKEN}", who)
                while not browser.run(DONE):
                    judge(browser, people[who])
                browser.wait_for(SENT)
                assert browser.faults == []
        except BaseException as error:  # told by the test, which waits in another thread
            failed.append(error)

    with browsed(sources) as studio:
        beside = [threading.Thread(target=label, args=(who, studio.address)) for who in people]
        for each in beside:
            each.start()
        for each in beside:
            each.join()
        if failed:
            raise failed[0]
        done = {id: {each.who for each in studio.project.labels().events(id)} for id in ids}
        twice = {id for id, names in done.items() if names == set(people)}
        assert both <= twice
        # Nobody is left without work while another is at the last question.
        assert len(twice - both) <= 1
        assert min(sum(who in names for names in done.values()) for who in people) > len(both)
        progress = studio.api("/api/labels")["progress"]
        assert progress["done"] == len(ids)
        disputed = progress["agreement"]["disputed"]
        assert disputed == progress["agreement"]["passages"] > 0
        with opened_browser() as browser:
            browser.size(1280)
            sign_in_address = f"{studio.address}/adjudication?token={TOKEN}"
            browser.open(sign_in_address, "document.querySelector('#sign')")
            browser.run("document.querySelector('#sign input').focus()")
            browser.type("hedy")
            browser.press("Enter")
            count = "document.querySelectorAll('#passages > li').length"
            browser.wait_for(f"{count} === {disputed}")
            assert browser.axe_findings() == []
            for left in range(disputed, 0, -1):
                browser.wait_for(f"{count} === {left} && {HERE} >= 0")
                browser.press("2")
            browser.wait_for(f"{count} === 0")
            assert browser.faults == []
        assert studio.api("/api/labels")["progress"]["agreement"]["disputed"] == 0


@pytest.mark.usefixtures("browser")
def test_gold_is_selected_by_dragging_and_kept_by_a_touch(tmp_path: Path) -> None:
    sources = write_sources(tmp_path, 2)
    with browsed(sources) as studio, opened_browser(touch=True) as browser:
        sign_in(browser, f"{studio.address}/labeling?token={TOKEN}", "ada")
        inside = "document.querySelectorAll('li.here .inside')"
        edges = browser.run(
            f"[...{inside}].slice(0, 2).map((each) => [...each.getClientRects()][0])"
            ".map((box) => [box.left + 40, box.top + box.height / 2])"
        )
        (x, y), (to_x, to_y) = edges
        browser.do(lambda page: page.mouse.move(x, y))
        browser.do(lambda page: page.mouse.down())
        browser.do(lambda page: page.mouse.move(to_x, to_y))
        browser.do(lambda page: page.mouse.up())
        browser.wait_for("document.querySelectorAll('li.here .passage-text > .gold').length === 2")
        wanted = browser.run(f"[...{inside}].slice(0, 2).map((each) => each.textContent).join('')")
        browser.do(lambda page: page.tap("li.here .keep-gold"))
        browser.wait_for("document.querySelector('.gold-row')")
        (gold,) = [each for each in studio.project.labels().events() if each.kind == "gold"]
        assert gold.text == wanted.strip()
        assert browser.faults == []

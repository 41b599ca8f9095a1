"""Ways through the studio in a real browser: a PDF beside its text, an answer to its place, a sweep to an index."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chunkwise.base.own_files import is_index_folder
from chunkwise.models import get_language_model
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.models.llm.client import LlmClient
from chunkwise.studio.project import Project, Step
from chunkwise.studio.project_sources import ProjectSources
from documents.hostile_files import plain_pdf
from models.chat_server import asked, chat_server
from real_browser import Browser, needs_browser, opened_browser
from report.reading_pages import EVIL
from studio.browsed_studio import BrowsedStudio
from studio.made_studio import LEAVE, TOKEN, number_of, read_project, write_harbours

pytestmark = [needs_browser, pytest.mark.unwatched]

LINE = 10_000_000
"""Characters of a text without a line break."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the studio is started: what it writes goes there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    (tmp_path / "docs").mkdir()
    return tmp_path


@contextmanager
def looked_at(project: Project, folder: Path, path: str) -> Iterator[tuple[BrowsedStudio, Browser]]:
    """The studio with a browser that has opened a page of it as a user does."""
    studio = BrowsedStudio(project)
    studio.start()
    try:
        with opened_browser() as browser:
            studio.browser = browser
            browser.size(1400)
            browser.open(f"{studio.address}{path}{'&' if '?' in path else '?'}token={TOKEN}")
            yield studio, browser
            foreign = [
                each
                for each in browser.requests
                if not each.startswith((studio.address, "about:", "data:"))
            ]
            assert foreign == []
    finally:
        studio.stop()
        project.stop()


@pytest.mark.usefixtures("browser")
def test_a_chunk_of_a_pdf_is_on_its_page_and_the_token_under_the_pointer_is_told(
    folder: Path,
) -> None:
    (folder / "docs" / "lamps.pdf").write_bytes(plain_pdf())
    project = read_project(ProjectSources(documents=("docs",)))
    with looked_at(project, folder, f"/documents/{number_of(project, 'lamps.pdf')}") as (
        _,
        browser,
    ):
        browser.wait_for("document.querySelector('.band .pill')")
        browser.press("g")
        image = "document.querySelector('#paper-image')"
        browser.wait_for(f"{image}.complete && {image}.naturalWidth > 0")
        x, y = browser.run(
            "(() => { const box = document.querySelector('.band > span').getClientRects()[0]; "
            "return [box.left + 12, box.top + box.height / 2]; })()"
        )
        browser.do(lambda page: page.mouse.move(x, y))
        browser.wait_for("document.querySelector('#token').textContent.startsWith('Token')")
        browser.wait_for("document.querySelector('.span-box')")
        inside = browser.run(
            "(() => { const page = document.querySelector('.paper-page').getBoundingClientRect(), "
            "span = document.querySelector('.span-box').getBoundingClientRect(); return span.width > 0 && "
            "span.left >= page.left && span.right <= page.right && span.top >= page.top && "
            "span.bottom <= page.bottom; })()"
        )
        assert inside
        token = re.fullmatch(
            r'Token "(.+)" · (\d+)–(\d+) · o200k_base',
            browser.run("document.querySelector('#token').textContent"),
        )
        assert token is not None
        text = project.corpus.document(number_of(project, "lamps.pdf")).text
        assert text[int(token[2]) : int(token[3])] == token[1]
        assert browser.axe_findings() == []
        assert browser.faults == []


def careful(payload: dict[str, Any]) -> str:
    """Quotes the sentence on the harbour master, from the passage that has it."""
    quote = "The harbour master decides within five days."
    found = re.findall(r"<passage (\d+) (\w+)>\n(.*?)\n</passage \1 \2>", asked(payload), re.DOTALL)
    claims = [
        {"passage": int(number), "quote": quote, "claim": quote}
        for number, _, text in found
        if quote in text
    ]
    return json.dumps({"found": bool(claims), "claims": claims[:1]})


@pytest.mark.usefixtures("browser")
def test_a_claim_of_a_model_is_opened_in_its_document(folder: Path) -> None:
    (folder / "docs" / "leave.md").write_text(LEAVE, "utf-8")
    project = read_project(ProjectSources(documents=("docs",)))
    with chat_server(careful) as server:
        project.llm = LlmClient(get_language_model(server.name()))
        project.sources = replace(project.sources, llm_name=server.name())
        path = "/ask?q=who+decides+on+leave%3F&words=model"
        with looked_at(project, folder, path) as (_, browser):
            browser.wait_for("document.querySelector('.cited mark')")
            assert "harbour master" in browser.run("document.querySelector('.claim').textContent")
            assert browser.axe_findings() == []
            browser.follow(".cited a")
            browser.wait_for("document.querySelector('.marked')")
            marked = browser.run(
                "[...document.querySelectorAll('.marked')].map((each) => each.textContent).join('')"
            )
            assert marked == "The harbour master decides within five days."
            assert browser.faults == []


@pytest.mark.usefixtures("browser")
def test_a_search_is_copied_as_code(folder: Path) -> None:
    (folder / "docs" / "leave.md").write_text(LEAVE, "utf-8")
    project = read_project(ProjectSources(documents=("docs",)))
    path = "/search?q=who+decides%3F&retriever=bm25&budget=60"
    with looked_at(project, folder, path) as (studio, browser):
        browser.wait_for("document.querySelector('.side .copy')")
        allowed = ["clipboard-read", "clipboard-write"]
        browser.do(lambda page: page.context.grant_permissions(allowed, origin=studio.address))
        for label, holds in (
            ("copy the command", "chunkwise search kb 'who decides?' --retriever bm25 --budget 60"),
            ("copy the Python", "import chunkwise"),
        ):
            button = f".copy:text-is('{label}')"
            if not browser.sees(button):
                browser.click(f"details:has({button}) > summary")
            browser.click(button)
            browser.do(lambda page: page.wait_for_selector(".copy:text-is('copied')"))
            assert holds in browser.run("navigator.clipboard.readText()")
        assert browser.faults == []


@pytest.mark.usefixtures("browser")
def test_a_sweep_from_the_form_is_estimated_stopped_gone_on_with_and_applied(folder: Path) -> None:
    write_harbours(folder / "docs")
    for number in range(8):
        text = f"# Harbour {number}\n\nThe quay is {number + 20} metres long.\n\n" + "It has lamps. " * 60  # fmt: skip
        (folder / "docs" / f"quay{number}.md").write_text(text, "utf-8")
    rows = [
        {"id": f"q{number}", "query": f"How long is the quay of harbour {number}?",
         "relevant_text": f"The quay is {number + 20} metres long."}
        for number in range(8)
    ]  # fmt: skip
    (folder / "questions.json").write_text(json.dumps(rows), "utf-8")
    project = read_project(ProjectSources(documents=("docs",), questions="questions.json"))
    state = "document.querySelector('#sweep-rows .tag').textContent"
    button = "#sweep-rows button:has-text('{}')"
    with looked_at(project, folder, "/sweeps") as (_, browser):
        browser.wait_for("document.querySelector('#sweep-form option')")
        browser.click("#sweep-form button[value=estimate]")
        browser.wait_for("document.querySelector('#sweep-estimate pre')")
        told = browser.run("document.querySelector('#sweep-estimate').textContent")
        assert "16 documents, 8 questions" in told
        browser.click("#sweep-start")
        browser.wait_for(f"{state} === 'running'")
        browser.click(button.format("Stop"))
        browser.wait_for(f"{state}.startsWith('stopped')")
        browser.click(button.format("Resume"))
        browser.wait_for(f"{state} === 'done'")
        browser.do(lambda page: page.wait_for_selector(button.format("Apply")))
        assert browser.axe_findings() == []
        browser.click(button.format("Apply"))
        browser.wait_for("document.querySelector('#sweep-rows .hint a')?.checkVisibility()")
        assert is_index_folder("kb")
        assert project.ready_index().settings.search.changed()
        browser.follow("#sweep-rows a")
        assert "tuning" in browser.run("document.title")
        browser.follow(".way .primary")
        sides = "[...document.querySelectorAll('.side')]"
        browser.wait_for(
            f"{sides}.length === 2 && {sides}.every((each) => each.querySelector('.found'))"
        )
        assert browser.faults == []


@pytest.mark.usefixtures("browser")
def test_a_hostile_line_of_10_mb_is_shown_where_one_looks_and_obeyed_in_nothing(
    folder: Path,
) -> None:
    evil = EVIL.replace("\x00", "").replace("\ud800", "").replace("\n", " ").replace("\r", " ")
    line = f"{evil} lamps and boats \u202e and quays. "
    text = (line * (LINE // len(line) + 1))[:LINE]
    (folder / "docs" / "line.txt").write_text(text, "utf-8")
    project = Project(ProjectSources(documents=("docs",), counts_issues=False))
    project._read(step := Step("reading documents"))
    assert step.done == 1
    path = "/documents/0?strategy=tokens(max_tokens%3D400)"
    with looked_at(project, folder, path) as (_, browser):
        browser.wait_for("document.querySelector('.band')")
        browser.run(
            "(() => { const box = document.querySelector('#pages'); box.scrollTop = box.scrollHeight / 2; })()"
        )
        browser.wait_for(
            "(() => { const box = document.querySelector('#pages').getBoundingClientRect(); "
            "return document.elementFromPoint(box.left + box.width / 2, box.top + 60)?.closest('.band'); })()"
        )
        assert browser.run("document.querySelector('#pages').textContent.length") < LINE / 10
        assert browser.run("document.querySelectorAll('.band img, .band script, .band style').length") == 0  # fmt: skip
        assert browser.run("document.documentElement.scrollWidth") <= 1400
        assert "owned" not in browser.run("document.title").split(" – ")[-1]
        assert browser.faults == []

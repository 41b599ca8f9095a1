"""The way through the studio as a new user goes it, on a phone, a laptop and a wide screen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import chunkwise
from chunkwise.studio.project_sources import ProjectSources
from real_browser import needs_browser, opened_browser
from studio.browsed_studio import BrowsedStudio
from studio.made_studio import TOKEN, read_project
from tables import cases

pytestmark = [needs_browser, pytest.mark.unwatched]

QUESTIONS = 6
FITS = "document.documentElement.scrollWidth <= innerWidth + 1"


@pytest.mark.usefixtures("browser", "processes")
@cases("width", [390, 1280, 1920])
def test_one_button_leads_from_each_step_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    folder = tmp_path / str(width)
    shutil.copytree(Path(chunkwise.__file__).parent / "corpus", folder / "docs")
    monkeypatch.chdir(folder)
    project = read_project(ProjectSources(documents=("docs",)))
    studio = BrowsedStudio(project)
    studio.start()
    way = "document.querySelector('.way .primary')"
    try:
        with opened_browser(touch=width < 500) as browser:
            browser.size(width)
            browser.open(f"{studio.address}/documents?token={TOKEN}", way)
            assert browser.run(FITS)
            browser.follow(".way .primary")
            browser.wait_for("document.body.classList.contains('is-next')")
            assert not browser.run(way)  # the page has the button itself
            browser.fill("#draft-form [name=count]", str(QUESTIONS))
            browser.click("#draft-form .page-primary")
            browser.wait_for(f"{way}.textContent === 'Review {QUESTIONS} questions'")
            assert browser.run(FITS)
            assert browser.axe_findings() == []
            browser.follow(".way .primary")
            shown = "document.querySelector('#edit textarea').value"
            for _ in range(QUESTIONS):
                browser.wait_for(shown)
                state = "document.querySelector('#state').textContent"
                before = browser.run(state)
                browser.click("#edit .page-primary")
                browser.wait_for(
                    f"!document.querySelector('#over').hidden || {state} !== {before!r}"
                )
            browser.wait_for(f"{way}.textContent === 'Label passages'")
            browser.follow(".way .primary")
            browser.fill("[name=who]", "ada")
            browser.click("#sign button")
            browser.wait_for("document.querySelector('#passages > li.here')")
            browser.click("li.here .grade:nth-child(4)")
            browser.wait_for("document.querySelector('.toast button').checkVisibility()")
            assert browser.run(FITS)
            assert browser.axe_findings() == []
            browser.click(".toast button")
            browser.wait_for("!document.querySelector('.grade[aria-pressed=true]')")
            assert browser.sees(".bar [data-key=u]")
            assert browser.run(
                "[...document.querySelectorAll('li.here .grade[aria-pressed] span')]"
                ".every((each) => each.checkVisibility())"
            )
            browser.open(f"{studio.address}/sweeps", "document.querySelector('#new-sweep[open]')")
            browser.wait_for("!document.querySelector('#sweep-start').disabled")
            assert browser.run(FITS)
            browser.click("#sweep-start")
            apply = "#sweep-rows .page-primary"
            browser.wait_for(f"document.querySelector('{apply}')?.checkVisibility()")
            assert browser.run("Boolean(document.querySelector('#sweep-rows .winner').textContent)")
            assert browser.run(FITS)
            assert browser.axe_findings() == []
            browser.click(apply)
            browser.wait_for(f"{way}.textContent === 'Compare before and after'")
            browser.follow(".way .primary")
            browser.wait_for("document.querySelectorAll('.side article, .side li').length > 1")
            assert browser.run(FITS)
            assert browser.faults == []
    finally:
        studio.stop()
        project.stop()

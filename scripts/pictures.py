"""Take the pictures in README and docs: pages of the same documents and questions as the text beside them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"

WORDS = "--retriever bm25 --metrics recall,recall@1000t,mrr,completeness,boundary_issues"
CUT = "handbook/ferry-safety-manual.md -s 'sentences(max_tokens=120, overlap=30)'"
REPORTS = {
    "cuts.png": (f"chunkwise chunk {CUT} -q --html cuts.html", "cuts.html", 900),
    "evaluation.png": (
        f"chunkwise evaluate handbook -Q questions.json {WORDS} -q --html evaluation.html -o e.json",
        "evaluation.html",
        1180,
    ),
    "tuning.png": (
        "chunkwise tune handbook -Q questions.json --embedder none -q -o out",
        "out/report.html",
        1400,
    ),
}
"""The command, its page, the height of the picture in pixels."""
TWO_STRATEGIES = (
    "?strategy=structure(max_tokens%3D200)&other=recursive(max_tokens%3D200,overlap%3D40)"
)
TWO_RETRIEVERS = "/search?q=how+many+unused+days+can+I+carry+over%3F&retriever=multiscale&retriever=bm25&budget=300"


def take_pictures(folder: Path, run_all: Callable[[list[str], Path], object]) -> None:
    """Take them in Chromium; `folder` has the documents, the questions and a PDF."""
    run_all([command for command, _, _ in REPORTS.values()], folder)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        for name, (_, file, height) in REPORTS.items():
            page.set_viewport_size({"width": 1280, "height": height})
            page.goto((folder / file).as_uri())
            page.screenshot(path=PICTURES / name)
        page.set_viewport_size({"width": 1280, "height": 860})
        with running_studio(folder) as address:
            page.goto(address)
            for name, show in STUDIO.items():
                show(page)
                page.wait_for_load_state("networkidle")
                page.screenshot(path=PICTURES / name)
        browser.close()


@contextmanager
def running_studio(folder: Path) -> Iterator[str]:
    """Start a studio, and give the address that lets a browser in."""
    words = "-m chunkwise studio handbook bridge.pdf -Q questions.json --no-browser".split()
    studio = subprocess.Popen(
        [sys.executable, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )  # fmt: skip
    try:
        assert studio.stdout is not None
        found = (re.search(r"http://\S+token=\S+", line) for line in studio.stdout)
        yield next(match[0] for match in found if match)
    finally:
        studio.terminate()
        studio.wait()


def _open(page: Page, path: str) -> None:
    page.goto(re.sub(r"(https?://[^/]+)/.*", r"\1", page.url) + path)


def _open_document(page: Page, title: str, query: str = "") -> None:
    _open(page, "/documents")
    link = page.locator("#space a", has_text=title).first
    _open(page, (link.get_attribute("href") or "") + query)
    page.locator(".band .pill").first.wait_for()


def _show_document(page: Page) -> None:
    _open_document(page, "Recipes of the Salt Kitchen", TWO_STRATEGIES)


def _show_pdf(page: Page) -> None:
    _open_document(page, "bridge", "?strategy=sections(max_tokens%3D120)")
    page.keyboard.press("g")
    page.locator(".band span", has_text="deck is a slab").first.hover(position={"x": 120, "y": 12})


def _show_search(page: Page) -> None:
    _open(page, TWO_RETRIEVERS)
    page.locator(".side mark").first.wait_for()


def _show_review(page: Page) -> None:
    _open(page, "/questions")
    link = page.locator("#question-table a").first.get_attribute("href") or ""
    _open(page, link.replace("/question?", "/edit?"))
    page.locator("#gold a").first.wait_for()


def _show_labeling(page: Page) -> None:
    page.evaluate("localStorage.setItem('chunkwise-name', 'you')")
    _open(page, "/labeling")
    page.locator("#passages > li.here").wait_for()
    for grade in "300":
        page.keyboard.press(grade)
        page.wait_for_timeout(300)
    page.evaluate("scrollTo(0, 0)")


def _show_sweep(page: Page) -> None:
    _open(page, "/sweeps")
    page.locator("#sweep-ask:enabled").wait_for(state="attached")
    page.evaluate("document.querySelector('#new-sweep').open = true")
    page.locator("#sweep-form button[value=estimate]").click()
    page.locator("#sweep-estimate pre").wait_for(state="attached")
    page.locator("#sweep-form").scroll_into_view_if_needed()


STUDIO: dict[str, Callable[[Page], None]] = {
    "studio-document.png": _show_document,
    "studio-pdf.png": _show_pdf,
    "studio-search.png": _show_search,
    "studio-review.png": _show_review,
    "studio-labeling.png": _show_labeling,
    "studio-sweep.png": _show_sweep,
}
"""What brings the page to be shown onto the screen."""

"""The page shows exactly the document's text, and whatever the text holds stays text."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chunkwise.chunkers import get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.report.cuts_page import ChunksView
from chunkwise.text.analyzed import Analyzed
from real_browser import needs_browser, opened_browser

HOSTILE = (
    "</script><script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\">"
    "<!-- <script> ]]> &amp; &lt; \" ' ` ${x} $style \\u003c \u2028 \u2029 \u202eabc\u2066 \ufeff "
    "\x85 \U0001f44d\U0001f3fd é e\u0301 \t end.\n<style>*{display:none}</style> Another lamp is lit."
)
UNSPEAKABLE = "\x00 \r\n \r \ud800 \udfff\ud83d"


class Page(HTMLParser):
    """Tags, the text of data and code elements, and what is drawn inside <main>."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: dict[str, str] = {}
        self.style = self.main = self.policy = self.title = ""
        self.drawn: list[tuple[str, str]] = []
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""
        if tag not in ("meta", "img", "link", "br"):
            self.open.append((tag, values))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, values = self.open[-1] if self.open else ("", {})
        if tag == "script":
            name = values.get("id") or "code"
            self.scripts[name] = self.scripts.get(name, "") + data
        self.style += data if tag == "style" else ""
        self.title += data if tag == "title" and self.open[-2][0] == "head" else ""
        if any(values.get("id") == "text" for _, values in self.open):
            self.main += data
            self.drawn.append((values.get("class") or "", data))

    def data(self, number: int) -> Any:
        return json.loads(self.scripts[f"document-{number}"])


def chunks_page(
    documents: Sequence[tuple[Analyzed, Sequence[Chunk]]],
    strategy: str,
    limit: int | None = None,
    unit: str = "tokens",
) -> str:
    """As `chunkwise chunk --html` writes it."""
    out = io.StringIO()
    ChunksView(iter(documents), strategy, limit, unit).write(out)
    return out.getvalue()


def chunked(
    text: str, strategy: str = "tokens(max_tokens=20, overlap=5)"
) -> tuple[Analyzed, list[Chunk]]:
    document = Analyzed(Document("<b>id</b>", text, "</title><i>\u202etitle"))
    return document, list(get_strategy(strategy).chunks(document))


def test_the_text_of_the_page_is_the_text_of_the_document() -> None:
    text = HOSTILE + UNSPEAKABLE
    page = Page(chunks_page([chunked(text), chunked("Second.")], "tokens"))
    assert page.data(0)["text"] == text
    assert page.data(1)["text"] == "Second."


def test_hostile_text_adds_no_element_and_no_raw_control() -> None:
    html = chunks_page([chunked(HOSTILE + UNSPEAKABLE)], "</script><b>tokens</b>")
    assert Page(html).tags == Page(chunks_page([chunked("A lamp.")], "tokens")).tags
    assert not re.search("[\u2028-\u202e\u2066-\u2069\x00\x85]", html)
    assert html.encode("utf-8")


def test_the_policy_allows_the_two_inline_texts_and_nothing_else() -> None:
    page = Page(chunks_page([chunked("A lamp.")], "tokens"))

    def source(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == source(page.scripts["code"])
    assert rules["style-src"] == source(page.style)


def test_nothing_is_fetched() -> None:
    html = chunks_page([chunked("A lamp.")], "tokens")
    addresses = set(re.findall(r"https?://[^\"'\s)]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|\bsrc=|<link", html)


def test_chunks_carry_what_the_panel_shows() -> None:
    document = Analyzed(
        Document("d", "# Top\n\nOne lamp.\n\n## Low\n\nThis boat.", format="markdown")
    )
    first = Chunk(document.document, 0, 0, 16, 5, "About lamps.", outline=document)
    second = Chunk(document.document, 1, 26, 36, 3, outline=document)
    data = Page(chunks_page([(document, [first, second])], "mine", limit=9)).data(0)
    assert (data["start"], data["end"], data["size"]) == ([0, 26], [16, 36], [5, 3])
    assert [data["paths"][i] for i in data["section"]] == [["Top"], ["Top", "Low"]]
    assert data["context"] == {"0": "About lamps."}
    assert data["words"] == [4, 2]


@pytest.mark.unwatched
def test_a_megabyte_stays_under_three() -> None:
    text = "The lamp at the end of the mole is lit before dusk & put out at dawn.\n" * 14_300
    document, chunks = chunked(text, "sentences(max_tokens=100, overlap=20)")
    assert len(chunks) > 2_000
    assert len(chunks_page([(document, chunks)], "sentences").encode()) < 3 * len(text)


def drawn(html: str, folder: Path, place: str = "") -> str:
    """The page as a browser has it once the script has run; `place` is behind its address."""
    file = folder / "cuts.html"
    file.write_text(html, encoding="utf-8")
    with opened_browser() as browser:
        browser.open(file.as_uri() + place)
        return str(browser.run("document.documentElement.outerHTML"))


UNITS = ("tokens", "words", "characters")


@pytest.fixture(scope="module")
def sized(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Pages with sizes in each unit, as a browser has them."""
    document = Analyzed(Document("d", "One lamp. Two boats."))
    chunks = [
        Chunk(document.document, 0, 0, 10, 1, outline=document),
        Chunk(document.document, 1, 10, 20, 7, outline=document),
    ]
    pages = {unit: chunks_page([(document, chunks)], "mine", limit=9, unit=unit) for unit in UNITS}
    for unit, html in pages.items():
        assert json.loads(Page(html).scripts["overview"])["unit"] == unit
    # The second chunk is pointed at by the address, so that the panel is drawn.
    folder = tmp_path_factory.mktemp("sized")
    return {unit: drawn(html, folder, "#1:2") for unit, html in pages.items()}


@pytest.mark.usefixtures("processes")
@needs_browser
@pytest.mark.parametrize("unit", UNITS)
def test_sizes_are_told_in_the_unit_of_the_strategy(unit: str, sized: dict[str, str]) -> None:
    page = sized[unit]
    head = page[: page.index('<script type="application/json"')]
    labels = re.findall(r"(?:tokens?|words?|characters?)\b", head)
    assert set(labels) - {"words"} <= {unit, unit[:-1]}
    for told in (
        f"{unit}, least",
        f"9 {unit}</text>",
        f"7 {unit}: 1 chunk<",
        f'Chunk 1, 1 {unit[:-1]}"',
        f">7 of 9 {unit}<",
    ):
        assert told in head
    # Once is enough.
    assert ("<dt>words</dt>" in head) == (unit != "words")


@pytest.mark.usefixtures("browser")
@needs_browser
def test_the_page_is_accessible(tmp_path: Path) -> None:
    document, chunks = chunked(HOSTILE)
    page = tmp_path / "page.html"
    page.write_text(chunks_page([(document, chunks)], "tokens", limit=20), "utf-8")
    with opened_browser(policy=False) as browser:
        browser.open(page.as_uri())
        assert browser.axe_findings() == []


@pytest.mark.smoke
@pytest.mark.usefixtures("browser")
@needs_browser
def test_a_browser_draws_the_text_exactly_and_runs_nothing_of_it(tmp_path: Path) -> None:
    document, chunks = chunked(HOSTILE * 3)
    page = Page(drawn(chunks_page([(document, chunks)], "tokens", limit=20), tmp_path))
    assert page.main == document.text
    assert page.title == "Cuts, drawn on the text"
    repeated = [document.text[b.start : a.end] for a, b in pairwise(chunks)]
    hatched = "".join(text for look, text in page.drawn if look.startswith("lap"))
    assert hatched == "".join(repeated)

"""The page and the terminal view: complete, self-contained, and safe whatever the documents say."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console
from rich.text import Text

from chunkwise.core import Document
from chunkwise.profiling import Profile, profile
from chunkwise.profiling.results import SizeBin
from chunkwise.report.charts import drawn
from chunkwise.report.page import page as page_of
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.profile import render_profile
from chunkwise.report.terminal.widgets import bar
from chunkwise.report.views.profile import histogram, profile_view
from chunkwise.testkit.hostile import hostile_documents
from tables import cases

LANGUAGES = {
    "en": "The tide is in.", "de": "Das ist die Flut.", "fr": "Les marées sont dans le port.",
    "es": "La marea es muy alta y también los barcos.", "it": "La marea è della luna.",
    "pt": "A maré não é para você.", "el": "Το νερό ανεβαίνει.", "zh": "潮水每天涨落两次。",
}  # fmt: skip
EVIL = "<script>alert(1)</script>\x1b[31m[bold]\u202e\"'><img src=http://x.example/y onerror=a>"


def _evil() -> Profile:
    long = f"{EVIL} " * 20
    text = f"# {EVIL}\n\n{long}.\n\nMore.\n\n## {EVIL}\n\n{long}.\n"
    ids = [f"{EVIL.replace('/', '')}/{n}{EVIL}" for n in range(2)]
    return profile(Document(name, text, format="markdown") for name in ids)


def _usual() -> Profile:
    text = (
        "# Lamps\n\n"
        + "The lamp of pier {0} burns all night, says keeper {0}. " * 12
        + "\n\n## Posts\n\nFew."
    )
    return profile(
        Document(f"{'ab'[n % 2]}/{n}.md", text.format(n // 2), format="markdown") for n in range(8)
    )


def profile_page(found: Profile, title: str) -> str:
    return page_of(profile_view(found, title))


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def _parse(html: str) -> _Page:
    page = _Page()
    page.feed(html)
    page.close()
    assert page.open == []
    return page


@pytest.mark.unwatched
def test_advice_comes_first_and_every_part_is_there() -> None:
    found = _usual()
    html = profile_page(found, "Lamps of the island").replace("<title", "\n<title")
    page = _parse(html)
    headings = re.findall(
        "Where to start|At a glance|How large|How long|Folders|Oversized|Repeated passages",
        page.text,
    )
    assert headings[0] == "Where to start"
    assert set(headings) >= {
        "At a glance",
        "How large",
        "How long",
        "Folders",
        "Oversized",
        "Repeated passages",
    }
    assert found.advice[0].strategy_spec in page.text
    assert "Lamps of the island" in page.text
    for noun, sizes in (("section", found.total.sections), ("document", found.total.lengths)):
        used = [item for item in sizes.histogram if item.count]
        assert len(re.findall(f"<title>[0-9]+ {noun}s? of .* tokens</title>", html)) == len(used)


@cases("found", [_evil(), _usual(), profile(hostile_documents()), profile([])])
def test_nothing_is_fetched_or_run(found: Profile) -> None:
    html = profile_page(found, EVIL)
    page = _parse(html)
    assert {tag for tag, _ in page.tags}.isdisjoint(
        {"script", "img", "link", "iframe", "a", "object"}
    )
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in html
    assert "@import" not in html
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", html)
    html.encode("utf-8")


def test_hostile_text_is_shown_as_text() -> None:
    assert "<script>alert(1)</script>" in _parse(profile_page(_evil(), EVIL)).text


@cases("width", [80, 120])
@cases("found", [_evil(), _usual(), profile(hostile_documents()), profile([])])
def test_terminal(found: Profile, width: int) -> None:
    stream = io.StringIO()
    render_profile(
        profile_view(found), Console(file=stream, width=width, no_color=True, force_terminal=False)
    )
    shown = stream.getvalue()
    assert "Where to start" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", shown)
    assert max(Text(line).cell_len for line in shown.splitlines()) <= width


def test_markup_in_names_is_no_markup() -> None:
    stream = io.StringIO()
    render_profile(profile_view(_evil()), Console(file=stream, width=200, no_color=True))
    assert "[bold]" in stream.getvalue()


def test_bars_are_as_long_as_their_share() -> None:
    assert [len(bar(share, 8)) for share in (0, 0.0001, 0.5, 1, 2)] == [0, 1, 4, 8, 8]
    assert bar(0.5, 1) == "▌"


def test_long_text_is_short() -> None:
    assert one_line("abcdef", 4) == "abc…"


def test_columns_have_short_labels() -> None:
    bins = (SizeBin(0, 400, 999_999), SizeBin(400, 1600, 1), SizeBin(1600, None, 1_234_567_890))
    chart = histogram(bins, "section", {400: 0.5, 1600: 1.0})
    assert chart
    html = drawn(chart)
    for svg in re.findall("<svg.*?</svg>", html):
        labels = re.findall(r"<text[^>]*>([^<]+)<", svg)
        assert labels == ["400", "1.6k", "1M", "1", "1.2B", "50 %", "100 %"]
    assert "<title>1 section of 401 to 1,600 tokens</title>" in html
    assert "<title>999,999 sections of" in html


@pytest.mark.unwatched
def test_languages_are_those_of_people_and_none_is_left_out_silently() -> None:
    documents = [Document(language, text) for language, text in LANGUAGES.items()]
    code = Document("x.py", "x = 1", format="code", language="python")
    found = profile([*documents, *[code] * 3])
    stream = io.StringIO()
    render_profile(profile_view(found), Console(file=stream, width=200, no_color=True))
    assert (
        f"· en 1, de 1, fr 1, es 1, it 1, pt 1 and {len(LANGUAGES) - 6} more" in stream.getvalue()
    )
    text = _parse(profile_page(found, "")).text
    assert f"by language: en 1, de 1, fr 1, es 1, it 1, pt 1 and {len(LANGUAGES) - 6} more." in text


@cases("width", [60, 80, 120])
def test_a_narrow_terminal_cuts_no_header_and_no_language(width: int) -> None:
    code = {"python": "def lit() -> bool:\n    return True\n", "typescript": "let lit: boolean;\n"}
    found = profile(
        [
            *(Document(f"{name}.md", LANGUAGES[name] * 40, format="markdown") for name in ("en", "de")),
            *(Document(f"x.{name}", text, format="code", language=name) for name, text in code.items()),
            Document("a folder with a name/numbers.txt", "123 456"),
        ]
    )  # fmt: skip
    stream = io.StringIO()
    render_profile(profile_view(found), Console(file=stream, width=width, no_color=True))
    tables, _, rest = stream.getvalue().partition("\nShare of the")
    _, *heads = tables.split("documents  ")
    for head in heads:
        assert head.split("\n")[0].split() == (
            ["tokens", "section", "fit", "400", "languages"]
            if "fit 400" in head
            else ["tokens", "section", "languages"]
        )
    assert [line.split() for line in tables.splitlines()].count(["median"]) == len(heads) == 2
    words = tables.replace(",", " ").split()
    assert not [word for word in words if "…" in word]
    for word in (
        "top",
        "level",
        "folder",
        "markdown",
        "en",
        "de",
        "python",
        "typescript",
        "unknown",
    ):
        assert word in words
    chart = re.search("\n( +≤.*)\n", rest)
    assert chart
    assert re.search(r"≤1,600 .*>\d,\d00$", chart[1].rstrip())
    assert max(map(len, stream.getvalue().splitlines())) <= width

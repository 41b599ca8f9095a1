"""The main text of a page is told from its navigation, banners, side columns and footers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.documents.formats.html import main_text
from chunkwise.documents.formats.html.loader import html_text
from tables import cases
from untimed import is_linear

PROSE = "The ferry leaves at seven, and whoever comes later waits for the next one, which goes at nine in winter. "
PAGE = f"""<!doctype html><html><head><title>Leave - Handbook</title></head><body>
<header><a href="/">Island Handbook</a></header>
<nav><ul><li><a href="/a">Wages</a></li><li><a href="/b">Hours</a></li></ul></nav>
<main><h1>Leave<a class="headerlink" href="#leave" title="Permalink to this heading">¶</a></h1><p>{PROSE}</p></main>
<aside><h2>Latest news</h2><p>The harbour is closed.</p></aside>
<footer><p>© The Cooperative. All rights reserved.</p></footer></body></html>"""


def text_of(markup: str) -> str:
    return html_text(markup).layout.text


def test_a_page_with_landmarks_is_its_main_text() -> None:
    assert text_of(PAGE) == f"Leave\n\n{PROSE.strip()}"


def test_furniture_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    options = chunkwise.options.LoadOptions(keep_boilerplate=True)
    (document,) = chunkwise.read(tmp_path / "page.html", options)
    for words in ("Island Handbook", "Wages", "Latest news", "All rights reserved", "Leave¶"):
        assert words in document.text


def test_no_chunk_of_a_page_is_furniture_and_spans_are_exact(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    (document,) = chunkwise.read(tmp_path / "page.html")
    for chunk in chunkwise.chunk(tmp_path / "page.html"):
        assert document.text[chunk.start : chunk.end] == chunk.text
        assert chunk.section_path in ("", "Leave")
        assert not re.search("Wages|harbour|rights|¶", chunk.text)


@cases(
    "furniture",
    [
        "<nav><a href=/>Home</a> <a href=/x>Next</a></nav>",
        "<header><a href=/>The Site</a></header>",
        "<footer>Made with love</footer>",
        "<aside>Read this as well</aside>",
        '<div role="navigation">Home Next</div>',
        '<div role="banner">The Site</div>',
        '<div role="contentinfo">Imprint</div>',
        '<div role="complementary">Read this as well</div>',
        '<div role="search">Find pages</div>',
        '<div class="sidebar"><p>Read this as well</p></div>',
        '<div id="footer">Imprint</div>',
        '<div class="site-footer">Imprint</div>',
        '<ul class="breadcrumbs"><li>Home<li>Handbook</ul>',
        '<div class="cookie-banner">We use cookies</div>',
        '<a href="#main">Skip to content</a>',
        "<select><option>English<option>German</select>",
        "<button>Copy</button>",
        "<dialog>Subscribe now</dialog>",
        "<p><a href=/>Home</a> <a href=/x>Next</a></p>",
    ],
)
def test_furniture_of_each_kind_is_left_out(furniture: str) -> None:
    body = f"<h1>Leave</h1><p>{PROSE}</p><p>{PROSE}</p>"
    expected = text_of(body)
    assert text_of(f"<body>{furniture}{body}</body>") == expected
    assert text_of(f"<body>{body}{furniture}</body>") == expected


@cases(
    "content",
    [
        "<article><header><h1>Leave</h1><p>By the council</p></header><p>{}</p></article>",
        "<main><blockquote><p>Go</p><footer>The harbour master</footer></blockquote><p>{}</p></main>",
        "<main><aside class='footnote'><p>Only in winter</p></aside><p>{}</p></main>",
        "<body class='page with-sidebar'><div class='content'><p>{}</p></div></body>",
        "<div class='main-menu-wrapper'><p>{}</p></div>",
        "<div id='sidebar'><p>{}</p></div><p>short</p>",
        "<h1>Links</h1><ul><li><a href=a>One</a><li><a href=b>Two</a></ul><p>{}</p>",
        "<p>{}</p><h2>See also</h2><ul><li><a href=a>Wages</a><li><a href=b>Hours</a></ul><p>And so on.</p>",
        "<form><p>{}</p><label>Name</label></form>",
    ],
)  # fmt: skip
def test_what_belongs_to_the_text_stays(content: str) -> None:
    markup = content.format(PROSE)
    assert text_of(markup) == html_text(markup, keep_boilerplate=True).layout.text


@cases(
    "markup",
    [
        "<nav><p>Only a menu</p></nav>",
        "<header><h1>Only a banner</h1></header>",
        "<footer>Only a footer</footer><aside>and a side column</aside>",
        "<ul><li><a href=a>One</a><li><a href=b>Two</a><li><a href=c>Three</a></ul>",
        "<div class=menu><a href=a>One</a></div>",
        "<p><a href=x>One link</a></p>",
        "<p>© Somebody</p>",
        "<main></main><nav>Menu</nav>",
    ],
)
def test_a_page_that_is_all_furniture_keeps_everything(markup: str) -> None:
    assert text_of(markup) == html_text(markup, keep_boilerplate=True).layout.text != ""


def test_an_empty_main_is_not_believed() -> None:
    assert PROSE.strip() in text_of(f"<main><p>Loading</p></main><div>{'<p>' + PROSE * 3}</div>")


@cases(
    "heading",
    [
        "<h2>Hours<a class=headerlink href='#h' title='Permalink to this heading'>¶</a></h2>",
        "<h2>Hours <a href='#h'>#</a></h2>",
        "<h2><a class='anchor' aria-hidden=true href='#h'></a>Hours</h2>",
        "<h2>Hours<a href='#h'><span>Permalink to this heading</span></a></h2>",
        "<h2><a href='#h'>Hours</a></h2>",
        "<h2>Hours<a href='page.html#h'>§</a></h2>",
        "<h2>Hours<a href='#h'>🔗</a></h2>",
    ],
)
def test_signs_of_permanent_links_are_no_text(heading: str) -> None:
    assert text_of(f"{heading}<p>Text</p>") == "Hours\n\nText"


def test_a_link_to_a_place_in_prose_stays() -> None:
    assert text_of("<p>See <a href='#x'>§ 5</a> and <a href='#y'>the link</a>.</p>") == (
        "See § 5 and the link."
    )


def test_the_title_in_a_banner_is_kept_where_the_text_has_no_other() -> None:
    page = (
        "<title>Leave | Handbook</title><header><h1>{}</h1><a href=/>Home</a></header>"
        f"<main><h2>Hours</h2><p>{PROSE}</p></main>"
    )
    assert text_of(page.format("Leave")).startswith("Leave\n\nHours\n\n")
    assert text_of(page.format("Island Site")).startswith("Hours\n\n")


TAGS = "p div ul li table tr td h1 h3 pre blockquote a section nav header footer aside main article select".split()


@given(
    st.lists(
        st.one_of(
            st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
            st.sampled_from(
                ["<a href='#x'>", "<div class=menu>", "<p role=heading>", "<b>", "</b>"]
            ),
            st.integers(0, 999).map(lambda number: f" w{number} "),
        ),
        max_size=60,
    )
)
def test_the_main_text_is_part_of_all_text_however_malformed(parts: list[str]) -> None:
    markup = "".join(parts)
    every = iter(re.findall(r"w\d+", html_text(markup, keep_boilerplate=True).layout.text))
    page = html_text(markup).layout
    found = re.findall(r"w\d+", page.text)
    assert all(word in every for word in found)
    assert bool(found) == any(part.startswith(" w") for part in parts)
    end = 0
    for block in page.blocks:
        assert end <= block.start < block.end
        end = block.end


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize(
    "part",
    [
        "<nav>x</nav>",
        "<div class=menu><p>text",
        "<article><p>text</article>",
        "<main><p>text",
        "<p><a href=#a><b><a href=#b><i>x",
        "<h1>x</h1>",
        "<p><b>x</b><p>text of it",
        "<div style='font-size:2em'>x",
    ],
)
def test_furniture_is_told_in_linear_time(part: str) -> None:
    is_linear(lambda size: text_of(part * size), 200)


def test_the_title_block_and_the_last_words_of_a_report_stay() -> None:
    """A header with the title, and a footer that says something, have no links in a report; those of a site do."""
    page = (
        "<title>Island: Report</title><header><h1>Island &mdash; Report</h1><p>Given to the meeting.</p></header>"
        f"<main><h2>Summary</h2><p>{PROSE}</p></main><footer><p>Corrections to the last report: the sun shone for "
        "1,287 hours, and not for 1,278.</p></footer>"
    )
    assert text_of(page) == html_text(page, keep_boilerplate=True).layout.text
    site = page.replace("Corrections", "<a href=/>Home</a> Corrections").replace(
        "Given", "<a href=/>Home</a> Given"
    )
    assert text_of(site) == f"Island — Report\n\nSummary\n\n{PROSE.strip()}"


class _Counted:
    """A pattern that counts the characters it looks through."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern, self.characters = pattern, 0

    def search(self, text: str) -> re.Match[str] | None:
        self.characters += len(text)
        return self.pattern.search(text)


def test_the_words_of_footers_in_footers_are_looked_through_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = _Counted(main_text._IMPRINT)
    monkeypatch.setattr(main_text, "_IMPRINT", counted)
    page = text_of(f"<p>{PROSE}</p>" + "<footer>" * 30 + f"<p>{PROSE}" * 20)
    assert page.count(PROSE.strip()) == 21
    assert 0 < counted.characters <= 1.1 * len(page)


_PARAGRAPH = "<p>The lamp of the tower was lit at dusk, and the boats of the island came home before the storm.</p>"
_TEASER = (
    '<div><h3><a href="/{0}">Another story, number {0}</a></h3><p>Its first words are told here to make '
    'you read on, though they are none of this page. <a href="/{0}">Read the whole story, number {0}, '
    "and others</a></p></div>"
)


def _frontpage(article: str, teasers: int) -> str:
    around = "".join(_TEASER.format(number) for number in range(teasers))
    page = f"<div>{around}</div><div><div>{article}</div></div><div>{around}</div>"
    return f"<html><head><title>Lamps</title></head><body>{page}</body></html>"


def test_an_article_among_teasers_is_told_by_its_own_prose() -> None:
    text = html_text(_frontpage("<h1>Lamps</h1>" + 6 * _PARAGRAPH, 12)).layout.text
    assert text.count("The lamp of the tower") == 6
    assert "Another story" not in text
    assert "first words" not in text


def test_one_paragraph_above_a_list_of_links_is_no_article() -> None:
    text = html_text(_frontpage(_PARAGRAPH, 12)).layout.text
    assert "Another story, number 11" in text


def test_sections_with_prose_of_their_own_are_all_kept() -> None:
    sections = "".join(f"<div><h2>Part {n}</h2>{n * _PARAGRAPH}</div>" for n in (4, 2, 3))
    text = html_text(f"<body><div>{sections}</div></body>").layout.text
    assert text.count("The lamp of the tower") == 9


MORE = """<h6><a href="/b">How stores make you buy more than you need</a></h6>
<p>Every store is loud… <a href="/b">Read more about how stores do it</a></p>"""
STORY = f"<p>{PROSE * 4}</p>"
NEWS = f"""<h1>Ferry sinks</h1><div class="story">{STORY}{STORY}{MORE}{STORY}</div>
<div><p>The writer of this piece has sailed for twenty years, and writes here since the year 2012.</p></div>"""


@cases(
    "says",
    [
        '<meta property="og:type" content="article">',
        '<meta property="article:published_time" content="2024-01-01">',
        '<div itemscope itemtype="https://schema.org/NewsArticle">',
    ],
)
def test_a_page_that_says_it_is_an_article_is_that_article_alone(says: str) -> None:
    head, body = (says, "") if says.startswith("<meta") else ("", says)
    text = text_of(f"<html><head>{head}</head><body>{body}{NEWS}</body></html>")
    assert text.startswith("Ferry sinks")
    assert text.count(PROSE.strip()) == 12
    assert "Read more" not in text
    assert "How stores" not in text
    assert "The writer of this piece" not in text


def test_what_stands_for_a_picture_is_read_once_and_not_as_the_title_again() -> None:
    picture, other = (
        '<img alt="Ferry sinks" src="a.png">',
        '<img alt="A map of the harbour" src="b.png">',
    )
    title = "<title>Ferry sinks - News</title>"
    page = f"<html><head>{title}</head><body><p>{picture}{PROSE}{other}{other}</p></body></html>"
    assert text_of(page) == f"{PROSE}A map of the harbour"


def test_linked_rows_of_an_article_itself_stay() -> None:
    prose = "The harbour is deep and calm, and ships of every size find a place in it. " * 6
    row = "<tr><td><a href='/a'>Ada of the harbour</a></td><td>12</td></tr>"
    found = text_of(
        "<html><head><title>Tools</title><meta property='og:type' content='article'></head><body><article>"
        f"<p>{prose}</p><table>{row}</table><p>{prose}</p></article></body></html>"
    )
    assert "Ada of the harbour" in found


def test_a_short_word_for_a_picture_stays_wherever_it_stands() -> None:
    cells = "".join(f"<tr><td>{name}</td><td><img alt='Yes'></td></tr>" for name in ("API", "SSO"))
    found = text_of(
        f"<title>Eyes on plans</title><body><p>What is in it.</p><table>{cells}</table></body>"
    )
    assert found.count("Yes") == 2


def _said_article(inside: str, behind: str = "") -> str:
    head = "<head><title>Ferries</title><meta property='og:type' content='article'></head>"
    return text_of(f"<html>{head}<body><div><div>{inside}</div>{behind}</div></body></html>")


@cases("to", ["#winter", "/ferries/winter"])
def test_linked_headings_of_an_article_itself_stay(to: str) -> None:
    found = _said_article(
        f"{STORY}<h2><a href='{to}'>In the winter of the year</a></h2>{STORY}{STORY}"
    )
    assert "In the winter of the year" in found


def test_lists_of_links_that_an_article_leads_in_stay() -> None:
    links = "".join(
        f"<li><a href='/{name}'>The guide to {name} and its tools</a></li>"
        for name in ("ropes", "sails")
    )
    between = _said_article(f"{STORY}<p>Read these first:</p><ul>{links}</ul>{STORY}{STORY}")
    assert "The guide to sails" in between
    sources = _said_article(f"<article>{STORY * 3}<h2>References</h2><ul>{links}</ul></article>")
    assert "The guide to sails" in sources
    others = _said_article(f"{STORY}{STORY}<h2>Others are reading</h2><ul>{links}</ul>{STORY}")
    assert "The guide to sails" not in others
    behind = _said_article(f"<article>{STORY * 3}<p>More:</p><ul>{links}</ul></article>")
    assert "The guide to sails" not in behind


def test_short_notes_behind_an_article_are_no_part_of_it() -> None:
    badge = "<div><p>Holders of this badge write smart and timely comments about ships and their crews.</p></div>"
    found = _said_article(7 * STORY, f"<div>{badge * 12}</div>")
    assert found.count(PROSE.strip()) == 28
    assert "badge" not in found


def test_a_plain_page_is_not_weighed_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is set apart and no element could be the body: a page may have a million blocks."""
    markup = "<body>" + "<p>a</p>" * 50 + "<ul>" + "<li>b</li>" * 50 + "</ul></body>"
    expected = html_text(markup).layout
    assert len(expected.blocks) == 100

    def fail(*_: object) -> None:
        raise AssertionError("a block was looked at by itself")

    for name in ("_prose", "_unlinked"):
        monkeypatch.setattr(main_text.Furniture, name, fail)
    monkeypatch.setattr(main_text, "_covered", fail)
    found = html_text(markup).layout
    assert (found.text, found.blocks) == (expected.text, expected.blocks)

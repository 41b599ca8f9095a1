"""Pages that are one article: its text is told from comments, teasers and notes, however many there are."""

from __future__ import annotations

import json

from chunkwise.documents.formats.html.loader import html_text
from tables import cases

PARAGRAPH = "<p>The lamp of the tower was lit at dusk, and the boats of the island came home before the storm.</p>"
COMMENT = (
    "<div><div><p>Number {0} writes that the tower was never lit, and that nobody there has seen the sea "
    "at all, <i>ever</i>.</p></div></div>"
)
COMMENTS = "<div><h3>Comments</h3>" + "".join(COMMENT.format(n) for n in range(12)) + "</div>"
BODY = f"<div>{PARAGRAPH * 5}</div>"
ENTRY = f"<div><h1>The lamp of the tower</h1>{BODY}</div>"


def _text(body: str, head: str = "") -> str:
    title = "<title>The lamp of the tower - Island News</title>"
    return html_text(f"<html><head>{title}{head}</head><body>{body}</body></html>").layout.text


def _linked_data(type_: str | list[str]) -> str:
    said = json.dumps({"@context": "https://schema.org", "@graph": [{"@type": type_}]})
    return f'<script type="application/ld+json">{said}</script>'


@cases(
    "head, body",
    [
        ('<meta property="og:type" content="article">', ENTRY),
        (_linked_data("NewsArticle"), ENTRY),
        (_linked_data(["BlogPosting", "Thing"]), ENTRY),
        ("", f'<div class="post hentry">{ENTRY}</div>'),
        ("", ENTRY.replace("<div><p>", '<div itemprop="articleBody"><p>')),
        ("", ENTRY.replace("</h1>", "</h1><div>Kim Lee, 3 May 2021, 10:20</div>")),
        ("", ENTRY.replace("<h1>", "<div>2019-09-26 10:56 来源：新华网</div><h1>")),
    ],
)
def test_comments_that_are_more_than_the_article_are_left_out(head: str, body: str) -> None:
    found = _text(f"<div>{body}{COMMENTS}</div>", head)
    assert found.startswith(("The lamp of the tower", "2019"))
    assert found.count("the boats of the island") == 5
    assert "nobody there has seen" not in found


@cases("head", ["", _linked_data("WebPage"), _linked_data("TechArticles")])
def test_a_page_that_does_not_say_it_is_an_article_keeps_what_follows(head: str) -> None:
    assert _text(f"<div>{ENTRY}{COMMENTS}</div>", head).count("nobody there has seen") == 12


SAYS = '<meta property="og:type" content="article">'


def test_comments_in_a_list_are_no_paragraphs() -> None:
    said = "He has never seen the lamp of the tower, and he does not believe a word that is written here. "
    thread = f"<ol>{''.join(f'<li><div><p>{n} {said * 3}</p></div></li>' for n in range(20))}</ol>"
    found = _text(f"<div>{ENTRY}{thread}</div>", SAYS)
    assert found.count("the boats of the island") == 5
    assert "does not believe" not in found


def test_sections_of_an_article_are_all_of_it() -> None:
    sections = "".join(
        f"<section><h2>Part {n}</h2><div>{n * PARAGRAPH}</div></section>" for n in (5, 1, 2)
    )
    found = _text(f"<div><div><h1>The lamp of the tower</h1>{sections}</div>{COMMENTS}</div>", SAYS)
    assert found.count("the boats of the island") == 8
    assert "Part 2" in found
    assert "nobody there has seen" not in found


def test_two_bodies_of_about_one_size_are_both_kept() -> None:
    other = PARAGRAPH.replace("boats", "ships")
    found = _text(
        f"<div><div>{ENTRY}</div><div><div><div>{other * 5}</div></div></div></div>", SAYS
    )
    assert found.count("the boats of the island") == 5
    assert found.count("the ships of the island") == 5


def test_a_page_whose_headings_have_permanent_links_keeps_its_sections() -> None:
    link = '<a class="headerlink" href="#a">¶</a>'
    short = "".join(
        f"<div><div><h3>Part {n}{link}</h3>"
        f"<p>Option {n} of the lamp is read when the tower is built, and never again after that day.</p></div></div>"
        for n in range(12)
    )
    found = _text(f"<div>{ENTRY}{short}</div>", SAYS)
    assert "Option 11 of the lamp" in found


def test_a_header_that_was_never_closed_holds_the_page() -> None:
    found = _text(f"<p>Partner of:</p><header><div><article>{ENTRY}</article></div>")
    assert found.count("the boats of the island") == 5


def test_parts_that_together_are_the_page_are_it_whatever_they_are_called() -> None:
    parts = "".join(
        f'<div class="review-widget"><h2>Part {n}</h2>{PARAGRAPH * 2}</div>' for n in range(5)
    )
    found = _text(f"<p>We may earn a commission.</p>{parts}")
    assert found.count("the boats of the island") == 10


def test_a_date_in_prose_makes_no_article() -> None:
    dated = (
        "<p>On 3 May 2021 the tower was lit, which nobody there had seen since the great storm of 1911, and "
        "the whole of the island came to the shore.</p>"
    )
    found = _text(f"<div><h1>The lamp of the tower</h1>{dated}{BODY}{COMMENTS}</div>")
    assert found.count("nobody there has seen") == 12


def test_a_table_of_contents_below_a_date_stays_where_headings_have_permanent_links() -> None:
    link = '<a class="headerlink" href="#a">¶</a>'
    parts = "".join(f'<li><a href="/{n}">Chapter {n} of the manual</a></li>' for n in range(9))
    contents = f"{PARAGRAPH * 2}<h2>Contents{link}</h2><ul>{parts}</ul>{PARAGRAPH * 3}"
    found = _text(
        f"<div><h1>The lamp of the tower</h1><p>Version 2, 3 May 2021</p>{contents}</div>"
    )
    assert "Chapter 8 of the manual" in found


@cases("around", ["{}", "<main>{}</main>", "<main><article>{}</article></main>"])
@cases("listed", ["ul", "ol"])
def test_a_dated_page_keeps_the_list_that_its_second_section_is(around: str, listed: str) -> None:
    items = "".join(
        f"<li>Number {n}: bring the form that the office of the harbour has signed for your boat.</li>"
        for n in range(8)
    )
    head = "<h1>The lamp of the tower</h1><p>Updated 12 March 2024</p>"
    body = (
        f"<div>{PARAGRAPH * 4}</div><div><h2>What you need</h2><{listed}>{items}</{listed}></div>"
    )
    found = _text(around.format(head + body))
    assert "What you need" in found
    assert all(f"Number {n}: bring" in found for n in range(8))

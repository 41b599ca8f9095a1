"""Links of a page: where their text stands in the document's, and where they lead; the text is the same as without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Link
from chunkwise.documents import read
from chunkwise.documents.formats.html.loader import html_text
from tables import cases
from untimed import is_linear


def links(markup: str, *, keep_boilerplate: bool = True) -> list[tuple[str, str]]:
    """Text and target of each."""
    page = html_text(markup, keep_boilerplate=keep_boilerplate)
    return [(page.layout.text[each.start : each.end], each.target) for each in page.links]


@cases(
    "markup, expected",
    [
        ('<p>See <a href="leave.html">how to ask</a>.</p>', [("how to ask", "leave.html")]),
        ('<p>See<a href="a.html"> the\n  <b>rules</b> </a>of it</p>', [("the rules", "a.html")]),
        ('<p>a<br><a href="a.html">b<br>c</a></p>', [("b\nc", "a.html")]),
        ('<p>One.<br><br>Two <a href="a.html">three</a></p>', [("three", "a.html")]),
        (
            '<ul><li>x <a href="a.html">one</a><li>y<br>z <a href="b.html">two</a></ul>',
            [("one", "a.html"), ("two", "b.html")],
        ),
        (
            "<table><tr><td>a<td>b | c<td rowspan=2>d"
            '<tr><td><a href="a.html">one</a> it<td>und <a href="b.html">two</a></table>',
            [("one", "a.html"), ("two", "b.html")],
        ),
        ('<pre>\n\nsee <a href="a.html">one\n two</a></pre>', [("one\n two", "a.html")]),
        ('<h2>1 <a href="a.html">one</a></h2>', [("one", "a.html")]),
        (
            '<a href="a.html"><h2>Title</h2><p>and <b>more</b></p></a><p>no</p>',
            [("Title", "a.html"), ("and more", "a.html")],
        ),
        (
            '<p><a href="a.html"><svg><text>drawn</text></svg> in</a> b</p>',
            [("drawn in", "a.html")],
        ),
        ('<p><a href="a.html"><img alt="a map"></a> b</p>', [("a map", "a.html")]),
        ('<p>b <a href=" HTTPS://x.org/a ">one</a></p>', [("one", "HTTPS://x.org/a")]),
        ('<p>b <a href="//x.org/a">one</a></p>', [("one", "//x.org/a")]),
        ('<p>b <a href="a b.html">one</a></p>', [("one", "a b.html")]),
        ('<p><a href="a.html">\u00a0</a><a href="a.html"></a> b</p>', []),
        ('<p><a hidden href="a.html">one</a> b</p>', []),
        ('<p><a>one</a> <a href="">two</a> <a href="#two">three</a></p>', []),
        ('<p><a href="javascript:go()">one</a> <a href="mailto:a@b.c">two</a></p>', []),
    ],
)
def test_a_link_is_a_place_in_the_text_and_where_it_leads(
    markup: str, expected: list[tuple[str, str]]
) -> None:
    assert links(markup) == expected


def test_links_of_navigation_go_with_it() -> None:
    text = "A sentence that is long enough to be the main text of this page, and then some. " * 5
    markup = (
        '<nav><ul><li><a href="home.html">Home</a></ul></nav>'
        f'<main><h1>Top<a class=headerlink href="x.html#top">¶</a></h1><p>{text}<a href="a.html">one</a></p></main>'
        '<footer><a href="imprint.html">Imprint</a></footer>'
    )
    assert links(markup, keep_boilerplate=False) == [("one", "a.html")]
    assert links(markup) != [("one", "a.html")]


def test_the_loader_hands_them_on(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<p>See <a href="leave.html">how to ask</a>.</p>')
    [document] = read(page)
    assert document.links == (Link(4, 14, "leave.html"),)
    assert "leave.html" not in document.text


_PIECES = st.sampled_from([
    "one", " ", "two\n", "\u00a0", "<br>", "<b>", "</b>", "<p>", "</p>", "<li>", "<ul>", "</ul>", "<table>", "<tr>",
    "<td>", "<th colspan=2>", "</table>", "<pre>", "</pre>", "<h2>", "</h2>", "<svg>", "</svg>", "<noscript>",
    "</noscript>", "<div hidden>", "</div>", "¶",
])  # fmt: skip


@given(st.lists(st.one_of(_PIECES, st.just('<a href="a.html">'), st.just("</a>")), max_size=40))
def test_links_leave_the_text_as_it_is(pieces: list[str]) -> None:
    """And each is a stretch that begins and ends with a character one can see."""
    page = html_text("".join(pieces), keep_boilerplate=True)
    text = page.layout.text
    plain = "".join(each.replace(' href="a.html"', "") for each in pieces)
    assert text == html_text(plain, keep_boilerplate=True).layout.text
    assert list(page.links) == sorted(page.links)
    for link in page.links:
        said = text[link.start : link.end]
        assert said == said.strip() != ""


@cases("before", range(9))
def test_what_is_dropped_is_dropped_with_its_links(before: int) -> None:
    """Markup that <noscript> has as text: behind a block inside of it, too, however much stood before."""
    link = '1<a href="a.html">2<b>3</b>4<i>5</i>6<b>7&lt;b></b>8</a>'
    markup = "<b>a</b>" * before + f"<noscript><p>x</p>{link}</noscript>9</div>"
    page = html_text(markup, keep_boilerplate=True)
    assert page.layout.text.split() == ["a" * before, "x", "9"][not before :]
    assert not page.links


@given(st.lists(st.sampled_from(["w", " ", "\n", "<br>", "<p>", "<li>", "<td>"]), max_size=30))
def test_every_linked_word_is_in_a_link_and_no_other(pieces: list[str]) -> None:
    """Each word is told apart by its number; every other one is linked."""
    counter = 0
    markup = []
    for piece in pieces:
        if piece == "w":
            counter += 1
            word = f"w{counter}w"
            piece = f'<a href="{counter}.html">{word}</a>' if counter % 2 else word
        markup.append(piece)
    found = links("<table><tr><td>" + "".join(markup))
    wanted = [(f"w{number}w", f"{number}.html") for number in range(1, counter + 1, 2)]
    assert sorted(found) == sorted(wanted)
    assert all(re.fullmatch(r"w\d+w", said) for said, _ in found)


@pytest.mark.usefixtures("large_inputs")
@cases(
    "before, part",
    [
        ("<p>", '<a href="a.html">x '),
        ("<p>", '<a href="a.html">x</a> y '),
        ("<p>", '<a href="a.html">x</a> y<br><br>'),
        ("<table><tr>", '<td><a href="a.html">x</a>'),
        ('<a href="a.html">' * 200, "<p>x</p>"),
        ("<ul>", '<li><a href="a.html">x</a><br>y'),
    ],
)
def test_links_take_work_linear_in_the_page(before: str, part: str) -> None:
    """Nested, in one block, in one cell, over many blocks."""
    is_linear(lambda size: links(before + part * size), 300)

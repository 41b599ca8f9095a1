"""HTML: every word, in order, with its blocks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.documents import read
from chunkwise.documents.formats.html.loader import html_text
from tables import cases
from untimed import lines_run


def text_of(markup: str) -> str:
    return html_text(markup, keep_boilerplate=True).layout.text


def blocks_of(markup: str) -> list[tuple[str, str, int]]:
    page = html_text(markup)
    text = page.layout.text
    return [(b.kind, text[b.start : b.end], b.level) for b in page.layout.blocks]


TAGS = [
    "p", "div", "span", "b", "strong", "ul", "ol", "li", "table", "tr", "td", "th", "thead", "h1",
    "h3", "pre", "blockquote", "a", "section", "caption", "dl", "dt", "dd", "nav", "select",
    "option", "code", "br",
]  # fmt: skip


@given(
    st.lists(
        st.one_of(
            st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
            st.integers(0, 999).map(lambda number: f" w{number} "),
        ),
        max_size=60,
    )
)
def test_no_word_is_lost_or_moved_however_malformed(parts: list[str]) -> None:
    words = [part.strip() for part in parts if part.startswith(" w")]
    page = html_text("".join(parts), keep_boilerplate=True)
    assert re.findall(r"w\d+", page.layout.text) == words
    end = 0
    for block in page.layout.blocks:
        assert end <= block.start < block.end
        end = block.end
    inside = "".join(page.layout.text[b.start : b.end] + " " for b in page.layout.blocks)
    assert re.findall(r"w\d+", inside) == words


def test_inline_markup_keeps_order_and_spacing() -> None:
    assert (
        text_of("<p>one <strong>two</strong>, th<i>ree</i>\n   four</p>") == "one two, three four"
    )


def test_headings_have_levels_and_text_outside_blocks_stays() -> None:
    assert blocks_of("<h2>A <b>B</b></h2>bare<div>in div<p>p</p>after</div>") == [
        ("heading", "A B", 2),
        ("paragraph", "bare", 0),
        ("paragraph", "in div", 0),
        ("paragraph", "p", 0),
        ("paragraph", "after", 0),
    ]


def test_lists_nest_by_two_spaces_and_share_a_group() -> None:
    page = html_text("<ul><li>a<ol start=3><li>x<li>y</ol></li><li>b</ul><ul><li>c</ul>")
    assert page.layout.text == "- a\n  3. x\n  4. y\n- b\n\n- c"
    assert [block.level for block in page.layout.blocks] == [0, 1, 1, 0, 0]
    groups = [block.group for block in page.layout.blocks]
    assert len(set(groups[:4])) == 1
    assert groups[4] != groups[0]


def test_tables_have_a_header_and_a_line_a_row() -> None:
    markup = "<table><tr><th>A<th>B</tr><tr><td>1<br>2<td><p>x</p> <p>y</p></table>"
    assert blocks_of(markup) == [("header", "A | B", 0), ("row", "1 2 | x y", 0)]


def test_a_table_that_arranges_the_page_is_no_data() -> None:
    markup = "<table><tr><td>menu<td><h1>T</h1><p>one</p><p>two</p></table>"
    assert blocks_of(markup) == [
        ("row", "menu", 0),
        ("heading", "T", 1),
        ("paragraph", "one", 0),
        ("paragraph", "two", 0),
    ]


def test_pre_is_verbatim() -> None:
    markup = "<pre>\ndef f():\n    <b>return</b>  1\n\n\tx</pre>"
    assert blocks_of(markup) == [("code", "def f():\n    return  1\n\n\tx", 0)]


def test_breaks_images_and_entities() -> None:
    assert text_of("<p>a<br>b &amp; &eacute;&#x4e2d;<img alt='a cat'></p>") == "a\nb & é中 a cat"
    assert blocks_of("one<br><br>two") == [("paragraph", "one", 0), ("paragraph", "two", 0)]


def test_scripts_are_dropped_and_the_title_is_kept_apart() -> None:
    page = html_text(
        "<head><title>T &lt; U</title><style>p{}</style></head><body><script>if(a<b)</script>x"
        "<template><p>no</p></template><svg><title>chart</title></svg>"
    )
    assert page.title == "T < U"
    assert page.layout.text == "x chart"


@cases(
    "markup, expected",
    [
        ("<div hidden>no<br><img alt=no><p>no</div><p>yes", "yes"),
        ("<p>a <span style='color:red; DISPLAY : none'>no <b>no</b></span>b", "a b"),
        ("<p>a <input hidden>b <source hidden>c <wbr style='display:none'>d<p>e", "a b c d\n\ne"),
        ("<ol><li>a<li hidden>no<li>b</ol>", "1. a\n2. b"),
        ("<pre>a\n<span hidden>no</span>  b<div hidden>no</div></pre>", "a\n  b"),
        ("<body style='display:none'>shown by a script", "shown by a script"),
    ],
)
def test_what_is_hidden_is_left_out_with_its_content(markup: str, expected: str) -> None:
    assert text_of(markup) == expected


@cases(
    "markup, expected",
    [
        ("a<svg><text>B</text><text>C</text></svg>d", "a B C d"),
        ("a<noscript>b</noscript>c", "a b c"),
        ("a<noscript>&lt;img src='/count?page=1'&gt;</noscript> c", "a c"),
        ("more<svg><path/></svg>.", "more."),
        ("<svg><title>t</title><foreignObject><div>d</div></foreignObject></svg>x", "t\n\nd\n\nx"),
    ],
)
def test_drawings_and_noscript_stand_apart(markup: str, expected: str) -> None:
    assert text_of(markup) == expected


@cases(
    "markup",
    [
        "<div>" * 10_000 + "x" + "</div>" * 10_000, "<ul><li>" * 10_000 + "x", "<table><tr><td>" * 10_000 + "x",
        "".join(f"<p><b a={i}>" for i in range(10_000)) + "x", "<svg>x" * 30_000, "<svg>x</svg>" * 30_000,
        "<i>" + "<div>x</i>" * 10_000,
    ],
)  # fmt: skip
def test_hostile_nesting_takes_linear_time(markup: str) -> None:
    assert lines_run(lambda: text_of(markup)) < 25 * len(markup)


def test_elements_that_never_end_among_many_end_tags_are_refused(reader, write) -> None:
    """The parser looks for the element of an end tag among all that are open."""
    assert reader(write("a.html", "<b>x</i>" * 60_000)) == []
    assert reader.reasons == ["nested too deeply for the html loader"]


@cases("markup, most", [("<ol>", 46), ("<ol><li>a", 155), ("<li>a", 105), ("<p>a", 82)])
def test_an_element_takes_little_work(markup: str, most: int) -> None:
    """A page of a megabyte may have 300,000 of them."""
    html_text(markup)
    assert lines_run(lambda: html_text(markup * 2000)) < 2000 * most


def test_the_indent_of_lists_in_lists_does_not_make_the_text_many_times_longer() -> None:
    page = "<ol><li>a" * 2000
    assert len(text_of(page)) < 4 * len(page)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("part", ["<a '", "<", "<!--"])
def test_tags_that_never_end_take_linear_time(part: str) -> None:
    """With the square of it, an hour."""
    assert text_of("x" + part * 1_000_000).startswith("x")


def test_stray_end_tags_leave_words_blocks_and_the_title() -> None:
    head = "<title>A &lt; B</title><style>p{}</style><!-- </p> -->"
    page = html_text(head + "<p>one <b>two</b>, th<i>ree</i><p>four" + "<b>x</i>" * 20_000)
    assert page.title == "A < B"
    assert page.layout.text == "one two, three\n\nfour" + "x" * 20_000


def test_spanned_cells_keep_their_columns() -> None:
    rows = "<tr><td rowspan=2>Basic</td><td>EU</td><td>10</td></tr><tr><td>US</td><td>12</td></tr>"
    assert text_of(f"<table>{rows}<tr><td>Pro<td>EU<td>20</table>") == (
        "Basic | EU | 10\n | US | 12\nPro | EU | 20"
    )
    heads = "<thead><tr><th rowspan=0>Plan<th colspan=2>Price<th>Note<tr><th>EU<th>US</thead>"
    assert text_of(f"<table>{heads}<tr><td>A<td>1<td>2<td>n</table>") == (
        "Plan | Price |  | Note\n | EU | US\nA | 1 | 2 | n"
    )


@given(st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), max_size=5), max_size=6))
def test_cells_stand_where_a_grid_has_them(rows: list[list[tuple[int, int]]]) -> None:
    taken: set[tuple[int, int]] = set()
    markup, expected = "<table>", []
    for y, row in enumerate(rows):
        markup += "<tr>"
        line: dict[int, str] = {}
        for number, (columns, height) in enumerate(row):
            x = max(line, default=-1) + 1
            while (x, y) in taken:
                x += 1
            line[x] = f"c{number}"
            taken |= {(x + i, y + j) for i in range(columns) for j in range(height)}
            markup += f"<td colspan={columns} rowspan='{height}'>c{number}</td>"
        markup += "</tr>"
        if line:
            expected.append(" | ".join(line.get(x, "") for x in range(max(line) + 1)))
    assert text_of(markup + "</table>") == "\n".join(expected)


@cases("span", ["1000000000", "99999999", "-1", "2.5", "", "x"])
def test_a_hostile_span_adds_few_cells(span: str) -> None:
    rows = f"<tr><td colspan={span} rowspan={span}>a<td>b</tr>" + "<tr><td>c</tr>" * 100
    assert len(text_of(f"<table>{rows}</table>")) < 50_000


def test_the_loader_reads_declared_encodings(reader, write) -> None:
    page = '<meta charset="shift_jis"><p>日本語</p>'
    assert reader.one(write("a.html", page.encode("shift_jis"))).text == "日本語"
    document = reader.one(write("b.html", "\ufeff<title>T</title>é".encode("utf-16-le")))
    assert (document.text, document.title, document.format) == ("é", "T", "html")


def test_a_page_named_txt_is_a_page_and_markdown_is_not(reader, write) -> None:
    markup = "<!DOCTYPE html><p>x"
    assert reader.one(write("a.txt", markup)).format == "html"
    assert reader.one(write("a.md", markup)).text == markup


def test_a_page_of_our_own_is_no_document(reader, write) -> None:
    page = '<!doctype html><meta name="generator" content="chunkwise"><p>Report</p>'
    assert reader(write("report.html", page)) == []
    assert reader.reasons == ["a chunkwise report, not a document"]
    assert reader.one(write("other.html", page.replace("chunkwise", "hugo"))).text == "Report"


def test_a_pages_own_charset_comes_before_the_users_encoding(reader, write) -> None:
    page = '<meta charset="shift_jis"><p>日本語</p>'.encode("shift_jis")
    assert reader.one(write("a.html", page), encoding="cp1252").text == "日本語"
    assert reader.one(write("b.html", b"<p>caf\xe9"), encoding="cp1252").text == "café"


def test_what_a_page_says_of_itself_is_its_metadata(tmp_path: Path) -> None:
    head = (
        "<meta name=Description content=' About\n leave '><meta name=author content=Council>"
        "<meta property='article:published_time' content=2024-05-01><meta name=viewport content=x>"
        "<meta name=author content=Other><meta name=keywords content=''>"
    )
    (tmp_path / "page.html").write_text(f"<html><head>{head}</head><p>text")
    (document,) = read(tmp_path / "page.html")
    assert document.metadata == {
        "description": "About leave",
        "author": "Council",
        "date": "2024-05-01",
    }


@cases("charset", [b"punycode", b"unicode_escape", b"utf-7"])
def test_a_page_cannot_name_what_is_no_encoding_of_texts(reader, write, charset) -> None:
    page = b"<html><meta charset=" + charset + b"><p>+2AA-text \\ud800 \xff" + b"\x01" * 200
    assert reader(write("a.html", page)) == []
    assert len(reader.skipped) == 1

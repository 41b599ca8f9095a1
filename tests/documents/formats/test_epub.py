"""EPUB: the spine's chapters, named by the table of contents where they need it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chunkwise.core import Document
from chunkwise.ext import get_strategy
from tables import cases
from untimed import is_linear

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>The Book</dc:title></metadata><manifest>
<item id="two" href="text/two%20x.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
</manifest><spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine>
</package>"""
NAV = '<html><nav><a href="text/two%20x.xhtml#s">Second <b>part</b></a></nav></html>'
NCX = """<ncx><navMap><navPoint><navLabel><text>Second part</text></navLabel>
<content src="text/two%20x.xhtml"/></navPoint></navMap></ncx>"""


@pytest.fixture
def parts() -> dict[str, str]:
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": PACKAGE,
        "OPS/nav.xhtml": NAV,
        "OPS/text/two x.xhtml": "<html><body><ul><li>b</li></ul></body></html>",
        "OPS/text/one.xhtml": "<?xml version='1.0'?><html><h2>First</h2><ul><li>a</li></ul></html>",
    }


@pytest.mark.parametrize("toc", ["nav", "ncx"])
def test_chapters_in_the_order_of_the_spine(reader, write, make_zip, parts, toc) -> None:
    if toc == "ncx":
        parts["OPS/nav.xhtml"] = "<html/>"
        parts["OPS/toc.ncx"] = NCX
    document = reader.one(write("a.epub", make_zip(parts)))
    assert document.text == "First\n\n- a\n\nSecond part\n\n- b"
    text, blocks = document.text, document.blocks
    assert [text[b.start : b.end] for b in blocks] == ["First", "- a", "Second part", "- b"]
    assert [b.kind for b in blocks] == ["heading", "item", "heading", "item"]
    assert blocks[1].group != blocks[3].group
    assert (document.title, document.format) == ("The Book", "epub")


def test_without_suffix_it_is_told_by_its_content(reader, write, make_zip, parts) -> None:
    assert reader.one(write("book", make_zip(parts))).format == "epub"


def test_a_missing_chapter_does_not_lose_the_others(reader, write, make_zip, parts) -> None:
    del parts["OPS/text/one.xhtml"]
    path = write("a.epub", make_zip(parts))
    (document,) = reader(path)
    assert document.text == "Second part\n\n- b"
    assert [problem.source for problem in reader.skipped] == [f"{path}/OPS/text/one.xhtml"]
    assert reader.reasons == ["damaged EPUB: no 'OPS/text/one.xhtml' in it"]


def test_of_many_bad_chapters_twenty_are_named(reader, write, make_zip, parts) -> None:
    lost = "".join(f'<item id="x{n}" href="x{n}.html" media-type="text/html"/>' for n in range(25))
    refs = "".join(f'<itemref idref="x{n}"/>' for n in range(25))
    parts["OPS/book.opf"] = PACKAGE.replace("</manifest><spine>", f"{lost}</manifest><spine>{refs}")
    path = write("a.epub", make_zip(parts))
    (document,) = reader(path)
    assert document.text == "First\n\n- a\n\nSecond part\n\n- b"
    assert [problem.source for problem in reader.skipped[:20]] == [
        f"{path}/OPS/x{n}.html" for n in range(20)
    ]
    assert reader.reasons[20:] == ["... and 5 more chapters that cannot be read"]


def test_entities_are_not_expanded(reader, write, make_zip, parts, tmp_path) -> None:
    secret = write("secret.key", "hunter2")
    parts["OPS/book.opf"] = f'<!DOCTYPE p [<!ENTITY e SYSTEM "file://{secret}">]>' + (
        PACKAGE.replace("The Book", "The &e; Book")
    )
    document = reader.one(write("a.epub", make_zip(parts)))
    assert "hunter2" not in document.title
    bomb = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    parts["OPS/book.opf"] = f'<!DOCTYPE p [<!ENTITY e0 "lol">{bomb}]>' + (
        PACKAGE.replace("The Book", "&e9;")
    )
    assert reader(write("b.epub", make_zip(parts))) == []
    assert reader.reasons == ["no text in any chapter"]


@pytest.mark.parametrize("missing", ["META-INF/container.xml", "OPS/book.opf"])
def test_a_book_without_its_package_is_one_line(reader, write, make_zip, parts, missing) -> None:
    del parts[missing]
    assert reader(write("a.epub", make_zip(parts))) == []
    assert reader.reasons == [f"damaged EPUB: no {missing!r} in it"]


Toc = list[tuple[str, str, "Toc"]]


def nav(toc: Toc) -> str:
    def listed(entries: Toc) -> str:
        items = (f"<li>{link(*entry)}</li>" for entry in entries)
        return f"<ol>{''.join(items)}</ol>" if entries else ""

    def link(title: str, href: str, below: Toc) -> str:
        shown = f'<a href="{href}">{title}</a>' if href else f"<span>{title}</span>"
        return shown + listed(below)

    return (
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
        '<nav epub:type="page-list"><ol><li><a href="0.xhtml#p">Page 7</a></li></ol></nav>'
        f'<nav epub:type="toc">{listed(toc)}</nav></html>'
    )


def ncx(toc: Toc) -> str:
    def points(entries: Toc) -> str:
        return "".join(
            f"<navPoint><navLabel><text>{title}</text></navLabel>"
            f"{f'<content src={href!r}/>' if href else ''}{points(below)}</navPoint>"
            for title, href, below in entries
        )

    return f"<ncx xmlns='http://www.daisy.org/z3986/2005/ncx/'><navMap>{points(toc)}</navMap></ncx>"


Paths = Callable[..., list[str]]


@pytest.fixture
def book(reader, write, make_zip) -> Callable[..., Document]:
    def made(toc: str, *bodies: str, repeat: int = 1) -> Document:
        kind = 'properties="nav"' if toc.startswith("<html") else ""
        media = "application/xhtml+xml" if kind else "application/x-dtbncx+xml"
        items = [f'<item id="toc" href="toc.xml" media-type="{media}" {kind}/>']
        refs = []
        parts = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
        for number, body in enumerate(bodies):
            page = f'href="{number}.xhtml" media-type="application/xhtml+xml"'
            items.append(f'<item id="c{number}" {page}/>')
            refs.append(f'<itemref idref="c{number}"/>' * repeat)
            parts[f"OPS/{number}.xhtml"] = f"<html><body>{body}</body></html>"
        manifest = f"<manifest>{''.join(items)}</manifest><spine>{''.join(refs)}</spine>"
        parts |= {"OPS/book.opf": f"<package>{manifest}</package>", "OPS/toc.xml": toc}
        return reader.one(write("a.epub", make_zip(parts)))

    return made


@pytest.fixture(params=[nav, ncx], ids=["nav", "ncx"])
def paths(request, book) -> Paths:
    """The section paths of the chunks of a book of this table and these chapters."""

    def of(toc: Toc, *bodies: str) -> list[str]:
        strategy = get_strategy("structure(max_tokens=1, tokenizer=words)")
        found = [chunk.section_path for chunk in strategy.chunks(book(request.param(toc), *bodies))]
        return list(dict.fromkeys(found))

    return of


def test_a_chapter_stands_below_its_part(paths: Paths) -> None:
    chapters: Toc = [("Chapter 1", "1.xhtml", []), ("Chapter 2", "2.xhtml", [])]
    assert paths(
        [("Part I", "0.xhtml", chapters), ("Part II", "3.xhtml", [])],
        "<h1>Part I</h1><p>zero</p>",
        "<h1>Chapter 1</h1><p>one</p><h2>Inner</h2><p>in</p>",
        "<p>two</p>",
        "<h1>Part II</h1><p>three</p><h2>Inner</h2><p>in</p>",
    ) == [
        "Part I", "Part I > Chapter 1", "Part I > Chapter 1 > Inner", "Part I > Chapter 2",
        "Part II", "Part II > Inner",
    ]  # fmt: skip


@cases(
    "section",
    [
        '<h1 id="s2">Deep</h1><p>deep</p>',
        '<section id="s2"><p>2</p><h4>Deep</h4><p>deep</p></section>',
        '<a id="s2"></a><h1>Deep</h1><p>deep</p>',
        '<h2><a name="s2"></a>Deep</h2><p>deep</p>',
        '<h2>Deep</h2><p id="s2">deep</p>',
        '<p class="title" id="s2">DEEP</p><p>deep</p>',
        '<p id="s2">deep</p>',
        '<ul id="s2"><li>deep</li><li>er</li></ul>',
    ],
)
def test_an_entry_may_name_an_element(paths: Paths, section: str) -> None:
    toc: Toc = [("One", "0.xhtml", [("Two", "1.xhtml", [("Deep", "1.xhtml#s2", [])])])]
    found = paths(toc, "<p>opening</p>", f"<h1>Two</h1><p>text</p>{section}")
    assert [path.title() for path in found] == ["One", "One > Two", "One > Two > Deep"]


def test_a_heading_of_other_words_keeps_them_and_takes_the_place(paths: Paths) -> None:
    toc: Toc = [("One", "0.xhtml", [("1. Lamps", "1.xhtml", [("Oil", "1.xhtml#o", [])])])]
    chapter = (
        '<p>I</p><h3>Of lamps</h3><p>a</p><h4 id="o">Of oil</h4><p>b</p><h4>Wicks</h4><p>c</p>'
    )
    assert paths(toc, "<h2>One</h2>", chapter) == [
        "One", "One > Of lamps", "One > Of lamps > Of oil", "One > Of lamps > Wicks",
    ]  # fmt: skip


@cases("part", ["", "9.xhtml", "0.xhtml", "1.xhtml"])
def test_a_part_without_text_of_its_own_stands_over_its_first_chapter(paths, part: str) -> None:
    chapters: Toc = [("Chapter 1", "1.xhtml#x", []), ("Chapter 2", "2.xhtml", [])]
    toc: Toc = [("Part I", part, chapters), ("End", "3.xhtml", [])]
    picture, one, two, end = (
        "<img src='x'/>",
        "<h1>Chapter 1</h1><p>a</p>",
        "<p>b</p>",
        "<h2>End</h2><p>c</p>",
    )
    assert paths(toc, picture, one, two, end) == [
        "Part I", "Part I > Chapter 1", "Part I > Chapter 2", "End",
    ]  # fmt: skip


def test_a_title_is_not_given_twice(paths: Paths) -> None:
    one: Toc = [("Chapter 1", "0.xhtml", [("Chapter 1", "0.xhtml#h", []), ("A", "0.xhtml#a", [])])]
    epigraph = "<p>a</p><p>b</p><p>c</p><p>d</p>"
    chapter = f'{epigraph}<h1 id="h">Chapter  1</h1><p>x</p><h2 id="a">A</h2><p>y</p>'
    assert paths(one, chapter) == ["", "Chapter 1", "Chapter 1 > A"]


def test_what_the_contents_leave_out_follows_the_chapter_before_it(paths: Paths) -> None:
    toc: Toc = [("Part", "1.xhtml", [("One", "2.xhtml", []), ("Two", "4.xhtml", [])])]
    assert paths(
        toc,
        "<h1>Title page</h1><p>a</p>",
        "<h1>Part</h1><p>b</p>",
        "<h1>One</h1><p>c</p>",
        "<h2>One, continued</h2><p>d</p><h1>Between</h1><p>e</p>",
        "<h1>Two</h1><p>f</p>",
    ) == [
        "Title page", "Part", "Part > One", "Part > One > One, continued", "Part > Between",
        "Part > Two",
    ]  # fmt: skip


def test_a_flat_table_leaves_headings_as_they_are(paths: Paths) -> None:
    toc: Toc = [("Part", "0.xhtml", []), ("One", "0.xhtml#one", []), ("Two", "0.xhtml#two", [])]
    chapter = '<h1>Part</h1><p>a</p><h2 id="one">One</h2><p>b</p><p id="two">c</p>'
    assert paths(toc, chapter) == ["Part", "Part > One", "Two"]


def test_a_flat_table_may_stand_deep(book) -> None:
    toc = '<html><nav><ol><li><ol><li><a href="0.xhtml">One</a></li></ol></li></ol></nav></html>'
    document = book(toc, "<h1>One</h1><p>a</p><h1>Two</h1><p>b</p>")
    assert [block.level for block in document.blocks or () if block.kind == "heading"] == [1, 1]


def test_an_entry_inside_a_list_does_not_part_it(book) -> None:
    toc: Toc = [("Notes", "0.xhtml", [("Note 2", "0.xhtml#n", []), ("Lost", "0.xhtml#none", [])])]
    document = book(nav(toc), "<ul><li>a</li><li id='n'>b</li></ul>", "<ol><li>c</li></ol>")
    assert document.text == "Notes\n\n- a\n- b\n\n1. c"
    assert len({block.group for block in document.blocks or ()}) == 3


def test_a_chapter_that_opens_with_its_text_keeps_its_title(paths: Paths) -> None:
    toc: Toc = [("Part", "0.xhtml", [("Chapter 1", "1.xhtml", []), ("Chapter 2", "2.xhtml", [])])]
    text = "<p>The keeper wrote it down as he saw it, night after night.</p>"
    found = paths(
        toc, "<h1>Part</h1>", f"<h2>Chapter 1</h2>{text}", f"{text}<h3>The oil</h3>{text}"
    )
    assert found == ["Part", "Part > Chapter 1", "Part > Chapter 2", "Part > Chapter 2 > The oil"]


def hostile_nav(size: int) -> str:
    links = '<li><a href="../../../etc/passwd#x">Out</a></li><li><a href="toc.xml">Loop</a></li>'
    links += '<li><a href="0.xhtml#s">Same</a></li><li><a href="0.xhtml">File</a></li>'
    return f"<html><nav><ol>{links * size}</ol></nav></html>"


def hostile_depth(size: int) -> str:
    item = '<li><a href="0.xhtml#s">Deep</a><ol>'
    return f"<html><nav><ol>{item * size}{'</ol></li>' * size}</ol></nav></html>"


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("toc", [hostile_nav, hostile_depth])
def test_a_hostile_table_is_read_in_linear_time(book, toc: Callable[[int], str]) -> None:
    long = f"<p id='s'>{'word ' * 20_000}</p>"

    def work(size: int) -> None:
        document = book(toc(size), long, "<p>b</p>", repeat=20)
        assert len(document.text) < 40 * len(long)

    is_linear(work, 250)
    work(5_000)

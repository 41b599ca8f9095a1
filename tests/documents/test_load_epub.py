"""EPUB: the spine's chapters, named by the table of contents where they need it."""

from __future__ import annotations

import pytest

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

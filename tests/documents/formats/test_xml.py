"""XML: titles, paragraphs, lists, tables and records; hostile files are one line."""

from __future__ import annotations

import pytest

from chunkwise.core import Document
from chunkwise.documents.formats.xml import XmlLoader
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from tables import cases
from untimed import is_linear


def shown(document: Document) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, document.text[b.start : b.end]) for b in document.blocks or ()]


def test_titles_are_headings_of_what_holds_them(reader, write) -> None:
    text = (
        '<?xml version="1.0"?><book xmlns="d"><info><title>Book</title></info>'
        "<chapter><title>One <emphasis>x</emphasis></title>"
        "<para>Words <emphasis>with</emphasis> weight.</para><!-- remark --><section><title>Deep</title>"
        "<itemizedlist><listitem><para>a</para>"
        "<orderedlist><listitem><para>b</para></listitem></orderedlist></listitem></itemizedlist>"
        "<programlisting>x = 1\n  y</programlisting><table><title>T</title><tgroup>"
        "<thead><row><entry>A</entry><entry>B</entry></row></thead>"
        "<tbody><row><entry>1</entry><entry>2</entry></row></tbody></tgroup></table></section></chapter></book>"
    )  # fmt: skip
    document = reader.one(write("a.xml", text))
    assert shown(document) == [
        ("heading", 1, "Book"),
        ("heading", 1, "One x"),
        ("paragraph", 0, "Words with weight."),
        ("heading", 2, "Deep"),
        ("item", 0, "- a"),
        ("item", 1, "1. b"),
        ("code", 0, "x = 1\n  y"),
        ("paragraph", 0, "T"),
        ("header", 0, "A | B"),
        ("row", 0, "1 | 2"),
    ]
    assert (document.title, document.format) == ("Book", "xml")


def test_records_have_named_fields(reader, write) -> None:
    text = (
        "<shop><book><title>Sea</title><author>Anna</author><price>3</price></book>"
        "<book><title>Land</title><author>Bob</author><price>4</price></book></shop>"
    )
    assert shown(reader.one(write("a.xml", text))) == [
        ("heading", 1, "Sea"),
        ("paragraph", 0, "author: Anna\nprice: 3"),
        ("heading", 1, "Land"),
        ("paragraph", 0, "author: Bob\nprice: 4"),
    ]


def test_a_record_of_one_field_is_named_as_its_siblings_are(reader, write) -> None:
    text = (
        "<stock><item><name>Rope</name><len>40</len></item><item><name>Chain</name></item>"
        "<note><b>Ask the keeper.</b></note>"
        "<book><title>Sea</title><author>Anna</author><price>3</price></book>"
        "<book><title>Land</title><author>Bob</author></book></stock>"
    )
    assert shown(reader.one(write("a.xml", text))) == [
        ("paragraph", 0, "name: Rope\nlen: 40"),
        ("paragraph", 0, "name: Chain"),
        ("paragraph", 0, "Ask the keeper."),
        ("heading", 1, "Sea"),
        ("paragraph", 0, "author: Anna\nprice: 3"),
        ("heading", 1, "Land"),
        ("paragraph", 0, "author: Bob"),
    ]


def test_text_between_blocks_is_kept(reader, write) -> None:
    text = "<body>before<p>inside</p>between<div><p>deep</p>end</div>after</body>"
    document = reader.one(write("a.xml", text))
    assert document.text.split("\n\n") == ["before", "inside", "between", "deep", "end", "after"]


def test_encodings_are_those_of_the_declaration(reader, write) -> None:
    text = '<?xml version="1.0" encoding="iso-8859-1"?><p>größer</p>'
    assert reader.one(write("a.xml", text.encode("latin-1"))).text == "größer"


@cases(
    "text, reason",
    [
        ("words", "not valid XML"),
        ("<a><b></a>", "not valid XML"),
        ("<a>" * 5000, "not valid XML"),
        ("\0\1\2", "not valid XML"),
        ('<a x="only"/>', "no text in its elements; pass --loader text to read the markup"),
        ("<a>" * 100_000 + "x" + "</a>" * 100_000, "not valid XML"),
    ],
)
def test_what_cannot_be_read_is_one_line(reader, write, text, reason) -> None:
    assert reader(write("a.xml", text)) == []
    assert len(reader.reasons) == 1
    assert reader.reasons[0].startswith(reason)
    assert "\n" not in reader.reasons[0]


def test_entities_are_neither_fetched_nor_expanded(reader, write, tmp_path) -> None:
    (tmp_path / "secret.txt").write_text("secret words")
    laughs = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10 if at else "ha"}">' for at in range(12))
    for reference in (f'<!ENTITY x SYSTEM "{tmp_path}/secret.txt">', laughs):
        name = "x" if "SYSTEM" in reference else "l11"
        text = f"<!DOCTYPE a [{reference}]><a><p>one &{name}; two</p></a>"
        documents = reader(write("a.xml", text))
        assert all(len(document.text) < 100 for document in documents)
        assert all("secret" not in document.text for document in documents)
        assert len(documents) + len(reader.skipped) == 1
    text = f'<!DOCTYPE a [{laughs}]><a b="&l11;"><p>one</p></a>'
    assert len(reader(write("a.xml", text))) + len(reader.skipped) == 1


@cases(
    "part",
    ["<p>a</p>", "<s><title>t</title>x</s>", "<r><a>1</a><b>2</b></r>", "text<x/>", "<list><item>a</item></list>"]
)  # fmt: skip
def test_time_is_linear(part) -> None:
    def work(size: int) -> object:
        source = Source("a", "a.xml", data=f"<root>{part * size}</root>".encode())
        return list(XmlLoader().load(source, LoadOptions(), pytest.fail))

    is_linear(work, 300)


@cases(
    "inside, text",
    [
        ("&x;", "&x;"),
        ("<p>&x;</p>", "&x;"),
        ("&x;<p>one</p>&x; two<p>three</p>", "&x;\n\none\n\n&x;\n\ntwo\n\nthree"),
        ("<b>&x;</b> and", "&x; and"),
    ],
)
def test_an_entity_alone_is_text(reader, write, inside, text) -> None:
    path = write("a.xml", f'<!DOCTYPE a [<!ENTITY x "secret">]><a>{inside}</a>')
    assert reader.one(path).text == text


def test_what_the_parser_refuses_is_told_in_words(reader, write) -> None:
    assert reader(write("deep.xml", "<a>" * 300 + "x" + "</a>" * 300)) == []
    assert reader(write("a.xml", "<a>" + "x" * 10_100_000 + "</a>")) == []
    assert "XML_PARSE" not in "".join(reader.reasons)
    assert "it has a text or tag of more than 10 million bytes" in reader.reasons[-1]

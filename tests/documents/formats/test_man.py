"""Manual pages: sections, items and examples, of both sets of macros."""

from __future__ import annotations

import pytest

from chunkwise.core import Document
from chunkwise.documents.formats.man import ManLoader
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from untimed import is_linear

MAN = r""".\" a comment
.de XX
a macro
..
.TH LAMP 1 "2024" "lamps"
.SH NAME
lamp \- light \fBlamps\fR
.SH "HOW IT WORKS"
Lamps are \(lqlit\(rq at
.BR dusk (7),
and \fIput out\fP at dawn.
.PP
Another one.
.SS Options
.TP
.B \-v
say more
.IP \(bu 2
a point
.nf
$ lamp \-v \e
  on
.fi
"""
MDOC = """.Dd May 1, 2024
.Dt LAMP 1
.Os
.Sh NAME
.Nm lamp
.Nd light lamps
.Sh SYNOPSIS
.Nm
.Op Fl v
.Op Ar file ...
.Sh DESCRIPTION
It is
.Em bright .
.Bl -tag -width x
.It Fl v
Say more.
.El
"""


def shown(document: Document) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, document.text[b.start : b.end]) for b in document.blocks or ()]


def test_a_page_of_man(reader, write) -> None:
    document = reader.one(write("lamp.1", MAN))
    assert shown(document) == [
        ("heading", 1, "NAME"),
        ("paragraph", 0, "lamp - light lamps"),
        ("heading", 1, "HOW IT WORKS"),
        ("paragraph", 0, "Lamps are “lit” at dusk(7), and put out at dawn."),
        ("paragraph", 0, "Another one."),
        ("heading", 2, "Options"),
        ("item", 0, "- -v\n  say more"),
        ("item", 0, "- a point"),
        ("code", 0, "$ lamp -v \\\n  on"),
    ]
    assert (document.title, document.format) == ("LAMP(1)", "man")


def test_a_line_goes_on_behind_a_backslash(reader, write) -> None:
    text = (
        ".TH A 1\n.SH SYNOPSIS\n{+|-}{w|x}\\\n[GnSk\\\n] end\n.PP\n"
        ".BR one \\\n(2)\n.PP\nA space\\ \nbehind it, glued\\c\n"
        ".B words\nand a sign: \\e\n.PP\nkept \\\\\nhere, a\\tb, \\m[blue]blue\\m[] \\s[+2]big\\s0\n"
        '.\\" a remark \\\nis over. The end\\\n'
    )
    assert [words for kind, _, words in shown(reader.one(write("a.1", text)))] == [
        "SYNOPSIS",
        "{+|-}{w|x}[GnSk] end",
        "one(2)",
        "A space behind it, gluedwords and a sign: \\",
        "kept \\ here, a b, blue big is over. The end",
    ]


def test_a_page_of_mdoc(reader, write) -> None:
    assert shown(reader.one(write("lamp.1", MDOC))) == [
        ("heading", 1, "NAME"),
        ("paragraph", 0, "lamp — light lamps"),
        ("heading", 1, "SYNOPSIS"),
        ("paragraph", 0, "lamp [-v] [file ...]"),
        ("heading", 1, "DESCRIPTION"),
        ("paragraph", 0, "It is bright."),
        ("item", 0, "- -v\n  Say more."),
    ]


def test_a_file_that_only_ends_like_one_is_text(reader, write) -> None:
    assert reader.one(write("notes.1", "First draft of the notes.\n")).format == "text"
    assert reader.one(write("v1.2", ".SHORT\n")).format == "text"


@pytest.mark.parametrize(
    "part",
    [
        "\\", "\\\n", "a\\c\n", "\\m[",
        ".SH\n", ".TP\n", "\\f", "\\(", ".IP x\n", ".nf\n", '."\n', "\\*[", ".It Fl x\n", ".de\n", "a\n", "\\[u1F600]",
    ],
)  # fmt: skip
def test_junk_is_read_in_linear_time(part) -> None:
    def work(size: int) -> object:
        source = Source("a", "a.1", data=(".TH A 1\nx\n" + part * size).encode())
        return list(ManLoader().load(source, LoadOptions(), pytest.fail))

    is_linear(work, 300)


def test_half_a_character_reaches_no_text(reader, write) -> None:
    document = reader.one(write("a.1", ".TH A 1\n.SH NAME\n\\[uD800]a \\[u1F600]\n"))
    assert document.text == "NAME\n\n\ufffda 😀"


@pytest.mark.parametrize("macro", ["SH", "SS", "Sh", "Ss"])
@pytest.mark.parametrize("opened", ["nf", "EX", "Bd"])
def test_a_section_ends_an_example_that_was_never_closed(reader, write, macro, opened) -> None:
    text = f".TH A 1\n.SH NAME\n.{opened}\n$ a\n.{macro} NEXT\nwords of\nit\n"
    assert [(kind, words) for kind, _, words in shown(reader.one(write("a.1", text)))] == [
        ("heading", "NAME"), ("code", "$ a"), ("heading", "NEXT"), ("paragraph", "words of it"),
    ]  # fmt: skip


def test_a_bullet_without_words_is_no_item(reader, write) -> None:
    text = ".TH A 1\n.SH NAME\n.IP \\(bu\n.PP\nwords\n.IP tag\n.PP\nmore\n"
    assert [words for _, _, words in shown(reader.one(write("a.1", text)))] == [
        "NAME", "words", "- tag", "more",
    ]  # fmt: skip

"""Manual pages: sections, items and examples, of both sets of macros."""

from __future__ import annotations

import pytest

from chunkwise.core import Document
from chunkwise.documents.formats import man
from tables import cases

pytestmark = [
    pytest.mark.usefixtures("processes"),
    pytest.mark.skipif(man.find_pandoc() is None, reason="needs pandoc"),
]

MAN = r""".\" a comment
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
.TS
l l.
a	b
1	2
.TE
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


@pytest.mark.smoke
def test_a_page_of_man(reader, write) -> None:
    document = reader.one(write("lamp.1", MAN), limits="none")
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
        ("row", 0, "a | b"),
        ("row", 0, "1 | 2"),
    ]
    assert (document.title, document.format) == ("LAMP(1)", "man")


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


def test_no_other_file_is_read(reader, write) -> None:
    write("secret.1", ".TH A 1\n.SH SECRET\nhidden\n")
    document = reader.one(write("a.1", f".TH A 1\n.SH NAME\nx\n.so {write('b.1', 'hidden')}\n"))
    assert "hidden" not in document.text


def test_without_pandoc_the_page_is_unreadable(reader, write, monkeypatch) -> None:
    monkeypatch.setattr(man, "find_pandoc", lambda: None)
    assert reader(write("lamp.1", MAN), limits="none") == []
    assert "chunkwise[pandoc]" in reader.reasons[0]


@cases(
    "page",
    [
        "".join(f".ds {new} " + f"\\*{old}" * 50 + "\n" for old, new in ("ab", "bc", "cd", "de", "ef", "fg"))
        + "\\*g" * 1000,
        ".de X\n" + ".X\n.X\n" * 50 + "..\n.X\n",
    ],
)  # fmt: skip
def test_a_page_that_grows_without_end_is_given_up(reader, write, page) -> None:
    reader(write("a.1", f".TH A 1\n.SH NAME\nx\n{page}\nend"), limits="memory=200MB,time=5s")
    assert all("takes more than" in reason for reason in reader.reasons)

"""Manual pages: sections, items and examples, of both sets of macros."""

from __future__ import annotations

import pytest

from chunkwise.core import Document
from chunkwise.documents.formats.man import ManLoader
from chunkwise.documents.formats.roff import Roff
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from tables import cases
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


@pytest.mark.usefixtures("large_inputs")
@cases(
    "part",
    [
        "\\", "\\\n", "a\\c\n", "\\m[", ".if n ", "\\}", "\\} ",
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


@cases("macro", ["SH", "SS", "Sh", "Ss"])
@cases("opened", ["nf", "EX", "Bd"])
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


ASCIIDOCTOR = r"""'\" t
.TH "FSTAB" "5" "2022\-05\-11" "util\-linux 2.38.1" "File formats"
.ie \n(.g .ds Aq \(aq
.el       .ds Aq '
.de URL
\fI\\$2\fP <\\$1>\\$3
..
.als MTO URL
.if \n[.g] \{\
.  mso www.tmac
.  am URL
.    ad l
.  .
.  am MTO
.    ad l
.  .
.  LINKSTYLE blue R < >
.\}
.SH "NAME"
fstab \- it doesn\*(Aqt mount
.SH "AUTHORS"
.MTO "ada\(atexample.org" "Ada Lund" ","
"""


def test_definitions_of_a_page_end_where_they_end(reader, write) -> None:
    (document,) = reader(write("fstab.5", ASCIIDOCTOR))
    assert (
        document.text
        == "NAME\n\nfstab - it doesn't mount\n\nAUTHORS\n\nAda Lund <ada@example.org>,"
    )


def test_what_is_said_on_a_screen_is_text_and_what_is_for_print_is_not(reader, write) -> None:
    page = r""".TH A 1
.SH COPYRIGHT
.if n Copyright (C) 2022.
.if t Copyright \(co 2022.
.ie n \{\
One.
.if !n Never. \}
.el \{\
.ie n Two.
.el Three.
.\}
.if (\n(rF:(\n(.g==0)) \{\
Four.
.\}
.nr mE 2
.if \n(mE>1 Five.
.if 'a'a' Six.
.if d nothing Seven.
"""
    (document,) = reader(write("a.1", page))
    assert document.text == "COPYRIGHT\n\nCopyright (C) 2022. One. Five. Six."


def test_macros_and_strings_of_a_page(reader, write) -> None:
    page = r""".TH A 3
.ds xT X Toolkit
.de ZN
.ie t \\f(CW\\$1\\fP\\$2
.el \\fB\\$1\\fP\\$2
..
.de Vb \" verbatim
.ft CW
.nf
..
.de Ve
.fi
..
.SH NAME
\*(xT and \*[xT], says
.ZN XtAppLock ,
K\(:onig and \(*p.
.Vb 1
\&  x = 1;
.Ve
.UR https://example.org
the page
.UE .
"""
    (document,) = reader(write("a.3", page))
    assert shown(document)[1:] == [
        ("paragraph", 0, "X Toolkit and X Toolkit, says XtAppLock, König and π."),
        ("code", 0, "  x = 1;"),
        ("paragraph", 0, "the page <https://example.org>."),
    ]


def test_tables_of_a_page(reader, write) -> None:
    page = """.TH A 3
.SH ATTRIBUTES
.TS
allbox tab(|);
lbx lb lb
l l l.
Interface|Attribute|Value
T{
.BR casin (),
.BR casinl ()
T}|Thread safety|MT-Safe
_
\\fBother\\fP|Signals|none
.TE
Behind.
"""
    (document,) = reader(write("a.3", page))
    assert shown(document)[1:] == [
        ("header", 0, "Interface | Attribute | Value"),
        ("row", 0, "casin(), casinl() | Thread safety | MT-Safe"),
        ("row", 0, "other | Signals | none"),
        ("paragraph", 0, "Behind."),
    ]


@cases(
    "page",
    [
        "".join(f".ds {new} " + f"\\*{old}" * 50 + "\n" for old, new in ("ab", "bc", "cd", "de", "ef", "fg"))
        + "\\*g" * 1000,
        ".de X\n" + ".X\n.X\n" * 50 + "..\n.X\n",
        ".de X\n" + "word\n" * 1000 + "..\n" + ".X\n" * 10_000,
        ".if n \\{\n" * 20_000 + "word",
        ".if " + "(" * 10_000 + "\nword",
        ".de X\n" + "\\$*" * 1_000 + "\n..\n.X " + "a" * 3_000,
        ".if n " * 2_000 + "word",
        ".de X\n" + "\n" * 1_000 + "..\n" + ".X\n" * 1_000,
    ],
)  # fmt: skip
def test_no_page_grows_without_end(reader, write, page) -> None:
    (document,) = reader(write("a.1", f".TH A 1\n.SH NAME\nx\n{page}\nend"))
    assert len(document.text) < 6 * len(page) + 50_000


def test_many_writings_of_one_argument_are_not_all_made() -> None:
    """Each is counted as it is made: a thousand times all that is given would be gigabytes of a small page."""
    page = ".de X\n" + "\\$*" * 20_000 + "\n..\n.X " + "a" * 60_000 + "\nend\n"
    assert sum(map(len, Roff(()).lines(page))) < 6 * len(page) + 50_000


def test_a_bracket_that_ends_by_itself_is_nothing(reader, write) -> None:
    page = ".TH A 1\n.SH NAME\n.nf\none\n.if n \\{\\\ntwo\n.\\}\nthree\n.fi\n"
    (document,) = reader(write("a.1", page))
    assert "one\ntwo\nthree" in document.text


def test_large_numbers_are_one_number() -> None:
    page = ".nr big 1000000000\n.if \\n[big]>5 shown\n"
    assert list(Roff(()).lines(page)) == ["shown"]

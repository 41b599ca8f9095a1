"""reStructuredText, LaTeX, AsciiDoc and Org as files: kept to the character, with sections and titles."""

from __future__ import annotations

from chunkwise.documents.formats.tex import without_comments
from chunkwise.documents.formats.text import without_rst_comments
from chunkwise.text.analyzed import Analyzed
from tables import cases
from untimed import is_linear

FILES = {
    "a.rst": ("rst", "Book\n====\n\nText.\n\nPart\n----\n\nMore.\n"),
    "a.adoc": ("asciidoc", "= Book\r\n\r\nText.\r\n\r\n== Part\r\n\r\nMore.\r\n"),
    "a.org": ("org", "\ufeff* Book\nText.\n** Part\nMore.\n"),
}


@cases("name", FILES)
def test_the_text_is_the_files_own(reader, write, name) -> None:
    format, text = FILES[name]
    document = reader.one(write(name, text.encode()))
    assert (document.text, document.format, document.title) == (text, format, "Book")
    at = text.index("More")
    assert Analyzed(document).section(at, at + 4) == ("Book", "Part")


RST = """.. _start:

Book
====

.. license words
   go on

   and end.

Text .. stays.

.. note:: shown

   body

..
   hidden block

..

   quoted

- item

  .. inner words
  after

.. [1] footnote
.. |sub| replace:: x
"""


def test_comments_of_rst_are_white_space_at_their_places(reader, write) -> None:
    text = reader.one(write("a.rst", RST)).text
    assert len(text) == len(RST)
    assert all(new in (old, " ") for new, old in zip(text, RST, strict=True))
    assert all(word not in text for word in ("license", "go on", "and end", "hidden", "inner"))
    for part in (
        ".. _start:",
        "Text .. stays.",
        ".. note:: shown",
        "   body",
        "   quoted",
        "  after",
    ):
        assert part in text
    assert text.endswith(".. [1] footnote\n.. |sub| replace:: x\n")


def test_comments_of_rst_are_found_in_linear_time() -> None:
    is_linear(lambda size: without_rst_comments(".. a\n  b\n\n" * size), 200)
    is_linear(lambda size: without_rst_comments(".. " + "[_|a." * size), 200)


def test_a_heading_that_is_one_of_several_is_no_title(reader, write) -> None:
    assert reader.one(write("a.rst", "One\n===\n\na\n\nTwo\n===\n\nb\n")).title == ""
    assert reader.one(write("a.org", "#+Title: Named\n* One\na\n* Two\n")).title == "Named"


TEX = r"""% license of the file
\documentclass{article} % a comment
\title[short]{The \emph{Plan}}
\begin{document}
\maketitle
\section{One}
About 50\% of it. % remark
% a whole line
See \url{http://a.b/c%20d} and \verb|%x|.
\begin{verbatim}
% kept
\end{verbatim}
\begin{comment}
gone
\end{comment}
End.
\end{document}
what TeX never reads
"""


def test_comments_and_preamble_of_latex_are_spaces_and_places_stay(reader, write) -> None:
    document = reader.one(write("a.tex", TEX))
    assert (document.title, document.format) == ("The Plan", "tex")
    assert len(document.text) == len(TEX)
    assert document.text.count("\n") == TEX.count("\n")
    for kept in ("About 50\\% of it.", "\\url{http://a.b/c%20d}", "\\verb|%x|", "% kept", "End."):
        assert document.text.index(kept) == TEX.index(kept)
    for gone in (
        "license",
        "documentclass",
        "maketitle",
        "remark",
        "whole line",
        "gone",
        "never reads",
    ):
        assert gone not in document.text
    at = document.text.index("About")
    assert Analyzed(document).section(at, at + 5) == ("One",)


def test_a_part_of_a_latex_document_is_all_text(reader, write) -> None:
    text = "\\chapter{A}\nWords.\n"
    assert reader.one(write("part.tex", text)).text == text


def test_a_preamble_alone_is_empty(reader, write) -> None:
    assert reader(write("a.tex", "\\documentclass{x}\n\\begin{document}\n\\end{document}\n")) == []
    assert reader.reasons == ["empty"]


@cases(
    "part",
    ["%", "\\verb|", "\\begin{verbatim}", "\\begin{comment}", "\\", "\\url{", "% x\n", "\\verb|a|"],
)
def test_comments_are_found_in_linear_time(part) -> None:
    is_linear(lambda n: without_comments(part * n), 1000)


@cases("name", ["a.rst", "a.adoc", "a.org", "a.tex"])
def test_junk_is_read_or_refused(reader, write, name) -> None:
    assert reader(write(name, b"")) == []
    assert reader(write(name, b"\xfb\xfc\xfd\0\1\2" * 40)) == []
    assert len(reader(write(name, "=" * 10_000))) == 1
    assert len(reader(write(name, "{" * 10_000 + "\\section{" * 100))) == 1


def test_settings_of_org_are_metadata_and_no_text(reader, write) -> None:
    text = "#+TITLE: Ferries\n#+AUTHOR: Ada\n# a note\n#+OPTIONS:\n\n* Rules\nText.\n#+CAPTION: A map\nMore.\n"
    document = reader.one(write("a.org", text))
    assert document.title == "Ferries"
    assert document.metadata == {"title": "Ferries", "author": "Ada"}
    assert document.text.lstrip() == text[text.index("* Rules") :]
    assert document.text.index("* Rules") == text.index("* Rules")


def test_org_of_settings_alone_stays_text(reader, write) -> None:
    assert reader.one(write("a.org", "#+TITLE: Ferries\n")).text.startswith("#+TITLE")


def test_the_head_of_org_is_found_in_linear_time(reader, write) -> None:
    from chunkwise.documents.formats.text import _ORG_HEAD

    for part in ("#+a: b\n", "\n", " ", "# \n", " \t\n"):
        is_linear(lambda n, part=part: _ORG_HEAD.match(part * n + "x"), 1000)

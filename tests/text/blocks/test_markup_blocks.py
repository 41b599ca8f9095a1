"""Blocks of reStructuredText, LaTeX, AsciiDoc and Org: found by their signs, exact, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document
from chunkwise.testkit import check_chunker
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.markup import MARKUPS
from how_many import examples
from tables import cases
from untimed import is_linear, lines_run


def blocks(format: str, text: str) -> list[tuple[str, int, str]]:
    markup = MARKUPS[format]
    found = []
    for kind, start, end, level, _ in markup.blocks(text):
        words = text[start:end]
        found.append((kind, level, markup.title(words) if kind == "heading" else words))
    return found


def test_levels_of_rst_are_those_of_its_adornments_in_the_order_they_are_met() -> None:
    text = "====\nBook\n====\n\nOne\n===\ntext\n\nDeep `x <y>`\n~~~~~~~~~~\nmore\n\nTwo\n===\n"
    assert blocks("rst", text) == [
        ("heading", 1, "Book"),
        ("heading", 2, "One"),
        ("paragraph", 0, "text"),
        ("heading", 3, "Deep x <y>"),
        ("paragraph", 0, "more"),
        ("heading", 2, "Two"),
    ]


@cases(
    "text",
    [
        "a\nb\n=\n",
        "two lines\nof text\n=======\n",
        "\n----\n\nfour\n",
        "  quoted\n  ------\n",
        "===\n===\n",
        "=====\nno end\n",
        "....\n",
        "short\n--\n",
    ],
)
def test_what_is_no_title_in_rst(text) -> None:
    assert "heading" not in [kind for kind, _, _ in blocks("rst", text)]


def test_lists_tables_and_code_of_rst() -> None:
    text = (
        "Intro::\n\n    code 1\n\n    code 2\n\n* one\n  more\n* two\n\n  further\n\n"
        "+---+---+\n| a | b |\n+===+===+\n| c | d |\n|   | e |\n+---+---+\n\n"
        "=== ===\nA   B\n=== ===\n1   2\n=== ===\n\n.. code-block:: python\n\n   x = 1\n\n.. note:: Beware\n   of it\n"
    )
    assert blocks("rst", text) == [
        ("paragraph", 0, "Intro::"),
        ("code", 0, "code 1\n\n    code 2"),
        ("item", 0, "* one\n  more"),
        ("item", 0, "* two\n\n  further"),
        ("header", 0, "+---+---+\n| a | b |\n+===+===+"),
        ("row", 0, "| c | d |\n|   | e |\n+---+---+"),
        ("header", 0, "=== ===\nA   B\n=== ==="),
        ("row", 0, "1   2"),
        ("code", 0, ".. code-block:: python\n\n   x = 1"),
        ("paragraph", 0, ".. note:: Beware\n   of it"),
    ]


def test_blocks_of_org() -> None:
    text = (
        "#+TITLE: T\n* TODO [#A] One :tag:\n:PROPERTIES:\n:ID: x\n:END:\ntext\nmore\n"
        "** Two [[u][link]]\n- a\n  1. b\n\n"
        "| a | b |\n|---+---|\n| 1 | 2 |\n#+BEGIN_SRC sh\n* no heading\n#+END_SRC\n* Three\n"
    )
    assert blocks("org", text) == [
        ("heading", 1, "One"),
        ("paragraph", 0, "text\nmore"),
        ("heading", 2, "Two link"),
        ("item", 0, "- a"),
        ("item", 1, "1. b"),
        ("header", 0, "| a | b |\n|---+---|"),
        ("row", 0, "| 1 | 2 |"),
        ("code", 0, "#+BEGIN_SRC sh\n* no heading\n#+END_SRC"),
        ("heading", 1, "Three"),
    ]


def test_blocks_of_asciidoc() -> None:
    text = (
        "= Book\nAuthor\n\n== One `x`\n[source,sh]\n----\n== no title\n----\n* a\n** b\n+\nof b\n\n"
        "Old title\n---------\n"
        "text\n\n|===\n|A |B\n\n|1\n|2\n|===\n\n====\nAn example.\n====\n"
    )
    assert blocks("asciidoc", text) == [
        ("heading", 1, "Book"),
        ("paragraph", 0, "Author"),
        ("heading", 2, "One x"),
        ("code", 0, "[source,sh]\n----\n== no title\n----"),
        ("item", 0, "* a"),
        ("item", 1, "** b\n+\nof b"),
        ("heading", 2, "Old title"),
        ("paragraph", 0, "text"),
        ("header", 0, "|A |B"),
        ("row", 0, "|1"),
        ("row", 0, "|2"),
        ("paragraph", 0, "An example."),
    ]


def test_blocks_of_latex() -> None:
    text = r"""\section{One \& \textbf{two} {x}} Behind it.
More.

\begin{itemize}
  \item first
  goes on
  \item second
\end{itemize}
\subsection*[short]{A
long title}\label{sec:x}
\begin{equation}
a = b

c
\end{equation}
\begin{frame}{Slide}
"""
    assert blocks("tex", text) == [
        ("heading", 3, "One & two x"),
        ("paragraph", 0, "Behind it.\nMore."),
        ("item", 1, "\\item first\n  goes on"),
        ("item", 1, "\\item second"),
        ("heading", 4, "A long title"),
        ("code", 0, "\\begin{equation}\na = b\n\nc\n\\end{equation}"),
        ("heading", 8, "Slide"),
    ]


@cases("format", MARKUPS)
def test_sections_have_the_words_of_their_headings(format) -> None:
    text = {
        "rst": "One\n===\na\n\nTwo\n---\nb\n",
        "tex": "\\section{One}\na\n\\subsection{Two}\nb\n",
        "asciidoc": "= One\n\na\n\n== Two\n\nb\n",
        "org": "* One\na\n** Two\nb\n",
    }[format]
    analyzed = Analyzed(Document("x", text, format=format))
    at = text.rindex("b")
    assert analyzed.section(at, at + 1) == ("One", "Two")


@pytest.mark.parametrize("format", MARKUPS)
@given(
    text=st.text(
        st.sampled_from(list("ab \n\n\r\t=-~*+|.:`#%[]{}\\_1\ufeff")) | st.characters(),
        max_size=120,
    )
)
@settings(max_examples=examples(100))
def test_blocks_are_in_order_and_apart(format, text) -> None:
    end = 0
    markup = MARKUPS[format]
    for block in markup.blocks(text):
        assert end <= block.start < block.end <= len(text)
        assert block.kind != "heading" or block.level > 0
        assert isinstance(markup.title(text[block.start : block.end]), str)
        end = block.end


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("format", MARKUPS)
def test_every_strategy_keeps_its_contract_on_hostile_markup(format) -> None:
    hostile = [
        Document(document.id, document.text, format=format)
        for document in hostile_documents()
        if document.format in ("text", "markdown")
    ]
    for strategy in ("structure(max_tokens=40)", "sections(max_tokens=40)"):
        check_chunker(strategy, documents=hostile)


PARTS = {
    "rst": [
        "T\n=\n",
        "text::\n",
        "  x\n",
        "+-+\n",
        "| a\n",
        "== ==\n",
        "\n",
        ".. code::\n",
        "====\n",
        "- a\n",
        "=" * 50 + "\n",
    ],
    "tex": [
        "\\section{",
        "\\begin{verbatim}\n",
        "\\item a\n",
        "\\section{a}\n",
        "\\begin{equation}\n",
        "{",
        "\\begin{frame}{",
        "a\n",
        "\\verb|",
    ],
    "asciidoc": [
        "----\n",
        "|===\n",
        "|a\n",
        "== a\n",
        "[x]\n",
        "```py\n",
        "* a\n",
        "a\n",
        "...." + "\n",
        "-----\n",
    ],
    "org": [
        "* a\n",
        "#+begin_src\n",
        "#+end_example\n",
        ":A:\n",
        "| a\n",
        "|-\n",
        "- a\n",
        "a\n",
        "*" * 30 + "\n",
    ],
}


@pytest.mark.usefixtures("large_inputs")
@cases("format", MARKUPS)
def test_time_is_linear_in_the_text(format) -> None:
    for part in PARTS[format]:
        is_linear(lambda n, part=part: MARKUPS[format].blocks(part * n), 300)


@cases("part", ["\\section{\n", "\\begin{frame}{\n", "\\section{b{\n\n"])
def test_a_title_that_is_never_closed_takes_little_work(part) -> None:
    assert lines_run(lambda: MARKUPS["tex"].blocks(part * 500)) < 500 * 100


@cases(
    "text, title",
    [
        ("\\section{The $\\partial$ of {a} set}\n", "The $\\partial$ of {a} set"),
        ("\\section{Two \\{lines\\} \\\\}\n", "Two \\{lines\\} \\\\"),
        ("\\section{over\ntwo}\n", "over\ntwo"),
        ("\\section{never\n\nclosed}\n", ""),
        ("\\section{one\n\\section{two}\n", "two"),
    ],
)
def test_where_a_title_ends_in_latex(text, title) -> None:
    found = [
        text[start:end]
        for kind, start, end, _, _ in MARKUPS["tex"].blocks(text)
        if kind == "heading"
    ]
    assert found == ([f"\\section{{{title}}}"] if title else [])


@cases(
    "format, part, end",
    [
        ("rst", ":a", ""),
        ("rst", ":a:", ""),
        ("rst", ":a:`" + " " * 300_000 + "x", "`"),
        ("rst", ":a:`<", "`"),
        ("org", " ", "x"),
        ("org", " :a:", "!"),
        ("org", ":", "!"),
    ],
)
def test_titles_without_end_are_read_before_anybody_gives_up(format, part, end) -> None:
    """In quadratic time it would be hours."""
    assert MARKUPS[format].title("x" + part * (300_000 if len(part) < 10 else 1) + end)


@cases(
    "heading, title",
    [
        ("* How we use TODO lists", "How we use TODO lists"),
        ("* UNDONE work", "UNDONE work"),
        ("* What [#A] means", "What [#A] means"),
        ("** TODO [#A] One :tag:b:", "One"),
        ("* DONE", "DONE"),
        ("* a ::", "a ::"),
    ],
)
def test_only_the_beginning_of_a_heading_of_org_is_a_state(heading, title) -> None:
    assert MARKUPS["org"].title(heading) == title


@cases(
    "heading, title",
    [
        ("The :func:`open <io.open>` call", "The open call"),
        (":py:class:`A`", "A"),
        ("(:a-b:`x`)", "(x)"),
    ],
)
def test_roles_of_rst_are_left_out_of_titles(heading, title) -> None:
    assert MARKUPS["rst"].title(heading) == title


def test_a_comment_above_an_indented_line_of_signs_is_no_title() -> None:
    text = "Rope\n====\n\nText of it.\n\n.. References\n   ----------\n\n.. _rope: rope.html\n"
    assert [kind for kind, _, _ in blocks("rst", text)].count("heading") == 1

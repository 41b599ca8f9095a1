"""The section tree: which headings enclose a place, and what a span's sections share."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy
from chunkwise.core import Block, Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import Blocks
from chunkwise.text.blocks.sections import SectionTree, heading_title
from how_many import examples
from tables import cases

GUIDE = """\
Preface without a heading.

# Guide

Welcome.

## Install

### Linux

Use apt.

### Windows

Use winget.

## Usage

Run it.

# Reference

All of it.
"""


def analyzed(text: str, form: str = "markdown") -> Analyzed:
    return Analyzed(Document("x", text, format=form))


def path_at(text: str, words: str, form: str = "markdown") -> tuple[str, ...]:
    start = text.index(words)
    return analyzed(text, form).section(start, start + len(words))


@cases(
    "words, path",
    [
        ("Preface", ()),
        ("Welcome.", ("Guide",)),
        ("## Install", ("Guide", "Install")),
        ("Use apt.", ("Guide", "Install", "Linux")),
        ("Use winget.", ("Guide", "Install", "Windows")),
        ("Run it.", ("Guide", "Usage")),
        ("All of it.", ("Reference",)),
    ],
)
def test_every_place_knows_its_path(words: str, path: tuple[str, ...]) -> None:
    assert path_at(GUIDE, words) == path


def between(text: str, first: str, last: str) -> tuple[str, ...]:
    return analyzed(text).section(text.index(first), text.index(last) + len(last))


def test_a_span_over_several_sections_has_what_their_paths_share() -> None:
    assert between(GUIDE, "Use apt.", "Use winget.") == ("Guide", "Install")
    assert between(GUIDE, "Use apt.", "Run it.") == ("Guide",)
    assert between(GUIDE, "Welcome.", "Use apt.") == ("Guide",)
    assert between(GUIDE, "Run it.", "All of it.") == ()
    assert between(GUIDE, "Preface", "Welcome.") == ()


def test_a_bare_heading_on_the_way_does_not_count() -> None:
    """`## Install` says nothing of its own: with `### Linux` below it a chunk is about Linux."""
    assert between(GUIDE, "## Install", "Use apt.") == ("Guide", "Install", "Linux")
    assert between("# A\n\n## B\n", "# A", "## B") == ("A", "B")


def test_level_jumps() -> None:
    text = "# One\n\na\n\n#### Four\n\nb\n\n## Two\n\nc\n\n### Three\n\nd\n\n# Last\n\ne\n"
    sections = analyzed(text).sections
    assert sections.paths == [
        (), ("One",), ("One", "Four"), ("One", "Two"), ("One", "Two", "Three"), ("Last",),
    ]  # fmt: skip


@cases("empty", ["##", "## ", "## ##", "<h2></h2>"])
def test_a_heading_without_words_adds_none_to_a_path(empty: str) -> None:
    text = f"# A\n\n## B\n\nb\n\n{empty}\n\nc\n\n### D\n\nd\n\n# \n\ne\n"
    assert path_at(text, "\nc\n") == ("A",)
    assert path_at(text, "\nd\n") == ("A", "D")
    assert path_at(text, "\ne\n") == ()


def test_a_document_that_starts_deep() -> None:
    assert path_at("### Deep\n\na\n\n# Top\n\nb\n", "a\n") == ("Deep",)
    assert path_at("### Deep\n\na\n\n# Top\n\nb\n", "b\n") == ("Top",)


def test_plain_text_has_a_tree_too() -> None:
    text = "BOOK ONE\n\nCHAPTER I\n\nON WHALES\n\nCall me Ishmael.\n\nCHAPTER II\n\nI went.\n"
    assert path_at(text, "Call me", "text") == ("BOOK ONE", "CHAPTER I", "ON WHALES")
    assert path_at(text, "I went", "text") == ("BOOK ONE", "CHAPTER II")


def test_regions_are_the_sections_a_bare_heading_joined_to_its_first_subsection() -> None:
    starts = [GUIDE[start:].split("\n")[0] for start in analyzed(GUIDE).sections.regions.tolist()]
    assert starts == [
        "Preface without a heading.", "# Guide", "## Install", "### Windows", "## Usage", "# Reference",
    ]  # fmt: skip
    assert analyzed("").sections.regions.tolist() == [0]


def test_a_bare_heading_does_not_join_a_sibling() -> None:
    assert len(analyzed("# A\n\n# B\n\ntext").sections.regions) == 2


@cases(
    "text, title",
    [
        ("# One", "One"),
        ("## Two ##", "Two"),
        ("# C#", "C#"),
        ("#", ""),
        ("Setext title\n===", "Setext title"),
        ("Two\nlines\n---", "Two lines"),
        ("## First steps { #first-steps }", "First steps"),
        ("## A [link](http://x.y) here", "A link here"),
        ("## ![logo](x.png) Name", "logo Name"),
        ("# A [x][1]", "A x"),
        ("# [Two words][ref] and [it][]", "Two words and it"),
        ("## ![logo][pic] Name", "logo Name"),
        ("## [![built](b.svg)](http://x.y) Name", "built Name"),
        ("## [![built][b]][c] Name", "built Name"),
        ("## `[x][1]` and `rows[0][1]`", "[x][1] and rows[0][1]"),
        ("## rows[0][1], f(x)[0][1] and rows[0][1][2]", "rows[0][1], f(x)[0][1] and rows[0][1][2]"),
        (r"## \[x][1]", "[x][1]"),
        ("## [1.2.0] - 2026-01-01", "[1.2.0] - 2026-01-01"),
        ("## **Bold** and `code`", "Bold and code"),
        ("## _Soft_", "Soft"),
        ("## `__init__`", "__init__"),
        ("## snake_case_name_", "snake_case_name_"),
        ("## The *em* of _it_, ~~gone~~", "The em of it, gone"),
        ("## **a *b* c** and ***d***", "a b c and d"),
        ("## __Bold words__ in __init__ of snake_case", "Bold words in __init__ of snake_case"),
        ("## A &amp; B, `&amp;`", "A & B, &amp;"),
        (r"## a \* b \_c\_ `\*`", r"a * b _c_ \*"),
        ("## 2 * 3 * 4, `a*b*c`", "2 * 3 * 4, a*b*c"),
        ("## `Vec<T>` and Box<T>", "Vec<T> and Box<T>"),
        ("## An <abbr title='x'>API</abbr>", "An API"),
        ("<h2 id='x'>A <em>title</em></h2>", "A title"),
        ("1.1 Scope", "1.1 Scope"),
        ("第三章　开始", "第三章 开始"),
        ("x" * 5000, "x" * 200),
    ],
)
def test_a_title_is_the_headings_words(text: str, title: str) -> None:
    assert heading_title(text) == title


def declared(levels: list[int]) -> SectionTree:
    text = "h\n" * len(levels)
    return SectionTree(
        text,
        Blocks.declared(
            [Block("heading", 2 * n, 2 * n + 1, level) for n, level in enumerate(levels)]
        ),
    )


def test_hostile_depth_does_not_grow_paths_without_end() -> None:
    paths = declared(list(range(1, 3000))).paths
    assert len(paths) == 3000
    assert paths[5] == ("h",) * 5
    assert max(map(len, paths)) <= 64


def test_levels_a_format_should_not_declare() -> None:
    assert declared([0, -3, 2]).paths == [(), ("h",), ("h",), ("h", "h")]


def test_ten_thousand_sections_are_told_apart() -> None:
    text = "".join(f"## S{n}\n\nText {n}.\n\n" for n in range(10_000))
    sections = analyzed(text).sections
    assert len(sections) == 10_001
    assert sections.path(9_999, 9_999) == ("S9998",)
    assert sections.path(1, 10_000) == ()


def test_sections_cover_the_text_without_gap_or_overlap() -> None:
    sections = analyzed(GUIDE).sections
    assert sections.start[0] == 0
    assert sections.end[-1] == len(GUIDE)
    assert (sections.start[1:] == sections.end[:-1]).all()
    assert sections.at(np.array([0, len(GUIDE) - 1])).tolist() == [0, len(sections) - 1]


def test_a_byte_order_mark_hides_no_heading() -> None:
    for text, format in (
        ("\ufeff# Title\n\nText.\n", "markdown"),
        ("\ufeffCHAPTER I\n\nText.\n", "text"),
    ):
        analyzed = Analyzed(Document("x", text, format=format))
        assert len(analyzed.sections.paths[-1]) == 1
        assert not analyzed.sections.paths[-1][0].startswith("\ufeff")
        (chunk,) = get_strategy("sections").chunks(analyzed)
        assert chunk.start == 0


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GUIDE)), st.integers(0, 40)), max_size=12))
def test_a_path_does_not_depend_on_what_was_asked_before(spans: list[tuple[int, int]]) -> None:
    one = analyzed(GUIDE).sections
    for start, size in spans:
        assert one.section(start, start + size) == analyzed(GUIDE).section(start, start + size)

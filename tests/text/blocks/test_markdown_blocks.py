"""Markdown blocks: golden cases for every kind, and markdown-it-py as the independent reader."""

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chunkwise.core import Block
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.blocks.markdown import markdown_blocks
from chunkwise.text.characters import CharacterArrays
from how_many import examples
from tables import cases

JUDGE = MarkdownIt("commonmark").enable("table")


def blocks(text: str) -> list[Block]:
    return list(markdown_blocks(Lines(CharacterArrays(text))))


def shown(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks(text)]


GOLDEN = {
    "headings": ("# One\n## Two ##\n###### Six", [
        ("heading", "# One"), ("heading", "## Two ##"), ("heading", "###### Six")]),
    "a heading needs a space": ("#hashtag\n\n####### seven", [
        ("paragraph", "#hashtag"), ("paragraph", "####### seven")]),
    "an empty heading": ("#\n\ntext", [("heading", "#"), ("paragraph", "text")]),
    "Setext": ("One\n===\n\nTwo\nlines\n---\n\ntext", [
        ("heading", "One\n==="), ("heading", "Two\nlines\n---"), ("paragraph", "text")]),
    "rules": ("one\n\n---\n\n* * *\n___\ntwo", [("paragraph", "one"), ("paragraph", "two")]),
    "HTML headings": ("<h2 id='x'>Two</h2>\n\n<header>no</header>", [
        ("heading", "<h2 id='x'>Two</h2>"), ("paragraph", "<header>no</header>")]),
    "paragraphs": ("one\ntwo\n\n  three", [("paragraph", "one\ntwo"), ("paragraph", "three")]),
    "a heading ends a paragraph": ("one\n# Two\nthree", [
        ("paragraph", "one"), ("heading", "# Two"), ("paragraph", "three")]),
    "items": ("- one\n  goes on\n* two\n+ three\n\n  still three\n\nout", [
        ("item", "- one\n  goes on"), ("item", "* two"), ("item", "+ three\n\n  still three"),
        ("paragraph", "out")]),
    "numbered": ("1. one\n2) two\n10. ten", [
        ("item", "1. one"), ("item", "2) two"), ("item", "10. ten")]),
    "a year is no item": ("It was\n1984. Then\n1. item", [
        ("paragraph", "It was\n1984. Then"), ("item", "1. item")]),
    "fences": ("```python\n# no heading\n\nx = 1\n```\ntext", [
        ("code", "```python\n# no heading\n\nx = 1\n```"), ("paragraph", "text")]),
    "tildes": ("~~~\n# no heading\n```\n~~~~\n# Yes", [
        ("code", "~~~\n# no heading\n```\n~~~~"), ("heading", "# Yes")]),
    "two fences": ("```\na\n```\n```\nb\n```", [("code", "```\na\n```"), ("code", "```\nb\n```")]),
    "an open fence": ("text\n\n````\n# code\n```\n- code", [
        ("paragraph", "text"), ("code", "````\n# code\n```\n- code")]),
    "ticks in a line": ("``` a `b` ```\n# Yes", [("paragraph", "``` a `b` ```"), ("heading", "# Yes")]),
    "a fence in a list": ("- one\n\n  ```\n  # no\n  ```\n\n- two", [
        ("item", "- one"), ("code", "```\n  # no\n  ```"), ("item", "- two")]),
    "indented code": ("text\n\n    # code\n\n    - code\n\ntext", [
        ("paragraph", "text"), ("code", "    # code\n\n    - code"), ("paragraph", "text")]),
    "indented items after prose": ("::: name\n    members:\n        - one\n        - two", [
        ("paragraph", "::: name\n    members:\n        - one\n        - two")]),
    "tables": ("| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\ntext", [
        ("header", "| a | b |\n|---|:-:|"), ("row", "| 1 | 2 |"), ("row", "| 3 | 4 |"),
        ("paragraph", "text")]),
    "tables without outer pipes": ("a | b\n--- | ---\n1 | 2", [
        ("header", "a | b\n--- | ---"), ("row", "1 | 2")]),
    "a delimiter row among the rows": ("| a |\n|---|\n|---|\n| b |", [
        ("header", "| a |\n|---|"), ("row", "|---|"), ("row", "| b |")]),
    "pipes alone are no table": ("a | b\nc | d", [("paragraph", "a | b\nc | d")]),
    "front matter": ("---\ntitle: x\n# no heading\n---\n# Yes", [
        ("code", "---\ntitle: x\n# no heading\n---"), ("heading", "# Yes")]),
    "comments": ("<!--\n# no\n\n- no\n```\n-->\n# Yes", [
        ("paragraph", "<!--\n# no"), ("paragraph", "- no\n```\n-->"), ("heading", "# Yes")]),
    "comments in code": ("```\n<!--\n```\n# Yes", [("code", "```\n<!--\n```"), ("heading", "# Yes")]),
    "a fence in a quote": ("> say:\n>\n> ```rust\n> fn a() {\n>\n> }\n> ```\n> more", [
        ("paragraph", "> say:\n>"), ("code", "> ```rust\n> fn a() {\n>\n> }\n> ```"),
        ("paragraph", "> more")]),
    "a fence ends with its quote": (">```\n> # no\n# Yes\n\n   > > ~~~\n>> b\n> c\n\n```\nd\n```", [
        ("code", ">```\n> # no"), ("heading", "# Yes"), ("code", "> > ~~~\n>> b"), ("paragraph", "> c"),
        ("code", "```\nd\n```")]),
    "a fence in a quote ends behind as many marks": ("> ```\n> > ```\n> ~~~\n> ``\n> ````\n> out", [
        ("code", "> ```\n> > ```\n> ~~~\n> ``\n> ````"), ("paragraph", "> out")]),
    "a fence around quotes": ("```\n> ```\n> a\n```\n# Yes", [
        ("code", "```\n> ```\n> a\n```"), ("heading", "# Yes")]),
    "ticks in a quoted line": ("> ``` a `b` ```\n> c", [("paragraph", "> ``` a `b` ```\n> c")]),
    "tables in a quote": ("> | a | b |\n> |---|---|\n> | 1 | 2 |\n| 3 |\n\n> | c |\n>\n> |--|\n", [
        ("header", "> | a | b |\n> |---|---|"), ("row", "> | 1 | 2 |"), ("paragraph", "| 3 |"),
        ("paragraph", "> | c |\n>\n> |--|")]),
    "an arrow is no quoted table": ("> a | b\n> -> |", [("paragraph", "> a | b\n> -> |")]),
    "quotes": ("> # quoted\n> text", [("paragraph", "> # quoted\n> text")]),
    "CRLF": ("# One\r\n\r\ntext\r\nmore\r\n\r\n- a\r\n- b\r\n", [
        ("heading", "# One"), ("paragraph", "text\r\nmore"), ("item", "- a"), ("item", "- b")]),
    "tabs": ("#\tOne\n\n-\titem\n\n\tgoes on\n\n1.\tone", [
        ("heading", "#\tOne"), ("item", "-\titem\n\n\tgoes on"), ("item", "1.\tone")]),
}  # fmt: skip


@cases("name", GOLDEN)
def test_blocks_of(name: str) -> None:
    text, expected = GOLDEN[name]
    assert shown(text) == expected


def test_levels() -> None:
    text = "# A\n### C\nB\n---\nA\n===\n<h4>D</h4>\n###### F"
    assert [block.level for block in blocks(text)] == [1, 3, 2, 1, 4, 6]


def test_nesting_and_groups() -> None:
    found = blocks("- a\n  - b\n    - c\n- d\n\ntext\n\n1. e\n\n|x|\n|-|\n|y|")
    items = [block for block in found if block.kind == "item"]
    assert [block.level for block in items] == [0, 1, 2, 0, 0]
    assert len({block.group for block in items[:4]}) == 1
    assert items[4].group != items[0].group
    header, row = found[-2:]
    assert header.group == row.group != items[4].group


def test_a_heading_at_the_very_end() -> None:
    assert shown("text\n\n# End")[-1] == ("heading", "# End")


def test_ten_thousand_headings() -> None:
    text = "".join(f"{'#' * (1 + n % 6)} Heading {n}\n" for n in range(10_000))
    found = blocks(text)
    assert len(found) == 10_000
    assert [block.level for block in found[:7]] == [1, 2, 3, 4, 5, 6, 1]


def test_quote_marks_and_fences_in_numbers() -> None:
    assert shown(">" * 200_000 + "```\n# Yes")[1:] == [("heading", "# Yes")]
    assert shown("> " * 100_000 + "| a\n> b")[0][0] == "paragraph"
    found = shown("> ```\n" * 20_001)
    assert len(found) == 10_001
    assert found[-1] == ("code", "> ```")
    assert len(shown(">> ```\n> ```\n" * 5_000)) == 5_000


@cases(
    "text", ["", "\n", "\n\n\n", " ", "\x00", "\ud800", "#", "-", "`", "```", "|", "---", "<!--"]
)
def test_the_smallest_texts(text: str) -> None:
    for block in blocks(text):
        assert 0 <= block.start < block.end <= len(text)


WORDS = st.text("abcdefg ", min_size=1, max_size=20).map(lambda text: f"w{text.rstrip()}")
ATX = st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 7), WORDS)
SETEXT = st.builds(
    lambda text, sign, size: f"{text}\n{sign * size}",
    WORDS,
    st.sampled_from("=-"),
    st.integers(3, 9),
)
PROSE = st.lists(
    WORDS | WORDS.map("#{}".format) | WORDS.map("{} | x".format), min_size=1, max_size=3
).map("\n".join)
FENCE = st.builds(
    lambda sign, size, info, body: "\n".join([sign * size + info, *body, sign * size]),
    st.sampled_from("`~"), st.integers(3, 5), st.sampled_from(["", "py", " sh x"]),
    st.lists(st.sampled_from(["# c", "- c", "", "    x", "| a |", "|---|", "``", "~~", "<!--"]), max_size=4),
)  # fmt: skip
LIST = st.builds(
    lambda bullet, texts: "\n".join(bullet.format(n) + text for n, text in enumerate(texts, 1)),
    st.sampled_from(["- ", "* ", "+ ", "{}. ", "{}) "]), st.lists(WORDS, min_size=1, max_size=4),
)  # fmt: skip
OUTER = st.sampled_from(["| {} |", "{}"])
TABLE = st.builds(
    lambda outer, columns, rows: "\n".join(
        outer.format(" | ".join([cell] * columns)) for cell in ["h", "---", *["c"] * rows]
    ),
    OUTER, st.integers(2, 4), st.integers(0, 3),
)  # fmt: skip
QUOTED = st.builds(
    lambda marks, block, last: "\n".join(
        marks + line for line in [*block.splitlines()[:-1], last or block.splitlines()[-1]]
    ),
    st.sampled_from(["> ", ">", "> > ", ">>", "  > "]), FENCE | TABLE | PROSE, st.sampled_from(["", "open"]),
)  # fmt: skip
RULE = st.sampled_from(["***", "- - -", "___"])
TEXTS = st.lists(
    ATX | SETEXT | PROSE | FENCE | LIST | TABLE | QUOTED | RULE, min_size=1, max_size=8
)


@settings(max_examples=examples(75), deadline=None)
@given(TEXTS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_headings_fences_tables_and_items_are_where_markdown_it_sees_them(
    parts: list[str], newline: str, ends: bool
) -> None:
    text = ("\n\n".join(parts) + "\n" * ends).replace("\n", newline)
    lines = Lines(CharacterArrays(text))
    ours: dict[str, list[tuple[int, int]]] = {
        "heading": [],
        "fence": [],
        "table": [],
        "list_item": [],
    }
    names = {"heading": "heading", "code": "fence", "header": "table", "item": "list_item"}
    for block in markdown_blocks(lines):
        if block.kind in names:
            line = int(lines.start.searchsorted(block.start, "right")) - 1
            last = int(lines.start.searchsorted(block.end, "left")) - 1
            end = last if block.kind == "code" else block.level
            ours[names[block.kind]].append((line, end))
    theirs: dict[str, list[tuple[int, int]]] = {kind: [] for kind in ours}
    for token in JUDGE.parse(text):
        kind = token.type.removesuffix("_open")
        if kind in theirs and token.map and (token.nesting == 1 or kind == "fence"):
            level = int(token.tag[1]) if kind == "heading" else 0
            end = token.map[1] - 1 if kind == "fence" else level
            theirs[kind].append((token.map[0], end))
    assert ours == theirs

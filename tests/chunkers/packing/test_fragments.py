"""Fragments: numbers, lead-ins, fences and quotes stay with what they belong to where the limit allows."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.packing.cuts import NONE, ArrayCuts
from chunkwise.chunkers.packing.fragments import Fragments, without_fragments
from chunkwise.core import Chunk, Document
from chunkwise.metrics.cuts.boundary_issues import find_issues
from chunkwise.testkit import check_chunks
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from tables import cases
from untimed import is_linear

PROSE = "The keeper climbed the stairs and lit the lamp, as he did every evening of the year. "
STEPS = (
    "Login has these steps: 1. User submits the form with a password over TLS. 2. Server validates it and looks "
    "up the account. 3. A session starts and a cookie is set. 4. User sees the page that was asked for. "
)
CUTTERS = ["sentences", "sections", "recursive", "structure", "paragraphs"]


def chunks_of(text: str, strategy: str, format: str = "text", language: str = "") -> list[Chunk]:
    document = Document("x", text, format=format, language=language)
    return list(get_strategy(strategy).chunks(document))


def issues(text: str, chunks: list[Chunk], format: str = "text") -> set[str]:
    return {
        issue.kind for issue in find_issues(Analyzed(Document("x", text, format=format)), chunks)
    }


@cases("limit", range(16, 60, 3))
@cases("cutter", CUTTERS)
def test_a_number_is_never_torn_from_its_item(cutter: str, limit: int) -> None:
    chunks = chunks_of(STEPS * 3, f"{cutter}(max_tokens={limit}, overlap=0)")
    assert len(chunks) > 2
    assert not [chunk.text for chunk in chunks if chunk.text.endswith(("1.", "2.", "3.", "4."))]


@cases("mark", ["1. 2. 3.", "1) 2) 3)", "(a) (b) (c)", "(i) (ii) (iii)", "I. II. III."])
def test_numbers_of_every_kind_open_their_items(mark: str) -> None:
    one, two, three = mark.split()
    text = f"{PROSE}{one} Open it wide. {two} Close it again. {three} Go home at last."
    chunks = chunks_of(text, "sentences(max_tokens=10, overlap=0)")
    assert [chunk.text for chunk in chunks][-3:] == [
        f"{one} Open it wide.", f"{two} Close it again.", f"{three} Go home at last.",
    ]  # fmt: skip


LIST = "\n".join(f"- step {number} of the work at hand" for number in range(6))
CODE = "```python\n" + "\n".join(f"value_{number} = {number}" for number in range(8)) + "\n```"
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"


@cases("led", [LIST, CODE, TABLE])
@cases("before", range(1, 9))
@cases("cutter", CUTTERS)
def test_a_lead_in_stays_with_what_it_leads_in(cutter: str, before: int, led: str) -> None:
    text = f"{PROSE * before}\n\nThe following steps:\n\n{led}\n\n{PROSE}"
    chunks = chunks_of(text, f"{cutter}(max_tokens=90, overlap=0)", "markdown")
    assert "orphan_lead_in" not in issues(text, chunks, "markdown")


@cases("cutter", ["structure", "paragraphs"])
def test_the_last_sentence_of_a_long_paragraph_goes_with_its_list(cutter: str) -> None:
    text = f"{PROSE * 4}The steps are these:\n\n{LIST}"
    chunks = chunks_of(text, f"{cutter}(max_tokens=90)", "markdown")
    assert [chunk.text for chunk in chunks] == [
        (PROSE * 4).strip(),
        f"The steps are these:\n\n{LIST}",
    ]


@cases("cutter", ["structure", "paragraphs"])
def test_a_list_that_fits_alone_is_not_cut_for_its_lead_in(cutter: str) -> None:
    lead = f"{PROSE.strip(' .')}, and these were his steps, one after the other:"
    text = f"{lead}\n\n{LIST}"
    size = chunks_of(LIST, "structure", "markdown")[0].token_count
    chunks = chunks_of(text, f"{cutter}(max_tokens={size + 5})", "markdown")
    assert [chunk.text for chunk in chunks] == [lead, LIST]
    assert issues(text, chunks, "markdown") == {"orphan_lead_in"}  # and it is told


@cases("limit", range(20, 60, 5))
@cases("cutter", CUTTERS)
def test_where_the_layout_is_declared_marks_are_text(cutter: str, limit: int) -> None:
    cuts = []
    for mark in "-=":
        text = f"{PROSE}\n\nHe asked her:\n\n{mark} {PROSE * 2}\n\n{PROSE}"
        document = Document("x", text, format="html", blocks=())
        chunks = get_strategy(f"{cutter}(max_tokens={limit}, overlap=0)").chunks(document)
        cuts.append([(chunk.start, chunk.end) for chunk in chunks])
    assert cuts[0] == cuts[1]


@cases("limit", range(14, 60, 5))
@cases("cutter", CUTTERS)
def test_no_chunk_is_a_fence_alone(cutter: str, limit: int) -> None:
    text = f"{PROSE}\n\n{CODE}\n\n{PROSE}\n\n{CODE}"
    chunks = chunks_of(text, f"{cutter}(max_tokens={limit}, overlap=0)", "markdown")
    assert not [chunk.text for chunk in chunks if not any(map(str.isalnum, chunk.text))]
    assert not [chunk.text for chunk in chunks if chunk.text.strip() == "```python"]


LITERAL = (
    "{\n  type: 'document',\n  children: [\n    {\n"
    "      level: 1,\n      line: { start: 1, end: 2 }\n    }\n  ],\n  done: true\n}"
)
OTHER_FENCES = [
    ("org", "#+BEGIN_SRC javascript\n", "\n#+END_SRC"),
    ("asciidoc", "[source, javascript]\n----\n", "\n----"),
    ("tex", "\\begin{verbatim}\n", "\n\\end{verbatim}"),
]


@cases("limit", range(22, 70, 6))
@cases("format, opening, closing", OTHER_FENCES)
@cases("cutter", ["structure", "paragraphs", "sections"])
def test_no_other_markup_leaves_a_fence_alone(
    cutter: str, format: str, opening: str, closing: str, limit: int
) -> None:
    block = f"{opening}{LITERAL}{closing}"
    text = f"{PROSE}\n\n{block}\n\n{PROSE}\n\n{block}\n"
    chunks = chunks_of(text, f"{cutter}(max_tokens={limit}, overlap=0)", format)
    fences = {each.strip() for line in (opening, closing) for each in (line, *line.split("\n"))}
    assert not [chunk.text for chunk in chunks if chunk.text.strip() in fences]


@cases("limit", range(24, 70, 4))
def test_no_chunk_of_code_in_a_text_is_brackets_alone(limit: int) -> None:
    text = f"{PROSE}\n\n```js\n{LITERAL}\n```\n\n{PROSE}"
    chunks = chunks_of(text, f"structure(max_tokens={limit})", "markdown")
    assert "only_marks" not in issues(text, chunks, "markdown")


def test_a_paragraph_of_marks_goes_with_the_one_before() -> None:
    text = "/// note\n\nMind the step.\n\n///\n\nThe lamp was lit."
    chunks = chunks_of(text, "paragraphs", "markdown")
    assert [chunk.text for chunk in chunks] == [
        "/// note",
        "Mind the step.\n\n///",
        "The lamp was lit.",
    ]


DOCSTRING = '''def light(lamp):
    """
    Lights a lamp and says so.

    It takes a lamp, and nothing else, and leaves it burning until morning.
    """
    lamp.on = True
    return lamp
'''


@cases("limit", range(12, 60, 4))
@cases("language", ["python", "unknown"])
def test_no_chunk_of_code_is_quotes_or_brackets_alone(language: str, limit: int) -> None:
    text = (DOCSTRING + "\n\nVALUES = [\n    1,\n    2,\n]\n\n\n") * 3
    chunks = chunks_of(text, f"code(max_tokens={limit})", "code", language)
    assert not [chunk.text for chunk in chunks if not any(map(str.isalnum, chunk.text))]


PARTS = st.sampled_from(
    ["Take these:", "- one", "- two\n\n", "```", "~~~", "\n", "\n\n", "1. Open. ", "2. Close. ", "(a) x ", "(b) y",
     "///", '"""', "word ", "# T\n", "| a | b |\n|---|---|\n| 1 | 2 |", "   "]
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(PARTS, max_size=14).map("".join), st.sampled_from(["markdown", "text", "code"]), st.randoms()
)  # fmt: skip
def test_a_level_keeps_the_cuts_that_leave_no_fragment(
    text: str, format: str, chance: random.Random
) -> None:
    document = Analyzed(Document("x", text, format=format))
    bound = Fragments(document).bound
    # Levels cut before white space or behind it, once a gap.
    behind = chance.random() < 0.5
    places = [at for at in range(1, len(text)) if chance.random() < 0.7]
    spaced = [each.isspace() for each in text]
    places = [at for at in places if spaced[at - 1] == behind and not (behind and spaced[at])]
    kept = [at for at in places if not bound(at)]
    level = ArrayCuts(lambda: np.array(places, np.int64))
    (whole,) = without_fragments(document, [level])
    for low in range(-1, len(text), 3):
        for high in range(low + 1, len(text) + 1, 4):
            inside = [at for at in kept if low < at <= high]
            assert whole.last(low, high) == max(inside, default=NONE)
            before = [at for at in inside if at < high]
            assert whole.first(low, high) == min(before, default=NONE)
    # What is bound is bound in white space as a whole, whatever was asked before.
    for at in places:
        gap = Fragments(document).bound(at)
        assert gap == bound(at)
        if gap:
            assert gap[0] <= at <= gap[1]
            assert not text[gap[0] : gap[1]].strip()


@pytest.mark.parametrize("cutter", [*CUTTERS, "code"])
@settings(max_examples=examples(30), deadline=None)
@given(parts=st.lists(PARTS, max_size=40), limit=st.integers(1, 40))
def test_the_contract_holds_whatever_stays_together(
    cutter: str, parts: list[str], limit: int
) -> None:
    text, format = "".join(parts), "code" if cutter == "code" else "markdown"
    document, made = (
        Document("x", text, format=format),
        get_strategy(f"{cutter}(max_tokens={limit})"),
    )
    check_chunks(document, list(made.chunks(document)), limit=made.limit)


@cases(
    "unit",
    ["1. Open it. 2. Close it. ", "Take these:\n\n- one\n\n", "```\n}\n```\n", "///\n\n", "a) b) ", "}\n", '"""\n'],
)  # fmt: skip
@cases("cutter", ["recursive", "structure", "sentences", "code"])
def test_what_stays_together_is_found_in_linear_time(cutter: str, unit: str) -> None:
    made = get_strategy(f"{cutter}(max_tokens=50)")
    format = "code" if cutter == "code" else "markdown"

    def work(size: int) -> None:
        list(made.chunks(Document("x", unit * size, format=format)))

    is_linear(work, 200)


CLASS = "class {0}:\n    lamp = '{0}'\n\n    def light(self):\n        self.lit = True\n"
BANNER = "#### Part {0} ####\n\n"


@cases("language", ["python", "unknown"])
@cases("limit", range(40, 130, 7))
def test_a_banner_goes_with_what_it_heads(language: str, limit: int) -> None:
    text = "\n\n".join(BANNER.format(name) + CLASS.format(name) for name in "ABCDEF")
    chunks = chunks_of(text, f"code(max_tokens={limit})", "code", language)
    assert len(chunks) > 1
    assert not [chunk.text for chunk in chunks if chunk.text.endswith("####")]


def test_a_comment_right_below_a_class_does_not_go_with_the_next() -> None:
    text = f"{CLASS.format('A')}# The end of A.\n\n\n{CLASS.format('B')}"
    chunks = chunks_of(text, "code(max_tokens=38)", "code", "python")
    assert [chunk.text.splitlines()[0] for chunk in chunks] == ["class A:", "class B:"]

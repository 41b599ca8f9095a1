"""Cuts at separators against every position looked at by itself."""

from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy, recursive
from chunkwise.chunkers.packing.cuts import NONE, CutLevel, NearCuts
from chunkwise.chunkers.recursive import SeparatorPositions, separator_cuts
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.graphemes import Graphemes
from how_many import examples

PIECES = [
    "a",
    "b. ",
    "\n",
    "\n\n",
    "\r\n",
    "\n# ",
    "\n## ",
    "#",
    " ",
    ". ",
    ".",
    "。",
    "e\u0301",
    "\u0301",
    "\u0600",
    "👨‍👩‍👧",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
SEPARATORS = [
    "\n",
    "\n\n",
    "\r\n\r\n",
    "\n# ",
    "\n## ",
    "\n#",
    " ",
    ". ",
    ".\n",
    "。",
    "..",
    "\n\n\n",
]
LEVELS = st.lists(st.sampled_from(SEPARATORS), min_size=1, max_size=4, unique=True)


def all_cuts(document: Analyzed, separators: list[str]) -> list[int]:
    """White space goes to the next piece, a sign stays with what it ends; no grapheme is cut."""
    text = document.text
    cuts = {
        start + (0 if separator[0].isspace() else len(separator.rstrip()))
        for separator in separators
        for start in range(len(text))
        if text.startswith(separator, start)
    }
    return sorted(cut for cut in cuts if document.graphemes.is_break(cut))


@pytest.mark.parametrize("refused", [None, 0, 1, 1000])
@settings(max_examples=examples(60), deadline=None)
@given(TEXTS, st.lists(LEVELS, min_size=1, max_size=3), st.data())
def test_cuts_are_those_of_every_position(
    refused: int | None, text: str, levels: list[list[str]], data: st.DataObject
) -> None:
    document = Analyzed(Document("x", text))
    graphemes = document.graphemes
    places = SeparatorPositions(document.characters, [(*each,) for each in levels])
    before, behind = st.integers(-1, len(text) + 1), st.integers(0, len(text) + 1)
    for separators in levels:
        expected = all_cuts(document, separators)
        cuts: CutLevel = separator_cuts(places, separators, graphemes)
        if refused is not None:
            cuts = NearCuts(text, separators, graphemes, refused=refused)
        # Asked in any order: what is remembered of one question must not answer another.
        for low, high in data.draw(st.lists(st.tuples(before, behind), max_size=12)):
            inside = [cut for cut in expected if low < cut < high]
            assert cuts.first(low, high) == (inside[0] if inside else NONE)
            inside = [cut for cut in expected if low < cut <= high]
            assert cuts.last(low, high) == (inside[-1] if inside else NONE)


def test_separators_inside_characters_are_not_met_again_for_every_chunk() -> None:
    text = "a\r\n" * 20_000
    breaks = Counting(Analyzed(Document("x", text)).characters)
    cuts = NearCuts(text, ["\n"], breaks)
    for low in range(0, len(text), 300):
        assert cuts.last(low, low + 900) == NONE
        assert cuts.first(low, len(text)) == NONE
    assert breaks.asked < 2000


class Counting(Graphemes):
    """Counts the places it was asked about one by one."""

    asked = 0

    def is_break(self, position: int) -> bool:
        self.asked += 1
        return super().is_break(position)


def test_a_text_is_searched_once_for_what_is_not_there() -> None:
    text = Counted("word " * 2000)
    cuts = NearCuts(text, ["\t"], Analyzed(Document("x", "word")).graphemes)
    for low in range(0, 10_000, 10):
        assert cuts.first(low, 10_000) == NONE
    assert text.searched <= 2 * len(text)


class Counted(str):
    """Counts the characters that `find` may have looked at."""

    searched = 0

    def find(self, wanted: str, start: int = 0, stop: int = 0) -> int:  # type: ignore[override]
        self.searched += max(stop - start, 0)
        return super().find(wanted, start, stop)


FRAGMENTS = [
    *PIECES, "Take these:\n\n- one\n", "1. Open it. 2. Close it. ", "3.  two spaces ", "```\nx\n```\n", "Note:\n```\n",
    "in 2019. ", "some words more ", "(a) first (b) second ", "Short one. ", "x:\n\n|a|\n",
]  # fmt: skip


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("format", ["markdown", "text", "table"])
@pytest.mark.parametrize("tokenizer", ["characters", "o200k_base"])
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.sampled_from(FRAGMENTS), min_size=5, max_size=60).map("".join),
    st.lists(st.tuples(st.integers(2, 60), st.integers(0, 20)), min_size=1, max_size=3),
)
def test_a_long_text_is_cut_like_a_short_one_and_an_analysis_can_be_shared(
    tokenizer: str, format: str, text: str, sizes: list[tuple[int, int]]
) -> None:
    document = Document("x", text, format=format)

    def spans(*analyses: Analyzed) -> list[tuple[int, int, int]]:
        """Of several sizes, each with its own analysis or all with one."""
        return [
            (chunk.start, chunk.end, chunk.token_count)
            for (size, overlap), analyzed in zip(sizes, cycle(analyses), strict=False)
            for chunk in get_strategy(
                "recursive", max_tokens=size, overlap=min(overlap, size - 1), tokenizer=tokenizer
            ).chunks(analyzed)
        ]

    expected = spans(*(Analyzed(document) for _ in sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recursive, "_SHORT", 0)
        assert spans(Analyzed(document)) == expected

"""Filling chunks: as a plain reading fills them, and stretches taken whole as filling one by one does."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.packing.cuts import ArrayCuts, CutLevel, clause_levels, sentence_levels
from chunkwise.chunkers.packing.packer import Packer
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.chunkers.structure import StructureChunker
from chunkwise.core import Document, Piece
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from tables import cases
from untimed import lines_run

PIECES = [
    "One sentence here. Another one; with, clauses.", "word", "a" * 60, "e\u0301", "👨‍👩‍👧", "\u0600", "文字",
    "# Title", " ", "\n", "\n\n", "\n\n\n\n\n\n", " " * 40, "\r\n\r\n", "\t", "\u00a0", "\u200d", "- item",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)


def naive(
    text: str, levels: list[list[int]], limit: int, nested: bool, apart: int, back: int
) -> Iterator[tuple[int, int]]:
    """Chunks of so many characters, each cut sought among all of them; no overlap across levels kept apart."""
    every = [*levels, list(range(1, len(text)))]
    last: tuple[int, int] | None = None

    def trimmed(start: int, end: int) -> int:
        return start + len(text[start:end].rstrip())

    def solid(at: int, end: int) -> int:
        return end - len(text[at:end].lstrip())

    def repeated(level: int, fresh: int, stop: int, floor: int) -> Iterator[int]:
        """Starts that repeat the end of the last chunk, from the best level, and as much as may be."""
        if not back or last is None or fresh <= floor or level < apart:
            return
        following = min([cut for cut in every[level] if fresh < cut < stop], default=stop)
        room = trimmed(fresh, following) - limit
        for low in (max(fresh - back, floor, last[0] + 1, room),):
            for cuts in every[level:-1]:
                starts = [cut for cut in cuts if low <= cut < last[1]]
                yield from (start for start in starts[:3] if fits(solid(start, fresh), following))

    def fits(start: int, end: int) -> bool:
        return trimmed(start, end) - start <= limit

    def fill(fresh: int, stop: int, level: int, floor: int) -> Iterator[tuple[int, int]]:
        nonlocal last
        while (fresh := solid(fresh, stop)) < stop:
            deepest = level
            while True:
                own = [cut for cut in every[deepest] if fresh < cut < stop] + [stop]
                own = own[:1] if deepest < apart else own
                ends = [end for end in own if fits(fresh, end)]
                if ends or nested:
                    break
                deepest += 1
            if ends:
                starts = [solid(at, fresh) for at in repeated(deepest, fresh, stop, floor)]
                start = next(iter(starts), fresh)
                end = max(end for end in own if fits(start, end))
                last = (start, trimmed(start, end))
                yield last
                fresh = end
            else:
                deeper = next(
                    at for at in range(level + 1, len(every))
                    if at + 1 == len(every) or any(fresh < cut < own[0] for cut in every[at])
                )  # fmt: skip
                yield from fill(fresh, own[0], deeper, fresh if level < apart else floor)
                fresh = own[0]

    return fill(0, len(text), 0, 0)


@settings(max_examples=examples(400), deadline=None)
@given(
    st.lists(st.sampled_from(["a", "bc", "def", " ", "  ", "\n\n", "     ", "ghijklm"]), max_size=24).map("".join),
    st.lists(st.lists(st.integers(1, 60), max_size=12, unique=True).map(sorted), max_size=3),
    st.integers(1, 14), st.booleans(), st.integers(0, 1), st.sampled_from([0, 0, 3, 6]),
)  # fmt: skip
def test_chunks_are_those_of_a_plain_reading(
    text: str, cuts: list[list[int]], limit: int, nested: bool, apart: int, back: int
) -> None:
    levels = [[cut for cut in own if cut < len(text)] for own in cuts]
    apart, back = apart if nested else 0, back if back < limit else 0
    assert packed(text, levels, limit, nested, apart, back) == [
        Piece(*each, "", each[1] - each[0])
        for each in naive(text, levels, limit, nested, apart, back)
    ]


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from([" ", " ", "  ", ". ", "\n\n"])), min_size=2, max_size=16),
    st.integers(4, 16), st.booleans(), st.integers(1, 9),
)  # fmt: skip
def test_what_is_repeated_is_as_much_as_has_room(
    words: list[tuple[int, str]], limit: int, nested: bool, back: int
) -> None:
    """Of sentences, or else of words."""
    text = "".join("x" * size + gap for size, gap in words)
    starts = [at for at in range(1, len(text)) if text[at - 1].isspace() and not text[at].isspace()]
    levels = [[at for at in starts if text[at - 2] in ".\n"], starts]
    back = min(back, limit - 1)
    assert packed(text, levels, limit, nested, 0, back) == [
        Piece(*each, "", each[1] - each[0]) for each in naive(text, levels, limit, nested, 0, back)
    ]


def packed(
    text: str, levels: list[list[int]], limit: int, nested: bool, apart: int, back: int
) -> list[Piece]:
    found: list[CutLevel] = [ArrayCuts(lambda own=own: np.array(own, np.int64)) for own in levels]  # type: ignore[misc]
    document = Analyzed(Document("x", text))
    packer = Packer(
        document, document.measure("characters"), limit, lambda _: found, nested=nested, apart=apart,
        overlap_from=(lambda fresh: max(fresh - back, 0)) if back else None,
    )  # fmt: skip
    return packer.pack(0, len(text))


@pytest.mark.parametrize("tokenizer", ["characters", "o200k_base"])
@pytest.mark.parametrize(("format", "overlap"), [("text", 0), ("text", 5), ("code", 0)])
@settings(max_examples=examples(30), deadline=None)
@given(TEXTS, st.integers(6, 60), st.booleans(), st.booleans())
def test_stretches_at_once_are_stretches_one_by_one(
    tokenizer: str, format: str, overlap: int, text: str, limit: int, nested: bool, alone: bool
) -> None:
    def packer(document: Analyzed) -> Packer:
        sized = SizedChunker(max_tokens=limit, overlap=overlap, tokenizer=tokenizer)
        levels = [ArrayCuts(lambda: document.paragraphs), *sentence_levels(document)]
        return sized.packer(document, lambda _: [*levels, *clause_levels(document)], nested=nested)

    document = Analyzed(Document("x", text, format=format))
    starts = document.paragraphs
    floors = starts if alone else document.sections.start[document.sections.at(starts)]
    at_once = packer(document).pack_each(starts, floors)
    one = packer(document)
    spans = zip(pairwise([*starts.tolist(), len(text)]), floors.tolist(), strict=True)
    assert at_once == [p for (start, end), floor in spans for p in one.pack(start, end, floor)]


@pytest.mark.parametrize(("strategy", "opening"), [("paragraphs", ""), ("sections", "# Title\n")])
def test_what_fits_is_not_filled_piece_by_piece(
    monkeypatch: pytest.MonkeyPatch, strategy: str, opening: str
) -> None:
    monkeypatch.delattr(Packer, "pack")
    parts = [f"{opening}Paragraph {number}." for number in range(50)]
    document = Document("x", "\n\n".join(parts) + "\n", format="markdown")
    chunks = list(get_strategy(strategy).chunks(document))
    assert [chunk.text for chunk in chunks] == parts
    assert all(chunk.token_count > 0 for chunk in chunks)


@cases("strategy", ["sentences", "paragraphs", "recursive", "sections", "structure"])
@cases("gap", [" ", "\n\n", "  \n\n\n ", "\n" * 40])
def test_what_fits_to_the_character_is_taken_in(strategy: str, gap: str) -> None:
    """White space behind a chunk is trimmed: it takes no room."""
    first = "Abcd efgh. Ijkl mnop."
    text = gap.join([first, "Qrst uvwx. Yzab cdef.", "End."])
    made = get_strategy(strategy, max_tokens=len(first), overlap=0, tokenizer="characters")
    chunks = list(made.chunks(Document("x", text)))
    assert [chunk.text for chunk in chunks][:2] == [first, "Qrst uvwx. Yzab cdef."]


CLAUSES = [
    *PIECES, "Short one. ", "It rains; still, we go. ", "He said: wait, for now. ", "No.\n\n", "(a) one, (b) two. ",
]  # fmt: skip
CLAUSE_TEXTS = st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=40).map("".join)


@settings(max_examples=examples(60), deadline=None)
@given(CLAUSE_TEXTS, st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=30))
def test_spans_counted_together_have_the_size_of_each_by_itself(
    text: str, places: list[tuple[int, int]]
) -> None:
    spans = [(min(pair) % (len(text) + 1), max(pair) % (len(text) + 1)) for pair in places]
    spans = [(min(pair), max(pair)) for pair in spans]
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    for tokenizer in ("o200k_base", "cl100k_base", "words", "characters"):
        measure = Analyzed(Document("x", text)).measure(tokenizer)
        counted = measure.counts(starts, ends).tolist()
        assert counted == [measure.tokenizer.count(text[start:end]) for start, end in spans]


def test_tiny_chunks_take_little_work_each() -> None:
    document = Analyzed(Document("x", "a\n\n" * 20_000))
    chunker = StructureChunker(max_tokens=1)
    chunker.split(document)  # what is found once for a text
    assert lines_run(lambda: chunker.split(document)) < 100 * 20_000


def test_a_tokenizer_that_reads_every_span_anew_reads_few_of_them() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read += 1
        return len(text.split())

    chunks = list(
        get_strategy("structure", max_tokens=1, tokenizer=count).chunks(
            Document("x", "ab\n\n" * 3000)
        )
    )
    assert len(chunks) == 3000
    assert read < 3 * len(chunks)

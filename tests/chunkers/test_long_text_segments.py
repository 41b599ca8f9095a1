"""A text cut segment by segment has the chunks that it has as a whole, to the last column of their rows."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise import Document
from chunkwise.chunkers import get_strategy, strategies
from chunkwise.chunkers.long_text_segments import SegmentSizes, TextSegment, in_segments
from chunkwise.chunkers.write_chunks import ChunkRow, row_of

STRATEGIES = [
    "words(max_words=30, overlap=5)",
    "words(max_words=25)",
    "characters(max_chars=120, overlap=20)",
    "characters(max_chars=100)",
    "tokens(max_tokens=40, overlap=8)",
    "tokens(max_tokens=30)",
    "sentences(max_tokens=50)",
    "sentences(max_tokens=60, overlap_sentences=1, min_tokens=20)",
    "paragraphs(max_tokens=40)",
    "paragraphs(max_tokens=60, merge=true, overlap=10)",
    "recursive(max_tokens=40)",
    "recursive(max_tokens=50, overlap=10, min_tokens=10)",
    "sections(max_tokens=60)",
    "sections(max_tokens=40, overlap_sentences=2, min_tokens=15)",
    "structure(max_tokens=50)",
    "structure(max_tokens=80, overlap=10, min_tokens=20)",
    "parent_child(max_tokens=20, parent_size=80)",
    'parent_child(max_tokens=25, parent="section", parent_size=120)',
]
WORDS = (
    "the keeper of lamp writes down hour wind and height water Every night his father did before him nobody has read "
    "it Ships pass far out none stops here e.g. Dr. Fog (see below) 3.5 km naïve Straße 灯台 📚 l'heure"
).split()


def _sentence(chance: random.Random) -> str:
    words = chance.choices(WORDS, k=chance.randint(3, 25))
    return " ".join(words).capitalize() + chance.choice([".", ".", "?", "!", ":", "。"])


def _paragraph(chance: random.Random) -> str:
    return chance.choice([" ", "\n"]).join(_sentence(chance) for _ in range(chance.randint(1, 6)))


def _block(chance: random.Random) -> str:
    """A block of Markdown."""
    kind = chance.randrange(12)
    if kind < 3:
        return f"{'#' * chance.randint(1, 4)} {' '.join(chance.choices(WORDS, k=3))}"
    if kind == 3:
        marks = [f"{number}. " for number in range(1, 12)] if chance.random() < 0.5 else ["- "] * 11
        return "\n".join(mark + _sentence(chance) for mark in marks[: chance.randint(2, 11)])
    if kind == 4:
        rows = [[chance.choice(WORDS), chance.choice(WORDS)] for _ in range(chance.randint(2, 20))]
        head = "| name | what |\n|---|---|\n"
        return head + "\n".join(f"| {one} | {other} |" for one, other in rows)
    if kind == 5:
        lines = [f"    x{number} = {number}  # a line" for number in range(chance.randint(1, 12))]
        return "\n".join(["```python", *lines, "", "# no heading", "```"])
    if kind == 6:
        return f"{' '.join(chance.choices(WORDS, k=3))}\n-----"
    return _paragraph(chance)


def _markdown(seed: int, blocks: int) -> str:
    chance = random.Random(seed)
    return "\n\n".join(_block(chance) for _ in range(blocks)) + "\n"


def _prose(seed: int, blocks: int) -> str:
    chance = random.Random(seed)
    return "\n\n".join(_paragraph(chance) for _ in range(blocks)) + "\n"


def _segments(document: Document, strategy: str, sizes: SegmentSizes) -> list[TextSegment]:
    text, parts = document.text, iter(range(0, len(document.text), 777))
    head = Document(document.id, "", title=document.title, format=document.format)
    return list(
        in_segments(head, (text[at : at + 777] for at in parts), get_strategy(strategy), sizes)
    )


def _rows(segments: list[TextSegment]) -> list[ChunkRow]:
    return [row_of(chunk, each.place) for each in segments for chunk in each.chunks]


def test_every_strategy_that_says_so_is_among_those_tested() -> None:
    tested = {each.partition("(")[0] for each in STRATEGIES}
    assert tested == {name for name in strategies.builtin if get_strategy(name).in_segments}


def _check(strategy: str, document: Document, segment: int) -> None:
    # Nothing is parted at a place that no trial has shown to be one.
    made = _segments(document, strategy, SegmentSizes(segment, tail=800, most=1000))
    assert _rows(made) == [row_of(chunk) for chunk in get_strategy(strategy).chunks(document)]
    assert len(made) > 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_parts_markdown_and_prose(strategy: str) -> None:
    _check(strategy, Document("d", _markdown(5, 160), format="markdown"), 8_000)
    _check(strategy, Document("d", _prose(5, 80)), 8_000)


@given(
    strategy=st.sampled_from(STRATEGIES),
    seed=st.integers(0, 1 << 30),
    segment=st.integers(6_500, 14_000),
    is_markdown=st.booleans(),
)
def test_segments_have_the_chunks_of_the_whole(
    strategy: str, seed: int, segment: int, is_markdown: bool
) -> None:
    text = _markdown(seed, 160) if is_markdown else _prose(seed, 110)
    document = Document("d", text, format="markdown" if is_markdown else "text")
    _check(strategy, document, min(segment, len(text) // 2))


def test_headings_of_earlier_segments_stand_above_later_ones() -> None:
    text = "# Handbook\n\n## Leave\n\n" + _prose(3, 100)
    document = Document("d", text, format="markdown")
    made = _segments(document, "words(max_words=30)", SegmentSizes(4_000, tail=400))
    assert len(made) > 4
    assert {row["section"] for row in _rows(made)[1:]} == {"Handbook > Leave"}


def test_a_text_that_offers_no_place_to_part_it_is_parted_all_the_same() -> None:
    # One table, whose header stands beside all its rows: no row begins it anew.
    rows = "".join(f"| name {number} | what it is |\n" for number in range(2_500))
    text = f"# Names\n\n| name | what |\n|---|---|\n{rows}"
    document = Document("d", text, format="markdown")
    sizes = SegmentSizes(10_000, tail=1_000, most=2)
    made = _segments(document, "structure(max_tokens=50)", sizes)
    assert max(len(each.chunked.document.text) for each in made) <= 20_000
    found = _rows(made)
    assert [row["index"] for row in found] == list(range(len(found)))
    assert all(row["text"] == text[row["start"] : row["end"]] for row in found)
    said = "".join(row["text"] for row in found)
    assert "".join(said.split()) == "".join(text.split())  # nothing is lost but white space


def test_a_chunk_longer_than_a_segment_makes_it_longer() -> None:
    document = Document("d", _prose(4, 150))
    sizes = SegmentSizes(2_000, tail=100, most=1000)
    made = _segments(document, "words(max_words=120)", sizes)
    assert len(made) > 1
    strategy = get_strategy("words(max_words=120)")
    assert _rows(made) == [row_of(chunk) for chunk in strategy.chunks(document)]


@pytest.mark.parametrize("text", ["", " \n" * 5_000])
def test_a_text_without_a_word_has_no_chunk(text: str) -> None:
    assert _rows(_segments(Document("d", text), "words", SegmentSizes(1_000, tail=50))) == []

"""Memory of chunking one text: a few times its size, however long it is."""

import tracemalloc

import pytest

from chunkwise import Document
from chunkwise.chunkers import get_strategy

PARAGRAPH = (
    "The keeper of the lamp writes down the hour, the wind and the height of the water. He does so every night,\n"
    "as his father did before him; nobody has ever read it. Ships pass far out: none of them stops here.\n\n"
)
MOST = 8
"""Bytes a character of ASCII, the chunks themselves left out."""


def peak(strategy: str, size: int) -> float:
    """Bytes allocated at once, a character, beside the text."""
    made = get_strategy(strategy)
    document = Document("d", (PARAGRAPH * (size // len(PARAGRAPH) + 1))[:size])
    tracemalloc.start()
    try:
        for _ in made.chunks(document):
            pass
        return tracemalloc.get_traced_memory()[1] / size
    finally:
        tracemalloc.stop()


@pytest.mark.unwatched
@pytest.mark.parametrize(
    "strategy",
    ["characters", "words", "tokens", "sentences", "paragraphs", "recursive", "structure"],
)
def test_one_text_takes_a_few_times_its_size(strategy: str) -> None:
    peak(strategy, 10_000)  # vocabularies and what is learnt about characters
    short, long = peak(strategy, 1_000_000), peak(strategy, 4_000_000)
    assert long < MOST
    assert long < 1.1 * short

"""Memory of chunking one text: a few times its size, however long it is."""

import os
import tracemalloc
from pathlib import Path

import pytest

from chunkwise import Document
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.write_chunks import chunk_lines
from chunkwise.documents.source import Source
from chunkwise.ext import UnreadableDocument
from chunkwise.text.analyzed import Analyzed

pytestmark = pytest.mark.usefixtures("large_inputs")

PARAGRAPH = (
    "The keeper of the lamp writes down the hour, the wind and the height of the water. He does so every night,\n"
    "as his father did before him; nobody has ever read it. Ships pass far out: none of them stops here.\n\n"
)
MOST = 6.6
"""Bytes a character beside the text itself; some are the same for every length, and count for less in a longer one."""


def peak(strategy: str, size: int, paragraph: str = PARAGRAPH) -> float:
    """Bytes allocated at once, a character, beside the text, until the lines of all chunks are written."""
    made = get_strategy(strategy)
    document = Document("d", (paragraph * (size // len(paragraph) + 1))[:size])
    tracemalloc.start()
    try:
        analyzed = Analyzed(document)
        for _ in chunk_lines(made.chunks(analyzed)):
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
    short, long = peak(strategy, 500_000), peak(strategy, 2_000_000)
    assert long < MOST
    assert long < 1.1 * short


@pytest.mark.unwatched
@pytest.mark.parametrize("sign", ["\u20ac", "\U0001f44d"])
@pytest.mark.parametrize("strategy", ["tokens", "recursive", "structure"])
def test_one_wide_sign_costs_no_more_than_a_wider_text(strategy: str, sign: str) -> None:
    peak(strategy, 10_000, PARAGRAPH + sign)
    width = 2 if sign < "\U00010000" else 4
    # The kinds of all characters are kept, too, where one of them needs more than a byte.
    assert peak(strategy, 2_000_000, PARAGRAPH + sign) < MOST + 1.5 * width


@pytest.mark.unwatched
def test_windows_line_breaks_cost_no_more_than_others() -> None:
    paragraph = PARAGRAPH.replace("\n", "\r\n")
    peak("recursive", 10_000, paragraph)
    # So short a text is measured as a whole.
    assert peak("recursive", 1_000_000, paragraph) < MOST + 1.5


def test_a_file_takes_the_room_that_it_has_and_not_that_which_it_may_have(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a" * 100_000)
    source = Source("a", "a", str(file))
    tracemalloc.start()
    try:
        assert len(source.read(1 << 30)) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 400_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("limit", [3, 4, 5, 6, 7, 100])
def test_a_file_that_grows_while_it_is_read_is_read_up_to_the_limit(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"abcdef")
    short = os.stat_result((0o100644, *([0] * 5), 3, 0, 0, 0))
    monkeypatch.setattr("os.fstat", lambda handle: short)
    source = Source("a", "a", str(file))
    if limit < 6:
        with pytest.raises(UnreadableDocument, match="larger than"):
            source.read(limit)
    else:
        assert source.read(limit) == b"abcdef"

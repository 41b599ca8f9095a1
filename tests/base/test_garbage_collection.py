"""Python's collector of cycles rests while what stays is made, and works again afterwards."""

import gc
from collections.abc import Iterator

import pytest

import chunkwise
from chunkwise.base.garbage_collection import uncollected
from chunkwise.core import Document


@pytest.fixture
def looks() -> Iterator[list[int]]:
    """The generations of every look for cycles."""
    seen: list[int] = []

    def look(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)  # Python's own, whatever the tests run with
    gc.callbacks.append(look)
    yield seen
    gc.callbacks.remove(look)
    gc.set_threshold(*before)


def test_it_works_again_however_the_block_ends() -> None:
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="x"), uncollected():
        raise ValueError("x")
    assert gc.isenabled()


def test_what_the_user_turned_off_stays_off() -> None:
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_document_of_many_chunks_is_looked_through_no_more_often(looks: list[int]) -> None:
    list(chunkwise.chunk(Document("a", "a"), "paragraphs"))  # what is imported once
    document = Document("a", "a\n\n" * 8_000)
    gc.collect()
    looks.clear()
    assert sum(1 for _ in chunkwise.chunk(document, "paragraphs")) == 8_000
    assert len(looks) < 5

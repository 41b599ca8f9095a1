"""The strategy parent_child: small chunks that know what stands around them."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise import Document, chunk_text
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Chunk, Span
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunker, check_chunks
from chunkwise.testkit.hostile import hostile_documents
from how_many import examples

PROSE = "\n\n".join(
    " ".join(f"Lamp {n} of row {row} is lit at dusk." for n in range(12)) for row in range(12)
)
HANDBOOK = "# Yard\n\nWelcome.\n\n## Leave\n\n" + "Ask in writing. " * 40 + "\n\n## Hours\n\nFive."


def check_parents(document: Document, chunks: list[Chunk], words: int) -> list[Span]:
    """Every child in one parent; parents in order, apart, with nothing lost between them."""
    parents = list(dict.fromkeys(chunk.parent for chunk in chunks))
    assert None not in parents
    for chunk in chunks:
        assert chunk.parent.start <= chunk.start < chunk.end <= chunk.parent.end
    for before, after in pairwise(parents):
        assert before.end <= after.start
        assert not document.text[before.end : after.start].strip()
    for start, end in parents:
        assert len(document.text[start:end].split()) <= words
    return parents


def test_children_of_100_words_in_parents_of_500() -> None:
    document = Document("x", PROSE)
    chunks = list(get_strategy("parent_child").chunks(document))
    parents = check_parents(document, chunks, 500)
    assert len(parents) == 3
    assert all(chunk.token_count == chunk.word_count <= 100 for chunk in chunks)
    assert all(PROSE[end:].startswith("\n\n") for _, end in parents[:-1])


def test_a_section_is_a_parent() -> None:
    chunks = chunk_text(HANDBOOK, strategy="parent_child(parent=section, max_tokens=20)")
    parents = check_parents(Document("x", HANDBOOK), chunks, 2000)
    assert [HANDBOOK[start:end].split("\n")[0] for start, end in parents] == [
        "# Yard", "## Leave", "## Hours",
    ]  # fmt: skip
    assert len(chunks) > 6


def test_a_section_over_the_limit_is_several_parents() -> None:
    spec = "parent_child(parent=section, parent_size=50, max_tokens=20)"
    parents = check_parents(Document("x", HANDBOOK), chunk_text(HANDBOOK, strategy=spec), 50)
    assert len(parents) == 5


def test_overlap_stays_inside_the_parent() -> None:
    spec = "parent_child(max_tokens=30, overlap=10, parent_size=60)"
    chunks = chunk_text(PROSE, strategy=spec)
    check_parents(Document("x", PROSE), chunks, 60)
    repeated = [after.start < before.end for before, after in pairwise(chunks)]
    within = [after.parent == before.parent for before, after in pairwise(chunks)]
    assert any(repeated)
    assert all(same for same, repeats in zip(within, repeated, strict=True) if repeats)


def test_sizes_may_be_tokens() -> None:
    strategy = get_strategy("parent_child(child_size=30, tokenizer=o200k_base, parent_size=40)")
    chunks = list(strategy.chunks(Document("x", PROSE)))
    assert all(chunk.token_count <= 30 for chunk in chunks)
    check_parents(Document("x", PROSE), chunks, 40)


@pytest.mark.unwatched
@pytest.mark.parametrize("parent", ["words", "section"])
def test_the_contract_holds(parent: str) -> None:
    spec = f"parent_child(max_tokens=12, parent_size=40, parent={parent}, min_tokens=4)"
    check_chunker(spec, overlap=False)
    for document in hostile_documents():
        chunks = list(get_strategy(spec).chunks(document))
        for chunk in chunks:
            assert chunk.parent is not None
            assert chunk.parent.start <= chunk.start < chunk.end <= chunk.parent.end


@settings(max_examples=examples(40), deadline=None)
@given(
    words=st.lists(st.sampled_from("tide lamp. bread; dough! 文字。 👨‍👩‍👧 e\u0301 \n\n # Head\n |a| - x".split(" "))),
    size=st.integers(1, 12),
    more=st.integers(0, 40),
    parent=st.sampled_from(["words", "section"]),
    code=st.booleans(),
)  # fmt: skip
def test_parents_hold_their_children_on_any_text(
    words: list[str], size: int, more: int, parent: str, code: bool
) -> None:
    document = Document("any", " ".join(words), format="code" if code else "markdown")
    made = get_strategy("parent_child", max_tokens=size, parent_size=size + more, parent=parent)
    chunks = list(made.chunks(document))
    check_chunks(document, chunks, limit=made.limit, overlap=False)
    for chunk in chunks:
        assert chunk.parent is not None
        assert chunk.parent.start <= chunk.start < chunk.end <= chunk.parent.end
    for before, after in pairwise(chunks):
        assert after.parent == before.parent or after.parent.start >= before.parent.end


def test_a_parent_is_no_smaller_than_its_children() -> None:
    with pytest.raises(
        InvalidParameter, match=r"parent_size \(50\) must not be smaller than max_tok"
    ):
        get_strategy("parent_child(parent_size=50)")
    with pytest.raises(InvalidParameter, match="allowed: 'words', 'section'"):
        get_strategy("parent_child(parent=page)")

"""Windows of a fixed size: as a plain reading of the definition fills them."""

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from how_many import examples

PARTS = ["a", "bc", " ", "\n\n", "   ", "e\u0301", "👨\u200d👩\u200d👧", "文字", "defghij"]


def naive(text: str, breaks: list[int], limit: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Spans of at most so many characters between graphemes; one that is larger stands alone."""
    start = max(at for at in breaks if at <= len(text) - len(text.lstrip()))
    done = start
    while done < len(text):
        ends = [at for at in breaks if max(start, done) < at <= start + limit]
        if not ends:  # what is repeated leaves no room, or the grapheme is larger than a chunk
            start = done
            ends = [at for at in breaks if start < at <= start + limit]
        end = ends[-1] if ends else min(at for at in breaks if at > start)
        if text[start:end].strip():
            yield start, end
        following = max(at for at in breaks if at <= max(end - overlap, 0))
        start = following if overlap and following > start else end
        done = end


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=20).map("".join),
    st.integers(1, 12),
    st.integers(0, 8),
)
def test_windows_are_those_of_a_plain_reading(text: str, limit: int, overlap: int) -> None:
    overlap = min(overlap, limit - 1)
    document = Document("x", text)
    graphemes = Analyzed(document).graphemes
    breaks = [at for at in range(len(text) + 1) if graphemes.is_break(at)]
    expected = list(naive(text, breaks, limit, overlap))
    for strategy in ("characters", "tokens"):
        more = (
            {"max_chars": limit}
            if strategy == "characters"
            else {"max_tokens": limit, "tokenizer": "characters"}
        )
        made = get_strategy(strategy, overlap=overlap, **more)
        chunks = list(made.chunks(document))
        assert [(chunk.start, chunk.end) for chunk in chunks] == expected
        assert [chunk.token_count for chunk in chunks] == [end - start for start, end in expected]


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.sampled_from([*PARTS, "Leave ", "the keeper's"]), min_size=1, max_size=20).map("".join),
    st.integers(1, 12),
)  # fmt: skip
def test_windows_of_tokens_are_full(text: str, limit: int) -> None:
    """With one grapheme more they would be too large, but for what merges with it."""
    document = Analyzed(Document("x", text))
    measure, graphemes = document.measure("o200k_base"), document.graphemes
    chunks = list(get_strategy("tokens", max_tokens=limit).chunks(document))
    covered = "".join(chunk.text for chunk in chunks)
    assert "".join(covered.split()) == "".join(text.split())
    for chunk in chunks:
        assert chunk.token_count == measure.count(chunk.start, chunk.end)
        single = graphemes.ceil(chunk.start + 1) == chunk.end
        assert chunk.token_count <= limit or single
    for chunk in chunks[:-1]:
        if chunk.token_count <= limit:
            beyond = graphemes.ceil(min(chunk.end + 40, len(text)))
            assert measure.count(chunk.start, beyond) > limit or beyond == len(text)

"""Late sums: what the model gave each token, summed by atom; any span by one subtraction."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.models.cache import CachedTokenEmbedder, ModelCache
from chunkwise.models.embed.embedder import TokenVectors
from chunkwise.models.embed.late_chunking import atom_sums, atom_sums_of_many, span_vectors
from chunkwise.models.embed.pretrained import minilm
from chunkwise.text.analyzed import Analyzed
from how_many import examples

TEXT = (
    "The lamp is lit at dusk. Nobody may row alone after that. The keeper writes the hour down. "
    "In winter the bell is rung twice.\n\n# Fees\n\nA crossing costs two coins. Children pay one."
)


class Letters:
    """A token a letter, in windows of a few: small enough to check by counting."""

    identity = "letters"
    dimensions = 3
    window = 16

    def __init__(self) -> None:
        self.read: list[str] = []

    def embed(self, texts: object, kind: object = "passage") -> NDArray[np.float32]:
        raise AssertionError("late sums need tokens only")

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return np.array([i for i, char in enumerate(text) if not char.isspace()], dtype=np.int64)

    def token_vectors(self, texts: list[str]) -> list[TokenVectors]:
        self.read.extend(texts)
        found = []
        for text in texts:
            at = self.token_starts(text)
            assert len(at) <= self.window - 2
            rows = [[1, ord(text[i]) % 7, len(text) % 5] for i in at]
            vectors = np.array(rows, dtype=np.float32).reshape(-1, 3)
            found.append(TokenVectors(at, at + 1, vectors))
        return found


def analyzed(text: str) -> Analyzed:
    return Analyzed(Document("d", text))


def test_sums_are_the_token_vectors_of_the_windows() -> None:
    model = minilm(window=40)
    document = analyzed(TEXT)
    starts = document.sentences
    done: list[int] = []
    sums = atom_sums(model, document, starts, done.append)
    assert sum(done) == len(TEXT)
    bounds = [*starts.tolist(), len(TEXT)]
    naive = np.zeros_like(sums)
    first = 0
    tokens = [len(model.token_starts(TEXT[a:b])) for a, b in pairwise(bounds)]
    while first < len(starts):
        last = first
        while last < len(starts) and sum(tokens[first : last + 1]) <= 40 - 6:
            last += 1
        (read,) = model.token_vectors([TEXT[bounds[first] : bounds[last]]])
        for start, vector in zip(read.start + bounds[first], read.vectors, strict=True):
            naive[np.searchsorted(starts, start, "right") - 1] += vector
        first = last
    # Means are kept in 16 bits: 11 bits of mantissa.
    count = np.array(tokens)[:, None]
    assert np.abs(sums - naive).max() <= (2**-11 * np.abs(naive / count) * count + 1e-5).max()
    assert np.abs(sums - naive).mean() < 1e-3


@given(
    st.text(st.sampled_from("ab. \n漢\ud800"), max_size=120),
    st.lists(st.integers(1, 119), max_size=12),
)
@settings(max_examples=examples(40), deadline=None)
def test_every_token_is_counted_in_its_atom(text: str, cuts: list[int]) -> None:
    starts = np.array(sorted({0, *(cut for cut in cuts if cut < len(text))}), dtype=np.int64)
    starts = starts if text else starts[:0]
    model = Letters()
    sums = atom_sums(model, analyzed(text), starts)
    expected = [
        sum(not char.isspace() for char in text[a:b]) for a, b in pairwise([*starts, len(text)])
    ]
    assert sums[:, 0].tolist() == expected
    assert "".join(model.read) == text
    ends = np.cumsum([len(piece) for piece in model.read])[:-1]
    sizes = np.diff([0, *np.cumsum(expected)])
    if not len(sizes) or sizes.max() <= model.window - 6:
        assert set(ends.tolist()) <= set(starts.tolist())


def test_a_second_run_asks_the_model_nothing(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "v.sqlite")
    model, document = Letters(), analyzed(TEXT)
    first = atom_sums(CachedTokenEmbedder(model, cache), document, document.sentences)
    read = len(model.read)
    assert read > 5
    again = atom_sums(CachedTokenEmbedder(model, cache), document, document.sentences)
    assert np.array_equal(first, again)
    assert len(model.read) == read
    assert np.array_equal(first, atom_sums(Letters(), document, document.sentences))


def test_several_documents_at_once_give_what_each_gives_alone() -> None:
    texts = [TEXT, "", "Short.", TEXT[::-1], "  "]
    documents = [(each, each.sentences) for each in map(analyzed, texts)]
    done: list[int] = []
    together = atom_sums_of_many(Letters(), documents, done.append)
    assert sum(done) == sum(map(len, texts))
    for sums, (document, starts) in zip(together, documents, strict=True):
        assert np.array_equal(sums, atom_sums(Letters(), document, starts))


def test_windows_of_an_unchanged_beginning_are_not_read_again(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "v.sqlite")
    model = Letters()
    for text in (TEXT, TEXT + " One more line at the end."):
        document = analyzed(text)
        atom_sums(CachedTokenEmbedder(model, cache), document, document.sentences)
    assert len(model.read) == len(set(model.read))
    assert len(model.read) < 1.5 * len(TEXT) / 10


def naive_span(
    starts: list[int], length: int, sums: NDArray[np.float32], start: int, end: int
) -> NDArray[np.float64]:
    """Character by character: each carries its share of its atom."""
    total = np.zeros(sums.shape[1])
    for atom, (a, b) in enumerate(zip(starts, [*starts[1:], length], strict=True)):
        for position in range(a, b):
            if start <= position < end:
                total += sums[atom].astype(np.float64) / (b - a)
    norm = np.linalg.norm(total)
    result: NDArray[np.float64] = total / norm if norm > 1e-12 else total
    return result


@given(st.data())
@settings(max_examples=examples(20), deadline=None)
def test_span_vectors_equal_a_loop_over_characters(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 60))
    starts = sorted({0, *data.draw(st.lists(st.integers(0, length - 1), max_size=8))})
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    sums = rng.normal(size=(len(starts), 70)).astype(np.float32)
    sums[rng.random(len(starts)) < 0.3] = 0
    place = st.tuples(st.integers(0, length), st.integers(0, length)).map(sorted)
    spans = np.array(data.draw(st.lists(place, min_size=1, max_size=6)), dtype=np.int64)
    found = span_vectors(np.array(starts, dtype=np.int64), length, sums, spans)
    assert found.dtype == np.float32
    for vector, (start, end) in zip(found, spans.tolist(), strict=True):
        assert vector == pytest.approx(naive_span(starts, length, sums, start, end), abs=1e-5)


def test_nothing_has_no_vector() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert not span_vectors(none, 0, np.zeros((0, 4), np.float32), np.array([[0, 0]])).any()
    assert atom_sums(Letters(), analyzed(""), none).shape == (0, 3)
    assert span_vectors(none, 0, np.zeros((0, 4), np.float32), np.zeros((0, 2))).shape == (0, 4)


def test_bounds_of_windows_are_kept(tmp_path: Path) -> None:
    class Counted(Letters):
        tokenized = 0

        def token_starts(self, text: str) -> NDArray[np.int64]:
            Counted.tokenized += text == document.text
            return super().token_starts(text)

    document = analyzed("a bc def. " * 9)
    starts = np.arange(0, len(document.text), 10)
    for _ in range(2):
        atom_sums(
            CachedTokenEmbedder(Counted(), ModelCache(tmp_path / "v.sqlite")), document, starts
        )
        assert Counted.tokenized == 1

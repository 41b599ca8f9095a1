"""The strategy cluster: its division is the best there is, found in linear time."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise import Document, chunk_text
from chunkwise.chunkers import cluster as cluster_module
from chunkwise.chunkers.cluster import ClusterChunker, best_starts
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunker, check_chunks
from hash_embedder import HashEmbedder
from how_many import examples
from tables import cases

BREAD = (
    "A bread dough needs flour, water, salt and yeast. Knead the dough until it is smooth. "
    "Let the dough rise in a warm bowl. Bake the loaf in a hot oven. "
)
LAW = (
    "The court heard the appeal in March. The judge asked both lawyers about the contract. "
    "The defendant had broken the contract. The court ordered the defendant to pay damages. "
)


def worth(
    starts: tuple[int, ...], near: NDArray[np.float64], sizes: list[int], limit: int, least: int
) -> float:
    """Of one division, pair by pair; minus infinity where it breaks the limit."""
    total = 0.0
    for start, end in pairwise((*starts, len(sizes))):
        if end - start > 1 and sum(sizes[start:end]) > limit:
            return -np.inf
        total += sum(near[i, j] for i, j in combinations(range(start, end), 2))
        total -= 2.0 * cluster_module.LOOK_BACK**2 * (sum(sizes[start:end]) < least)
    return total


@settings(max_examples=examples(30), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=9),
    limit=st.integers(1, 30),
    least=st.integers(0, 12),
)
def test_no_other_division_is_better(seed: int, sizes: list[int], limit: int, least: int) -> None:
    count = len(sizes)
    vectors = np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = [(i, j) for i, j in combinations(range(count), 2) if sum(sizes[i : j + 1]) <= limit]
    similarity = vectors.astype(np.float64) @ vectors.T
    usual = float(np.mean([similarity[pair] for pair in pairs])) if pairs else 0.0
    every = [
        (0, *(place for place in range(1, count) if number >> (place - 1) & 1))
        for number in range(1 << (count - 1))
    ]
    best = max(worth(each, similarity - usual, sizes, limit, least) for each in every)
    found = tuple(best_starts(vectors, np.array(sizes), limit, least))
    assert worth(found, similarity - usual, sizes, limit, least) == pytest.approx(best, abs=1e-4)


def test_runs_are_bounded_however_small_the_units() -> None:
    vectors = np.tile(np.array([[1, 0], [0.8, 0.6]], dtype=np.float32), (500, 1))
    starts = best_starts(vectors, np.ones(1000, dtype=np.int64), 10**6)
    longest = max(np.diff([*starts, 1000]))
    assert longest <= cluster_module.LOOK_BACK


class Counting(np.ndarray):
    """Vectors that note how many of them took part in products."""

    multiplied = 0

    def __matmul__(self, other: NDArray[np.float32]) -> NDArray[np.float32]:
        Counting.multiplied += len(self)
        return np.asarray(self) @ np.asarray(other)


@cases("size", [1, 7, 40])
def test_the_work_is_linear_in_the_sentences(size: int) -> None:
    rng = np.random.default_rng(3)
    work = []
    for count in (500, 1000, 2000):
        vectors = rng.normal(size=(count, 8)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        Counting.multiplied = 0
        best_starts(vectors.view(Counting), np.full(count, size), 100)
        work.append(Counting.multiplied)
        assert 0 < Counting.multiplied <= count * min(100 // size, cluster_module.LOOK_BACK)
    assert work[2] <= 2.2 * work[1] <= 2.2 * 2.2 * work[0]


def test_each_sentence_is_read_once() -> None:
    model = HashEmbedder()
    chunk_text(BREAD + LAW, strategy=ClusterChunker(model=model))
    assert model.asked == [f"{text.strip()}." for text in (BREAD + LAW).split(".")[:-1]]


def test_subjects_are_told_apart() -> None:
    for spec in ("cluster(min_tokens=20)", "cluster(min_tokens=0)"):
        chunks = chunk_text(BREAD + LAW, strategy=spec)
        assert [chunk.text for chunk in chunks] == [BREAD.strip(), LAW.strip()]


def test_one_sentence_and_one_subject_stay_whole() -> None:
    assert len(chunk_text("One sentence alone.", strategy="cluster")) == 1
    same = "The same sentence again. " * 12
    assert len(chunk_text(same, strategy=ClusterChunker(model=HashEmbedder()))) == 1


@pytest.mark.unwatched
@pytest.mark.parametrize("vectors", ["own", "late"])
def test_the_contract_holds_with_any_vectors(vectors: str) -> None:
    made = ClusterChunker(
        model=HashEmbedder(), vectors=vectors, max_tokens=30, tokenizer="cl100k_base"
    )
    check_chunker(made, overlap=False)


@pytest.mark.unwatched
@pytest.mark.unwatched
def test_the_contract_holds_on_large_and_strange_documents() -> None:
    for text in ("word and word " * 15_000, "👨‍👩‍👧‍👦🇩🇪" * 3000, "x" * 100_000, "Yes. " * 5000):
        document = Document("x", text)
        strategy = get_strategy(ClusterChunker(model=HashEmbedder(), max_tokens=150))
        check_chunks(document, list(strategy.chunks(document)), limit=strategy.limit, overlap=False)


def test_a_strange_tokenizer_is_obeyed() -> None:
    for count in (len, lambda text: len(text) // 3 + 2, lambda text: 5 if "a" in text else 1):
        document = Document("x", BREAD + LAW)
        strategy = get_strategy(ClusterChunker(model=HashEmbedder(), max_tokens=9, tokenizer=count))
        check_chunks(document, list(strategy.chunks(document)), limit=strategy.limit)

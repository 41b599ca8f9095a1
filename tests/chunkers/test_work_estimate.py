"""An estimate is told by some documents, and says of how many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import work_estimate
from chunkwise.chunkers.work_estimate import EmbeddingWork, WorkEstimate, estimate_work
from chunkwise.core import Document
from chunkwise.models.embed.embedder import Kind, TokenVectors
from chunkwise.retrieval.indexes import estimate_index
from hash_embedder import HashEmbedder


def test_time_is_that_of_the_sample_for_all_there_is() -> None:
    found = WorkEstimate(1000, 50_000_000, True, 32, 1_000_000, 20.0)
    assert found.seconds_on_a_core == 1000
    assert found.seconds(1) == 1000
    assert found.seconds(100) == pytest.approx(10 / work_estimate.EFFICIENCY)
    assert found.words(2, (8, 16)) == (
        "1,000 files, 50.0 MB; by 32 of them: about 10 min on 2 cores; about 9 s on 8 nodes of 16 cores"
    )


def test_all_names_are_counted_and_some_tried(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.txt").write_text("Some words stand here. " * (number + 1))
    (tmp_path / "broken.pdf").write_bytes(b"no PDF")
    found = estimate_work(tmp_path, "structure")
    size = sum(each.stat().st_size for each in tmp_path.iterdir())
    assert (found.units, found.size, found.is_whole, found.tried) == (51, size, True, 32)
    assert 0 < found.tried_size < size


def test_a_listing_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_estimate, "_NAMES", 5)
    monkeypatch.setattr(work_estimate, "_SECONDS", 0.0)
    documents = (Document(str(number), "A text. " * 500) for number in range(10**9))
    found = estimate_work(documents, "structure")
    assert (found.units, found.is_whole, found.tried) == (5, False, 1)
    assert found.words(1).startswith("at least 5 files")


class Noting(HashEmbedder):
    """What it read, whoever holds a copy."""

    read: ClassVar[list[str]] = []

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.read.extend(texts)
        return super().token_vectors(texts)


def test_an_index_is_estimated_with_its_model_and_not_from_a_cache() -> None:
    documents = [Document(str(number), "A text with some words. " * 20) for number in range(6)]
    before = 0
    for _ in range(2):
        assert estimate_index(documents, embedder=Noting()).tried == 6
        assert len(Noting.read) > before
        before = len(Noting.read)


class Large:
    """As a model of sentence-transformers: so many weights, a token a word."""

    identity = "large"
    dimensions = 4
    weights = 300_000_000

    def __init__(self, runs_on: str = "cpu") -> None:
        self.runs_on = runs_on
        self.tokens = 0

    def count_tokens(self, texts: Sequence[str]) -> int:
        return sum(len(each.split()) for each in texts)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.tokens += self.count_tokens(texts)
        sum(range(200_000))  # takes some time
        return np.full((len(texts), 4), 0.5, np.float32)


def test_what_a_model_reads_is_counted_apart() -> None:
    documents = [Document(str(number), "A text with some words. " * 20) for number in range(6)]
    model = Large()
    work = estimate_index(documents, embedder=model).embedding
    assert work is not None
    # The first document is tried once more, and one word is read to learn how long vectors are.
    assert 0 < work.tokens < model.tokens
    assert work.tokens == 6 * 100
    assert (work.weights, work.runs_on) == (300_000_000, "cpu")
    assert work.core_seconds > 0


def test_a_gpu_reads_what_cores_cut() -> None:
    """By hand: a fiftieth was tried; 6e8 operations a token, of 30.3e12 a second 32 %."""
    tried = EmbeddingWork(1_000_000, 300_000_000, 19.0, 20.0, "cpu")
    found = WorkEstimate(1000, 50_000_000, True, 32, 1_000_000, 20.0, tried)
    reading = 50 * 1_000_000 * 6e8 / (30.3e12 * 0.32)
    cutting = 50 * (20 - 19 + 1_000_000 * 2.4e-6)
    assert found.seconds_with("L4", 1, 1) == pytest.approx((cutting + reading) / 0.85)
    assert found.seconds_with("L4", 8, 16) == pytest.approx((cutting / 16 + reading) / 8 / 0.85)
    assert found.seconds_with("L40S", 1, 1) == pytest.approx(
        (cutting + reading * 30.3 / 91.6) / 0.85
    )
    assert found.words(2, (8, 16), "L4").endswith(
        "; about 9 s on 8 nodes of 16 cores; about 8 min with one L4 each"
    )
    # An hour and a minute of one machine for a dollar an hour, and so of eight together.
    assert found.words(2, (8, 16), "L4", price=1.0).endswith(
        " on 8 nodes of 16 cores (about 0.02 dollars); about 8 min with one L4 each (about 1.01 dollars)"
    )
    assert found.words(2, gpu="L4").endswith("on 2 cores; about 1 h 2 min with one L4")


def test_a_model_that_ran_on_an_accelerator_is_counted_by_the_clock() -> None:
    tried = EmbeddingWork(1_000_000, 300_000_000, 15.0, 4.0, "cuda")
    found = WorkEstimate(1000, 50_000_000, True, 32, 1_000_000, 20.0, tried)
    assert found.seconds_on_a_core == 50 * 5
    assert found.seconds(1) == 50 * 5 + 50 * 4
    assert found.seconds(1, gpus=4) == 50 * 5 + 50
    assert "on 1 core with 1 accelerator" in found.words(1)
    assert found.words(1, (8, 16)).endswith(
        "on 8 nodes of 16 cores with one accelerator as here each"
    )


def test_a_model_of_processors_has_no_use_for_a_gpu() -> None:
    documents = [Document("a", "A text with some words.")]
    found = estimate_index(documents, embedder=Noting())
    assert found.embedding is None
    with pytest.raises(
        InvalidParameter, match="those of sentence-transformers run on accelerators"
    ):
        found.words(2, (8, 16), "L4")


@pytest.mark.usefixtures("large_inputs")
def test_of_a_long_text_the_beginning_is_tried(tmp_path: Path) -> None:
    """What a model reads does not grow with the text, and what it stands for does."""
    short, long = tmp_path / "short", tmp_path / "long"
    for folder, lines in ((short, 1_000), (long, 1_000_000)):
        folder.mkdir()
        (folder / "a.txt").write_text(
            "Twelve words of a text that goes on and on and on.\n\n" * lines
        )
    for folder, tokens in ((short, 12_000), (long, 12_000_000)):
        model = Large()
        work = estimate_index(
            folder, embedder=model, strategy="paragraphs(max_tokens=20)"
        ).embedding
        assert work is not None
        assert work.tokens == pytest.approx(tokens, rel=0.01)
        assert model.tokens < 200_000


def test_the_largest_document_is_the_work_of_one() -> None:
    found = WorkEstimate(10, 100, True, 10, 100, 50.0, None, largest=90)
    assert found.seconds(1) == 50
    assert found.seconds(100) == 45
    even = WorkEstimate(10, 100, True, 10, 100, 50.0, None, largest=10)
    assert even.seconds(100) == 5

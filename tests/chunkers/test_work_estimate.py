"""An estimate is told by some documents, and says of how many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from chunkwise.chunkers import work_estimate
from chunkwise.chunkers.work_estimate import WorkEstimate, estimate_work
from chunkwise.core import Document
from chunkwise.models.embed.embedder import TokenVectors
from chunkwise.options import IndexOptions
from chunkwise.retrieval.indexes import estimate_index
from hash_embedder import HashEmbedder


def test_time_is_that_of_the_sample_for_all_there_is() -> None:
    found = WorkEstimate(1000, 50_000_000, True, 32, 1_000_000, 20.0)
    assert found.seconds(1) == 1000
    assert found.seconds(100) == pytest.approx(10 / 0.85)
    assert found.words(2) == "1,000 files, 50.0 MB; estimated from 32: about 10 min on 2 cores"


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
        assert estimate_index(documents, IndexOptions(embedder=Noting())).tried == 6
        assert len(Noting.read) > before
        before = len(Noting.read)


@pytest.mark.usefixtures("large_inputs")
def test_of_a_long_text_the_beginning_is_tried(tmp_path: Path) -> None:
    line = "Twelve words of a text that goes on and on and on.\n\n"
    (tmp_path / "a.txt").write_text(line * 1_000_000)
    Noting.read.clear()
    estimate_index(tmp_path, IndexOptions(embedder=Noting(), strategy="paragraphs(max_tokens=20)"))
    assert 0 < sum(map(len, Noting.read)) < 3_000_000


def test_the_largest_document_is_the_work_of_one() -> None:
    found = WorkEstimate(10, 100, True, 10, 100, 50.0, largest=90)
    assert found.seconds(1) == 50
    assert found.seconds(100) == 45
    even = WorkEstimate(10, 100, True, 10, 100, 50.0, largest=10)
    assert even.seconds(100) == 5

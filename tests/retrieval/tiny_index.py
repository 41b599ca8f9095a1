"""An index in a few lines, to search in tests: words counted plainly, vectors of hashed words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers import get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.models.embed.embedder import Kind
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.searchable import AtomBounds, FoundChunk
from chunkwise.retrieval.settings import Settings, Vectors
from chunkwise.retrieval.tables_lists_code import WholeBlocks
from chunkwise.text.analyzed import Analyzed

WORDS = re.compile(r"\w+")


def words(text: str) -> list[str]:
    return WORDS.findall(text.lower())


@cache
def _direction(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).normal(size=HashedWords.dimensions).astype(np.float32)


class HashedWords:
    """A text is the sum of its words' random directions: texts that share words are near."""

    identity = "hashed-words"
    dimensions = 64

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.calls.append(list(texts))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                row += _direction(word)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(length > 0, length, 1)


class TinyIndex:
    """What ranking chunks asks of a `Searchable`, kept in lists."""

    has_summaries = False

    def __init__(
        self,
        documents: Sequence[Document],
        strategy: str = "sentences(max_tokens=30, overlap=10)",
        vectors: Vectors = "own",
        tokenizer: str = "o200k_base",
    ) -> None:
        self._documents = [Analyzed(document) for document in documents]
        self.embedder = HashedWords()
        identity = "" if vectors == "none" else self.embedder.identity
        self.settings = Settings(
            strategy, "tests", identity, 64, vectors=vectors, tokenizer=tokenizer
        )
        self.found: list[tuple[int, Chunk]] = []
        self._ranges = []
        for number, analyzed in enumerate(self._documents):
            first = len(self.found)
            made = get_strategy(strategy)
            self.found += [(number, chunk) for chunk in made.chunks(analyzed)]
            self._ranges.append((first, len(self.found)))
        self._vectors = self.embedder.embed([chunk.text for _, chunk in self.found])
        self._counts = [Counter(words(chunk.text)) for _, chunk in self.found]

    def snapshot(self) -> nullcontext[None]:
        return nullcontext()

    def _taken(self, only: Filter) -> list[bool]:
        return [
            only.takes_document(chunk.doc_id)
            and only.takes_section(chunk.section)
            and only.takes_pages(chunk.page, chunk.last_page)
            for _, chunk in self.found
        ]

    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        """By how many of the query's words there are: there is nothing for `k1` and `b` to weigh."""
        rankings = []
        for query in queries:
            asked = set(words(query))
            scores = [float(sum(counts[word] for word in asked)) for counts in self._counts]
            rankings.append(self._best(scores, depth, only, least=1e-9))
        return rankings

    def nearest(self, vectors: NDArray[np.float32], depth: int, only: Filter) -> list[Ranking]:
        return [
            self._best((self._vectors @ vector).tolist(), depth, only, -2.0) for vector in vectors
        ]

    def _best(self, scores: list[float], depth: int, only: Filter, least: float) -> Ranking:
        pairs = zip(scores, self._taken(only), strict=True)
        kept = [
            (-score, number)
            for number, (score, taken) in enumerate(pairs)
            if taken and score >= least
        ]
        order = sorted(kept)[:depth]
        return Ranking(
            np.array([number for _, number in order], np.int64),
            np.array([-score for score, _ in order], np.float32),
        )

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        return [self._chunk(number) for number in numbers]

    def _chunk(self, number: int) -> FoundChunk:
        document, chunk = self.found[number]
        parent = chunk.parent or (chunk.start, chunk.end)
        return FoundChunk(
            number, document, chunk.index, chunk.start, chunk.end, chunk.token_count, chunk.section,
            (parent[0], parent[1]), chunk.context,
        )  # fmt: skip

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        return self._vectors[list(numbers)]

    def chunk_range(self, document: int) -> tuple[int, int]:
        return self._ranges[document]

    def document(self, number: int) -> Document:
        return self._documents[number].document

    def blocks(self, document: int) -> WholeBlocks:
        return WholeBlocks(self.document(document))

    def atoms(self, document: int) -> AtomBounds:
        analyzed = self._documents[document]
        start = analyzed.atoms(self.settings.tokenizer)
        end = np.append(start[1:], len(analyzed.text))
        before = analyzed.measure(self.settings.tokenizer).starts.searchsorted(
            np.append(start, len(analyzed.text))
        )
        return AtomBounds(start, end, np.diff(before).astype(np.int32))


def documents(*texts: str) -> list[Document]:
    return [Document(f"d{number}", text) for number, text in enumerate(texts)]

"""A small corpus with questions, and an index of it: what retrievers, metrics and judges are checked on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document, Fact, Hit, Label, Query, Reference
from chunkwise.metrics.evidence import Answer, AnswerCitation, Evidence
from chunkwise.metrics.span_tables import Chunking
from chunkwise.models.embed.embedder import Kind
from chunkwise.retrieval.indexes import Index, index
from chunkwise.testkit.hostile import HOSTILE_TEXTS

_TEXTS = {
    "harbour.md": "# Harbour\n\nThe lamps are lit at dusk. The harbour master keeps the log of every ship.\n\n"
    "## Fees\n\nA ship pays 40 crowns a night. Fishing boats pay nothing in winter.\n",
    "leave.md": "# Leave\n\nLeave is asked for in writing. The office answers within five days.\n\n"
    "## Sick leave\n\nA doctor's note is needed after three days. It is kept for two years.\n",
    "hostile.txt": "\n\n".join(text for text in HOSTILE_TEXTS if text.strip()),
}
_QUESTIONS = {
    "lamps": ("When are the lamps lit?", "harbour.md", "The lamps are lit at dusk."),
    "fee": ("What does a ship pay a night?", "harbour.md", "A ship pays 40 crowns a night."),
    "note": ("When is a doctor's note needed?", "leave.md", "A doctor's note is needed after three days."),
}  # fmt: skip


class HashedWords:
    """An embedder that needs no weights: texts that share words are near each other."""

    identity = "testkit:hashed-words"
    dimensions = 64

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row += _direction(word)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.where(length > 0, length, 1)).astype(np.float32)


@cache
def _direction(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).normal(size=HashedWords.dimensions).astype(np.float32)


def sample_documents() -> list[Document]:
    """Two pages of prose, and one that holds what models do not expect."""
    return [
        Document(id, text, format="markdown" if id.endswith(".md") else "text")
        for id, text in _TEXTS.items()
    ]


def sample_queries() -> list[Query]:
    """Those with everything a question can have, one of which nothing is known, and hostile ones."""
    queries = []
    for id, (text, document, passage) in _QUESTIONS.items():
        start = _TEXTS[document].index(passage)
        end = start + len(passage)
        queries.append(
            Query(
                id, text, (Reference(document, start, end),), passage, (Fact(passage.split()[-1]),),
                labels=(Label(document, start, end, True),),
            )
        )  # fmt: skip
    unknown = [Query("unknown", "Who built the tower?")]
    return [
        *queries,
        *unknown,
        *(Query(f"hostile-{n}", text) for n, text in enumerate(HOSTILE_TEXTS)),
    ]


def sample_index(documents: Sequence[Document] = ()) -> Index:
    """Words, vectors and names, in memory; nothing is fetched."""
    every = [*sample_documents(), *documents]
    return index(
        every,
        "sentences(max_tokens=20, overlap=0)",
        embedder=HashedWords(),
        vectors="own",
        graph=True,
    )


def sample_runs() -> dict[str, Evidence]:
    """By what is special about each: everything known, nothing known, nothing retrieved, nothing asked."""
    made, queries = sample_index(), sample_queries()
    hits = made.search(queries, k=4, retriever="bm25")
    whole = Evidence(
        queries, hits, sample_documents(), _answers(), made, Chunking(*made.source.chunk_table()),
        embedder=HashedWords(),
    )  # fmt: skip
    bare = [Query(query.id, query.text) for query in queries]
    return {
        "a whole run": whole,
        "hits of another system": Evidence(bare, hits, sample_documents(), embedder=HashedWords()),
        "hits of hostile texts": replace(whole, hits=[_hostile_hits() for _ in queries], _made={}),
        "nothing retrieved": replace(whole, hits=[[] for _ in queries], _made={}),
        "no questions": replace(whole, queries=[], hits=[], answers={}, _made={}),
    }


def _answers() -> dict[str, Answer]:
    answers = {
        id: Answer(passage, (AnswerCitation(passage, document, quote=passage),))
        for id, (_, document, passage) in _QUESTIONS.items()
    }
    return {
        **answers,
        "unknown": Answer("The documents do not say it.", is_refusal=True),
        "hostile-5": Answer("half \ud83d of a pair", (AnswerCitation("", "nowhere.md", 3, 900),)),
    }


def _hostile_hits() -> list[Hit]:
    document = sample_documents()[-1]
    size = len(document.text)
    places = [(0, size), (0, 1), (size - 1, size), (20, 60)]
    return [
        Hit(document, start, end, 1 / rank, rank, end - start)
        for rank, (start, end) in enumerate(places, 1)
    ]

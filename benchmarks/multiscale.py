"""How fast several sizes are searched at once, and what an index for it weighs: 1,000 questions, 1,000,000 tokens."""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import corpora  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.core import Document  # noqa: E402
from chunkwise.models.embed.quantized_vectors import QuantizedVectors  # noqa: E402
from chunkwise.retrieval.bm25 import TermTable  # noqa: E402
from chunkwise.retrieval.multiscale import Multiscale  # noqa: E402
from chunkwise.retrieval.searchable import AtomTable, TokenTable  # noqa: E402
from chunkwise.text.analyzed import Analyzed  # noqa: E402
from chunkwise.text.terms import (  # noqa: E402
    counts_in_spans,
    document_terms,
    join_counts,
    query_terms,
)

TARGETS = {"BM25": 10.0, "BM25 and vectors": 15.0, "BM25, vectors and token vectors": 20.0}
"""Seconds for 1,000 questions over 1,000,000 tokens on two cores."""
BUDGET = 1000
DIMENSIONS, TOKEN_DIMENSIONS = 384, 64
_DOCUMENT = 40_000
"""Characters; long documents are cut into such, so that there are many."""


class Measured(NamedTuple):
    atoms: int
    tokens: int
    windows: int
    prepare: float
    seconds: dict[str, float]
    """Of all questions, by signals."""
    peak: float
    """Megabytes of memory the process ever held."""

    def report(self) -> str:
        rows = [["prepare, once per index", f"{self.prepare:.2f}", ""]]
        for name, took in self.seconds.items():
            verdict = "met" if took < TARGETS[name] else "**missed**"
            rows.append([name, f"{took:.2f}", f"{TARGETS[name]:.0f}: {verdict}"])
        return "\n".join([
            f"{self.tokens:,} tokens, {self.atoms:,} atoms, {self.windows:,} windows of all sizes; "
            f"peak memory {self.peak:.0f} MB.\n",
            table(["1,000 questions", "seconds", "target"], rows), "",
        ])  # fmt: skip


def _documents(tokens: int) -> list[Document]:
    """Contracts or books where they are there, generated prose elsewhere, cut to size."""
    if corpora.available("cuad"):
        path = corpora.SHARED / "cuad" / "corpus.jsonl"
        texts = [json.loads(line)["text"] for line in path.open(encoding="utf-8")]
    else:
        text = corpora.prose(5 * tokens)
        texts = [text[at : at + _DOCUMENT] for at in range(0, len(text), _DOCUMENT)]
    found, held = [], 0
    for number, text in enumerate(texts):
        document = Document(f"d{number}", text)
        starts = Analyzed(document).measure().starts
        if held + len(starts) > tokens:
            document = Document(f"d{number}", text[: starts[tokens - held]])
        found.append(document)
        held += len(starts)
        if held >= tokens:
            break
    return found


def _atoms(documents: list[Document], seed: int) -> AtomTable:
    """Real text; vectors by chance, which take as long as others."""
    columns: list[tuple[np.ndarray, ...]] = []
    counts = []
    for number, document in enumerate(documents):
        analyzed = Analyzed(document)
        start = analyzed.atoms()
        end = np.append(start[1:], len(document.text))
        edges = analyzed.measure().starts.searchsorted(np.append(start, len(document.text)))
        columns.append((np.full(len(start), number), start, end, np.diff(edges)))
        counts.append(counts_in_spans(document_terms(analyzed, "en"), start, end))
    owner, start, end, tokens = (np.concatenate(each) for each in zip(*columns, strict=True))
    rng = np.random.default_rng(seed)
    encoded = np.rint(tokens * 1.1).astype(np.int64)
    """Tokens of the token encoder, which has a smaller vocabulary."""
    codes = rng.integers(0, 256, (int(encoded.sum()), TOKEN_DIMENSIONS // 4)).astype(np.uint8)
    return AtomTable(
        document=owner.astype(np.int32),
        start=start,
        end=end,
        tokens=tokens.astype(np.int32),
        section=np.zeros(len(owner), np.int32),
        flags=np.zeros(len(owner), np.uint8),
        terms=TermTable.of(join_counts(counts)),
        vectors=QuantizedVectors.of(rng.normal(size=(len(owner), DIMENSIONS)).astype(np.float32)),
        token_vectors=TokenTable(np.append(0, np.cumsum(encoded)), codes),
    )


def _questions(documents: list[Document], count: int, seed: int) -> list[str]:
    """Twelve words each, as they stand somewhere in the text."""
    rng = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        words = rng.choice(documents).text.split()
        at = rng.randrange(max(1, len(words) - 12))
        found.append(" ".join(words[at : at + 12]))
    return found


def measure(tokens: int = 1_000_000, questions: int = 1000, seed: int = 7) -> Measured:
    """Wall time of one run after a short one that warms up."""
    documents = _documents(tokens)
    atoms = _atoms(documents, seed)
    queries = [query_terms(text, ["en"]) for text in _questions(documents, questions, seed)]
    vectors = np.random.default_rng(seed).normal(size=(questions, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spoken = _token_vectors(questions, seed)
    retriever = Multiscale()
    began = perf_counter()
    prepared = retriever.prepare(atoms)
    preparing = perf_counter() - began
    asked = zip(TARGETS, ((None, None), (vectors, None), (vectors, spoken)), strict=True)
    retriever.search(prepared, queries[:4], vectors[:4], BUDGET, tokens=spoken[:4])
    seconds = {}
    for name, (of_question, of_tokens) in asked:
        began = perf_counter()
        retriever.search(prepared, queries, of_question, BUDGET, tokens=of_tokens)
        seconds[name] = perf_counter() - began
    windows = sum(map(len, prepared.sizes))
    held = int(atoms.tokens.sum())
    return Measured(len(atoms), held, windows, preparing, seconds, _peak())


def _token_vectors(questions: int, seed: int) -> list[np.ndarray]:
    """Fourteen tokens per question, random as the other vectors."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(14, TOKEN_DIMENSIONS)).astype(np.float32) for _ in range(questions)]


def _peak() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    return int(status.read_text(encoding="utf-8").split("VmHWM:")[1].split()[0]) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=1000)
    given = parser.parse_args()
    print(measure(given.tokens, given.questions).report())


if __name__ == "__main__":
    main()

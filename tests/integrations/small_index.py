"""What the adapters are tried on: documents in an index, a question, and texts that have broken splitters."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import chunkwise
from chunkwise.testkit.hostile import hostile_documents

DOCUMENTS = [
    chunkwise.Document(
        "lamps.md",
        "# Lamps\n\nThe keeper lights the lamps at dusk. He trims them at dawn.\n\n## Oil\n\nOil is in the cellar.\n",
        format="markdown",
        metadata={"year": 2020, "topics": ["light", "oil"]},
    ),
    chunkwise.Document(
        "bread.md",
        "# Bread\n\nBread is baked before dawn. The oven is cold by noon. The baker keeps the lamps lit.\n",
        format="markdown",
        metadata={"year": 2024},
    ),
    chunkwise.Document(
        "ropes.txt",
        "Ropes are tarred in spring. A keeper of ropes counts them at dusk.",
        metadata={"year": 2022},
    ),
]
QUESTION = "who lights the lamps at dusk?"
STRATEGY = "sentences(max_tokens=12, overlap=0)"

TEXTS = {each.id: each.text for each in hostile_documents()} | {
    "repeated lines": "INFO request done\n" * 200,
    "emoji between": "Yes 👍🏽. No 🇩🇪. " * 40,
}
STRATEGIES = [
    "structure(max_tokens=30, overlap=8)",
    "recursive(max_tokens=60, overlap=20, tokenizer='characters')",
    "sentences(max_tokens=25)",
    "tokens(max_tokens=20, overlap=5)",
    "characters(max_chars=50, overlap=10)",
    "parent_child(max_tokens=10, parent_size=40)",
]


def make_index(folder: Path) -> Path:
    """Words alone, which is all these tests need."""
    chunkwise.index(DOCUMENTS, STRATEGY, into=folder / "kb", vectors="none")
    return folder / "kb"


class SharedWords:
    """A reranker that counts words of the question."""

    identity = "shared-words:1"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        words = {*query.lower().split()}
        return np.array([len(words & {*text.lower().split()}) for text in texts], np.float32)


def uncovered(text: str, spans: list[tuple[int, int]]) -> str:
    """What is no white space and in none of the spans."""
    covered = np.zeros(len(text), np.bool_)
    for start, end in spans:
        covered[start:end] = True
    return "".join(sign for sign, is_in in zip(text, covered, strict=True) if not is_in).strip()

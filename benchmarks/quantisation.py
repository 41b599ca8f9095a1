"""What the weights in 8 bits cost: the same passages found, or not, by ours and by the published model."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import corpora, published_minilm
from benchmarks.tables import table
from chunkwise import Document
from chunkwise.core import Chunk
from chunkwise.ext import get_strategy
from chunkwise.models.embed.pretrained import minilm

BAR = 1.0
"""Points of recall."""
STRATEGY = "sentences(max_tokens=200, overlap=0)"
_FOLDERS = ("xquad_en", "squad2")
_BUDGET = 1000


class Cost(NamedTuple):
    """Recall in percent by model, and how near the vectors of the two are."""

    folder: str
    passages: int
    questions: int
    cosine: NDArray[np.float64]
    at_five: dict[str, float]
    within_budget: dict[str, float]


def measure(documents: int = 16, questions: int = 1000) -> list[Cost]:
    """On as many documents of each folder, with as many of their questions at most."""
    ours = minilm()
    with tempfile.TemporaryDirectory() as folder:
        published = published_minilm.load(Path(folder))
        models = {
            "8 bits": ours.embed,
            "32 bits": lambda texts: published.encode(
                texts, batch_size=32, normalize_embeddings=True
            ),
        }
        found = []
        for name in filter(corpora.available, _FOLDERS):
            chunks, asked = _load(name, documents, questions)
            stored = {key: embed([chunk.text for chunk in chunks]) for key, embed in models.items()}
            recalls = {
                key: _recalls(chunks, stored[key], embed([text for text, _ in asked]), asked)
                for key, embed in models.items()
            }
            found.append(Cost(
                name, len(chunks), len(asked),
                np.einsum("ij,ij->i", *(each.astype(np.float64) for each in stored.values())),
                {key: 100 * five for key, (five, _) in recalls.items()},
                {key: 100 * budget for key, (_, budget) in recalls.items()},
            ))  # fmt: skip
    return found


Asked = tuple[str, list[tuple[str, int, int]]]


def _load(folder: str, documents: int, questions: int) -> tuple[list[Chunk], list[Asked]]:
    """Chunks that one window holds, and questions with the places that answer them."""
    root = corpora.SHARED / folder
    lines = (root / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:documents]
    strategy = get_strategy(STRATEGY)
    rows = [json.loads(line) for line in lines]
    chunks = [
        chunk for row in rows for chunk in strategy.chunks(Document(row["doc_id"], row["text"]))
    ]
    known = {row["doc_id"] for row in rows}
    asked = []
    for line in (root / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        places = [(each["doc_id"], each["start"], each["end"]) for each in row["references"]]
        if all(place[0] in known for place in places):
            asked.append((row["query"], places))
    return chunks, random.Random(5).sample(asked, min(questions, len(asked)))


def _recalls(
    chunks: list[Chunk],
    stored: NDArray[np.float32],
    vectors: NDArray[np.float32],
    asked: list[Asked],
) -> tuple[float, float]:
    """Share of the answers' characters in the first five chunks, and in the first within the budget."""
    five, budget = [], []
    for (_, places), scores in zip(asked, vectors @ stored.T, strict=True):
        order = [chunks[number] for number in np.argsort(-scores, kind="stable")[:100]]
        sizes = np.cumsum([chunk.token_count for chunk in order])
        five.append(_covered(order[:5], places))
        budget.append(_covered(order[: int((sizes <= _BUDGET).sum())], places))
    return float(np.mean(five)), float(np.mean(budget))


def _covered(chunks: list[Chunk], places: list[tuple[str, int, int]]) -> float:
    covered = sum(
        max(0, min(chunk.end, end) - max(chunk.start, start))
        for id, start, end in places
        for chunk in chunks
        if chunk.doc_id == id
    )
    return covered / sum(end - start for _, start, end in places)


def page(costs: list[Cost]) -> str:
    """The table as Markdown, with the bar."""
    rows, worst = [], 0.0
    for cost in costs:
        for what, recall in (
            ("recall in 5 chunks", cost.at_five),
            (f"recall within {_BUDGET:,} tokens", cost.within_budget),
        ):
            lost = recall["32 bits"] - recall["8 bits"]
            worst = max(worst, lost)
            rows.append([
                f"{cost.folder}, {what}", f"{cost.passages:,}", f"{cost.questions:,}",
                f"{recall['8 bits']:.1f}", f"{recall['32 bits']:.1f}", f"{0 - lost:+.1f}",
            ])  # fmt: skip
    near = np.concatenate([cost.cosine for cost in costs])
    return "\n".join([
        f"Chunks by `{STRATEGY}`, dense retrieval only.\n",
        table(["", "chunks", "questions", "8 bits", "32 bits", "points"], rows),
        "",
        f"- cosine of a chunk's two vectors: mean {near.mean():.4f}, least {near.min():.4f}",
        f"- {worst:.1f} points lost at most; bar {BAR:.0f}: {'met' if worst <= BAR else '**missed**'}",
        "",
    ])  # fmt: skip

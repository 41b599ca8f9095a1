"""Our embedder, its cache included, beside a plain loop over the same model: the same texts, in turns."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.sweep import material
from benchmarks.tables import table
from chunkwise.chunkers import get_strategy
from chunkwise.models.cache import ModelCache, cached
from chunkwise.models.embed.pretrained import PretrainedEmbedder, minilm
from chunkwise.models.weights.catalog import weights_of
from chunkwise.models.weights.installed import ensure
from chunkwise.text.analyzed import Analyzed

CHUNKING = "recursive(max_tokens=1000, overlap=200, tokenizer='characters')"
TEXTS, ROUNDS, BATCH = 300, 3, 32


class Taken(NamedTuple):
    wall: float
    cpu: float


def texts_of(reader: PretrainedEmbedder) -> list[str]:
    """Distinct chunks that one window holds: the plain loop would cut off what is longer."""
    strategy = get_strategy(CHUNKING)
    documents, _ = material()
    found = {chunk.text: None for each in documents for chunk in strategy.chunks(Analyzed(each))}
    fit = [text for text in found if len(reader.token_starts(text)) <= reader.window - 2]
    return random.Random(11).sample(fit, min(TEXTS, len(fit)))


def _plain(
    window: int,
) -> tuple[Callable[[Sequence[str]], np.ndarray], Callable[[Sequence[str]], np.ndarray]]:
    """A text a call, and batches by length: a session as it comes, mean of the tokens, length 1."""
    import onnxruntime
    from tokenizers import Tokenizer

    files = ensure(weights_of("minilm"))
    session = onnxruntime.InferenceSession(str(files["model.onnx"]))
    tokenizer = Tokenizer.from_file(str(files["tokenizer.json"]))
    tokenizer.enable_truncation(window)
    tokenizer.enable_padding()

    def batch(texts: Sequence[str]) -> np.ndarray:
        encoded = tokenizer.encode_batch(list(texts))
        ids = np.array([each.ids for each in encoded], dtype=np.int64)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        vectors: Any = session.run(None, feed)[0]
        pooled = (vectors * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        found: np.ndarray = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return found

    def one_by_one(texts: Sequence[str]) -> np.ndarray:
        return np.concatenate([batch([text]) for text in texts])

    def in_batches(texts: Sequence[str]) -> np.ndarray:
        order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
        parts = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
        found = np.concatenate([batch([texts[at] for at in part]) for part in parts])
        return found[np.argsort(order)]

    return one_by_one, in_batches


def measure() -> tuple[int, int, dict[str, Taken], float]:
    """Texts, tokens, the best of some rounds of each way, and how alike the least alike vectors are."""
    reader = minilm()
    texts = texts_of(reader)
    tokens = sum(len(reader.token_starts(text)) for text in texts)
    one_by_one, in_batches = _plain(reader.window)
    with tempfile.TemporaryDirectory() as folder:
        turn = iter(range(ROUNDS + 1))

        def ours(some: Sequence[str]) -> np.ndarray:
            return cached(reader, ModelCache(Path(folder) / f"{next(turn)}.sqlite")).embed(some)

        ways: dict[str, Callable[[Sequence[str]], np.ndarray]] = {
            "chunkwise, vectors kept on disk": ours,
            "plain loop, a text a call": one_by_one,
            f"plain loop, batches of {BATCH} by length": in_batches,
        }
        made = [way(texts[:40]) for way in ways.values()]  # threads and buffers are made here
        alike = min(float((made[0] * other).sum(1).min()) for other in made[1:])
        best: dict[str, Taken] = {}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                wall, cpu = time.perf_counter(), time.process_time()
                way(texts)
                taken = Taken(time.perf_counter() - wall, time.process_time() - cpu)
                best[name] = Taken(*map(min, best.get(name, taken), taken))
    return len(texts), tokens, best, alike


def run() -> str:
    """The table as Markdown."""
    count, tokens, best, alike = measure()
    ours, *others = best.values()
    slower = [
        kind
        for at, kind in enumerate(("wall", "processor"))
        if ours[at] > min(each[at] for each in others)
    ]
    return "\n".join([
        f"{count} distinct texts of {CHUNKING}, {tokens:,} tokens, none longer than a window; the best of {ROUNDS} "
        f"rounds in turns. The plain loop is onnxruntime as it comes, on the same file (least cosine to our vectors "
        f"{alike:.3f}).\n",
        table(["", "tokens per second", "tokens per CPU second"], [
            [name, f"{tokens / each.wall:,.0f}", f"{tokens / each.cpu:,.0f}"] for name, each in best.items()
        ]),
        "",
        f"- never slower an embedded token than the faster plain loop: "
        f"{'met' if not slower else '**missed** by ' + ' and '.join(slower) + ' time'}",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(run())

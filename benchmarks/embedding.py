"""Embedding on this CPU: ours against the bare runtime."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import corpora
from benchmarks.tables import table
from chunkwise import Document
from chunkwise.base.cores import cores
from chunkwise.models.embed.pretrained import minilm
from chunkwise.models.weights.catalog import weights_of
from chunkwise.models.weights.installed import ensure
from chunkwise.text.analyzed import Analyzed

BAR = 0.9
"""Of the bare runtime at its best."""
_LONGEST = 250
"""Tokens of a text, which one window of the model holds."""
_FOLDERS = ("squad2", "cuad", "anthropic_code")


class Speed(NamedTuple):
    """Best seconds of some rounds, taken in turns, for all texts."""

    texts: int
    tokens: int
    """Of the model, without the two special ones a text."""
    seconds: dict[str, float]

    def bare(self) -> float:
        """Seconds of the bare runtime at its best."""
        return min(taken for name, taken in self.seconds.items() if name.startswith("bare"))


def passages(count: int = 300) -> list[str]:
    """Paragraphs, clauses, code and questions of every length that one window holds, the same in every run."""
    rng = random.Random(11)
    texts: list[str] = []
    each = count // (len(_FOLDERS) + 1)
    for name in _FOLDERS:
        if not corpora.available(name):
            continue
        lines = (corpora.SHARED / name / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in rng.sample(lines, min(12, len(lines)))]
        found = [text for row in rows for text in _paragraphs(row["text"])]
        texts += rng.sample(found, min(each, len(found)))
    if corpora.available("squad2"):
        lines = (corpora.SHARED / "squad2" / "queries.jsonl").read_text("utf-8").splitlines()
        texts += [json.loads(line)["query"] for line in rng.sample(lines, count - len(texts))]
    return texts or list(_paragraphs(corpora.prose(200_000)))[:count]


def _paragraphs(text: str) -> list[str]:
    analyzed = Analyzed(Document("x", text))
    starts = [*analyzed.paragraphs.tolist(), len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(starts))
    return [piece for piece in pieces if len(piece) > 20]


def measure(count: int = 300, rounds: int = 5) -> Speed:
    """Everyone reads the same texts, none longer than a window."""
    ours = minilm()
    texts = []
    for text in passages(count):
        starts = ours.token_starts(text)
        texts.append(text if len(starts) <= _LONGEST else text[: int(starts[_LONGEST])].rstrip())
    tokens = sum(len(ours.token_starts(text)) for text in texts)
    runners: dict[str, Callable[[], object]] = {"chunkwise": lambda: ours.embed(texts)}
    runners |= _bare(texts)
    for run in runners.values():
        run()  # once for nothing: threads and buffers are made here
    seconds = dict.fromkeys(runners, float("inf"))
    for _ in range(rounds):
        for name, run in runners.items():
            began = time.perf_counter()
            run()
            seconds[name] = min(seconds[name], time.perf_counter() - began)
    return Speed(len(texts), tokens, seconds)


def _bare(texts: Sequence[str]) -> dict[str, Callable[[], object]]:
    """The runtime alone on token numbers made beforehand: no tokenising, no pooling, no cache, no windows."""
    from tokenizers import Tokenizer

    files = ensure(weights_of("minilm"))
    tokenizer = Tokenizer.from_file(str(files["tokenizer.json"]))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    rows = [np.array([encoding.ids]) for encoding in tokenizer.encode_batch(list(texts))]
    threads = cores()
    single, several = _session(files["model.onnx"], 1), _session(files["model.onnx"], threads)
    ordered = sorted((row[0] for row in rows), key=len)
    batches = [_padded(ordered[first : first + 16]) for first in range(0, len(ordered), 16)]

    def one_a_call() -> object:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda row: _read(single, row, np.ones_like(row)), rows))

    def in_batches() -> object:
        return [_read(several, *batch) for batch in batches]

    return {
        f"bare onnxruntime, a text a call, {threads} callers": one_a_call,
        f"bare onnxruntime, batches of 16 by length, {threads} threads": in_batches,
    }


def _session(path: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _padded(rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)], mask[number, : len(row)] = row, 1
    return ids, mask


def _read(session: Any, ids: np.ndarray, mask: np.ndarray) -> object:
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return session.run(None, feed)


def page(speed: Speed) -> str:
    """The table as Markdown, with the bar."""
    ours, bare = speed.seconds["chunkwise"], speed.bare()
    rows = [
        [name, f"{speed.tokens / taken:,.0f}", f"{speed.texts / taken:.1f}", f"{ours / taken:.2f}"]
        for name, taken in sorted(speed.seconds.items(), key=lambda each: each[1])
    ]
    share = bare / ours
    return "\n".join([
        f"{speed.texts} texts, {speed.tokens:,} tokens of the model; best of several rounds, taken in turns.\n",
        table(["", "tokens/s", "texts/s", "speed, chunkwise = 1"], rows),
        "",
        f"- {share:.0%} of the bare runtime at its best; bar {BAR:.0%}: {'met' if share >= BAR else '**missed**'}",
        "",
    ])  # fmt: skip

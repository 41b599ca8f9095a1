"""How fast an accelerator reads with models of three sizes: what `index --estimate --gpu` computes with.

    python -m benchmarks.accelerator TOKENIZER.json     # needs torch, sentence-transformers, and an accelerator

Weights are of chance: how long a model takes depends on its size alone. Texts are pieces of these docs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from sentence_transformers import SentenceTransformer
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[1]
TEXTS = 4_096


class Size(NamedTuple):
    """Of a model, and the one that people know it by."""

    name: str
    layers: int
    width: int
    heads: int


SIZES = (
    Size("all-MiniLM-L6-v2", 6, 384, 12),
    Size("bge-base-en-v1.5", 12, 768, 12),
    Size("bge-large-en-v1.5", 24, 1024, 16),
)


def model_of(size: Size, tokenizer: Path, folder: Path) -> Any:
    """With weights of chance, as the library keeps models."""
    torch.manual_seed(0)
    words = PreTrainedTokenizerFast(
        tokenizer_file=str(tokenizer), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        unk_token="[UNK]", mask_token="[MASK]", model_max_length=512,
    )  # fmt: skip
    config = BertConfig(
        vocab_size=len(words), hidden_size=size.width, num_hidden_layers=size.layers,
        num_attention_heads=size.heads, intermediate_size=4 * size.width,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return SentenceTransformer(str(folder))


def texts_of(words: int) -> list[str]:
    """Pieces of these docs, again and again, none of them twice in the same words."""
    every = " ".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))).split()
    places = range(0, len(every) - words, max(1, (len(every) - words) // TEXTS))
    return [" ".join(every[at : at + words]) for at in places][:TEXTS]


def seconds(work: Callable[[], object]) -> float:
    """Of the clock, the best of three, once the accelerator is done."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        took.append(time.perf_counter() - began)
    return min(took)


def measure(size: Size, tokenizer: Path) -> None:
    """The model alone, on tokens that lie there, and the library's call as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        model = model_of(size, tokenizer, Path(folder))
    bare = model[0].auto_model
    named = model.named_parameters()
    weights = sum(each.numel() for name, each in named if "embeddings" not in name)
    for words in (60, 150, 330):
        texts = texts_of(words)
        read = partial(model.tokenizer, truncation=True, max_length=512)
        tokens = sum(len(each) for each in read(texts)["input_ids"])
        batch = read(texts[:256], padding=True, return_tensors="pt").to("cuda")
        with torch.inference_mode():
            bare(**batch)
            alone = seconds(partial(bare, **batch)) / batch["attention_mask"].numel()
        whole = seconds(partial(model.encode, texts, batch_size=256)) / tokens
        print(
            f"| {size.name} | {weights / 1e6:.1f} | {tokens / len(texts):.0f} | {1 / alone:,.0f} | {1 / whole:,.0f} "
            f"| {2 * weights / alone / 1e12:.1f} |",
            flush=True,
        )


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("tokenizer", type=Path)
    tokenizer = given.parse_args().tokenizer
    print(torch.cuda.get_device_name(), torch.__version__, flush=True)
    print(
        "| size of | million weights | tokens a text | a second, alone | whole call | TFLOP/s, alone |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for size in SIZES:
        measure(size, tokenizer)


if __name__ == "__main__":
    main()

"""Our own sentence splitter and Markdown scanner beside the libraries that could have been used instead."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks import corpora
from benchmarks.tables import table
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.sentences.boundaries import sentence_starts


def _rate(work: Callable[[str], object], text: str, rounds: int = 3) -> float:
    """Million characters per second, best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work(text)
        best = min(best, time.perf_counter() - began)
    return len(text) / best / 1e6


def run() -> str:
    """Both comparisons as a table."""
    import nupunkt
    from markdown_it import MarkdownIt

    prose, dense = corpora.prose(800_000), "Yes. No. " * 50_000
    markdown = corpora.markdown(800_000)
    parser = MarkdownIt("commonmark").enable("table")
    nupunkt.sent_spans("Its model is loaded before the clock starts.")
    rows = []
    for what, text, ours, theirs in (
        ("sentences, prose", prose, _sentences, nupunkt.sent_spans),
        ("sentences, dense with full stops", dense, _sentences, nupunkt.sent_spans),
        ("blocks, Markdown", markdown, _blocks, parser.parse),
    ):
        mine, other = _rate(ours, text), _rate(lambda t, f=theirs: list(f(t)), text)
        rows.append((what, f"{mine:.1f}", f"{other:.1f}", f"{mine / other:.1f}×"))
    head = ("", "chunkwise", "nupunkt, markdown-it-py", "ratio")
    return f"Million characters per second, best of three.\n\n{table(head, rows)}\n"


def _sentences(text: str) -> object:
    return sentence_starts(CharacterArrays(text))


def _blocks(text: str) -> object:
    return Analyzed(Document("x", text, format="markdown")).blocks


if __name__ == "__main__":
    print(run())

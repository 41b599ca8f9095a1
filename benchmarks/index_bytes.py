"""What an index for several sizes weighs against a plain one of 200-token chunks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import chunkwise
from benchmarks.corpora import SHARED, available
from benchmarks.tables import table

BAR = 3.0
STRATEGY = "tokens(max_tokens=200, overlap=0)"
SETS = ("chroma_eval", "anthropic_code", "xquad_de", "xquad_zh")


def run() -> str:
    """Megabytes on disk with and without what several sizes need, as Markdown."""
    rows, worst = [], 0.0
    for name in [name for name in SETS if available(name)] or ["the corpus inside"]:
        plain, whole = _weighed(name)
        worst = max(worst, whole / plain)
        rows.append([name, f"{plain / 1e6:.2f}", f"{whole / 1e6:.2f}", f"{whole / plain:.2f}×"])
    return "\n".join([
        "Text, BM25 and vectors; the plain index has one 32-bit vector per chunk, without overlap.\n",
        table(["", "plain, MB", "for all sizes as well, MB", "ratio"], rows),
        "",
        f"- at most {BAR:.0f}× the plain index: {'met' if worst <= BAR else '**missed**'}",
        "",
    ])  # fmt: skip


def _weighed(name: str) -> tuple[int, int]:
    inputs = SHARED / name / "corpus.jsonl"
    if not inputs.exists():
        inputs = Path(chunkwise.__file__).parent / "corpus"
    with tempfile.TemporaryDirectory() as folder:
        chunkwise.index(str(inputs), STRATEGY, into=f"{folder}/kb")
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        whole = sum(path.stat().st_size for path in files)
        sizes = sum(path.stat().st_size for path in files if path.name.startswith("atom"))
    return whole - sizes, whole


if __name__ == "__main__":
    print(run())

"""Wall time of `chunkwise --help` and of `import chunkwise`, and what the import loads."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time

from benchmarks.tables import table

BAR = 150
"""Milliseconds for --help."""

_MODULES = "import sys; before = set(sys.modules); import chunkwise; print('\\n'.join(set(sys.modules) - before))"
_HEAVY = (
    "numpy",
    "regex",
    "pyarrow",
    "pydantic",
    "httpx",
    "onnxruntime",
    "rich",
    "lxml",
    "bpe_openai",
)


def milliseconds(*arguments: str, rounds: int = 5) -> float:
    """Best wall time of a Python process with these arguments."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        best = min(best, time.perf_counter() - began)
    return best * 1000


def run(rounds: int = 5) -> str:
    """The table as Markdown."""
    rows = [["Python alone (`-c pass`)", f"{milliseconds('-c', 'pass', rounds=rounds):.0f}", ""]]
    rows.append(
        ["`import chunkwise`", f"{milliseconds('-c', 'import chunkwise', rounds=rounds):.0f}", ""]
    )
    notes = []
    if importlib.util.find_spec("chunkwise.__main__") is None:
        notes.append("- `--help` left out: there is no `chunkwise.__main__` yet")
    else:
        took = milliseconds("-m", "chunkwise", "--help", rounds=rounds)
        rows.append(
            ["`chunkwise --help`", f"{took:.0f}", f"{BAR}: {'met' if took < BAR else '**missed**'}"]
        )
    told = subprocess.run(
        [sys.executable, "-c", _MODULES], check=True, capture_output=True, text=True
    )
    loaded = told.stdout.split()
    heavy = [name for name in _HEAVY if name in loaded]
    notes.append(
        f"- `import chunkwise` loads {len(loaded)} modules; heavy ones: {', '.join(heavy) or 'none'}"
    )
    return "\n".join([table(["", "ms", "bar"], rows), "", *notes, ""])


if __name__ == "__main__":
    print(run())

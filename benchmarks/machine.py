"""What a page of figures must say about where they come from."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = (
    "chunkwise", "bpe-openai", "numpy", "regex", "chonkie", "langchain-text-splitters", "llama-index-core",
    "semantic-text-splitter", "semchunk", "docling-core", "unstructured", "tiktoken",
    "lxml", "trafilatura", "resiliparse", "readability-lxml", "justext", "boilerpy3",
    "onnxruntime", "tokenizers", "scipy", "bm25s", "torch", "sentence-transformers",
    "lancedb", "qdrant-client", "psycopg",
)  # fmt: skip


def describe() -> str:
    """Date, commit, machine and versions as a Markdown list; no host name."""
    versions = ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    cores = os.cpu_count() or 1
    quiet = "" if load < 0.5 * cores else " (**busy: results are noisy**)"
    return "\n".join([
        f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit()}, {_processor()}, {cores} cores, "
        f"{platform.system()}, load {load:.1f} at the end{quiet}",
        f"- Python {platform.python_version()}; {versions}",
        "",
    ])  # fmt: skip


def commit(root: Path = ROOT) -> str:
    """The code that is measured: a short hash, `+changes` where src/ differs from it."""
    found = git(root, "rev-parse", "--short=8", "HEAD")
    return f"{found}+changes" if git(root, "status", "--porcelain", "src") else found or "unknown"


def git(root: Path, *arguments: str) -> str:
    """What git prints; nothing where it fails or is not installed."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return "" if done.returncode else done.stdout.strip()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()

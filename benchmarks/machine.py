"""What a page of figures must say about where they come from."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

_PACKAGES = (
    "chunkwise", "bpe-openai", "numpy", "regex", "chonkie", "langchain-text-splitters", "llama-index-core",
    "semantic-text-splitter", "semchunk", "docling-core", "unstructured", "tiktoken",
    "lxml", "trafilatura", "resiliparse", "readability-lxml", "justext", "boilerpy3",
    "onnxruntime", "tokenizers", "scipy", "bm25s", "torch", "sentence-transformers",
    "lancedb", "qdrant-client", "psycopg",
)  # fmt: skip


def describe() -> str:
    """Machine, date and versions as a Markdown list; no host name."""
    versions = ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    cores = os.cpu_count() or 1
    quiet = "" if load < 0.5 * cores else " (**busy: the figures are noisy**)"
    return "\n".join([
        f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {_processor()}, {cores} cores, "
        f"{platform.system()}, load {load:.1f} at the end{quiet}",
        f"- Python {platform.python_version()}; {versions}",
        "",
    ])  # fmt: skip


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

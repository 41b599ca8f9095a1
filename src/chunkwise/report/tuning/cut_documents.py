"""Documents as the choice cuts them, beside the cuts of a default."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.base.wording import counted
from chunkwise.report.page_text import words
from chunkwise.report.tuning.explorer import CutDocument, Explorer
from chunkwise.report.tuning.highlight import shown

_MOST = 8
_CHARACTERS = 4_000
"""Of each document: enough to see how it is cut."""


def cut_documents(explorer: Explorer) -> str:
    """A few documents, the first one open."""
    known = [each for each in explorer.documents if each.doc_id in explorer.texts][:_MOST]
    return "".join(_document(each, explorer, opened=not at) for at, each in enumerate(known))


def _document(document: CutDocument, explorer: Explorer, *, opened: bool) -> str:
    text = explorer.texts[document.doc_id]
    columns = "".join(
        f"<div><h4>{name}: {words(label, 200)}</h4>"
        f'<p class="where">{counted(len(spans), "chunk")}</p>{_chunks(text, spans)}</div>'
        for name, label, spans in (
            ("The choice", explorer.chosen, document.chosen),
            ("The default", explorer.baseline, document.baseline),
        )
    )
    more = (
        f'<p class="hint">The first {_CHARACTERS:,} of {len(text):,} characters.</p>'
        if len(text) > _CHARACTERS
        else ""
    )
    return (
        f'<details class="card document"{" open" if opened else ""}><summary>{words(document.doc_id, 200)}</summary>'
        f'<div class="both">{columns}</div>{more}</details>'
    )


def _chunks(text: str, spans: Sequence[tuple[int, int]]) -> str:
    if not spans:
        return '<p class="none">No chunks: several sizes are searched at once.</p>'
    items, covered = [], 0
    for number, (start, end) in enumerate(sorted(spans), 1):
        if start >= _CHARACTERS:
            break
        end = min(end, _CHARACTERS)
        again = min(max(covered, start), end)
        # What the chunk before has too is told apart: it is stored, embedded and paid for twice.
        twice = f'<span class="again">{shown(text[start:again])}</span>' if again > start else ""
        items.append(
            f'<li><span class="rank">{number}</span><p class="text"><bdi>{twice}{shown(text[again:end])}</bdi></p></li>'
        )
        covered = max(covered, end)
    return f'<ol class="pieces">{"".join(items)}</ol>'

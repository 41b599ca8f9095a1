"""An answer as a record: what a program reads, and what `chunkwise evaluate --answers` takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import Any

from chunkwise.answering.answered import Answered, Claim
from chunkwise.core import SECTION_SEPARATOR


def answer_row(answered: Answered) -> dict[str, Any]:
    """`answer` has what the documents hold, `marked` all that was claimed, `citations` a place for each claim that has
    one. Offsets are half-open, in Unicode code points of the document's text."""
    return {
        "query_id": answered.query_id,
        "query": answered.question,
        "found": answered.found,
        "answer": answered.text,
        "marked": answered.marked,
        "claims": _claims(answered.claims),
        "citations": [_citation(claim) for claim in answered.claims if claim.citation],
        "passages": [
            {"number": each.number, "id": each.id, "doc_id": each.doc_id, "start": each.start, "end": each.end}
            for each in answered.passages
        ],
        "left_out": answered.left_out,
        "note": answered.note,
        "model": answered.model,
        "prompt": answered.prompt,
        "usage": None if answered.usage is None else asdict(answered.usage),
    }  # fmt: skip


def _claims(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Each with the number of its citation, from 1; null: it has none."""
    numbers = accumulate(int(claim.citation is not None) for claim in claims)
    return [
        {
            "text": claim.text,
            "state": claim.state,
            "note": claim.note,
            "citation": number if claim.citation else None,
        }
        for claim, number in zip(claims, numbers, strict=True)
    ]


def _citation(claim: Claim) -> dict[str, Any]:
    citation = claim.citation
    assert citation is not None
    return {
        "claim": claim.text,
        "state": claim.state,
        "note": claim.note,
        "moved": claim.is_moved,
        "id": citation.id,
        "doc_id": citation.doc_id,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "passage": citation.passage,
        "title": citation.title,
        "section": SECTION_SEPARATOR.join(citation.section),
        "page": citation.page,
        "lines": citation.lines,
    }

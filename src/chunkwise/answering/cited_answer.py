"""An answer as a value and as a record: the passages a model was given, its claims, and the place of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any, Literal

from chunkwise.answering.passages import NumberedPassage
from chunkwise.base.deprecation import warn_renamed
from chunkwise.base.repr_html import beginning, drawn
from chunkwise.core import SECTION_SEPARATOR
from chunkwise.models.llm.cost import LlmUsage

ClaimState = Literal["supported", "quoted", "unsupported"]
"""The quote stands there and the words of the claim do, too; the quote stands there, and whether it says the claim the
words do not show; no quote that stands anywhere."""

NOT_FOUND = "Not in these documents."
UNSHOWN = "The passages that were read do not show an answer."
"""Where passages were read: the answer may stand elsewhere, or in other words."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in a document; `quote` is always `document.text[start:end]`."""

    passage: int
    """Number of the passage, as the model was given it."""
    id: str
    """`doc_id::index` of the chunk; `doc_id@start-end` where the passage is no chunk."""
    doc_id: str
    start: int
    end: int
    quote: str
    title: str = ""
    section: tuple[str, ...] = ()
    page: int | None = None
    lines: tuple[int, int] | None = None
    """First and last line of the file, from 1; None where the text is not that of the file."""
    opening: str = ""
    """What is shown before the quote where it begins inside a block: the fence of code, the header of a table."""
    closing: str = ""
    """What is shown behind it where it ends inside code."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer, compared with the passages."""

    text: str
    state: ClaimState
    citation: Citation | None = None
    """None where it is unsupported."""
    is_moved: bool = False
    """Whether the quote stands in another passage than the one the model named."""
    note: str = ""
    """What is wrong with it; empty where it is supported."""


@dataclass(frozen=True, slots=True, repr=False)
class CitedAnswer:
    """What came of one question."""

    question: str
    claims: tuple[Claim, ...] = ()
    passages: tuple[NumberedPassage, ...] = ()
    """What the model was given to read."""
    left_out: int = 0
    """Passages that had no room in the model's window."""
    reason: str = ""
    """Why there is no answer at all: the model gave none that can be used."""
    note: str = ""
    """Why the model was not asked, or why nothing is quoted."""
    llm: str = ""
    """The model that was asked; empty where sentences are quoted."""
    prompt: str = ""
    """Name, version and hash of the wording it was asked with."""
    quoted_by: str = ""
    """The model that chose the sentences; empty where a language model wrote the answer."""
    usage: LlmUsage | None = None
    """What this question took; None where several were asked at once: the client knows what all took."""
    query_id: str = "1"

    @property
    def model(self) -> str:
        """The old name of `llm`."""
        warn_renamed("CitedAnswer.model", "llm")
        return self.llm

    @property
    def found(self) -> bool:
        """Whether the documents answer the question: a claim that nothing supports is no answer."""
        return any(claim.citation for claim in self.claims)

    @property
    def is_answered(self) -> bool:
        """Also where the answer is that the documents do not say it."""
        return not self.reason

    @property
    def text(self) -> str:
        """What the documents hold of the answer; claims without a place in them are left out."""
        if self.reason:
            return ""
        return _joined([claim.text for claim in self.claims if claim.citation]) or self.refusal

    @property
    def refusal(self) -> str:
        """What is said in place of an answer; empty: there is one, or none at all."""
        if self.found or self.reason:
            return ""
        # What was read is a part of the documents: the rest may say it.
        return UNSHOWN if self.claims or self.passages else NOT_FOUND

    @property
    def marked(self) -> str:
        """Every claim, with the number of its citation or the mark that it is unsupported."""
        if self.reason:
            return ""
        parts = [self.refusal] if self.refusal else []
        number = 0
        for claim in self.claims:
            number += claim.citation is not None
            parts.append(beside(claim.text, f"[{mark_of(claim, number)}]"))
        return _joined(parts)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Numbered from 1 in `marked`."""
        return tuple(claim.citation for claim in self.claims if claim.citation)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, as `chunkwise ask --json` prints them."""
        return answer_row(self)

    def __str__(self) -> str:
        return self.marked or f"no answer: {self.reason}"

    def __repr__(self) -> str:
        return f"<CitedAnswer {beginning(self.question)!r}: {beginning(str(self))!r}, {len(self.citations)} citations>"

    def _repr_html_(self) -> str:
        return drawn(self)


def beside(text: str, mark: str) -> str:
    """A mark behind a text; behind lines of code or of a table on a line of its own."""
    return f"{text}\n{mark}" if "\n" in text else f"{text} {mark}"


def _joined(parts: Sequence[str]) -> str:
    """Sentences in one line, code and tables on lines of their own."""
    lines = [""]
    for part in parts:
        if "\n" in part:
            lines += [part, ""]
        else:
            lines[-1] = f"{lines[-1]} {part}".lstrip()
    return "\n".join(line for line in lines if line)


def mark_of(claim: Claim, number: int) -> str:
    """The number of its citation, with a question mark where the words do not show that it says the claim."""
    if claim.state == "unsupported":
        return "unsupported"
    return f"{number}?" if claim.state == "quoted" else f"{number}"


def answer_row(answered: CitedAnswer) -> dict[str, Any]:
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
        "llm": answered.llm,
        "prompt": answered.prompt,
        "quoted_by": answered.quoted_by,
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
        "opening": citation.opening,
        "closing": citation.closing,
    }

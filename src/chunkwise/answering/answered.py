"""An answer taken apart into claims, each with the place it stands at, or the mark that it stands nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chunkwise.answering.passages import GivenPassage
from chunkwise.models.llm.spent import Spent

State = Literal["supported", "quoted", "unsupported"]
"""The quote stands there and the words of the claim do, too; the quote stands there, and whether it says the claim the
words do not show; no quote that stands anywhere."""

NOT_FOUND = "Not in these documents."


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


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer, held against the passages."""

    text: str
    state: State
    citation: Citation | None = None
    """None where it is unsupported."""
    is_moved: bool = False
    """Whether the quote stands in another passage than the one the model named."""
    note: str = ""
    """What is wrong with it; empty where it is supported."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one question."""

    question: str
    claims: tuple[Claim, ...] = ()
    passages: tuple[GivenPassage, ...] = ()
    """What the model was given to read."""
    left_out: int = 0
    """Passages that had no room in the model's window."""
    reason: str = ""
    """Why there is no answer at all: the model gave none that can be used."""
    note: str = ""
    """Why the model was not asked."""
    model: str = ""
    prompt: str = ""
    """Name, version and hash of the wording it was asked with."""
    usage: Spent | None = None
    """What this question took; None where several were asked at once: the client knows what all took."""
    query_id: str = "1"

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
        return " ".join(claim.text for claim in self.claims if claim.citation) or NOT_FOUND

    @property
    def marked(self) -> str:
        """Every claim, with the number of its citation or the mark that it is unsupported."""
        if self.reason:
            return ""
        parts = [] if self.found else [NOT_FOUND]
        number = 0
        for claim in self.claims:
            number += claim.citation is not None
            parts.append(f"{claim.text} [{mark_of(claim, number)}]")
        return " ".join(parts)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Numbered from 1 in `marked`."""
        return tuple(claim.citation for claim in self.claims if claim.citation)

    def __str__(self) -> str:
        return self.marked or f"no answer: {self.reason}"


def mark_of(claim: Claim, number: int) -> str:
    """The number of its citation, with a question mark where the words do not show that it says the claim."""
    if claim.state == "unsupported":
        return "unsupported"
    return f"{number}?" if claim.state == "quoted" else f"{number}"

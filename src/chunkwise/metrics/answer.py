"""What somebody answered, with what it cites."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from chunkwise.metrics.claims.readable import without_citation_marks

NO_CITATIONS = "no citations"


class AnswerCitation(NamedTuple):
    """A place that is said to support a claim."""

    claim: str
    """A sentence of the answer, or a part of one; empty: the whole answer."""
    doc_id: str
    start: int | None = None
    """None: the place is told by the quote, or is the whole document."""
    end: int | None = None
    """None beside a start: behind the quote, or, without one, the end of the sentence."""
    quote: str = ""
    """What is said to stand there; empty: it is not said."""
    unresolved: str = ""
    """Why nobody can say where it points: it is not scored. Empty: it can be said."""

    @property
    def said(self) -> str:
        """The claim without citation marks."""
        return without_citation_marks(self.claim).strip()


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answered to a question."""

    text: str
    citations: tuple[AnswerCitation, ...] = ()
    is_refusal: bool = False
    """Whether it says that the documents do not answer the question: it claims nothing of what they say."""

    @property
    def said(self) -> str:
        """The text without citation marks: what is compared, as a mark is no part of what is claimed."""
        return without_citation_marks(self.text)

    @property
    def scored(self) -> Answer:
        """With the citations alone of which one can say where they point."""
        known = tuple(each for each in self.citations if not each.unresolved)
        return self if len(known) == len(self.citations) else replace(self, citations=known)

    @property
    def why_uncited(self) -> str:
        """Why there is no citation to score; empty: there is one."""
        if not self.citations:
            return NO_CITATIONS
        return "" if self.scored.citations else self.citations[0].unresolved

"""What one run of generating questions came to: kept by type, dropped by reason, and why it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from chunkwise.core import Query
from chunkwise.testsets.generate.question_types import QuestionType

Reason = Literal[
    "no answer",
    "no question",
    "quote not in the passage",
    "answer given away",
    "needs the passage",
    "answer not supported",
    "near-duplicate",
]

REASONS: tuple[Reason, ...] = get_args(Reason)

MEANING: dict[Reason, str] = {
    "no answer": "the model gave none that could be read",
    "no question": "too short, too long, no question mark, or markup",
    "quote not in the passage": "the evidence stands nowhere in what was shown",
    "answer given away": "the question has the answer, or nearly all words of the quote",
    "needs the passage": "it points at the text, or does not name what it is about",
    "answer not supported": "the quotes do not say what the answer says",
    "near-duplicate": "almost the same was asked before",
}


class QuestionTally:
    """Counts while questions come in."""

    def __init__(self) -> None:
        self.dropped: Counter[Reason] = Counter()
        self.kept: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        """Why there is no answer, in the words of the model or the client."""
        self.unasked = 0
        """Of those without an answer, how many the limit of cost did not allow to ask."""
        self.asked_for: Counter[str] = Counter()
        """Questions by the kind that was wanted."""

    @property
    def all_dropped(self) -> Counter[Reason]:
        """Those without an answer among them; what nobody was asked is not dropped."""
        without: Reason = "no answer"
        return self.dropped + Counter({without: self.unanswered.total() - self.unasked})

    @property
    def note(self) -> str:
        return f"{self.kept.total():,} kept, {self.all_dropped.total():,} dropped"


Ending = Literal["enough", "rules", "cost", "passages", "calls", "silence"]
"""Why no more was asked: nothing is missing; rules find no more; the limit of cost, the passages or the calls are used
up; or too many requests in a row went unanswered."""


@dataclass(frozen=True, slots=True)
class GeneratedQuestions:
    """The questions, those that were there before among them, and what became of the others."""

    queries: tuple[Query, ...]
    wanted: int
    found_before: int
    """Questions that the file had when the run began."""
    dropped: Mapping[str, int]
    """How many for which reason."""
    unanswered: Mapping[str, int]
    """Why the model did not answer, in its words, and how often."""
    made_by: str
    """The model's identity, or the rules."""
    ending: Ending = "enough"
    unasked: int = 0
    """Requests that the limit of cost did not allow: nobody has seen them."""
    asked_for: Mapping[QuestionType, int] | None = None
    """Of each kind that was wanted, how many questions a model was asked for; None: no model."""

    @property
    def is_complete(self) -> bool:
        return len(self.queries) >= self.wanted

    @property
    def missing_kinds(self) -> dict[QuestionType, int]:
        """Kinds of which no question came out, with how many were asked for; 0: no passage suits them."""
        found = {name for query in self.queries for name in query.types}
        used_up = self.ending == "passages"
        return {
            kind: count
            for kind, count in (self.asked_for or {}).items()
            if kind not in found and (count or used_up)
        }

"""What became of the questions: kept by type, dropped by reason."""

from __future__ import annotations

from collections import Counter
from typing import Literal, get_args

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


class Tally:
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

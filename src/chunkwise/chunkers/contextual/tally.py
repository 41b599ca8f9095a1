"""How many chunks got a context of the model, and why the others did not."""

from __future__ import annotations

from collections import Counter


class ContextTally:
    """Grows while contexts are written."""

    def __init__(self) -> None:
        self.chunks = 0
        self.known = 0
        """Chunks whose context was known before."""
        self.written = 0
        """Answers of the model that can be used, in this run."""
        self.reasons: Counter[str] = Counter()
        """Of chunks that have the headings context instead."""

    @property
    def without(self) -> int:
        return self.reasons.total()

    @property
    def note(self) -> str:
        """How far it is."""
        return f"{self.written:,} context{'s' * (self.written != 1)} written"

    def told(self) -> str:
        """One line; empty where every chunk has its context."""
        if not self.without:
            return ""
        (reason, _), *others = self.reasons.most_common()
        more = f" (and {len(others)} other reason{'s' * (len(others) != 1)})" if others else ""
        chunks = f"{self.without:,} of {self.chunks:,} chunk{'s' * (self.chunks != 1)}"
        has, it = ("has", "it has") if self.without == 1 else ("have", "they have")
        return f"{chunks} {has} no context of the model, {it} the headings context instead: {reason}{more}"

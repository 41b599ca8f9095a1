"""The question gives its answer away, or is the quote itself with a question mark."""

from __future__ import annotations

from chunkwise.generating.candidate import Candidate, words_in

COPIED = 0.8
"""Share of the evidence's content terms from which a question is a copy of it."""
_FEW = 4
"""Terms of evidence under which any question about it has most of them."""


def gives_away(candidate: Candidate) -> bool:
    """Whether nothing in the answer is new to whoever reads the question."""
    language = candidate.language
    asked = words_in(candidate.question, language)
    answered = words_in(candidate.answer, language)
    if answered and answered <= asked:
        return True
    proof = words_in("\n".join(candidate.evidence), language)
    return len(proof) >= _FEW and len(asked & proof) >= COPIED * len(proof)

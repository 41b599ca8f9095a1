"""What kinds of question one turned out to be: what was asked for is no proof."""

from __future__ import annotations

import re

from chunkwise.core import Reference
from chunkwise.generating.candidate import Candidate, words_in
from chunkwise.generating.question_types import Kind
from chunkwise.metrics.claims.new_numbers import brings_number

OTHER_WORDS = 0.5
"""Share of a question's content terms that may stand in the evidence where it is told as a paraphrase."""
_LIST = re.compile(r",\s|;\s|\n|、|\b(?:and|und|et|y)\b")


def verified_kinds(candidate: Candidate, facts: tuple[str, ...]) -> tuple[Kind, ...]:
    """The kind asked for where it is one, numeric where the answer has a number; single-concept where it is neither."""
    kind = candidate.draft.kind
    is_one = (
        (kind == "cross-document" and needs_both(candidate))
        or (kind == "paraphrase" and _is_paraphrase(candidate))
        or (kind == "list" and len(facts) > 1 and bool(_LIST.search(candidate.answer)))
    )
    found: list[Kind] = [kind] if is_one else []
    if brings_number(candidate.question, candidate.answer, candidate.language):
        found.append("numeric")
    return tuple(found) or ("single-concept",)


def needs_both(candidate: Candidate) -> bool:
    """Whether evidence of two documents has a part of the answer each that the other has not."""
    language = candidate.language
    documents: dict[str, set[int]] = {}
    for reference, text in zip(candidate.references, candidate.evidence, strict=True):
        documents.setdefault(reference.doc_id, set()).update(words_in(text, language))
    if len(documents) < 2 or _same_text(candidate.references):
        return False
    answered = words_in(candidate.answer, language) | words_in(candidate.question, language)
    parts = [answered & terms for terms in documents.values()]
    return all(part - set().union(*(each for each in parts if each is not part)) for part in parts)


def _same_text(references: tuple[Reference, ...]) -> bool:
    return any(each.alternatives for each in references)


def _is_paraphrase(candidate: Candidate) -> bool:
    language = candidate.language
    asked = words_in(candidate.question, language)
    proof = words_in("\n".join(candidate.evidence), language)
    return len(asked & proof) <= OTHER_WORDS * len(asked)

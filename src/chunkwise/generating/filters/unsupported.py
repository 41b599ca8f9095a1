"""Answers that their quotes do not prove."""

from __future__ import annotations

import re

from chunkwise.core import SECTION_SEPARATOR, Fact
from chunkwise.generating.candidate import Candidate, words_in
from chunkwise.generating.ground import SourcePassage
from chunkwise.metrics.claims.amounts import counted
from chunkwise.metrics.claims.claim_support import FEW, supports
from chunkwise.metrics.claims.fact_search import is_named
from chunkwise.metrics.claims.plain_form import numbers_of, plain_form
from chunkwise.metrics.claims.readable import Readable, sentences

_NUMBER = re.compile(r"\d[\d.,]*")


def is_unsupported(candidate: Candidate) -> bool:
    """Whether a sentence of the answer, or a number in it, is not in the evidence.

    What the question says already need not stand there again, as long as it stands in the passage.
    """
    language = candidate.language
    proof = "\n".join(candidate.evidence)
    missing = _numbers(candidate.answer, language) - _numbers(candidate.question, language)
    if not missing <= _numbers(proof, language):
        return True
    claims = sentences(candidate.answer)
    read = Readable(proof)
    return not claims or not all(_holds(read, claim, candidate) for claim in claims)


def named_facts(candidate: Candidate) -> tuple[str, ...]:
    """The facts that stand in the evidence: no others can be looked for in what a search finds."""
    plain = plain_form("\n".join(candidate.evidence))
    return tuple(each for each in candidate.draft.facts if is_named(Fact(each), plain))


def _holds(proof: Readable, claim: Readable, candidate: Candidate) -> bool:
    if supports(proof, claim):
        return True
    language = claim.language
    # Numbers were looked for already, and may be digits here and words there.
    words = words_in(_NUMBER.sub(" ", claim.text), language)
    new = words - words_in(candidate.question, language)
    if not new <= proof.terms(language) or not (new or claim.numbers):
        return False
    if len(claim.terms(language)) < FEW:
        return True
    return any(supports(Readable(_around(passage)), claim) for passage in candidate.draft.passages)


def _around(passage: SourcePassage) -> str:
    """Under its headings: they name what it is about."""
    return f"{SECTION_SEPARATOR.join(passage.path)}\n\n{passage.text}"


def _numbers(text: str, language: str) -> set[str]:
    """As digits, whether they are written as digits or as words."""
    plain = plain_form(text)
    return {amount.number for amount in counted(plain, language).amounts} | numbers_of(plain)

"""The claims of an answer, and which citation is for which of them."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.metrics.citations.places import CitedTexts
from chunkwise.metrics.claims.answers import Answer, Citation
from chunkwise.metrics.claims.claim_support import supports
from chunkwise.metrics.claims.negation import denied
from chunkwise.metrics.claims.plain_form import holds
from chunkwise.metrics.claims.readable import Readable, sentences

NO_CLAIMS = "the answer has no words to look for"


class Claims(NamedTuple):
    """An answer taken apart."""

    cited: list[bool]
    """Of each claim, whether a citation is for it."""
    supported: list[bool]
    """Of each claim, whether one of its citations contains it, or several its parts."""
    supporting: list[bool]
    """Of each citation, whether it contains what it is cited for."""


def read_claims(answer: Answer, texts: CitedTexts, threshold: float) -> Claims:
    """Claims are the sentences of the answer that say something."""
    claims = sentences(answer.text)
    claims_cited, claims_supported = [False] * len(claims), [False] * len(claims)
    parts: list[list[Readable]] = [[] for _ in claims]
    supporting = []
    for citation in answer.citations:
        cited = texts.readable(citation)
        own = Readable(citation.claim)
        meant = [n for n, claim in enumerate(claims) if _is_for(citation, own, claim)]
        held = [n for n in meant if any(supports(text, claims[n], threshold) for text in cited)]
        for n in meant:
            claims_cited[n] = True
        for n in held:
            claims_supported[n] = True
        good = bool(held)
        # A part of a sentence may have a source of its own: the part is what the place must contain.
        if citation.claim.strip():
            good = any(supports(text, own, threshold) for text in cited)
            for n in meant if good else []:
                parts[n].append(own)
        supporting.append(good)
    for n, claim in enumerate(claims):
        claims_supported[n] |= _cover(parts[n], claim, threshold)
    return Claims(claims_cited, claims_supported, supporting)


def _is_for(citation: Citation, own: Readable, claim: Readable) -> bool:
    """A citation of no claim in particular is for all of them."""
    if not citation.claim.strip():
        return True
    return holds(claim.plain, own.plain) or holds(own.plain, claim.plain)


def _cover(parts: list[Readable], claim: Readable, threshold: float) -> bool:
    """Whether parts that are supported make up a sentence: enough of its terms, its numbers and its negation."""
    if not parts:
        return False
    terms = claim.terms(claim.language)
    covered = set().union(*(part.terms(claim.language) for part in parts)) & terms
    numbers = frozenset[str]().union(*(part.numbers for part in parts))
    said = " ".join(part.plain for part in parts)
    return (
        len(covered) >= threshold * len(terms) - 1e-9
        and claim.numbers <= numbers
        and (bool(denied(said, claim.language)) or not denied(claim.plain, claim.language))
    )

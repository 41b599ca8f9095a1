"""The claims of an answer, and which citation is for which of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chunkwise.metrics.citations.places import cited_place
from chunkwise.metrics.claims.answers import Answer, Citation
from chunkwise.metrics.claims.claim_support import supports
from chunkwise.metrics.claims.readable import Readable, sentences
from chunkwise.metrics.claims.plain_form import holds

NO_CITATIONS = "no citations"
NO_CLAIMS = "the answer has no words to look for"


class Claims(NamedTuple):
    """An answer taken apart."""

    cited: list[bool]
    """Of each claim, whether a citation is for it."""
    supported: list[bool]
    """Of each claim, whether one of its citations contains it."""
    supporting: list[bool]
    """Of each citation, whether it contains what it is cited for."""


def read_claims(answer: Answer, texts: Mapping[str, str], threshold: float) -> Claims:
    """Claims are the sentences of the answer that say something."""
    claims = sentences(answer.text)
    claims_cited, claims_supported = [False] * len(claims), [False] * len(claims)
    supporting = []
    for citation in answer.citations:
        place = cited_place(citation, texts)
        cited = Readable(texts[place.doc_id][place.start : place.end]) if place else None
        own = Readable(citation.claim)
        meant = [n for n, claim in enumerate(claims) if _is_for(citation, own, claim)]
        for n in meant:
            claims_cited[n] = True
        # A part of a sentence may have a source of its own: the part is what the place must contain.
        if citation.claim.strip():
            good = cited is not None and supports(cited, own, threshold)
            held = meant if good else []
        else:
            held = [n for n in meant if cited and supports(cited, claims[n], threshold)]
            good = bool(held)
        for n in held:
            claims_supported[n] = True
        supporting.append(good)
    return Claims(claims_cited, claims_supported, supporting)


def _is_for(citation: Citation, own: Readable, claim: Readable) -> bool:
    """A citation of no claim in particular is for all of them."""
    if not citation.claim.strip():
        return True
    return holds(claim.plain, own.plain) or holds(own.plain, claim.plain)

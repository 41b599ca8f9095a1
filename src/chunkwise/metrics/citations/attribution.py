"""Can one point at the source? By attribution: the document and the place named are the right ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Passage, Query, Reference, Score
from chunkwise.metrics.citations.claims import NO_CITATIONS
from chunkwise.metrics.citations.places import cited_place
from chunkwise.metrics.claims.answers import NO_ANSWER, Answer, Citation
from chunkwise.metrics.claims.plain_form import holds, plain_form

NOTHING_TO_CHECK = "citations without quotes, and a question without references"


def citation_attribution(
    queries: Sequence[Query], answers: Mapping[str, Answer], texts: Mapping[str, str]
) -> list[Score]:
    """Share of an answer's citations that are right; `texts` are the documents by id.

    Right is one that leads to a place, where its quote stands (case and punctuation do not count) and which, where the
    question has references, overlaps one of them. Without either there is nothing to check, except that it leads
    somewhere: a citation that leads nowhere is wrong always.
    """
    found = []
    for query in queries:
        answer = answers.get(query.id)
        if answer is None:
            found.append(Score(None, NO_ANSWER))
        elif not answer.citations:
            found.append(Score(None, NO_CITATIONS))
        else:
            verdicts = [_is_right(each, query.references, texts) for each in answer.citations]
            known = [verdict for verdict in verdicts if verdict is not None]
            found.append(Score(sum(known) / len(known)) if known else Score(None, NOTHING_TO_CHECK))
    return found


def _is_right(
    citation: Citation, references: Sequence[Reference], texts: Mapping[str, str]
) -> bool | None:
    place = cited_place(citation, texts)
    if place is None:
        return False
    if citation.quote and not _stands(citation.quote, texts[place.doc_id][place.start : place.end]):
        return False
    if references:
        return any(_overlap(place, other) for each in references for other in each.places)
    return True if citation.quote else None


def _stands(quote: str, text: str) -> bool:
    return quote in text or holds(plain_form(text), plain_form(quote))


def _overlap(one: Passage, other: Passage) -> bool:
    return one.doc_id == other.doc_id and min(one.end, other.end) > max(one.start, other.start)

"""Can one point at the source? By attribution: the document and the place named are the right ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Passage, Query, Reference, Score
from chunkwise.metrics.citations.each_answer import each_answer
from chunkwise.metrics.citations.places import CitedTexts
from chunkwise.metrics.claims.answers import Answer, Citation
from chunkwise.metrics.claims.plain_form import holds, plain_form

NOTHING_TO_CHECK = "citations without quotes, and a question without references"


def citation_attribution(
    queries: Sequence[Query], answers: Mapping[str, Answer], texts: Mapping[str, str]
) -> list[Score]:
    """Share of an answer's citations that are right; `texts` are the documents by id.

    Right is one that leads to a place, where its quote stands (case and punctuation do not count) and which, where the
    question has references, overlaps one of them; of several places of a quote one is enough. Without either there is
    nothing to check, except that it leads somewhere: a citation that leads nowhere is wrong always.
    """
    cited = CitedTexts(texts)

    def score(query: Query, answer: Answer) -> Score:
        verdicts = [_is_right(each, query.references, cited) for each in answer.citations]
        known = [verdict for verdict in verdicts if verdict is not None]
        return Score(sum(known) / len(known)) if known else Score(None, NOTHING_TO_CHECK)

    return each_answer(queries, answers, score)


def _is_right(
    citation: Citation, references: Sequence[Reference], texts: CitedTexts
) -> bool | None:
    places = texts.places(citation)
    quoted_at = citation.start is not None and citation.quote
    if quoted_at and not any(_stands(citation.quote, texts.text(place)) for place in places):
        return False
    if references and places:
        right = [place for each in references for place in each.places]
        return any(_overlap(place, other) for place in places for other in right)
    if not places:
        return False
    return True if citation.quote else None


def _stands(quote: str, text: str) -> bool:
    return quote in text or holds(plain_form(text), plain_form(quote))


def _overlap(one: Passage, other: Passage) -> bool:
    return one.doc_id == other.doc_id and min(one.end, other.end) > max(one.start, other.start)

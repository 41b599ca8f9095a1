"""Are the citations correct? Chunks at their offsets; of citations the places they point at and what they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chunkwise.chunkers.chunk_offsets import KINDS, NO_TEXT
from chunkwise.core import Query, Reference, Score
from chunkwise.metrics.answers.question_evidence import (
    NO_ANSWER,
    CitedTexts,
    LlmMetric,
    QuestionEvidence,
    claims_of,
    each_answer,
    quoted_at,
    share,
)
from chunkwise.metrics.claims.claim_support import THRESHOLD, denied, supports
from chunkwise.metrics.claims.numbers import has_number
from chunkwise.metrics.claims.text_normalization import Readable, holds, plain_form, sentences
from chunkwise.metrics.evidence import Answer, AnswerCitation
from chunkwise.metrics.judges.llm_answer_judgments import Judgment, Support
from chunkwise.metrics.judges.llm_judge import JudgeTask
from chunkwise.metrics.metric import NO_CHUNKS, KeyQuestion, Metric, Remedy, Targets, WholeScore

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence


def _share_exact(evidence: Evidence) -> WholeScore:
    """Of chunks from a file, how many stand where they say; those of an index are places, inside the text or not."""
    if evidence.position is not None:
        score, counts = evidence.position.score, dict(evidence.position.counts)
        untold = counts.pop(NO_TEXT, 0)
        return WholeScore(score, sum(counts.values()), {KINDS[NO_TEXT]: untold} if untold else {})
    chunks = evidence.chunking and evidence.chunking.without_summaries
    if chunks is None or not len(chunks.start):
        return WholeScore(Score(None, NO_CHUNKS))
    sizes = np.array([len(document.text) for document in evidence.documents], np.int64)
    inside = (
        (chunks.start >= 0) & (chunks.start < chunks.end) & (chunks.end <= sizes[chunks.document])
    )
    return WholeScore(Score(float(inside.mean())), len(inside))


QUESTION = KeyQuestion(
    "citation_accuracy",
    "Are the citations correct?",
    Targets(0.90, 0.95),
    Remedy(
        "offsets that are wrong or lost",
        "chunk again with exact spans instead of searching for the text",
    ),
)


NO_CLAIMS = "the answer has no content words"


class Claims(NamedTuple):
    """An answer taken apart."""

    cited: list[bool]
    """Of each claim, whether a citation is for it."""
    supported: list[bool]
    """Of each claim, whether one of its citations contains it, or several its parts."""
    supporting: list[bool]
    """Of each citation, whether it contains what it is cited for."""


def read_claims(answer: Answer, texts: CitedTexts) -> Claims:
    """Claims are the sentences of the answer that say something."""
    claims = sentences(answer.said)
    claims_cited, claims_supported = [False] * len(claims), [False] * len(claims)
    parts: list[list[Readable]] = [[] for _ in claims]
    supporting = []
    for citation in answer.citations:
        cited = texts.readable(citation)
        own = Readable(citation.said)
        meant = [n for n, claim in enumerate(claims) if _is_for(citation, own, claim)]
        held = [n for n in meant if any(supports(text, claims[n]) for text in cited)]
        for n in meant:
            claims_cited[n] = True
        for n in held:
            claims_supported[n] = True
        good = bool(held)
        # A part of a sentence may have a source of its own: the part is what the place must contain.
        if citation.said:
            good = any(supports(text, own) for text in cited)
            for n in meant if good else []:
                parts[n].append(own)
        supporting.append(good)
    for n, claim in enumerate(claims):
        claims_supported[n] |= _cover(parts[n], claim)
    return Claims(claims_cited, claims_supported, supporting)


def _is_for(citation: AnswerCitation, own: Readable, claim: Readable) -> bool:
    """A citation of no claim in particular is for all of them."""
    if not citation.said:
        return True
    return holds(claim.plain, own.plain) or holds(own.plain, claim.plain)


def _cover(parts: list[Readable], claim: Readable) -> bool:
    """Whether parts that are supported make up a sentence: enough of its terms, its numbers and its negation."""
    if not parts:
        return False
    terms = claim.terms(claim.language)
    covered = set().union(*(part.terms(claim.language) for part in parts)) & terms
    numbers = [number for part in parts for number in part.numbers]
    text = " ".join(part.plain for part in parts)
    return (
        len(covered) >= THRESHOLD * len(terms) - 1e-9
        and all(has_number(numbers, number) for number in claim.numbers)
        and (bool(denied(text, claim.language)) or not denied(claim.plain, claim.language))
    )


NO_CITED_CLAIM = "no citation belongs to a sentence of the answer"


def citation_precision(
    queries: Sequence[Query],
    answers: Mapping[str, Answer],
    texts: Mapping[str, str],
) -> list[Score]:
    """Supported claims / claims that carry a citation; one citation that supports a claim is enough.

    A citation for a part of a sentence supports the sentence where its place contains the whole, or where the
    supported parts together have all its numbers and at least 0.7 of its content terms.
    """
    cited = CitedTexts(texts)

    def score(_: Query, answer: Answer) -> Score:
        claims = read_claims(answer, cited)
        if not claims.cited:
            return Score(None, NO_CLAIMS)
        if not any(claims.cited):
            return Score(None, NO_CITED_CLAIM)
        return Score(sum(claims.supported) / sum(claims.cited))

    return each_answer(queries, answers, score)


def citation_recall(queries: Sequence[Query], answers: Mapping[str, Answer]) -> list[Score]:
    """Claims that carry a citation / claims: an answer that cites nothing scores 0."""
    nowhere = CitedTexts({})  # where citations lead is not asked here

    def score(_: Query, answer: Answer) -> Score:
        cited = read_claims(answer, nowhere).cited
        return Score(sum(cited) / len(cited)) if cited else Score(None, NO_CLAIMS)

    return each_answer(queries, answers, score, uncited=True)


def citation_support(
    queries: Sequence[Query],
    answers: Mapping[str, Answer],
    texts: Mapping[str, str],
) -> list[Score]:
    """Share of an answer's citations that contain what they are cited for; `texts` are the documents by id.

    Whether a place contains a claim `claim_support.supports` says. A citation of no claim in particular is for any
    sentence of the answer. One that leads nowhere contains nothing; one that quotes what stands at several places,
    what any of them contains.
    """
    cited = CitedTexts(texts)

    def score(_: Query, answer: Answer) -> Score:
        supporting = read_claims(answer, cited).supporting
        return Score(sum(supporting) / len(supporting))

    return each_answer(queries, answers, score)


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
        verdicts = [_is_right(citation, query.references, cited) for citation in answer.citations]
        known = [verdict for verdict in verdicts if verdict is not None]
        return Score(sum(known) / len(known)) if known else Score(None, NOTHING_TO_CHECK)

    return each_answer(queries, answers, score)


def _is_right(
    citation: AnswerCitation, references: Sequence[Reference], texts: CitedTexts
) -> bool | None:
    places = texts.places(citation)
    quoted_at = citation.start is not None and citation.quote
    if quoted_at and not any(_stands(citation.quote, texts.text(place)) for place in places):
        return False
    if references and places:
        right = [place for reference in references for place in reference.places]
        return any(place.overlaps(other) for place in places for other in right)
    if not places:
        return False
    return True if citation.quote else None


def _stands(quote: str, text: str) -> bool:
    return (
        quote in text or holds(plain_form(text), plain_form(quote)) or bool(quoted_at(quote, text))
    )


class _CitationMetric(LlmMetric):
    """A citation of no claim in particular is for any sentence of the answer."""

    def plan_tasks(self, judgment: Judgment, given: QuestionEvidence) -> list[JudgeTask]:
        # Claims that cite the same place are asked about together.
        claims: dict[str, dict[str, None]] = {}
        for citation in given.answer.scored.citations if given.answer else ():
            for text in _places(given, citation):
                own = _claims(given.answer, citation)
                claims.setdefault(text, {}).update(dict.fromkeys(own))
        return [
            task
            for text, own in claims.items()
            for task in judgment.tasks(given.query.text, list(own), [text])
        ]

    def score_question(self, judgment: Judgment, given: QuestionEvidence) -> Score:
        if given.answer is None or given.answer.why_uncited:
            return Score(None, NO_ANSWER if given.answer is None else given.answer.why_uncited)
        return share(
            [_one(judgment, given, citation) for citation in given.answer.scored.citations]
        )


def _one(judgment: Judgment, given: QuestionEvidence, citation: AnswerCitation) -> Score:
    """One that leads nowhere supports nothing; nobody needs to be asked."""
    scores = [
        judgment.score(given.query.text, claim, [text])
        for text in _places(given, citation)
        for claim in _claims(given.answer, citation)
    ]
    if any(score.value == 1 for score in scores):
        return Score(1.0)
    return next((score for score in scores if score.value is None), Score(0.0))


def _places(given: QuestionEvidence, citation: AnswerCitation) -> list[str]:
    return list(dict.fromkeys(given.cited.text(place) for place in given.cited.places(citation)))


def _claims(answer: Answer | None, citation: AnswerCitation) -> list[str]:
    if citation.said:
        return [citation.said]
    return claims_of(answer.said) if answer else []


METRICS = (
    Metric(
        "citation_accuracy.position", "Share of chunks that equal the text at their offsets.",
        score=_share_exact, group="citation_accuracy", question=QUESTION, needs=("chunks",), per="chunking",
    ),
    Metric(
        "citation_accuracy.support", "Share of citations whose cited text contains the claim.",
        score=lambda e: citation_support(e.queries, e.answers, e.texts),
        group="citation_accuracy", question=QUESTION, needs=("citations",),
        remedy=Remedy(
            "answers that go beyond the cited text, or cite the wrong chunk",
            "one citation per claim, with its quote; less context; another answer model",
        ),
    ),
    Metric(
        "citation_accuracy.attribution", "Share of citations with the right document and span.",
        score=lambda e: citation_attribution(e.queries, e.answers, e.texts),
        group="citation_accuracy", question=QUESTION, needs=("citations",),
        remedy=Remedy(
            "similar or misnumbered documents or chunks, inexact quotes",
            "unique chunk ids with document and span, exact quotes",
        ),
    ),
    _CitationMetric(
        "citation_accuracy.llm", "Share of citations whose cited text supports the claim, judged by an LLM.",
        judgment=Support, ask=lambda _: [], group="citation_accuracy", question=QUESTION, needs=("citations", "llm"),
    ),
    Metric(
        "citation_precision", "Share of cited claims that their citation supports.",
        score=lambda e: citation_precision(e.queries, e.answers, e.texts), group="answers", needs=("citations",),
    ),
    Metric(
        "citation_recall", "Share of an answer's claims that have a citation.",
        score=lambda e: citation_recall(e.queries, e.answers), group="answers", needs=("answers",),
    ),
)  # fmt: skip

"""Is all the needed text retrieved? By facts, by the reference answer, by references, by a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.answers.question_evidence import (
    NO_ANSWER,
    Asked,
    LlmMetric,
    QuestionEvidence,
    claims_of,
)
from chunkwise.metrics.claims.claim_support import share_held, without_yes_no
from chunkwise.metrics.claims.hit_texts import PlainHits, ReadableHits, share_named
from chunkwise.metrics.claims.text_normalization import plain_form, sentences
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.judges.llm_answer_judgments import Attribution, Completeness
from chunkwise.metrics.metric import KeyQuestion, Metric, Remedy, Targets
from chunkwise.metrics.span_tables import Gold, HitTable
from chunkwise.metrics.spans.coverage import covered_references

NO_FACTS = "no expected facts"
YES_OR_NO = "the expected answer is yes or no, which words can't verify"


def facts(
    queries: Sequence[Query],
    hits: Sequence[Sequence[Hit]],
    answers: Mapping[str, str] | None = None,
) -> list[Score]:
    """Share of a question's facts that are named in its answer, where there is one, else in its hits.

    `answers` are texts by the id of the question. A fact is named when one of its spellings stands in the text, word
    by word: case, punctuation and the writing of numbers do not count, and 5 does not stand in 15; or when the text has
    the same quantity in another unit. Of yes and no as a fact words tell nothing. Hits that touch or overlap are read
    as one text; a word or a number cut at the edge of a hit is not read.
    """
    plain = PlainHits()
    scores = []
    for query, own in zip(queries, hits, strict=True):
        answer = (answers or {}).get(query.id)
        texts = plain(own) if answer is None else [plain_form(answer)]
        scores.append(_named(query, texts))
    return scores


def _named(query: Query, texts: Sequence[str]) -> Score:
    if not query.facts:
        return Score(None, NO_FACTS)
    told = [fact for fact in query.facts if without_yes_no(fact.text)]
    return Score(share_named(told, texts)) if told else Score(None, YES_OR_NO)


NO_REFERENCE_ANSWER = "no reference answer"
NOTHING_TO_SEEK = "the reference answer has no content words"


def coverage(queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[Score]:
    """Share of what the reference answer says that at least one hit holds.

    What it says are the expected facts where they are given, sought as `facts` seeks them in hits; else its sentences,
    each of which one hit must hold, word by word or as `claim_support.supports` says: the same numbers, names and
    negations, and at least 0.7 of the content terms in neighboring sentences. A sentence of one or two terms,
    or of numbers alone ("12/31/14"), must stand there. The yes or no that a reference opens with is not looked for: no
    document says it.
    """
    plain, read = PlainHits(), ReadableHits()
    result = []
    for query, own in zip(queries, hits, strict=True):
        if query.facts:
            result.append(_named(query, plain(own)))
        elif not query.answer or not query.answer.strip():
            result.append(Score(None, NO_REFERENCE_ANSWER))
        elif not (expected := without_yes_no(query.answer)):
            result.append(Score(None, YES_OR_NO))
        else:
            held = share_held(sentences(expected), map(read, own))
            result.append(held or Score(None, NOTHING_TO_SEEK))
    return result


NO_REFERENCES = "no references"


def spans(gold: Gold, found: HitTable) -> list[Score]:
    """1 where the hits together cover every reference of the question (95% of it), else 0."""
    total = np.bincount(gold.question, minlength=gold.questions)
    covered = np.bincount(gold.question[covered_references(gold, found)], minlength=gold.questions)
    return [
        Score(float(own == every)) if every else Score(None, NO_REFERENCES)
        for own, every in zip(covered.tolist(), total.tolist(), strict=True)
    ]


def answer_completeness(queries: Sequence[Query], answers: Mapping[str, Answer]) -> list[Score]:
    """Share of a question's expected facts that its answer names; an empty answer names none."""
    scores = []
    for query in queries:
        answer = answers.get(query.id)
        if answer is None:
            scores.append(Score(None, NO_ANSWER))
        else:
            scores.append(_named(query, [plain_form(answer.said)]))
    return scores


NOTHING_EXPECTED = "no reference answer and no references"


def _statements_and_hits(given: QuestionEvidence) -> Asked | str:
    statements = claims_of(given.expected)
    return [(statements, given.passages)] if statements else NOTHING_EXPECTED


def _expected_and_context(given: QuestionEvidence) -> Asked | str:
    return [([given.expected], given.context)] if given.expected.strip() else NOTHING_EXPECTED


QUESTION = KeyQuestion(
    "completeness",
    "Is all the needed text retrieved?",
    Targets(0.75, 0.90),
    Remedy(
        ("chunks too small", "{no_overlap}", "{k} too small"),
        ("larger chunks", "{overlap}", "a larger {k}", "{parent_child}"),
    ),
)
METRICS = (
    Metric(
        "completeness.facts", "Share of expected facts in the answer or the context.",
        score=lambda e: facts(e.queries, e.hits, {id: answer.said for id, answer in e.answers.items()}),
        group="completeness", question=QUESTION, needs=("facts",),
    ),
    Metric(
        "completeness.coverage", "Share of the reference answer’s statements contained in at least one hit.",
        score=lambda e: coverage(e.queries, e.hits), group="completeness", question=QUESTION,
        needs=("reference answer",),
    ),
    Metric(
        "completeness.spans", "Share of questions with every reference covered.",
        score=lambda e: spans(*e.tables()), group="completeness", question=QUESTION, needs=("references",),
    ),
    LlmMetric(
        "completeness.llm", "Share of questions whose context contains the whole reference answer, judged by an LLM.",
        judgment=Completeness, ask=_expected_and_context, group="completeness", question=QUESTION,
        needs=("reference answer", "llm"),
    ),
    LlmMetric(
        "context_recall.llm", "Share of the reference answer’s statements found in a hit, judged by an LLM.",
        judgment=Attribution, ask=_statements_and_hits, group="completeness", needs=("reference answer", "llm"),
    ),
    Metric(
        "answer_completeness", "Share of expected facts in the answer.",
        score=lambda e: answer_completeness(e.queries, e.answers), group="answers", needs=("answers", "facts"),
    ),
)  # fmt: skip

"""Does an answer say what the reference answer says, all of it and nothing else?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.answers.citations import NO_CLAIMS
from chunkwise.metrics.answers.completeness import NO_REFERENCE_ANSWER, NOTHING_TO_SEEK
from chunkwise.metrics.answers.question_evidence import (
    NO_ANSWER,
    BySupport,
    LlmMetric,
    QuestionEvidence,
    claims_of,
    share,
)
from chunkwise.metrics.claims.claim_support import FEW, THRESHOLD, says_shortly, supports, yes_no
from chunkwise.metrics.claims.text_normalization import Readable, sentences, without_citation_marks
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.judges.llm_judge import JudgeTask
from chunkwise.metrics.metric import Metric


def answer_correctness(
    queries: Sequence[Query], answers: Mapping[str, Answer], threshold: float = THRESHOLD
) -> list[Score]:
    """F1 of the claims of the answer that the reference answer supports, and the other way round.

    Claims are sentences; whether a text supports one `claim_support.supports` says. A reference that is no sentence,
    but a name, an amount, a date or a few words, says what the answer must hold, and no more: 1 where it does. Of yes
    or no words tell only a yes or no that the answer opens with; one that opens with neither is scored by what the
    reference says beside it, where it holds any of that. An empty answer says nothing of what it should: 0.
    """

    def score(query: Query) -> Score:
        answer = answers.get(query.id)
        if (why := why_unscored(query, answer)) or answer is None or query.answer is None:
            return Score(None, why)
        if not answer.said.strip():
            return Score(0.0)
        reference = without_citation_marks(query.answer)
        expected, said = yes_no(reference), yes_no(answer.said)
        if expected.is_yes is not None:
            if said.is_yes is not None and said.is_yes != expected.is_yes:
                return Score(0.0)
            if not sentences(expected.rest):
                return Score(None, YES_OR_NO) if said.is_yes is None else Score(1.0)
        found = _by_claims(said.rest, expected.rest, threshold)
        if expected.is_yes is not None and said.is_yes is None and not found.value:
            return Score(None, YES_OR_NO)
        return found

    return [score(query) for query in queries]


YES_OR_NO = (
    "the reference is yes or no, and the answer does not open with either: words do not tell"
)
_PHRASE = 12
"""Words at most of a reference that is no sentence."""
_SHORT = 5
"""Words at most of one that is none with a full stop, too: "Every 21 days."."""
_ENDS = tuple(".!?。！？")


def _by_claims(answer: str, expected: str, threshold: float) -> Score:
    claims, given, reference = sentences(expected), Readable(answer), Readable(expected)
    if not claims:
        return Score(None, NOTHING_TO_SEEK)

    def held(text: Readable, claim: Readable) -> bool:
        return supports(text, claim, threshold) or (is_short and says_shortly(text, claim))

    is_short = len(claims) == 1 and len(claims[0].plain.split()) <= _PHRASE
    if is_phrase(expected):
        return Score(float(held(given, claims[0])))
    said = sentences(answer)
    if not said:
        return Score(None, NO_CLAIMS)
    # A sentence that holds all of a short reference says it in the words of the question.
    right = [
        supports(reference, claim, threshold) or (is_short and held(claim, claims[0]))
        for claim in said
    ]
    named = [held(given, claim) for claim in claims]
    return Score(f1(sum(right) / len(right), sum(named) / len(named)))


def is_phrase(reference: str) -> bool:
    """Whether a reference is no sentence: one or two content words, or a few words, which may have a full stop where
    they are very few."""
    claims = sentences(reference)
    if len(claims) != 1:
        return False
    words = len(claims[0].plain.split())
    is_short = words <= _SHORT or len(claims[0].terms(claims[0].language)) < FEW
    return words <= _PHRASE and (is_short or not reference.rstrip().endswith(_ENDS))


def why_unscored(query: Query, answer: Answer | None) -> str:
    """What is missing to compare; empty: nothing."""
    # First what the run lacks: of a file of questions only some may have a reference answer.
    if answer is None:
        return NO_ANSWER
    return "" if query.answer and query.answer.strip() else NO_REFERENCE_ANSWER


def f1(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where both are."""
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


class AnswerCorrectnessByLlm(BySupport):
    """`answer_correctness.llm`."""

    def tasks(self, given: QuestionEvidence) -> list[JudgeTask]:
        return [
            task
            for claims, text in _both_ways(given)
            for task in self._support.tasks(given.query.text, claims, [text])
        ]

    def score(self, given: QuestionEvidence) -> Score:
        if why := why_unscored(given.query, given.answer):
            return Score(None, why)
        shares = [
            share([self._support.score(given.query.text, claim, [text]) for claim in claims])
            for claims, text in _both_ways(given)
        ]
        if not shares:
            return Score(0.0)  # an empty answer says nothing of what it should
        precision, recall = shares
        if precision.value is None or recall.value is None:
            return precision if precision.value is None else recall
        return Score(f1(precision.value, recall.value))


def _both_ways(given: QuestionEvidence) -> list[tuple[list[str], str]]:
    """The claims of the answer with the reference answer, and the other way round; none where one is missing."""
    answer, reference = given.answer, given.query.answer
    if why_unscored(given.query, answer) or answer is None or reference is None:
        return []
    if not answer.said.strip():
        return []
    return [(claims_of(answer.said), reference), (claims_of(reference), answer.said)]


METRICS = (
    Metric(
        "answer_correctness.words",
        "F1 of the claims of answer and reference that the other holds, by words; a short reference is held or not.",
        score=lambda e: answer_correctness(e.queries, e.answers), group="answers",
        needs=("answers", "reference answer"),
    ),
    LlmMetric(
        "answer_correctness.llm",
        "F1 of the claims of answer and reference answer that the other supports, to a language model.",
        plan=AnswerCorrectnessByLlm, group="answers", needs=("answers", "reference answer", "llm"),
    ),
)  # fmt: skip

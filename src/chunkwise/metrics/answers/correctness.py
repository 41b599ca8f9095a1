"""Does an answer say what the reference answer says?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from chunkwise.core import Query, Score
from chunkwise.metrics.answers.completeness import NO_REFERENCE_ANSWER, NOTHING_TO_SEEK, YES_OR_NO
from chunkwise.metrics.answers.question_evidence import (
    NO_ANSWER,
    Asked,
    LlmMetric,
    QuestionEvidence,
    claims_of,
    share,
)
from chunkwise.metrics.claims.claim_support import content_terms, denied, names_of, yes_no
from chunkwise.metrics.claims.numbers import MONEY, Number, has_number, read_numbers
from chunkwise.metrics.claims.text_normalization import (
    Readable,
    plain_form,
    points_part_thousands,
    without_citation_marks,
)
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.judges.llm_answer_judgments import Support
from chunkwise.metrics.metric import Metric
from chunkwise.text.terms import NONE, stemmer, stop_words

PARAPHRASE = "the answer shares no words with the reference answer, so words can't decide"
NEGATION = "the answer or reference answer has a negation, so words can't decide"
_LIST_MARK = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*•])\s+", re.MULTILINE)


def answer_correctness(queries: Sequence[Query], answers: Mapping[str, Answer]) -> list[Score]:
    """Share of the reference answer's facts that the answer contains, in any order and whatever else it says.

    Facts are its numbers, each with its unit, and its content terms (stems without stop words), without those of the
    question. That is the token recall of Adlakha et al. (2023), with numbers read as quantities. It is 0 if the answer
    has another number or name instead, opens with the other of yes and no, is empty or a refusal. A question is
    unscored if the answer has none of the facts and nothing instead (a paraphrase), or if one of the texts denies.
    """

    def score(query: Query) -> Score:
        answer = answers.get(query.id)
        if (why := why_unscored(query, answer)) or answer is None or query.answer is None:
            return Score(None, why)
        if answer.is_refusal or not answer.said.strip():
            return Score(0.0)
        expected, said = yes_no(without_citation_marks(query.answer)), yes_no(answer.said)
        if expected.is_yes is not None:
            if said.is_yes is not None and said.is_yes != expected.is_yes:
                return Score(0.0)
            if not any(map(str.isalnum, expected.rest)):
                return Score(None, YES_OR_NO) if said.is_yes is None else Score(1.0)
        return _by_facts(query.text, _LIST_MARK.sub("", said.rest), expected.rest)

    return [score(query) for query in queries]


def _by_facts(question: str, answer: str, expected: str) -> Score:
    texts = (answer, expected, question)
    # Of few words the language cannot be told; that of the other texts may be. Most that has none is English.
    known = (item.language for item in map(Readable, texts))
    language = next((item for item in known if item != NONE), "en")
    given, sought, asked = (_Facts(text, language) for text in texts)
    terms, numbers = sought.terms - asked.terms, sought.numbers_beside(asked)
    if not terms and not numbers:  # "Ale or beer?" "Ale."
        terms, numbers = sought.terms, list(sought.numbers)
    if not terms and not numbers:
        return Score(None, NOTHING_TO_SEEK)
    missing = [number for number in numbers if not has_number(given.numbers, number)]
    if _are_replaced(missing, numbers, given.numbers_beside(sought, asked)):
        return Score(0.0)
    held = len(numbers) - len(missing) + len(terms & given.terms)
    if not held:
        names, others = sought.names_beside(asked.terms), given.names_beside(asked.terms)
        # Two forms of one name begin alike: Israel, Israelis.
        alike = {name[:3] for name in names} & {name[:3] for name in others}
        return Score(0.0) if names and others and not alike else Score(None, PARAPHRASE)
    if not asked.denied and bool(sought.denied) != given.denies(sought):
        return Score(None, NEGATION)
    return Score(held / (len(numbers) + len(terms)))


class _Facts:
    """Numbers and content terms of a text."""

    def __init__(self, text: str, language: str) -> None:
        self._text, self._language = text, language
        form = plain_form(text, points_part_thousands(language))
        self.numbers = read_numbers(form, language)
        self.denied = denied(form, language)
        self._words = set(map(stemmer(language), set(form.split()) - stop_words(language)))
        self.terms = content_terms(Readable(text), language)

    def numbers_beside(self, *others: _Facts) -> list[Number]:
        """Those that are in none of the others."""
        known = [number for other in others for number in other.numbers]
        return [number for number in self.numbers if not has_number(known, number)]

    def names_beside(self, known: AbstractSet[int]) -> list[str]:
        """Capitalized words apart from terms that are known; the first word of a sentence is none."""
        names = names_of(self._text, self._language)
        is_name = self.terms.issubset(term for name in names for term in name.terms)
        return [
            name.word.casefold()
            for name in names
            if name.terms & self.terms - known and (is_name or not name.is_first)
        ]

    def denies(self, other: _Facts) -> bool:
        """Whether a word of the other stands behind a negation."""
        return any(stems & other._words for stems in self.denied)


def _are_replaced(
    missing: Sequence[Number], numbers: Sequence[Number], others: Sequence[Number]
) -> bool:
    """Whether another number is in the place of one: of the same measure, as long as it, or where all are missing."""
    kinds = set(map(_kind, others))
    if any(_kind(number) in kinds for number in missing):
        return True
    bare = all(any(not number.measure for number in some) for some in (missing, others))
    return bare and len(missing) == len(numbers)


def _kind(number: Number) -> str:
    if not number.measure:
        return f"{len(str(number.value))} digits"
    return "money" if number.measure in MONEY else number.measure.replace("months", "time")


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


def _both_ways(given: QuestionEvidence) -> Asked | str:
    """The claims of the answer with the reference answer, and the other way round; nothing of an empty answer."""
    answer, reference = given.answer, given.query.answer
    if (why := why_unscored(given.query, answer)) or answer is None or reference is None:
        return why
    if not answer.said.strip():
        return []
    return [(claims_of(answer.said), [reference]), (claims_of(reference), [answer.said])]


def _f1_of(shares: Sequence[Score]) -> Score:
    """Of precision and recall; an empty answer, which has neither, says nothing of what it should."""
    values = [score.value for score in shares if score.value is not None]
    if len(values) < len(shares):
        return share(shares)
    return Score(f1(*values) if values else 0.0)


METRICS = (
    Metric(
        "answer_correctness.words",
        "Share of the reference answer’s facts (numbers with units, names, content words) in the "
        "answer.",
        score=lambda e: answer_correctness(e.queries, e.answers), group="answers",
        needs=("answers", "reference answer"),
    ),
    LlmMetric(
        "answer_correctness.llm",
        "F1 of claims in answer and reference answer supported by the other, judged by an LLM.",
        judgment=Support, ask=_both_ways, combine=_f1_of, group="answers",
        needs=("answers", "reference answer", "llm"),
    ),
)  # fmt: skip

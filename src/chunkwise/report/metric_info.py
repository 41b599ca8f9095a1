"""What the views ask about a metric: its help, its group, which way it is better, the words for its figures."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from chunkwise.base.wording import percent, score
from chunkwise.evaluation.direction import lower_is_better
from chunkwise.evaluation.results import Figure
from chunkwise.evaluation.verdicts import (
    AT_CEILING,
    BOUNDS,
    FOUR,
    OUT_OF_REACH,
    WEAK,
    Targets,
    family,
    verdict,
)
from chunkwise.metrics.measures import CATALOGUE

__all__ = [
    "AT_CEILING", "FOUR", "GROUPS", "OUT_OF_REACH", "WEAK", "Targets", "bounds_of", "family", "group_of", "help_of",
    "lower_is_better", "question_of", "value_words", "verdict",
]  # fmt: skip

GROUPS = (
    "What is retrieved",
    "As the Chroma report defines them",
    "The four questions",
    "The chunks themselves",
    "Answers",
)
"""In the order in which figures are shown."""
_OF_ANSWERS = ("answer_", "faithfulness", "citation_precision", "citation_recall")

_HELP: Mapping[str, str] = MappingProxyType(
    {
        **{measure.name: measure.help for measure in CATALOGUE},
        "retrieval_precision.labels": "Share of the hits that people rated relevant.",
        "retrieval_precision.spans": "Share of the hits that hold the gold text or lie inside it.",
        "retrieval_precision.similarity": "Share of the hits that an embedder finds near the question.",
        "retrieval_precision.llm": "Share of the hits that a language model finds to hold the answer or a part of it.",
        "completeness.facts": "Share of the expected facts that the answer or the context names.",
        "completeness.coverage": "Share of the answer’s statements that at least one hit holds.",
        "completeness.spans": "Share of the questions whose every reference is covered.",
        "completeness.llm": "Share of the questions whose context has, to a language model, all that the answer says.",
        "context_recall.llm": "Share of the reference’s statements that a language model finds in a hit.",
        "boundary_issues": "Share of the chunks with at least one issue.",
        "split_references": "Share of the references that no single chunk holds whole.",
        "coherence": "How alike neighbouring chunks are.",
        "cohesion": "How alike a chunk’s sentences are to the chunk.",
        "contrast": "Cohesion less coherence: a good cut has much of it.",
        "citation_accuracy.position": "Share of the chunks that are exactly the text at their offsets.",
        "citation_accuracy.support": "Share of the citations whose place contains the claim.",
        "citation_accuracy.attribution": "Share of the citations that name the right document and place.",
        "citation_accuracy.llm": "Share of the citations whose place, to a language model, supports the claim.",
        "faithfulness.words": "Of the claims of an answer, those that a hit holds, by their words.",
        "faithfulness.llm": "Of the claims of an answer, those that the context supports, to a language model.",
        "answer_correctness.words": "F1 of the claims of answer and reference answer that the other holds, by words.",
        "answer_correctness.llm": "F1 of the claims of answer and reference answer that the other supports, to a "
        "language model.",
        "answer_relevancy.similarity": "How near the answer is to the question: their cosine.",
        "answer_relevancy.llm": "Whether the answer answers the question, right or wrong: 1, in part 0.5, or 0.",
        "answer_completeness": "Share of the expected facts that the answer names.",
        "citation_precision": "Of the claims with a citation, those that it supports.",
        "citation_recall": "Of the claims of an answer, those with a citation.",
    }
)


def help_of(name: str) -> str:
    """Of a metric by the name it has in a table; empty for one that is not known."""
    base, _, at = name.partition("@")
    told = [_HELP.get(base, "")]
    if at.endswith("t"):
        told.append("Within so many tokens of context.")
    if lower_is_better(name):
        told.append("Less is better.")
    return " ".join(part for part in told if part)


def group_of(name: str, figure: Figure) -> str:
    """One of `GROUPS`."""
    if name.startswith("chroma."):
        return GROUPS[1]
    if any(name == metric or name.startswith(f"{metric}.") for _, metric in FOUR):
        return GROUPS[2]
    if name.startswith(_OF_ANSWERS):
        return GROUPS[4]
    # What is said of a chunking and of no question has no interval.
    of_questions = "@" in name or figure.scored or figure.unscored
    return GROUPS[0] if of_questions else GROUPS[3]


def bounds_of(family: str) -> Targets:
    """From where on figures of one of the four questions are good, and excellent."""
    return BOUNDS[family]


def question_of(name: str) -> str:
    """The one of the four questions that a metric answers; empty: none."""
    return {metric: question for question, metric in FOUR}.get(family(name), "")


def value_words(name: str, value: float | None) -> str:
    """A figure as it is read: a share of chunks in per cent, everything else with three digits."""
    if value is None or name != "boundary_issues":
        return score(value)
    return percent(value)

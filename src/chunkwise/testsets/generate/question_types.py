"""Kinds of question that are made, and how many of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from chunkwise.base.errors import InvalidParameter

QuestionType = Literal["single-concept", "list", "numeric", "cross-document", "paraphrase"]

QUESTION_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)

SHARES: Mapping[QuestionType, float] = {
    "single-concept": 40,
    "numeric": 20,
    "list": 15,
    "cross-document": 15,
    "paraphrase": 10,
}
"""The usual mixture, in parts of a hundred; what the documents have no passages for is made up by the others."""

FALLBACK = "fallback"
"""Tag of questions that no model wrote."""
EASY = "easy"
"""Tag of questions whose answer word search finds, however the documents are cut."""


def parse_types(text: str) -> dict[QuestionType, float]:
    """`numeric,list` in equal shares, or `numeric=3,list=1`."""
    found: dict[QuestionType, float] = {}
    for part in text.split(","):
        name, _, share = (each.strip() for each in part.partition("="))
        kind = next((each for each in QUESTION_TYPES if each == name), None)
        if kind is None:
            raise InvalidParameter(
                f"no type of question is named {name!r}; there are: {', '.join(QUESTION_TYPES)}"
            )
        if kind in found:
            raise InvalidParameter(f"the type {name} is named twice; name it once")
        found[kind] = _share(name, share) if share else 1.0
    return check_shares(found)


def check_shares(shares: Mapping[QuestionType, float]) -> dict[QuestionType, float]:
    """Those above nothing, in the usual order; at least one."""
    unknown = [name for name in shares if name not in QUESTION_TYPES]
    if unknown:
        raise InvalidParameter(
            f"no type of question is named {unknown[0]!r}; there are: {', '.join(QUESTION_TYPES)}"
        )
    found = {kind: shares[kind] for kind in QUESTION_TYPES if shares.get(kind, 0) > 0}
    if not found:
        raise InvalidParameter("no type of question has a share above 0; give one: numeric=1")
    return found


def turns(shares: Mapping[QuestionType, float]) -> Iterator[QuestionType]:
    """Kinds without end, each as often as its share says, evenly mixed."""
    given = dict.fromkeys(shares, 0)
    while True:
        # The one that is furthest behind; of equals the first.
        kind = min(shares, key=lambda each: (given[each] + 0.5) / shares[each])
        given[kind] += 1
        yield kind


def _share(name: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1e9:
        raise InvalidParameter(f"the share of {name} is {text!r}; a number is needed, 0 or more")
    return share

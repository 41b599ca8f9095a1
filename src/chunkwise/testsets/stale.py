"""What was true of a question before a person edited it, and is not any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chunkwise.metrics.claims.fact_search import is_named
from chunkwise.metrics.claims.new_numbers import brings_number
from chunkwise.metrics.claims.plain_form import plain_form
from chunkwise.metrics.claims.readable import Readable
from chunkwise.testsets.reading_json.question_record import TYPES
from chunkwise.testsets.reading_json.record_values import Wrong, as_list, fact_of
from chunkwise.testsets.rows_file import Row

_FACTS = ("facts", "expected", "expected_facts", "expected_entities", "entities", "key_facts")
EASY = "easy"
"""Tag of questions that word search answers, however the documents are cut: true of their very words."""
NUMERIC = "numeric"
"""Tag of questions whose answer brings a number."""


class Asked(NamedTuple):
    """A question and its answer, as they are or were."""

    question: str
    answer: str


def drop_stale_facts(row: Row, before: str, now: str) -> list[str]:
    """Takes out the facts that the answer named before and names no more, and those that neither it nor the reference
    holds; a fact that is the reference's alone was not touched by the edit, and stays.
    """
    name = next((each for each in _FACTS if row.get(each) is not None), None)
    if name is None:
        return []
    old, new, proof = map(plain_form, (before, now, "\n".join(quoted(row))))
    kept: list[object] = []
    gone: list[str] = []
    for value in as_list(row[name]):
        try:
            fact = fact_of(value)
        except Wrong:  # `testset check` tells of it; it is not ours to take out
            kept.append(value)
            continue
        is_held = not proof or is_named(fact, proof)
        if is_named(fact, new) or (is_held and not is_named(fact, old)):
            kept.append(value)
        else:
            gone.append(fact.text)
    if gone:
        row[name] = kept
    return gone


def drop_easy(row: Row) -> bool:
    """Takes the tag out; whether it was there."""
    return _drop(row, EASY)


def drop_numeric(row: Row, before: Asked, now: Asked) -> bool:
    """Takes the tag out where the answer brought a number before, and brings none now; whether it was so. Who gave it
    to a question for another reason knows why."""
    is_gone = _is_numeric(before) and not _is_numeric(now)
    return is_gone and _drop(row, NUMERIC)


def _is_numeric(asked: Asked) -> bool:
    return brings_number(*asked, Readable(" ".join(asked)).language)


def _drop(row: Row, tag: str) -> bool:
    for name in TYPES:
        given = as_list(row.get(name))
        if tag in given:
            row[name] = [each for each in given if each != tag]
            return True
    return False


def quoted(row: Row) -> Iterator[str]:
    """What the file itself says stands at the places of a question."""
    for name in ("references", "relevant_text"):
        given = row.get(name)
        for each in given if isinstance(given, list) else [given]:
            text = each.get("text") if isinstance(each, dict) else each
            if isinstance(text, str) and text:
                yield text

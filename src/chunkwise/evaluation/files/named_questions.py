"""Rows of other tools that belong to questions: which ones they mean, by id or by text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from chunkwise.core import Query
from chunkwise.records.fields import Fields, string_in

_IDS = ("query_id", "qid", "question_id", "query-id")
_QUESTION_TEXTS = ("query", "question", "user_input", "input")


class Questions:
    """Questions by their ids and by their texts."""

    def __init__(self, queries: Sequence[Query]) -> None:
        self._by_id = {query.id: number for number, query in enumerate(queries)}
        self._by_text: dict[str, list[int]] = defaultdict(list)
        for number, query in enumerate(queries):
            self._by_text[_folded(query.text)].append(number)

    @staticmethod
    def is_named(fields: Fields) -> bool:
        """Whether a record says what question it belongs to."""
        return string_in(fields, *_IDS, *_QUESTION_TEXTS, "id", "_id") is not None

    def find(self, fields: Fields, *, by_own_id: bool) -> list[int] | str:
        """The positions of the questions meant, or why there are none; a text may be that of several questions.

        `by_own_id`: the record is about a question, so that its `id` is the question's.
        """
        id = string_in(fields, *_IDS, *(("id", "_id") if by_own_id else ()))
        if id in self._by_id:
            return [self._by_id[id]]
        text = string_in(fields, *_QUESTION_TEXTS)
        if text is not None and (found := self._by_text.get(_folded(text))):
            return found
        if id is None and text is None:
            return f"no question; name it by {_IDS[0]} or by its text in {_QUESTION_TEXTS[0]}"
        told = f"with the id {id!r}" if id is not None else _short(text or "")
        return f"no question {told} among the test questions"


def _folded(text: str) -> str:
    return " ".join(text.split())


def _short(text: str, most: int = 60) -> str:
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")

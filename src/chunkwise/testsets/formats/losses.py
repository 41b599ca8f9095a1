"""What a format could not hold, gathered over all questions: a line each, not a line a question."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from chunkwise.core import Query
from chunkwise.testsets.testset import TestSet

_FIELDS = {
    "answer": "answers",
    "facts": "expected facts",
    "types": "types",
    "labels": "labels",
    "split": "splits",
}
_NAMED = 3


class Losses:
    """Sentences about a format, each with the questions it is true of."""

    def __init__(self, format: str) -> None:
        self._format = format
        self._found: dict[str, list[str]] = {}

    def add(self, query: Query, what: str) -> None:
        self._found.setdefault(what, []).append(query.id)

    def fields(self, query: Query, holds: Collection[str] = ()) -> None:
        """Notes what the question has besides its text and references."""
        for name, words in _FIELDS.items():
            if name not in holds and getattr(query, name):
                self.add(query, f"{self._format} has no {words}")

    def ids(self, testset: TestSet) -> None:
        """For formats that number questions by their place: other ids are lost."""
        for number, query in enumerate(testset.queries, 1):
            if query.id != str(number):
                self.add(query, f"{self._format} has no ids; a question is known by its place")

    def lines(self) -> list[str]:
        return [f"{what}: {_ids_in_words(ids)}" for what, ids in self._found.items()]


def _ids_in_words(ids: list[str]) -> str:
    unique = list(dict.fromkeys(ids))
    shown = ", ".join(map(repr, unique[:_NAMED]))
    if len(unique) == 1:
        return f"question {shown}"
    more = f" and {len(unique) - _NAMED} more" if len(unique) > _NAMED else ""
    return f"{len(unique)} questions ({shown}{more})"


def several(names: Iterable[str]) -> bool:
    """Whether more than one of them is different."""
    return len(set(names)) > 1

"""Fields of records that nobody asked for, and what those with a slip in them were meant to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache

from chunkwise.base.wording import counted
from chunkwise.testsets.testset import Draft, Problem, UnreadField

_ALIKE = 0.85
_SHORTEST = 5
"""Characters; shorter names are alike by accident."""
_NAMED = 12


class TrackedRecord(Mapping[str, object]):
    """A record that remembers what it was asked for."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self._record = record
        self._asked: dict[str, None] = {}

    def __getitem__(self, name: str) -> object:
        self._asked[name] = None
        return self._record[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._record)

    def __len__(self) -> int:
        return len(self._record)

    def unread(self) -> tuple[UnreadField, ...]:
        missed = [name for name in self._asked if name not in self._record]
        left = {name: self._record[name] for name in self._record if name not in self._asked}
        return unread_of(left, missed)


def unread_of(left: Mapping[str, object], missed: Iterable[str]) -> tuple[UnreadField, ...]:
    """Of fields that were left those which hold something, each with the missed one it resembles."""
    names = [name for name, value in left.items() if value not in (None, "", [], {})]
    known = tuple(missed) if names else ()
    return tuple(UnreadField(name, _meant(name, known)) for name in names)


@lru_cache(maxsize=1024)  # the records of a file are much alike
def _meant(name: str, missed: tuple[str, ...]) -> str:
    if not _SHORTEST <= len(name) <= 40:
        return ""
    return next(iter(get_close_matches(name.strip().lower(), missed, 1, _ALIKE)), "")


class UnreadFields:
    """All those of a file, counted."""

    def __init__(self) -> None:
        self._counts: Counter[UnreadField] = Counter()

    def add(self, draft: Draft) -> None:
        self._counts.update(draft.unread)

    def problems(self, file: str) -> Iterator[Problem]:
        """A line for each name that has a slip in it, and one for all others."""
        for unread, count in self._counts.items():
            if unread.meant:
                asked = counted(count, "question")
                said = (
                    f"the field {unread.name!r} ({asked}) is not read; is {unread.meant!r} meant?"
                )
                yield Problem("misspelled_field", file, "", said)
        others = Counter(
            {each.name: count for each, count in self._counts.items() if not each.meant}
        )
        told = [
            f"{name!r} ({counted(count, 'question')})" for name, count in others.most_common(_NAMED)
        ]
        if told:
            more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
            yield Problem("unread_fields", file, "", f"fields not read: {', '.join(told)}{more}")

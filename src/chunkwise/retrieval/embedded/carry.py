"""An index put together from new documents and from what an older one has of the others."""

from __future__ import annotations

import json
from collections.abc import Callable

from chunkwise.core import Document
from chunkwise.retrieval.embedded.encode import encode
from chunkwise.retrieval.embedded.index import EmbeddedIndex
from chunkwise.retrieval.embedded.layout import Arrays, portion_of
from chunkwise.retrieval.embedded.sink import Collector
from chunkwise.retrieval.embedded.strings import encoded
from chunkwise.retrieval.embedded.terms import with_rows_of_terms
from chunkwise.retrieval.making.build import Built
from chunkwise.retrieval.record import record_of


class _Before:
    """The documents of an older index, by what they are."""

    def __init__(self, index: EmbeddedIndex | None) -> None:
        rows = [] if index is None else index.fingerprints()
        self.fingerprints = dict(zip(index.ids(), rows, strict=True)) if index else {}
        """By id."""
        # The first of several equal ones serves for all.
        self._numbers = {row: number for number, row in reversed(list(enumerate(rows)))}
        self.own = {id: number for number, id in enumerate(self.fingerprints)}

    def number(self, id: str, fingerprint: str) -> int | None:
        """Which of its documents can serve: the one of this id rather than another of the same text."""
        if self.fingerprints.get(id) == fingerprint:
            return self.own[id]
        return self._numbers.get(fingerprint)


class Assembly:
    """Documents in their order; runs of old ones are copied as they lie.

    Where the others are kept, what is new comes first, then the old ones as they lay: adding nothing changes nothing.
    """

    def __init__(
        self,
        before: EmbeddedIndex | None,
        start: Callable[[], Collector],
        *,
        keep_others: bool = False,
    ) -> None:
        self._before = before
        self._staying: list[int] | None = [] if keep_others else None
        self._known = _Before(before)
        self._start = start
        self._collector: Collector | None = None
        self._rows: Arrays | None = None
        self._run = (0, 0)

    def fingerprints(self) -> dict[str, str]:
        return self._known.fingerprints

    def sources(self) -> dict[str, str]:
        before = self._before
        if before is None:
            return {}
        records = (
            json.loads(before.text_of("record", number)) for number in self._known.own.values()
        )
        return {id: record["source"] for id, record in zip(self._known.own, records, strict=True)}

    def knows(self, id: str, fingerprint: str) -> bool:
        return self._known.number(id, fingerprint) is not None

    def add(self, built: Built) -> None:
        self._flush()
        self._into().add(encode(built.part, built.language))

    def keep(self, document: Document, fingerprint: str) -> None:
        """A document of the older index, perhaps under another id or with other metadata."""
        number = self._known.number(document.id, fingerprint)
        assert self._before is not None
        assert number is not None
        if _is_same(self._before, number, document):
            self._stay(number)
        else:
            self._flush()
            self._copy(number, document)

    def leave(self, id: str) -> None:
        self._stay(self._known.own[id])

    def _stay(self, number: int) -> None:
        if self._staying is None:
            self._carry(number)
        else:
            self._staying.append(number)

    def _carry(self, number: int) -> None:
        if self._run[1] == number and self._run[0] < number:
            self._run = (self._run[0], number + 1)
        else:
            self._flush()
            self._run = (number, number + 1)

    def finish(self) -> Collector | None:
        """Everything collected; None: it would be the older index again."""
        for number in sorted(self._staying or ()):
            self._carry(number)
        before = self._before
        if before and not self._collector and self._run == (0, before.document_count):
            return None
        self._flush()
        return self._into()

    def _into(self) -> Collector:
        if self._collector is None:
            self._collector = self._start()
        return self._collector

    def _old(self) -> Arrays:
        if self._rows is None:
            assert self._before is not None
            self._rows = with_rows_of_terms(self._before.arrays)
        return self._rows

    def _flush(self) -> None:
        low, high = self._run
        self._run = (0, 0)
        if low < high:
            self._into().add(portion_of(self._old(), low, high))

    def _copy(self, number: int, document: Document) -> None:
        portion = portion_of(self._old(), number, number + 1)
        for name, text in (("id", document.id), ("record", record_of(document))):
            portion.size[name], portion.column[f"{name}.bytes"] = encoded([text])
        self._into().add(portion)


def _is_same(before: EmbeddedIndex, number: int, document: Document) -> bool:
    return before.text_of("id", number) == document.id and before.text_of(
        "record", number
    ) == record_of(document)

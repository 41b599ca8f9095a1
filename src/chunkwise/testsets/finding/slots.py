"""The passages of a question, one slot each, in the order of the file and under the names it gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from chunkwise.core import Passage, Span
from chunkwise.testsets.testset import Draft, ProblemKind, Spot

Role = Literal["reference", "alternative", "label"]


@dataclass(slots=True)
class Slot:
    """One passage of a question on its way to a place."""

    role: Role
    what: str
    """`reference 2`, for messages."""
    document: str
    """As the file calls it; empty: it does not say."""
    claimed: Span | None
    """Where the file says it is; None: to be found by its text."""
    text: str
    """What the file says stands there; empty: it does not say."""
    fault: tuple[ProblemKind, str] | None = None
    relevant: bool = False
    """Of a label."""
    want: int = -1
    places: tuple[Passage, ...] = ()

    @property
    def is_named(self) -> bool:
        """Whether its document is, by a name that is known."""
        return bool(self.document) and (self.fault is None or self.fault[0] != "unknown_document")


_Value = TypeVar("_Value")


def _at(values: Sequence[_Value], at: int, default: _Value) -> _Value:
    return values[at] if at < len(values) else default


def slots_of(draft: Draft) -> Iterator[Slot]:
    """As they stand in the file; a reference comes before its alternatives, labels come last."""
    query = draft.query
    spots = draft.spots or _spots("reference", query.references) + _spots("passage", draft.quotes)
    slots = [
        *(_with_alternatives(draft, at, spots[at].name) for at in range(len(query.references))),
        *(
            [Slot("reference", spot.name, quote.document, None, quote.text)]
            for spot, quote in zip(spots[len(query.references) :], draft.quotes, strict=True)
        ),
    ]
    order = range(len(slots))
    for at in sorted(order, key=lambda each: spots[each].position) if draft.spots else order:
        yield from slots[at]
    yield from _label_slots(draft)


def _with_alternatives(draft: Draft, at: int, what: str) -> list[Slot]:
    reference = draft.query.references[at]
    span = Span(reference.start, reference.end)
    texts = _at(draft.alternative_texts, at, ())
    return [
        Slot("reference", what, reference.doc_id, span, _at(draft.texts, at, "")),
        *(
            Slot("alternative", f"{what}, alternative {number + 1}", place.doc_id,
                  Span(place.start, place.end), _at(texts, number, ""))
            for number, place in enumerate(reference.alternatives)
        ),
    ]  # fmt: skip


def _label_slots(draft: Draft) -> list[Slot]:
    labels = draft.query.labels
    if not labels and not draft.labelled_quotes:
        return []
    spots = draft.label_spots or _spots("label", (*labels, *draft.labelled_quotes))
    slots = [
        Slot("label", spot.name, label.doc_id, Span(label.start, label.end),
              _at(draft.label_texts, at, ""), relevant=label.relevant)
        for at, (spot, label) in enumerate(zip(spots, labels, strict=False))
    ]  # fmt: skip
    slots += (
        Slot("label", spot.name, quote.document, None, quote.text, relevant=relevant)
        for spot, (quote, relevant) in zip(spots[len(labels) :], draft.labelled_quotes, strict=True)
    )
    return [
        slot
        for _, slot in sorted(zip(spots, slots, strict=True), key=lambda each: each[0].position)
    ]


def _spots(what: str, values: Sequence[object]) -> tuple[Spot, ...]:
    return tuple(Spot(number, f"{what} {number}") for number in range(1, len(values) + 1))

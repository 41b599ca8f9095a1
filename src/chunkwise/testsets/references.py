"""From what a file says to references: document names resolved, spans verified, passages found, faults told."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, Protocol, TypeVar

from chunkwise.base.wording import counted, from_to, thousands
from chunkwise.core import Document, Label, Passage, Query, Reference, Span
from chunkwise.documents.document_ids import DocumentNames
from chunkwise.testsets.check import REMARKS, Problem, ProblemKind
from chunkwise.testsets.locate import (
    MANY_PLACES,
    MOST_PLACES,
    Ambiguous,
    Located,
    LocateResult,
    Missing,
    SoughtPassage,
    locate,
)
from chunkwise.testsets.testset import Draft, PassagePosition, Quote, shown_quote
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.find_passages import same_but_for_signs

Role = Literal["reference", "alternative", "label"]


@dataclass(slots=True)
class PassageSlot:
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
    grade: int | None = None
    """Of a label."""
    start: int | None = None
    """Where it begins, where nothing else is said of it."""
    chunk: str = ""
    """The id of the chunk it is."""
    want: int = -1
    places: tuple[Passage, ...] = ()

    @property
    def is_named(self) -> bool:
        """Whether its document is, by a name that is known."""
        return bool(self.document) and (self.fault is None or self.fault[0] != "unknown_document")


_Value = TypeVar("_Value")


def _at(values: Sequence[_Value], at: int, default: _Value) -> _Value:
    return values[at] if at < len(values) else default


def slots_of(draft: Draft) -> Iterator[PassageSlot]:
    """As they stand in the file; a reference comes before its alternatives, labels come last."""
    query = draft.query
    spots = draft.spots or _spots("reference", query.references) + _spots("passage", draft.quotes)
    slots = [
        *(_with_alternatives(draft, at, spots[at].name) for at in range(len(query.references))),
        *(
            [_slot_of("reference", spot.name, quote)]
            for spot, quote in zip(spots[len(query.references) :], draft.quotes, strict=True)
        ),
    ]
    for each in draft.alternative_quotes:
        what = _alternative(spots[each.of].name, each.number)
        slots[each.of].append(_slot_of("alternative", what, each.quote, each.place))
    order = range(len(slots))
    for at in sorted(order, key=lambda each: spots[each].position) if draft.spots else order:
        yield from slots[at]
    yield from _label_slots(draft)


def _with_alternatives(draft: Draft, at: int, what: str) -> list[PassageSlot]:
    reference = draft.query.references[at]
    span = Span(reference.start, reference.end)
    texts = _at(draft.alternative_texts, at, ())
    quoted = {each.number for each in draft.alternative_quotes if each.of == at}
    numbers = (number for number in count(1) if number not in quoted)
    return [
        PassageSlot("reference", what, reference.doc_id, span, _at(draft.texts, at, "")),
        *(
            PassageSlot("alternative", _alternative(what, number), place.doc_id,
                  Span(place.start, place.end), _at(texts, position, ""))
            for position, (place, number) in enumerate(zip(reference.alternatives, numbers, strict=False))
        ),
    ]  # fmt: skip


def _alternative(what: str, number: int) -> str:
    return f"{what}, alternative {number}"


def _label_slots(draft: Draft) -> list[PassageSlot]:
    labels = draft.query.labels
    if not labels and not draft.labelled_quotes:
        return []
    spots = draft.label_spots or _spots("label", (*labels, *draft.labelled_quotes))
    slots = [
        PassageSlot("label", spot.name, label.doc_id, Span(label.start, label.end),
              _at(draft.label_texts, at, ""), relevant=label.relevant, grade=label.grade)
        for at, (spot, label) in enumerate(zip(spots, labels, strict=False))
    ]  # fmt: skip
    slots += (
        replace(_slot_of("label", spot.name, quote), relevant=relevant, grade=grade)
        for spot, (quote, relevant, grade) in zip(
            spots[len(labels) :], draft.labelled_quotes, strict=True
        )
    )
    return [
        slot
        for _, slot in sorted(zip(spots, slots, strict=True), key=lambda each: each[0].position)
    ]


def _slot_of(role: Role, what: str, quote: Quote, place: Passage | None = None) -> PassageSlot:
    claimed = Span(place.start, place.end) if place else None
    return PassageSlot(
        role, what, quote.document, claimed, quote.text, start=quote.start, chunk=quote.chunk
    )


def _spots(what: str, values: Sequence[object]) -> tuple[PassagePosition, ...]:
    return tuple(
        PassagePosition(number, f"{what} {number}") for number in range(1, len(values) + 1)
    )


_NAME_IT = "name its document, or quote more of it"
_FEW_CHARACTERS, _FEW_WORDS = 25, 4
_FEW_IDEOGRAPHS = 8
"""Passages below are met by accident: where they stand in several places, perhaps not all are meant."""
_SCRIPTS_OF_WORDS = 0x2E80
"""From here on one character can be a word."""


class KnownChunks(Protocol):
    """What chunks are called, and where they begin."""

    def find(self, id: str, document: int | None = None) -> Passage | str:
        """The chunk of an id, in the document of this number where one is named; or why it is not known."""

    def holding(self, document: int, start: int) -> Span | None:
        """The chunk that begins at an offset, else the one that holds it; None: none does, or they are not known."""


class ReferenceLocator:
    """Places the passages of many questions; all that must be searched for is searched for at once."""

    def __init__(self, documents: Sequence[Document], chunks: KnownChunks | None = None) -> None:
        self._documents = documents
        self._chunks = chunks
        self._sentences: dict[int, list[int]] = {}
        self._numbers = {document.id: number for number, document in enumerate(documents)}
        self._names = DocumentNames(documents)
        self._wanted: list[SoughtPassage] = []
        self._added: list[Query | tuple[Draft, list[PassageSlot]]] = []

    def add(self, draft: Draft) -> None:
        slots = list(slots_of(draft))
        for slot in slots:
            self._examine(slot)
        settled = all(slot.places for slot in slots)
        # Most are as the file says; their texts need not wait in memory.
        self._added.append(_query(draft, slots) if settled else (draft, slots))

    @property
    def wanted(self) -> int:
        """How many passages will be looked for."""
        return len(self._wanted)

    def placed(self) -> Iterator[tuple[str, Query | None, list[Problem]]]:
        """Of every question in order its id, itself with its places, and what is wrong.

        None stands for one whose references are not whole.
        """
        outcomes = locate(self._wanted, self._documents) if self._wanted else []
        for added in self._added:
            if isinstance(added, Query):
                yield added.id, added, []
                continue
            draft, slots = added
            settled = (self._settle(slot, draft, outcomes) for slot in slots)
            problems = [problem for problem in settled if problem is not None]
            if any(slot.role == "reference" and not slot.places for slot in slots):
                problems = [_dropped(each) for each in problems]
                yield draft.query.id, None, problems
            else:
                yield draft.query.id, _query(draft, slots), problems

    def _examine(self, slot: PassageSlot) -> None:
        """Takes a claim that holds as the place; else notes what is wrong and what to look for."""
        is_said = bool(slot.document) or slot.claimed is not None
        found = self._names.find(slot.document) if is_said else None
        number = found if isinstance(found, int) else None
        if isinstance(found, str):
            slot.fault = "unknown_document", found
        elif slot.claimed is None and not slot.text:
            self._point(slot, number)
        elif slot.claimed is not None and number is not None:
            slot.fault = self._doubt(slot, slot.claimed, self._documents[number])
        if slot.claimed is not None and slot.fault is None and number is not None:
            slot.places = (Passage(self._documents[number].id, *slot.claimed),)
        elif slot.text:
            slot.want = len(self._wanted)
            self._wanted.append(SoughtPassage(slot.text, number))

    def _point(self, slot: PassageSlot, number: int | None) -> None:
        """The chunk that is named or begins there, as citations are read; without chunks the sentence there."""
        if slot.chunk:
            found = self._chunk(slot.chunk, number)
            if isinstance(found, Passage):
                held = slot.start is None or found.start <= slot.start < found.end
                slot.places = (found,) if held else ()
            elif slot.start is None:
                slot.fault = "not_found", f"{slot.what}: {found}"
        if slot.places or slot.start is None:
            return
        if number is None and len(self._documents) == 1:
            number = 0
        if number is None:
            slot.fault = (
                "unknown_document",
                f"{slot.what} begins at {thousands(slot.start)}, but names no document",
            )
            return
        document = self._documents[number]
        if not 0 <= slot.start < len(document.text):
            said = f"{slot.what} begins at {_number(slot.start)} of {document.id!r}"
            slot.fault = "outside", f"{said}, which has {counted(len(document.text), 'character')}"
            return
        span = self._chunks.holding(number, slot.start) if self._chunks else None
        slot.places = (Passage(document.id, *(span or self._sentence(number, slot.start))),)

    def _chunk(self, id: str, number: int | None) -> Passage | str:
        if self._chunks is None:
            return f"no chunks are known here, and {id!r} names one; give a start, or a text"
        return self._chunks.find(id, number)

    def _sentence(self, number: int, at: int) -> Span:
        if number not in self._sentences:
            document = self._documents[number]
            self._sentences[number] = [
                *Analyzed(document).sentences.tolist(),
                len(document.text),
            ]
        starts = self._sentences[number]
        behind = bisect_right(starts, at)
        return Span(starts[behind - 1], starts[behind])

    def _doubt(
        self, slot: PassageSlot, claimed: Span, document: Document
    ) -> tuple[ProblemKind, str] | None:
        start, end = claimed
        span = f"{_number(start)}–{_number(end)} of {document.id!r}"
        if not 0 <= start < end <= len(document.text):
            if start >= end:
                return "outside", f"{slot.what} is {span}: nothing lies between"
            return (
                "outside",
                f"{slot.what} is {span}, which has {counted(len(document.text), 'character')}",
            )
        there = document.text[start:end]
        if slot.text and not same_but_for_signs(there, slot.text):
            said = (
                f"{slot.what} is to be {shown_quote(slot.text)}, and {span} is {shown_quote(there)}"
            )
            return "different_text", said
        return None

    def _settle(
        self, slot: PassageSlot, draft: Draft, outcomes: Sequence[LocateResult]
    ) -> Problem | None:
        if slot.places:
            return None
        if slot.want < 0:
            kind, said = slot.fault or ("not_found", f"{slot.what} has no text")
            return Problem(kind, draft.where, draft.query.id, f"{said}; correct it")
        outcome = outcomes[slot.want]
        if isinstance(outcome, Located) and self._is_sure(slot, outcome):
            slot.places = outcome.places
            if slot.fault is None:
                return _several(slot, draft)
            kind, said = slot.fault
            place = slot.places[0]
            now = f"{said}; it stands at {from_to(place.start, place.end)} of {place.doc_id!r}"
            return Problem(kind, draft.where, draft.query.id, now, place, repaired=True)
        return self._lost(slot, draft, outcome)

    def _is_sure(self, slot: PassageSlot, outcome: Located) -> bool:
        """Without the document it is said to be in, only a passage that stands in one place is beyond doubt."""
        unknown = slot.fault is not None and slot.fault[0] == "unknown_document"
        return not unknown or len(outcome.places) == 1

    def _lost(self, slot: PassageSlot, draft: Draft, outcome: LocateResult) -> Problem:
        quote = f"{slot.what}, {shown_quote(slot.text)},"
        fault = f"{slot.fault[1]}; " if slot.fault else ""
        kind: ProblemKind = slot.fault[0] if slot.fault else "not_found"
        nearest: Passage | None = None
        if isinstance(outcome, Missing) and outcome.elsewhere:
            nearest = outcome.elsewhere[0]
            said = f"{quote} is not in {slot.document!r} but in {nearest.doc_id!r}; name that, or correct the text"
        elif isinstance(outcome, Missing):
            nearest = outcome.nearest
            said = f"{quote} is in no document; correct it"
        elif isinstance(outcome, Ambiguous) and outcome.different:
            nearest = outcome.places[0]
            told = _distinct([self._text(place) for place in outcome.places])
            said = f"{quote} fits different texts: {', '.join(told)}; quote one of them exactly"
            kind = "ambiguous"
        else:
            nearest = outcome.places[0]
            many = (
                f"more than {counted(MOST_PLACES, 'place')}"
                if len(outcome.places) > MOST_PLACES
                else "several places"
            )
            advice = "quote more of it" if slot.is_named else _NAME_IT
            said = f"{quote} stands in {many}; {advice}"
            kind = "ambiguous"
        return Problem(kind, draft.where, draft.query.id, fault + said, nearest)

    def _text(self, place: Passage) -> str:
        return self._documents[self._numbers[place.doc_id]].text[place.start : place.end]


def _dropped(problem: Problem) -> Problem:
    """Why the question is left out; what was mended, or only remarked, is not the reason."""
    is_reason = not problem.repaired and problem.kind not in REMARKS
    return replace(problem, dropped=is_reason)


def _several(slot: PassageSlot, draft: Draft) -> Problem | None:
    """A remark about a text that stands in so many places, or is so short, that not all may be meant."""
    count = len(slot.places)
    if count < 2 or not (count > MANY_PLACES or _is_short(slot.text)):
        return None
    documents = len({place.doc_id for place in slot.places})
    where = counted(documents, "document")
    advice = "quote more of it" if slot.is_named else _NAME_IT
    said = (
        f"{slot.what}, {shown_quote(slot.text)}, stands in {counted(count, 'place')} in {where}, and any of them "
        f"counts; {advice} if one is meant"
    )
    return Problem("several_places", draft.where, draft.query.id, said)


def _is_short(text: str) -> bool:
    words = text.split()
    if any(ord(each) >= _SCRIPTS_OF_WORDS for each in text):
        return sum(map(len, words)) < _FEW_IDEOGRAPHS
    return len(" ".join(words)) < _FEW_CHARACTERS or len(words) < _FEW_WORDS


def _query(draft: Draft, slots: list[PassageSlot]) -> Query:
    """The question with the places that were found; labels count at every place of their text."""
    found: list[tuple[Passage, dict[Passage, None]]] = []
    labels: list[Label] = []
    for slot in slots:
        if slot.role == "label":
            labels += [Label(*place, slot.relevant, slot.grade) for place in slot.places]
        elif slot.role == "reference":
            found.append((slot.places[0], dict.fromkeys(slot.places[1:])))
        else:
            found[-1][1].update(dict.fromkeys(slot.places))
    references = tuple(
        Reference(*first, tuple(place for place in others if place != first))
        for first, others in found
    )
    return replace(draft.query, references=references, labels=tuple(dict.fromkeys(labels)))


def _distinct(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(shown_quote(text) for text in texts))[:3]


def _number(value: int) -> str:
    return thousands(value) if abs(value) < 10**15 else "a huge number"

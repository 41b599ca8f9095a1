"""From what a file says to references: document names resolved, spans verified, passages found, faults told."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from chunkwise.base.wording import counted, from_to, thousands
from chunkwise.core import Document, Passage, Query, Span
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
from chunkwise.testsets.testset import Draft, GivenPassage, placed_query, shown_quote
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.find_passages import same_but_for_signs


@dataclass(slots=True)
class PassageSlot:
    """One passage of a question on its way to a place."""

    passage: GivenPassage
    fault: tuple[ProblemKind, str] | None = None
    want: int = -1
    places: tuple[Passage, ...] = ()

    @property
    def is_named(self) -> bool:
        """Whether its document is, by a name that is known."""
        return bool(self.passage.document) and (
            self.fault is None or self.fault[0] != "unknown_document"
        )


_NAME_IT = "give its document, or a longer quote"
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
        slots = list(map(PassageSlot, draft.passages))
        for slot in slots:
            self._examine(slot)
        settled = all(slot.places for slot in slots)
        # Most are as the file says; their texts need not wait in memory.
        self._added.append(_placed(draft, slots) if settled else (draft, slots))

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
            if any(slot.passage.role == "reference" and not slot.places for slot in slots):
                problems = [_dropped(item) for item in problems]
                yield draft.question.id, None, problems
            else:
                yield draft.question.id, _placed(draft, slots), problems

    def _examine(self, slot: PassageSlot) -> None:
        """Takes a claim that holds as the place; else notes what is wrong and what to look for."""
        is_said = bool(slot.passage.document) or slot.passage.span is not None
        result = self._names.find(slot.passage.document) if is_said else None
        number = result if isinstance(result, int) else None
        if isinstance(result, str):
            slot.fault = "unknown_document", result
        elif slot.passage.span is None and not slot.passage.text:
            self._point(slot, number)
        elif slot.passage.span is not None and number is not None:
            slot.fault = self._doubt(slot, slot.passage.span, self._documents[number])
        if slot.passage.span is not None and slot.fault is None and number is not None:
            slot.places = (Passage(self._documents[number].id, *slot.passage.span),)
        elif slot.passage.text:
            slot.want = len(self._wanted)
            self._wanted.append(SoughtPassage(slot.passage.text, number))

    def _point(self, slot: PassageSlot, number: int | None) -> None:
        """The chunk that is named or begins there, as citations are read; without chunks the sentence there."""
        if slot.passage.chunk:
            result = self._chunk(slot.passage.chunk, number)
            if isinstance(result, Passage):
                held = slot.passage.start is None or result.start <= slot.passage.start < result.end
                slot.places = (result,) if held else ()
            elif slot.passage.start is None:
                slot.fault = "not_found", f"{slot.passage.name}: {result}"
        if slot.places or slot.passage.start is None:
            return
        if number is None and len(self._documents) == 1:
            number = 0
        if number is None:
            slot.fault = (
                "unknown_document",
                f"{slot.passage.name} starts at {thousands(slot.passage.start)}, but has no "
                "document",
            )
            return
        document = self._documents[number]
        if not 0 <= slot.passage.start < len(document.text):
            text = f"{slot.passage.name} begins at {_number(slot.passage.start)} of {document.id!r}"
            slot.fault = "outside", f"{text}, which has {counted(len(document.text), 'character')}"
            return
        span = self._chunks.holding(number, slot.passage.start) if self._chunks else None
        slot.places = (Passage(document.id, *(span or self._sentence(number, slot.passage.start))),)

    def _chunk(self, id: str, number: int | None) -> Passage | str:
        if self._chunks is None:
            return f"{id!r} is a chunk id, but no chunks are known; give a start offset, or text"
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
                return "outside", f"{slot.passage.name} is {span}, which is empty"
            return (
                "outside",
                f"{slot.passage.name} is {span}, which has "
                f"{counted(len(document.text), 'character')}",
            )
        there = document.text[start:end]
        if slot.passage.text and not same_but_for_signs(there, slot.passage.text):
            text = f"{slot.passage.name} is {shown_quote(slot.passage.text)}, but {span} is {shown_quote(there)}"
            return "different_text", text
        return None

    def _settle(
        self, slot: PassageSlot, draft: Draft, outcomes: Sequence[LocateResult]
    ) -> Problem | None:
        if slot.places:
            return None
        if slot.want < 0:
            kind, text = slot.fault or ("not_found", f"{slot.passage.name} has no text")
            return Problem(kind, draft.where, draft.question.id, f"{text}; correct it")
        outcome = outcomes[slot.want]
        if isinstance(outcome, Located) and self._is_sure(slot, outcome):
            slot.places = outcome.places
            if slot.fault is None:
                return _several(slot, draft)
            kind, text = slot.fault
            place = slot.places[0]
            now = f"{text}; it is at {from_to(place.start, place.end)} of {place.doc_id!r}"
            return Problem(kind, draft.where, draft.question.id, now, place, repaired=True)
        return self._lost(slot, draft, outcome)

    def _is_sure(self, slot: PassageSlot, outcome: Located) -> bool:
        """Without the document it is said to be in, only a passage that stands in one place is beyond doubt."""
        unknown = slot.fault is not None and slot.fault[0] == "unknown_document"
        return not unknown or len(outcome.places) == 1

    def _lost(self, slot: PassageSlot, draft: Draft, outcome: LocateResult) -> Problem:
        quote = f"{slot.passage.name}, {shown_quote(slot.passage.text)},"
        fault = f"{slot.fault[1]}; " if slot.fault else ""
        kind: ProblemKind = slot.fault[0] if slot.fault else "not_found"
        nearest: Passage | None = None
        if isinstance(outcome, Missing) and outcome.elsewhere:
            nearest = outcome.elsewhere[0]
            there = f"isn't in {slot.passage.document!r} but in {nearest.doc_id!r}"
            text = f"{quote} {there}; correct the document or the text"
        elif isinstance(outcome, Missing):
            nearest = outcome.nearest
            text = f"{quote} isn't in any document; correct it"
        elif isinstance(outcome, Ambiguous) and outcome.different:
            nearest = outcome.places[0]
            messages = _distinct([self._text(place) for place in outcome.places])
            text = f"{quote} matches different texts: {', '.join(messages)}; quote one exactly"
            kind = "ambiguous"
        else:
            nearest = outcome.places[0]
            many = (
                f"more than {counted(MOST_PLACES, 'place')}"
                if len(outcome.places) > MOST_PLACES
                else "several places"
            )
            advice = "use a longer quote" if slot.is_named else _NAME_IT
            text = f"{quote} is in {many}; {advice}"
            kind = "ambiguous"
        return Problem(kind, draft.where, draft.question.id, fault + text, nearest)

    def _text(self, place: Passage) -> str:
        return self._documents[self._numbers[place.doc_id]].text[place.start : place.end]


def _dropped(problem: Problem) -> Problem:
    """Why the question is left out; what was mended, or only remarked, is not the reason."""
    is_reason = not problem.repaired and problem.kind not in REMARKS
    return replace(problem, dropped=is_reason)


def _several(slot: PassageSlot, draft: Draft) -> Problem | None:
    """A remark about a text that stands in so many places, or is so short, that not all may be meant."""
    count = len(slot.places)
    if count < 2 or not (count > MANY_PLACES or _is_short(slot.passage.text)):
        return None
    documents = len({place.doc_id for place in slot.places})
    where = counted(documents, "document")
    advice = "use a longer quote" if slot.is_named else _NAME_IT
    text = (
        f"{slot.passage.name}, {shown_quote(slot.passage.text)}, occurs {counted(count, 'time')} "
        f"in {where}, and any counts; {advice} to select one"
    )
    return Problem("several_places", draft.where, draft.question.id, text)


def _is_short(text: str) -> bool:
    words = text.split()
    if any(ord(item) >= _SCRIPTS_OF_WORDS for item in text):
        return sum(map(len, words)) < _FEW_IDEOGRAPHS
    return len(" ".join(words)) < _FEW_CHARACTERS or len(words) < _FEW_WORDS


def _placed(draft: Draft, slots: list[PassageSlot]) -> Query:
    return placed_query(draft.question, ((slot.passage, slot.places) for slot in slots))


def _distinct(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(shown_quote(text) for text in texts))[:3]


def _number(value: int) -> str:
    return thousands(value) if abs(value) < 10**15 else "a huge number"

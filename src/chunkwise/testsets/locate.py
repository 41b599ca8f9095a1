"""Quoted passages found in the documents: exactly, else but for signs, case and marks; never guessed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document, Passage, Span
from chunkwise.text.find_passages import Occurrences, Tolerance
from chunkwise.text.passages_with_front_matter import find_in_rounds

_OWNERS = 64
"""Passages that a pair of words speaks for at most."""
_LIKE = 0.3
"""Share of words that must be the same, else nothing is near."""
_MOST_WORDS = 1000
_FEW_WORDS = 4
"""Passages of fewer words are compared word by word: they have too few pairs."""
_WORDS = re.compile(r"[^\W\u0e00-\U0010ffff]+|[^\W\x00-\u0dff]")


def nearest_places(
    passages: Sequence[str],
    documents: Sequence[Document],
    named: Sequence[int | None],
) -> list[Passage | None]:
    """Of each passage the place that shares most pairs of words with it; None: nothing does.

    Of places that share as much, that in the document which is named for the passage.
    """
    words = [_words(passage)[:_MOST_WORDS] for passage in passages]
    owners: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for passage, own in enumerate(words):
        for at, key in enumerate(_keys(own, 2 if len(own) >= _FEW_WORDS else 1)):
            if len(owners[key]) < _OWNERS:
                owners[key].append((passage, at))
    best: dict[int, tuple[int, int, int]] = {}
    for number, document in enumerate(documents if owners else ()):
        there = _words(document.text)
        votes: dict[tuple[int, int], list[int]] = {}
        for size in (1, 2):
            for at, key in enumerate(_keys(there, size)):
                for passage, place in owners.get(key, ()):
                    # A few words more or less in between do not part what belongs together.
                    first = max(0, at - place)
                    vote = votes.setdefault((passage, first // (_FEW_WORDS * 2)), [0, first])
                    vote[0] += 1
        for (passage, _), (count, first) in votes.items():
            score = 2 * count + (number == named[passage])
            if passage not in best or score > best[passage][0]:
                best[passage] = score, number, first
    return [
        _refined(passage, words[number], documents[best[number][1]], best[number][2])
        if number in best
        else None
        for number, passage in enumerate(passages)
    ]


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in _WORDS.finditer(text)]


def _keys(words: list[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(size)), strict=False)


def _refined(passage: str, words: list[str], document: Document, first: int) -> Passage | None:
    """As many words of the document, with the signs that the passage has around its own."""
    there = list(islice(_WORDS.finditer(document.text), first, first + len(words)))
    same = Counter(match[0].casefold() for match in there) & Counter(words)
    if same.total() < _LIKE * len(words):
        return None
    start, end = there[0].start(), there[-1].end()
    matches = list(_WORDS.finditer(passage))
    before, behind = passage[: matches[0].start()].lstrip(), passage[matches[-1].end() :].rstrip()
    if before and document.text.endswith(before, 0, start):
        start -= len(before)
    if behind and document.text.startswith(behind, end):
        end += len(behind)
    return Passage(document.id, start, end)


def trimmed(text: str, start: int, end: int) -> Span:
    """Empty where there is nothing else."""
    part = text[start:end]
    behind = start + len(part.rstrip())
    return Span(min(end - len(part.lstrip()), behind), behind)


_ELISION = re.compile(r"\s*(?:[\[(]\s*(?:\.{3}|…)\s*[\])]|\.{3,}|…)\s*")


def elided_parts(quote: str) -> list[str]:
    """What stands between the marks of an elision, each with a letter or digit; empty: nothing was left out inside."""
    parts = [part for part in _ELISION.split(quote) if any(map(str.isalnum, part))]
    return parts if len(parts) > 1 else []


MANY_PLACES = 20
"""A passage that stands in more places than this is worth a remark."""
MOST_PLACES = 1000
"""A passage that stands in more places than this says nothing about where to look."""
_AT_ONCE = 1024
_NEAREST = 1000
"""Passages whose nearest place is looked for: a file with more is one for other documents."""


class SoughtPassage(NamedTuple):
    """A passage to be found."""

    text: str
    document: int | None = None
    """Number of the document it is said to stand in; None: any."""


class Located(NamedTuple):
    """Where a passage stands: that in the document named first, else in document order."""

    places: tuple[Passage, ...]
    tolerance: Tolerance


class Ambiguous(NamedTuple):
    """Too many places, or places with different texts, none of them exactly that of the passage."""

    places: tuple[Passage, ...]
    different: bool
    """Whether it is the texts that differ, not the places that are too many."""


class Missing(NamedTuple):
    """It stands nowhere, or not in the document it is said to stand in."""

    elsewhere: tuple[Passage, ...] = ()
    """Where it does stand."""
    nearest: Passage | None = None


LocateResult = Located | Ambiguous | Missing


def locate(wanted: Sequence[SoughtPassage], documents: Sequence[Document]) -> list[LocateResult]:
    """What became of each passage, in their order; of equal ones the same."""
    distinct = dict.fromkeys(wanted)
    if len(distinct) < len(wanted):
        known = dict(zip(distinct, locate(list(distinct), documents), strict=True))
        return [known[passage] for passage in wanted]
    outcomes: list[LocateResult | None] = [None] * len(wanted)
    elsewhere: dict[int, tuple[Passage, ...]] = {}
    texts = [passage.text for passage in wanted]
    for occurring in find_in_rounds(texts, documents, lambda number: outcomes[number] is None):
        places: dict[int, _Places] = {}
        for tolerance, row in occurring:
            number = row.passage
            places.setdefault(number, _Places(wanted[number].document, tolerance)).add(row)
        for number, found in places.items():
            if found.here or (wanted[number].document is None and found.others):
                outcomes[number] = _decided(found, documents)
            elif found.others:
                elsewhere.setdefault(number, _passages(found.others, documents))
    lost = [number for number, outcome in enumerate(outcomes) if outcome is None]
    sought = [number for number in lost if number not in elsewhere][:_NEAREST]
    passages = [wanted[number] for number in sought]
    near = nearest_places(
        [passage.text for passage in passages],
        documents,
        [passage.document for passage in passages],
    )
    nearest = dict(zip(sought, near, strict=True))
    for number in lost:
        outcomes[number] = Missing(elsewhere.get(number, ()), nearest.get(number))
    return [outcome for outcome in outcomes if outcome is not None]


@dataclass(slots=True)
class _Places:
    """What is known of one passage; more than can be used is not kept."""

    document: int | None
    tolerance: Tolerance
    whole: tuple[list[_Place], list[_Place]] = field(default_factory=lambda: ([], []))
    """In the document that was named, and in others; of these no word is cut."""
    cut: tuple[list[_Place], list[_Place]] = field(default_factory=lambda: ([], []))

    @property
    def here(self) -> list[_Place]:
        return self.whole[0] or self.cut[0]

    @property
    def others(self) -> list[_Place]:
        # "ten" is meant as a word wherever it is one.
        return self.whole[1] or ([] if self.whole[0] else self.cut[1])

    def add(self, found: Occurrences) -> None:
        named = found.document == (-1 if self.document is None else self.document)
        for chosen, kept in (
            (named & found.whole, self.whole[0]),
            (~named & found.whole, self.whole[1]),
            (named & ~found.whole, self.cut[0]),
            (~named & ~found.whole, self.cut[1]),
        ):
            at = np.flatnonzero(chosen)
            # A letter stands everywhere: no more is looked at than it takes to know that.
            for low in range(0, len(at), _AT_ONCE):
                if len(kept) > MOST_PLACES:
                    break
                _keep(kept, found, at[low : low + _AT_ONCE])


def _keep(kept: list[_Place], occurrences: Occurrences, at: NDArray[np.int64]) -> None:
    """Adds places that do not overlap those before, until there are too many."""
    for place in zip(
        occurrences.document[at].tolist(),
        occurrences.start[at].tolist(),
        occurrences.end[at].tolist(),
        strict=True,
    ):
        if len(kept) > MOST_PLACES:
            return
        if not kept or kept[-1][0] != place[0] or kept[-1][2] <= place[1]:
            kept.append(place)


_Place = tuple[int, int, int]
"""Number of a document, start and end."""


def _decided(found: _Places, documents: Sequence[Document]) -> Located | Ambiguous:
    here, others, tolerance = found.here, found.others, found.tolerance
    if len(here) + len(others) > MANY_PLACES and here:
        others = []  # the document was named because the passage is everywhere
    places = _passages([*here, *others][: MOST_PLACES + 1], documents)
    if len(places) > MOST_PLACES:
        return Ambiguous(places, different=False)
    if tolerance == "exact":
        return Located(places, tolerance)
    texts = [documents[number].text[start:end] for number, start, end in (*here, *others)]
    same = [_spaced_alike(texts[0], text) for text in texts]
    if not all(same[: len(here) or None]):
        return Ambiguous(places, different=True)
    return Located(tuple(p for p, is_same in zip(places, same, strict=True) if is_same), tolerance)


def _spaced_alike(one: str, other: str) -> bool:
    return one == other or one.split() == other.split()


def _passages(places: Iterable[_Place], documents: Sequence[Document]) -> tuple[Passage, ...]:
    return tuple(Passage(documents[number].id, start, end) for number, start, end in places)

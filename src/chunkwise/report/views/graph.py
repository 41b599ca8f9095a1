"""What is shown of the graph of names of an index: a picture of how they hang together, and what speaks of each."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, thousands
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.view import Tile, View
from chunkwise.retrieval.graph.names_and_neighbors import (
    CommunitySummary,
    NameCount,
    NameDetails,
    NameLink,
    NameMention,
    NameOverview,
)

_LONGEST = 26
"""Letters of a name in the picture."""
_LETTER, _LINE = 8.0, 30.0
"""Pixels a letter is wide, and a name with its frame is high."""
_LINKS = 3
"""Of each name that are drawn: its strongest; more to one that is the strongest of many."""
_STEPS = 240
_REACH = 2.0
"""Times the distance that is wanted between names, within which they push each other."""
_GROUPS = 8
"""Colors."""


@dataclass(frozen=True, slots=True)
class DrawnName:
    """A name in the picture, in its frame."""

    label: str
    x: float
    y: float
    """Of its middle."""
    width: float
    height: float
    group: int
    """Names that hang together have one color."""
    told: str
    """For who points at it, or hears it."""
    target: str
    """Id of the part of the page that is about it; empty: none is."""


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """A line between two names of the picture, by their places in it."""

    one: int
    other: int
    width: float


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """Names and the lines between them, laid out for one width."""

    width: float
    height: float
    names: tuple[DrawnName, ...]
    links: tuple[DrawnLink, ...]


@dataclass(frozen=True, slots=True)
class GraphView(View):
    """The names of an index, or one of them."""

    page_template: ClassVar[str] = "graph.html.j2"

    title: str
    tiles: tuple[Tile, ...]
    wide: GraphPicture
    narrow: GraphPicture
    """For a telephone: fewer names, one below the other."""
    names: tuple[NameDetails, ...]
    """Each with its mentions and neighbors; of one name that was asked for, that one."""
    counts: tuple[NameCount, ...]
    """All that are listed, those above among them."""
    asked: str
    """The name that was asked for; empty: the overview."""
    note: str
    communities: tuple[CommunitySummary, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether a language model was asked about some of them."""
        return any(own.relations or own.descriptions for own in self.names)

    def parts(self, mention: NameMention) -> list[tuple[str, bool]]:
        """The sentence in stretches, each with whether it is the name."""
        low = mention.sentence[0]
        start, end = mention.start - low, mention.end - low
        cut = _around(len(mention.text), start, end)
        said = [(mention.text[cut[0] : start], False), (mention.text[start:end], True)]
        said.append((mention.text[end : cut[1]], False))
        said[0] = ("… " if cut[0] else "") + said[0][0], False
        said[2] = said[2][0] + (" …" if cut[1] < len(mention.text) else ""), False
        return [part for part in said if part[0].strip()]


_SHOWN = 320
"""Characters of a sentence: a name may stand in a very long one."""


def _around(length: int, start: int, end: int) -> tuple[int, int]:
    if length <= _SHOWN:
        return 0, length
    low = max(0, min(start - _SHOWN // 2, length - _SHOWN))
    return low, max(end, low + _SHOWN)


def overview_view(
    overview: NameOverview, details: Sequence[NameDetails], title: str = ""
) -> GraphView:
    """Of a whole index; `details` are those of the first of its most linked names, for whom the page has room."""
    counts = overview.most_linked
    tiles = (
        Tile(thousands(overview.names), "names"),
        Tile(thousands(overview.mentions), "mentions, each a place in a document"),
        Tile(thousands(overview.linking), "names that lead from one passage to another"),
        Tile(
            thousands(overview.passages), f"passages of {counted(overview.documents, 'document')}"
        ),
    )
    note = ""
    if overview.common:
        note = (
            f"{counted(overview.common, 'name')} in too many passages to lead anywhere: not followed, "
            "and shown last."
        )
    wide, narrow = (
        _overview_picture(overview, len(details), most, width)
        for most, width in ((44, 1060.0), (18, 340.0))
    )
    return GraphView(
        title, tiles, wide, narrow, tuple(details), counts, "", note, overview.communities
    )


def _overview_picture(
    overview: NameOverview, details: int, most: int, width: float
) -> GraphPicture:
    """The first names, and of these those that some other one of the picture shares a passage with."""
    drawn = _linked_first(len(overview.most_linked), overview.links, most)
    at = {place: number for number, place in enumerate(drawn)}
    links = [
        NameLink(at[each.one], at[each.other], each.shared)
        for each in overview.links
        if each.one in at and each.other in at
    ]
    targets = {number: f"name-{place + 1}" for place, number in at.items() if place < details}
    return _picture([overview.most_linked[place] for place in drawn], links, width, targets)


def _linked_first(names: int, links: Sequence[NameLink], most: int) -> list[int]:
    """In their order, without those that no line would lead to as long as others may take their room."""
    beside: dict[int, set[int]] = {}
    for each in links:
        beside.setdefault(each.one, set()).add(each.other)
        beside.setdefault(each.other, set()).add(each.one)
    taken: set[int] = set()
    for name in range(names):
        # One that comes later brings the first of its neighbors that are not there yet.
        own = beside.get(name, set())
        brings = {name} if own & taken else {name, min(own)} if own else set()
        if len(taken | brings) <= most:
            taken |= brings
    lone = (name for name in range(names) if name not in beside)
    return sorted(taken | set(islice(lone, most - len(taken))))


def name_view(found: NameDetails, links: Sequence[NameLink], title: str = "") -> GraphView:
    """Of one name; `links` are those between its neighbors, by their places among them."""
    own = found.counts
    around = [NameCount(each.name, 0, each.passages, 0, False) for each in found.neighbors]
    counts = (own, *around)
    every = [NameLink(0, at, each.shared) for at, each in enumerate(found.neighbors, 1)] + [
        NameLink(each.one + 1, each.other + 1, each.shared) for each in links
    ]
    tiles = (
        Tile(thousands(own.mentions), "mentions"),
        Tile(thousands(own.passages), "passages that mention it or are about it"),
        Tile(thousands(own.documents), "documents"),
        Tile(thousands(len(found.neighbors)), "neighbors shown here"),
    )
    note = (
        "It is in too many passages to lead anywhere: searches do not follow it."
        if own.is_common
        else ""
    )
    targets = {at: f"neighbor-{at}" for at in range(1, len(counts))}
    wide, narrow = (
        _picture(counts[:most], every, width, targets, middle=True)
        for most, width in ((30, 1060.0), (13, 340.0))
    )
    return GraphView(title, tiles, wide, narrow, (found,), (own,), own.name, note)


def _picture(
    names: Sequence[NameCount],
    links: Sequence[NameLink],
    width: float,
    targets: Mapping[int, str],
    *,
    middle: bool = False,
) -> GraphPicture:
    """The same names give the same picture."""
    labels = [one_line(each.name, _LONGEST) or "…" for each in names]
    kept = _strongest([each for each in links if each.other < len(names)], middle)
    size = np.array([[_wide(label) * _LETTER + 24, _LINE] for label in labels]).reshape(-1, 2)
    size[:, 0] = np.minimum(size[:, 0], width - 8)
    # All are linked to the one in the middle: what tells them apart is how they hang together without it.
    group = _groups(len(names), [each for each in kept if not (middle and each.one == 0)])
    at, height = _laid_out(size, kept, width, middle=middle)
    drawn = tuple(
        DrawnName(
            label, round(float(at[place, 0]), 1), round(float(at[place, 1]), 1),
            round(float(size[place, 0]), 1), _LINE, group[place],
            f"{one_line(own.name, 80)}: {counted(own.passages, 'passage')}", targets.get(place, ""),
        )
        for place, (label, own) in enumerate(zip(labels, names, strict=True))
    )  # fmt: skip
    lines = tuple(
        DrawnLink(each.one, each.other, round(min(6.0, 0.8 + 0.7 * each.shared**0.5), 1))
        for each in kept
    )
    return GraphPicture(width, round(height, 1), drawn, lines)


def _wide(label: str) -> float:
    """In Latin letters: those of other scripts may take the room of two."""
    return sum(1.9 if unicodedata.east_asian_width(each) in "WF" else 1.0 for each in label)


def _strongest(links: Sequence[NameLink], middle: bool) -> list[NameLink]:
    """Few of each name, so that a picture is no ball of wool; all those to the one in the middle."""
    held: dict[int, int] = {}
    kept: set[int] = set()

    def keep(enough: Callable[[int, int], bool]) -> None:
        for at, each in enumerate(links):
            own = middle and each.one == 0
            if at not in kept and (
                own or not enough(held.get(each.one, 0), held.get(each.other, 0))
            ):
                kept.add(at)
                for name in () if own else (each.one, each.other):
                    held[name] = held.get(name, 0) + 1

    if not middle:  # The strongest of each name, even to one that has many.
        keep(lambda one, other: min(one, other) > 0)
    keep(lambda one, other: max(one, other) >= _LINKS)
    return [links[at] for at in sorted(kept)]


def _groups(names: int, links: Sequence[NameLink]) -> list[int]:
    """By label propagation over the lines that are drawn, in a fixed order; the largest group has the first color."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for each in links:
        beside.setdefault(each.one, []).append((each.other, each.shared))
        beside.setdefault(each.other, []).append((each.one, each.shared))
    label = list(range(names))
    for _ in range(20):
        changed = False
        for name in range(names):
            votes: dict[int, int] = {}
            for other, shared in beside.get(name, ()):
                votes[label[other]] = votes.get(label[other], 0) + shared
            if votes:
                best = min(votes, key=lambda own: (-votes[own], own))
                changed |= votes[best] > votes.get(label[name], 0) and best != label[name]
                label[name] = best if votes[best] > votes.get(label[name], 0) else label[name]
        if not changed:
            break
    order = sorted(set(label), key=lambda own: (-label.count(own), own))
    return [order.index(own) % _GROUPS for own in label]


def _laid_out(
    size: NDArray[np.float64], links: Sequence[NameLink], width: float, *, middle: bool
) -> tuple[NDArray[np.float64], float]:
    """Places of the middles, and how high it all is: linked names near each other, no two frames over each other."""
    names = len(size)
    if not names:
        return np.empty((0, 2)), 60.0
    # Frames are wider than high: a picture needs a bit more than twice the room they take by themselves.
    height = max(180.0, 3.4 * float((size[:, 0] + 18) @ (size[:, 1] + 18)) / width)
    rng = np.random.default_rng(7)
    at = rng.uniform(0.1, 0.9, (names, 2)) * (width, height)
    if middle:
        at[0] = width / 2, height / 2
    one = np.array([each.one for each in links], np.int64)
    other = np.array([each.other for each in links], np.int64)
    pull = np.array([each.shared for each in links], np.float64)
    pull = 0.4 + 0.6 * pull / (pull.max(initial=0) or 1.0)
    wanted = 0.75 * np.sqrt(width * height / names)
    for step in range(_STEPS):
        heat = 0.12 * (1 - step / _STEPS) * min(width, height) + 1
        away = at[:, None] - at[None]
        far = np.sqrt((away**2).sum(axis=2)) + 1e-6
        # Who is far away pushes no more: names without a link would press the linked ones together.
        apart = np.where(far < _REACH * wanted, wanted**2 / far, 0.0)
        push = (away / far[..., None] * apart[..., None]).sum(axis=1)
        if len(one):
            line = at[one] - at[other]
            length = np.sqrt((line**2).sum(axis=1)) + 1e-6
            force = line * (pull * length / wanted)[:, None]
            np.add.at(push, one, -force)
            np.add.at(push, other, force)
        push -= 0.9 * wanted * (at - (width / 2, height / 2)) / (width / 2, height / 2)
        speed = np.sqrt((push**2).sum(axis=1, keepdims=True)) + 1e-6
        at = at + push / speed * np.minimum(speed, heat)
        if middle:
            at[0] = width / 2, height / 2
    # Into the frame: whatever stands outermost touches it.
    low, high = (at - size / 2).min(axis=0), (at + size / 2).max(axis=0)
    room = np.maximum(high - low - size, 1e-6)
    at = size / 2 + 4 + (at - size / 2 - low) / room * ((width - 8, height - 8) - size)
    return _apart(np.clip(at, size / 2 + 4, (width, height) - size / 2 - 4), size)


def _apart(at: NDArray[np.float64], size: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Rows, from above: what does not fit beside what stands there moves down."""
    placed: list[int] = []
    found = at.copy()
    gap = 8.0
    for name in np.lexsort((at[:, 0], at[:, 1])).tolist():
        while True:
            lower = [
                found[own, 1] + (size[own, 1] + size[name, 1]) / 2 + gap
                for own in placed
                if abs(found[own, 0] - found[name, 0]) < (size[own, 0] + size[name, 0]) / 2 + gap
                and abs(found[own, 1] - found[name, 1])
                < (size[own, 1] + size[name, 1]) / 2 + gap - 1e-6
            ]
            if not lower:
                break
            found[name, 1] = max(lower)
        placed.append(name)
    top = float((found[:, 1] - size[:, 1] / 2).min()) - 8
    found[:, 1] -= top
    return found, float((found[:, 1] + size[:, 1] / 2).max()) + 8

"""What an index knows of names: those that link most, and of one its mentions, neighbors and passages."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.errors import no_names_error, reporting_damage
from chunkwise.retrieval.graph.build_graph import graph_of
from chunkwise.retrieval.graph.walk_along_names import NamePlace, Walk, place_of
from chunkwise.retrieval.searchable import MentionTable, Searchable
from chunkwise.text.names import (
    HEADING,
    MENTION,
    STATED,
    TITLE,
    is_short_title,
    name_hash,
    name_key,
    name_spans,
)
from chunkwise.text.names_by_rules import unwritten_title

_SPELLINGS = 32
"""Mentions of a name that are read to see how it is written."""
LINKED = 200
"""Names whose links among each other are counted: more than a picture can show."""
_PASSAGES_AT_ONCE = 4096
_RANKED = 4
"""Times as many neighbors are ranked as are shown: some turn out to be the same name in other words."""

_READ = 200
"""Documents that name a name whose relations are looked through."""

MentionKind = Literal["mention", "heading", "title", "statement"]
_KINDS: tuple[MentionKind, ...] = ("mention", "heading", "title", "statement")


@dataclass(frozen=True, slots=True)
class NameMention:
    """A place where a name stands, with its sentence."""

    doc_id: str
    start: int
    end: int
    """Equal to the start for a title that the text itself does not have, and for a name that a language model reads
    where the text says "she"."""
    kind: MentionKind
    sentence: tuple[int, int]
    text: str
    """Of the sentence."""


@dataclass(frozen=True, slots=True)
class NameCount:
    """A name, and how much speaks of it."""

    name: str
    mentions: int
    passages: int
    """Those it is mentioned in, or whose title or heading it is."""
    documents: int
    is_common: bool
    """In too many passages to lead anywhere."""


@dataclass(frozen=True, slots=True)
class NameNeighbor:
    """A name that stands in the same passages."""

    name: str
    shared: int
    """Passages that have both."""
    passages: int
    evidence: NameMention
    """Where it stands in one of them, in the same sentence if there is one."""


@dataclass(frozen=True, slots=True)
class NamePassage:
    """A passage that mentions the name, or is about it."""

    doc_id: str
    start: int
    end: int
    is_about: bool
    """Its title or heading is the name."""


@dataclass(frozen=True, slots=True)
class NameRelation:
    """What a language model says a document states of the name and another one."""

    subject: str
    relation: str
    object: str
    doc_id: str
    start: int
    end: int
    quote: str
    """What the document says there."""


@dataclass(frozen=True, slots=True)
class NameSummary:
    """What a language model says a document tells of the name."""

    text: str
    doc_id: str
    start: int
    end: int
    """Of the name, where the document says it first."""


@dataclass(frozen=True, slots=True)
class NameDetails:
    """One name: where it stands, and what stands beside it. Lists may be cut; the counts never are."""

    counts: NameCount
    mentions: tuple[NameMention, ...]
    neighbors: tuple[NameNeighbor, ...]
    passages: tuple[NamePassage, ...]
    relations: tuple[NameRelation, ...] = ()
    """Empty where no language model was asked, as are descriptions."""
    descriptions: tuple[NameSummary, ...] = ()


@dataclass(frozen=True, slots=True)
class NameLink:
    """Two of the names that are shown, by their places in the list, and the passages they share."""

    one: int
    other: int
    shared: int


@dataclass(frozen=True, slots=True)
class CommunitySummary:
    """What a language model says of passages that hang together by their names."""

    level: int
    summary: str
    tokens: int
    """Of what is summarized."""
    documents: int


@dataclass(frozen=True, slots=True)
class NameOverview:
    """The names of an index."""

    documents: int
    passages: int
    names: int
    mentions: int
    """Places of all of them; a title or heading whose own words are a mention is that one place."""
    linking: int
    """Names in two passages or more, that lead from one to the other."""
    common: int
    """Names in so many passages that they lead nowhere."""
    most_linked: tuple[NameCount, ...]
    """At most as many as were asked for; years and names that no text writes come last."""
    links: tuple[NameLink, ...]
    """Between the first `LINKED` of those, the strongest first."""
    statements: int = 0
    """Places that a language model says something is stated of a name."""
    communities: tuple[CommunitySummary, ...] = ()
    """Of the highest level first; none where no language model was asked."""


class NameLookup:
    """Looks up names of an index; what is the same for all of them is made once, in time linear in the mentions."""

    def __init__(self, source: Searchable, common: int = Walk.common) -> None:
        """A name in more passages than `common` leads nowhere, as for the retriever that is asked."""
        self._source = source
        self._common = common
        with reporting_damage(source):
            self._atoms = source.atom_table()
            if self._atoms.mentions is None:
                raise no_names_error()
            self._table: MentionTable = self._atoms.mentions
            self._graph = graph_of(source)
            name = self._graph.names.searchsorted(self._table.name)
            # Rows of mentions, by name and in order of the text.
            self._by_name = np.argsort(name, kind="stable")
            self._first = name[self._by_name].searchsorted(np.arange(len(self._graph.names) + 1))

    def overview(self, show: int = 20) -> NameOverview:
        """The names in most passages, and how they hang together."""
        graph = self._graph
        with reporting_damage(self._source):
            spread = np.diff(graph.of_name.first)
            # Those that lead somewhere first; a name that leads nowhere is not what a graph is for.
            order = np.lexsort((graph.names, -spread, spread > self._common))
            shown: list[int] = []
            last: list[int] = []
            for name in order[: _RANKED * show].tolist():
                if len(shown) == show:
                    break
                written = self._written(name)
                # A year is in many passages and says little; a name that no text writes cannot be looked up.
                telling = any(map(str.isalpha, written)) and self.knows(written)
                (shown if telling else last).append(name)
            if len(order) <= _RANKED * show:  # all were looked at: no telling one is left
                shown += last[: show - len(shown)]
            counts = [self._counts(name) for name in shown]
            return NameOverview(
                self._source.document_count,
                graph.passages,
                len(graph.names),
                self._mentions(),
                int(((spread > 1) & (spread <= self._common)).sum()),
                int((spread > self._common).sum()),
                tuple(counts),
                self._links(shown),
                int((self._table.kind == STATED).sum()),
                self._communities(show),
            )

    def knows(self, name: str) -> bool:
        """Whether `details` has something to say of it."""
        return self._number(name) is not None

    def _mentions(self) -> int:
        """Those of all names, each place once."""
        rows = np.arange(len(self._table.name))
        name = self._graph.names.searchsorted(self._table.name).astype(np.int64)
        key = self._atoms_of(rows) * len(self._graph.names) + name
        said = self._table.kind == MENTION
        return int((said | ~np.isin(key, key[said])).sum())

    def _communities(self, show: int) -> tuple[CommunitySummary, ...]:
        result = reversed(self._source.communities().found)
        return tuple(
            CommunitySummary(
                row.level, row.summary, sum(place.tokens for place in row.places),
                len({place.document for place in row.places}),
            )
            for row in itertools.islice(result, show)
        )  # fmt: skip

    def details(self, name: str, show: int = 20) -> NameDetails:
        """Of a name as it is written anywhere, articles and capitals aside; `show` entries of each list at most."""
        with reporting_damage(self._source):
            number = self._number(name)
            if number is None:
                raise InvalidParameter(self._unknown(name))
            mentions = [self._mention(row) for row in self._places(number)[:show].tolist()]
            return NameDetails(
                self._counts(number),
                tuple(mentions),
                tuple(self._neighbors(number, show)),
                tuple(self._passages(number, show)),
                *self._stated(number, show),
            )

    def links(self, names: Sequence[str]) -> tuple[NameLink, ...]:
        """How many passages each two of the first `LINKED` of these share, the strongest first; unknown ones none."""
        numbers = [self._number(name) for name in names]
        known = [at for at, number in enumerate(numbers) if number is not None]
        name_links = self._links([number for number in numbers if number is not None])
        return tuple(
            NameLink(known[one], known[other], shared)
            for one, other, shared in map(astuple, name_links)
        )

    def _rows(self, name: int) -> NDArray[np.int64]:
        return self._by_name[self._first[name] : self._first[name + 1]]

    def _places(self, name: int) -> NDArray[np.int64]:
        """Its rows without titles and headings whose own words are among them."""
        rows = self._rows(name)
        atom, said = self._atoms_of(rows), self._table.kind[rows] == MENTION
        return rows[said | ~np.isin(atom, atom[said])]

    def _atoms_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        result: NDArray[np.int64] = self._table.first.searchsorted(rows, "right") - 1
        return result

    def _spread(self, name: int) -> int:
        return int(self._graph.of_name.first[name + 1] - self._graph.of_name.first[name])

    def _links(self, names: Sequence[int]) -> tuple[NameLink, ...]:
        number = np.array(names[:LINKED], np.int64)
        entry, owner = self._graph.of_name.of(number)
        order = np.argsort(self._graph.of_name.other[entry], kind="stable")
        passage, owner = self._graph.of_name.other[entry][order], owner[order]
        place = np.cumsum(np.diff(passage, prepend=-1) != 0) - 1
        shared = np.zeros((len(number), len(number)), np.int64)
        # Some passages at a time: a name that is everywhere is in all of them.
        for low in range(0, int(place[-1]) + 1 if len(place) else 0, _PASSAGES_AT_ONCE):
            some = slice(*place.searchsorted([low, low + _PASSAGES_AT_ONCE]).tolist())
            grid = np.zeros((_PASSAGES_AT_ONCE, len(number)), np.float32)
            grid[place[some] - low, owner[some]] = 1
            shared += (grid.T @ grid).astype(np.int64)
        size = np.sqrt(np.maximum(np.diag(shared), 1))
        near = shared / np.outer(size, size)
        one, other = np.nonzero(np.triu(shared, 1))
        order = np.lexsort((other, one, -near[one, other])).tolist()
        return tuple(
            NameLink(int(one[at]), int(other[at]), int(shared[one[at], other[at]])) for at in order
        )

    def _number(self, name: str) -> int | None:
        names = self._graph.names
        wanted = np.uint64(name_hash(name_key(name)))
        at = int(names.searchsorted(wanted))
        return at if at < len(names) and names[at] == wanted else None

    def _unknown(self, name: str) -> str:
        """What of it is known, if anything is."""
        text = f"no document names {name!r}"
        names = self._graph.names
        spans = {name_span.name: name_span for name_span in name_spans(name)}
        known = [names.searchsorted(np.uint64(number)) for number in spans]
        parts = [
            span
            for at, span in zip(known, spans.values(), strict=True)
            if at < len(names) and int(names[at]) == span.name
        ]
        if parts:
            best = max(parts, key=lambda span: span.words)
            return f"{text}; known is {name[best.start : best.end]!r}"
        return f"{text}; omit the name to list the most linked ones"

    def _counts(self, name: int) -> NameCount:
        rows, spread = self._places(name), self._spread(name)
        atom = self._atoms_of(rows)
        documents = len(np.unique(self._atoms.document[atom]))
        return NameCount(self._written(name), len(rows), spread, documents, spread > self._common)

    def _written(self, name: int) -> str:
        """As a text writes it: not as a short form of it, which may stand for it in the same document."""
        wanted = int(self._graph.names[name])
        title = spelled = ""
        for row in self._rows(name)[:_SPELLINGS].tolist():
            place = place_of(self._atoms, row)
            document = self._source.document(place.document)
            text = document.text[place.start : place.end].strip("#= \t\r\n")
            kind = self._table.kind[row]
            if text and name_hash(name_key(text)) == wanted:
                if not spelled or len(text) < len(spelled):
                    spelled = text  # without an article or a possessive
            elif kind == TITLE or (kind == HEADING and not text):
                title = title or unwritten_title(document, wanted)
        return spelled or title or self._stated_spelling(name) or self._longest(name)

    def _stated_spelling(self, name: int) -> str:
        """As a relation has it: a sentence may say of "she" what a language model says of the name."""
        wanted = int(self._graph.names[name])
        rows = self._rows(name)[:_SPELLINGS]
        for row in rows[self._table.kind[rows] == STATED].tolist():
            number = place_of(self._atoms, row).document
            if text := self._source.relations(number).spelling(wanted):
                return text
        return ""

    def _longest(self, name: int) -> str:
        """The longest way it is written in the first mentions: none of them is the name itself."""
        places = [place_of(self._atoms, row) for row in self._rows(name)[:_SPELLINGS].tolist()]
        said = (
            self._source.document(place.document).text[place.start : place.end] for place in places
        )
        return max(said, key=len, default="")

    def _mention(self, row: int) -> NameMention:
        place: NamePlace = place_of(self._atoms, row)
        document = self._source.document(place.document)
        kind = _KINDS[int(self._table.kind[row])]
        if is_short_title(self._table.kind[row], self._table.length[row]):
            kind = "title"
        text = document.text[slice(*place.sentence)]
        return NameMention(document.id, place.start, place.end, kind, place.sentence, text)

    def _stated(
        self, name: int, show: int
    ) -> tuple[tuple[NameRelation, ...], tuple[NameSummary, ...]]:
        """What a language model found of it, in the order of the documents."""
        relations: list[NameRelation] = []
        summaries: list[NameSummary] = []
        wanted = int(self._graph.names[name])
        documents = np.unique(self._atoms.document[self._atoms_of(self._rows(name))])
        for number in documents[:_READ].tolist() if self._source.settings.llm else ():
            stated, document = self._source.relations(number), None
            for relation in stated.relations:
                if wanted in (
                    name_hash(name_key(relation.subject)),
                    name_hash(name_key(relation.object)),
                ):
                    document = document or self._source.document(number)
                    quote = document.text[relation.start : relation.end]
                    relations.append(NameRelation(*relation[:3], document.id, *relation[3:], quote))
            for description in stated.descriptions:
                if name_hash(name_key(description.name)) == wanted:
                    document = document or self._source.document(number)
                    summaries.append(
                        NameSummary(
                            description.text, document.id, description.start, description.end
                        )
                    )
            if len(relations) >= show and len(summaries) >= show:
                break
        return tuple(relations[:show]), tuple(summaries[:show])

    def _neighbors(self, name: int, show: int) -> list[NameNeighbor]:
        """Names that share passages with it, first those that lead on, and rare ones; none that is a part of it."""
        graph = self._graph
        passages = graph.of_name.other[slice(*graph.of_name.first[name : name + 2])]
        entry, _ = graph.of_passage.of(passages)
        other, shared = np.unique(graph.of_passage.other[entry], return_counts=True)
        spread = np.diff(graph.of_name.first)[other]
        weight = shared * graph.rarity[other]
        kept = (other != name) & (spread <= self._common)
        other, shared, weight, ends = other[kept], shared[kept], weight[kept], spread[kept] < 2
        order = np.lexsort((other, -weight, ends))[: _RANKED * show]
        own = set(name_key(self._written(name)).split())
        own_atoms = np.unique(self._atoms_of(self._rows(name)))
        neighbors: list[NameNeighbor] = []
        for at in order.tolist():
            if len(neighbors) == show:
                break
            number = int(other[at])
            written = self._written(number)
            texts = set(name_key(written).split())
            if texts <= own or own <= texts:
                continue
            row = self._together(number, passages, own_atoms)
            if row is not None:
                evidence = self._mention(row)
                neighbors.append(
                    NameNeighbor(written, int(shared[at]), self._spread(number), evidence)
                )
        return neighbors

    def _together(
        self, other: int, passages: NDArray[np.int64], own_atoms: NDArray[np.int64]
    ) -> int | None:
        """A mention of the other in a sentence of the name, else in one of its passages; None: titles alone tell it."""
        rows = self._rows(other)
        atom = self._atoms_of(rows)
        plain = self._table.kind[rows] == MENTION
        beside = np.isin(self._graph.passage[atom], passages)
        same = np.isin(atom, own_atoms)
        for wanted in (same & plain, beside & plain, same, beside):
            if wanted.any():
                return int(rows[np.argmax(wanted)])
        return None

    def _passages(self, name: int, show: int) -> list[NamePassage]:
        """Those about it first."""
        graph, atoms = self._graph, self._atoms
        low, high = graph.of_name.first[name : name + 2].tolist()
        about = graph.of_name.subject[low:high]
        order = np.lexsort((graph.of_name.other[low:high], ~about))[:show]
        passages = []
        for at in order.tolist():
            passage = graph.of_name.other[low + at]
            first, stop = graph.passage.searchsorted([passage, passage + 1]).tolist()
            document = self._source.document(int(atoms.document[first]))
            start, end = int(atoms.start[first]), int(atoms.end[stop - 1])
            passages.append(NamePassage(document.id, start, end, bool(about[at])))
        return passages


def name_count(source: Searchable) -> int | None:
    """How many names an index has; None: it keeps none."""
    mentions = source.atom_table().mentions
    return None if mentions is None else len(np.unique(mentions.name))

"""Passages that hang together by their names, level on level, and what a language model says of each such community."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, main_reason, one_or_many, thousands
from chunkwise.chunkers.raptor import (
    levels_above,
    summaries_where_they_fit,
    summary_requests,
)
from chunkwise.core import Document, OnProgress
from chunkwise.models.llm.client import LlmClient, prompt_tokens
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.retrieval.graph.build_graph import PASSAGE_TOKENS, NameGraph, name_graph, passages_of
from chunkwise.retrieval.graph.walk_along_names import Walk
from chunkwise.retrieval.indexing.resolve_settings import ResolvedSettings
from chunkwise.retrieval.searchable import AtomTable, Communities, Community, CommunityPlace
from chunkwise.text.analyzed import Analyzed

SUMMARY_TOKENS = 150
_MOST = 6
"""Passages, or communities, that are summarized at once."""
_USUAL = 4
"""Of these, about: what an estimate counts with."""
_ROUNDS = 20
_DOCUMENT = 0.3
"""How much it binds two passages that they are of one document, beside the rarest of names."""
_LONGEST = 4_000
"""Characters of a passage that are read: several times what one has, but a single sentence (a picture in base64) may
be as long as somebody likes."""
_DIGITS = 9
"""Beyond these, gains are equal: no sum is exact."""


def partition(
    row: NDArray[np.int64], column: NDArray[np.int64], weight: NDArray[np.float64], rows: int
) -> NDArray[np.int64]:
    """A label for each row of a weighted table of rows and columns: those with one label share their columns.

    Each side in turn takes the label of the other that adds most to the modularity of a graph of two sides (Barber
    2007, Barber and Clark 2009): the same every time, and each round is linear in the entries but for one sort.
    """
    label = np.arange(rows)
    if not len(row):
        return label
    columns = int(column.max()) + 1
    of_row: NDArray[np.float64] = np.bincount(row, weight, rows).astype(np.float64)
    of_column: NDArray[np.float64] = np.bincount(column, weight, columns).astype(np.float64)
    total = float(weight.sum()) or 1.0
    for _ in range(_ROUNDS):
        volume = np.bincount(label, of_row, rows)
        side = _best_labels(column, label[row], weight, of_column, volume / total, columns)
        volume = np.bincount(side, of_column, rows)
        after = _best_labels(row, side[column], weight, of_row, volume / total, rows)
        after = np.where(of_row > 0, after, np.arange(rows))
        if (after == label).all():
            break
        label = after
    return label


def _best_labels(
    node: NDArray[np.int64],
    label: NDArray[np.int64],
    weight: NDArray[np.float64],
    degree: NDArray[np.float64],
    volume: NDArray[np.float64],
    nodes: int,
) -> NDArray[np.int64]:
    """Of each node the label with most of its weight beyond what chance would give; 0 for a node without entries."""
    key, place = np.unique(node * len(volume) + label, return_inverse=True)
    own, taken = key // len(volume), key % len(volume)
    gain = np.bincount(place.reshape(-1), weight) - degree[own] * volume[taken]
    order = np.lexsort((taken, -gain.round(_DIGITS), own))
    first = order[np.append(True, np.diff(own[order]) != 0)]
    result = np.zeros(nodes, np.int64)
    result[own[first]] = taken[first]
    return result


def hierarchy(graph: NameGraph, atoms: AtomTable) -> list[list[list[int]]]:
    """Level on level the groups of what the level below has, by number: of passages at first, at last one of all.

    A group has two members or more, and few enough to be read at once, but for one that is left over.
    """
    row, column, weight = _entries(graph, atoms)
    levels: list[list[list[int]]] = []
    count = graph.passages
    while count > 1 or (count and not levels):
        label = partition(row, column, weight, count)
        groups = _groups(label)
        levels.append(groups)
        of_group = np.empty(count, np.int64)
        for number, group in enumerate(groups):
            of_group[group] = number
        count = len(groups)
        # What a group shares with a column is what its members share with it.
        row = of_group[row]
        key, place = np.unique(row * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
        weight = np.bincount(place.reshape(-1), weight, len(key)).astype(np.float64)
        row, column = np.divmod(key, int(column.max(initial=0)) + 1)
    return levels


def _entries(
    graph: NameGraph, atoms: AtomTable
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Passages and what binds them: names that lead from one to another, rare ones more; and their documents."""
    spread = np.diff(graph.of_name.first)
    leads = np.flatnonzero((spread > 1) & (spread <= Walk.common))
    entry, owner = graph.of_name.of(leads)
    first = graph.passage.searchsorted(np.arange(graph.passages))
    _, document = np.unique(atoms.document[first], return_inverse=True)
    return (
        np.append(graph.of_name.other[entry], np.arange(graph.passages)),
        np.append(owner, len(leads) + document.reshape(-1)),
        np.append(graph.rarity[leads][owner], np.full(graph.passages, _DOCUMENT)),
    )


def _groups(label: NDArray[np.int64]) -> list[list[int]]:
    """In the order of their first members; what is alone goes together with what is alone beside it."""
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    whole = [array.tolist() for array in np.split(order, cuts)]
    alone = sorted(each[0] for each in whole if len(each) == 1)
    parts = [each for each in whole if len(each) > 1] + ([alone] if alone else [])
    groups = [run for part in parts for run in _runs(part)]
    return sorted(groups)


def _runs(members: list[int]) -> list[list[int]]:
    """Of about one size, none too large to be read at once."""
    parts = -(-len(members) // _MOST)
    bounds = [len(members) * at // parts for at in range(parts + 1)]
    return [members[low:high] for low, high in itertools.pairwise(bounds)]


class CommunityWriter:
    """Asks one model for summaries; what it has answered before is not asked again."""

    def __init__(self, client: LlmClient, tokenizer: str) -> None:
        self._client = client
        self._tokenizer = tokenizer
        self._reasons: Counter[str] = Counter()

    def write(
        self,
        atoms: AtomTable,
        document: Callable[[int], Document],
        advance: OnProgress | None = None,
    ) -> Communities:
        """The communities of an index with their summaries; `document` gives one by its number."""
        graph = name_graph(atoms)
        passages = _passage_places(graph.passage, graph.passages, atoms)
        texts = [
            document(passage.document).text[
                passage.start : min(passage.end, passage.start + _LONGEST)
            ]
            for passage in passages
        ]
        places: list[tuple[CommunityPlace, ...]] = [(passage,) for passage in passages]
        communities: list[Community] = []
        for level, groups in enumerate(hierarchy(graph, atoms), 1):
            # What is alone on its level is what it was on the one below, unless that is no summary yet.
            new = [group for group in groups if len(group) > 1 or level == 1]
            asked = [[texts[at] for at in group if texts[at]] for group in new]
            said = dict(zip(map(tuple, new), self._summaries(asked), strict=True))
            before = texts
            texts = [
                said[tuple(group)] if tuple(group) in said else texts[group[0]] for group in groups
            ]
            # What could not be summarized stands in no summary above it, either.
            places = [
                _joined([place for at in group if before[at] for place in places[at]])
                for group in groups
            ]
            communities += [
                Community(level, text, own)
                for group, text, own in zip(groups, texts, places, strict=True)
                if tuple(group) in said and text
            ]
            if advance:
                advance(0, f"{counted(len(communities), 'community summary')} written")
        return Communities(tuple(communities), self._reasons.total())

    def notes(self) -> tuple[str, ...]:
        """What a user should know of summaries that could not be had."""
        if not self._reasons:
            return ()
        many = self._reasons.total()
        noun = one_or_many(many, "summary of a community", "summaries of communities")
        return (
            f"{thousands(many)} {noun} failed: {main_reason(self._reasons)}; the next update "
            f"retries them",
        )

    def _summaries(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Of each group; empty where there is none, or where the group has nothing to say."""
        asked = [group for group in groups if any(map(str.strip, group))]
        replies = summaries_where_they_fit(self._client, asked, SUMMARY_TOKENS, self._tokenizer)
        self._reasons.update(reply.reason for reply in replies if not reply.is_answered)
        said = iter(str(reply.value) if reply.is_answered else "" for reply in replies)
        return [next(said) if any(map(str.strip, group)) else "" for group in groups]


def community_writer(resolved: ResolvedSettings) -> CommunityWriter | None:
    """What writes the summaries of an index with these settings; None: it has none."""
    llm = resolved.asking.llm
    if llm is None or resolved.settings.graph != "relations":
        return None
    return CommunityWriter(llm.client, resolved.settings.tokenizer)


def _passage_places(
    passage: NDArray[np.int64], passages: int, atoms: AtomTable
) -> list[CommunityPlace]:
    bounds = passage.searchsorted(np.arange(passages + 1))
    first, last = bounds[:-1], bounds[1:] - 1
    tokens = np.append(0, np.cumsum(atoms.tokens, dtype=np.int64))
    columns = (
        atoms.document[first],
        atoms.start[first],
        atoms.end[last],
        tokens[bounds[1:]] - tokens[first],
    )
    return [
        CommunityPlace(*row) for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _joined(places: Sequence[CommunityPlace]) -> tuple[CommunityPlace, ...]:
    """Neighbors as one place."""
    community_places: list[CommunityPlace] = []
    for place in sorted(places):
        if community_places and (community_places[-1].document, community_places[-1].end) == (
            place.document,
            place.start,
        ):
            last = community_places.pop()
            place = CommunityPlace(last.document, last.start, place.end, last.tokens + place.tokens)
        community_places.append(place)
    return tuple(community_places)


class PassageSizes(NamedTuple):
    """How much there is to summarize."""

    passages: int = 0
    tokens: int = 0
    """Of what is read of them."""

    def and_those_of(self, analyzed: Analyzed, tokenizer: str) -> PassageSizes:
        """With the passages that a document will have."""
        starts = analyzed.atoms(tokenizer)
        before = analyzed.measure(tokenizer).befores(np.append(starts, len(analyzed.text)))
        first = np.flatnonzero(np.diff(before[:-1] // PASSAGE_TOKENS, prepend=-1))
        begin = starts[first]
        end = np.minimum(np.append(begin[1:], len(analyzed.text)), begin + _LONGEST)
        read = analyzed.measure(tokenizer).befores(end) - before[:-1][first]
        return PassageSizes(self.passages + len(first), self.tokens + int(read.sum()))

    def and_those_in(self, atoms: AtomTable, documents: Collection[int]) -> PassageSizes:
        """With the passages that documents of an index have."""
        wanted = set(documents)
        places = _passage_places(*passages_of(atoms), atoms)
        kept = [row for row in places if row.document in wanted]
        # Of a passage that is cut, about: the index has the tokens of whole sentences alone.
        read = (row.tokens * min(1.0, _LONGEST / (row.end - row.start)) for row in kept)
        return PassageSizes(self.passages + len(kept), self.tokens + round(sum(read)))


def communities_estimate(client: LlmClient, sizes: PassageSizes) -> LlmEstimate:
    """What their summaries would take, about: names say only later which go together."""
    if not sizes.passages:
        return LlmEstimate()
    calls = -(-sizes.passages // _USUAL)
    empty, one = (summary_requests([texts], SUMMARY_TOKENS)[0] for texts in ([], [""]))
    wording = prompt_tokens(empty)
    around = prompt_tokens(one) - wording
    prompt = calls * wording + sizes.passages * around + sizes.tokens
    estimate = client.estimate_of(calls, prompt, calls * empty.max_tokens, calls)
    more = levels_above(client, calls, 64, branching=_USUAL, summary_tokens=SUMMARY_TOKENS)
    return estimate + more

"""A sweep expanded: what is tried in which order, and what is not, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from chunkwise.chunkers.parent_child import ParentChild
from chunkwise.experiments.configuration import Configuration, Kind
from chunkwise.experiments.planning.cuttings import BASELINES, Cutting, cuttings
from chunkwise.experiments.planning.levers_of import levers_of_chunks, levers_of_spans
from chunkwise.experiments.planning.not_tried import LeftOut, NotTried
from chunkwise.experiments.planning.searches import Search, searches
from chunkwise.experiments.sweep import Sweep
from chunkwise.retrieval.retrievers import get_retriever

__all__ = ["NotTried", "Plan", "plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """No key twice; all ways to search one chunking stand next to each other."""

    configurations: tuple[Configuration, ...]
    left_out: tuple[NotTried, ...] = ()

    @property
    def chunkings(self) -> tuple[tuple[str, str], ...]:
        """The different ones, strategy and context, in their order."""
        made = ((each.strategy, each.context) for each in self.configurations if each.strategy)
        return tuple(dict.fromkeys(made))


def plan(sweep: Sweep, *, late: bool = True) -> Plan:
    """Everything a sweep asks for that makes sense, the common defaults always among it.

    `late`: whether the model gives vectors of single tokens. Without, every chunk is embedded by itself.
    """
    left_out = LeftOut()
    ways = searches(sweep, late, left_out)
    of_chunks = [way for way in ways if way.of_chunks]
    if not of_chunks:
        for grid in sweep.chunkers:
            left_out.add(
                f"strategy = {', '.join(grid.names)}",
                "nothing searches chunks; name a retriever that does (bm25, dense, hybrid)",
            )
    groups = cuttings(sweep, left_out)
    kind: Kind = "own" if sweep.exact or not late else "late"
    found = [
        [
            each
            for cutting in group
            for each in _searched(cutting, _wanted(cutting, of_chunks, sweep.model, left_out), kind)
        ]
        for group in groups
    ]
    spans = [_several_sizes(way) for way in ways if not way.of_chunks]
    if spans:
        _say_what_several_sizes_lack(sweep, left_out)
    # What the choice is held against, and what needs no chunks, is known even if time runs out.
    first, rest = found[: len(BASELINES)], found[len(BASELINES) :]
    return Plan((*chain(*first), *spans, *chain(*rest)), left_out.lines)


def _wanted(
    cutting: Cutting, of_chunks: Sequence[Search], model: str, left_out: LeftOut
) -> list[Search]:
    """How one chunking is searched: a baseline by every retriever, without neighbours."""
    plain: dict[str, Search] = {}
    if cutting.baseline:
        plain = {way.label: Search(way.label, way.retriever) for way in of_chunks}
        if not plain:  # only several sizes are tried: the like of them
            usual = "hybrid" if model else "bm25"
            plain = {usual: Search(usual, get_retriever(usual))}
    if not cutting.asked:
        return list(plain.values())
    if isinstance(cutting.strategy.chunker, ParentChild):
        around = sorted({way.neighbours for way in of_chunks if way.neighbours})
        if around:
            left_out.add(
                f"neighbours = {', '.join(map(str, around))} of {cutting.strategy.name}",
                "what stands around a chunk is handed out already: its parent",
            )
        of_chunks = [way for way in of_chunks if not way.neighbours]
    return [*plain.values(), *(way for way in of_chunks if way.neighbours or not plain)]


def _searched(cutting: Cutting, ways: Sequence[Search], kind: Kind) -> Iterator[Configuration]:
    strategy, context = cutting.strategy, cutting.context
    for way in ways:
        levers = levers_of_chunks(strategy, context, way.label, way.neighbours, share=cutting.share)
        baseline = "" if way.neighbours else cutting.baseline
        vectors: Kind = kind if way.by_vectors else "none"
        yield Configuration(
            strategy.label, way.label, context, way.neighbours, vectors, levers, baseline
        )


def _several_sizes(way: Search) -> Configuration:
    vectors: Kind = "late" if way.by_vectors else "none"
    return Configuration("", way.label, "none", 0, vectors, levers_of_spans(way.label))


def _say_what_several_sizes_lack(sweep: Sweep, left_out: LeftOut) -> None:
    contexts = {value for grid in sweep.chunkers for value in dict(grid.values).get("context", ())}
    if "headings" in contexts:
        left_out.add(
            "context = 'headings' of several sizes at once",
            "it is text beside chunks, and there are no chunks",
        )

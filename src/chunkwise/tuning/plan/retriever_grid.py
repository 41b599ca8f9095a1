"""Grids of retrievers expanded into ways to search, none twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from chunkwise.base import spec
from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.retrievers import ChunkRetriever, Retriever, get_retriever, registry
from chunkwise.retrieval.retrievers.chunk_retrievers import Bm25Retriever
from chunkwise.retrieval.retrievers.multiscale import MultiscaleRetriever
from chunkwise.tuning.plan.grid import (
    NotTriedLog,
    check_amount,
    combinations,
    named_component,
    parameter_names,
    plain_number,
    written_out,
)
from chunkwise.tuning.sweep import Grid, Sweep, SweepValue

WEIGHTS: tuple[Mapping[str, SweepValue], ...] = (
    {"dense": 0}, {"dense": 0.25}, {}, {"dense": 1}, {"dense": 2}, {"words": 0},
)  # fmt: skip
"""Of words and vectors at several sizes, from words alone to vectors alone: few, so that they can be fitted."""

_NOT_PARAMETERS = ("neighbours", "k")


@dataclass(frozen=True, slots=True)
class PlannedSearch:
    """A retriever with what is handed out around its hits."""

    label: str
    retriever: Retriever
    neighbours: int = 0

    @property
    def of_chunks(self) -> bool:
        """Otherwise it hands out spans, whatever the chunks are."""
        return isinstance(self.retriever, ChunkRetriever)

    @property
    def by_vectors(self) -> bool:
        if isinstance(self.retriever, MultiscaleRetriever):
            return self.retriever.dense > 0
        return not isinstance(self.retriever, Bm25Retriever)


def retriever_grid(sweep: Sweep, late: bool, left_out: NotTriedLog) -> list[PlannedSearch]:
    """In the order they were written. `late`: whether the model gives vectors of single tokens."""
    found: dict[tuple[str, int], PlannedSearch] = {}
    for grid in sweep.retrieval:
        check_amount(grid)
        neighbours = _neighbours(grid, left_out)
        for search, written in _retrievers(grid, left_out):
            why = _no_vectors(search, sweep.embedder, late)
            if why:
                left_out.add(search.label, why)
            elif search.of_chunks:
                for count in neighbours:
                    known = found.setdefault(
                        (search.label, count), PlannedSearch(search.label, search.retriever, count)
                    )
                    if known.retriever is not search.retriever:
                        left_out.add(written, f"the same as {search.label}, which is tried")
            else:
                _without_neighbours(search.label, neighbours, left_out)
                if found.setdefault((search.label, 0), search) is not search:
                    left_out.add(written, f"the same as {search.label}, which is tried")
    return list(found.values())


def _no_vectors(search: PlannedSearch, model: str, late: bool) -> str:
    """Why it cannot be searched by vectors; empty: it can, or need not."""
    if not search.by_vectors or (model and (search.of_chunks or late)):
        return ""
    if not model:
        return "it compares vectors, and the sweep has no model"
    return (
        f"several sizes need the vectors of single tokens, which the model {spec.quoted(model)} does not give; "
        "multiscale(dense=0) goes by words alone"
    )


def _without_neighbours(label: str, neighbours: list[int], left_out: NotTriedLog) -> None:
    given = [str(count) for count in neighbours if count]
    if given:
        left_out.add(
            f"neighbours = {', '.join(given)} of {spec.parse(label)[0]}",
            "it hands out sentences, as many as belong together; neighbours are those of chunks",
        )


def _neighbours(grid: Grid, left_out: NotTriedLog) -> list[int]:
    found: list[int] = []
    for value in map(plain_number, dict(grid.values).get("neighbours", (0,))):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            why = "a whole number of chunks is needed, 0 or more"
            left_out.add(f"neighbours = {value!r}", why)
        elif value in found:
            left_out.add(f"neighbours = {value!r}", "it is in the list already")
        else:
            found.append(value)
    return found


def _retrievers(grid: Grid, left_out: NotTriedLog) -> Iterator[tuple[PlannedSearch, str]]:
    """Each with how it was written."""
    values = tuple((key, each) for key, each in grid.values if key not in _NOT_PARAMETERS)
    for name in grid.names:
        found = named_component(name, registry, left_out)
        if found is None:
            continue
        bare, own, cls = found
        weighed = {"words", "dense"} & {*own, *dict(values)}
        weights = WEIGHTS if bare == "multiscale" and not weighed else ({},)
        chosen = combinations(Grid((name,), values), name, own, parameter_names(cls), left_out)
        for each, weight in product(chosen, weights):
            written = written_out(name, {**each, **weight})
            try:
                made = get_retriever(written)
            except ChunkwiseError as error:
                left_out.add(written, str(error))
            except Exception as error:  # somebody else's class
                if bare in registry.builtin:
                    raise
                left_out.add(written, f"it cannot be made: {type(error).__name__}: {error}")
            else:
                yield PlannedSearch(spec.describe(bare, made), made), written

"""Grids of strategies expanded into chunkings, none twice, and what was varied in each, in the words of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass, replace
from typing import get_args

from chunkwise.base import parameters, spec
from chunkwise.base.errors import ChunkwiseError
from chunkwise.chunkers import Chunker, Strategy, get_strategy, registry
from chunkwise.chunkers.embedding_chunker import EmbeddingChunker
from chunkwise.chunkers.packing.sized import SizedChunker, overlap_tokens
from chunkwise.chunkers.parent_child import ParentChildChunker
from chunkwise.retrieval.settings import Context
from chunkwise.tuning.plan.grid import (
    NotTriedLog,
    check_amount,
    combinations,
    named_component,
    parameter_names,
    written_out,
)
from chunkwise.tuning.sweep import Grid, Sweep

_UNITS = {"overlap_words": "words", "overlap_sentences": "sentences"}


def levers_of_chunks(
    strategy: Strategy,
    context: Context,
    retriever: str,
    neighbours: int,
    *,
    share: str | None = None,
) -> dict[str, str]:
    """Of a chunking and how it is searched; `share` is the overlap as it was written, where it was one."""
    found = {"boundaries": strategy.name}
    if strategy.limit is not None:
        found["size"] = f"{strategy.limit[1]} {strategy.unit}"
    repeated = overlap_of(strategy)
    if repeated is not None:
        found["overlap"] = _overlap_words(strategy, *repeated, share)
    found["context"] = context
    # A parent is what others get by asking for neighbours: the same lever, another position.
    around = "parent" if isinstance(strategy.chunker, ParentChildChunker) else "none"
    found["neighbours"] = str(neighbours) if neighbours else around
    return found | {"one size or several": "one"} | _retriever_words(retriever)


def levers_of_spans(retriever: str) -> dict[str, str]:
    """Of several sizes at once: what belongs to chunks is not there."""
    return {"one size or several": "several"} | _retriever_words(retriever)


def overlap_of(strategy: Strategy) -> tuple[str, int] | None:
    """The parameter that decides the overlap and its amount, defaults resolved; None: the strategy has none."""
    chunker = strategy.chunker
    if isinstance(chunker, SizedChunker):
        for name in ("overlap", *_UNITS):
            given = getattr(chunker, name)
            if given is not None:
                amount = overlap_tokens(given, chunker.max_tokens) if name == "overlap" else given
                return (name, amount) if amount else ("overlap", 0)
        name, amount = chunker.default_overlap
        return name, min(amount, chunker.max_tokens // 4) if name == "overlap" else amount
    given = getattr(chunker, "overlap", None)
    if isinstance(given, bool) or not isinstance(given, int | str) or strategy.limit is None:
        return None
    return "overlap", overlap_tokens(given, strategy.limit[1])


def _overlap_words(strategy: Strategy, name: str, amount: int, share: str | None) -> str:
    if not amount:
        return "none"
    if share is not None:
        return f"{share.rstrip('%').strip()} %"
    return f"{amount} {_UNITS.get(name, strategy.unit)}"


def _retriever_words(label: str) -> dict[str, str]:
    """The name, and the weights where they are not the usual ones."""
    name, values = spec.parse(label)
    written = ", ".join(f"{key} {value}" for key, value in values.items())
    return {"retriever": name, "weights": written or "usual"}


def same_cuts(strategy: Strategy) -> tuple[object, ...]:
    """Equal for strategies that cut every document alike, however their overlap is written."""
    repeated = overlap_of(strategy)
    if repeated is None:
        return (strategy.label,)
    shown = [
        (field.name, repr(getattr(strategy.chunker, field.name)))
        for field in parameters.fields(type(strategy.chunker))
        if field.name not in ("overlap", *_UNITS)
    ]
    return (strategy.name, *repeated, *shown)


BASELINES = {
    "recursive 1000/200 characters": "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "sentences 1024/200": "sentences(max_tokens=1024, overlap=200)",
}
"""The common defaults everything is held against."""


@dataclass(frozen=True, slots=True)
class PlannedChunking:
    """A chunking with what is indexed beside its chunks."""

    strategy: Strategy
    context: Context
    share: str | None = None
    """Of overlap, as it was written: it says more in a table than what it comes to."""
    baseline: str = ""
    in_plan: bool = True
    """Whether the plan names it; a baseline is in without."""


def chunking_grid(sweep: Sweep, left_out: NotTriedLog) -> list[list[PlannedChunking]]:
    """The baselines, then what was asked for; those that differ in their context alone stand together."""
    found: dict[tuple[object, ...], dict[Context, PlannedChunking]] = {}
    for name, label in BASELINES.items():
        strategy = get_strategy(label)
        found[same_cuts(strategy)] = {
            "none": PlannedChunking(strategy, "none", None, name, in_plan=False)
        }
    for grid in sweep.chunkers:
        check_amount(grid)
        contexts = _contexts(grid, left_out)
        for strategy, written, share in _strategies(grid, sweep.embedder, left_out):
            known = found.setdefault(same_cuts(strategy), {})
            for context in contexts:
                before = known.get(context)
                if before is None:
                    first = next(iter(known.values()), None)
                    # One label for one way to cut: the cuts are made once.
                    same = first.strategy if first else strategy
                    known[context] = PlannedChunking(same, context, share)
                elif before.in_plan:
                    _repeated(written, context, before, left_out)
                else:
                    known[context] = replace(before, in_plan=True, share=share)
    return _spread([list(group.values()) for group in found.values() if group])


def _spread(groups: list[list[PlannedChunking]]) -> list[list[PlannedChunking]]:
    """The baselines, then a chunking of every strategy in turn: a sweep that runs out of time has seen a bit of all."""
    waiting: dict[str, list[list[PlannedChunking]]] = {}
    for group in groups[len(BASELINES) :]:
        waiting.setdefault(group[0].strategy.name, []).append(group)
    longest = max(map(len, waiting.values()), default=0)
    turns = [own[at] for at in range(longest) for own in waiting.values() if at < len(own)]
    return groups[: len(BASELINES)] + turns


def _repeated(
    written: str, context: Context, before: PlannedChunking, left_out: NotTriedLog
) -> None:
    beside = "" if context == "none" else f" with context {context!r}"
    left_out.add(
        f"{written}{beside}", f"the same chunks as {before.strategy.label}, which is tried"
    )


def _contexts(grid: Grid, left_out: NotTriedLog) -> list[Context]:
    given = dict(grid.values).get("context", ("none",))
    found: list[Context] = []
    for value in given:
        if value not in get_args(Context):
            allowed = ", ".join(map(repr, get_args(Context)))
            left_out.add(f"context = {value!r}", f"no context has this name; allowed: {allowed}")
        elif value in found:
            left_out.add(f"context = {value!r}", "it is in the list already")
        else:
            found.append(value)  # type: ignore[arg-type]
    return found


def _strategies(
    grid: Grid, model: str, left_out: NotTriedLog
) -> Iterator[tuple[Strategy, str, str | None]]:
    """Each with how it was written, and its overlap where that was a share."""
    values = tuple((key, each) for key, each in grid.values if key != "context")
    for name in grid.names:
        found = named_component(name, registry, left_out)
        if found is None:
            continue
        bare, own, cls = found
        by_meaning = isinstance(cls, type) and issubclass(cls, EmbeddingChunker)
        usual: dict[str, object] = {}
        if by_meaning and "model" not in own and "model" not in dict(values):
            if not model:
                left_out.add(name, f"{bare} cuts by meaning, and the sweep has no model")
                continue
            usual = {"model": model}
        for chosen in combinations(
            Grid((name,), values), name, own, parameter_names(cls), left_out
        ):
            written = written_out(name, chosen)
            try:
                strategy, share = _built(name, usual | chosen)
            except ChunkwiseError as error:
                left_out.add(written, str(error))
            except Exception as error:  # somebody else's class
                if bare in registry.builtin:
                    raise
                left_out.add(written, f"it cannot be made: {type(error).__name__}: {error}")
            else:
                yield strategy, written, share


def _built(name: str, values: dict[str, object]) -> tuple[Strategy, str | None]:
    """With a share of overlap as the number it comes to, so that the same chunks have the same label; and the share."""
    strategy = get_strategy(name, **values)
    chunker = strategy.chunker
    share = getattr(chunker, "overlap", None)
    if not isinstance(share, str) or strategy.limit is None or not is_dataclass(chunker):
        return strategy, None
    amount = overlap_tokens(share, strategy.limit[1])
    made: Chunker = replace(chunker, overlap=amount)
    return Strategy(strategy.name, made), share

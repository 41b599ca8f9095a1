"""Grids of strategies expanded into chunkings, none twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass, replace
from typing import get_args

from chunkwise.chunkers import Chunker, Strategy, get_strategy, registry
from chunkwise.chunkers.by_meaning import ByMeaning
from chunkwise.chunkers.sized import overlap_tokens
from chunkwise.errors import ChunkwiseError
from chunkwise.experiments.planning.combining import check_amount, combinations, takes, written
from chunkwise.experiments.planning.levers_of import same_cuts
from chunkwise.experiments.planning.named_part import named_part
from chunkwise.experiments.planning.not_tried import LeftOut
from chunkwise.experiments.sweep import Grid, Sweep
from chunkwise.retrieval.settings import Context

BASELINES = {
    "recursive 1000/200 characters": "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "sentences 1024/200": "sentences(max_tokens=1024, overlap=200)",
}
"""The common defaults everything is held against."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """A chunking with what is indexed beside its chunks."""

    strategy: Strategy
    context: Context
    share: str | None = None
    """Of overlap, as it was written: it says more in a table than what it comes to."""
    baseline: str = ""
    asked: bool = True
    """Whether the plan names it; a baseline is in without."""


def cuttings(sweep: Sweep, left_out: LeftOut) -> list[list[Cutting]]:
    """The baselines, then what was asked for; those that differ in their context alone stand together."""
    found: dict[tuple[object, ...], dict[Context, Cutting]] = {}
    for name, label in BASELINES.items():
        strategy = get_strategy(label)
        found[same_cuts(strategy)] = {"none": Cutting(strategy, "none", None, name, asked=False)}
    for grid in sweep.chunkers:
        check_amount(grid)
        contexts = _contexts(grid, left_out)
        for strategy, said, share in _strategies(grid, sweep.model, left_out):
            known = found.setdefault(same_cuts(strategy), {})
            for context in contexts:
                before = known.get(context)
                if before is None:
                    first = next(iter(known.values()), None)
                    # One label for one way to cut: the cuts are made once.
                    same = first.strategy if first else strategy
                    known[context] = Cutting(same, context, share)
                elif before.asked:
                    _repeated(said, context, before, left_out)
                else:
                    known[context] = replace(before, asked=True, share=share)
    return _spread([list(group.values()) for group in found.values() if group])


def _spread(groups: list[list[Cutting]]) -> list[list[Cutting]]:
    """The baselines, then a chunking of every strategy in turn: a sweep that runs out of time has seen a bit of all."""
    waiting: dict[str, list[list[Cutting]]] = {}
    for group in groups[len(BASELINES) :]:
        waiting.setdefault(group[0].strategy.name, []).append(group)
    longest = max(map(len, waiting.values()), default=0)
    turns = [own[at] for at in range(longest) for own in waiting.values() if at < len(own)]
    return groups[: len(BASELINES)] + turns


def _repeated(said: str, context: Context, before: Cutting, left_out: LeftOut) -> None:
    beside = "" if context == "none" else f" with context {context!r}"
    left_out.add(f"{said}{beside}", f"the same chunks as {before.strategy.label}, which is tried")


def _contexts(grid: Grid, left_out: LeftOut) -> list[Context]:
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
    grid: Grid, model: str, left_out: LeftOut
) -> Iterator[tuple[Strategy, str, str | None]]:
    """Each with how it was written, and its overlap where that was a share."""
    values = tuple((key, each) for key, each in grid.values if key != "context")
    for name in grid.names:
        found = named_part(name, registry, left_out)
        if found is None:
            continue
        bare, own, cls = found
        by_meaning = isinstance(cls, type) and issubclass(cls, ByMeaning)
        usual: dict[str, object] = {}
        if by_meaning and "model" not in own and "model" not in dict(values):
            if not model:
                left_out.add(name, f"{bare} cuts by meaning, and the sweep has no model")
                continue
            usual = {"model": model}
        for chosen in combinations(Grid((name,), values), name, own, takes(cls), left_out):
            said = written(name, chosen)
            try:
                strategy, share = _made(name, usual | chosen)
            except ChunkwiseError as error:
                left_out.add(said, str(error))
            except Exception as error:  # somebody else's class
                if bare in registry.builtin:
                    raise
                left_out.add(said, f"it cannot be made: {type(error).__name__}: {error}")
            else:
                yield strategy, said, share


def _made(name: str, values: dict[str, object]) -> tuple[Strategy, str | None]:
    """With a share of overlap as the number it comes to, so that the same chunks have the same label; and the share."""
    strategy = get_strategy(name, **values)
    chunker = strategy.chunker
    share = getattr(chunker, "overlap", None)
    if not isinstance(share, str) or strategy.limit is None or not is_dataclass(chunker):
        return strategy, None
    amount = overlap_tokens(share, strategy.limit[1])
    made: Chunker = replace(chunker, overlap=amount)
    return Strategy(strategy.name, made), share

"""A sweep expanded: what is tried in which order, and what is not, with the reason; variations of the best of it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

from chunkwise.base import spec
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.parent_child import ParentChildChunker
from chunkwise.core import WRITTEN_CONTEXTS
from chunkwise.evaluation.pipeline import (
    DECLARATION,
    PipelineParameter,
    check_builder,
    declared_parameters,
    parse_pipeline,
    pipeline_label,
    pipeline_part,
    split_values,
)
from chunkwise.retrieval.retrievers import get_retriever
from chunkwise.retrieval.settings import CONTEXTS, Settings
from chunkwise.tuning.plan.grid import (
    BASELINES,
    YOUR_INDEX,
    NotTried,
    NotTriedLog,
    PlannedChunking,
    PlannedSearch,
    chunking_grid,
    levers_of_chunks,
    levers_of_spans,
    retriever_grid,
)
from chunkwise.tuning.sweep import Configuration, Sweep, VectorKind


@dataclass(frozen=True, slots=True)
class Plan:
    """No key twice; all ways to search one chunking stand next to each other."""

    configurations: tuple[Configuration, ...]
    left_out: tuple[NotTried, ...] = ()


def plan_sweep(sweep: Sweep, default: Configuration | None = None) -> Plan:
    """Everything a sweep asks for that makes sense, the common defaults always among it; a `default` of the user's own
    takes their place as what everything is compared with.
    """
    left_out = NotTriedLog()
    searches = retriever_grid(sweep, left_out)
    of_chunks = [search for search in searches if search.of_chunks]
    if not of_chunks:
        for grid in sweep.chunkers:
            left_out.add(
                f"strategy = {', '.join(grid.names)}",
                "no retriever searches chunks; add bm25, dense or hybrid",
            )
    groups = chunking_grid(sweep, left_out)
    kind: VectorKind = "own" if sweep.exact else "late"
    result = [
        [
            configuration
            for chunking in group
            for configuration in _searched(
                chunking,
                _searches_of(chunking, of_chunks, sweep.embedder),
                kind,
                sweep.llm,
            )
        ]
        for group in groups
    ]
    spans = [_several_sizes(search) for search in searches if not search.of_chunks]
    # What the choice is compared with, and what needs no chunks, is known even if time runs out.
    first, rest = result[: len(BASELINES)], result[len(BASELINES) :]
    planned = (*chain(*first), *spans, *chain(*rest))
    if default is not None:
        planned = (
            default,
            *(
                replace(configuration, baseline="")
                for configuration in planned
                if configuration != default
            ),
        )
    return Plan(planned, left_out.lines)


def default_of_index(settings: Settings, sweep: Sweep) -> Configuration:
    """How an index is cut and searched."""
    kept = settings.search
    words_only = not sweep.embedder or settings.vectors == "none"
    several = kept.budget and settings.vectors != "own"
    retriever = str(
        kept.retriever or ("multiscale" if several else "bm25" if words_only else "hybrid")
    )
    made = get_retriever(retriever)
    label = spec.describe(spec.parse(retriever)[0], made)
    search = PlannedSearch(label, made, kept.neighbors)
    if not search.of_chunks:
        configuration = _several_sizes(search)
    else:
        kind: VectorKind = "own" if settings.vectors == "own" else "late"
        chunking = PlannedChunking(get_strategy(settings.strategy), settings.context)
        (configuration,) = _searched(chunking, [search], kind, "")
    return replace(configuration, baseline=YOUR_INDEX, reranker=str(kept.reranker or ""))


def _searches_of(
    chunking: PlannedChunking, of_chunks: Sequence[PlannedSearch], model: str
) -> list[PlannedSearch]:
    """How one chunking is searched: a baseline by every retriever, without neighbors."""
    plain: dict[str, PlannedSearch] = {}
    if chunking.baseline:
        plain = {
            search.label: PlannedSearch(search.label, search.retriever) for search in of_chunks
        }
        if not plain:  # only several sizes are tried: the like of them
            usual = "hybrid" if model else "bm25"
            plain = {usual: PlannedSearch(usual, get_retriever(usual))}
    if not chunking.in_plan:
        return list(plain.values())
    if isinstance(chunking.strategy.chunker, ParentChildChunker):
        # A parent is what stands around its chunk already.
        of_chunks = [*{chunk.label: replace(chunk, neighbors=0) for chunk in of_chunks}.values()]
    return [*plain.values(), *(search for search in of_chunks if search.neighbors or not plain)]


def _searched(
    chunking: PlannedChunking, searches: Sequence[PlannedSearch], kind: VectorKind, llm: str
) -> Iterator[Configuration]:
    strategy, context = chunking.strategy, chunking.context
    for search in searches:
        levers = levers_of_chunks(
            strategy, context, search.label, search.neighbors, share=chunking.share
        )
        baseline = "" if search.neighbors else chunking.baseline
        vectors: VectorKind = kind if search.by_vectors else "none"
        yield Configuration(
            strategy.label, search.label, context, search.neighbors, vectors, levers, baseline,
            llm=llm if context in WRITTEN_CONTEXTS else "",
        )  # fmt: skip


def _several_sizes(search: PlannedSearch) -> Configuration:
    vectors: VectorKind = "late" if search.by_vectors else "none"
    return Configuration("", search.label, "none", 0, vectors, levers_of_spans(search.label))


USUAL = "the defaults"
"""What the declared defaults are called, which everything is compared with."""
MOST = 128
"""Combinations that are all tried; of more, every value beside the usual ones of the others, and some by chance."""


def plan_pipeline(sweep: Sweep) -> Plan:
    """The usual values first; what shares an index stands together, so that it is built once."""
    name, fixed = parse_pipeline(sweep.pipeline)
    part = pipeline_part(name)
    declared = declared_parameters(name, part)
    if not declared:
        raise InvalidParameter(
            f"{name} declares no parameters; declare them in its file: {DECLARATION} = "
            '{"size": {"when": "index", "values": [200, 400, 800]}} (docs/tutorials/your-pipeline.md)'
        )
    check_builder(name, part, declared, fixed)
    free = {item: parameter for item, parameter in declared.items() if item not in fixed}
    count = math.prod(len(parameter.values) for parameter in free.values())
    usual = {item: parameter.default for item, parameter in free.items()}
    tried = list(_combinations(free) if count <= MOST else _some(free, sweep.seed))
    left_out: tuple[NotTried, ...] = ()
    if count > len(tried):
        left_out = (NotTried(
            f"{thousands(count - len(tried))} of {counted(count, 'combination')}",
            "too many; each value is tried with the other defaults, plus random combinations; "
            "to try all, declare fewer values",
        ),)  # fmt: skip
    order = dict.fromkeys(repr(_index(declared, {**fixed, **record})) for record in (usual, *tried))
    place = {item: at for at, item in enumerate(order)}
    tried.sort(
        key=lambda record: (place[repr(_index(declared, {**fixed, **record}))], record != usual)
    )
    return Plan(tuple(
        Configuration(
            "", pipeline_label(name, {**fixed, **record}), vectors="none",
            levers={lever: str(value) for lever, value in record.items()},
            baseline=USUAL if record == usual else "",
        )
        for record in tried
    ), left_out)  # fmt: skip


def _index(declared: Mapping[str, PipelineParameter], values: Mapping[str, Any]) -> dict[str, Any]:
    return split_values(declared, values)[0]


def _combinations(free: Mapping[str, PipelineParameter]) -> Iterator[dict[str, Any]]:
    for values in product(*(parameter.values for parameter in free.values())):
        yield dict(zip(free, values, strict=True))


def _some(free: Mapping[str, PipelineParameter], seed: int) -> Iterator[dict[str, Any]]:
    usual = {item: pipeline_parameter.default for item, pipeline_parameter in free.items()}
    result = {repr(usual): usual}
    for each, parameter in free.items():
        for value in parameter.values:
            one = {**usual, each: value}
            result.setdefault(repr(one), one)
    chance = random.Random(seed)
    for _ in range(20 * MOST):
        if len(result) >= MOST:
            break
        one = {
            item: chance.choice(pipeline_parameter.values)
            for item, pipeline_parameter in free.items()
        }
        result.setdefault(repr(one), one)
    yield from result.values()


VARIED = 5
"""Chunkings that are varied: those of the best configurations."""


def variations(best: Sequence[Configuration], sweep: Sweep) -> dict[str, tuple[Configuration, ...]]:
    """What differs from one of these in one lever, by the model that its vectors are of; none twice.

    Models and rerankers where they are named; contexts of the best chunking where a language model is. What searches
    several sizes has no chunks: it takes token vectors, too.
    """
    usual = [model for one in best for model in _by_models(one, sweep)]
    usual += _in_context(best, sweep)
    result = {sweep.embedder: tuple(dict.fromkeys(usual))}
    for name in sweep.embedders:
        configurations = [
            _varied(configuration, {"embedder": name}, embedder=name)
            for configuration in best
            if configuration.vectors != "none"
        ]
        result[name] = tuple(dict.fromkeys(configurations))
    return {name: own for name, own in result.items() if own}


def _varied(
    configuration: Configuration, levers: Mapping[str, str], **changes: Any
) -> Configuration:
    """What differs from this one in one lever."""
    return replace(
        configuration, baseline="", varies=configuration.key, levers={**configuration.levers, **levers}, **changes
    )  # fmt: skip


def _by_models(configuration: Configuration, sweep: Sweep) -> Iterator[Configuration]:
    """Reranked, and by token vectors, too, where several sizes are searched."""
    for name in sweep.rerankers:
        yield _varied(configuration, {"reranker": name}, reranker=name)
    if sweep.maxsim and not configuration.strategy:
        yield _varied(configuration, {"token vectors": sweep.maxsim}, maxsim=sweep.maxsim)


def _in_context(best: Sequence[Configuration], sweep: Sweep) -> list[Configuration]:
    """The best chunking with every context, where a language model is there to write some: it asks about each chunk."""
    first = next((configuration for configuration in best if configuration.strategy), None)
    if not sweep.llm or first is None:
        return []
    return [
        _varied(
            first, {"context": context}, context=context, llm=sweep.llm if context in WRITTEN_CONTEXTS else ""
        )
        for context in (*CONTEXTS, *WRITTEN_CONTEXTS)
        if context != first.context
    ]  # fmt: skip

"""What is tried of a pipeline of the user's own: all combinations of what it declares, or some where they are many."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from chunkwise.base.errors import InvalidParameter
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
from chunkwise.tuning.plan.grid import NotTried
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.sweep import Configuration, Sweep

USUAL = "the usual values"
"""What the declared defaults are called, which everything is held against."""
MOST = 128
"""Combinations that are all tried; of more, every value beside the usual ones of the others, and some by chance."""


def plan_pipeline(sweep: Sweep) -> Plan:
    """The usual values first; what shares an index stands together, so that it is built once."""
    name, fixed = parse_pipeline(sweep.pipeline)
    part = pipeline_part(name)
    declared = declared_parameters(name, part)
    if not declared:
        raise InvalidParameter(
            f"{name} declares nothing to try; write beside it, as in {DECLARATION} = "
            '{"size": {"when": "index", "values": [200, 400, 800]}} (docs/pipelines.md)'
        )
    check_builder(name, part, declared)
    free = {each: own for each, own in declared.items() if each not in fixed}
    count = math.prod(len(own.values) for own in free.values())
    usual = {each: own.default for each, own in free.items()}
    tried = list(_combinations(free) if count <= MOST else _some(free, sweep.seed))
    left_out: tuple[NotTried, ...] = ()
    if count > len(tried):
        left_out = (NotTried(
            f"{count - len(tried):,} of {count:,} combinations",
            "they are too many; every value is tried beside the usual ones of the others, and some combinations by "
            "chance: declare fewer values, or name some in brackets",
        ),)  # fmt: skip
    order = dict.fromkeys(repr(_index(declared, {**fixed, **each})) for each in (usual, *tried))
    place = {each: at for at, each in enumerate(order)}
    tried.sort(key=lambda each: (place[repr(_index(declared, {**fixed, **each}))], each != usual))
    return Plan(tuple(
        Configuration(
            "", pipeline_label(name, {**fixed, **each}), vectors="none",
            levers={lever: str(value) for lever, value in each.items()},
            baseline=USUAL if each == usual else "",
        )
        for each in tried
    ), left_out)  # fmt: skip


def _index(declared: Mapping[str, PipelineParameter], values: Mapping[str, Any]) -> dict[str, Any]:
    return split_values(declared, values)[0]


def _combinations(free: Mapping[str, PipelineParameter]) -> Iterator[dict[str, Any]]:
    for values in product(*(own.values for own in free.values())):
        yield dict(zip(free, values, strict=True))


def _some(free: Mapping[str, PipelineParameter], seed: int) -> Iterator[dict[str, Any]]:
    usual = {each: own.default for each, own in free.items()}
    found = {repr(usual): usual}
    for each, own in free.items():
        for value in own.values:
            one = {**usual, each: value}
            found.setdefault(repr(one), one)
    chance = random.Random(seed)
    for _ in range(20 * MOST):
        if len(found) >= MOST:
            break
        one = {each: chance.choice(own.values) for each, own in free.items()}
        found.setdefault(repr(one), one)
    yield from found.values()

"""Strategies that ask a language model (raptor): by the client that `--llm` and its neighbours describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from chunkwise import spec
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.cli.inputs import load_options
from chunkwise.cli.llm_options import llm_client
from chunkwise.cli.messages import say_skipped
from chunkwise.documents import read
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.estimate import Estimate
from chunkwise.text.analysis import Analyzed


class Asking(NamedTuple):
    """A strategy, and the client it asks by; None where it asks nobody, or by one of its own."""

    strategy: Strategy
    client: LlmClient | None


def asking_strategy(given: str, options: Mapping[str, Any], *, is_known: bool = False) -> Asking:
    """The strategy with a client that keeps to `--max-cost`.

    `--llm` names its model unless the strategy's own parameter does, or an index `is_known` to be made with it.
    """
    strategy = get_strategy(given)
    if not strategy.asks_a_model:
        return Asking(strategy, None)
    if options["llm"] and not is_known and "llm" not in spec.parse(given)[1]:
        strategy = get_strategy(given, llm=options["llm"])
    chunker: Any = strategy.chunker
    client = llm_client({**options, "llm": chunker.llm}) if isinstance(chunker.llm, str) else None
    if client is None or not hasattr(chunker, "using"):
        return Asking(strategy, None)
    return Asking(Strategy(strategy.name, chunker.using(client)), client)


def summaries_estimate(
    paths: list[str], options: Mapping[str, Any], strategy: Strategy, client: LlmClient
) -> Estimate:
    """What summaries would take: those of the first level are known, those above are about a share of them each."""
    if options["contextual"]:
        raise click.UsageError(
            f"chunks are known once {strategy.name} has asked: see what it takes without --contextual first"
        )
    chunker: Any = strategy.chunker
    if not hasattr(chunker, "first_requests"):
        raise click.UsageError(f"what {strategy.name} will ask cannot be told beforehand")
    found = Estimate(0, 0, 0, 0, 0.0, 0.0)
    for document in read(paths, load_options(dict(options)), say_skipped):
        if document.text.strip():
            found += client.estimate(chunker.first_requests(Analyzed(document)))
    share = sum(chunker.branching**-level for level in range(chunker.levels))
    return Estimate(
        round(found.calls * share), found.kept, round(found.prompt_tokens * share), round(found.output_tokens * share),
        None if found.money is None else found.money * share,
        None if found.seconds is None else found.seconds * share,
    )  # fmt: skip

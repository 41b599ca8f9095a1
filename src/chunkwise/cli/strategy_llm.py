"""Strategies that ask a language model (raptor): by the client that `--llm` and its neighbours describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from chunkwise.base import spec
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.cli.llm_options import LlmClients
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.text.analysis import Analyzed


class Asking(NamedTuple):
    """A strategy, and the client it asks by; None where it asks nobody, or by one of its own."""

    strategy: Strategy
    client: LlmClient | None

    def alone(self) -> Strategy:
        """What cuts the same chunks and asks nobody: they are known before there are summaries of them."""
        chunker: Any = self.strategy.chunker
        if not hasattr(chunker, "without_summaries"):
            raise click.UsageError(f"what {self.strategy.name} will ask cannot be told beforehand")
        return Strategy(self.strategy.name, chunker.without_summaries())

    def estimate(self, document: Analyzed) -> LlmEstimate:
        """What it would ask about a document."""
        chunker: Any = self.strategy.chunker
        found: LlmEstimate = chunker.estimate(document)
        return found


def asking_strategy(
    given: str, options: Mapping[str, Any], clients: LlmClients, *, is_known: bool = False
) -> Asking:
    """The strategy with a client that keeps to `--max-cost`.

    `--llm` names its model unless the strategy's own parameter does, or an index `is_known` to be made with it.
    """
    strategy = get_strategy(given)
    if not strategy.asks_a_model:
        return Asking(strategy, None)
    if options["llm"] and not is_known and "llm" not in spec.parse(given)[1]:
        strategy = get_strategy(given, llm=options["llm"])
    chunker: Any = strategy.chunker
    if not isinstance(chunker.llm, str) or not hasattr(chunker, "using"):
        return Asking(strategy, None)
    client = clients.of(chunker.llm)
    return Asking(Strategy(strategy.name, chunker.using(client)), client)


def refuse_unlimited(given: str) -> None:
    """For commands that keep no limit of cost: only a model that costs nothing may be asked there."""
    from chunkwise.base.errors import InvalidParameter
    from chunkwise.models import get_language_model
    from chunkwise.models.llm.cost import FREE, FREE_NAME, price_of

    llm = getattr(get_strategy(given).chunker, "llm", FREE_NAME)
    if llm == FREE_NAME or not isinstance(llm, str):
        return
    if price_of(get_language_model(llm).price_name) != FREE:
        raise InvalidParameter(
            f"{given} asks {llm}, which may cost money, and nothing limits that here; take llm=local, say in your "
            "price table that it costs nothing (CHUNKWISE_PRICES), or measure it by `chunkwise evaluate --max-cost`"
        )

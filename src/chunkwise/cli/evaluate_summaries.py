"""Strategies that ask a language model, where they are evaluated: within the same limit of cost as the judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkwise.cli.inputs import load_options

if TYPE_CHECKING:
    from chunkwise.cli.llm_options import LlmClients
    from chunkwise.cli.strategy_llm import Asking
    from chunkwise.models.llm.cost import LlmEstimate


def strategy_asks(options: dict[str, Any]) -> bool:
    """Whether documents are to be cut by a strategy that asks a model."""
    from chunkwise.chunkers import get_strategy

    return bool(options["strategy"]) and get_strategy(options["strategy"]).asks_a_model


def asking_where_it_does(options: dict[str, Any], clients: LlmClients) -> Asking | None:
    """The strategy where it asks a model itself."""
    if not strategy_asks(options):
        return None
    from chunkwise.cli.contexts import warn_of_weak
    from chunkwise.cli.strategy_llm import asking_strategy

    own = asking_strategy(options["strategy"], options, clients)
    if not options["dry_run"]:
        warn_of_weak((getattr(own.strategy.chunker, "llm", None),), options["quiet"])
    return own


def summaries_to_write(
    paths: list[str], leave_out: list[Path], options: dict[str, Any], own: Asking
) -> LlmEstimate | None:
    """What a dry run tells; None: all are known, so that it can go on to what a judge is asked about them."""
    from chunkwise.chunkers.chunk import chunk_each
    from chunkwise.cli.chunk_summary import ChunkSummary
    from chunkwise.cli.foreseen import foreseen
    from chunkwise.cli.messages import say
    from chunkwise.cli.progress import bytes_of, progress
    from chunkwise.cli.readable import readable
    from chunkwise.retrieval.indexes import named_index

    if own.client is None or options["hits"] or named_index(paths) is not None:
        return None
    alone = own.alone()
    leave_out = [*leave_out, Path(options["test_queries"]).resolve()]
    outcomes = chunk_each(paths, alone, options=load_options(options), leave_out=leave_out)
    with progress("counting", bytes_of(paths), options["quiet"]) as advance:
        cut = readable(outcomes, options["strict"], ChunkSummary(alone), advance)
        found = foreseen(cut, own, None)
    if options["judge"] and not found.calls:
        return None
    if options["judge"]:
        say("this is for summaries; what the judge is asked is known once they are written")
    return found

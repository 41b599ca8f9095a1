"""Contexts of an index: who is to write them, and what that would take."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from chunkwise.base.errors import ChunkwiseError
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY, chunk_each
from chunkwise.chunkers.contextual.writer import ContextWriter
from chunkwise.cli.chunk_summary import ChunkSummary
from chunkwise.cli.contexts import (
    NO_MODEL,
    check_contextual,
    is_typed,
    warn_of_weak,
)
from chunkwise.cli.foreseen import foreseen
from chunkwise.cli.inputs import SKIPPED, load_options, worker_count
from chunkwise.cli.llm_options import LlmClients, show_estimate
from chunkwise.cli.messages import say
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.readable import readable
from chunkwise.cli.strategy_llm import Asking, asking_strategy
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.retrieval.indexing.lazy_models import NamedClient
from chunkwise.retrieval.local.update import open_local_index
from chunkwise.retrieval.settings import WRITTEN, Settings


def wanted_context(
    options: dict[str, Any], known: Settings | None, otherwise: bool = False
) -> str | None:
    """What is to stand beside the chunks; None: as the index was made, or as usual.

    `otherwise`: the model of `--llm` has work all the same.
    """
    said: str | None = options["contextual"] or options["context"]
    asked = (said or (known.context if known else None)) in WRITTEN
    check_contextual(options, asked=asked, otherwise=otherwise)
    return said


def asking(options: dict[str, Any], known: Settings | None, clients: LlmClients) -> Asking | None:
    """The strategy where it asks a model itself; None: it does not, or the index will say what is wrong with it."""
    given = options["strategy"] or (known.strategy if known else DEFAULT_STRATEGY)
    try:
        strategy = get_strategy(given)
    except ChunkwiseError:
        return None
    if not strategy.asks_a_model:
        return None
    is_known = not options["strategy"] and not (options["rebuild"] and is_typed("llm"))
    return asking_strategy(given, options, clients, is_known=is_known)


def named_client(
    options: dict[str, Any], known: Settings | None, clients: LlmClients
) -> NamedClient | None:
    """What may write: the model named, or the one the index was made with; None: nobody is to be asked."""
    way = options["context"] or (known.context if known else None)
    name: str | None = options["llm"]
    if known is not None and not is_typed("llm"):
        # Empty where it fell back to the headings context: it does so again, unless it is made anew.
        name = known.llm or (name if options["rebuild"] else "")
    if not name or way not in WRITTEN:
        return None
    return NamedClient(name, partial(clients.of, name))


def say_weak(
    options: dict[str, Any], known: Settings | None, llm: NamedClient | None, own: Asking | None
) -> None:
    """Where an index is made: who brings one up to date has heard it."""
    if known is None or options["rebuild"]:
        summarises = getattr(own.strategy.chunker, "llm", None) if own else None
        warn_of_weak((llm.name if llm else None, summarises), options["quiet"])


def dry_run(
    paths: list[str],
    options: dict[str, Any],
    known: Settings | None,
    llm: NamedClient | None,
    own: Asking | None,
) -> None:
    """Says what the model would be asked about new and changed documents; nothing is sent and nothing is written."""
    own = own if own and own.client else None
    way: Any = options["context"] or (known.context if known else None)
    if llm is None and way in WRITTEN:
        say(NO_MODEL)
    if llm is None and own is None:
        show_estimate(LlmEstimate(), options["as_json"])
        return
    writer = ContextWriter(llm.client(), way) if llm else None
    given = options["strategy"] or (known.strategy if known else DEFAULT_STRATEGY)
    strategy = own.alone() if own else given
    total = bytes_of(paths)
    summary = ChunkSummary(get_strategy(strategy))
    outcomes = chunk_each(
        paths, strategy, options=load_options(options), jobs=worker_count(options["jobs"], total)
    )
    with progress("counting", total, options["quiet"]) as advance:
        cut = readable(outcomes, options["strict"], summary, advance)
        before = None if options["rebuild"] else known
        estimate = foreseen(cut, own, writer, _fingerprints(options["into"], before))
    show_estimate(estimate, options["as_json"])
    if summary.skipped:
        sys.exit(SKIPPED)


def _fingerprints(place: str, known: Settings | None) -> frozenset[str]:
    """Of the documents an index in a folder has; on a server the contexts that are kept tell what is new."""
    if known is None or "://" in place:
        return frozenset()
    return frozenset(open_local_index(Path(place)).fingerprints())

"""Contexts of an index: who is to write them, and what that would take."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.contextual.contextual import ContextWriter
from chunkwise.cli.chunk_summary import ChunkSummary
from chunkwise.cli.contexts import (
    NO_MODEL,
    check_contextual,
    contexts_estimate,
    is_typed,
    warn_of_weak,
)
from chunkwise.cli.inputs import SKIPPED, load_options, worker_count
from chunkwise.cli.llm_options import llm_client, show_estimate
from chunkwise.cli.messages import say
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.readable import readable
from chunkwise.cli.strategy_llm import Asking, asking_strategy, summaries_estimate
from chunkwise.errors import ChunkwiseError
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.estimate import Estimate
from chunkwise.pipeline import DEFAULT_STRATEGY, chunk_each
from chunkwise.retrieval.embedded.indexing import open_embedded
from chunkwise.retrieval.making.lazy_contexts import NamedClient
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


def asking(options: dict[str, Any], known: Settings | None) -> Asking | None:
    """The strategy where it asks a model itself; None: it does not, or the index will say what is wrong with it."""
    given = options["strategy"] or (known.strategy if known else DEFAULT_STRATEGY)
    try:
        strategy = get_strategy(given)
    except ChunkwiseError:
        return None
    if not strategy.asks_a_model:
        return None
    return asking_strategy(given, options, is_known=not options["strategy"])


def named_client(options: dict[str, Any], known: Settings | None) -> NamedClient | None:
    """What may write: the model named, or the one the index was made with; None: nobody is to be asked."""
    has_written = known is not None and known.context in WRITTEN
    name: str | None = options["llm"]
    if known is not None and not is_typed("llm"):
        name = known.llm  # empty where it fell back to the headings context: it does so again
    if not name or not (has_written or options["context"] in WRITTEN):
        return None
    if not has_written:
        warn_of_weak(name, options["quiet"])

    def make() -> LlmClient:
        client = llm_client({**options, "llm": name})
        assert client is not None  # it is named
        return client

    return NamedClient(name, make)


def dry_run(
    paths: list[str],
    options: dict[str, Any],
    known: Settings | None,
    llm: NamedClient | None,
    own: Asking | None,
) -> None:
    """Says what the model would be asked about new and changed documents; nothing is sent and nothing is written."""
    if own and own.client:
        told = summaries_estimate(paths, options, own.strategy, own.client)
        show_estimate(told, options["as_json"])
        return
    if llm is None:
        say(NO_MODEL)
        show_estimate(Estimate(0, 0, 0, 0, 0.0, 0.0), options["as_json"])
        return
    spec = options["strategy"] or (known.strategy if known else DEFAULT_STRATEGY)
    way: Any = options["context"] or (known.context if known else None)
    writer = ContextWriter(llm.client(), way)
    total = bytes_of(paths)
    summary = ChunkSummary(get_strategy(spec))
    outcomes = chunk_each(
        paths, spec, options=load_options(options), jobs=worker_count(options["jobs"], total)
    )
    with progress("counting", total, options["quiet"]) as advance:
        cut = readable(outcomes, options["strict"], summary, advance)
        estimate = contexts_estimate(cut, writer, _fingerprints(options["into"], known))
    show_estimate(estimate, options["as_json"])
    if summary.skipped:
        sys.exit(SKIPPED)


def _fingerprints(place: str, known: Settings | None) -> frozenset[str]:
    """Of the documents an index in a folder has; on a server the contexts that are kept tell what is new."""
    if known is None or "://" in place:
        return frozenset()
    return frozenset(open_embedded(Path(place)).fingerprints())

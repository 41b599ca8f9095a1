"""Language models for commands: clients, estimates, what was spent; strategies that ask a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, format_number, one_or_many, thousands
from chunkwise.cli.dataclass_options import EstimateMade, is_typed
from chunkwise.cli.options import EstimateOptions
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.streams import print_json, say
from chunkwise.core import OnProgress
from chunkwise.options import LlmOptions
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.chunkers import Strategy
    from chunkwise.chunkers.chunk import Chunked
    from chunkwise.chunkers.context_writer import ContextWriter
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.models.llm.cost import LlmEstimate, LlmUsage
    from chunkwise.retrieval.indexing.relations import RelationReader
    from chunkwise.retrieval.local.index import LocalIndex
    from chunkwise.text.analyzed import Analyzed

NONE_NAMED = "no language model given (--llm, CHUNKWISE_LLM): using the small local one"
LOCAL = "local"
"""The model of the package, as `--llm` names it."""

NO_MODEL = (
    "no language model given (--llm NAME or CHUNKWISE_LLM): using --context headings (title and "
    "section path)"
)
_WEAK = (
    "the local model is small: measure its results (`chunkwise evaluate`, `chunkwise testset "
    "calibrate`) before relying on them"
)
_DOCUMENTS, _CHUNKS, _CHARACTERS = 32, 128, 1_000_000
"""Of documents whose contexts are asked for together: enough to keep a server busy, little to hold in memory."""


def refuse_unasked(why: str) -> None:
    """What is written about a language model where none is asked is a slip."""
    for name in filter(is_typed, ("llm", "max_cost", "price", "concurrency", "dry_run")):
        raise click.UsageError(f"--{name.replace('_', '-')} is given, and {why}")


def or_local(llm: str | None) -> str:
    """The model that is named; where none is, the local one is meant, and that is said."""
    if llm:
        return llm
    say(NONE_NAMED)
    return LOCAL


class LlmClients:
    """The clients of one command: one a model, and one limit of cost for all of them."""

    def __init__(self, options: LlmOptions, quiet: bool = False) -> None:
        from chunkwise.models.llm.cost import LlmBudget

        self._options = options
        self._quiet = quiet
        self._budget = LlmBudget(options.max_cost)
        self._clients: dict[str, LlmClient] = {}

    @property
    def used(self) -> list[LlmClient]:
        """Those that were asked for so far."""
        return list(self._clients.values())

    @property
    def fell_short(self) -> bool:
        """Whether somebody did not answer, or the limit did not allow to ask."""
        return any(client.spent.failed or client.spent.unasked for client in self.used)

    def of(self, name: str) -> LlmClient:
        """The client of the model of this name."""
        if name not in self._clients:
            self._clients[name] = self._make(name)
        return self._clients[name]

    def _make(self, name: str) -> LlmClient:
        from chunkwise.models import get_language_model
        from chunkwise.models.llm.client import LlmClient
        from chunkwise.models.llm.cost import parse_price

        if name == LOCAL and not self._quiet:
            say(_WEAK)
        price = parse_price(self._options.price) if self._options.price else None
        return LlmClient(
            get_language_model(name),
            price=price,
            budget=self._budget,
            concurrency=self._options.concurrency,
        )


def llm_client(options: LlmOptions, quiet: bool = False) -> LlmClient | None:
    """The client these options ask for; None where no model is named."""
    return LlmClients(options, quiet).of(options.llm_name) if options.llm_name else None


def ends_dry_run(options: LlmOptions) -> Callable[[LlmEstimate], None]:
    """Gets the estimate of what is to be asked; a dry run ends with it."""

    def on_estimate(estimate: LlmEstimate) -> None:
        if options.dry_run:
            raise EstimateMade(partial(show_estimate, estimate))

    return on_estimate


def show_estimate(estimate: LlmEstimate, as_json: bool = False) -> None:
    """What asking will take, on stdout: in words, or as JSON."""
    if as_json:
        print_json(asdict(estimate))
        return
    click.echo(estimate_words(estimate))


def estimate_words(estimate: LlmEstimate) -> str:
    """One line: calls, tokens, money, time."""
    if not estimate.calls:
        known = f"; all {thousands(estimate.kept)} answers are cached"
        return f"no calls needed{known if estimate.kept else ''}"
    parts = [counted(estimate.calls, "call")]
    if estimate.kept:
        are = one_or_many(estimate.kept, "is", "are")
        parts[0] += f" ({thousands(estimate.kept)} more {are} cached)"
    parts.append(f"about {counted(estimate.prompt_tokens, 'input token')}")
    parts.append(f"at most {format_number(estimate.output_tokens, 'count')} output tokens")
    parts.append(
        _about(format_number(estimate.money, "money"))
        if estimate.money
        else "no money"
        if estimate.money == 0
        else "unknown price (--price IN/OUT)"
    )
    if estimate.seconds is not None:
        parts.append(f"about {format_number(estimate.seconds, 'seconds')}")
    return one_line("; ".join(parts))


def show_spent(spent: LlmUsage) -> None:
    """What asking took: one line on stderr, nothing where nobody was asked."""
    if line := spent_words(spent):
        click.echo(line, err=True)


def spent_words(spent: LlmUsage) -> str:
    """One line; empty where nothing was asked and nothing was kept."""
    from chunkwise.models.llm.cost import NO_PRICE, tokens_words

    if not (spent.calls or spent.kept or spent.failed or spent.lost or spent.unasked):
        return ""
    about = "about " if spent.is_estimated else ""
    parts = [counted(spent.calls, "call")]
    if spent.kept:
        parts.append(f"{thousands(spent.kept)} from the cache")
    if spent.calls:
        parts.append(f"{about}{tokens_words(spent.prompt_tokens, spent.output_tokens)}")
    if spent.calls or spent.lost:
        if spent.money:
            money = format_number(spent.money, "money")
            parts.append(_about(money) if about else money)
        elif spent.money is None:
            parts.append(NO_PRICE)
    if spent.failed:
        parts.append(f"{thousands(spent.failed)} failed")
    if spent.lost:
        parts.append(f"{counted(spent.lost, 'request')} unanswered, counted as charged")
    if spent.unasked:
        parts.append(f"{thousands(spent.unasked)} not sent, limit reached")
    return f"language model: {'; '.join(parts)}"


def _about(money: str) -> str:
    return money if money.startswith("under") else f"about {money}"


class AskingStrategy(NamedTuple):
    """A strategy, and the client it asks by; None where it asks nobody, or by one of its own."""

    strategy: Strategy
    client: LlmClient | None

    def alone(self) -> Strategy:
        """What cuts the same chunks and asks nobody: they are known before there are summaries of them."""
        from chunkwise.chunkers import Strategy

        chunker: Any = self.strategy.chunker
        if not hasattr(chunker, "without_summaries"):
            raise click.UsageError(
                f"the calls of {self.strategy.name} can't be estimated beforehand"
            )
        return Strategy(self.strategy.name, chunker.without_summaries())

    def estimate(self, document: Analyzed) -> LlmEstimate:
        """What it would ask about a document."""
        chunker: Any = self.strategy.chunker
        estimate: LlmEstimate = chunker.estimate(document)
        return estimate


def asking_strategy(
    strategy_spec: str, options: LlmOptions, clients: LlmClients, *, is_known: bool = False
) -> AskingStrategy:
    """The strategy with a client that keeps to `--max-cost`.

    `--llm` names its model unless the strategy's own parameter does, or an index `is_known` to be made with it.
    """
    from chunkwise.base import spec
    from chunkwise.chunkers import Strategy, get_strategy

    strategy = get_strategy(strategy_spec)
    if not strategy.asks_a_model:
        return AskingStrategy(strategy, None)
    if options.llm_name and not is_known and "llm" not in spec.parse(strategy_spec)[1]:
        strategy = get_strategy(strategy_spec, llm=options.llm_name)
    chunker: Any = strategy.chunker
    if not isinstance(chunker.llm, str) or not hasattr(chunker, "using"):
        return AskingStrategy(strategy, None)
    client = clients.of(chunker.llm)
    return AskingStrategy(Strategy(strategy.name, chunker.using(client)), client)


def refuse_unlimited(strategy_spec: str) -> None:
    """For commands that keep no limit of cost: only a model that costs nothing may be asked there."""
    from chunkwise.chunkers import get_strategy
    from chunkwise.models import get_language_model
    from chunkwise.models.llm.cost import FREE, FREE_NAME, price_of

    llm = getattr(get_strategy(strategy_spec).chunker, "llm", FREE_NAME)
    if llm == FREE_NAME or not isinstance(llm, str):
        return
    if price_of(get_language_model(llm).price_name) != FREE:
        raise InvalidParameter(
            f"{strategy_spec} calls {llm}, which may cost money without a limit; use "
            f"llm=local, list it as free in your price table (CHUNKWISE_PRICES), or run "
            f"`chunkwise evaluate --max-cost`"
        )


class IndexBefore(NamedTuple):
    """The index in a folder that is to be brought up to date."""

    source: LocalIndex
    keeps_others: bool
    """Whether documents that are not among the inputs stay."""


def estimate_documents(
    documents: Iterable[Chunked],
    asking: AskingStrategy | None,
    writer: ContextWriter | None,
    before: IndexBefore | None = None,
    reader: RelationReader | None = None,
) -> LlmEstimate:
    """For summaries, contexts, relations and communities; documents of the index before have all but the last."""
    from chunkwise.models.llm.cost import LlmEstimate
    from chunkwise.retrieval.graph.communities import PassageSizes, communities_estimate
    from chunkwise.retrieval.indexing.fingerprint import document_fingerprint

    estimate = LlmEstimate()
    sizes, is_new = PassageSizes(), False
    source = before.source if before else None
    others = dict(zip(source.ids(), source.document_numbers(), strict=True)) if source else {}
    known = frozenset(source.fingerprints() if source else ())
    for chunked in documents:
        is_new |= others.pop(chunked.document.id, None) is None
        if reader is not None:
            sizes = sizes.and_those_of(chunked.analyzed, reader.tokenizer)
        if document_fingerprint(chunked.document) in known:
            continue
        is_new = True
        if asking is not None and chunked.chunks:
            estimate += asking.estimate(chunked.analyzed)
        if writer is not None:
            estimate += writer.estimate([chunked])
        if reader is not None:
            estimate += reader.estimate(chunked.analyzed)
    if before and before.keeps_others:
        if reader is not None:
            sizes = sizes.and_those_in(before.source.atom_table(), list(others.values()))
    elif others:  # they go, and with them what the summaries of the rest have said of them
        is_new = True
    if reader is not None and (is_new or (source and source.communities().missing)):
        estimate += communities_estimate(reader.client, sizes)
    return estimate


def estimate_sources(
    paths: Sequence[str],
    options: EstimateOptions,
    strategy: str | Strategy,
    asking: AskingStrategy | None,
    writer: ContextWriter | None,
    before: IndexBefore | None = None,
    reader: RelationReader | None = None,
) -> tuple[LlmEstimate, bool]:
    """What would be asked about documents, and whether some of them cannot be read; nothing is sent."""
    from chunkwise.chunkers import get_strategy
    from chunkwise.chunkers.chunk import chunk_each
    from chunkwise.cli.cut_documents import ChunkSummary, readable
    from chunkwise.models.llm.cost import LlmEstimate

    if asking is None and writer is None and reader is None:
        return LlmEstimate(), False
    total, summary = bytes_of(paths), ChunkSummary(get_strategy(strategy), options.strict)
    outcomes = chunk_each(paths, strategy, options=options.loading(), jobs=options.workers(total))
    with progress("counting", total, options.quiet) as advance:
        cut = readable(outcomes, summary, advance)
        estimate = estimate_documents(cut, asking, writer, before, reader)
    return estimate, bool(summary.skip.count)


@contextmanager
def kept_when_stopped(is_asking: bool) -> Iterator[None]:
    """Who stops a run that asks a model is told that nothing it answered is lost."""
    try:
        yield
    except KeyboardInterrupt:
        if is_asking:
            say("answers are cached: run the same command to resume")
        raise


def with_written_contexts(
    documents: Iterable[Chunked], writer: ContextWriter, advance: OnProgress
) -> Iterator[Chunked]:
    """The same documents in their order; `advance` gets characters as the contexts of their chunks come."""

    for batch in _batches(documents):
        done = 0

        def count_done(amount: int, note: str) -> None:
            nonlocal done
            done += amount
            advance(amount, note)

        for chunked, chunks in zip(batch, writer.write(batch, count_done), strict=True):
            chunked.chunks = chunks
            yield chunked
        whole = sum(len(chunked.document.text) for chunked in batch)
        count = writer.tally.chunks
        advance(max(0, whole - done), f"{counted(count, 'chunk')} with a context")


def _batches(documents: Iterable[Chunked]) -> Iterator[list[Chunked]]:
    batch: list[Chunked] = []
    chunks = characters = 0
    for chunked in documents:
        batch.append(chunked)
        chunks += len(chunked.chunks)
        characters += len(chunked.document.text)
        if len(batch) >= _DOCUMENTS or chunks >= _CHUNKS or characters >= _CHARACTERS:
            yield batch
            batch, chunks, characters = [], 0, 0
    if batch:
        yield batch

"""What a sweep may take: its budget as people write it, the estimate before it starts, the limit while it runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.amounts import Money
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, format_number
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.context_writer import CONTEXT_TOKENS
from chunkwise.chunkers.raptor import RaptorChunker, levels_above
from chunkwise.chunkers.semantic import EmbeddingChunker
from chunkwise.core import WRITTEN_CONTEXTS
from chunkwise.models import get_embedder
from chunkwise.models.cache import CachedEmbedder
from chunkwise.models.embed.embedder import Embedder, Kind, TokenEmbedder, TokenVectors
from chunkwise.models.http_batches import REFUSED
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.context_window import ANSWER_TOKENS, USUAL_WINDOW
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from chunkwise.tuning.plan.plan import VARIED, Plan
from chunkwise.tuning.sweep import Configuration, Sweep

_TOKENS = {"characters": 1 / 4.4, "words": 1.35, "tokens": 1.0, "sentences": 22.0}
"""Of one of these, in English prose."""
_UNLIMITED = 300
"""Tokens of a chunk whose strategy names no limit."""
_FILLED = 0.9
"""Of the limit that chunks reach: they end at a sentence."""
_HEADINGS = 12
"""Tokens of the headings above a chunk."""


class ExpectedChunks(NamedTuple):
    """Chunks and the tokens in them, those that overlap counted as often as they are there."""

    chunks: int
    tokens: int


def expected_chunks(strategy: Strategy, context: str, tokens: int) -> ExpectedChunks:
    """A corpus of so many tokens, cut."""
    size = max(
        _UNLIMITED if strategy.limit is None else strategy.limit[1] * _TOKENS[strategy.unit], 1.0
    )
    name, amount = strategy.repeated or ("overlap", 0)
    unit = strategy.unit if name == "overlap" else name.removeprefix("overlap_")
    # A strategy that repeats sentences keeps half of every chunk for what is new.
    repeated = min(amount * _TOKENS[unit] / size, 0.5 if name != "overlap" else 0.99)
    share = 1 / (1 - repeated)
    chunks = max(1, round(tokens * share / (size * _FILLED))) if tokens else 0
    beside = _HEADINGS * chunks if context == "headings" else 0
    return ExpectedChunks(chunks, round(tokens * share) + beside)


# Seconds of a core, measured on 1.4 million characters and 472 questions.
_START = 0.3
_REPORT = 2.7
"""For the choice and the report, which no time limit shortens."""
_A_CHARACTER = 0.45e-6
_A_DOCUMENT = 1e-3
_A_CHUNK = 65e-6
_AN_INDEXED_TOKEN = 0.25e-6
_A_QUESTION = 0.25e-3
"""Ranked and scored."""
_A_COMPARISON = 2e-8
"""Of a question with a chunk."""
_WIDENED = 9e-3
"""A question whose hits get their neighbors: another search for every budget."""
_SEVERAL_SIZES = 11e-3
_AN_ATOM_TOKEN = 20e-9
"""Of a question at several sizes, and of each token of the corpus for it: another search for every budget, too."""
_A_QUESTION_TOKENS = 20
_RERANKED = 4.0
"""A question whose best hundred chunks a cross-encoder reads."""
_AS_SLOW = 2.0
"""How long a token encoder takes beside the usual model, which has half as many layers."""


class CorpusSize(NamedTuple):
    """What a sweep reads and asks."""

    documents: int
    characters: int
    tokens: int
    """As the model counts them."""
    questions: int
    answered: int = 0
    """Questions with an answer, which a language model answers for each method that is compared."""
    expected: int = 0
    """Questions still to be generated, each with an answer."""


@dataclass(frozen=True, slots=True)
class SweepEstimate:
    """What is left to do; not a promise."""

    configurations: int = 0
    chunkings: int = 0
    variations: int = 0
    """Of the best, at most: which they are is not known yet."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By part: variations are the best with other models, at most, since some are dropped early."""
    tokens: int = 0
    """To be embedded; those whose vectors are kept already not."""
    money: Money | None = None
    llm: LlmEstimate = field(default_factory=LlmEstimate)
    """Questions, summaries, contexts and answers, as if each were as long as it may be."""

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    @property
    def words(self) -> tuple[str, ...]:
        """Lines for people."""
        if not self.configurations:
            return ("everything is already done",)
        parts = [
            f"{name} {format_number(seconds, 'seconds')}"
            for name, seconds in self.seconds.items()
            if seconds >= 0.5
        ]
        chunkings = counted(self.chunkings, "chunking")
        result = [
            f"{counted(self.configurations, 'configuration')} of {chunkings}"
            + (
                f", then at most {counted(self.variations, 'variation')}" if self.variations else ""
            ),
            f"about {format_number(self.total + _REPORT, 'seconds')}"
            + (f" ({', '.join(parts)})" if len(parts) > 1 else ""),
        ]
        if self.tokens:
            cost = f", about {_priced(*self.money)}" if self.money else ""
            # Two digits: more would be a claim.
            tokens = round(self.tokens, 2 - len(str(self.tokens)))
            result.append(f"about {counted(tokens, 'token')} to embed{cost}")
        return tuple(result)

    def over(self, seconds: float | None, money: float | None) -> str:
        """Why a budget will not do; empty: it will, as far as one can tell."""
        needed = given = ""
        if seconds is not None and self.total > seconds:
            needed, given = (format_number(time, "seconds") for time in (self.total, seconds))
        elif money is not None and self.money is not None and self.money.amount > money:
            needed, given = _priced(*self.money), _priced(money, self.money.currency)
        return f"about {needed} needed, but the budget is {given}" if needed else ""


def _priced(amount: float, currency: str) -> str:
    """In any currency: cents, and what is less than one in full."""
    shown = f"{amount:,.2f}" if amount >= 0.01 or not amount else f"{amount:.4f}"
    return f"{shown} {currency}".rstrip()


WRITING = 1 / 3
"""Share of the time limit in which a language model may write questions; rules find those that are still missing."""
_A_READ_CHARACTER = 8e-6
"""Seconds, of the documents that questions are generated from: cut in three ways and searched."""
_A_WRITTEN_QUESTION = 800, 200
"""Tokens that a language model reads and writes."""
TOKENS_PER_SECOND = 2500.0
"""What the usual model reads on one core of a server; others may be ten times slower or faster."""


def estimate_sweep(
    plan: Plan,
    sweep: Sweep,
    size: CorpusSize,
    known: Collection[str] = (),
    jobs: int = 1,
    client: LlmClient | None = None,
) -> SweepEstimate:
    """Of what is not done yet (`known`: keys of what is); the `client` writes questions, contexts and answers.

    The best are tried with other
    embedders and rerankers; with token vectors the documents are read once more.
    """
    waiting = [
        configuration for configuration in plan.configurations if configuration.key not in known
    ]
    if not waiting:
        return SweepEstimate(money=sweep.price and Money(0.0, sweep.price.currency))
    tokens, questions = size.tokens, size.questions + size.expected
    chunkings = _chunkings(waiting, tokens)
    swept = _swept(waiting, chunkings, tokens, questions)
    mean = (
        sum(chunking.tokens for chunking in chunkings.values()) / len(chunkings)
        if chunkings
        else tokens
    )
    varied = len(sweep.embedders) * mean * VARIED + bool(sweep.maxsim) * tokens * _AS_SLOW
    llm = _asked(chunkings, size, client if sweep.llm else None)
    writing = LlmEstimate()
    if client is not None and size.expected:
        written = (number * size.expected for number in _A_WRITTEN_QUESTION)
        # However slow the model is, it has its share of the time.
        writing = replace(client.estimate_of(size.expected, *written), seconds=WRITING * sweep.time)
    price = sweep.price
    return SweepEstimate(
        len(waiting),
        len(chunkings),
        (VARIED + 1) * (len(sweep.embedders) + len(sweep.rerankers)) + bool(sweep.maxsim),
        {
            "reading": _START + _A_CHARACTER * size.characters + _A_DOCUMENT * size.documents,
            "questions": bool(size.expected) * _A_READ_CHARACTER * size.characters + (writing.seconds or 0.0),
            "embedding": swept / TOKENS_PER_SECOND,
            "indexing": sum(
                _A_CHUNK * chunking.chunks + _AN_INDEXED_TOKEN * chunking.tokens for chunking in chunkings.values()
            ) / jobs,
            "searching": sum(questions * _a_question(planned, chunkings, tokens) for planned in waiting) / jobs,
            "variations": (VARIED + 1) * questions * len(sweep.rerankers) * _RERANKED / jobs
            + varied / TOKENS_PER_SECOND,
            "asking": llm.seconds or 0.0,
        },
        swept,
        price and Money(price.amount * swept / 1e6, price.currency),
        llm + writing,
    )  # fmt: skip


_METHODS = 6
"""Compared by type of question: four contexts, two common defaults."""
_WORDING = 200
"""Tokens of a prompt around what it tells."""


def _asked(
    chunkings: Mapping[tuple[str, str], ExpectedChunks],
    size: CorpusSize,
    client: LlmClient | None,
) -> LlmEstimate:
    """Summaries of each chunking that has some; contexts of those that have some and of the best; answers."""
    estimate = LlmEstimate()
    documents, tokens = max(size.documents, 1), size.tokens
    for (strategy, _), own in chunkings.items():
        chunker = get_strategy(strategy).chunker
        if isinstance(chunker, RaptorChunker):
            below = -(-own.chunks // documents)
            above = levels_above(
                chunker.client, below, chunker.levels, branching=chunker.branching,
                summary_tokens=chunker.summary_tokens,
            )  # fmt: skip
            estimate = sum((above for _ in range(documents)), estimate)
    if client is None or not chunkings:
        return estimate
    ways = [way for _, way in chunkings if way in WRITTEN_CONTEXTS]
    mean = max(1, round(sum(chunking.chunks for chunking in chunkings.values()) / len(chunkings)))
    window = USUAL_WINDOW if client.model.window is None else client.model.window
    for way in (*ways, *(way for way in WRITTEN_CONTEXTS if way not in ways)):
        told = min(CONTEXT_TOKENS if way == "neighbors" else window, tokens // documents, window)
        estimate += client.estimate_of(
            mean, mean * (told + tokens // mean + _WORDING), mean * ANSWER_TOKENS
        )
    calls = _METHODS * (size.answered + size.expected)
    read = min(5 * (tokens // mean), tokens, window) + _WORDING
    return estimate + client.estimate_of(calls, calls * read, calls * ANSWER_TOKENS)


def _chunkings(
    configurations: Iterable[Configuration], tokens: int
) -> dict[tuple[str, str], ExpectedChunks]:
    """What the chunkings come to, by strategy and context."""
    different = {
        (configuration.strategy, configuration.context)
        for configuration in configurations
        if configuration.strategy
    }
    return {key: expected_chunks(get_strategy(key[0]), key[1], tokens) for key in sorted(different)}


def _swept(
    waiting: Sequence[Configuration],
    chunkings: Mapping[tuple[str, str], ExpectedChunks],
    tokens: int,
    questions: int,
) -> int:
    """Tokens that the sweep embeds: the corpus once for all late vectors, once for each model that cuts by meaning,
    and the chunks of those that have vectors of their own.
    """
    own = {
        (configuration.strategy, configuration.context)
        for configuration in waiting
        if configuration.vectors == "own"
    }
    chunkers = [get_strategy(strategy).chunker for strategy, _ in chunkings]
    by_meaning = {
        (str(chunker.model), chunker.vectors)
        for chunker in chunkers
        if isinstance(chunker, EmbeddingChunker)
    }
    passes = any(configuration.vectors == "late" for configuration in waiting) + len(by_meaning)
    number = passes * tokens + sum(chunkings[key].tokens for key in own)
    embeds_queries = any(configuration.vectors != "none" for configuration in waiting)
    return number + (questions * _A_QUESTION_TOKENS if embeds_queries else 0)


def _a_question(
    configuration: Configuration, chunkings: Mapping[tuple[str, str], ExpectedChunks], tokens: int
) -> float:
    """Seconds to answer and to score it."""
    if not configuration.strategy:
        return _SEVERAL_SIZES + _AN_ATOM_TOKEN * tokens
    searched = _WIDENED if configuration.neighbors else _A_QUESTION
    return (
        searched + _A_COMPARISON * chunkings[configuration.strategy, configuration.context].chunks
    )


_ENDPOINTS = ("http", "https", "openai")
TEXTS_AT_ONCE = 64


class SpendLimit:
    """What may be spent on tokens; of texts whose vectors are kept nobody asks."""

    def __init__(self, money: Money, price: Money) -> None:
        """`price` is that of a million tokens."""
        self._money, self._price = money, price
        self._spent = 0.0

    def pay(self, texts: Sequence[str]) -> None:
        """Before they are sent; an error where that would be too much."""
        count = get_tokenizer(DEFAULT_TOKENIZER).count
        cost = self._price.amount * sum(map(count, texts)) / 1e6
        if self._spent + cost > self._money.amount:
            spent, more, most = (
                _priced(value, self._price.currency)
                for value in (self._spent, cost, self._money.amount)
            )
            raise ChunkwiseError(
                f"cost limit reached: about {spent} spent, {more} more needed, limit {most} "
                f"per run; raise it, or run the same command to spend as much again"
            )
        self._spent += cost


class SweepEmbedder:
    """Asks until it is told no; then the reason is the answer to everything else."""

    def __init__(self, embedder: Embedder, spend_limit: SpendLimit | None = None) -> None:
        self._embedder, self._spend_limit = embedder, spend_limit
        self._failure: ChunkwiseError | None = None

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        with self._asking(()):
            return self._embedder.dimensions

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        with self._asking(texts):
            return self._embedder.embed(texts, kind)

    def embed_each(
        self, texts: Sequence[str], kind: Kind = "passage"
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """As they come, so that what was paid for is kept."""
        each = getattr(self._embedder, "embed_each", None)
        if each is None:
            for first in range(0, len(texts), TEXTS_AT_ONCE):
                yield first, self.embed(texts[first : first + TEXTS_AT_ONCE], kind)
            return
        with self._asking(texts):
            yield from each(texts, kind)

    @contextmanager
    def _asking(self, texts: Sequence[str]) -> Iterator[None]:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        try:
            if self._spend_limit is not None:
                self._spend_limit.pay(texts)
        except ChunkwiseError as error:
            self._failure = error
            raise
        try:
            yield
        except EndpointError as error:
            # A text that is refused says nothing about those of another chunking.
            if error.status not in REFUSED:
                self._failure = error
            raise


class SweepTokenEmbedder(SweepEmbedder):
    """The same for a model that can look inside a text."""

    def __init__(self, embedder: TokenEmbedder, spend_limit: SpendLimit | None = None) -> None:
        super().__init__(embedder, spend_limit)
        self._tokens = embedder

    @property
    def window(self) -> int:
        return self._tokens.window

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._tokens.token_starts(text)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        with self._asking(texts):
            return self._tokens.token_vectors(texts)


class FailFastEmbedder(LazyEmbedder):
    """A model by its name, which can travel to other processes, and remembers here that it does not answer."""

    def _make(self) -> Embedder:
        return get_embedder(SweepEmbedder(get_embedder(self.requested, cache=False)))


def named_model(name: str) -> LazyEmbedder:
    """A model as any process of a sweep makes it for itself."""
    return FailFastEmbedder(name) if is_endpoint(name) else LazyEmbedder(name)


def is_endpoint(name: str) -> bool:
    return name.partition(":")[0].lower() in _ENDPOINTS


def sweep_embedder(
    sweep: Sweep, embedder: Embedder | None = None
) -> Embedder | LazyEmbedder | None:
    """What asks for the vectors of a sweep; None: the sweep's model, as it is."""
    if sweep.max_cost and sweep.price and (embedder or sweep.embedder):
        # One limit is in one process: the model is an object, and no other process asks for anything.
        made = get_embedder(embedder or sweep.embedder, cache=False)
        made = made.embedder if isinstance(made, CachedEmbedder) else made
        spend_limit = SpendLimit(Money(*sweep.max_cost), Money(*sweep.price))
        if hasattr(type(made), TokenEmbedder.token_vectors.__name__):
            return SweepTokenEmbedder(cast(TokenEmbedder, made), spend_limit)
        return SweepEmbedder(made, spend_limit)
    return (
        FailFastEmbedder(sweep.embedder)
        if embedder is None and is_endpoint(sweep.embedder)
        else embedder
    )

"""What an index is made with: what the user gave, what the index was made with before, or the usual."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.core import Advance
from chunkwise.errors import ChunkwiseError, InvalidParameter, UnknownName
from chunkwise.models import DEFAULT
from chunkwise.models.embedder import Embedder, TokenEmbedder
from chunkwise.models.endpoint.patience import with_patience
from chunkwise.pipeline import DEFAULT_STRATEGY, StrategyLike
from chunkwise.retrieval.making.choice_of_contexts import (
    NO_MODEL,
    contexts_again,
    contexts_first,
    falls_back,
)
from chunkwise.retrieval.making.code import code_of
from chunkwise.retrieval.making.lazy_contexts import LazyContexts, Llm
from chunkwise.retrieval.making.lazy_embedder import LazyEmbedder
from chunkwise.retrieval.refusals import REBUILD
from chunkwise.retrieval.settings import (
    CONTEXTS,
    VECTORS,
    WRITTEN,
    Context,
    Settings,
    Vectors,
    WrittenContext,
)
from chunkwise.text.terms import check_language
from chunkwise.text.tokenizers import get_tokenizer

_UNREADABLE = "what the index was made with before could not be read: what was not said is as usual"


@dataclass(frozen=True, slots=True)
class Given:
    """What the user said; None: nothing."""

    strategy: StrategyLike | None = None
    model: str | Embedder | None = None
    vectors: Vectors | None = None
    context: Context | WrittenContext | None = None
    language: str | None = None
    tokenizer: str | None = None
    llm: Llm | None = None
    """What writes contexts."""

    def check(self) -> None:
        """Wrong values are errors before any work is done."""
        if self.vectors not in (None, *VECTORS):
            raise InvalidParameter(f"vectors is {self.vectors!r}; allowed: {', '.join(VECTORS)}")
        if self.context not in (None, *CONTEXTS, *WRITTEN):
            allowed = ", ".join((*CONTEXTS, *WRITTEN))
            raise InvalidParameter(f"context is {self.context!r}; allowed: {allowed}")
        if self.language is not None:
            check_language(self.language)
        if self.tokenizer is not None:
            get_tokenizer(self.tokenizer)


@dataclass(frozen=True, slots=True)
class Choice:
    """Settings with the parts they name."""

    settings: Settings
    strategy: Strategy
    model: LazyEmbedder | None
    """None: an index of words alone."""
    notes: tuple[str, ...] = ()
    contexts: LazyContexts | None = None
    """None: no language model writes about the chunks."""

    @property
    def llm(self) -> Llm | None:
        """As it was given: an update asks the same one."""
        return self.contexts.given if self.contexts else None


def choose(given: Given, before: Settings | None, advance: Advance | None = None) -> Choice:
    """The settings of an index; one that is there already keeps its own, and others are an error."""
    given.check()
    return _first(given, advance) if before is None else _again(given, before, advance)


def choose_anew(given: Given, before: Settings | None, advance: Advance | None = None) -> Choice:
    """For an index in the place of another: what is not said is as that one was made; None: that cannot be told."""
    given.check()
    if before is None:
        choice = _first(given, advance)
        return replace(choice, notes=(_UNREADABLE, *choice.notes))
    remembered = _remembered(given, before)
    try:
        return _with_note_on_own(given, before, _first(remembered, advance))
    except UnknownName as error:
        if (
            given.model is not None or given.llm is not None
        ):  # what was said now may be what is wrong
            raise
        raise InvalidParameter(
            f"what the index was made with cannot be made again by its name ({error}); pass it, or another one: "
            "model=…, llm=… (chunkwise index --model NAME, --llm NAME)"
        ) from error


def _with_note_on_own(given: Given, before: Settings, choice: Choice) -> Choice:
    """Told where another model could do more than the one before it, which may have had no choice."""
    if (
        before.vectors == "own"
        and given.vectors is None
        and given.model is not None
        and choice.model is not None
        and isinstance(choice.model.embedder, TokenEmbedder)
    ):
        note = "each chunk is embedded by itself, as before (vectors='own'); several sizes need vectors='late'"
        return replace(choice, notes=(*choice.notes, note))
    return choice


def _remembered(given: Given, before: Settings) -> Given:
    """What the user said, and where that is nothing, what the index was made with."""
    vectors, model = given.vectors, given.model
    # Late vectors are the usual: a model that has none may fall back. One that is named has vectors to make.
    if vectors is None and before.vectors != "late" and (model is None or before.vectors != "none"):
        vectors = before.vectors
    if model is None and before.vectors != "none":
        model = before.model
    context, llm = given.context or before.context, given.llm
    if llm is None and context in WRITTEN:
        llm = before.llm or None
    return Given(
        _strategy_again(given, before), model, vectors, context, given.language or before.language,
        given.tokenizer or before.tokenizer, llm,
    )  # fmt: skip


def _first(given: Given, advance: Advance | None) -> Choice:
    strategy = get_strategy(given.strategy or DEFAULT_STRATEGY)
    vectors: Vectors = given.vectors or "late"
    notes: tuple[str, ...] = ()
    model = None
    name = identity = ""
    dimensions = 0
    if vectors != "none":
        model = LazyEmbedder(given.model or DEFAULT, advance=advance)
        name = model.name
        identity, dimensions = model.embedder.identity, model.embedder.dimensions
        if vectors in ("late", "both") and not isinstance(model.embedder, TokenEmbedder):
            why = f"the model {name!r} gives no vectors of single tokens, which vectors={vectors!r} needs"
            if given.vectors:
                raise InvalidParameter(f"{why}; choose vectors='own', or another model")
            vectors = "own"
            notes = (f"{why}: each chunk is embedded by itself (vectors='own')",)
    settings = Settings(
        strategy.label, name, identity, dimensions, vectors, language=given.language or "auto",
        code=code_of(strategy),
    )  # fmt: skip
    if given.tokenizer:
        settings = replace(settings, tokenizer=given.tokenizer)
    settings, contexts, more = contexts_first(given.context, given.llm, settings)
    return Choice(settings, strategy, model, notes + more, contexts)


def _again(given: Given, before: Settings, advance: Advance | None) -> Choice:
    strategy = _strategy_again(given, before)
    if before.vectors == "none" and given.model is not None and given.vectors is None:
        raise InvalidParameter(
            f"the index was made without vectors (vectors='none'), and a model was given ({_name(given.model)!r}); "
            f"leave it out, or {REBUILD}"
        )
    wanted = {
        "strategy": strategy.label,
        "model": _kept_model(given, before),
        "vectors": given.vectors,
        "context": None if falls_back(given.context, given.llm, before) else given.context,
        "language": given.language,
        "tokenizer": given.tokenizer,
    }
    for name, value in wanted.items():
        known = getattr(before, name)
        if value is not None and value != known:
            raise InvalidParameter(
                f"the index was made with {name}={known!r}, and {name}={value!r} was asked for; leave it out to keep "
                f"the first, or {REBUILD}"
            )
    if code_of(strategy) != before.code:
        raise InvalidParameter(
            f"the code of the strategy {strategy.label!r} is not what the index was made with: its chunks would be "
            f"others; {REBUILD}"
        )
    model = None
    if before.vectors != "none":
        model = LazyEmbedder(given.model or before.model, before.identity, advance)
        if given.model is not None and not isinstance(given.model, str):
            model()  # it is made already: no reason to wait with the error
    notes = (NO_MODEL,) if falls_back(given.context, given.llm, before) else ()
    return Choice(before, strategy, model, notes, contexts_again(given.llm, before))


def _strategy_again(given: Given, before: Settings) -> Strategy:
    if given.strategy is not None:
        return get_strategy(given.strategy)
    try:
        return get_strategy(before.strategy)
    except ChunkwiseError as error:
        raise InvalidParameter(
            f"the index was made with the strategy {before.strategy!r}, which cannot be made again by its name "
            f"({error}); pass it: strategy=…, to index or to open_index (chunkwise index -s ./file.py:Class)"
        ) from error


def _kept_model(given: Given, before: Settings) -> str | None:
    """What was asked for; how long an endpoint is waited for is no part of what a model is."""
    if not isinstance(given.model, str) or given.vectors == "none":
        return None
    same = with_patience(given.model)[0] == with_patience(before.model)[0]
    return before.model if same else given.model


def _name(model: str | Embedder) -> str:
    return model if isinstance(model, str) else model.identity

"""What an index is made with: what the user requested, what it was made with before, or the default."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from chunkwise.base.errors import (
    ChunkwiseError,
    InvalidOption,
    InvalidParameter,
    NotAllowed,
    UnknownName,
)
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY
from chunkwise.chunkers.read_chunks import given_label
from chunkwise.core import WRITTEN_CONTEXTS
from chunkwise.models import DEFAULT, split_patience
from chunkwise.models.embed.embedder import Embedder, TokenEncoder
from chunkwise.models.embed.quantized_vectors import check_dimensions
from chunkwise.models.name_finder import NameFinder
from chunkwise.options import Graph, IndexOptions, RankingOptions, Vectors
from chunkwise.retrieval.errors import REBUILD
from chunkwise.retrieval.indexing.lazy_models import (
    LazyContexts,
    LazyEmbedder,
    LazyLlm,
    LazyNameFinder,
    LazyRelations,
    LazyTokenEncoder,
    Llm,
)
from chunkwise.retrieval.settings import Settings, without_embedder
from chunkwise.text.terms import check_language
from chunkwise.text.tokens.tokenizers import canonical_name, get_tokenizer

NO_TOKEN_VECTORS = "none"
NO_NAME_FINDER = "none"
NO_MODEL = (
    "no language model given, so context is 'headings': title and section path (for LLM "
    "contexts: llm=…, chunkwise index --llm NAME)"
)


def llm_first(
    requested: IndexOptions, settings: Settings
) -> tuple[Settings, _Asking, tuple[str, ...]]:
    """For a new index: its settings, what asks the language model, and what the user is told."""
    context, llm = requested.context, requested.llm
    graph = graph_kind(requested)
    notes: tuple[str, ...] = ()
    if context in WRITTEN_CONTEXTS and llm is None:
        context, notes = "headings", (NO_MODEL,)
    settings = replace(settings, context=context or "none", graph=graph)
    asks = context in WRITTEN_CONTEXTS or graph == "relations"
    if llm is None:
        if graph == "relations":
            raise InvalidParameter(
                "graph='relations' needs a language model: llm=… (chunkwise index --graph --llm "
                "NAME), or use graph='names'"
            )
        return settings, _Asking(), notes
    if not asks:
        raise InvalidParameter(
            f"context={context or 'none'!r} uses no language model; choose "
            f"context={' or '.join(map(repr, WRITTEN_CONTEXTS))} or graph=True, or leave out llm"
        )
    asking = _asking(LazyLlm(llm), settings)
    assert asking.llm is not None
    prompt, graph_prompt = _wordings(settings)
    settings = replace(
        settings, llm=asking.llm.name, llm_identity=asking.llm.client.identity, prompt=prompt,
        graph_prompt=graph_prompt,
    )  # fmt: skip
    return settings, asking, notes


class _Asking(NamedTuple):
    """Who is asked, and for what."""

    llm: LazyLlm | None = None
    contexts: LazyContexts | None = None
    relations: LazyRelations | None = None


_NOBODY = _Asking()


def _asking(llm: LazyLlm, settings: Settings) -> _Asking:
    way = settings.context
    return _Asking(
        llm,
        LazyContexts(llm, way) if way in WRITTEN_CONTEXTS else None,
        LazyRelations(llm, settings.tokenizer) if settings.graph == "relations" else None,
    )


def _wordings(settings: Settings) -> tuple[str, str]:
    """Versions of the prompts in use, of contexts and of relations; empty where these settings need none."""
    contexts = relations = ""
    if settings.context in WRITTEN_CONTEXTS:
        from chunkwise.chunkers.context_writer import prompt_version

        contexts = prompt_version(settings.context)
    if settings.graph == "relations":
        from chunkwise.models.llm.prompt import load_prompt
        from chunkwise.retrieval.indexing.relations import PROMPT

        relations = load_prompt(PROMPT).version
    return contexts, relations


def graph_kind(requested: IndexOptions) -> Literal["", "names", "relations"]:
    """What was asked for: with a language model a graph has relations, too."""
    if isinstance(requested.graph, str):
        return requested.graph
    if not requested.graph:
        return ""
    return "names" if requested.llm is None else "relations"


def falls_back(context: str | None, llm: Llm | None, before: Settings) -> bool:
    """Whether this is asked for again as it was when the index was made: written contexts, and nobody to write."""
    return context in WRITTEN_CONTEXTS and llm is None and before.context == "headings"


def llm_again(llm: Llm | None, before: Settings) -> _Asking:
    """For an index that is there: the model it was made with, and no other."""
    if before.context not in WRITTEN_CONTEXTS and before.graph != "relations":
        if llm is not None:
            raise InvalidParameter(
                f"the index was built with context={before.context!r}, which uses no language "
                f"model; leave out llm, or {REBUILD}"
            )
        return _Asking()
    for known, wording in zip((before.prompt, before.graph_prompt), _wordings(before), strict=True):
        if wording != known:
            raise InvalidParameter(
                f"the index was built with the prompt {known}, but the prompt is now "
                f"{wording}; {REBUILD}"
            )
    made = LazyLlm(before.llm if llm is None else llm, before)
    if llm is not None and made.name != before.llm:
        made.check()  # it is another one by its name: no reason to wait with the error
    return _asking(made, before)


_UNREADABLE = "the settings of the index are unreadable; using defaults for omitted options"


def check(requested: IndexOptions) -> IndexOptions:
    """Wrong values are errors before any work is done."""
    requested = without_embedder(requested)
    if requested.language is not None:
        check_language(requested.language)
    if requested.search is not None:
        _check_kept(requested.search)
    if (tokenizer := requested.tokenizer) is not None:
        if not isinstance(tokenizer, str):
            raise InvalidOption("tokenizer", tokenizer, "an index stores its tokenizer by name")
        get_tokenizer(tokenizer)
        requested = replace(requested, tokenizer=canonical_name(tokenizer))
    return requested


def _kept_search(requested: IndexOptions, before: Settings) -> RankingOptions:
    return requested.search.filled_from(before.search) if requested.search else before.search


def _check_kept(search: RankingOptions) -> None:
    for name in ("retriever", "reranker"):
        part = getattr(search, name)
        if part is not None and not isinstance(part, str):
            raise InvalidOption(name, part, f"an index stores its {name} by name")


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """Settings with the parts they name."""

    settings: Settings
    strategy: Strategy
    model: LazyEmbedder | None
    """None: an index of words alone."""
    notes: tuple[str, ...] = ()
    asking: _Asking = _NOBODY
    """Who writes about the chunks and reads relations of names; nobody, by default."""
    token_encoder: LazyTokenEncoder | None = None
    """None: an index without token vectors."""
    name_finder: LazyNameFinder | None = None
    """None: names are found by rules alone."""

    def requested_again(self) -> IndexOptions:
        """What an update asks for: the same parts."""
        return IndexOptions(
            strategy=self.strategy, embedder=self.model.requested if self.model else None,
            llm=self.asking.llm.requested if self.asking.llm else None,
            maxsim=self.token_encoder.requested if self.token_encoder else None,
            names=self.name_finder.requested if self.name_finder else None,
        )  # fmt: skip

    @property
    def contexts(self) -> LazyContexts | None:
        """None: no language model writes about the chunks."""
        return self.asking.contexts

    @property
    def relations(self) -> LazyRelations | None:
        """None: no language model reads relations of names."""
        return self.asking.relations


def resolve_settings(requested: IndexOptions, before: Settings | None) -> ResolvedSettings:
    """The settings of an index; one that is there already keeps its own, and others are an error.

    Token vectors and a graph can be added: the index is then made again with them.
    """
    requested = check(requested)
    if before is None:
        return _first(requested)
    adds_tokens = not before.maxsim and requested.maxsim not in (None, NO_TOKEN_VECTORS)
    adds_graph = not before.graph and bool(requested.graph)
    if not adds_tokens and not adds_graph:
        return _again(requested, before)
    others = replace(
        requested,
        maxsim=None if adds_tokens else requested.maxsim,
        graph=None if adds_graph else requested.graph,
        names=None if adds_graph else requested.names,
        llm=None if adds_graph else requested.llm,
    )
    _again(others, before)  # nothing else may change with them
    return resolve_for_rebuild(requested, before)


def resolve_for_rebuild(requested: IndexOptions, before: Settings | None) -> ResolvedSettings:
    """For an index in the place of another: what is not said is as that one was made; None: that cannot be told."""
    requested = check(requested)
    if before is None:
        resolved = _first(requested)
        return replace(resolved, notes=(_UNREADABLE, *resolved.notes))
    remembered = _remembered(requested, before)
    try:
        return _first(remembered)
    except UnknownName as error:
        if (
            requested.embedder is not None or requested.llm is not None
        ):  # what was said now may be what is wrong
            raise
        raise InvalidParameter(
            f"cannot recreate a model of the index by name ({error}); pass it or another one: "
            f"embedder=…, llm=… (chunkwise index --embedder NAME, --llm NAME)"
        ) from error


def _remembered(requested: IndexOptions, before: Settings) -> IndexOptions:
    """What the user said, and where that is nothing, what the index was built with."""
    vectors, model = requested.vectors, requested.embedder
    if vectors is None and (model is None or before.vectors != "none"):
        vectors = before.vectors
    if model is None and before.vectors != "none":
        model = before.embedder
    context, llm = requested.context or before.context, requested.llm
    graph: bool | Graph = (before.graph or False) if requested.graph is None else requested.graph
    if graph is True and before.graph == "relations":
        graph = "relations"
    if llm is None and (context in WRITTEN_CONTEXTS or graph == "relations"):
        llm = before.llm or None
        if (
            graph is True
        ):  # the model before wrote contexts: what it is asked besides is for the user to say
            graph = "names"
    return IndexOptions(
        strategy=_strategy_again(requested, before), embedder=model, vectors=vectors, context=context, llm=llm,
        language=requested.language or before.language, tokenizer=requested.tokenizer or before.tokenizer,
        maxsim=requested.maxsim or before.maxsim or None, graph=graph,
        names=(requested.names or before.names or None) if graph else requested.names,
        search=_kept_search(requested, before),
    )  # fmt: skip


def _first(requested: IndexOptions) -> ResolvedSettings:
    strategy = get_strategy(requested.strategy or DEFAULT_STRATEGY)
    vectors: Vectors = requested.vectors or "late"
    model = None
    name = identity = ""
    dimensions = 0
    if vectors != "none":
        model = LazyEmbedder(requested.embedder or DEFAULT)
        name = model.name
        identity, dimensions = model.embedder.identity, model.embedder.dimensions
    settings = Settings(
        strategy.label, name, identity, dimensions, vectors, language=requested.language or "auto",
        code=strategy.code, search=requested.search or RankingOptions(),
    )  # fmt: skip
    if isinstance(requested.tokenizer, str):
        settings = replace(settings, tokenizer=requested.tokenizer)
    encoder = None
    if requested.maxsim is not None and requested.maxsim != NO_TOKEN_VECTORS:
        encoder = LazyTokenEncoder(requested.maxsim)
        check_dimensions(dimensions := encoder().dimensions)
        settings = replace(
            settings, maxsim=encoder.name, maxsim_identity=encoder().identity, maxsim_dimensions=dimensions
        )  # fmt: skip
    settings, asking, more = llm_first(requested, settings)
    finder = None
    if requested.names is not None and requested.names != NO_NAME_FINDER:
        finder = LazyNameFinder(requested.names)
        if not settings.graph:
            raise InvalidParameter(
                f"names={finder.name!r} needs a graph: add graph=True (chunkwise index "
                f"--graph), or leave out names"
            )
        settings = replace(settings, names=finder.name, names_identity=finder().identity)
    return ResolvedSettings(settings, strategy, model, more, asking, encoder, finder)


def _again(requested: IndexOptions, before: Settings) -> ResolvedSettings:
    strategy = _strategy_again(requested, before)
    if before.vectors == "none" and requested.embedder is not None and requested.vectors is None:
        raise InvalidParameter(
            "the index was built without vectors (vectors='none'), but embedder is "
            f"{_name(requested.embedder)!r}; leave it out, or {REBUILD}"
        )
    given, held = given_label(strategy.label), given_label(before.strategy)
    if given and held and given[1] != held[1]:
        raise InvalidParameter(
            f"the index was built from other chunks ({held[0]}) than these ({given[0]}); {REBUILD}"
        )
    wanted = {
        "strategy": before.strategy if given and held else strategy.label,
        "embedder": _kept_model(requested, before),
        "vectors": requested.vectors,
        "context": None
        if falls_back(requested.context, requested.llm, before)
        else requested.context,
        "language": requested.language,
        "tokenizer": requested.tokenizer,
        "maxsim": "" if requested.maxsim == NO_TOKEN_VECTORS else _named(requested.maxsim),
        "graph": _kept_graph(requested, before),
        "names": "" if requested.names == NO_NAME_FINDER else _named(requested.names),
    }
    for name, value in wanted.items():
        known = getattr(before, name)
        if value is not None and value != known:
            raise InvalidParameter(
                f"the index was built with {name}={known!r}, not {name}={value!r}; leave it out, "
                f"or {REBUILD}"
            )
    if strategy.code != before.code:
        raise InvalidParameter(
            f"the code of the strategy {strategy.label!r} has changed since the index was "
            f"built; {REBUILD}"
        )
    model = None
    if before.vectors != "none":
        model = LazyEmbedder(requested.embedder or before.embedder, before.identity)
        if requested.embedder is not None and not isinstance(requested.embedder, str):
            model()  # it is made already: no reason to wait with the error
    encoder = None
    if before.maxsim:
        maxsim = requested.maxsim or before.maxsim
        encoder = LazyTokenEncoder(maxsim, before.maxsim_identity)
    notes = (NO_MODEL,) if falls_back(requested.context, requested.llm, before) else ()
    asking = llm_again(requested.llm, before)
    finder = None
    if before.names:
        finder = LazyNameFinder(requested.names or before.names, before.names_identity)
    settings = replace(before, search=_kept_search(requested, before))
    return ResolvedSettings(settings, strategy, model, notes, asking, encoder, finder)


def _strategy_again(requested: IndexOptions, before: Settings) -> Strategy:
    if requested.strategy is not None:
        return get_strategy(requested.strategy)
    if given := given_label(before.strategy):
        raise InvalidParameter(
            f"the index was built from existing chunks ({given[0]}); give them again: chunks=… "
            "(chunkwise index --chunks FILE), or rebuild it with a strategy: strategy=…, "
            "rebuild=True (-s NAME --rebuild)"
        )
    try:
        return get_strategy(before.strategy)
    except NotAllowed:
        raise
    except ChunkwiseError as error:
        raise InvalidParameter(
            f"the index was built with the strategy {before.strategy!r}, which can't be recreated "
            f"from its name ({error}); pass strategy=… to index or open_index (chunkwise index -s "
            "./file.py:Class)"
        ) from error


def _kept_graph(requested: IndexOptions, before: Settings) -> str | None:
    """What was asked for; True is what the index has, unless a model is given that would have more to do."""
    if requested.graph is None or isinstance(requested.graph, str):
        return requested.graph
    if requested.graph and before.graph and (requested.llm is None or before.llm):
        return None
    return graph_kind(requested)


def _kept_model(requested: IndexOptions, before: Settings) -> str | None:
    """What was asked for; how long an endpoint is waited for is no part of what a model is."""
    if not isinstance(requested.embedder, str) or requested.vectors == "none":
        return None
    same = split_patience(requested.embedder)[0] == split_patience(before.embedder)[0]
    return before.embedder if same else requested.embedder


def _name(model: str | Embedder | TokenEncoder | NameFinder) -> str:
    return model if isinstance(model, str) else model.identity


def _named(model: str | TokenEncoder | NameFinder | None) -> str | None:
    return None if model is None else _name(model)

"""A choice as a file that commands take, and as code: with chunkwise itself, inside LangChain and LlamaIndex."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, cast

from chunkwise.base.allow_hosts_and_code_from_files import allowing, distrust
from chunkwise.base.errors import ChunkwiseError, InvalidOption, InvalidParameter, UnknownOption
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY
from chunkwise.documents.loader import OptionValue
from chunkwise.options import IndexOptions, RankingOptions, SearchOptions, Vectors
from chunkwise.records.write import text_file
from chunkwise.retrieval.retrievers import follows_names
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER
from chunkwise.tuning.sweep import Configuration, Sweep, budget_of
from chunkwise.tuning.toml_file import read_toml, toml_line

_FORMAT = "chunkwise recommendation"
_WIDTH = 100


class Recommendation(IndexOptions, SearchOptions):
    """Recommended options for chunking, indexing and search."""

    @property
    def is_pipeline(self) -> bool:
        """Whether it tunes a custom pipeline."""
        return self.strategy is None and ".py:" in str(self.retriever)

    def index_options(self) -> dict[str, Any]:
        """Keywords for `chunkwise.index(source, **recommendation.index_options())`."""
        self._check_searched_here()
        given = self.part(IndexOptions).changed()
        named = {name: given.pop(name) for name in _INDEX_KEYWORDS if name in given}
        search = self.part(RankingOptions)
        return {**named, "settings": IndexOptions(**given, search=search)}

    def search_options(self) -> SearchOptions:
        """Options for `index.search(question, options=recommendation.search_options())`."""
        self._check_searched_here()
        return self.part(SearchOptions).override(tokenizer=None)

    def _check_searched_here(self) -> None:
        if self.is_pipeline:
            raise InvalidParameter(
                f"the choice is {self.retriever}, your own pipeline, which indexes and "
                f"searches by itself; build it with these parameters"
            )


_INDEX_KEYWORDS = ("strategy", "context", "embedder", "vectors", "llm", "graph")
"""Options that `index` takes by name."""


def write_recommendation(recommendation: Recommendation, path: Path, why: str) -> None:
    """TOML; the reason stands above it as a comment."""
    # A comment of TOML holds no control characters, and a label can be anyone's.
    plain = "".join(sign if sign.isprintable() else " " for sign in why)
    lines = [f"# {line}" for line in wrap(plain, _WIDTH, break_on_hyphens=False)]
    lines += ["", toml_line("format", _FORMAT), ""]
    for name, value in recommendation.changed().items():
        lines.append(toml_line(name, value))
    with text_file(path) as out:
        out.write("\n".join(lines) + "\n")


def read_recommendation(path: Path) -> Recommendation:
    """What `write_recommendation` wrote, or a person did."""
    given = read_toml(path, "recommendation")
    if "sweep" in given:
        raise ChunkwiseError(
            f"{path} is a plan, not a recommendation; create one: chunkwise tune {path}"
        )
    if given.pop("format", _FORMAT) != _FORMAT:
        raise ChunkwiseError(f"{path} isn't a recommendation; `chunkwise tune` writes one")
    distrust(given, str(path))
    try:
        return Recommendation.read(given)
    except (InvalidOption, UnknownOption) as error:
        raise InvalidParameter(f"{path}: {error}") from None


COMMANDS = "Command line"
"""What is no code of Python."""


def snippets(
    recommendation: Recommendation,
    documents: Sequence[str] = ("documents/",),
    file: str = "recommendation.toml",
    *,
    reading: Mapping[str, OptionValue] | None = None,
) -> dict[str, str]:
    """By what they are for; all search alike, whatever was chosen: contexts, parents, several sizes at once.

    `documents` are the user's own, read as `reading` says; `file` holds the recommendation.
    """
    index = _index(recommendation, documents, reading)
    searching = recommendation.search_options().changed()
    search = _search(searching)
    counted_hits = _keywords({_LLAMAINDEX.get(name, name): searching[name] for name in searching})
    used = [name for name in ("IndexOptions", "SearchOptions") if f"{name}(" in index + search]
    imports = "import chunkwise\n"
    imports += f"from chunkwise.options import {', '.join(used)}\n" if used else ""
    return {
        COMMANDS: _commands(recommendation, documents, file, reading),
        "Python": (f'{imports}\n{index}\nhits = index.search("your question", {search})\n'),
        "LangChain": (
            f"{imports}from chunkwise.langchain import ChunkwiseRetriever\n\n{index}\nretriever = "
            f"ChunkwiseRetriever(index=index, {_keywords(searching)})\n"
        ),
        "LlamaIndex": (
            f"{imports}from chunkwise.llamaindex import ChunkwiseRetriever\n\n{index}\nretriever "
            f"= ChunkwiseRetriever(index, {counted_hits})\n"
        ),
        **_chunks(recommendation, documents, reading),
    }


def _index(
    recommendation: Recommendation,
    documents: Sequence[str],
    reading: Mapping[str, OptionValue] | None,
) -> str:
    keywords = recommendation.index_options()
    settings = keywords.pop("settings")
    message = "".join(f"    {name}={_value(value)},\n" for name, value in keywords.items())
    if settings.changed():
        message += f"    settings=IndexOptions({_keywords(settings.changed())}),\n"
    if options := _reading_code(reading):
        message += f"    {options},\n"
    return f"index = chunkwise.index(\n    {_paths_in_code(documents)},\n{message})"


def _commands(
    recommendation: Recommendation,
    documents: Sequence[str],
    file: str,
    reading: Mapping[str, OptionValue] | None,
) -> str:
    named, config = shlex.join([*documents, *_reading_words(reading)]), shlex.quote(file)
    chosen = recommendation
    making = _allowing(chosen.strategy, chosen.embedder, chosen.llm)
    searching = _allowing(chosen.embedder, chosen.retriever, chosen.reranker)
    return (
        f"chunkwise index {named} --config {config} --into kb/{making}\n"
        f'chunkwise search kb/ "your question"{searching}\n'
    )


def _allowing(*names: object) -> str:
    return allowing(*(name for name in names if isinstance(name, str)))


def _reading_words(reading: Mapping[str, OptionValue] | None) -> Iterator[str]:
    """As options of a command; what is an object or a function has no words there."""
    for name, value in (reading or {}).items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
        elif isinstance(value, str | list):
            for item in [value] if isinstance(value, str) else value:
                yield from (option, item)


def _reading_code(reading: Mapping[str, OptionValue] | None) -> str:
    """As a parameter of Python's verbs; empty where nothing was said."""
    text = ", ".join(f"{name}={_literal(value)}" for name, value in (reading or {}).items())
    return f"options=chunkwise.options.LoadOptions({text})" if text else ""


def _literal(value: OptionValue) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        return _text(value)
    # An object or a function is the user's own, under whatever name.
    return "..." if value is None else repr(value)


def _paths_in_code(documents: Sequence[str]) -> str:
    """One path, or a list of them."""
    names = [_text(document) for document in documents]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


_LLAMAINDEX = {"k": "similarity_top_k"}


def _search(given: Mapping[str, Any]) -> str:
    """Write the keywords of `Index.search`."""
    named = {name: value for name, value in given.items() if name in _KEYWORDS}
    more = {name: value for name, value in given.items() if name not in _KEYWORDS}
    options = f", options=SearchOptions({_keywords(more)})" if more else ""
    return f"{_keywords(named)}{options}"


def _keywords(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in given.items())


_KEYWORDS = ("retriever", "k", "budget", "reranker")
"""Options that `Index.search` takes by name."""


_OF_SPANS = ("multiscale", "graph", "communities")
"""Retrievers of ours that hand out no chunks."""


def _chunks(
    recommendation: Recommendation,
    documents: Sequence[str],
    reading: Mapping[str, OptionValue] | None,
) -> dict[str, str]:
    """For a store of one's own; where chunks are not all there is to it, they would not do the same."""
    name = str(recommendation.retriever).partition("(")[0].strip()  # nothing is loaded by it
    if name in _OF_SPANS or recommendation.context not in (None, "none"):
        return {}
    asked = ", ".join(
        filter(
            None,
            [
                _paths_in_code(documents),
                _text(str(recommendation.strategy)),
                _reading_code(reading),
            ],
        )
    )
    return {
        "LangChain, for your own store": (
            "import chunkwise\nfrom chunkwise.langchain import documents_of\n\ndocuments = "
            f"documents_of(chunkwise.chunk({asked}))\n"
        )
    }


def _value(value: object) -> str:
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    """A JSON string is one of Python."""
    return json.dumps(value)


def recommendation_of(configuration: Configuration, sweep: Sweep) -> Recommendation:
    """Chunks are searched by k; several sizes, and objectives within a budget, by that budget."""
    several = not configuration.strategy
    tokenizer = None if sweep.tokenizer == DEFAULT_TOKENIZER else sweep.tokenizer
    budget = budget_of(sweep.objective) or (1000 if several and not sweep.pipeline else None)
    k = sweep.k if budget is None else None
    if sweep.pipeline:
        return Recommendation(
            retriever=configuration.retriever, k=k, budget=budget, tokenizer=tokenizer
        )
    has_vectors = configuration.vectors != "none"
    return Recommendation(
        strategy=configuration.strategy or DEFAULT_STRATEGY,
        context=cast(Any, configuration.context),
        embedder=configuration.embedder or sweep.embedder if has_vectors else None,
        vectors=cast(Vectors, configuration.vectors),
        k=k,
        budget=budget,
        tokenizer=tokenizer,
        **configuration.search.changed(),
        maxsim=configuration.maxsim or None,
        llm=configuration.llm or None,
        graph=True if follows_names(configuration.retriever) else None,
    )

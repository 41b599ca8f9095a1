"""A choice as a file that commands take, and as code: with chunkwise itself, inside LangChain and LlamaIndex."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from textwrap import wrap
from typing import Any

import msgspec

from chunkwise.base.allow_hosts_and_code_from_files import allowing, distrust
from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownOption
from chunkwise.base.schema import Amount, Count
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY
from chunkwise.documents.loader import OptionValue
from chunkwise.models import DEFAULT
from chunkwise.options import SearchOptions
from chunkwise.retrieval.retrievers import follows_names
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER
from chunkwise.tuning.sweep import Configuration, Sweep, budget_of
from chunkwise.tuning.toml_file import read_toml, toml_line

_FORMAT = "chunkwise recommendation"
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Recommendation:
    """How to cut, to index and to search."""

    strategy: str
    context: str = "none"
    embedder: str = "minilm"
    """What makes vectors, where there are any."""
    vectors: str = "late"
    retriever: str = "hybrid"
    k: Count = 5
    budget: Count | None = None
    """Tokens a question, for retrievers that fill a budget; None: `k` hits."""
    neighbors: Amount = 0
    tokenizer: str = DEFAULT_TOKENIZER
    """What the budget is counted by."""
    reranker: str = ""
    """What reads the hits once more; empty: nothing."""
    maxsim: str = ""
    """The model of the token vectors that the index keeps; empty: none."""
    llm: str = ""
    """The language model that writes the contexts; empty: none are written."""

    @property
    def is_pipeline(self) -> bool:
        """Whether the retriever is a pipeline of the user's own: nothing of ours is cut, indexed or searched."""
        return not self.strategy

    def settings(self) -> dict[str, str | int]:
        """By name; what has no meaning here is not among them."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.is_pipeline:
            found = {name: found[name] for name in ("retriever", "k", "budget", "tokenizer")}
        if self.budget is None:
            del found["budget"]
        if self.vectors == "none":
            found.pop("embedder", None)
        if self.tokenizer == DEFAULT_TOKENIZER:
            del found["tokenizer"]
        if not self.reranker:
            found.pop("reranker", None)
        if not self.maxsim:
            found.pop("maxsim", None)
        if not self.llm:
            found.pop("llm", None)
        return found

    def index_options(self) -> dict[str, Any]:
        """For `chunkwise.index(source, **recommendation.index_options())`."""
        self._check_searched_here()
        said: dict[str, Any] = {"strategy": self.strategy, "context": self.context}
        said["vectors"] = self.vectors
        if self.vectors != "none" and self.embedder != DEFAULT:
            said["embedder"] = self.embedder
        if self.tokenizer != DEFAULT_TOKENIZER:
            said["tokenizer"] = self.tokenizer
        if self.maxsim:
            said["maxsim"] = self.maxsim
        if self.llm:
            said["llm"] = self.llm
        if follows_names(self.retriever):
            said["graph"] = True
        return said

    def search_options(self) -> SearchOptions:
        """Options for `index.search(question, options=recommendation.search_options())`."""
        self._check_searched_here()
        return SearchOptions(
            retriever=self.retriever,
            k=self.k if self.budget is None else None,
            budget=self.budget,
            neighbors=self.neighbors,
            reranker=self.reranker or None,
        )

    def _check_searched_here(self) -> None:
        if self.is_pipeline:
            raise InvalidParameter(
                f"the choice is {self.retriever}, a pipeline of your own, which does its own indexing and searching; "
                "build it with these parameters"
            )

    def options(self) -> dict[str, str | int]:
        """As the commands name them: a budget takes the place of a number of hits."""
        found = self.settings()
        if follows_names(self.retriever):
            found["graph"] = True
        k = found.pop("k")
        return found if "budget" in found else {**found, "k": k}


def write_recommendation(recommendation: Recommendation, path: Path, why: str) -> None:
    """TOML; the reason stands above it as a comment."""
    # A comment of TOML holds no control characters, and a label can be anyone's.
    plain = "".join(sign if sign.isprintable() else " " for sign in why)
    lines = [f"# {line}" for line in wrap(plain, _WIDTH, break_on_hyphens=False)]
    lines += ["", toml_line("format", _FORMAT), ""]
    for name, value in recommendation.settings().items():
        lines.append(toml_line(name, value))
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_recommendation(path: Path) -> Recommendation:
    """What `write_recommendation` wrote, or a person did."""
    given = read_toml(path, "recommendation")
    if "sweep" in given:
        raise ChunkwiseError(
            f"{path} is the plan of a sweep, not what it recommends; chunkwise tune {path} makes recommendation.toml"
        )
    if given.pop("format", _FORMAT) != _FORMAT:
        raise ChunkwiseError(f"{path} is no recommendation; chunkwise tune writes one")
    known = [field.name for field in fields(Recommendation)]
    if ".py:" in str(given.get("retriever", "")):
        given.setdefault("strategy", "")
    distrust(given, str(path))
    try:
        for name in given:
            if name not in known:
                raise UnknownOption(name, known)
        return msgspec.convert(given, Recommendation)
    except msgspec.ValidationError as error:
        reason, _, name = str(error).partition(" - at `$.")
        raise InvalidParameter(f"{path}: {name.rstrip('`')}: {reason.lower()}") from None
    except UnknownOption as error:
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
    search = _search(recommendation)
    imports = "import chunkwise\n"
    if "SearchOptions(" in search:
        imports += "from chunkwise.options import SearchOptions\n"
    return {
        COMMANDS: _commands(recommendation, documents, file, reading),
        "Python": (f'{imports}\n{index}\nhits = index.search("your question", {search})\n'),
        "LangChain": (
            f"{imports}"
            "from chunkwise.langchain import ChunkwiseRetriever\n\n"
            f"{index}\n"
            f"retriever = ChunkwiseRetriever(index=index, {search})\n"
        ),
        "LlamaIndex": (
            f"{imports}"
            "from chunkwise.llamaindex import ChunkwiseRetriever\n\n"
            f"{index}\n"
            f"retriever = ChunkwiseRetriever(index, {_search(recommendation, 'similarity_top_k')})\n"
        ),
        **_chunks(recommendation, documents, reading),
    }


def _index(
    recommendation: Recommendation,
    documents: Sequence[str],
    reading: Mapping[str, OptionValue] | None,
) -> str:
    said = recommendation.index_options()
    told = "".join(f"    {name}={_value(value)},\n" for name, value in said.items())
    if options := _reading_code(reading):
        told += f"    {options},\n"
    return f"index = chunkwise.index(\n    {_paths_in_code(documents)},\n{told})"


def _commands(
    recommendation: Recommendation,
    documents: Sequence[str],
    file: str,
    reading: Mapping[str, OptionValue] | None,
) -> str:
    named, config = shlex.join([*documents, *_reading_words(reading)]), shlex.quote(file)
    embedder = recommendation.embedder if recommendation.vectors != "none" else ""
    making = allowing(recommendation.strategy, embedder, recommendation.llm)
    searching = allowing(embedder, recommendation.retriever, recommendation.reranker)
    return (
        f"chunkwise index {named} --config {config} --into kb/{making}\n"
        f'chunkwise search kb/ "your question" --config {config}{searching}\n'
    )


def _reading_words(reading: Mapping[str, OptionValue] | None) -> Iterator[str]:
    """As options of a command; what is an object or a function has no words there."""
    for name, value in (reading or {}).items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
        elif isinstance(value, str | list):
            for each in [value] if isinstance(value, str) else value:
                yield from (option, each)


def _reading_code(reading: Mapping[str, OptionValue] | None) -> str:
    """As a parameter of Python's verbs; empty where nothing was said."""
    said = ", ".join(f"{name}={_literal(value)}" for name, value in (reading or {}).items())
    return f"options=chunkwise.LoadOptions({said})" if said else ""


def _literal(value: OptionValue) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        return _text(value)
    # An object or a function is the user's own, under whatever name.
    return "..." if value is None else repr(value)


def _paths_in_code(documents: Sequence[str]) -> str:
    """One path, or a list of them."""
    names = [_text(each) for each in documents]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _search(recommendation: Recommendation, count: str = "k") -> str:
    """Write the keywords of a search; `count` is what a framework calls the number of hits."""
    given = recommendation.search_options().changed()
    named = {name: given.pop(name) for name in _KEYWORDS if name in given}
    written = [f"{count if name == 'k' else name}={_value(value)}" for name, value in named.items()]
    if given:
        rest = ", ".join(f"{name}={_value(value)}" for name, value in given.items())
        written.append(f"options=SearchOptions({rest})")
    return ", ".join(written)


_KEYWORDS = ("retriever", "k", "budget", "reranker")
"""Options that searches take by name in every framework."""


_OF_SPANS = ("multiscale", "graph", "communities")
"""Retrievers of ours that hand out no chunks."""


def _chunks(
    recommendation: Recommendation,
    documents: Sequence[str],
    reading: Mapping[str, OptionValue] | None,
) -> dict[str, str]:
    """For a store of one's own; where chunks are not all there is to it, they would not do the same."""
    name = recommendation.retriever.partition("(")[
        0
    ].strip()  # it may be anyone's: nothing is loaded by it
    if name in _OF_SPANS or recommendation.context != "none":
        return {}
    asked = ", ".join(
        filter(
            None,
            [_paths_in_code(documents), _text(recommendation.strategy), _reading_code(reading)],
        )
    )
    return {
        "LangChain, for a store of your own": (
            "import chunkwise\n"
            "from chunkwise.langchain import documents_of\n\n"
            f"documents = documents_of(chunkwise.chunk({asked}))\n"
        )
    }


def _value(value: str | int) -> str:
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    """A JSON string is one of Python."""
    return json.dumps(value)


def recommendation_of(configuration: Configuration, sweep: Sweep) -> Recommendation:
    """Chunks are searched by k; several sizes, and objectives within a budget, by that budget."""
    several = not configuration.strategy
    if sweep.pipeline:
        return Recommendation(
            "", retriever=configuration.retriever, k=sweep.k, budget=budget_of(sweep.objective),
            tokenizer=sweep.tokenizer,
        )  # fmt: skip
    return Recommendation(
        strategy=configuration.strategy or DEFAULT_STRATEGY,
        context=configuration.context,
        embedder=configuration.embedder or sweep.embedder,
        vectors=configuration.vectors,
        retriever=configuration.retriever,
        k=sweep.k,
        budget=budget_of(sweep.objective) or (1000 if several else None),
        neighbors=configuration.neighbors,
        tokenizer=sweep.tokenizer,
        reranker=configuration.reranker,
        maxsim=configuration.maxsim,
        llm=configuration.llm,
    )

"""What an index was made with, which a search has to agree with, and how large it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from chunkwise.base.allow_hosts_and_code_from_files import distrust
from chunkwise.base.errors import InvalidOption
from chunkwise.core import WRITTEN_CONTEXTS, WrittenContext
from chunkwise.models import DEFAULT
from chunkwise.options import Graph, IndexOptions, Vectors

VECTORS: tuple[str, ...] = get_args(Vectors)
GRAPHS: tuple[str, ...] = get_args(Graph)
NO_EMBEDDER = "none"
"""Said where an embedder is named: words alone, as vectors='none'."""

Context = Literal["none", "headings"]
"""What stands beside a chunk and is made without a language model."""
CONTEXTS: tuple[Context, ...] = ("none", "headings")


def without_embedder(options: IndexOptions) -> IndexOptions:
    """The same options, with no embedder and no vectors where the embedder is "none"."""
    if options.embedder != NO_EMBEDDER:
        return options
    if options.vectors not in (None, "none"):
        raise InvalidOption(
            "vectors", options.vectors, "the embedder 'none' makes none; leave one of them out"
        )
    return replace(options, embedder=None, vectors="none")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what is in an index, besides the documents."""

    strategy: str
    """The label of the strategy, which makes it again."""
    embedder: str = DEFAULT
    """What `models.get_embedder` takes; empty where `vectors` is none."""
    identity: str = ""
    """The embedder's own: vectors of another one are not comparable."""
    dimensions: int = 0
    vectors: Vectors = "late"
    """`late`: one pass over the documents serves chunks and all sizes; `own`: each chunk is embedded by itself
    and there are no vectors for several sizes; `both`: two passes; `none`: words alone."""
    context: Context | WrittenContext = "none"
    tokenizer: str = "o200k_base"
    """What budgets and sizes of hits are counted by."""
    code: str = ""
    """Of a strategy that is not one of ours: its class and a hash of its source."""
    language: str = "auto"
    """`auto`: found for every document; otherwise a two-letter code, or `none`: no stemming, no stop words."""
    llm: str = ""
    """What `models.get_language_model` takes, where a model wrote the contexts; searching needs none."""
    llm_identity: str = ""
    """The language model's own."""
    prompt: str = ""
    """The version of the wording it was asked with."""
    maxsim: str = ""
    """What `models.get_token_encoder` takes, where token vectors are kept; empty: there are none."""
    maxsim_identity: str = ""
    """The token encoder's own."""
    maxsim_dimensions: int = 0
    graph: Literal["", "names", "relations"] = ""
    """`names`: where names stand is kept; `relations`: what the language model reads of them, too; empty: neither."""
    names: str = ""
    """What `models.get_name_finder` takes, where one finds names beside the rules; empty: rules alone."""
    names_identity: str = ""
    """The name finder's own."""
    graph_prompt: str = ""
    """The version of the wording it was asked for relations with."""


_MOST_DIMENSIONS = 1 << 20


def read_settings(values: Mapping[str, object], where: str) -> Settings:
    """What this version does not know is left out, what it cannot use is a ValueError.

    Names in them are those of `where`, whoever wrote that, and not the user's.
    """
    kinds = {
        field.name: int if field.name.endswith("dimensions") else str for field in fields(Settings)
    }
    known = {name: value for name, value in values.items() if name in kinds}
    for name, value in known.items():
        if not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}")
    if "strategy" not in known:
        raise ValueError("strategy is missing")
    distrust(known, where)
    found = Settings(**known)  # type: ignore[arg-type]
    if found.vectors not in VECTORS or found.context not in (*CONTEXTS, *WRITTEN_CONTEXTS):
        raise ValueError(f"vectors is {found.vectors!r}, context is {found.context!r}")
    if found.graph not in ("", *GRAPHS):
        raise ValueError(f"graph is {found.graph!r}")
    for dimensions in (found.dimensions, found.maxsim_dimensions):
        if not 0 <= dimensions <= _MOST_DIMENSIONS:
            raise ValueError(f"dimensions is {dimensions}")
    return found


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Counts of what an index holds."""

    documents: int
    chunks: int
    atoms: int
    """Sentences, list items, rows, lines of code."""
    tokens: int
    """Of the documents, each once."""
    indexed_tokens: int
    """Of the chunks with what overlaps, and of what is indexed beside them."""
    context_tokens: int
    """Of these, what is indexed beside the chunks."""
    vectors: int
    """Of chunks and of atoms."""
    dimensions: int
    bytes: int
    """Of all arrays: on disk, or in memory for an index that lives there; of all tables on a server."""

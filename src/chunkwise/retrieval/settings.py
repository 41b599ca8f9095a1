"""What an index was made with, which a search has to agree with, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from chunkwise.base.allow_hosts_and_code_from_files import distrust
from chunkwise.base.errors import InvalidOption
from chunkwise.core import WrittenContext
from chunkwise.models import DEFAULT
from chunkwise.options import IndexOptions, RankingOptions, Vectors

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
            "vectors", options.vectors, "embedder='none' and vectors conflict; leave one out"
        )
    return replace(options, embedder=None, vectors="none")


Dimensions = Annotated[int, Meta(ge=0, le=1 << 20)]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that determine the contents of an index."""

    strategy: str
    """Strategy with its parameters."""
    embedder: str = DEFAULT
    """Name of the embedding model; empty without vectors."""
    identity: str = ""
    """Identity of the embedder; vectors of different identities aren't comparable."""
    dimensions: Dimensions = 0
    vectors: Vectors = "late"
    """`late`: one pass over the documents, by tokens or by windows, serves chunks and all scales; `own`: per-chunk
    embeddings, without multi-scale retrieval; `both`: two passes; `none`: BM25 only."""
    context: Context | WrittenContext = "none"
    tokenizer: str = "o200k_base"
    """Tokenizer of budgets and hit sizes."""
    code: str = ""
    """Class and source hash of a custom strategy."""
    language: str = "auto"
    """`auto`: detected per document; a two-letter code; or `none`: no stemming and stop words."""
    llm: str = ""
    """Name of the language model that wrote contexts; not needed for searching."""
    llm_identity: str = ""
    """Identity of the language model."""
    prompt: str = ""
    """Version of the prompt."""
    maxsim: str = ""
    """Name of the token encoder; empty without token vectors."""
    maxsim_identity: str = ""
    """Identity of the token encoder."""
    maxsim_dimensions: Dimensions = 0
    graph: Literal["", "names", "relations"] = ""
    """`names`: mentions of names; `relations`: also relations read by an LLM; empty: no graph."""
    names: str = ""
    """Name of the additional name finder; empty: rules only."""
    names_identity: str = ""
    """Identity of the name finder."""
    graph_prompt: str = ""
    """Version of the relations prompt."""
    search: RankingOptions = field(default_factory=RankingOptions)
    """Default search options."""


def read_settings(values: object, where: str) -> Settings:
    """Read the settings of an index; names in them are those of `where`, and not the user's.

    Raises:
        msgspec.ValidationError: They are not as this version writes them; what it does not know is left out.
    """
    settings = msgspec.convert(values, Settings)
    distrust(settings, where)
    return settings


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Counts and sizes of an index."""

    documents: int
    chunks: int
    atoms: int
    """Sentences, list items, table rows and lines of code."""
    tokens: int
    """Tokens in the documents."""
    indexed_tokens: int
    """Tokens indexed, with overlaps and contexts."""
    context_tokens: int
    """Tokens of contexts."""
    vectors: int
    """Vectors of chunks and atoms."""
    dimensions: int
    bytes: int
    """Size on disk, in memory or on the server."""

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
            "vectors", options.vectors, "the embedder 'none' makes none; leave one of them out"
        )
    return replace(options, embedder=None, vectors="none")


Dimensions = Annotated[int, Meta(ge=0, le=1 << 20)]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what is in an index, besides the documents."""

    strategy: str
    """The label of the strategy, which makes it again."""
    embedder: str = DEFAULT
    """What `models.get_embedder` takes; empty where `vectors` is none."""
    identity: str = ""
    """The embedder's own: vectors of another one are not comparable."""
    dimensions: Dimensions = 0
    vectors: Vectors = "late"
    """`late`: one pass over the documents, by tokens or by windows, serves chunks and all scales; `own`: per-chunk
    embeddings, without multi-scale retrieval; `both`: two passes; `none`: BM25 only."""
    context: Context | WrittenContext = "none"
    tokenizer: str = "o200k_base"
    """What budgets and sizes of hits are counted by."""
    code: str = ""
    """Of a custom strategy: its class and a hash of its source."""
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
    maxsim_dimensions: Dimensions = 0
    graph: Literal["", "names", "relations"] = ""
    """`names`: where names occur; `relations`: also what the language model reads of them; empty: neither."""
    names: str = ""
    """What `models.get_name_finder` takes, where one finds names beside the rules; empty: rules alone."""
    names_identity: str = ""
    """The name finder's own."""
    graph_prompt: str = ""
    """The version of the wording it was asked for relations with."""
    search: RankingOptions = field(default_factory=RankingOptions)
    """Default options of searches; it decides nothing of what is in the index."""


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

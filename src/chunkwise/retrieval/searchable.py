"""What a retriever is asked, what it asks of an index, wherever that lives, and what is found there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document, Span
from chunkwise.models.embed.embedder import Embedder, TokenEncoder, normalized, same_model
from chunkwise.models.embed.quantized_vectors import QuantizedVectors
from chunkwise.retrieval.bm25 import K1, B, TermTable
from chunkwise.retrieval.errors import no_vectors_error, wrong_model_error
from chunkwise.retrieval.filters import Filter, RowKind
from chunkwise.retrieval.indexed_document import StatedRelations
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.settings import IndexStats, Settings
from chunkwise.retrieval.tables_lists_code import WholeBlocks
from chunkwise.text.names import HASH_BYTES, Mentions


class TokenTable(NamedTuple):
    """The tokens of atom `i`, as the token encoder counts them, are the rows `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    codes: NDArray[np.uint8]
    """See `models.embed.quantized_vectors`."""


LONGEST_NAME = (1 << 14) - 1
"""Characters."""
_FURTHEST = (1 << 16) - 1


class MentionTable(NamedTuple):
    """The names in atom `i` are the rows `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    name: NDArray[np.uint64]
    """See `text.names`."""
    offset: NDArray[np.uint16]
    """Where the name begins, counted from the start of its atom."""
    packed: NDArray[np.uint16]
    """How long it is, and in the two highest bits what kind of place: a byte of an index less a name."""

    @classmethod
    def of(cls, mentions: Mentions, starts: NDArray[np.int64]) -> MentionTable:
        """Of one document, whose atoms begin at `starts`; what stands too far on in an atom is left out."""
        atom = starts.searchsorted(mentions.start, "right") - 1
        offset, length = mentions.start - starts[atom], mentions.end - mentions.start
        kept = (atom >= 0) & (offset <= _FURTHEST) & (length <= LONGEST_NAME)
        first = np.append(0, np.cumsum(np.bincount(atom[kept], minlength=len(starts))))
        packed = length[kept] | mentions.kind[kept].astype(np.int64) << 14
        return cls(
            first.astype(np.int64),
            mentions.name[kept],
            offset[kept].astype(np.uint16),
            packed.astype(np.uint16),
        )

    @property
    def packed_names(self) -> NDArray[np.uint16]:
        """The hashes in as many bytes as they have."""
        return self.name.astype("<u8").view("<u2").reshape(-1, 4)[:, : HASH_BYTES // 2]

    @staticmethod
    def unpacked_names(packed: NDArray[np.uint16]) -> NDArray[np.uint64]:
        """The hashes as numbers again."""
        whole = np.zeros((len(packed), 4), "<u2")
        whole[:, : HASH_BYTES // 2] = packed
        return whole.view("<u8").reshape(-1).astype(np.uint64, copy=False)

    @property
    def length(self) -> NDArray[np.uint16]:
        return self.packed & np.uint16(LONGEST_NAME)

    @property
    def kind(self) -> NDArray[np.uint16]:
        """As in `text.names`."""
        return self.packed >> np.uint16(14)


@dataclass(frozen=True, slots=True, eq=False)
class AtomTable:
    """Atoms of one document are contiguous and in order; documents are numbered from 0."""

    document: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int32]
    """Of the document's own tokens: those of a stretch of atoms add up."""
    section: NDArray[np.int32]
    """Number of a section path, counted across the index: its `section_path` tells the titles."""
    flags: NDArray[np.uint8]
    """See `tables_lists_code.atom_flags`."""
    terms: TermTable
    """Rows are atoms."""
    vectors: QuantizedVectors | None
    """Sums of token vectors; None: an index of words alone."""
    token_vectors: TokenTable | None = None
    """The vectors of single tokens; None: an index without them."""
    mentions: MentionTable | None = None
    """Where names stand; None: an index without a graph."""

    def __len__(self) -> int:
        return len(self.document)

    def within(self, low: int, high: int, terms: NDArray[np.uint64]) -> AtomTable:
        """The atoms `low` to `high - 1` by themselves, with these terms alone; without names."""
        at, vectors, tokens = slice(low, high), self.vectors, self.token_vectors
        return AtomTable(
            self.document[at], self.start[at], self.end[at], self.tokens[at], self.section[at], self.flags[at],
            self.terms.between(np.unique(terms), low, high),
            vectors and QuantizedVectors(vectors.packed[at], vectors.scale[at]),
            tokens and TokenTable(tokens.first[low : high + 1], tokens.codes),
        )  # fmt: skip


class FoundChunk(NamedTuple):
    """One chunk as the index knows it."""

    number: int
    """Its number in the index; chunks of one document are numbered in order and without gaps."""
    document: int
    position: int
    """Its number in its document."""
    start: int
    end: int
    tokens: int
    section: tuple[str, ...]
    parent: tuple[int, int]
    context: str
    level: int = 0
    """0: a place in the document; above: a summary."""
    summary: str = ""
    spans: tuple[Span, ...] = ()
    """The places a summary stands for."""
    span_tokens: tuple[int, ...] = ()
    """Of each of them, counted when the index was made."""


class ChunkTable(NamedTuple):
    """All chunks of an index, by document; summaries behind the chunks of their document."""

    document: NDArray[np.int64]
    """Position among the index's documents."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int64]
    level: NDArray[np.int64] | None = None
    """0: a chunk, above it a summary; None: there are no summaries."""
    summarized: NDArray[np.int64] | None = None
    """A row each place that a summary stands for, in order: which chunk the summary is, start, end, tokens."""


class AtomBounds(NamedTuple):
    """Atoms of one document: they tile its text, and their tokens add up."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int32]


class Searchable(Protocol):
    """An open index, wherever it lives. Numbers stand for chunks and documents until a hit is handed out."""

    @property
    def settings(self) -> Settings: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """What the documents were read as: a question is read as each of them."""

    @property
    def document_count(self) -> int: ...

    @property
    def chunk_count(self) -> int: ...

    @property
    def has_summaries(self) -> bool:
        """Whether there are summaries among its chunks."""

    def snapshot(self) -> AbstractContextManager[object]:
        """Within it everything is looked up in one state, whoever writes meanwhile."""

    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        """Chunks by BM25, `depth` a question at most; chunks that share no term with it are left out."""

    def nearest(self, vectors: NDArray[np.float32], depth: int, only: Filter) -> list[Ranking]:
        """Chunks by cosine to each question's vector."""

    def allowed(self, table: RowKind, only: Filter) -> NDArray[np.bool_] | None:
        """The chunks or atoms a filter takes; None: all."""

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        """The chunks of these numbers, in this order."""

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Their vectors, one row each."""

    def chunk_range(self, document: int) -> tuple[int, int]:
        """First number of a document's chunks, and the number behind its last."""

    def chunk_table(self) -> ChunkTable: ...

    def document_numbers(self) -> list[int]:
        """The numbers of all documents, in order."""

    def ids(self) -> list[str]:
        """The ids of all documents, in the order of `document_numbers`."""

    def titles(self) -> list[str]:
        """The titles of all documents, in the order of `document_numbers`; empty where one has none."""

    def document(self, number: int) -> Document: ...

    def blocks(self, document: int) -> WholeBlocks:
        """What hits keep together of one document, found when it was indexed."""

    def atoms(self, document: int) -> AtomBounds:
        """The atoms of one document, at which a budget cuts."""

    def atom_table(self) -> AtomTable:
        """All atoms, with their terms, vectors and names."""

    def section_path(self, number: int) -> tuple[str, ...]:
        """The path behind a section number of the atom table."""

    def relations(self, number: int) -> StatedRelations:
        """What a language model read in a document; nothing where none was asked."""

    def communities(self) -> Communities:
        """What a language model says of passages that hang together; none where none was asked."""

    def stats(self) -> IndexStats: ...


class CommunityPlace(NamedTuple):
    """Neighboring passages of one document."""

    document: int
    """Its number in the index."""
    start: int
    end: int
    tokens: int


class Community(NamedTuple):
    """Passages that hang together."""

    level: int
    """1: of passages; above: of communities of the levels below."""
    summary: str
    places: tuple[CommunityPlace, ...]
    """All that is summarized, by document."""


class Communities(NamedTuple):
    """Of one index, those of the lowest level first."""

    found: tuple[Community, ...] = ()
    missing: int = 0
    """Summaries that could not be had."""

    def to_json(self) -> str:
        return json.dumps([self.missing, self.found], ensure_ascii=True)

    @classmethod
    def from_json(cls, text: str) -> Communities:
        missing, result = json.loads(text)
        rows = (
            Community(level, said, tuple(CommunityPlace(*place) for place in places))
            for level, said, places in result
        )
        return cls(tuple(rows), missing)


class ElsewhereSpans(NamedTuple):
    """Places in one other document."""

    document: int
    spans: tuple[Span, ...]
    tokens: tuple[int, ...]


class CandidateSpan(NamedTuple):
    """A span that may become a hit, by numbers without texts: most are dropped again."""

    document: int
    start: int
    end: int
    score: float
    section: tuple[str, ...] = ()
    first: int = -1
    """Number of the first chunk it is made of; -1: it is not made of chunks."""
    last: int = -1
    chunk: int | None = None
    """Position of the chunk in its document, where the span is exactly one chunk."""
    core: Span | None = None
    """The chunk that was found, where more is handed out: what must not be lost when that is too much."""
    level: int = 0
    """0: a place in the document; above: a summary, which is handed out whole or not at all."""
    summary: str = ""
    spans: tuple[Span, ...] = ()
    """The places a summary stands for."""
    span_tokens: tuple[int, ...] = ()
    matched: int | None = None
    """Position in its document of the chunk that was found, whatever is handed out for it."""
    matched_span: Span | None = None
    parent: Span | None = None
    """The larger span that is handed out for the chunk that was found."""
    elsewhere: tuple[ElsewhereSpans, ...] = ()
    """Spans of a summary in other documents."""


_SURROGATE = re.compile("[\ud800-\udfff]")


class QueryBatch:
    """What is asked, for one index: its vectors come from the model the index was built with."""

    def __init__(
        self,
        texts: Sequence[str],
        settings: Settings,
        embedder: Callable[[], Embedder] | None = None,
        token_encoder: Callable[[], TokenEncoder] | None = None,
        *,
        naming: bool = True,
    ) -> None:
        """`naming`: whether documents that a question names have a share of what is found."""
        # Half a surrogate pair has not UTF-8 form, which tokenizers and databases insist on.
        self.texts = tuple(_SURROGATE.sub("\ufffd", text) for text in texts)
        self.settings = settings
        self.naming = naming
        self._embedder = embedder or (lambda: _embedder_of(settings))
        self._token_encoder = token_encoder or (lambda: _token_encoder_of(settings))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def have_vectors(self) -> bool:
        """Whether the index has vectors to compare theirs with."""
        return self.settings.vectors != "none"

    @cached_property
    def _model(self) -> Embedder:
        return self._embedder()

    @cached_property
    def model_languages(self) -> tuple[str, ...]:
        """Those that the index's model was made for; empty: it does not say."""
        model = getattr(self._model, "embedder", self._model)  # behind a cache
        return tuple(getattr(model, "languages", ()))

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """One row a question."""
        if not self.have_vectors:
            raise no_vectors_error()
        embedder = self._model
        if self.settings.identity and not same_model(embedder.identity, self.settings.identity):
            raise wrong_model_error(
                self.settings.identity, self.settings.embedder, embedder.identity
            )
        different = list(dict.fromkeys(self.texts))
        row = {text: number for number, text in enumerate(different)}
        made = normalized(np.asarray(embedder.embed(different, "query"), np.float32))
        return made[[row[text] for text in self.texts]]

    @cached_property
    def token_vectors(self) -> list[NDArray[np.float32]]:
        """Of every question those of its tokens, a row each."""
        encoder = self._token_encoder()
        if encoder.identity != self.settings.maxsim_identity:
            raise wrong_model_error(
                self.settings.maxsim_identity, self.settings.maxsim, encoder.identity
            )
        different = list(dict.fromkeys(self.texts))
        made = dict(zip(different, encoder.query_vectors(different), strict=True))
        return [made[text] for text in self.texts]

    def some(self, positions: Sequence[int]) -> QueryBatch:
        """A part of the batch; vectors that are there already come along."""
        texts = [self.texts[at] for at in positions]
        part = QueryBatch(
            texts, self.settings, self._embedder, self._token_encoder, naming=self.naming
        )
        if "vectors" in self.__dict__:
            part.__dict__["vectors"] = self.vectors[list(positions)]
        if "token_vectors" in self.__dict__:
            part.__dict__["token_vectors"] = [self.token_vectors[at] for at in positions]
        return part


def _embedder_of(settings: Settings) -> Embedder:
    from chunkwise.models import get_embedder

    return get_embedder(settings.embedder)


def _token_encoder_of(settings: Settings) -> TokenEncoder:
    from chunkwise.models import get_token_encoder

    return get_token_encoder(settings.maxsim)

"""A document turned into what an index keeps of it: terms, atoms and vectors, then its chunks and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, repeat
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, warn_user
from chunkwise.chunkers.check_pieces import check_order
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.context_from_headings import with_headings
from chunkwise.core import Chunk, Document
from chunkwise.models.cache import ModelCache
from chunkwise.models.embed.embedder import (
    Embedder,
    TokenEmbedder,
    TokenEncoder,
    normalized,
    suits_late,
)
from chunkwise.models.embed.late_chunking import atom_sums_of_many, span_vectors
from chunkwise.models.embed.quantized_vectors import TokenCodes, token_codes_of_many
from chunkwise.models.name_finder import NameFinder, names_in_stretches, naming_document
from chunkwise.retrieval.indexed_document import (
    IndexedDocument,
    SpanRows,
    StatedRelations,
    Summaries,
)
from chunkwise.retrieval.indexing.fingerprint import document_fingerprint
from chunkwise.retrieval.indexing.relations import related_places
from chunkwise.retrieval.settings import Settings
from chunkwise.retrieval.tables_lists_code import HEADS, atom_flags, block_rows
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.sections import SectionTree
from chunkwise.text.names import Mentions
from chunkwise.text.names_by_rules import document_names, with_statements
from chunkwise.text.positions import merge_sorted
from chunkwise.text.terms import (
    TermCounts,
    Terms,
    add_counts,
    counts_in_spans,
    document_terms,
    join_counts,
    text_terms,
)
from chunkwise.text.tokens.measure import TokenMeasure
from chunkwise.text.tokens.tokenizers import get_tokenizer

OnDone = Callable[[int], None]
"""Gets the number of characters read by the model since the last call."""


class DocumentFeatures:
    """Its terms, its atoms, and what the model made of them; each is made when first asked for."""

    def __init__(
        self,
        analyzed: Analyzed,
        settings: Settings,
        sums: NDArray[np.float32] | None = None,
        segment: Chunked | None = None,
        fingerprint: str = "",
    ) -> None:
        self.analyzed = analyzed
        self._next = None if segment is None else segment.until
        self.length = (
            len(analyzed.text)
            if segment is None
            else max([segment.until, *(chunk.end for chunk in segment.chunks)])
        )
        """Of the text as far as atoms are made of it."""
        self._begins_document = segment is None or not segment.place.characters
        self._fingerprint = fingerprint
        self.tokenizer = settings.tokenizer
        self._language = settings.language
        self.sums = sums
        """Of the vectors of each atom's tokens; None: the model has not read the document."""
        self.token_codes: TokenCodes | None = None
        """The vectors themselves, of the token encoder; None: it has not read the document."""
        self.given_names: Sequence[tuple[int, int]] = ()
        """Places of names that a name finder found, beside those of rules."""
        self.relations: StatedRelations | None = None
        """What a language model read of names; None: it was not asked."""

    @property
    def fingerprint(self) -> str:
        """A segment has that of the whole, which it is given."""
        if not self._fingerprint:
            self._fingerprint = document_fingerprint(self.analyzed.document)
        return self._fingerprint

    @property
    def measure(self) -> TokenMeasure:
        """Sizes in tokens of the index."""
        return self.analyzed.measure(self.tokenizer)

    @cached_property
    def terms(self) -> Terms:
        return document_terms(self.analyzed, self._language)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where atoms begin."""
        result = self.analyzed.atoms(self.tokenizer)
        if self._next is None:
            return result
        result = merge_sorted(result, np.array([self._next], np.int64))
        return result[result < self.length]

    @property
    def own_text(self) -> Analyzed:
        """The text so far, for models that read it."""
        if self.length == len(self.analyzed.text):
            return self.analyzed
        return Analyzed(replace(self.analyzed.document, text=self.analyzed.text[: self.length]))

    @cached_property
    def atoms(self) -> SpanRows:
        """Their sections are those of `paths`."""
        starts, ends, tokens, sections = (
            self.starts,
            self._ends,
            self.atom_tokens,
            self._sections[1],
        )
        return SpanRows(starts, ends, tokens, sections, counts_in_spans(self.terms, starts, ends))

    @cached_property
    def begins_window(self) -> NDArray[np.bool_]:
        """Which atoms are the first of a window that a model reads by itself."""
        window = (np.cumsum(self.atom_tokens) - self.atom_tokens) // _WINDOW
        return np.diff(window, prepend=-1) > 0

    @property
    def windows(self) -> list[Chunk]:
        """The text in the windows that a model reads one by one."""
        bounds = np.append(self.starts[self.begins_window], self.length).tolist()
        document = self.own_text.document
        return [Chunk(document, at, *span, 0) for at, span in enumerate(pairwise(bounds))]

    @property
    def _ends(self) -> NDArray[np.int64]:
        return np.append(self.starts, self.length)[1:]  # an empty text has no atom

    @cached_property
    def blocks(self) -> NDArray[np.int64]:
        """What hits keep together."""
        return block_rows(self.analyzed)

    @cached_property
    def atom_flags(self) -> NDArray[np.uint8]:
        result = atom_flags(self.analyzed, self.blocks, self.starts, self._ends)
        paths, sections = self._sections
        # The heading a document begins with is in its own section: no atom before it is in another.
        if self._begins_document and len(result) and paths[sections[0]]:
            result[0] |= HEADS
        return result

    @cached_property
    def atom_tokens(self) -> NDArray[np.int32]:
        """Of the whole document, so that those of neighbors add up."""
        bounds = np.append(self.starts, self.length)
        return np.diff(self.measure.befores(bounds)).astype(np.int32)

    def forget_analysis(self) -> None:
        """Let go of what is found already, but for atoms: tokens and terms of a long text are not held together."""
        _ = self.atom_tokens, self.atom_flags
        self.analyzed.forget()

    @cached_property
    def mentions(self) -> Mentions:
        """Where names stand."""
        language = self.terms.language
        result = document_names(self.analyzed, self.starts, language, self.given_names)
        if self.relations is None:
            return result
        return with_statements(
            result, related_places(self.relations, self.analyzed.text, self.starts)
        )

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The section paths of the atoms, each once."""
        return self._sections[0]

    @cached_property
    def _sections(self) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int32]]:
        paths = SectionPaths()
        tree = self.analyzed.sections
        sections = tree.at(self.starts)
        number = np.zeros(len(tree), np.int32)
        for section in np.unique(sections).tolist():
            number[section] = paths.number(tree.paths[section])
        return tuple(paths.numbers), number[sections]


_WINDOW = 100
"""Tokens that a model without good token vectors reads by themselves."""


def embed_atoms(
    all_features: Sequence[DocumentFeatures], embedder: Embedder, on_done: OnDone | None = None
) -> None:
    """Gives each its sums; `on_done` gets characters read."""
    if suits_late(embedder):
        each = [(features.own_text, features.starts) for features in all_features]
        sums = iter(atom_sums_of_many(cast(TokenEmbedder, embedder), each, on_done))
    else:
        windows = [features.windows for features in all_features]
        sums = map(_spread, all_features, own_vectors(windows, embedder, on_done))
    for features, own in zip(all_features, sums, strict=True):
        features.sums = own


def _spread(features: DocumentFeatures, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Every token has the vector of its window."""
    window = np.cumsum(features.begins_window) - 1
    return normalized(vectors)[window] * features.atom_tokens[:, None].astype(np.float32)


def encode_tokens(
    all_features: Sequence[DocumentFeatures], encoder: TokenEncoder, on_done: OnDone | None = None
) -> None:
    """Gives each the vectors of its tokens; `on_done` gets characters read."""
    each = [(features.own_text, features.starts) for features in all_features]
    codeses = token_codes_of_many(encoder, each, ModelCache(), on_done)
    for features, codes in zip(all_features, codeses, strict=True):
        features.token_codes = codes


class SectionPaths:
    """Section paths in the order they are met, each once."""

    def __init__(self, known: Sequence[tuple[str, ...]] = ()) -> None:
        self.numbers = {path: number for number, path in enumerate(known)}

    def number(self, path: tuple[str, ...]) -> int:
        return self.numbers.setdefault(path, len(self.numbers))


def with_summaries(
    part: IndexedDocument,
    summaries: Sequence[Chunk],
    features: DocumentFeatures,
    own: NDArray[np.float32] | None,
) -> IndexedDocument:
    """The part of a document's chunks with its summaries behind them.

    A summary is no span of the document: its terms and its vector are always those of its own text.
    """
    before, language = len(part.chunks), features.terms.language
    tokens = get_tokenizer(features.tokenizer).count
    paths = SectionPaths(part.paths)
    spans = np.array([(chunk.start, chunk.end) for chunk in summaries], np.int64)
    added = SpanRows(
        spans[:, 0],
        spans[:, 1],
        np.array([tokens(chunk.summary) for chunk in summaries], np.int32),
        np.array([paths.number(chunk.section) for chunk in summaries], np.int32),
        join_counts([_terms(chunk.index_text, language) for chunk in summaries]),
    )
    vectors = part.chunk_vectors
    if vectors is not None:
        assert own is not None
        vectors = np.concatenate((vectors, own))
    known = Summaries.none(before)
    return replace(
        part,
        paths=tuple(paths.numbers),
        chunks=join_rows([part.chunks, added]),
        contexts=(*part.contexts, *(chunk.context for chunk in summaries)),
        parents=np.concatenate((part.parents, spans)),
        chunk_vectors=vectors,
        summaries=Summaries(
            np.append(known.level, np.array([chunk.level for chunk in summaries], np.int8)),
            (*known.texts, *(chunk.summary for chunk in summaries)),
            np.array(
                [
                    (before + at, start, end, features.measure.count(start, end))
                    for at, chunk in enumerate(summaries)
                    for start, end in chunk.spans
                ],
                np.int64,
            ),
        ),
    )


def _terms(text: str, language: str) -> TermCounts:
    return counts_in_spans(
        text_terms(text, language), np.zeros(1, np.int64), np.full(1, len(text), np.int64)
    )


def join_rows(rows: Sequence[SpanRows]) -> SpanRows:
    """The rows of several, one after the other."""
    start, end, tokens, section = (
        np.concatenate([getattr(row, name) for row in rows])
        for name in ("start", "end", "tokens", "section")
    )
    return SpanRows(start, end, tokens, section, join_counts([row.terms for row in rows]))


class BuiltDocument(NamedTuple):
    """A part, and the language its terms were found by."""

    part: IndexedDocument
    language: str


class Models(NamedTuple):
    """Those that read documents, loaded."""

    embedder: Embedder | None = None
    """Wanted where `settings.vectors` says so."""
    token_encoder: TokenEncoder | None = None
    """Wanted where `settings.maxsim` names one."""
    name_finder: NameFinder | None = None
    """Wanted where `settings.names` names one."""


def build_documents(
    documents: Sequence[Chunked],
    settings: Settings,
    models: Models,
    on_done: OnDone | None = None,
    relations: Sequence[StatedRelations] = (),
) -> list[BuiltDocument]:
    """All rows of some documents: short ones are read together, so that every core has work.

    Relations of each document are wanted where `settings.graph` says so.
    """
    all_features = [DocumentFeatures(document.analyzed, settings) for document in documents]
    if settings.graph == "relations":
        for features, own in zip(all_features, relations, strict=True):
            features.relations = own
    if settings.names:
        assert models.name_finder is not None
        for features in all_features:
            text, starts = features.analyzed.text, features.starts
            with naming_document(models.name_finder, features.analyzed.document.id):
                features.given_names = names_in_stretches(models.name_finder, text, starts)
    return _build(
        [document.chunks for document in documents], all_features, settings, models, on_done
    )


def build_segment(
    segment: Chunked,
    fingerprint: str,
    settings: Settings,
    models: Models,
    on_done: OnDone | None = None,
) -> BuiltDocument:
    """The rows of a part of a longer text, whose fingerprint is given; its atoms go as far as its chunks do."""
    features = DocumentFeatures(segment.analyzed, settings, None, segment, fingerprint)
    (built,) = _build([segment.chunks], [features], settings, models, on_done)
    return built


def _build(
    chunks: Sequence[Sequence[Chunk]],
    all_features: Sequence[DocumentFeatures],
    settings: Settings,
    models: Models,
    on_done: OnDone | None,
) -> list[BuiltDocument]:
    if settings.maxsim:
        assert models.token_encoder is not None
        encode_tokens(all_features, models.token_encoder, on_done)
        on_done = None  # It is the slowest by far: its pass over the text tells the work.
    embedder = models.embedder
    if settings.vectors in ("late", "both"):
        assert embedder is not None
        embed_atoms(all_features, embedder, on_done)
        on_done = None  # With both, the work is told by the pass over the text.
    return list(build_on_features(chunks, all_features, settings, embedder, on_done, once=True))


def build_on_features(
    documents: Sequence[Sequence[Chunk]],
    all_features: Sequence[DocumentFeatures],
    settings: Settings,
    embedder: Embedder | None,
    on_done: OnDone | None = None,
    *,
    counted: bool = False,
    once: bool = False,
) -> Iterator[BuiltDocument]:
    """The rows of each document's chunks; `counted`: they know their size in tokens of the index.

    `once`: no other rows are made of these documents, and their analysis is let go.
    """
    both = zip(documents, all_features, strict=True)
    parted = [_parted(chunks, features, settings) for chunks, features in both]
    own: Iterator[NDArray[np.float32] | None] = repeat(None, len(parted))
    late = settings.vectors == "late"
    if settings.vectors != "none":
        assert embedder is not None
        # A summary is no span of the text: it is always read by itself.
        alone = [summaries if late else [*chunks, *summaries] for chunks, summaries in parted]
        own = own_vectors(alone, embedder, on_done)
    for features, (chunks, summaries), vectors in zip(all_features, parted, own, strict=True):
        _check_vectors(settings, features, vectors)
        vectors = None if vectors is None else normalized(vectors)
        read = vectors[: len(chunks)] if vectors is not None and not late else None
        part = _part(chunks, features, settings, embedder, read, counted, once)
        if summaries:
            its = vectors[-len(summaries) :] if vectors is not None else None
            part = with_summaries(part, summaries, features, its)
        yield BuiltDocument(part, features.terms.language)


def _check_vectors(
    settings: Settings, features: DocumentFeatures, own: NDArray[np.float32] | None
) -> None:
    given = [array for array in (own, features.sums) if array is not None and array.size]
    for vectors in given:
        if not np.isfinite(vectors).all():
            raise ChunkwiseError(
                f"{settings.embedder} returns non-finite vectors; choose another model, or fix "
                f"this one"
            )
    if given and len(features.terms.start) and not any(array.any() for array in given):
        warn_user(
            f"{settings.embedder} returns zero vectors for documents with words; choose "
            f"another model, or fix this one"
        )


def _parted(
    chunks: Sequence[Chunk], features: DocumentFeatures, settings: Settings
) -> tuple[Sequence[Chunk], Sequence[Chunk]]:
    """The chunks as they are indexed, and the summaries among them."""
    summaries = [chunk for chunk in chunks if chunk.level]
    if summaries:
        check_order(chunks)
        chunks = [chunk for chunk in chunks if not chunk.level]
    if settings.context == "headings":
        chunks = with_headings(chunks, features.analyzed)
    return chunks, summaries


def _part(
    chunks: Sequence[Chunk],
    features: DocumentFeatures,
    settings: Settings,
    embedder: Embedder | None,
    vectors: NDArray[np.float32] | None,
    counted: bool,
    once: bool,
) -> IndexedDocument:
    analyzed = features.analyzed
    paths = SectionPaths(features.paths)
    spans = _spans(chunks)
    contexts = tuple(chunk.context for chunk in chunks)
    tokens = _chunk_tokens(chunks, analyzed, settings.tokenizer, counted)
    sections = _section_numbers(spans, analyzed.sections, paths)
    if once and not settings.graph:  # names are looked for in the analysis
        features.forget_analysis()
    terms = features.terms
    counts = _with_contexts(
        counts_in_spans(terms, spans[:, 0], spans[:, 1]), contexts, terms.language
    )
    chunk_rows = SpanRows(spans[:, 0], spans[:, 1], tokens, sections, counts)
    if settings.vectors == "late":
        assert embedder is not None
        assert features.sums is not None
        vectors = late_vectors(
            embedder,
            settings,
            analyzed.text[: features.length],
            features.starts,
            features.sums,
            spans,
            contexts,
        )
    parents = spans.copy()
    for at, chunk in enumerate(chunks):
        if chunk.parent is not None:
            parents[at] = chunk.parent
    return IndexedDocument(
        document=analyzed.document,
        fingerprint=features.fingerprint,
        paths=tuple(paths.numbers),
        chunks=chunk_rows,
        contexts=contexts,
        parents=parents,
        chunk_vectors=vectors,
        blocks=features.blocks,
        atoms=features.atoms,
        atom_flags=features.atom_flags,
        atom_sums=features.sums if settings.vectors in ("late", "both") else None,
        token_codes=features.token_codes if settings.maxsim else None,
        mentions=features.mentions if settings.graph else None,
        relations=features.relations,
    )


def _spans(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    return np.array([(chunk.start, chunk.end) for chunk in chunks], np.int64).reshape(-1, 2)


def _section_numbers(
    spans: NDArray[np.int64], sections: SectionTree, paths: SectionPaths
) -> NDArray[np.int32]:
    """Of each chunk's section path; chunks from one section to another share it."""
    start, end = spans.T
    first, last = sections.at(start), sections.at(np.maximum(start, end - 1))
    pairs = list(zip(first.tolist(), last.tolist(), strict=True))
    number = {pair: paths.number(sections.path(*pair)) for pair in dict.fromkeys(pairs)}
    return np.array([number[pair] for pair in pairs], np.int32)


def _chunk_tokens(
    chunks: Sequence[Chunk], analyzed: Analyzed, tokenizer: str, counted: bool
) -> NDArray[np.int32]:
    """The tokens of each chunk's own text; a strategy may have counted by another tokenizer."""
    if counted:
        return np.array([chunk.token_count for chunk in chunks], np.int32)
    start, end = _spans(chunks).T
    return analyzed.measure(tokenizer).counts(start, end).astype(np.int32)


def _with_contexts(counts: TermCounts, contexts: Sequence[str], language: str) -> TermCounts:
    if not any(contexts):
        return counts
    made: dict[str, TermCounts] = {}
    for context in contexts:
        if context not in made:
            ends = np.zeros(1, np.int64), np.full(1, len(context), np.int64)
            made[context] = counts_in_spans(text_terms(context, language), *ends)
    return add_counts(counts, join_counts([made[context] for context in contexts]))


def late_vectors(
    embedder: Embedder,
    settings: Settings,
    text: str,
    starts: NDArray[np.int64],
    sums: NDArray[np.float32],
    spans: NDArray[np.int64],
    contexts: Sequence[str],
) -> NDArray[np.float32]:
    """The mean direction of each chunk's tokens, those of its context among them."""
    length = len(text)
    spans = _with_space(text, starts, spans)
    if not any(contexts):
        return span_vectors(starts, length, sums, spans)
    different = [context for context in dict.fromkeys(contexts) if context]
    beside = dict(zip(different, _sums(embedder, settings, different), strict=True))
    total = _span_sums(starts, length, sums, spans)
    for row, context in enumerate(contexts):
        if context:
            total[row] += beside[context]
    size = np.linalg.norm(total, axis=1, keepdims=True)
    return (total / np.where(size > 0, size, 1)).astype(np.float32)


def _with_space(
    text: str, starts: NDArray[np.int64], spans: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Spans up to the edges of their atoms where only space lies between: all of the atom's tokens are inside."""
    if not len(spans):
        return spans
    first = starts[starts.searchsorted(spans[:, 0], "right") - 1]
    last = np.append(starts, len(text))[starts.searchsorted(spans[:, 1])]
    wide = zip(first.tolist(), *spans.T.tolist(), last.tolist(), strict=True)
    return np.array(
        [
            (
                low if text[low:start].isspace() else start,
                high if text[end:high].isspace() else end,
            )
            for low, start, end, high in wide
        ],
        np.int64,
    )


def _sums(
    embedder: Embedder, settings: Settings, contexts: Sequence[str]
) -> list[NDArray[np.float64]]:
    read = [
        DocumentFeatures(Analyzed(Document("context", context)), settings) for context in contexts
    ]
    embed_atoms(read, embedder)
    return [
        features.sums.sum(axis=0, dtype=np.float64)
        for features in read
        if features.sums is not None
    ]


def _span_sums(
    starts: NDArray[np.int64], length: int, sums: NDArray[np.float32], spans: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The sum of each span's tokens; an atom that a span cuts counts by the share of its characters."""
    bounds = np.append(starts, length)
    before = np.zeros((len(bounds), sums.shape[1]))
    np.cumsum(sums, axis=0, dtype=np.float64, out=before[1:])
    atom = np.minimum(starts.searchsorted(spans, "right") - 1, len(starts) - 1)
    share = (spans - bounds[atom]) / np.diff(bounds)[atom]
    low, high = (
        before[atom[:, side]] + sums[atom[:, side]] * share[:, side, None] for side in (0, 1)
    )
    return high - low


_TEXTS = 64
"""Texts embedded before the work done is told; more where the model says how many keep it busy."""


def texts_at_once(embedder: Embedder) -> int:
    """An endpoint answers several requests of many texts in the time of one that has a single text."""
    return max(_TEXTS, getattr(embedder, "slice_size", 1))


def own_vectors(
    documents: Sequence[Sequence[Chunk]], embedder: Embedder, on_done: OnDone | None = None
) -> Iterator[NDArray[np.float32]]:
    """One row a chunk, document by document; `on_done` gets characters read."""
    size = texts_at_once(embedder)
    for group in _groups(documents, size):
        texts = [chunk.index_text for chunks in group for chunk in chunks]
        new = [more for chunks in group for more in _new_characters(chunks)]
        vectors = np.zeros((len(texts), embedder.dimensions), np.float32)
        for first in range(0, len(texts), size):
            some = slice(first, first + size)
            vectors[some] = embedder.embed(texts[some])
            if on_done:
                on_done(sum(new[some]))
        yield from np.split(vectors, np.cumsum([len(chunks) for chunks in group])[:-1])


def _groups(documents: Sequence[Sequence[Chunk]], size: int) -> Iterator[list[Sequence[Chunk]]]:
    """Documents in their order, so many at a time that their chunks are at least `size`."""
    group: list[Sequence[Chunk]] = []
    texts = 0
    for chunks in documents:
        group.append(chunks)
        texts += len(chunks)
        if texts >= size:
            yield group
            group, texts = [], 0
    if group:
        yield group


def _new_characters(chunks: Sequence[Chunk]) -> Iterator[int]:
    """How far each goes beyond those before it: chunks may overlap."""
    told = 0
    for chunk in chunks:
        yield max(0, chunk.end - told)
        told = max(told, chunk.end)

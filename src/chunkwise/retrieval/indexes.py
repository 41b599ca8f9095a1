"""What users hold: an index that can be searched, brought up to date and looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import InvalidParameter, UnreadableDocument, warn_user
from chunkwise.base.object_store import address_of, local_name
from chunkwise.base.runner import Jobs
from chunkwise.base.wording import counted
from chunkwise.chunkers.chunk import StrategyLike
from chunkwise.chunkers.read_chunks import (
    ChunksSource,
    FileChunks,
    chunks_name,
    few_bad_rows,
    given_label,
    read_chunks,
    shown_label,
)
from chunkwise.chunkers.work_estimate import WorkEstimate, estimate_work
from chunkwise.core import Chunk, Document, Hit, OnProgress, Query, WrittenContext
from chunkwise.documents import Inputs, LoadOptions, Unreadables, leaving_out, read
from chunkwise.documents.inputs import each_input_or_table
from chunkwise.models.embed.embedder import Embedder, TokenEncoder
from chunkwise.models.name_finder import NameFinder
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.options import Graph, IndexOptions, SearchOptions, Vectors
from chunkwise.retrieval.engine import engine_at, index_place, open_source, shown_place
from chunkwise.retrieval.errors import reporting_damage
from chunkwise.retrieval.export import (
    ChunkVectors,
    all_vectors,
    chunked_documents,
    export_chunks,
)
from chunkwise.retrieval.filters import Filter, no_such_document
from chunkwise.retrieval.indexing.lazy_models import (
    LazyEmbedder,
    LazyNameFinder,
    LazyTokenEncoder,
    Llm,
    QuestionEmbedder,
    UncachedEmbedder,
)
from chunkwise.retrieval.indexing.resolve_settings import (
    resolve_for_rebuild,
    resolve_settings,
)
from chunkwise.retrieval.indexing.row_builder import row_builder
from chunkwise.retrieval.indexing.update import BuiltIndex, Changes, Reading
from chunkwise.retrieval.local import folder as folder_module
from chunkwise.retrieval.local import update as update_module
from chunkwise.retrieval.local.folder import verify_folder
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.local.manifest import former_settings
from chunkwise.retrieval.metadata_conditions import Where
from chunkwise.retrieval.retrievers import Retriever, get_retriever
from chunkwise.retrieval.search.search import search
from chunkwise.retrieval.searchable import Searchable
from chunkwise.retrieval.settings import (
    Context,
    IndexStats,
    Settings,
)


class Index:
    """A search index, in memory, in a folder or in a database.

    Example:
        >>> kb = chunkwise.open_index("kb")
        >>> kb.search("who approves leave?", budget=1000)
    """

    def __init__(
        self,
        source: Searchable,
        embedder: LazyEmbedder | None,
        place: Path | str | None = None,
        requested: IndexOptions | None = None,
        changes: Changes | None = None,
        token_encoder: LazyTokenEncoder | None = None,
    ) -> None:
        self.source = source
        """What retrievers work on."""
        self.place = place
        """A folder, or the address of an engine; None: memory."""
        self.changes = changes
        """What the last update did; None: the index was only opened."""
        self._embedder = embedder
        self._requested = requested or IndexOptions()
        """What an update is made with."""
        self._token_encoder = token_encoder

    @property
    def settings(self) -> Settings:
        """What the index was built with."""
        return self.source.settings

    @property
    def embedder(self) -> str | Embedder:
        """Embedder name or object; empty without vectors."""
        return self._embedder.requested if self._embedder else ""

    @overload
    def search(  # type: ignore[overload-overlap]
        self, queries: str, *, k: int | None = ..., budget: int | None = ...,
        retriever: str | Retriever | None = ..., reranker: str | Reranker | None = ..., where: Where | None = ...,
        options: SearchOptions = ...,
    ) -> list[Hit]: ...  # fmt: skip

    @overload
    def search(
        self, queries: Sequence[str | Query], *, k: int | None = ..., budget: int | None = ...,
        retriever: str | Retriever | None = ..., reranker: str | Reranker | None = ..., where: Where | None = ...,
        options: SearchOptions = ...,
    ) -> list[list[Hit]]: ...  # fmt: skip

    def search(
        self,
        queries: str | Sequence[str | Query],
        *,
        k: int | None = None,
        budget: int | None = None,
        retriever: str | Retriever | None = None,
        reranker: str | Reranker | None = None,
        where: Where | None = None,
        options: SearchOptions = SearchOptions(),
    ) -> list[Hit] | list[list[Hit]]:
        """Find the best spans for a question, or for each of several.

        Args:
            queries: One question or several.
            k: Hits per question; 5 without a budget.
            budget: Token budget per question. Hits of `multiscale` are spans of any length in reading order.
            retriever: bm25, dense, hybrid, multiscale, graph or communities, with parameters in parentheses, or your
                own; by default multiscale with a budget, else hybrid.
            reranker: Reranker of the top hits.
            where: Conditions on document metadata: `{"year": 2024, "price": {">=": 10}}`.
            options: All search options; the keywords above override them.

        Returns:
            The hits of the question, or a list of hits per question.
        """
        trust_caller(retriever, reranker, options)
        options = options.override(
            k=k, budget=budget, retriever=retriever, reranker=reranker, where=where
        )
        result = search(
            self.source,
            queries,
            options,
            embedder=self._embedder,
            token_encoder=self._token_encoder,
        )
        if options.documents and not any(result):
            ids = self.source.ids()
            only = Filter.of(options)
            if not any(map(only.takes_document, ids)):
                warn_user(no_such_document(only, ids))
        return result[0] if isinstance(queries, str) else result

    def update(
        self,
        source: Inputs,
        *,
        options: LoadOptions = LoadOptions(),
        jobs: Jobs = 1,
        advance: OnProgress | None = None,
        keep_others: bool = False,
    ) -> Changes:
        """Update the index to exactly these documents; unchanged ones are not processed again.

        Args:
            source: Files, folders, globs, archives, or `Document`s.
            options: How to read files.
            jobs: Number of processes, or a `RayCluster`.
            advance: Progress callback.
            keep_others: Keep indexed documents that are not in `source`.

        Returns:
            How many documents were added, changed, removed and skipped.
        """
        trust_caller(options)
        if given := given_label(self.settings.strategy):
            raise InvalidParameter(
                f"the index was built from existing chunks ({given[0]}), so documents alone "
                f"can't update it; rebuild it: chunkwise.index(documents, chunks=…, into=…, "
                f"rebuild=True)"
            )
        reading = Reading(source, options, jobs, advance, keep_others)
        if self.place is None:
            assert isinstance(self.source, LocalIndex)
            self.source, _, self.changes = update_module.into_memory(
                reading, self._requested, self.source
            )
        else:
            self.source, _, self.changes = _into(self.place, reading, self._requested, False)
        return self.changes

    def chunks(self) -> Iterator[Chunk]:
        """Iterate over all chunks."""
        for chunked in chunked_documents(self.source):
            yield from chunked.chunks

    def vectors(self) -> ChunkVectors:
        """Chunk ids, and a float32 matrix with one row per chunk."""
        return all_vectors(self.source)

    def export(self, output: str | os.PathLike[str], *, with_vectors: bool | None = None) -> int:
        """Write all chunks to a file.

        Args:
            output: A .parquet, .jsonl or .csv file.
            with_vectors: Include vectors [default: if the index has them].

        Returns:
            The number of chunks.
        """
        return export_chunks(self.source, Path(output), with_vectors=with_vectors)

    def stats(self) -> IndexStats:
        """Counts and sizes."""
        with reporting_damage(self.source):
            return self.source.stats()

    def verify(self) -> None:
        """Verify the checksums of an index folder; raise an error on damage."""
        if isinstance(self.place, str):
            raise InvalidParameter(
                f"{shown_place(self.place)} is not a folder; verify works only on index folders"
            )
        if self.place is not None:
            verify_folder(self.place)

    def __len__(self) -> int:
        """The number of its documents."""
        return self.source.document_count

    def __repr__(self) -> str:
        where = f"in {self.place or 'memory'}"
        if isinstance(self.place, str):
            where = f"at {shown_place(self.place)}"
        return (
            f"<Index {where}: {counted(len(self), 'document')}, "
            f"{counted(self.source.chunk_count, 'chunk')}, "
            f"{shown_label(self.settings.strategy)}, {self.settings.embedder or 'BM25 only'}>"
        )


def index(
    source: Inputs,
    strategy: StrategyLike | None = None,
    *,
    into: str | os.PathLike[str] | None = None,
    embedder: str | Embedder | None = None,
    vectors: Vectors | None = None,
    context: Context | WrittenContext | None = None,
    llm: Llm | None = None,
    graph: bool | Graph | None = None,
    chunks: ChunksSource | None = None,
    settings: IndexOptions = IndexOptions(),
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
    rebuild: bool = False,
    keep_others: bool = False,
    advance: OnProgress | None = None,
) -> Index:
    """Build or update a search index.

    New and changed documents are indexed, unchanged ones are kept, and missing ones are removed. Omitted options keep
    the stored values of an existing index.

    Args:
        source: Files, folders, globs, archives, URLs, tables or `Document`s.
        strategy: Chunking strategy: a name with parameters, or an object with `split`.
        into: A folder, or postgresql://user@host/database, lancedb:///path, qdrant://host:6333/collection,
            opensearch://host:9200/index; [default: in memory].
        embedder: Embedding model: a name or an object; "none" for BM25 only.
        vectors: "late" (late chunking), "own" (per-chunk embeddings), "both" or "none".
        context: Context indexed with each chunk: "none", "headings", or "neighbors" and "document", which `llm` writes.
        llm: Language model for contexts and relations.
        graph: Build a graph of names for the retriever `graph`; with `llm` also of relations.
        chunks: Existing chunks to index: `Chunk`s, LangChain, LlamaIndex or Haystack objects, rows with a document and
            a span or a text, or a file of such rows (.jsonl, .csv, .parquet).
        settings: All index options; the keywords above override them.
        options: How to read files.
        jobs: Number of processes, or a `RayCluster`.
        rebuild: Rebuild the index.
        keep_others: Keep documents that aren't in `source`.
        advance: Progress callback.

    Returns:
        The index; `changes` has the numbers of added, changed and removed documents.

    Raises:
        InvalidOption: An invalid value.
        InvalidParameter: A value differs from the existing index, and `rebuild` is False.

    Example:
        >>> kb = chunkwise.index("handbook/", into="kb")
        >>> hits = kb.search("who approves leave?")
    """
    trust_caller(strategy, into, embedder, llm, settings, options)
    if rebuild and keep_others:
        raise InvalidParameter("rebuild and keep_others exclude each other")
    if chunks is not None:
        source, strategy, options = _with_chunks(
            source, strategy or settings.strategy, chunks, options
        )
    requested = settings.override(
        strategy=strategy, embedder=embedder, vectors=vectors, context=context, llm=llm, graph=graph
    )
    if requested.search is not None and isinstance(requested.search.retriever, str):
        get_retriever(requested.search.retriever)  # a wrong name is an error before any work
    reading = Reading(source, options, jobs, advance, keep_others)
    place = None if into is None else index_place(into)
    built: BuiltIndex[LocalIndex] | BuiltIndex[Searchable]
    if place is None:
        built = update_module.into_memory(reading, requested)
    else:
        built = _into(place, reading, requested, rebuild)
    made = built.resolved
    return Index(
        built.source, made.model, place, made.requested_again(), built.changes, made.token_encoder
    )


def estimate_index(
    source: Inputs,
    settings: IndexOptions = IndexOptions(),
    *,
    chunks: ChunksSource | None = None,
    into: str | os.PathLike[str] | None = None,
    options: LoadOptions = LoadOptions(),
    rebuild: bool = False,
) -> WorkEstimate:
    """Estimate how long `index` takes with these settings from a timed sample; nothing is written.

    The time of servers and language models is not included.
    """
    if chunks is not None:
        # Rows that have no place are told by the index itself.
        source, strategy, options = _with_chunks(
            source, settings.strategy, chunks, replace(options, on_unreadable="ignore")
        )
        settings = replace(settings, strategy=strategy)
    before = settings_at(into, rebuild=rebuild) if into is not None else None
    resolve = resolve_for_rebuild if rebuild and before else resolve_settings
    resolved = resolve(settings, before)
    further = row_builder(resolved)
    if further is not None and further.model is not None:
        further = replace(further, model=UncachedEmbedder(further.model.requested))
    return estimate_work(source, resolved.strategy, options, further)


def _with_chunks(
    source: Inputs,
    strategy: StrategyLike | None,
    chunks: ChunksSource,
    options: LoadOptions,
) -> tuple[Inputs, FileChunks, LoadOptions]:
    """The documents, the strategy that cuts them as these chunks say, and how they are read."""
    if strategy is not None:
        raise InvalidParameter(
            f"a strategy ({strategy}) and chunks ({chunks_name(chunks)}) conflict; leave one out"
        )
    if isinstance(chunks, str | os.PathLike) and os.fspath(chunks) != "-":
        options = leaving_out(options, [Path(chunks).resolve()])  # it is no document
    inputs = list(each_input_or_table(source))
    problems: list[UnreadableDocument] = []
    documents = list(read(inputs, replace(options, on_unreadable=problems.append)))

    def on_bad(line: str) -> None:
        where, _, why = line.partition(": ")
        Unreadables(options.on_unreadable).add(UnreadableDocument(where, why))

    told = None if options.on_unreadable == "warn" else on_bad
    with few_bad_rows(chunks_name(chunks), told) as bad:
        given = read_chunks(chunks, documents, bad)
    if documents:  # that there are none is told with the reason
        given.check_usable()
    # What cannot be read is for the index to tell: documents that it has of it stay.
    again = problems and not any(isinstance(item, str) and item == "-" for item in inputs)
    return inputs if again else documents, given.strategy(parents=True), options


def open_index(
    source: str | os.PathLike[str],
    *,
    embedder: str | Embedder | None = None,
    strategy: StrategyLike | None = None,
    llm: Llm | None = None,
    maxsim: str | TokenEncoder | None = None,
    names: str | NameFinder | None = None,
) -> Index:
    """Open an existing index, in a folder or a database.

    Args:
        source: The folder, or the URL of a database.
        embedder: The embedding model, if custom.
        strategy: The strategy, if custom, for updates.
        llm: The language model, for updates.
        maxsim: The token encoder, if custom.
        names: The name finder, if custom, for updates.

    Returns:
        The index. A folder is read as of opening, a database always as of now.

    Raises:
        ChunkwiseError: The index is missing, damaged or of another version.

    Example:
        >>> hits = chunkwise.open_index("kb").search("who approves leave?")
    """
    trust_caller(embedder, strategy, llm, maxsim, names)
    where = index_place(source)
    opened = open_source(where)
    settings = opened.settings
    lazy = None
    if settings.vectors != "none":
        lazy = QuestionEmbedder(embedder or settings.embedder, settings.identity)
    encoder = None
    if settings.maxsim:
        encoder = LazyTokenEncoder(maxsim or settings.maxsim, settings.maxsim_identity)
    requested = IndexOptions(
        strategy=strategy, embedder=lazy.requested if lazy else None, llm=llm,
        maxsim=encoder.requested if encoder else None,
        names=LazyNameFinder(names or settings.names).requested if settings.names else None,
    )  # fmt: skip
    return Index(opened, lazy, where, requested, token_encoder=encoder)


def settings_at(place: str | os.PathLike[str], *, rebuild: bool = False) -> Settings | None:
    """What the index at a place was made with; None: there is none yet.

    `rebuild`: it will be made anew, so a folder that is damaged is no error.
    """
    where = index_place(place)
    if rebuild and isinstance(where, Path):
        return former_settings(where)
    return engine_at(where).settings(os.fspath(where))


def _into(
    place: Path | str, reading: Reading, requested: IndexOptions, rebuild: bool
) -> BuiltIndex[Searchable]:
    engine, wait = engine_at(place), folder_module.LOCK_WAIT
    return engine.into(os.fspath(place), reading, requested, rebuild=rebuild, wait=wait)


def is_index(place: str) -> bool:
    """Whether an index is there; the address of a server is taken for one, and refused when it is opened."""
    if address_of(place):
        return False
    place = local_name(place)
    return "://" in place or (Path(place).is_dir() and settings_at(place) is not None)


def named_index(source: Inputs | Index) -> Index | None:
    """The index itself, or the one at the place named; None: these are documents."""
    if isinstance(source, Index):
        return source
    given = [source] if isinstance(source, str | os.PathLike) else source
    # What is read only once is left alone: it cannot be an index.
    if not isinstance(given, Sequence):
        return None
    places = [os.fspath(item) for item in given if isinstance(item, str | os.PathLike)]
    indexes = [place for place in places if is_index(place)]
    if indexes and len(given) > 1:
        raise InvalidParameter(
            f"{shown_place(indexes[0])} is an index among other sources; give only the index, or "
            "only documents"
        )
    return open_index(indexes[0]) if indexes else None


def documents_in(
    source: Inputs | Index,
    options: LoadOptions = LoadOptions(),
) -> Iterator[Document]:
    """The documents of an index, or of files, folders, patterns, archives and `Document`s: see `read`."""
    index = named_index(source)
    if index is not None:
        searchable = index.source
        return (searchable.document(number) for number in searchable.document_numbers())
    assert not isinstance(source, Index)
    return read(source, options)

"""LangChain: our strategies as a text splitter, an index as a retriever, our models as embeddings and a compressor."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, Self

from chunkwise.base.errors import InvalidParameter, MissingExtra
from chunkwise.base.schema import schema
from chunkwise.base.wording import all_listed, counted, did_you_mean, thousands
from chunkwise.options import SearchOptions

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
        Callbacks,
    )
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
    from langchain_text_splitters import Language, TextSplitter
    from pydantic import ConfigDict, PrivateAttr, create_model
except ImportError as error:
    raise MissingExtra("chunkwise.langchain", "langchain") from error

import chunkwise
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY, StrategyLike, chunk_text
from chunkwise.core import Chunk, Hit
from chunkwise.documents.formats.markdown import looks_like_markdown
from chunkwise.integrations import (
    IndexSearch,
    best_texts,
    chunk_metadata,
    counted_by,
    hit_id,
    hit_metadata,
    strategy_of,
)
from chunkwise.models import DEFAULT, get_embedder, get_reranker
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.text.source_code import LANGUAGES
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER

__all__ = [
    "ChunkwiseEmbeddings",
    "ChunkwiseReranker",
    "ChunkwiseRetriever",
    "ChunkwiseTextSplitter",
    "documents_of",
]


class ChunkwiseTextSplitter(TextSplitter):
    """Any strategy as a LangChain text splitter: every chunk is an exact span, and `start_index` is where it starts.

    A list in the place of the strategy, or `separators`, means recursive, as RecursiveCharacterTextSplitter has them.
    `chunk_size` and `chunk_overlap` are counted by `length_function`, in characters without one, as LangChain counts;
    sizes inside the name of a strategy, `"sentences(max_tokens=200)"`, and its other parameters are as chunkwise has
    them.
    """

    def __init__(
        self,
        strategy: StrategyLike | list[str] | tuple[str, ...] | None = None,
        *,
        separators: Sequence[str] | str | None = None,
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
        length_function: Callable[[str], int] | None = None,
        add_start_index: bool = True,
        keep_separator: bool | str = True,
        is_separator_regex: bool = False,
        strip_whitespace: bool = True,
        format: str = "auto",
        **parameters: Any,
    ) -> None:
        if isinstance(strategy, list | tuple):
            strategy, separators = None, strategy
        if keep_separator not in (True, "start") or not strip_whitespace:
            raise InvalidParameter(
                "chunks are exact spans with separators and without surrounding whitespace; "
                "leave out keep_separator and strip_whitespace"
            )
        by_separators = separators is not None or is_separator_regex
        if strategy is None:
            strategy = "recursive" if by_separators else DEFAULT_STRATEGY
        given = {"chunk_size": chunk_size, "chunk_overlap": chunk_overlap, **parameters}
        if separators is not None:
            given["separators"] = separators if isinstance(separators, str) else tuple(separators)
        if is_separator_regex:
            given["regex"] = True
        sized = chunk_size is not None or chunk_overlap is not None or length_function is not None
        if sized and "tokenizer" not in parameters:
            given |= counted_by(strategy, length_function)
        self.strategy = strategy_of(strategy, given)
        self.format = format
        limit = self.strategy.limit
        super().__init__(
            chunk_size=limit[1] if limit else 4000,
            chunk_overlap=self.strategy.overlap_asked,
            length_function=length_function or len,
            add_start_index=add_start_index,
        )

    @classmethod
    def from_tiktoken_encoder(
        cls, encoding_name: str = DEFAULT_TOKENIZER, model_name: str | None = None, **kwargs: Any
    ) -> Self:
        """Sizes in tokens of an encoding or a model, o200k_base where none is named (LangChain takes gpt2).

        Neither tiktoken nor a network is needed. What looks like a special token is text, which it is in a document.
        """
        return cls(tokenizer=model_name or encoding_name, **kwargs)

    @classmethod
    def from_language(cls, language: Any, **kwargs: Any) -> Self:
        """Source code cut by `code`, by blank lines and indents where it has no grammar; Markdown by `structure`."""
        name = str(getattr(language, "value", language))
        known = [each.value for each in Language]
        if name not in known:
            raise InvalidParameter(
                f"language is {name!r}; {did_you_mean(name, known, f'known: {all_listed(known)}')}"
            )
        if name == "markdown":
            return cls(DEFAULT_STRATEGY, **{"format": "markdown", **kwargs})
        name = _CALLED_HERE.get(name, name)
        return cls("code", **{"language": name if name in LANGUAGES else "auto", **kwargs})

    def chunks(self, text: str) -> list[Chunk]:
        """The chunks themselves, with offsets, section and size."""
        return chunk_text(text, self.strategy, format=self.format)

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks, in order."""
        return [chunk.text for chunk in self.chunks(text)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """A document a chunk, each with a copy of its text's metadata and where it starts and ends."""
        if metadatas and len(metadatas) != len(texts):
            raise InvalidParameter(
                f"{thousands(len(metadatas))} metadatas for {counted(len(texts), 'text')}; "
                f"expected one per text, or none"
            )
        own = metadatas or [{} for _ in texts]
        return [
            Document(page_content=chunk.text, metadata=self._metadata(chunk, metadata))
            for text, metadata in zip(texts, own, strict=True)
            for chunk in self.chunks(text)
        ]

    def _metadata(self, chunk: Chunk, given: dict[Any, Any]) -> dict[Any, Any]:
        # What the user says of a document holds; only places are ours to say.
        result = {**chunk_metadata(chunk), **copy.deepcopy(given)}
        return result | _place(chunk) if self._add_start_index else result


_CALLED_HERE = {"js": "javascript", "ts": "typescript"}


def _place(found: Chunk | Hit) -> dict[str, int]:
    return {"start_index": found.start, "end_index": found.end}


def documents_of(chunks: Iterable[Chunk]) -> list[Document]:
    """Chunks as LangChain's documents, for a store of your own: `documents_of(chunkwise.chunk("handbook/"))`."""
    return [
        Document(
            page_content=chunk.text,
            id=chunk.id,
            metadata={
                "source": chunk.doc_id,
                **chunk_metadata(chunk),
                **chunk.metadata,
                **_place(chunk),
            },
        )
        for chunk in chunks
    ]


_OPTIONS = {field.name: (Any, None) for field in schema(SearchOptions)}
_SearchFields: Any = create_model("_SearchFields", __base__=BaseRetriever, **_OPTIONS)
"""A retriever with a field for every option of a search."""


class ChunkwiseRetriever(_SearchFields):
    """An index as a LangChain retriever; `invoke` takes the same settings for one question: `invoke(query, k=3)`.

    Its fields are the options of `chunkwise.options.SearchOptions`: `k`, `budget`, `retriever`, `where` …
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Any
    """The place of an index, a folder or the address of a server, or an opened `chunkwise.Index`."""

    _search: IndexSearch = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._search = IndexSearch(self.index)
        self._search.opened  # noqa: B018 - a wrong place is an error now, not with the first question

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        strategy: StrategyLike | None = None,
        *,
        into: str | None = None,
        embedder: str | Embedder | None = None,
        vectors: Any = None,
        **settings: Any,
    ) -> Self:
        """Indexes LangChain's documents, in memory or `into` a folder, and searches them; `settings` are the fields."""
        own = [_document(number, each) for number, each in enumerate(documents)]
        made = chunkwise.index(own, strategy, into=into, embedder=embedder, vectors=vectors)
        return cls(index=made, **settings)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        **changes: Any,
    ) -> list[Document]:
        # Looked up now: fields may have been assigned to, and copies by `configurable_fields` have their own.
        options = SearchOptions().override(**{name: getattr(self, name) for name in _OPTIONS})
        search = IndexSearch(self._search.opened, options)
        return [_found(hit) for hit in search.hits(query, **changes)]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,
        **changes: Any,
    ) -> list[Document]:
        documents: list[Document] = await run_in_executor(
            None, partial(self._get_relevant_documents, query, **changes)
        )
        return documents


def _document(number: int, given: Document) -> chunkwise.Document:
    """Ours; what LangChain's loaders call the source is its id, and an index tells several of one source apart."""
    name = given.id or given.metadata.get("source") or f"document {number}"
    title = given.metadata.get("title")
    return chunkwise.Document(
        str(name),
        given.page_content,
        title=title if isinstance(title, str) else "",
        source=str(given.metadata.get("source") or ""),
        format="markdown" if looks_like_markdown(given.page_content) else "text",
        metadata=dict(given.metadata),
    )


def _found(hit: Hit) -> Document:
    metadata = {**hit_metadata(hit), **_place(hit)}
    return Document(page_content=hit.text, metadata=metadata, id=hit_id(hit))


class ChunkwiseEmbeddings(Embeddings):
    """An embedder as LangChain's embeddings, by its name ("minilm", "openai:NAME", an address) or an object."""

    def __init__(self, embedder: str | Embedder = DEFAULT) -> None:
        self.embedder = embedder

    @cached_property
    def _made(self) -> Embedder:
        return get_embedder(self.embedder)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, of length 1."""
        result: list[list[float]] = self._made.embed(texts, "passage").tolist() if texts else []
        return result

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question; some models read questions in another way than passages."""
        result: list[float] = self._made.embed([text], "query")[0].tolist()
        return result


class ChunkwiseReranker(BaseDocumentCompressor):
    """A reranker as LangChain's document compressor: the `top_n` best documents, with `relevance_score`."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    reranker: Any = "local"
    """A name ("local", "maxsim", "cohere:NAME", an address), or an object with `scores`."""
    top_n: int | None = None
    """The most documents; None: all of them, in their new order."""

    _made: Reranker | None = PrivateAttr(default=None)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """The best of the documents, best first."""
        if self._made is None:
            self._made = get_reranker(self.reranker)
        scores = [_score(document) for document in documents]
        texts = [document.page_content for document in documents]
        return [
            documents[number].model_copy(
                update={"metadata": {**documents[number].metadata, "relevance_score": score}}
            )
            for number, score in best_texts(self._made, query, texts, scores)[: self.top_n]
        ]


def _score(document: Document) -> float | None:
    score = document.metadata.get("score")
    return score if isinstance(score, int | float) else None

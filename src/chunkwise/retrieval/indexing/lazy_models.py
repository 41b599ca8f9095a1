"""Models that are loaded when first needed, since many an update needs none: the embedder, and who writes contexts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, Union

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.chunkers.chunk import Chunked
from chunkwise.core import Chunk, OnProgress, WrittenContext
from chunkwise.models.embed.embedder import Embedder, TokenEncoder, same_model
from chunkwise.models.name_finder import NameFinder
from chunkwise.retrieval.errors import REBUILD, wrong_model_error
from chunkwise.retrieval.settings import Settings

if TYPE_CHECKING:
    from chunkwise.chunkers.context_writer import ContextWriter
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.models.llm.language_model import LanguageModel
    from chunkwise.retrieval.indexed_document import StatedRelations
    from chunkwise.retrieval.indexing.relations import RelationReader


_Model = TypeVar("_Model", Embedder, NameFinder, TokenEncoder)


class LazyModel(ABC, Generic[_Model]):
    """A model by its name, or one that is there; `expected` is the identity an index was made with."""

    kind: ClassVar[str]
    """What an error calls it."""
    parameter: ClassVar[str]
    """What takes one of your own."""

    def __init__(self, model: str | _Model, expected: str = "") -> None:
        self.requested: str | _Model = model
        self._expected = expected

    @property
    def name(self) -> str:
        """What finds it again; one that was handed over as an object goes by its identity."""
        return self.requested if isinstance(self.requested, str) else self.requested.identity

    def __call__(self) -> _Model:
        """The model itself."""
        return self._checked

    @cached_property
    def _checked(self) -> _Model:
        try:
            made = self._make()
        except UnknownName as error:
            # One that was handed over is kept by its identity, which makes no model.
            if self.requested != self._expected:
                raise
            raise InvalidParameter(
                f"the index was built with the {self.kind} {self.name!r}, which can't be "
                f"recreated from its name ({error}); pass {self.parameter}=… to index or "
                "open_index"
            ) from error
        if self._expected and not self._is_expected(made.identity):
            raise wrong_model_error(self._expected, self.name, made.identity)
        return made

    def _is_expected(self, identity: str) -> bool:
        return identity == self._expected

    @abstractmethod
    def _make(self) -> _Model: ...


def loaded(model: LazyModel[_Model] | None) -> _Model | None:
    """The model itself, where there is one."""
    return None if model is None else model()


class LazyEmbedder(LazyModel[Embedder]):
    """What gives a vector a text."""

    kind = "embedder"
    parameter = "embedder"

    def __init__(self, model: str | Embedder, expected: str = "") -> None:
        if not isinstance(model, str):
            from chunkwise.models import embedders

            embedders.checked(model)  # somebody's own object, before anything is asked of it
        super().__init__(model, expected)

    @property
    def embedder(self) -> Embedder:
        """The model itself."""
        return self()

    def _make(self) -> Embedder:
        from chunkwise.models import get_embedder

        return get_embedder(self.requested)


class QuestionEmbedder(LazyEmbedder):
    """Reads questions, on the processor, too, where an accelerator made the index: its vectors are near enough."""

    def _is_expected(self, identity: str) -> bool:
        return same_model(identity, self._expected)


class UncachedEmbedder(LazyEmbedder):
    """Embeds every text, so that it can be timed."""

    def _make(self) -> Embedder:
        from chunkwise.models import get_embedder

        return get_embedder(self.requested, cache=False)


class LazyTokenEncoder(LazyModel[TokenEncoder]):
    """What gives a vector a token."""

    kind = "token encoder"
    parameter = "maxsim"

    def _make(self) -> TokenEncoder:
        from chunkwise.models import get_token_encoder

        return get_token_encoder(self.requested)


class LazyNameFinder(LazyModel[NameFinder]):
    """What finds names beside the rules."""

    kind = "name finder"
    parameter = "names"

    def __init__(self, finder: str | NameFinder, expected: str = "") -> None:
        if not isinstance(finder, str):
            from chunkwise.models import name_finders

            name_finders.checked(finder)  # somebody's own object, before anything is asked of it
        super().__init__(finder, expected)

    def _make(self) -> NameFinder:
        from chunkwise.models import get_name_finder

        return get_name_finder(self.requested)


class NamedClient:
    """A client that is made when first needed, and the name that makes its model again in a later run."""

    def __init__(self, name: str, make: Callable[[], LlmClient]) -> None:
        self.name = name
        self.made: LlmClient | None = None
        """None: nobody needed it."""
        self._make = make

    def client(self) -> LlmClient:
        if self.made is None:
            self.made = self._make()
        return self.made


Llm = Union[str, NamedClient, "LlmClient", "LanguageModel"]
"""A language model by its name, by itself, or with a client that limits what it may cost."""


def _has_plain(chunked: Chunked, written: Sequence[Chunk]) -> bool:
    """Whether a chunk got its headings: what a model writes stands above them."""
    from chunkwise.chunkers.context_from_headings import with_headings

    cut = [chunk for chunk in chunked.chunks if not chunk.level]
    plain = with_headings(cut, chunked.analyzed)
    places = [chunk for chunk in written if not chunk.level]
    return any(one.context == other.context for one, other in zip(plain, places, strict=True))


class LazyLlm:
    """A language model by its name, by itself or with its client; `expected` is what an index was made with."""

    def __init__(self, llm: Llm, expected: Settings | None = None) -> None:
        self.requested = llm
        self.expected = expected

    @property
    def name(self) -> str:
        """What finds the model again; one that was handed over as an object goes by its identity."""
        if isinstance(self.requested, str):
            return self.requested
        return (
            self.requested.name
            if isinstance(self.requested, NamedClient)
            else self.requested.identity
        )

    @cached_property
    def client(self) -> LlmClient:
        """What asks the model; an error where it is not the one the index was built with.

        A model that is gone does not stop an update: what it does not answer is reported as missing. Where an index
        is made for the first time, that is an error: there is nothing yet that could grow old meanwhile.
        """
        from chunkwise.models.llm.client import DegradingClient

        client = self._client()
        expected = self.expected
        if expected is None:
            return client
        if client.identity != expected.llm_identity:
            raise InvalidParameter(
                f"the index was built with llm={expected.llm!r} ({expected.llm_identity}), but "
                f"llm is {self.name!r} ({client.identity}); leave it out, or {REBUILD}"
            )
        return DegradingClient(client)

    def check(self) -> None:
        """Raises where the model is not the one the index was built with."""
        _ = self.client

    def _client(self) -> LlmClient:
        from chunkwise.models import get_language_model
        from chunkwise.models.llm.client import LlmClient

        requested = self.requested
        if isinstance(requested, LlmClient):
            return requested
        try:
            if isinstance(requested, NamedClient):
                return requested.client()
            return LlmClient(get_language_model(requested))
        except UnknownName as error:
            if self.expected is None or self.name != self.expected.llm:
                raise
            raise InvalidParameter(
                f"the index was built with the language model {self.name!r}, which can't be "
                f"recreated from its name ({error}); pass llm=… to index or open_index (chunkwise "
                "index --llm NAME)"
            ) from error


class LazyContexts:
    """Contexts of one way."""

    def __init__(self, llm: LazyLlm, way: WrittenContext) -> None:
        self._llm = llm
        self._way = way

    @cached_property
    def writer(self) -> ContextWriter:
        """What asks the model."""
        from chunkwise.chunkers.context_writer import ContextWriter

        return ContextWriter(self._llm.client, self._way)

    def write(self, documents: Sequence[Chunked], advance: OnProgress | None = None) -> list[bool]:
        """Gives the chunks of each document their contexts; whether all of a document's have one of the model."""
        before = self.missing
        written = self.writer.write(documents, advance)
        is_whole = [
            self.missing == before or not _has_plain(chunked, chunks)
            for chunked, chunks in zip(documents, written, strict=True)
        ]
        for chunked, chunks in zip(documents, written, strict=True):
            chunked.chunks = chunks
        return is_whole

    @property
    def missing(self) -> int:
        """Chunks that have the headings context instead of one of the model, so far."""
        return self.writer.tally.without if "writer" in self.__dict__ else 0

    def notes(self) -> tuple[str, ...]:
        """What a user should know of contexts that could not be had."""
        if not self.missing:
            return ()
        return (f"{self.writer.tally.in_words()}; the next update retries them",)


class LazyRelations:
    """What a language model reads of names."""

    def __init__(self, llm: LazyLlm, tokenizer: str) -> None:
        self._llm = llm
        self._tokenizer = tokenizer

    @cached_property
    def reader(self) -> RelationReader:
        """What asks the model."""
        from chunkwise.retrieval.indexing.relations import RelationReader

        return RelationReader(self._llm.client, self._tokenizer)

    def read(
        self, documents: Sequence[Chunked], advance: OnProgress | None = None
    ) -> list[tuple[StatedRelations, bool]]:
        """Of each document, and whether all of it was read."""
        return self.reader.read([document.analyzed for document in documents], advance)

    def notes(self) -> tuple[str, ...]:
        """What a user should know of relations that were left out, or could not be had."""
        return self.reader.tally.notes() if "reader" in self.__dict__ else ()

"""The rows of documents made by workers, where documents are cut: with models that each of them loads once."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from chunkwise.base.errors import UnreadableDocument
from chunkwise.chunkers.chunk import Chunked, Outcome
from chunkwise.models.embed.embedder import accelerator_of
from chunkwise.retrieval.indexing.build import BuiltDocument, Models, build_documents
from chunkwise.retrieval.indexing.lazy_models import (
    LazyEmbedder,
    LazyNameFinder,
    LazyTokenEncoder,
    loaded,
)
from chunkwise.retrieval.indexing.long_documents import DocumentOfRows, LongDocument
from chunkwise.retrieval.indexing.resolve_settings import ResolvedSettings
from chunkwise.retrieval.settings import Settings
from chunkwise.text.names_by_rules import own_file_key


class BuiltChunked(Chunked):
    """A document whose rows were made where it was cut; its chunks are these rows."""

    def __init__(self, built: BuiltDocument) -> None:
        super().__init__(built.part.document, [])
        self.built = built

    def __reduce__(self) -> tuple[object, ...]:
        return BuiltChunked, (self.built,)

    def under_id(self, id: str) -> Chunked:
        document = replace(self.document, id=id)
        if self.built.part.mentions is not None and own_file_key(id) != own_file_key(
            self.document.id
        ):
            # Names were found for another file: the rows are made again, by who has the index.
            return Chunked(document, [])
        part = replace(self.built.part, document=document)
        return BuiltChunked(self.built._replace(part=part))


@dataclass(frozen=True)
class RowBuilder:
    """Makes the rows of documents wherever it is sent, with models that it loads there, once."""

    settings: Settings
    model: LazyEmbedder | None
    token_encoder: LazyTokenEncoder | None
    name_finder: LazyNameFinder | None = None

    @property
    def stage(self) -> str:
        return "count words" if self.model is None else "embed"

    @property
    def accelerated(self) -> bool:
        """Where the process that asks has its vectors from one: those of an index are of one kind."""
        return bool(accelerator_of(self.settings.identity))

    def __call__(self, outcomes: Iterable[Outcome]) -> Iterator[object]:
        """Documents with their rows; a long one without its text, then its rows, then None."""
        for is_long, some in groupby(outcomes, lambda outcome: isinstance(outcome, LongDocument)):
            if not is_long:
                yield from self._built(list(some))
                continue
            for document in some:
                assert isinstance(document, LongDocument)
                yield from self._rows_of_long(document)

    def _models(self) -> Models:
        return Models(loaded(self.model), loaded(self.token_encoder), loaded(self.name_finder))

    def _built(self, outcomes: list[Outcome]) -> Iterator[Outcome]:
        # Without chunks it may be one that the index has: who has the index will know.
        new = [outcome for outcome in outcomes if isinstance(outcome, Chunked) and outcome.chunks]
        built: Iterator[BuiltDocument] = iter(())
        if new:
            built = iter(build_documents(new, self.settings, self._models()))
        for outcome in outcomes:
            if isinstance(outcome, Chunked) and outcome.chunks:
                yield BuiltChunked(next(built))
            else:
                yield outcome

    def _rows_of_long(self, document: LongDocument) -> Iterator[object]:
        if document.is_known:
            yield document
            return
        yield DocumentOfRows(document.document, document.fingerprint, document.length)
        try:
            yield from document.segments(self.settings, self._models())
        except UnreadableDocument as problem:
            yield problem
        yield None


def row_builder(resolved: ResolvedSettings) -> RowBuilder | None:
    """What makes rows on other machines; None: what asks a server, or cannot travel, is asked from here."""
    if resolved.contexts or resolved.relations:
        return None
    settings, model, encoder = resolved.settings, resolved.model, resolved.token_encoder
    finder = resolved.name_finder
    if model and getattr(model.embedder, "slice_size", 1) > 1:
        return None
    made = RowBuilder(
        settings,
        LazyEmbedder(model.requested, settings.identity) if model else None,
        LazyTokenEncoder(encoder.requested, settings.maxsim_identity) if encoder else None,
        LazyNameFinder(finder.requested, settings.names_identity) if finder else None,
    )
    try:
        pickle.dumps(made)
    except Exception:  # an object of one's own may raise anything
        return None
    return made

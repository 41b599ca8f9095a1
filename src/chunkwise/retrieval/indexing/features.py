"""What every chunking of a document is built on, found once: its terms, its atoms, the sums of their vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.cache import ModelCache
from chunkwise.models.embed.embedder import TokenEmbedder, TokenEncoder
from chunkwise.models.embed.late import atom_sums_of_many
from chunkwise.models.embed.token_codes import TokenCodes, token_codes_of_many
from chunkwise.retrieval.indexed_document import SpanRows, StatedRelations
from chunkwise.retrieval.indexing.fingerprint import document_fingerprint
from chunkwise.retrieval.indexing.relations import related_places
from chunkwise.retrieval.settings import Settings
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.names import Mentions, document_names, with_statements
from chunkwise.text.terms import Terms, counts_in_spans, document_terms
from chunkwise.text.tokens.measure import TokenMeasure

OnDone = Callable[[int], None]
"""Gets the number of characters read by the model since the last call."""


class DocumentFeatures:
    """Its terms, its atoms, and what the model made of them; each is made when first asked for."""

    def __init__(
        self, analyzed: Analyzed, settings: Settings, sums: NDArray[np.float32] | None = None
    ) -> None:
        self.analyzed = analyzed
        self.tokenizer = settings.tokenizer
        self._language = settings.language
        self.sums = sums
        """Of the vectors of each atom's tokens; None: the model has not read the document."""
        self.token_codes: TokenCodes | None = None
        """The vectors themselves, of the token encoder; None: it has not read the document."""
        self.relations: StatedRelations | None = None
        """What a language model read of names; None: it was not asked."""

    @cached_property
    def fingerprint(self) -> str:
        return document_fingerprint(self.analyzed.document)

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
        return self.analyzed.atoms(self.tokenizer)

    @cached_property
    def atoms(self) -> SpanRows:
        """Their sections are those of `paths`."""
        starts, sections = self.starts, self._sections[1]
        bounds = np.append(starts, len(self.analyzed.text))
        # Tokens of the whole document, so that those of neighbours add up.
        tokens = np.diff(self.measure.befores(bounds)).astype(np.int32)
        return SpanRows(
            starts, bounds[1:], tokens, sections, counts_in_spans(self.terms, starts, bounds[1:])
        )

    @cached_property
    def mentions(self) -> Mentions:
        """Where names stand."""
        found = document_names(self.analyzed, self.starts, self.terms.language)
        if self.relations is None:
            return found
        return with_statements(
            found, related_places(self.relations, self.analyzed.text, self.starts)
        )

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The section paths of the atoms, each once."""
        return self._sections[0]

    @cached_property
    def _sections(self) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int32]]:
        paths = SectionPaths()
        found = self.analyzed.sections
        sections = found.at(self.starts)
        number = np.zeros(len(found), np.int32)
        for section in np.unique(sections).tolist():
            number[section] = paths.number(found.paths[section])
        return tuple(paths.numbers), number[sections]


def embed_atoms(
    all_features: Sequence[DocumentFeatures], embedder: TokenEmbedder, on_done: OnDone | None = None
) -> None:
    """Gives each its sums; `on_done` gets characters read."""
    each = [(features.analyzed, features.starts) for features in all_features]
    for features, sums in zip(
        all_features, atom_sums_of_many(embedder, each, on_done), strict=True
    ):
        features.sums = sums


def encode_tokens(
    all_features: Sequence[DocumentFeatures], encoder: TokenEncoder, on_done: OnDone | None = None
) -> None:
    """Gives each the vectors of its tokens; `on_done` gets characters read."""
    each = [(features.analyzed, features.starts) for features in all_features]
    found = token_codes_of_many(encoder, each, ModelCache(), on_done)
    for features, codes in zip(all_features, found, strict=True):
        features.token_codes = codes


class SectionPaths:
    """Section paths in the order they are met, each once."""

    def __init__(self, known: Sequence[tuple[str, ...]] = ()) -> None:
        self.numbers = {path: number for number, path in enumerate(known)}

    def number(self, path: tuple[str, ...]) -> int:
        return self.numbers.setdefault(path, len(self.numbers))

"""Summaries of chunks, and summaries of those: questions about a whole find one, questions about a detail a chunk."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import MissingExtra
from chunkwise.base.parameters import param
from chunkwise.chunkers.embedding_chunker import check_model, named_embedder
from chunkwise.chunkers.packing.sized import LARGEST, SizedChunker
from chunkwise.chunkers.pieces import merged_spans
from chunkwise.chunkers.raptor.clustering import cluster_count, clusters
from chunkwise.chunkers.raptor.summaries import summaries, summary_requests
from chunkwise.chunkers.sentences import SentenceChunker
from chunkwise.core import Piece, Span
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient, prompt_tokens
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import LanguageModel
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokens.tokenizers import get_tokenizer


def levels_above(
    client: LlmClient, below: int, levels: int, *, branching: int, summary_tokens: int
) -> LlmEstimate:
    """For so many `levels` over `below` summaries of one document; the clusters of a level are asked about together."""
    empty, one = (summary_requests([texts], summary_tokens)[0] for texts in ([], [""]))
    wording = prompt_tokens(empty)
    passage = prompt_tokens(one) - wording + summary_tokens
    found = LlmEstimate()
    for _ in range(levels):
        calls = cluster_count(below, branching)
        prompt = calls * wording + below * passage
        if calls:
            found += client.estimate_of(calls, prompt, calls * empty.max_tokens, calls)
        below = calls
    return found


@dataclass(frozen=True, kw_only=True)
class RaptorChunker(SizedChunker):
    """Chunks, and above them summaries of those that belong together, level on level; all of them are searched.

    Use it for long documents that are asked about as a whole: reports, manuals, books. Needs a language model.
    """

    max_tokens: int = param(
        200, "no chunk is larger", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )
    levels: int = param(3, "of summaries at most; fewer where one summary is left", low=1, high=20)
    branching: int = param(5, "chunks that are summarised together", low=2, high=100)
    summary_tokens: int = param(100, "no summary is larger", unit="tokens", low=1, high=LARGEST)
    llm: str | LanguageModel | LlmClient = param(
        "local", "what writes the summaries: local, openai:NAME, https://HOST/v1#NAME, a GGUF file, or a model"
    )  # fmt: skip
    model: str | Embedder = param(
        "minilm", "by which chunks belong together: minilm, another model by name, or an embedder"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_model("model", self.model, "embed", "minilm")
        check_model("llm", self.llm, "complete", "local", or_has="ask_all")

    def using(self, client: LlmClient) -> RaptorChunker:
        """The same strategy under the same label, asking by way of this client: its limit of cost holds."""
        made = replace(self)
        made.__dict__["client"] = client
        return made

    @cached_property
    def client(self) -> LlmClient:
        """Made when first asked for; what it is told is kept, so a run that was stopped goes on where it was."""
        if isinstance(self.llm, str):
            return _named_client(self.llm)
        return self.llm if isinstance(self.llm, LlmClient) else LlmClient(self.llm)

    @cached_property
    def missing(self) -> Counter[str]:
        """Why summaries could not be made, so far: an index tells at the end what it is without."""
        return Counter()

    def split(self, document: Analyzed) -> Sequence[Piece]:
        pieces = list(self.without_summaries().split(document))
        texts = [document.text[piece.start : piece.end] for piece in pieces]
        below, missing = pieces, list[str]()
        for level in range(1, self.levels + 1):
            groups, asked = self._groups(texts)
            if not groups:
                break
            replies = summaries(self.client, asked, self.summary_tokens, self.tokenizer)
            missing += [reply.reason for reply in replies if not reply.is_answered]
            below = [
                self._summary(reply.value, [below[at] for at in rows], level)
                for rows, reply in zip(groups, replies, strict=True)
                if reply.is_answered
            ]
            texts = [piece.summary for piece in below]
            pieces = [*pieces, *below]
        if missing:
            self.missing.update(missing)
            many = "1 summary" if len(missing) == 1 else f"{len(missing):,} summaries"
            warnings.warn(
                f"{many} of {document.document.id} could not be made: {missing[0]}", stacklevel=2
            )
        return pieces

    def estimate(self, document: Analyzed) -> LlmEstimate:
        """What the summaries of a document would take; nothing is sent.

        Where all of a level are kept, the next is known as well; above one that is not, clusters are counted.
        """
        pieces = self.without_summaries().split(document)
        texts = [document.text[piece.start : piece.end] for piece in pieces]
        found = LlmEstimate()
        for level in range(1, self.levels + 1):
            groups, asked = self._groups(texts)
            if not groups:
                break
            told = self.client.estimate(summary_requests(asked, self.summary_tokens), len(groups))
            found += told
            if told.calls:
                return found + levels_above(
                    self.client, len(groups), self.levels - level, branching=self.branching,
                    summary_tokens=self.summary_tokens,
                )  # fmt: skip
            replies = summaries(self.client, asked, self.summary_tokens, self.tokenizer)
            texts = [reply.value for reply in replies if reply.is_answered]
        return found

    def without_summaries(self) -> SentenceChunker:
        """What cuts the same chunks, and asks nobody."""
        unit, amount = self._overlap()
        sizes = {each.name: getattr(self, each.name) for each in fields(SizedChunker)}
        return SentenceChunker(**{**sizes, unit: amount})

    def _groups(self, texts: Sequence[str]) -> tuple[list[NDArray[np.int64]], list[list[str]]]:
        """Which of the texts belong together, by number and in words."""
        groups = clusters(self._vectors(texts), self.branching) if len(texts) > 1 else []
        return groups, [[texts[at] for at in rows] for rows in groups]

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            made = named_embedder(self.model) if isinstance(self.model, str) else self.model
            return made.embed([text.strip() for text in texts])
        except MissingExtra as error:
            raise MissingExtra("the strategy raptor", error.args[1]) from error

    def _summary(self, text: str, members: Sequence[Piece], level: int) -> Piece:
        spans = merged_spans(
            span
            for piece in members
            for span in piece.summarised or (Span(piece.start, piece.end),)
        )
        size = get_tokenizer(self.tokenizer).count(text)
        return Piece(
            spans[0].start, spans[-1].end, "", size, summary=text, summarised=spans, level=level
        )


@cache
def _named_client(name: str) -> LlmClient:
    """The model of this name, loaded once a process."""
    from chunkwise.models import get_language_model

    return LlmClient(get_language_model(name))

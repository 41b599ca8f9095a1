"""RAPTOR: chunks that belong together are summarized by a language model, level on level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra, warn_user
from chunkwise.base.parameters import param
from chunkwise.base.wording import counted
from chunkwise.chunkers.check_pieces import merged_spans
from chunkwise.chunkers.packing.cuts import prose_levels
from chunkwise.chunkers.packing.packer import Packer
from chunkwise.chunkers.packing.sized_chunker import LARGEST, SizedChunker
from chunkwise.chunkers.semantic import check_model, named_embedder
from chunkwise.chunkers.sentences import SentenceChunker
from chunkwise.core import Document, Piece, Span
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient, check_window, cleaned_answer, prompt_tokens
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import LanguageModel, Reply, Request
from chunkwise.models.llm.prompt import fenced, load_prompt
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import TokenizerLike, get_tokenizer

_NEARBY = 0.2
"""How far apart the first and the last chunk are by their place alone: of equal meanings neighbors go together."""
_STEPS = 12
"""Of the power iteration: the direction need not be exact, only the same every time."""
_ROUNDS = 8
_SEED = 1
_DIGITS = 5
"""Beyond these, chunks are equally far along a direction and stay in their order."""


def clusters(vectors: NDArray[np.float32], size: int) -> list[NDArray[np.int64]]:
    """Every row in exactly one cluster; two rows or more in each, `size` at most (three where that is two).

    Clusters come in the order of their first rows; fewer than two rows make none.
    """
    count = len(vectors)
    if not (parts := cluster_count(count, size)):
        return []
    place = np.linspace(0.0, _NEARBY, count)
    points = np.column_stack((vectors.astype(np.float64), place))
    result: list[NDArray[np.int64]] = []
    waiting = [(np.arange(count), parts)]
    while waiting:
        rows, parts = waiting.pop()
        if parts == 1:
            result.append(rows)
            continue
        left = parts // 2
        cut = len(rows) * left // parts
        is_left = _halved(points[rows], cut)
        waiting += [(rows[is_left], left), (rows[~is_left], parts - left)]
    return sorted(result, key=lambda rows: int(rows[0]))


def cluster_count(count: int, size: int) -> int:
    """How many clusters so many rows make."""
    return 0 if count < 2 else max(1, min(-(-count // size), count // 2))


def _halved(points: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Which points are on the first side, so many; then each goes to the side whose middle it is nearer to."""
    centered = points - points.mean(axis=0)
    is_left = _first(centered @ _direction(centered), count)
    for _ in range(_ROUNDS):
        across = centered[~is_left].mean(axis=0) - centered[is_left].mean(axis=0)
        before, is_left = is_left, _first(centered @ across, count)
        if (before == is_left).all():
            break
    return is_left


def _first(far: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    result = np.zeros(len(far), np.bool_)
    result[np.argsort(far.round(_DIGITS), kind="stable")[:count]] = True
    return result


def _direction(centered: NDArray[np.float64]) -> NDArray[np.float64]:
    """That in which the points differ most, going with their order."""
    # Not one of the points: where several subjects differ equally, it would part that one alone from the others.
    direction = np.random.default_rng(_SEED).normal(size=centered.shape[1:])
    for _ in range(_STEPS):
        direction = centered.T @ (centered @ direction)
        direction = direction / (np.linalg.norm(direction) or 1.0)
    return -direction if direction[-1] < 0 else direction


_WORDS = 0.6
"""Words to ask for, a token allowed: a text has fewer, and what a model writes beyond the limit is cut off."""
_ROOM = 1.25
"""Tokens a model may write, of those allowed: every model counts by a tokenizer of its own."""
_ENDS = tuple(".!?…。！？।؟:;)\"'”’»]}|`*")
"""How a text ends that was not broken off."""


def summary_requests(groups: Sequence[Sequence[str]], limit: int) -> list[Request]:
    """What is asked for each group of texts."""
    prompt = load_prompt("summary")
    words = str(max(5, round(limit * _WORDS)))
    requests = []
    for texts in groups:
        passages = "\n\n".join(fenced(text, number=at) for at, text in enumerate(texts, 1))
        system, user = prompt.filled(passages=passages, words=words)
        most = max(16, round(limit * _ROOM))
        requests.append(Request(system, user, max_tokens=most, version=prompt.version))
    return requests


def summaries(
    client: LlmClient, groups: Sequence[Sequence[str]], limit: int, tokenizer: TokenizerLike
) -> list[Reply]:
    """Of each group its summary of at most `limit` tokens, or the reason why there is none."""
    for request in summary_requests(groups, limit):
        if too_large := _too_large(client, request):
            raise InvalidParameter(f"{too_large} (smaller max_tokens or branching)")
    return summaries_where_they_fit(client, groups, limit, tokenizer)


def summaries_where_they_fit(
    client: LlmClient, groups: Sequence[Sequence[str]], limit: int, tokenizer: TokenizerLike
) -> list[Reply]:
    """The same; a group that the model cannot hold is one more reason."""
    requests = summary_requests(groups, limit)
    replies = [Reply(reason=_too_large(client, request)) for request in requests]
    asked = [at for at, reply in enumerate(replies) if not reply.reason]
    for at, reply in zip(asked, client.ask_all([requests[at] for at in asked]), strict=True):
        replies[at] = _shortened(reply, limit, tokenizer)
    return replies


def _too_large(client: LlmClient, request: Request) -> str:
    """Why it cannot be sent; empty: it can."""
    try:
        check_window(client.model, request)
    except ChunkwiseError as error:
        return f"too much text to summarize at once: {error}"
    return ""


def _shortened(reply: Reply, limit: int, tokenizer: TokenizerLike) -> Reply:
    if not reply.is_answered:
        return reply
    said = cleaned_answer(str(reply.value))
    text = first_sentences(said, limit, tokenizer) if any(map(str.isalnum, said)) else ""
    return Reply(text) if text else Reply(reason="the model returned nothing")


def first_sentences(text: str, limit: int, tokenizer: TokenizerLike) -> str:
    """As much as the limit allows, up to the end of a sentence where one is within reach."""
    if not text:
        return ""
    analyzed = Analyzed(Document("summary", text))
    measure = analyzed.measure(tokenizer)
    piece = Packer(analyzed, measure, limit, prose_levels).pack(0, len(text))[0]
    if piece.end < len(text) or text.endswith(_ENDS):
        return text[piece.start : piece.end].strip()
    last = int(analyzed.sentences[-1])  # the model was broken off inside of it
    return text[:last].strip() or text


def levels_above(
    client: LlmClient, below: int, levels: int, *, branching: int, summary_tokens: int
) -> LlmEstimate:
    """For so many `levels` over `below` summaries of one document; the clusters of a level are asked about together."""
    empty, one = (summary_requests([texts], summary_tokens)[0] for texts in ([], [""]))
    wording = prompt_tokens(empty)
    passage = prompt_tokens(one) - wording + summary_tokens
    estimate = LlmEstimate()
    for _ in range(levels):
        calls = cluster_count(below, branching)
        prompt = calls * wording + below * passage
        if calls:
            estimate += client.estimate_of(calls, prompt, calls * empty.max_tokens, calls)
        below = calls
    return estimate


@dataclass(frozen=True, kw_only=True)
class RaptorChunker(SizedChunker):
    """Chunks, and above them summaries of those that belong together, level on level; all of them are searched.

    Use it for long documents that are asked about as a whole: reports, manuals, books. Needs a language model.
    """

    max_tokens: int = param(
        200, "maximum chunk size", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )
    levels: int = param(3, "maximum summary levels; fewer if one summary remains", low=1, high=20)
    branching: int = param(5, "chunks per summary", low=2, high=100)
    summary_tokens: int = param(100, "maximum summary size", unit="tokens", low=1, high=LARGEST)
    llm: str | LanguageModel | LlmClient = param(
        "local", "language model: local, openai:NAME, https://HOST/v1#NAME, a GGUF file, or an object"
    )  # fmt: skip
    model: str | Embedder = param(
        "minilm", "embedding model for clustering: minilm, another model name, or an embedder"
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
            many = counted(len(missing), "summary")
            warn_user(f"{many} of {document.document.id} failed: {missing[0]}")
        return pieces

    def estimate(self, document: Analyzed) -> LlmEstimate:
        """What the summaries of a document would take; nothing is sent.

        Where all of a level are kept, the next is known as well; above one that is not, clusters are counted.
        """
        pieces = self.without_summaries().split(document)
        texts = [document.text[piece.start : piece.end] for piece in pieces]
        llm_estimate = LlmEstimate()
        for level in range(1, self.levels + 1):
            groups, asked = self._groups(texts)
            if not groups:
                break
            told = self.client.estimate(summary_requests(asked, self.summary_tokens), len(groups))
            llm_estimate += told
            if told.calls:
                return llm_estimate + levels_above(
                    self.client, len(groups), self.levels - level, branching=self.branching,
                    summary_tokens=self.summary_tokens,
                )  # fmt: skip
            replies = summaries(self.client, asked, self.summary_tokens, self.tokenizer)
            texts = [reply.value for reply in replies if reply.is_answered]
        return llm_estimate

    def without_summaries(self) -> SentenceChunker:
        """What cuts the same chunks, and asks nobody."""
        unit, amount = self.repeated
        sizes = {field.name: getattr(self, field.name) for field in fields(SizedChunker)}
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
            for span in piece.summarized or (Span(piece.start, piece.end),)
        )
        size = get_tokenizer(self.tokenizer).count(text)
        return Piece(
            spans[0].start, spans[-1].end, "", size, summary=text, summarized=spans, level=level
        )


@cache
def _named_client(name: str) -> LlmClient:
    """The model of this name, loaded once a process."""
    from chunkwise.models import get_language_model

    return LlmClient(get_language_model(name))

"""Chunks with a context that a language model wrote; text, span and id of every chunk stay as they are."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Literal, NamedTuple, Protocol

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.chunkers.contextual.headings import with_headings
from chunkwise.chunkers.contextual.prompt_room import PromptRoom, prompt_room
from chunkwise.chunkers.contextual.requests import (
    ContextRequests,
    DocumentPrompts,
    NeighbourPrompts,
    section_path,
)
from chunkwise.core import Chunk, OnProgress
from chunkwise.models.cache import CachedTexts, ModelCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import Reply
from chunkwise.models.llm.prompt import load_prompt
from chunkwise.models.llm.written import cleaned_answer
from chunkwise.text.analysis import Analyzed
from chunkwise.text.characters import CLOSER, ENDER, FINAL, FULL_STOP, CharacterArrays
from chunkwise.text.sentences.boundaries import sentence_starts
from chunkwise.text.tokens.measure import measure_of
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

MOST_TOKENS = 100
MOST_SENTENCES = 3
_LONGEST = 8_000
"""Characters that are looked at: no context needs more."""
_ENDS = FULL_STOP | ENDER | FINAL


def context_from_answer(answer: str) -> str:
    """At most three sentences and a hundred tokens; empty where nothing is left."""
    text = " ".join(cleaned_answer(answer[:_LONGEST]).split())
    return _shortened(text) if any(map(str.isalnum, text)) else ""


def _shortened(text: str) -> str:
    """Whole sentences as long as they fit; of a first one that is too long, whole words."""
    characters = CharacterArrays(text)
    ends = [*sentence_starts(characters).tolist(), len(text)]
    if len(ends) > 1 and not _is_ended(text):
        ends.pop()  # the model was stopped in the middle of it
    count = get_tokenizer(DEFAULT_TOKENIZER).count
    for end in reversed(ends[:MOST_SENTENCES]):
        found = text[:end].strip()
        if count(found) <= MOST_TOKENS:
            return found
    return _words(text)


def _words(text: str) -> str:
    measure = measure_of(text, get_tokenizer(DEFAULT_TOKENIZER))
    tokens = MOST_TOKENS
    while True:
        found = text[: measure.reach(0, tokens)]
        words = found.rpartition(" ")[0] or found
        if measure.tokenizer.count(words) <= MOST_TOKENS:
            return words.strip()
        tokens -= 1


def _is_ended(text: str) -> bool:
    last = CharacterArrays(text[-8:])
    kinds = last.kinds.tolist()
    while kinds and kinds[-1] & CLOSER and not kinds[-1] & _ENDS:
        kinds.pop()
    return bool(kinds) and bool(kinds[-1] & _ENDS)


class ContextTally:
    """Grows while contexts are written."""

    def __init__(self) -> None:
        self.chunks = 0
        self.known = 0
        """Chunks whose context was known before."""
        self.written = 0
        """Answers of the model that can be used, in this run."""
        self.reasons: Counter[str] = Counter()
        """Of chunks that have the headings context instead."""

    @property
    def without(self) -> int:
        return self.reasons.total()

    @property
    def note(self) -> str:
        """How far it is."""
        return f"{counted(self.written, 'context')} written"

    def told(self) -> str:
        """One line; empty where every chunk has its context."""
        if not self.without:
            return ""
        (reason, _), *others = self.reasons.most_common()
        more = f" (and {counted(len(others), 'other reason')})" if others else ""
        chunks = f"{self.without:,} of {counted(self.chunks, 'chunk')}"
        has, it = ("has", "it has") if self.without == 1 else ("have", "they have")
        return f"{chunks} {has} no context of the model, {it} the headings context instead: {reason}{more}"


Way = Literal["neighbours", "document"]
WAYS: tuple[Way, ...] = ("neighbours", "document")

_FILLS: dict[
    Way, Callable[[Analyzed, Sequence[Chunk], PromptRoom], NeighbourPrompts | DocumentPrompts]
] = {
    "neighbours": NeighbourPrompts,
    "document": DocumentPrompts,
}


class ChunkedDocument(Protocol):
    """A document with its chunks."""

    @property
    def analyzed(self) -> Analyzed: ...

    @property
    def chunks(self) -> Sequence[Chunk]: ...


class _DocumentAndChunks(NamedTuple):
    analyzed: Analyzed
    chunks: Sequence[Chunk]


def prompt_version(way: Way) -> str:
    """Of the wording in use: the package's, or the user's own."""
    return load_prompt(f"context_{way}").version


class ContextWriter:
    """Asks one model for contexts in one way; what was written before is not asked again."""

    def __init__(
        self, client: LlmClient, way: Way = "neighbours", *, cache: ModelCache | None = None
    ) -> None:
        if way not in WAYS:
            raise InvalidParameter(f"way is {way!r}; allowed: {', '.join(WAYS)}")
        self.client = client
        self.way = way
        self.tally = ContextTally()
        self._prompt = load_prompt(f"context_{way}")
        self._room = prompt_room(client.model, self._prompt)
        self._contexts = CachedTexts(cache or client.cache, client.identity, "context")

    def write(
        self, documents: Sequence[ChunkedDocument], advance: OnProgress | None = None
    ) -> list[list[Chunk]]:
        """The chunks of each document with their contexts; `advance` gets characters as their contexts come."""
        keys = [self._keys(each) for each in documents]
        known = self._contexts.get([key for row in keys for key in row.values()])
        self.tally.known += sum(key in known for row in keys for key in row.values())
        requests, wanted = self._missing(documents, keys, known)
        failed: dict[bytes, str] = {}
        with closing(self.client.ask_each(requests)) as replies:
            for at, reply in replies:
                key, chunk = wanted[at]
                context, reason = _read(reply)
                if context:
                    self._contexts.put({key: context})
                    known[key] = context
                    self.tally.written += 1
                else:
                    failed[key] = reason
                if advance:
                    advance(chunk.end - chunk.start, self.tally.note)
        return [
            self._placed(each, row, known, failed)
            for each, row in zip(documents, keys, strict=True)
        ]

    def estimate(self, documents: Sequence[ChunkedDocument]) -> LlmEstimate:
        """What `write` would ask; nothing is sent."""
        keys = [self._keys(each) for each in documents]
        known = self._contexts.get([key for row in keys for key in row.values()])
        requests, wanted = self._missing(documents, keys, known)
        found = LlmEstimate(0, sum(map(len, keys)) - len(wanted), 0, 0, 0.0, 0.0)
        for at in range(len(requests)):  # one by one: each may hold a whole document
            found += self.client.estimate([requests[at]])
        return found

    def _keys(self, cut: ChunkedDocument) -> dict[int, bytes]:
        """Of each chunk that is a place in the document, by its position; summaries say enough themselves."""
        return {
            at: self._key(cut.analyzed, chunk)
            for at, chunk in enumerate(cut.chunks)
            if not chunk.level
        }

    def _key(self, analyzed: Analyzed, chunk: Chunk) -> bytes:
        """The same words in another document, or under another heading, mean something else."""
        document = analyzed.document
        # Two corpora may both have a README.md: an id tells documents of one corpus apart, the file all of them.
        file = os.path.abspath(document.source) if document.source else ""
        place = [file, document.id, document.title, section_path(analyzed, chunk)]
        return self._contexts.key(chunk.text, [self._prompt.version, self.way, *place])

    def _missing(
        self,
        documents: Sequence[ChunkedDocument],
        keys: Sequence[dict[int, bytes]],
        known: dict[bytes, str],
    ) -> tuple[ContextRequests, list[tuple[bytes, Chunk]]]:
        """What is to be asked, each thing once; and for each the key and the chunk it is about."""
        requests = ContextRequests(self._prompt)
        wanted: dict[bytes, Chunk] = {}
        for cut, row in zip(documents, keys, strict=True):
            new = {at: key for at, key in row.items() if key not in known and key not in wanted}
            if not new:
                continue
            places = [cut.chunks[at] for at in row]
            fill = _FILLS[self.way](cut.analyzed, places, self._room)
            for position, (at, key) in enumerate(row.items()):
                if at in new and key not in wanted:
                    requests.add(fill, position)
                    wanted[key] = cut.chunks[at]
        return requests, list(wanted.items())

    def _placed(
        self,
        cut: ChunkedDocument,
        keys: dict[int, bytes],
        known: dict[bytes, str],
        failed: dict[bytes, str],
    ) -> list[Chunk]:
        self.tally.chunks += len(keys)
        made = list(cut.chunks)
        for at, key in keys.items():
            if key in known:
                context = "\n".join(filter(None, (known[key], made[at].context)))
                made[at] = replace(made[at], context=context)
            else:
                self.tally.reasons[failed.get(key, "it was not asked")] += 1
                made[at] = with_headings([made[at]], cut.analyzed)[0]
        return made


def with_contexts(
    chunks: Sequence[Chunk], analyzed: Analyzed, client: LlmClient, way: Way = "neighbours"
) -> list[Chunk]:
    """The chunks of one document, each with what the model says about its place, above the context it had."""
    return ContextWriter(client, way).write([_DocumentAndChunks(analyzed, chunks)])[0]


def contexts_estimate(
    documents: Iterable[tuple[Analyzed, Sequence[Chunk]]],
    client: LlmClient,
    way: Way = "neighbours",
) -> LlmEstimate:
    """What contexts for the chunks of these documents would take."""
    writer = ContextWriter(client, way)
    found = LlmEstimate(0, 0, 0, 0, 0.0, 0.0)
    for each in documents:
        found += writer.estimate([_DocumentAndChunks(*each)])
    return found


def _read(reply: Reply) -> tuple[str, str]:
    """The context, or why there is none."""
    if not reply.is_answered:
        return "", reply.reason
    return context_from_answer(str(reply.value)), "the model's answer says nothing"

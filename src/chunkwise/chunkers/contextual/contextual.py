"""Chunks with a context that a language model wrote; text, span and id of every chunk stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Literal, NamedTuple, Protocol

from chunkwise.chunkers.contextual.context_requests import ContextRequests
from chunkwise.chunkers.contextual.context_store import ContextStore
from chunkwise.chunkers.contextual.document_way import WholeDocument
from chunkwise.chunkers.contextual.neighbours_way import Neighbours
from chunkwise.chunkers.contextual.plain_answer import plain_answer
from chunkwise.chunkers.contextual.room import Room, room_of
from chunkwise.chunkers.contextual.tally import ContextTally
from chunkwise.chunkers.headings_context import with_headings
from chunkwise.core import Advance, Chunk
from chunkwise.errors import InvalidParameter
from chunkwise.models.kept.vector_cache import VectorCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.estimate import Estimate
from chunkwise.models.llm.prompt import load_prompt
from chunkwise.models.llm.reply import Reply
from chunkwise.text.analysis import Analyzed

Way = Literal["neighbours", "document"]
WAYS: tuple[Way, ...] = ("neighbours", "document")

_FILLS: dict[Way, Callable[[Analyzed, Sequence[Chunk], Room], Neighbours | WholeDocument]] = {
    "neighbours": Neighbours,
    "document": WholeDocument,
}


class Cut(Protocol):
    """A document with its chunks."""

    @property
    def analyzed(self) -> Analyzed: ...

    @property
    def chunks(self) -> Sequence[Chunk]: ...


class _Cut(NamedTuple):
    analyzed: Analyzed
    chunks: Sequence[Chunk]


def prompt_version(way: Way) -> str:
    """Of the wording in use: the package's, or the user's own."""
    return load_prompt(f"context_{way}").version


class ContextWriter:
    """Asks one model for contexts in one way; what was written before is not asked again."""

    def __init__(
        self, client: LlmClient, way: Way = "neighbours", *, cache: VectorCache | None = None
    ) -> None:
        if way not in WAYS:
            raise InvalidParameter(f"way is {way!r}; allowed: {', '.join(WAYS)}")
        self.client = client
        self.way = way
        self.tally = ContextTally()
        self._prompt = load_prompt(f"context_{way}")
        self._room = room_of(client.model, self._prompt)
        self._store = ContextStore(
            client.identity, self._prompt.version, way, cache or client.cache
        )

    def write(self, documents: Sequence[Cut], advance: Advance | None = None) -> list[list[Chunk]]:
        """The chunks of each document with their contexts; `advance` gets characters as their contexts come."""
        keys = [self._keys(each) for each in documents]
        known = self._store.get([key for row in keys for key in row.values()])
        self.tally.known += sum(key in known for row in keys for key in row.values())
        requests, wanted = self._missing(documents, keys, known)
        failed: dict[bytes, str] = {}
        with closing(self.client.ask_each(requests)) as replies:
            for at, reply in replies:
                key, chunk = wanted[at]
                context, reason = _read(reply)
                if context:
                    self._store.put(key, context)
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

    def estimate(self, documents: Sequence[Cut]) -> Estimate:
        """What `write` would ask; nothing is sent."""
        keys = [self._keys(each) for each in documents]
        known = self._store.get([key for row in keys for key in row.values()])
        requests, wanted = self._missing(documents, keys, known)
        found = Estimate(0, sum(map(len, keys)) - len(wanted), 0, 0, 0.0, 0.0)
        for at in range(len(requests)):  # one by one: each may hold a whole document
            found += self.client.estimate([requests[at]])
        return found

    def _keys(self, cut: Cut) -> dict[int, bytes]:
        """Of each chunk that is a place in the document, by its position; summaries say enough themselves."""
        store, analyzed = self._store, cut.analyzed
        return {at: store.key(analyzed, c) for at, c in enumerate(cut.chunks) if not c.level}

    def _missing(
        self,
        documents: Sequence[Cut],
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
        self, cut: Cut, keys: dict[int, bytes], known: dict[bytes, str], failed: dict[bytes, str]
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
    return ContextWriter(client, way).write([_Cut(analyzed, chunks)])[0]


def contexts_estimate(
    documents: Iterable[tuple[Analyzed, Sequence[Chunk]]],
    client: LlmClient,
    way: Way = "neighbours",
) -> Estimate:
    """What contexts for the chunks of these documents would take."""
    writer = ContextWriter(client, way)
    found = Estimate(0, 0, 0, 0, 0.0, 0.0)
    for each in documents:
        found += writer.estimate([_Cut(*each)])
    return found


def _read(reply: Reply) -> tuple[str, str]:
    """The context, or why there is none."""
    if not reply.is_answered:
        return "", reply.reason
    return plain_answer(str(reply.value)), "the model's answer says nothing"

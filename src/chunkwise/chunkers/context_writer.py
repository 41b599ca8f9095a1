"""Chunks with a context that a language model wrote; text, span and id of every chunk stay as they are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Lock
from typing import Protocol, overload

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, main_reason, one_or_many, thousands
from chunkwise.chunkers.context_from_headings import with_headings
from chunkwise.core import SECTION_SEPARATOR, WRITTEN_CONTEXTS, Chunk, OnProgress, WrittenContext
from chunkwise.models.cache import CachedTexts, ModelCache
from chunkwise.models.llm.client import LlmClient, cleaned_answer
from chunkwise.models.llm.context_window import (
    ANSWER_TOKENS,
    PromptRoom,
    TokenReach,
    passage_of,
    prompt_room,
    size_of,
)
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import Reply, Request
from chunkwise.models.llm.prompt import Prompt, fenced, load_prompt
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import CLOSER, ENDER, FINAL, FULL_STOP, CharacterArrays, kind_of
from chunkwise.text.sentences.boundaries import sentence_starts
from chunkwise.text.tokens.measure import TokenMeasure, measure_of
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

_TITLE, _PATH = 200, 400
"""Characters that are told, and tokens: a title can be as long as somebody likes, in letters of four tokens each."""


def describe_place(analyzed: Analyzed, chunk: Chunk) -> str:
    """One line each, where there is something to say."""
    title = _one_line(analyzed.document.title, _TITLE)
    path = _one_line(section_path(analyzed, chunk), _PATH)
    lines = (f"Title: {title}" if title else "", f"Section: {path}" if path else "")
    return "\n".join(filter(None, lines)) or "(without a title)"


def _one_line(text: str, most: int) -> str:
    """On one line, no longer than allowed."""
    line = " ".join(text.split())[:most]
    if line.isascii():  # a token is a character or more
        return line
    measure = measure_of(CharacterArrays(line), get_tokenizer(DEFAULT_TOKENIZER))
    tokens = most
    while measure.tokenizer.count(line) > most:
        line = line[: measure.reach(0, tokens)]
        tokens -= 1
    return line


def section_path(analyzed: Analyzed, chunk: Chunk) -> str:
    return SECTION_SEPARATOR.join(analyzed.section(chunk.start, chunk.end))


_PASSAGE_BESIDE_DOCUMENT = 1 / 3
"""The share of the room that a long chunk may take beside its document."""


class DocumentPrompts:
    """What fills the prompt for each chunk of one document.

    A document that is too long is told in windows, each half over the one before. Chunks that lie near each other
    share one, so that its text is read once for all of them as well.
    """

    shares_prefix = True

    def __init__(self, analyzed: Analyzed, chunks: Sequence[Chunk], room: PromptRoom) -> None:
        self._analyzed = analyzed
        self._chunks = chunks
        self._reach = TokenReach(analyzed, cautious=room.cautious)
        self._places = [describe_place(analyzed, chunk) for chunk in chunks]
        place = max((size_of(item, room.cautious) for item in self._places), default=0.0)
        longest = max((self._reach.size(item.start, item.end) for item in chunks), default=0.0)
        self._passage = min(longest, _PASSAGE_BESIDE_DOCUMENT * room.tokens)
        self._size = max(1.0, room.tokens - self._passage - place)
        self._told: tuple[tuple[int, int], str] = ((0, 0), "")

    def values(self, at: int) -> dict[str, str]:
        """The gaps of the prompt, document text between marks."""
        passage, _ = passage_of(self._reach, self._chunks[at], self._passage)
        return {
            "document": self._document(self._window(self._chunks[at])),
            "place": fenced(self._places[at], "place"),
            "passage": fenced(passage, "passage"),
        }

    def _document(self, window: tuple[int, int]) -> str:
        """Kept from chunk to chunk: marking a long text means hashing it."""
        if not self._told[1] or self._told[0] != window:
            start, end = window
            self._told = window, fenced(self._analyzed.text[start:end], "document")
        return self._told[1]

    def _window(self, chunk: Chunk) -> tuple[int, int]:
        reach, size, length = self._reach, self._size, len(self._analyzed.text)
        if reach.size(0, length) <= size:
            return 0, length
        step = size / 2
        middle = (reach.size(0, chunk.start) + reach.size(0, chunk.end)) / 2
        number = max(0, round((middle - step) / step))
        start = reach.forth(0, number * step)
        end = reach.forth(start, size)
        if end == length:  # the last one is as full as the others
            start = reach.back(length, size)
        if start <= chunk.start and chunk.end <= end:
            return start, end
        # Longer than the windows are apart: one of its own, as much before as behind.
        beside = (size - reach.size(chunk.start, chunk.end)) / 2
        start = reach.back(chunk.start, max(beside, 0.0))
        return start, reach.forth(start, size)


NEIGHBORS = 2
"""Chunks on either side."""
CONTEXT_TOKENS = 2_000
"""At most, of all that is told beside the chunk itself."""
_PASSAGE_BESIDE_NEIGHBORS = 0.75
"""The share of a small window that a long chunk may take."""


class NeighborPrompts:
    """What fills the prompt for each chunk of one document."""

    shares_prefix = False

    def __init__(self, analyzed: Analyzed, chunks: Sequence[Chunk], room: PromptRoom) -> None:
        self._analyzed = analyzed
        self._chunks = chunks
        self._room = room
        self._reach = TokenReach(analyzed, cautious=room.cautious)

    def values(self, at: int) -> dict[str, str]:
        """The gaps of the prompt, document text between marks."""
        chunk, text = self._chunks[at], self._analyzed.text
        passage, size = passage_of(
            self._reach, chunk, _PASSAGE_BESIDE_NEIGHBORS * self._room.tokens
        )
        place = describe_place(self._analyzed, chunk)
        low, high = self._around(at, place, self._room.tokens - size)
        before, after = text[low : chunk.start], text[chunk.end : high]
        return {
            "place": fenced(place, "place"),
            "before": fenced(before, "before") if before.strip() else "(nothing)",
            "after": fenced(after, "after") if after.strip() else "(nothing)",
            "passage": fenced(passage, "passage"),
        }

    def _around(self, at: int, place: str, room: float) -> tuple[int, int]:
        """From where before the chunk to where behind it, within both limits."""
        chunk = self._chunks[at]
        before = self._chunks[max(0, at - NEIGHBORS) : at]
        after = self._chunks[at + 1 : at + 1 + NEIGHBORS]
        low = min(item.start for item in (*before, chunk))
        high = max(item.end for item in (chunk, *after))
        allowed = max(0, CONTEXT_TOKENS - int(size_of(place, False)))
        amount = room - size_of(place, self._room.cautious)
        measure = self._analyzed.measure(DEFAULT_TOKENIZER)
        while True:
            first, last = self._reach.around(low, chunk.start, chunk.end, high, amount)
            tokens = _tokens(measure, first, chunk, last)
            if tokens <= allowed:
                return first, last
            # The reach knows sizes about, the tokenizer exactly.
            size = self._reach.size(first, chunk.start) + self._reach.size(chunk.end, last)
            amount = min(amount, size) * allowed / tokens - 1


def _tokens(measure: TokenMeasure, first: int, chunk: Chunk, last: int) -> int:
    return measure.count(first, chunk.start) + measure.count(chunk.end, last)


TEMPERATURE = 0.3


class PromptFill(Protocol):
    """Fills the gaps of a prompt for the chunk at a position of its document."""

    @property
    def shares_prefix(self) -> bool:
        """Whether the prompts of one document begin with the same long text."""

    def values(self, at: int) -> dict[str, str]: ...


class ContextRequests(Sequence[Request]):
    """May be read from several threads."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._asked: list[tuple[PromptFill, int]] = []
        self._lock = Lock()

    def add(self, fill: PromptFill, at: int) -> None:
        self._asked.append((fill, at))

    def __len__(self) -> int:
        return len(self._asked)

    @overload
    def __getitem__(self, index: int) -> Request: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Request]: ...

    def __getitem__(self, index: int | slice) -> Request | Sequence[Request]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        fill, at = self._asked[index]
        with self._lock:  # sizes of a document are remembered as they are asked for
            values = fill.values(at)
        system, user = self._prompt.filled(**values)
        user = user.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent
        return Request(
            system, user, max_tokens=ANSWER_TOKENS, temperature=TEMPERATURE,
            version=self._prompt.version, shares_prefix=fill.shares_prefix,
        )  # fmt: skip


MOST_TOKENS = 100
MOST_SENTENCES = 3
_LONGEST = 8_000
"""Characters that are looked at: no context needs more."""
_ENDS = FULL_STOP | ENDER | FINAL
_BROKEN_OFF = ("…", "...", ",", ":", ";")


def context_from_answer(answer: str) -> str:
    """At most three whole sentences and a hundred tokens, as far as they repeat nothing; empty where none is left."""
    text = " ".join(cleaned_answer(answer[:_LONGEST]).split())
    if not any(map(str.isalnum, text)):
        return ""
    ends = [*sentence_starts(CharacterArrays(text)).tolist(), len(text)]
    if text.endswith(_BROKEN_OFF) or not _is_ended(text):
        ends.pop()  # the model was stopped in the middle of it
    count = get_tokenizer(DEFAULT_TOKENIZER).count
    for end in reversed(ends[:MOST_SENTENCES]):
        result = text[:end].strip()
        if count(result) <= MOST_TOKENS and not _repeats_itself(result):
            return result
    return ""


_REPEATED = 0.3
"""Share of runs of three words that came before: of stretches of 50 words, 0 to 0.3% of prose have more."""


def _repeats_itself(text: str) -> bool:
    """Whether the model went round in circles, as small ones do: such a text says nothing of one chunk."""
    words = re.findall(r"\w+", text.lower())
    runs = Counter(zip(words, words[1:], words[2:], strict=False))
    again = runs.total() - len(runs)
    return again > _REPEATED * runs.total()


def _is_ended(text: str) -> bool:
    kinds = [kind_of(char) for char in text[-8:]]
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

    def in_words(self) -> str:
        """One line; empty where every chunk has its context."""
        if not self.without:
            return ""
        chunks = f"{thousands(self.without)} of {counted(self.chunks, 'chunk')}"
        has = one_or_many(self.without, "has", "have")
        it = one_or_many(self.without, "it has", "they have")
        return f"{chunks} {has} no context from the model, {it} headings context instead: {main_reason(self.reasons)}"


_FILLS: dict[
    WrittenContext,
    Callable[[Analyzed, Sequence[Chunk], PromptRoom], NeighborPrompts | DocumentPrompts],
] = {
    "neighbors": NeighborPrompts,
    "document": DocumentPrompts,
}


class ChunkedDocument(Protocol):
    """A document with its chunks."""

    @property
    def analyzed(self) -> Analyzed: ...

    @property
    def chunks(self) -> Sequence[Chunk]: ...


def prompt_version(way: WrittenContext) -> str:
    """Of the wording in use: the package's, or the user's own."""
    return load_prompt(f"context_{way}").version


class ContextWriter:
    """Asks one model for contexts in one way; what was written before is not asked again."""

    def __init__(
        self,
        client: LlmClient,
        way: WrittenContext = "neighbors",
        *,
        cache: ModelCache | None = None,
    ) -> None:
        if way not in WRITTEN_CONTEXTS:
            raise InvalidParameter(f"way is {way!r}; allowed: {', '.join(WRITTEN_CONTEXTS)}")
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
        keys = [self._keys(document) for document in documents]
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
            self._placed(document, row, known, failed)
            for document, row in zip(documents, keys, strict=True)
        ]

    def estimate(self, documents: Sequence[ChunkedDocument]) -> LlmEstimate:
        """What `write` would ask; nothing is sent."""
        keys = [self._keys(document) for document in documents]
        known = self._contexts.get([key for row in keys for key in row.values()])
        requests, wanted = self._missing(documents, keys, known)
        llm_estimate = LlmEstimate(0, sum(map(len, keys)) - len(wanted), 0, 0, 0.0, 0.0)
        for at in range(len(requests)):  # one by one: each may hold a whole document
            llm_estimate += self.client.estimate([requests[at]])
        return llm_estimate

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
                made[at] = replace(made[at], context=context, context_token_count=-1)
            else:
                self.tally.reasons[failed.get(key, "it was not asked")] += 1
                made[at] = with_headings([made[at]], cut.analyzed)[0]
        return made


def _read(reply: Reply) -> tuple[str, str]:
    """The context, or why there is none."""
    if not reply.is_answered:
        return "", reply.reason
    reason = "the model's answer is empty, repetitive or truncated"
    return context_from_answer(str(reply.value)), reason

"""Hits as the passages an answer is made of: numbered, none given twice, as many as a model's window holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from chunkwise.core import Document, Hit, HitPlace, Span
from chunkwise.retrieval.whole_blocks import NO_FRAME, Frame, whole_blocks
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

_SPARE = 1.3
"""Tokens of other models' tokenizers for one of ours: a small vocabulary takes more."""
_MARKS = 30
"""Tokens of the marks around a passage."""


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A place in a document with the number the model knows it by; `text` is always `document.text[start:end]`."""

    number: int
    id: str
    """`doc_id::index` of the chunk; `doc_id@start-end` where it is none."""
    document: Document = field(repr=False)
    start: int
    end: int
    section: tuple[str, ...] = ()
    opening: str = ""
    """What the model reads before the text where that begins inside a block: a fence, a table's header."""
    closing: str = ""
    hidden: tuple[Span, ...] = ()
    """Places inside it that the model does not read: comments of Markdown."""

    @property
    def doc_id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]

    @property
    def shown(self) -> str:
        """The text as the model gets it: no comment, no fence open, no row of a table without the header."""
        text = self.document.text_without(Span(self.start, self.end), self.hidden)
        return f"{self.opening}{text}{self.closing}"


def passages_of(hits: Sequence[Hit]) -> list[NumberedPassage]:
    """In the order of the hits; of a summary the places it stands for, as only they can be cited.

    What lies inside a passage before it is not given twice, and what has neither letter nor digit not at all.
    """
    found: list[NumberedPassage] = []
    for hit in hits:
        for document, start, end, _ in _cited_places(hit):
            is_known = any(
                each.doc_id == document.id and each.start <= start and end <= each.end
                for each in found
            )
            if is_known or not any(map(str.isalnum, document.text[start:end])):
                continue
            is_chunk = hit.chunk is not None and not hit.level
            id = f"{document.id}::{hit.chunk}" if is_chunk else f"{document.id}@{start}-{end}"
            around = NO_FRAME if hit.level else Frame(hit.opening, hit.closing)
            section = hit.section if document is hit.document else ()
            found.append(
                NumberedPassage(
                    len(found) + 1, id, document, start, end, section, *around,
                    whole_blocks(document).hidden(start, end),
                )
            )  # fmt: skip
    return found


_SUMMARISED_TOKENS = 4_000
"""Of what one summary over several documents stands for, what is read: it may be all there is."""


def _cited_places(hit: Hit) -> Sequence[HitPlace]:
    """What a hit stands for; of more than can be read, the beginnings in each of the documents in turn."""
    every = hit.places
    if not hit.elsewhere or sum(each.tokens for each in every) <= _SUMMARISED_TOKENS:
        return every
    turn: Counter[str] = Counter()
    turns = []
    for at, each in enumerate(every):
        turns.append((turn[each.doc_id], at))
        turn[each.doc_id] += 1
    left = _SUMMARISED_TOKENS
    kept: list[int] = []
    for _, at in sorted(turns):
        if every[at].tokens > left and kept:
            break
        left -= every[at].tokens
        kept.append(at)
    return [every[at] for at in sorted(kept)]


def fitting_passages(
    passages: Sequence[NumberedPassage], window: int | None, other_tokens: int
) -> list[NumberedPassage]:
    """The first ones, as many as the window has room for beside `other_tokens`; of the very first at least a part."""
    if window is None:
        return list(passages)
    count = get_tokenizer(DEFAULT_TOKENIZER).count
    room = window / _SPARE - other_tokens
    kept: list[NumberedPassage] = []
    for passage in passages:
        room -= count(passage.shown) + _MARKS
        if room < 0:
            break
        kept.append(passage)
    if not kept and passages:
        kept = _beginning(passages[0], room + count(passages[0].shown), count)
    return kept


def _beginning(
    passage: NumberedPassage, room: float, count: Callable[[str], int]
) -> list[NumberedPassage]:
    """As much of a passage as there is room for; nothing where that is no more than a word or two."""
    size = len(passage.text)
    part = passage
    while size and count(part.shown) > room:
        size = size * 3 // 4
        end = passage.start + size
        _, closing = whole_blocks(passage.document).frame(passage.start, end)
        hidden = whole_blocks(passage.document).hidden(passage.start, end)
        part = replace(passage, end=end, closing=closing, hidden=hidden)
    return [part] if size > _MARKS else []

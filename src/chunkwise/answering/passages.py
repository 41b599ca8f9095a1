"""What a model is given to read: numbered places in documents, as many as it can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from chunkwise.core import Document, Hit
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

_SPARE = 1.3
"""Tokens of other models' tokenizers for one of ours: a small vocabulary takes more."""
_MARKS = 30
"""Tokens of the marks around a passage."""


@dataclass(frozen=True, slots=True)
class GivenPassage:
    """A place in a document with the number the model knows it by; `text` is always `document.text[start:end]`."""

    number: int
    id: str
    """`doc_id::index` of the chunk; `doc_id@start-end` where it is none."""
    document: Document = field(repr=False)
    start: int
    end: int
    section: tuple[str, ...] = ()

    @property
    def doc_id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]


def passages_of(hits: Sequence[Hit]) -> list[GivenPassage]:
    """In the order of the hits; of a summary the places it stands for, as only they can be cited.

    What lies inside a passage before it is not given twice, and what has neither letter nor digit not at all.
    """
    found: list[GivenPassage] = []
    for hit in hits:
        for start, end in hit.spans:
            is_known = any(
                each.doc_id == hit.doc_id and each.start <= start and end <= each.end
                for each in found
            )
            if is_known or not any(map(str.isalnum, hit.document.text[start:end])):
                continue
            is_chunk = hit.chunk is not None and not hit.level
            id = f"{hit.doc_id}::{hit.chunk}" if is_chunk else f"{hit.doc_id}@{start}-{end}"
            found.append(GivenPassage(len(found) + 1, id, hit.document, start, end, hit.section))
    return found


def fitting(
    passages: Sequence[GivenPassage], window: int | None, other_tokens: int
) -> list[GivenPassage]:
    """The first ones, as many as the window has room for beside `other_tokens`; of the very first at least a part."""
    if window is None:
        return list(passages)
    count = get_tokenizer(DEFAULT).count
    room = window / _SPARE - other_tokens
    kept: list[GivenPassage] = []
    for passage in passages:
        room -= count(passage.text) + _MARKS
        if room < 0:
            break
        kept.append(passage)
    if not kept and passages:
        kept = _beginning(passages[0], room + count(passages[0].text), count)
    return kept


def _beginning(
    passage: GivenPassage, room: float, count: Callable[[str], int]
) -> list[GivenPassage]:
    """As much of a passage as there is room for; nothing where that is no more than a word or two."""
    size = len(passage.text)
    while size and count(passage.text[:size]) > room:
        size = size * 3 // 4
    return [replace(passage, end=passage.start + size)] if size > _MARKS else []

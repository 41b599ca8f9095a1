"""Passages that begin with what a document has left white before its text: front matter, settings, a preamble.

Who reads a file without chunkwise has these as text. Their place in a document is white space of the same length, so
such a passage is found by the rest of it, which then stands where the text begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.text.find_passages import TOLERANCES, Occurrences, Tolerance, occurrences

_LEAST = 8
"""Characters before the text; fewer hold no field."""
_MOST_RESTS = 32
"""Lines of a passage at which the text may begin: a preamble may be full of them."""
_INK = re.compile(r"\S")
_LINE = re.compile(r"^[^\S\n]*(\S+)", re.MULTILINE)


class _Rest(NamedTuple):
    passage: int
    text: str
    aside: int
    """Characters before it that are put aside."""


def blank_head(text: str) -> int:
    """Where the text of a document begins that leaves something white before it; 0: it leaves nothing."""
    first = _INK.search(text) if text[:1].isspace() else None
    return first.start() if first and first.start() >= _LEAST else 0


def is_in_blank_head(document: Document, start: int | None, part: str) -> bool:
    """Whether what stands at this place in the file is wholly what the document leaves white."""
    if start is None or not 0 <= start < start + len(part) <= blank_head(document.text):
        return False
    return _INK.sub(" ", part) == document.text[start : start + len(part)]


def find_in_rounds(
    passages: Sequence[str], documents: Sequence[Document], is_open: Callable[[int], bool]
) -> Iterator[Iterator[tuple[Tolerance, Occurrences]]]:
    """Where passages stand, the strictest tolerance first, and last behind blank heads. Each round looks for those that
    are open when it begins; what it finds is to be looked at before the next one.
    """
    for tolerance in (*TOLERANCES, None):
        numbers = [number for number in range(len(passages)) if is_open(number)]
        if not numbers:
            return
        wanted = [passages[number] for number in numbers]
        if tolerance is None:
            result = behind_blank_heads(wanted, documents)
        else:
            result = zip(repeat(tolerance), occurrences(wanted, documents, tolerance), strict=False)
        yield ((how, row._replace(passage=numbers[row.passage])) for how, row in result)


def behind_blank_heads(
    passages: Sequence[str], documents: Sequence[Document]
) -> Iterator[tuple[Tolerance, Occurrences]]:
    """Where the rest of each passage begins a document's text, with what else differs: white space at least."""
    heads = np.array([blank_head(document.text) for document in documents], dtype=np.int64)
    numbers = heads.nonzero()[0]
    headed, heads = [documents[number] for number in numbers.tolist()], heads[numbers]
    missing = _rests(passages, _first_words(headed, heads))
    for tolerance in TOLERANCES:
        if not missing:
            return
        result: defaultdict[int, dict[int, list[Occurrences]]] = defaultdict(dict)
        for occurrence in occurrences([rest.text for rest in missing], headed, tolerance):
            rest, head = missing[occurrence.passage], heads[occurrence.document]
            kept = (occurrence.start == head) & (rest.aside <= head)
            if kept.any():
                places = Occurrences(
                    rest.passage, numbers[occurrence.document[kept]], occurrence.start[kept], occurrence.end[kept],
                    occurrence.whole[kept],
                )  # fmt: skip
                result[rest.passage].setdefault(occurrence.passage, []).append(places)
        for of_rest in result.values():
            # The first line at which the text may begin leaves the least aside.
            for places in of_rest[min(of_rest)]:
                yield "signs" if tolerance == "exact" else tolerance, places
        missing = [rest for rest in missing if rest.passage not in result]


def _first_words(documents: Sequence[Document], heads: NDArray[np.int64]) -> dict[str, int]:
    """With what texts behind a blank head begin, and how long the longest such head is."""
    words: dict[str, int] = {}
    for document, head in zip(documents, heads.tolist(), strict=True):
        first = _LINE.match(document.text[head : head + 1000])
        if first is not None:
            words[first[1]] = max(head, words.get(first[1], 0))
    return words


def _rests(passages: Sequence[str], words: dict[str, int]) -> list[_Rest]:
    longest = max(words.values(), default=0)
    result = []
    for number, passage in enumerate(passages if words else ()):
        # Line ends may have been made one character; white space around a text may be left out.
        text = passage.replace("\r\n", "\n").strip()
        rests = 0
        for line in _LINE.finditer(text, 0, longest + 1000):
            begin = line.start(1)
            aside = len(text[:begin].rstrip())
            if aside > longest or rests == _MOST_RESTS:
                break
            if 0 < aside <= words.get(line[1], 0):
                result.append(_Rest(number, text[begin:], aside))
                rests += 1
    return result

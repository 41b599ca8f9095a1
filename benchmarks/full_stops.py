"""Full stops that one rule decides, wherever public corpora have them: right with the rule, and without it.

The cases are not kept: a pattern finds all of them again in the corpora, and says of each kind whether it ends a
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

from benchmarks.corpora import available, texts_of
from benchmarks.tables import table
from chunkwise import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.sentences import full_stops

CORPORA = {
    "books": "public domain",
    "chroma_eval": "MIT",
    "cuad": "CC BY 4.0",
    "docs_fastapi_de": "MIT",
    "docs_fastapi_en": "MIT",
    "docs_rustbook": "MIT / Apache-2.0",
    "musique": "CC BY 4.0",
    "squad2": "CC BY-SA 4.0",
    "squad_distractors": "CC BY-SA 4.0",
    "xquad_de": "CC BY-SA 4.0",
}
_DECIMAL = r"\d+(?:\.\d+)+\."


class Kind(NamedTuple):
    """A full stop with what stands around it; group 1 ends where it does."""

    name: str
    pattern: re.Pattern[str]
    ends: bool
    without: Callable[[], Any]
    """A context in which the rule is not there."""


@contextmanager
def _set(name: str, value: object) -> Iterator[None]:
    """With another value of what the rules ask."""
    kept = getattr(full_stops, name)
    caches = [each for each in vars(full_stops).values() if hasattr(each, "cache_clear")]
    setattr(full_stops, name, value)
    try:
        for cache in caches:
            cache.cache_clear()
        yield
    finally:
        setattr(full_stops, name, kept)
        for cache in caches:
            cache.cache_clear()


def _kinds() -> tuple[Kind, ...]:
    return (
        Kind(
            "a decimal number behind a word, a capital",
            re.compile(rf"(?<=\w )({_DECIMAL}) (?=[A-Z])"),
            True,
            lambda: _set("_behind_end", lambda text, start: True),
        ),
        Kind(
            "a decimal number behind the end of a clause, a capital",
            re.compile(rf"(?<=[.;:!?)”\"] )({_DECIMAL}) (?=[A-Z])"),
            False,
            lambda: _set("_behind_end", lambda text, start: False),
        ),
    )  # fmt: skip


class Counted(NamedTuple):
    found: int
    ends: int
    right: int
    without: int


def counted(kind: Kind, texts: Iterator[tuple[str, str]]) -> Counted:
    """Over texts with the names they are judged by."""
    found = ends = right = without = 0
    for _, text in texts:
        cases = [(match.end(), kind.ends) for match in kind.pattern.finditer(text)]
        if not cases:
            continue
        found += len(cases)
        ends += sum(is_end for _, is_end in cases)
        right += _right(text, cases)
        with kind.without():
            without += _right(text, cases)
    return Counted(found, ends, right, without)


def _right(text: str, cases: list[tuple[int, bool]]) -> int:
    starts = set(Analyzed(Document("x", text)).sentences.tolist())
    return sum((start in starts) == is_end for start, is_end in cases)


_ABOUT = """\
Cases that are rare in the gold sets above: all occurrences in these corpora, located by a pattern
(`benchmarks/full_stops.py`). That file defines which of them end a sentence. *Without*: accuracy without the rule;
for decimal numbers after a word, accuracy if all of them numbered what follows. A number after a numbered title ("7.
Taxes 7.1. Each Party …", 34 cases in cuad) counts as wrong here.
"""


def run() -> str:
    """A table of the rules, each with its cases in the corpora that are there."""
    names = [name for name in CORPORA if available(name)]
    if not names:
        return "None of the corpora is there."
    rows = []
    for kind in _kinds():
        texts = chain.from_iterable(
            ((f"{name}/{document}", text) for document, text in texts_of(name)) for name in names
        )
        rows.append([kind.name, *counted(kind, texts)])
    where = "Corpora: " + ", ".join(f"{name} ({CORPORA[name]})" for name in names) + "."
    return "\n\n".join(
        [
            _ABOUT + where,
            table(["before the full stop, and behind it", "found", "of them ends", "right", "without"], rows),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    print(run())

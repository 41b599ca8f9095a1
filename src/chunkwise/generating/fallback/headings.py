"""Headings as questions: what they announce stands below them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chunkwise.core import Span
from chunkwise.generating.fallback.plain_question import PlainQuestion
from chunkwise.generating.ground import SourcePassage

_NUMBERING = re.compile(
    r"^(?:(?:item|section|chapter|part|annex|appendix|abschnitt|kapitel)\s+)?"
    r"(?:\d+(?:\.\d+)*|[IVXLC]+|[A-Z])[.):]?\s+(?=\S)",
    re.IGNORECASE,
)
_WHO = re.compile(r"(?:who|wer)\s", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:what|when|where|why|how|which|was|wann|wo|warum|wie|welche[rs]?)\s", re.IGNORECASE
)
_GENERIC = frozenset(
    "introduction overview scope notes note summary abstract conclusion conclusions discussion methods results general"
    " references contents index appendix background definitions about more other others misc miscellaneous faq example"
    " examples usage license licence changelog einleitung vorbemerkung übersicht zusammenfassung anhang allgemeines"
    " added changed fixed removed deprecated ingredients method preface foreword actions".split()
)
_SMALL = frozenset("of the and a an in on at by for to from or with der die das und von".split())
_LEAST_LETTERS = 4


def headings(passages: Sequence[SourcePassage]) -> Iterator[PlainQuestion]:
    """One for each section of a document but its title, with its first passage as evidence; German where it is."""
    if not passages:
        return
    seen: set[int] = set()
    whole = _whole(passages)
    for passage in passages:
        if passage.section in seen or not passage.path:
            continue
        seen.add(passage.section)
        title = _title(passage.path[-1])
        is_generic = title.lower() in _GENERIC or sum(map(str.isalpha, title)) < _LEAST_LETTERS
        if is_generic or _words(title) == _words(whole):
            continue
        if question := _question(title, whole, passage):
            yield PlainQuestion(question, None, Span(passage.start, passage.end), "single-concept")


def _whole(passages: Sequence[SourcePassage]) -> str:
    """What the document is called: its title, else its first heading where that is at the top."""
    first = passages[0]
    return first.document.title or (
        _title(first.path[0]) if first.path and first.section < 2 else ""
    )


def _title(heading: str) -> str:
    """Without its number, and not in capitals."""
    title = _NUMBERING.sub("", heading).strip(" .:")
    if not title.isupper():
        return title
    words = title.lower().split()
    return " ".join(
        word if at and word in _SMALL else word.capitalize() for at, word in enumerate(words)
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _question(title: str, whole: str, passage: SourcePassage) -> str:
    """Empty where nothing says what it is about: who is covered by what?"""
    if title.endswith("?"):
        return title
    over = _title(passage.path[-2]) if len(passage.path) > 1 else whole
    if over.lower() in _GENERIC:  # every document has a "Scope"
        over = whole
    if _WHO.match(title):
        return f"{over}: {title[0].lower()}{title[1:]}?" if over else ""
    german = passage.language == "de"
    about = f"„{title}“" if german else f"“{title}”"
    if _ASKS.match(title):
        about = f"{title[0].lower()}{title[1:]}"
    if whole:
        return (
            f"Was steht in „{whole}“ über {about}?"
            if german
            else f"What does “{whole}” say about {about}?"
        )
    return f"Was wird über {about} gesagt?" if german else f"What is said about {about}?"

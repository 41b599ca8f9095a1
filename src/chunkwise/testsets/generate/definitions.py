"""Definitions in documents, English and German, each with the question that asks for it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from chunkwise.core import Span
from chunkwise.testsets.locate import trimmed
from chunkwise.text.analyzed import Analyzed

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|\(?[a-z]\))\s+")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(
    r"</?[a-zA-Z][^<>]*>|\*{1,3}|`+|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|\\(?=[^\w\s])"
)


class DefinedTerm(NamedTuple):
    """A definition, and the question that it answers."""

    question: str
    answer: str
    span: Span
    subject: str = ""
    """What has to be rare for the question to make sense; empty: it says itself what is meant."""


def without_marks(text: str) -> str:
    """On one line, without marks of lists, emphasis and links."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", _BULLET.sub("", text))).split())


def said_at(text: str, start: int, end: int) -> Span:
    """Without white space around it, and without the mark of a list before it."""
    mark = _BULLET.match(text[start:end])
    return trimmed(text, start + (mark.end() if mark else 0), end)


_OPENINGS = frozenset(
    "it this that these those there they he she we you i who what which where when why how here nobody somebody"
    " everyone everybody nothing everything all each every both none some many most few one two three if in on at for"
    " from with no not only as by to of and or but so then because although since while after before during until"
    " under over between the a an any such another other its their his her our my your note example result reason"
    " problem question answer everything"
    " es dies diese dieser dieses das der die er sie wir ihr man wer wo wann wie warum hier dort alle jeder jede"
    " niemand im am auf für mit von bei nach vor seit wenn weil aber und oder ein eine kein keine nur"
    " monday tuesday wednesday thursday friday saturday sunday".split()
)


def opens_anything(word: str) -> bool:
    """Whether any sentence could begin with it."""
    return word.lower() in _OPENINGS


def is_name(term: str, text: str) -> bool:
    """Several words with capitals, or one that has its capital inside sentences, too."""
    if " " in term:
        return True
    return re.search(rf"[^\W\d_,;] {re.escape(term)}\b", text) is not None


_LONGEST = 400
"""Characters of a definition."""
_MOST_WORDS = 6
"""Of what is defined."""
_WORD = r"[A-ZÄÖÜ][\w'’\-]*"
_TERM = rf"{_WORD}(?: (?:(?:of|the|and|von|der|des|für) )?{_WORD}| [a-zäöüß][\w'’\-]*){{0,2}}"
_NAME = rf"{_WORD}(?: (?:(?:of|the|von|der|des) )?{_WORD}){{0,3}}"
_ARTICLE = r"(?:(?:The|A|An|Die|Der|Das) )?"
_QUOTED = re.compile(
    r"[\"“„](?P<term>[^\"”“„\n]{2,50})[\"”“]\s+(?P<verb>means|bedeutet|heißt)\s+.{10}"
)
_MEANS = re.compile(
    rf"{_ARTICLE}(?P<term>{_TERM}) (?P<verb>means(?! of\b)|refers to|stands for|bedeutet|bezeichnet) .{{10}}"
)
_IS = re.compile(
    rf"(?P<term>{_NAME})(?: \([^)]{{1,30}}\))? (?P<verb>is|are|ist|sind) "
    r"(?:an?|the|one of|eine?|der|die|das) (?!only\b|same\b|einzige|gleiche).{10}"
)
_LABEL = re.compile(
    r"(?:fig|figure|table|note|notes|danger|warning|caution|important|example|abb|tab|hinweis|achtung)\b",
    re.IGNORECASE,
)
_GERMAN = frozenset({"bedeutet", "bezeichnet", "heißt", "ist", "sind"})


def definitions_in(analyzed: Analyzed) -> Iterator[DefinedTerm]:
    """What the sentences of paragraphs and list items define."""
    text = analyzed.text
    starts = analyzed.sentences.tolist()
    for start, end in analyzed.blocks.spans("paragraph", "item").tolist():
        inner = starts[bisect_right(starts, start) : bisect_left(starts, end)]
        for first, last in pairwise([start, *inner, end]):
            if (result := _sentence(text, first, last)) is not None:
                yield result


def _sentence(text: str, start: int, end: int) -> DefinedTerm | None:
    plain = without_marks(text[start:end])
    if not plain.endswith((".", ";", "!", '."', ".”", "; and")) or len(plain) > _LONGEST:
        return None
    span = said_at(text, start, end)
    for pattern in (_QUOTED, _MEANS):
        if (match := pattern.match(plain)) and _is_term(match["term"]):
            question = _meaning(match["term"], match["verb"] in _GERMAN)
            return DefinedTerm(question, plain, span)
    match = _IS.match(plain)
    if match is None or not _is_term(match["term"]) or not is_name(match["term"], text):
        return None
    asked = "Was" if match["verb"] in _GERMAN else "What"
    question = f"{asked} {match['verb']} {match['term']}?"
    return DefinedTerm(question, plain, span, match["term"])


def _meaning(term: str, german: bool) -> str:
    return f"Was bedeutet „{term}“?" if german else f"What does “{term}” mean?"


def _is_term(term: str) -> bool:
    """A name or a noun, not the opening of any sentence, nor what stands under a picture."""
    words = re.findall(r"[^\W_]+", term)
    return (
        0 < len(words) <= _MOST_WORDS
        and len(term) > 2
        and not opens_anything(words[0])
        and not _LABEL.match(term)
    )

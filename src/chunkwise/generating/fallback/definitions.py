"""Sentences that say what something is, and the question each of them answers."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from chunkwise.generating.fallback.plain_question import PlainQuestion, said_at, without_marks
from chunkwise.generating.fallback.subjects import is_name, opens_anything
from chunkwise.text.analysis import Analyzed

_LONGEST = 400
"""Characters of a definition that is taken whole; a longer one is cut behind a sentence."""
_MOST_WORDS = 6
"""Of what is defined."""
_WORD = r"[A-ZÄÖÜ][\w'’\-]*"
_TERM = rf"{_WORD}(?: (?:(?:of|the|and|von|der|des|für) )?{_WORD}| [a-zäöüß][\w'’\-]*){{0,2}}"
_NAME = rf"{_WORD}(?: (?:(?:of|the|von|der|des) )?{_WORD}){{0,3}}"
_ARTICLE = r"(?:(?:The|A|An|Die|Der|Das) )?"
# **Amber.** The state of …   **Leave year** means …   - **Key**: what opens …
_BOLD = re.compile(
    r"\s*(?:[-*+•]\s+)?\*\*(?P<term>[^*\n]{2,50}?)(?:[.:,]?\*\*|\*\*[:.])\s*(?:\([^)]{1,40}\)\s*)?[:–—-]?\s*"
    r"(?P<rest>[^\W\d_].{20,})",
    re.DOTALL,
)
_QUOTED = re.compile(
    r"[\"“„](?P<term>[^\"”“„\n]{2,50})[\"”“]\s+(?P<verb>means|bedeutet|heißt)\s+.{10}"
)
_MEANS = re.compile(
    rf"{_ARTICLE}(?P<term>{_TERM}) (?P<verb>means|refers to|stands for|bedeutet|bezeichnet) .{{10}}"
)
_IS = re.compile(
    rf"(?P<term>{_NAME})(?: \([^)]{{1,30}}\))? (?P<verb>is|are|ist|sind) "
    r"(?:an?|the|one of|eine?|der|die|das) (?!only\b|same\b|einzige|gleiche).{10}"
)
_LABEL = re.compile(
    r"(?:fig|figure|table|note|notes|danger|warning|caution|important|example|abb|tab|hinweis|achtung)\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"(.+), (the|der|die|das)", re.IGNORECASE)
_GERMAN = frozenset({"bedeutet", "bezeichnet", "heißt", "ist", "sind"})


def definitions(analyzed: Analyzed) -> Iterator[PlainQuestion]:
    """Of every paragraph and list item what its bold opening names, else what its sentences define."""
    text = analyzed.text
    starts = analyzed.sentences.tolist()
    blocks = analyzed.blocks.spans("paragraph", "item").tolist()
    openings = [_BOLD.match(text[start:end]) for start, end in blocks]
    times = Counter(match["term"] for match in openings if match)
    for (start, end), match in zip(blocks, openings, strict=True):
        inner = starts[bisect_right(starts, start) : bisect_left(starts, end)]
        bounds = [start, *inner, end]
        # What opens several entries is a label: Added, Breaking.
        if match and times[match["term"]] == 1 and _is_term(match["term"]):
            yield _bold(text, match, bounds)
            continue
        for first, last in pairwise(bounds):
            if (found := _sentence(text, first, last)) is not None:
                yield found


def _bold(text: str, match: re.Match[str], bounds: list[int]) -> PlainQuestion:
    start, rest = bounds[0], bounds[0] + match.start("rest")
    end = max((each for each in bounds if rest < each <= start + _LONGEST), default=bounds[-1])
    answer = without_marks(text[rest:end])
    term = _BEHIND.sub(r"\2 \1", without_marks(match["term"]))
    verb = answer.split(maxsplit=1)[0]
    german = verb in _GERMAN
    if german or verb in ("means", "is", "are"):
        answer = f"{term} {answer}"
    return PlainQuestion(
        _meaning(term, german), answer, said_at(text, start, end), "single-concept"
    )


def _sentence(text: str, start: int, end: int) -> PlainQuestion | None:
    plain = without_marks(text[start:end])
    if not plain.endswith((".", ";", "!", '."', ".”", "; and")) or len(plain) > _LONGEST:
        return None
    span = said_at(text, start, end)
    for pattern in (_QUOTED, _MEANS):
        if (match := pattern.match(plain)) and _is_term(match["term"]):
            question = _meaning(match["term"], match["verb"] in _GERMAN)
            return PlainQuestion(question, plain, span, "single-concept")
    match = _IS.match(plain)
    if match is None or not _is_term(match["term"]) or not is_name(match["term"], text):
        return None
    asked = "Was" if match["verb"] in _GERMAN else "What"
    question = f"{asked} {match['verb']} {match['term']}?"
    return PlainQuestion(question, plain, span, "single-concept", match["term"])


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

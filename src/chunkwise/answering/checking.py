"""Holds what a model claims against the passages: is the quote there, and do the words say it?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from chunkwise.answering.answered import NOT_FOUND, Claim, State
from chunkwise.answering.citing import citation_at
from chunkwise.answering.passages import GivenPassage
from chunkwise.answering.quotes import Found, Quotes
from chunkwise.core import Span
from chunkwise.metrics.claims.amounts import counted
from chunkwise.metrics.claims.claim_support import FEW, supports
from chunkwise.metrics.claims.plain_form import holds, plain_form
from chunkwise.metrics.claims.readable import Readable, sentences
from chunkwise.testsets.finding.trimming import trimmed

NO_QUOTE = "no quote was given"
SMALL_WORDS = "its quote has small words alone, which stand anywhere"
NOWHERE = "its quote stands in none of the passages"
NOT_SAID = "no passage says it in these words"
NOT_SHOWN = "the words of the passage do not show that it says this"
NOT_ALL = "most of its words stand there, not all"

_BEST_FIRST: tuple[State, ...] = ("supported", "quoted", "unsupported")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURE = 0.85
"""Share of a sentence's terms that its place must have, where the model named none: the nearest is not yet it."""


def checked(value: Mapping[str, Any], passages: Sequence[GivenPassage]) -> tuple[Claim, ...]:
    """The claims of an answer in JSON; none where it says that the passages do not answer the question."""
    if not value["found"]:
        return ()
    quotes = Quotes(passages)
    given: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for each in value["claims"]:
        if text := _one_line(each["claim"]):
            given[text].append((each["quote"], each["passage"]))
    return tuple(_best(text, pairs, quotes) for text, pairs in given.items())


def attributed(answer: str, passages: Sequence[GivenPassage]) -> tuple[Claim, ...]:
    """The sentences of a plain answer, each with the sentence of a passage that says it; none where it says that the
    passages do not answer the question."""
    found = sentences(answer)
    no = plain_form(NOT_FOUND)
    if found and holds(found[0].plain, no):
        return ()
    texts = [(each, Readable(each.text)) for each in passages]
    said = {
        each.plain: each
        for each in found
        # A small model may take over a heading; it claims nothing.
        if not holds(each.plain, no) and not each.text.startswith("#")
    }
    return tuple(_attributed(each, texts) for each in said.values())


def _best(text: str, given: Sequence[tuple[str, int]], quotes: Quotes) -> Claim:
    """A claim that was made with several quotes stands on the best of them; of equals the first."""
    every = [_checked(text, quote, number, quotes) for quote, number in given]
    return min(every, key=lambda claim: _BEST_FIRST.index(claim.state))


def _checked(text: str, quote: str, number: int, quotes: Quotes) -> Claim:
    found = quotes.find(quote, number)
    if found is None:
        return Claim(text, "unsupported", note=NOWHERE if quote.strip() else NO_QUOTE)
    claim = Readable(text)
    cited = Readable(found.passage.document.text[found.span.start : found.span.end])
    # The language of a few words cannot be told from themselves.
    languages = {claim.language, Readable(found.passage.text).language}
    if not all(cited.terms(language) for language in languages):
        return Claim(text, "unsupported", note=SMALL_WORDS)
    note = _doubt(claim, cited, found)
    citation = citation_at(found)
    is_moved = found.passage.number != number
    return Claim(text, "quoted" if note else "supported", citation, is_moved, note)


def _doubt(claim: Readable, quote: Readable, found: Found) -> str:
    """What keeps the claim from being supported by its quote, or by the passage around it; empty: nothing."""
    if supports(quote, claim):
        return ""
    missing = _numbers(claim) - _numbers(quote)
    if missing:
        return f"{', '.join(sorted(missing))} is not in the quote"
    # A quote may be one word of a sentence, or go on in the next passage.
    start, end = found.passage.start, max(found.passage.end, found.span.end)
    around = found.passage.document.text[start:end]
    return "" if supports(Readable(around), claim) else NOT_SHOWN


def _numbers(text: Readable) -> set[str]:
    """As digits, also where they are written as words."""
    return {amount.number for amount in counted(text.readings[0], text.language).amounts}


def _attributed(claim: Readable, texts: Sequence[tuple[GivenPassage, Readable]]) -> Claim:
    for passage, text in texts:
        if supports(text, claim):
            found = Found(passage, _nearest(passage, text, claim))
            citation = citation_at(found)
            is_sure = supports(Readable(citation.quote), claim, _SURE)
            state: State = "supported" if is_sure else "quoted"
            return Claim(_one_line(claim.text), state, citation, note="" if is_sure else NOT_ALL)
    return Claim(_one_line(claim.text), "unsupported", note=NOT_SAID)


def _nearest(passage: GivenPassage, text: Readable, claim: Readable) -> Span:
    """The sentences of a passage that say the claim: the fewest neighbours that hold it, else all of it."""
    language = claim.language
    terms = claim.terms(language)
    windows = text.windows(terms, min(FEW, len(terms)), language) if terms else []
    starts = [*text.sentence_starts, len(text.text)]
    places = [(starts[min(each)], starts[max(each) + 1]) for each in windows]
    for low, high in sorted(places, key=lambda place: place[1] - place[0]):
        if supports(Readable(text.text[low:high]), claim):
            return trimmed(passage.document.text, passage.start + low, passage.start + high)
    return trimmed(passage.document.text, passage.start, passage.end)


def _one_line(text: str) -> str:
    """Without line breaks, and without halves of characters, which no file could hold."""
    return " ".join(_SURROGATE.sub("\ufffd", text).split())

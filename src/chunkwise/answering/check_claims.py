"""Holds what a model claims against the passages: is the quote there, do the words say it, where is it?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from chunkwise.answering.cited_answer import NOT_FOUND, Citation, Claim, ClaimState, NumberedPassage
from chunkwise.core import AS_WRITTEN, Document, Span
from chunkwise.metrics.claims.claim_support import FEW, supports
from chunkwise.metrics.claims.hit_texts import whole_words
from chunkwise.metrics.claims.numbers import has_number
from chunkwise.metrics.claims.text_normalization import Readable, holds, plain_form, sentences
from chunkwise.retrieval.tables_lists_code import whole_blocks
from chunkwise.testsets.locate import Missing, SoughtPassage, elided_parts, locate, trimmed
from chunkwise.text.analyzed import Analyzed


class FoundQuote(NamedTuple):
    """A place in the document of a passage."""

    passage: NumberedPassage
    """The one it begins in."""
    span: Span


class QuoteFinder:
    """Looks for quotes in the same passages."""

    def __init__(self, passages: Sequence[NumberedPassage]) -> None:
        self._passages = passages
        self._readable = [(passage, Readable(passage.text)) for passage in passages]
        self._texts = [Document(str(passage.number), passage.text) for passage in passages]
        self._joined = _joined(passages)

    def find(self, quote: str, number: int) -> FoundQuote | None:
        """In the passage of this number, else in another, else over the border of two; None: nowhere.

        Where something was left out of a quote, its place goes from the first part to the last.
        """
        if not any(map(str.isalnum, quote)):  # signs alone are no words of anybody
            return None
        return self._whole(quote, number) or self._elided(elided_parts(quote), number)

    def by_words(self, claim: Readable, number: int) -> Claim:
        """The claim with the sentences that say it, in the passage of this number, else in another."""
        return _attributed(claim, sorted(self._readable, key=lambda pair: pair[0].number != number))

    def _whole(self, quote: str, number: int) -> FoundQuote | None:
        at = next((n for n, passage in enumerate(self._passages) if passage.number == number), None)
        for passages, named in ((self._passages, at), (self._joined, None)):
            texts = self._texts if passages is self._passages else _texts(passages)
            for chosen, start, end in _places(quote, named, texts):
                start, end = start + passages[chosen].start, end + passages[chosen].start
                if _has_whole_word(passages[chosen], start, end):
                    return FoundQuote(self._beginning(passages[chosen], start), Span(start, end))
        return None

    def _elided(self, parts: Sequence[str], number: int) -> FoundQuote | None:
        """All parts in one passage, one behind the other."""
        for passage in sorted(
            self._passages, key=lambda numbered_passage: numbered_passage.number != number
        ):
            spans: list[Span] = []
            at = passage.start
            for part in parts:
                rest = Document("rest", passage.document.text[at : passage.end])
                places = (Span(at + low, at + high) for _, low, high in _places(part, None, [rest]))
                span = next((place for place in places if _has_whole_word(passage, *place)), None)
                if span is None:
                    break
                spans.append(span)
                at = span.end
            else:
                if spans:
                    return FoundQuote(passage, Span(spans[0].start, spans[-1].end))
        return None

    def _beginning(self, within: NumberedPassage, start: int) -> NumberedPassage:
        """The passage that was given and has this place."""
        if within in self._passages:
            return within
        return next(
            passage
            for passage in self._passages
            if passage.doc_id == within.doc_id and passage.start <= start < passage.end
        )


def _texts(passages: Sequence[NumberedPassage]) -> list[Document]:
    return [Document(str(number), passage.text) for number, passage in enumerate(passages)]


def _places(quote: str, named: int | None, texts: Sequence[Document]) -> list[tuple[int, int, int]]:
    """Number of the text, start and end; those in the text that was named, where there are any."""
    if not texts:
        return []
    outcome = locate([SoughtPassage(quote, named)], texts)[0]
    places = outcome.elsewhere if isinstance(outcome, Missing) else outcome.places
    ids = [text.id for text in texts]
    return [(ids.index(place.doc_id), place.start, place.end) for place in places]


def _has_whole_word(passage: NumberedPassage, start: int, end: int) -> bool:
    """A quote that stands only inside a word stands nowhere."""
    whole = whole_words(passage.document.text, start, end)
    return bool(passage.document.text[whole.start : whole.end].strip())


def _joined(passages: Sequence[NumberedPassage]) -> list[NumberedPassage]:
    """Those that touch or overlap in their document, as one; white space between them does not part them."""
    numbered_passages: list[NumberedPassage] = []
    for passage in sorted(
        passages, key=lambda passage: (passage.doc_id, passage.start, passage.end)
    ):
        last = numbered_passages[-1] if numbered_passages else None
        between = (
            last
            and last.doc_id == passage.doc_id
            and passage.document.text[last.end : passage.start]
        )
        if last is not None and (between == "" or (between and not between.strip())):
            numbered_passages[-1] = NumberedPassage(
                0, last.id, last.document, last.start, max(last.end, passage.end)
            )
        else:
            numbered_passages.append(passage)
    return [passage for passage in numbered_passages if not passage.number]


def citation_at(found: FoundQuote) -> Citation:
    """Document, section, page, lines, characters and the text itself."""
    passage, (start, end) = found
    document = passage.document
    lines = None
    if document.format in AS_WRITTEN:
        first = document.text.count("\n", 0, start) + 1
        lines = first, first + document.text.count("\n", start, max(start, end - 1))
    return Citation(
        passage.number, passage.id, document.id, start, end, document.text[start:end],
        document.title, _section(found), document.page(start), lines,
        *whole_blocks(document).quoted(start, end),
    )  # fmt: skip


def _section(quote: FoundQuote) -> tuple[str, ...]:
    """Of the quote: a passage may go over several, and has the path of one of them."""
    passage, (start, end) = quote
    own = analyzed_once(passage.document).section(start, end)
    # Where an index has lost the layout that a format declared, the path was found while it was there.
    has_layout = passage.document.format in AS_WRITTEN or passage.document.blocks is not None
    is_below = own[: len(passage.section)] == passage.section
    return own if has_layout or is_below else passage.section


@lru_cache(maxsize=16)
def analyzed_once(document: Document) -> Analyzed:
    """Several quotes of an answer stand in the same documents."""
    return Analyzed(document)


NO_QUOTE = "no quote was given"
SMALL_WORDS = "its quote has only function words"
NOWHERE = "its quote is in none of the passages"
BY_WORDS = "its quote is in none of the passages; this span has the same words"
NOT_SAID = "no passage contains these words"
NOT_SHOWN = "the passage's words don't support it"
NOT_ALL = "the passage has most of the words, not all"

_BEST_FIRST: tuple[ClaimState, ...] = ("supported", "quoted", "unsupported")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURE = 0.85
"""Share of a sentence's terms that its place must have, where the model named none: the nearest is not yet it."""


def check_claims(
    value: Mapping[str, Any], passages: Sequence[NumberedPassage]
) -> tuple[Claim, ...]:
    """The claims of an answer in JSON; none where it says that the passages do not answer the question."""
    if not value["found"]:
        return ()
    quotes = QuoteFinder(passages)
    given: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for each in value["claims"]:
        if text := one_line(each["claim"]):
            given[text].append((each["quote"], each["passage"]))
    return tuple(_best(text, pairs, quotes) for text, pairs in given.items())


def attribute_sentences(answer: str, passages: Sequence[NumberedPassage]) -> tuple[Claim, ...]:
    """The sentences of a plain answer, each with the sentence of a passage that says it; none where it says that the
    passages do not answer the question."""
    readables = sentences(answer)
    no = plain_form(NOT_FOUND)
    if readables and holds(readables[0].plain, no):
        return ()
    texts = [(passage, Readable(passage.text)) for passage in passages]
    said = {
        passage.plain: passage
        for passage in readables
        # A small model may take over a heading; it claims nothing.
        if not holds(passage.plain, no) and not passage.text.startswith("#")
    }
    return tuple(_attributed(item, texts) for item in said.values())


def _best(text: str, given: Sequence[tuple[str, int]], quotes: QuoteFinder) -> Claim:
    """A claim that was made with several quotes stands on the best of them; of equals the first."""
    every = [_checked(text, quote, number, quotes) for quote, number in given]
    return min(every, key=lambda claim: _BEST_FIRST.index(claim.state))


def _checked(text: str, quote: str, number: int, quotes: QuoteFinder) -> Claim:
    result = quotes.find(quote, number)
    claim = Readable(text)
    if result is None:
        return _unquoted(claim, quote, number, quotes)
    cited = Readable(result.passage.document.text[result.span.start : result.span.end])
    # The language of a few words cannot be told from themselves.
    languages = {claim.language, Readable(result.passage.text).language}
    if not all(cited.terms(language) for language in languages):
        return Claim(text, "unsupported", note=SMALL_WORDS)
    note = _doubt(claim, cited, result)
    citation = citation_at(result)
    is_moved = result.passage.number != number
    return Claim(text, "quoted" if note else "supported", citation, is_moved, note)


def _unquoted(claim: Readable, quote: str, number: int, quotes: QuoteFinder) -> Claim:
    """A passage alone names a place, too: the sentences in it that say the claim; a wrong quote stays a doubt."""
    said = quotes.by_words(claim, number)
    if said.citation is None:
        return replace(said, note=NOWHERE if quote.strip() else NO_QUOTE)
    said = replace(said, is_moved=said.citation.passage != number)
    return replace(said, state="quoted", note=BY_WORDS) if quote.strip() else said


def _doubt(claim: Readable, quote: Readable, found: FoundQuote) -> str:
    """What keeps the claim from being supported by its quote, or by the passage around it; empty: nothing."""
    if supports(quote, claim):
        return ""
    words = claim.readings[0].split()
    missing = {
        " ".join(words[number.first : number.end])
        for number in claim.numbers
        if not has_number(quote.numbers, number)
    }
    if missing:
        return f"{', '.join(sorted(missing))} is not in the quote"
    # A quote may be one word of a sentence, or go on in the next passage.
    start, end = found.passage.start, max(found.passage.end, found.span.end)
    around = found.passage.document.text[start:end]
    return "" if supports(Readable(around), claim) else NOT_SHOWN


def _attributed(claim: Readable, texts: Sequence[tuple[NumberedPassage, Readable]]) -> Claim:
    for passage, text in texts:
        if supports(text, claim):
            quote = FoundQuote(passage, _nearest(passage, text, claim))
            citation = citation_at(quote)
            is_sure = supports(Readable(citation.quote), claim, _SURE)
            state: ClaimState = "supported" if is_sure else "quoted"
            return Claim(one_line(claim.text), state, citation, note="" if is_sure else NOT_ALL)
    return Claim(one_line(claim.text), "unsupported", note=NOT_SAID)


def _nearest(passage: NumberedPassage, text: Readable, claim: Readable) -> Span:
    """The sentences of a passage that say the claim: the fewest neighbors that hold it, else all of it."""
    language = claim.language
    terms = claim.terms(language)
    windows = text.windows(terms, min(FEW, len(terms)), language) if terms else []
    starts = [*text.sentence_starts, len(text.text)]
    places = [(starts[min(window)], starts[max(window) + 1]) for window in windows]
    for low, high in sorted(places, key=lambda place: place[1] - place[0]):
        if supports(Readable(text.text[low:high]), claim):
            return trimmed(passage.document.text, passage.start + low, passage.start + high)
    return trimmed(passage.document.text, passage.start, passage.end)


def one_line(text: str) -> str:
    """Without line breaks, and without halves of characters, which no file could hold."""
    return " ".join(_SURROGATE.sub("\ufffd", text).split())


def lines_of(text: str) -> str:
    """The same with its lines and their indentation."""
    lines = _SURROGATE.sub("\ufffd", text).splitlines()
    return "\n".join(map(str.rstrip, lines)).strip("\n")

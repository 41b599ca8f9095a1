"""Claims of a few words: dates, numbers, names, yes and no, each held against what a text says of it."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkwise.metrics.claims.amounts import Counted, counted, has_amounts, is_unit
from chunkwise.metrics.claims.negations import denied
from chunkwise.metrics.claims.plain_form import plain_form
from chunkwise.metrics.claims.quantities import are_same, is_day, quantities_of
from chunkwise.metrics.claims.readable import Readable
from chunkwise.text.terms import NONE

_BEGINNING = 3
"""Letters that a word keeps in all its forms: a text without them has none of these."""
_AROUND = frozenset(
    "within up about approximately around exactly total circa roughly innerhalb binnen etwa rund ungefähr insgesamt"
    " genau environ exactement dentro aproximadamente exactamente".split()
)
"""Words beside an amount that say little: "within 90 days" and "90 days" answer the same question."""


def says_shortly(text: Readable, claim: Readable) -> bool:
    """Whether one sentence has all content words of the claim as stems, all its numbers with what they count (6 months
    are six months, $150 are 150 dollars), and denies neither more nor less. A date must be the same day."""
    if is_date(claim):
        wanted = quantities_of(plain_form(claim.text))
        dates = text.once("dates", lambda: quantities_of(plain_form(text.text)))
        return any(are_same(one.readings, other.readings) for one in wanted for other in dates)
    # Of so few words the language cannot be told; that of the text may be. Most that has none is English.
    known = (each.language for each in (text, claim) if each.language != NONE)
    language = next(known, "en")
    return any(_is_held(text, form, language) for form in claim.readings)


def is_date(claim: Readable) -> bool:
    """Whether a claim is the date of a day and nothing else."""
    return claim.once("is_date", lambda: is_day(plain_form(claim.text)))


def is_amount(claim: Readable) -> bool:
    """Whether a claim is an amount and nothing else: within six months."""
    language = "en" if claim.language == NONE else claim.language
    sought = counted(claim.readings[0], language)
    return _measures(sought) and not _content(sought, claim.readings[0])


def _measures(sought: Counted) -> bool:
    return bool(sought.amounts or sought.quantities)


def _content(sought: Counted, form: str) -> set[str]:
    """The words that say what it is about, without numbers, and beside them without units."""
    return {
        word
        for at, (word, raw) in enumerate(zip(sought.words, form.split(), strict=True))
        if word
        and at not in sought.numerals
        and not (_measures(sought) and (is_unit(word, sought.language) or raw in _AROUND))
    }


def _is_held(text: Readable, form: str, language: str) -> bool:
    sought = counted(form, language)
    content = _content(sought, form)
    if not content and not _measures(sought):
        return False
    letters = text.letters
    if letters is not None and not all(
        word[:_BEGINNING] in letters for word in content if word.isascii()
    ):
        return False
    own = [set(stems) for stems in denied(form, language)]
    said = {word for word in sought.words if word} | {
        word for at, word in enumerate(form.split()) if at in sought.numerals
    }
    for number, sentence in enumerate(
        text.once(f"counted {language}", lambda: _counted(text, language))
    ):
        if content.issubset(sentence.words) and has_amounts([sentence], sought):
            theirs = [set(stems) for stems in denied(text.plain_sentence(number), language)]
            if not own and not any(said & stems for stems in theirs):
                return True
            if own and any(ours & stems for ours in own for stems in theirs):
                return True
    return False


def _counted(text: Readable, language: str) -> list[Counted]:
    return [
        counted(text.plain_sentence(number), language)
        for number in range(len(text.sentence_starts))
    ]


_YES = "yes|yep|true|correct|ja|jawohl|doch|oui|sí|si|sì|sim|да|evet|是|是的|对|はい|예|네|نعم"
_NO = (
    "no|nope|false|incorrect|nein|non|não|nee|nej|nei|нет|hayır|否|不|不是|いいえ|아니요|아니오|لا"
)
_OPENING = re.compile(
    rf"\W*(?:(?P<yes>{_YES})|(?P<no>{_NO})(?!\.\s*\d))\s*(?:(?:[.,;:!–—，。；：！]|-(?=\s))+\s*|\Z)",
    re.IGNORECASE,
)


class YesNo(NamedTuple):
    """An answer with its first word told apart."""

    is_yes: bool | None
    """None: it says neither."""
    rest: str


def yes_no(text: str) -> YesNo:
    """Only a word that stands alone or before a sign: "No fee" is no answer no."""
    found = _OPENING.match(text)
    return (
        YesNo(None, text) if found is None else YesNo(found["yes"] is not None, text[found.end() :])
    )


def without_yes_no(text: str) -> str:
    """What an answer says beside the yes or no it opens with; empty: nothing that words could be held against."""
    found = yes_no(text)
    return "" if found.is_yes is not None and not any(map(str.isalnum, found.rest)) else found.rest

"""Whether a text supports a claim: the same terms, numbers, names and negations in neighbouring sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import groupby, islice
from math import ceil
from operator import itemgetter
from typing import NamedTuple

from chunkwise.metrics.claims.amount_support import (
    Counted,
    counted,
    has_amounts,
    has_quantity,
    is_unit,
)
from chunkwise.metrics.claims.quantities import are_same, is_day, quantities_of
from chunkwise.metrics.claims.text_normalization import Readable, holds, plain_form
from chunkwise.text.terms import NONE, stemmer, stop_words, text_terms

# As they stand in the plain form: "don't" is "don t", every Chinese and Japanese character a word of its own.
_NEGATIONS = {
    "en": r"not|no|never|none|nobody|nothing|neither|nor|without|cannot|\w*n t|unable|impossible|forbidden|prohibit\w*",
    "de": r"nicht|kein\w*|nie|niemals|niemand\w*|nichts|ohne|weder|verboten\w*|untersagt\w*|unmöglich",
    "fr": r"ne|n|pas|non|jamais|sans|aucune?|rien|ni|interdite?s?|impossible",
    "es": r"no|nunca|jamás|sin|ningún|ninguna?|nada|nadie|tampoco|ni|prohibid[oa]s?|imposible",
    "it": r"non|no|mai|senza|nessun\w*|niente|nulla|né|vietat[oaie]|impossibile",
    "pt": r"não|nunca|jamais|sem|nenhuma?|nada|ninguém|nem|proibid[oa]s?|impossível",
    "nl": r"niet|geen|nooit|zonder|niets|niemand|noch|verboden|onmogelijk",
    "sv": r"inte|ej|aldrig|ingen|inget|inga|förbjud\w*",
    "da": r"ikke|aldrig|ingen|intet|uden|forbudt",
    "no": r"ikke|aldri|ingen|intet|uten|forbudt",
    "pl": r"nie|nigdy|bez|żaden|żadn\w*|nikt|nic|brak|zabronion\w*",
    "cs": r"ne|nikdy|bez|žádn\w*|nikdo|nic|zakázán\w*",
    "ru": r"не|нет|ни|без|никогда|никто|ничего|нельзя|запрещ\w*",
    "uk": r"не|немає|ні|без|ніколи|ніхто|нічого|заборон\w*",
    "bg": r"не|няма|без|никога|никой|нищо|забран\w*",
    "el": r"δεν|μην?|χωρίς|ποτέ|κανείς|τίποτα",
    "tr": r"değil\w*|yok\w*|asla|hiç\w*|yasak\w*",
    "ar": r"لا|لم|لن|ليس\w*|غير|بدون",
    "he": r"לא|אין|בלי|ללא",
    "hi": r"नहीं|मत|बिना",
    "zh": r"不|没|沒|無|无|未|勿|禁|莫",
    "ja": r"な い|な か|な く|な し|ま せ ん|ず|不|無|未|禁",
    "ko": r"않|없|못|아 니|안 (?=[되하돼])",
}  # fmt: skip
_NOT_NEGATIONS = {
    "en": r"not only|(?:not|no) (?:exceed\w*|(?:more|less|later) than)|whether or not|no(?= \d)",
    "de": r"nicht nur|nicht zuletzt",
    "fr": r"non seulement",
    "es": r"no s[oó]lo",
    "zh": r"不 [仅僅但只论論断斷过過久同少]|[无無] [论論]|未 [来來]",
}
_JOINS = frozenset(
    "and or but und oder aber sondern et ou mais y o pero e ma mas en of maar".split()
)
_WORD = re.compile(r"\S+")
_NEAR = 4
"""Words behind a negation among which are those it denies."""


def denied(plain: str, language: str) -> list[list[str]]:
    """Of a text in its plain form, the stems behind every negation, up to an "and"; empty: nothing is denied."""
    negation, idiom = _patterns(language)
    plain = idiom.sub("", plain)
    return [_stems_behind(plain, match.end(), language) for match in negation.finditer(plain)]


def _stems_behind(plain: str, position: int, language: str) -> list[str]:
    small, stem = stop_words(language), stemmer(language)
    found = []
    # Not a slice: all that is left would be copied for every negation.
    for word in map(itemgetter(0), islice(_WORD.finditer(plain, position), _NEAR)):
        if word in _JOINS:
            break
        if word not in small:
            found.append(stem(word))
    return found


@lru_cache(maxsize=64)
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """English is looked for as well, because of a short text the language is easily mistaken; but "no" is a small
    word of Portuguese."""
    own = [language] if language in _NEGATIONS else ["de", "zh"]
    english = _NEGATIONS["en"].split("|")
    if language != "en":
        english = [word for word in english if word not in stop_words(language)]
    words = "|".join([*english, *(_NEGATIONS[each] for each in own)])
    idioms = "|".join(_NOT_NEGATIONS[each] for each in ("en", *own) if each in _NOT_NEGATIONS)
    whole = "(?<= )(?:{})(?= )"
    return re.compile(whole.format(words)), re.compile(whole.format(idioms))


_BEGINNING = 3
"""Letters that a word keeps in all its forms: a text without them has none of these."""
AROUND = frozenset(
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
        and not (_measures(sought) and (is_unit(word, sought.language) or raw in AROUND))
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
    """What an answer says beside the yes or no it opens with; empty: nothing that words could be compared with."""
    found = yes_no(text)
    return "" if found.is_yes is not None and not any(map(str.isalnum, found.rest)) else found.rest


_NOUNS_HAVE_CAPITALS = frozenset(("de",))
"""Languages in which a capital letter inside a sentence does not tell a name."""


class Name(NamedTuple):
    """A capitalised content word."""

    word: str
    terms: frozenset[int]
    first: bool
    """It opens the sentence: every word has a capital there."""


@lru_cache(maxsize=1 << 8)
def names_of(text: str, language: str) -> tuple[Name, ...]:
    """The capitalised words of a sentence; none of one that is written in capitals."""
    if text.isupper():
        return ()
    terms = text_terms(text, language)
    places = zip(terms.start.tolist(), terms.end.tolist(), terms.hash.tolist(), strict=True)
    found = []
    for (start, end), same in groupby(places, lambda place: place[:2]):
        word = text[start:end]
        first = not any(map(str.isalnum, text[:start]))
        if word[0].isupper() and (first or language not in _NOUNS_HAVE_CAPITALS):
            found.append(Name(word, frozenset(term for _, _, term in same), first))
    return tuple(found)


def is_missing(
    name: Name, window: str, terms: AbstractSet[int], claim: str, text: str, language: str
) -> bool:
    """Whether a window of a text, of these terms, does not have a name of the claim.

    A word that opens the claim is a name when the window has another one in its place, and neither is written with a
    small letter anywhere: Anna for Peter, but not Staff for Employees where the text goes on about employees. Where
    nouns have capitals the two must stand before the same word.
    """
    if name.terms & terms:
        return False
    if not name.first:
        return True
    if _is_small(name.word, text) or _is_small(name.word, claim):
        return False
    said = text_terms(claim, language).hash.tolist()
    others = [each for each in names_of(window, language) if not each.terms.intersection(said)]
    if language in _NOUNS_HAVE_CAPITALS:
        behind = _behind(name.word, claim)
        others = [each for each in others if behind and _behind(each.word, window) == behind]
    return any(not _is_small(each.word, text) for each in others)


def _behind(word: str, text: str) -> str:
    found = re.search(rf"(?<!\w){re.escape(word)}\s+(\w+)", text)
    return found[1] if found else ""


def _is_small(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text) is not None


THRESHOLD = 0.7
"""Share of a sentence's content terms that a text must have to hold it."""
FEW = 3
"""A sentence of fewer content terms, or of numbers alone, is sought word by word: a date, a name, a figure."""
_CLAUSE = re.compile(r"[,;:](?=\s)|[()|—，；：]|\s[-–]\s")
_CLOCK = re.compile(r"\b([0-9]+)h([0-9]+)\b")
"""As the plain form has times of the day, whose terms are two numbers."""
_REACH = 40
_BEFORE = 2
"""Words before a claim that stands word by word among which a negation turns it round."""


def supports(text: Readable, claim: Readable, threshold: float = THRESHOLD) -> bool:
    """Whether the claim stands in the text word by word, with no negation before it that it does not have itself.

    A short claim (FEW) is also held by one sentence with all its words and amounts (`says_shortly`). One that is not
    short is also held by one to three neighbouring sentences (WINDOW), or by the entries of a short list (LIST), that

    - have at least the threshold's share of its content terms: stems, without the small words;
    - deny something if and only if it denies something, and nothing that it affirms; only the clauses that have one
      of its words are looked at;
    - have all its numbers, as digits or as words, each with the unit or currency it stands with in the claim, or the
      same quantity in another unit (`quantities`); the sentence that has most of its terms has one of them, or no
      number with a unit at all;
    - have all its names: words with a capital letter inside a sentence, or at its start where the text has another
      name instead.

    It is a comparison of words: who did what to whom, and what a pronoun stands for, it does not know.
    """
    letters = text.letters
    may_hold = letters is None or claim.longest_word in letters
    if may_hold and any(_stands(text.plain, form, claim.language) for form in claim.readings):
        return True
    terms = claim.terms(claim.language)
    if len(terms) < FEW or is_date(claim) or is_amount(claim):
        return says_shortly(text, claim)
    if letters is not None and not all(end in letters for end in claim.number_ends):
        return False
    # A date: its parts in another order are another date.
    if claim.numbers.issuperset(claim.readings[0].split()):
        return False
    # What is measured may be written in other words: then the other terms are enough to find where.
    measured = _measured(claim)
    sought = [terms, terms - measured] if measured and measured < terms else [terms]
    return any(_is_said(text, each, threshold, claim) for each in sought)


def _is_said(text: Readable, terms: frozenset[int], threshold: float, claim: Readable) -> bool:
    # Both are read in the claim's language: a table in the text may have none that can be told.
    least = ceil(threshold * len(terms) - 1e-9)
    if len(terms & text.terms(claim.language)) < least:
        return False
    windows = text.windows(terms, least, claim.language)
    return any(_says(text, window, claim) for window in windows)


def _measured(claim: Readable) -> frozenset[int]:
    """The terms of its quantities."""
    language = claim.language

    def made() -> frozenset[int]:
        words = claim.readings[0].split()
        found = quantities_of(claim.readings[0], language)
        said = " ".join(word for each in found for word in words[each.first : each.end])
        said = _CLOCK.sub(r"\1 \2", said)
        return frozenset(text_terms(said, language).hash.tolist())

    return claim.once("measured", made)


def _stands(text: str, claim: str, language: str) -> bool:
    """Word by word, both in their plain form."""
    if not holds(text, claim):
        return False
    if denied(claim, language):
        return True
    at = text.find(claim)
    while at >= 0:
        before = text[max(0, at - _REACH) : at].split()[-_BEFORE:]
        if not denied(f" {' '.join(before)} ", language):
            return True
        at = text.find(claim, at + 1)
    return False


def _says(text: Readable, window: Mapping[int, set[int]], claim: Readable) -> bool:
    """Whether sentences that have enough terms say what the claim says; see `supports`."""
    core = max(window, key=lambda number: len(window[number]))
    language = claim.language
    return (
        _denies_the_same(text, window, core, claim)
        and any(_has_amounts(text, window, core, form, language) for form in claim.readings)
        and _has_names(text, window, claim)
    )


def _denies_the_same(
    text: Readable, window: Mapping[int, set[int]], core: int, claim: Readable
) -> bool:
    language = claim.language
    own = denied(claim.readings[0], language)
    said = set(counted(claim.readings[0], language).words) - {""}
    theirs = {number: _denied_of(text.sentence(number), said, language) for number in window}
    if not own:
        return not any(theirs.values())
    # Not allowed and punished; allowed and not punished.
    affirmed = said.difference(*own)
    return bool(theirs[core]) and not any(affirmed.intersection(each[:1]) for each in theirs[core])


def _denied_of(sentence: str, said: set[str], language: str) -> list[list[str]]:
    """What the sentence denies in clauses that have a word of the claim."""
    found = []
    for clause in _CLAUSE.split(sentence):
        plain = plain_form(clause)
        if (stems := denied(plain, language)) and said.intersection(counted(plain, language).words):
            found += stems
    return found


def _has_amounts(
    text: Readable, window: Mapping[int, set[int]], core: int, claim: str, language: str
) -> bool:
    sought = counted(claim, language)
    if not sought.amounts and not sought.quantities:
        return True
    parts = {
        number: counted(text.plain_sentence(number), language)
        for number in range(min(window), max(window) + 1)
    }
    numbers = {amount.number for amount in sought.amounts}
    own = parts[core]
    if (
        own.measures
        and not any(amount.number in numbers for amount in own.amounts)
        and not any(has_quantity([own], each) for each in sought.quantities)
    ):
        return False
    return has_amounts(list(parts.values()), sought)


def _has_names(text: Readable, window: Mapping[int, set[int]], claim: Readable) -> bool:
    language = claim.language
    shared = set().union(*window.values())
    written = "\n".join(map(text.sentence, window))
    return not any(
        is_missing(name, written, shared, claim.text, text.text, language)
        for name in names_of(claim.text, language)
        if not name.terms <= _measured(claim)
    )

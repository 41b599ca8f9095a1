"""Whether a text supports a claim: the same terms, numbers, names and negations in neighboring sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from math import ceil
from typing import NamedTuple

from chunkwise.core import Score
from chunkwise.metrics.claims.numbers import has_number, read_numbers
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
_WORD = re.compile(r"\S+")
_NEAR = 4
"""Words behind a negation among which are those it denies."""


def denied(plain: str, language: str) -> list[set[str]]:
    """Of a text in its plain form, the stems behind every negation; empty: nothing is denied."""
    small, stem = stop_words(language), stemmer(language)
    return [
        # Not a slice: all that is left would be copied for every negation.
        {
            stem(word[0])
            for word in islice(_WORD.finditer(plain, negation.end()), _NEAR)
            if word[0] not in small
        }
        for negation in _negations(language).finditer(plain)
    ]


@lru_cache(maxsize=64)
def _negations(language: str) -> re.Pattern[str]:
    """English is looked for as well, because of a short text the language is easily mistaken; but "no" is a small
    word of Portuguese."""
    words = [_NEGATIONS[name] for name in ([language] if language in _NEGATIONS else ["de", "zh"])]
    english = _NEGATIONS["en"].split("|")
    if language != "en":
        english = [word for word in english if word not in stop_words(language)]
    return re.compile(f"(?<= )(?:{'|'.join([*english, *words])})(?= )")


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
    match = _OPENING.match(text)
    return (
        YesNo(None, text) if match is None else YesNo(match["yes"] is not None, text[match.end() :])
    )


def without_yes_no(text: str) -> str:
    """What an answer says beside the yes or no it opens with; empty: nothing that words could be compared with."""
    no = yes_no(text)
    return "" if no.is_yes is not None and not any(map(str.isalnum, no.rest)) else no.rest


_NOUNS_HAVE_CAPITALS = frozenset(("de",))
"""Languages in which a capital letter inside a sentence does not mark a name."""


class Name(NamedTuple):
    """A capitalized content word."""

    word: str
    terms: frozenset[int]
    is_first: bool
    """It opens the sentence: every word has a capital there."""


@lru_cache(maxsize=1 << 8)
def names_of(text: str, language: str) -> tuple[Name, ...]:
    """The capitalized words of a sentence; none of one that is written in capitals."""
    if text.isupper():
        return ()
    terms = text_terms(text, language)
    places = zip(terms.start.tolist(), terms.end.tolist(), terms.hash.tolist(), strict=True)
    names = []
    for (start, end), same in groupby(places, lambda place: place[:2]):
        is_first = not any(map(str.isalnum, text[:start]))
        if text[start].isupper() and (is_first or language not in _NOUNS_HAVE_CAPITALS):
            names.append(Name(text[start:end], frozenset(term for *_, term in same), is_first))
    return tuple(names)


def content_terms(text: Readable, language: str) -> frozenset[int]:
    """Its content terms without those of its numbers and their units."""
    numbers = read_numbers(text.readings[0], language)
    if not numbers:
        return text.terms(language)
    words = text.readings[0].split()
    counted = " ".join(word for number in numbers for word in words[number.first : number.end])
    return text.terms(language) - frozenset(text_terms(counted, language).hash.tolist())


THRESHOLD = 0.7
"""Share of a sentence's content terms that a text must have to hold it."""
FEW = 3
"""A sentence of fewer content terms, or of numbers alone, is sought word by word: a date, a name, a figure."""
_CLAUSE = re.compile(r"[,;:](?=\s)|[()|—，；：]|\s[-–]\s")
_REACH = 40
_BEFORE = 2
"""Words before a claim that stands word by word among which a negation turns it round."""


def supports(text: Readable, claim: Readable, threshold: float = THRESHOLD) -> bool:
    """Whether the claim stands in the text word by word, with no negation before it that it does not have itself.

    It is also held by one to three neighboring sentences (WINDOW), or by the entries of a short list (LIST), that

    - have at least the threshold's share of its content terms (stems without the small words), or, where it has few
      (FEW), one sentence that has them all;
    - deny something if and only if it denies something; only the clauses that have one of its words are looked at;
    - have all its numbers, as digits or as words, with the same measure (six months are 6 months); the sentence that
      has most of its terms has one of them, or no number with a unit at all;
    - have all its names: words with a capital letter inside a sentence.

    It is a comparison of words: who did what to whom, and what a pronoun stands for, it does not know.
    """
    if any(_stands(text.plain, form, claim.language) for form in claim.readings):
        return True
    language = claim.language
    is_short = len(claim.terms(language)) < FEW or not content_terms(claim, language)
    if is_short:
        # Of so few words the language cannot be told; that of the text may be. Most that has none is English.
        language = next((item.language for item in (text, claim) if item.language != NONE), "en")
    terms = content_terms(claim, language)
    if not terms:
        return any(
            _has_numbers(text, {number: set()}, number, form, language)
            for number in range(len(text.sentence_starts))
            for form in claim.readings
            if read_numbers(form, language)
        )
    least = len(terms) if is_short else ceil(threshold * len(terms) - 1e-9)
    if len(terms & text.terms(language)) < least:
        return False
    windows = text.windows(terms, least, language)
    return any(
        _says(text, window, claim, language)
        for window in windows
        if len(window) == 1 or not is_short
    )


def share_held(claims: Sequence[Readable], texts: Iterable[Readable]) -> Score | None:
    """Of the claims, those that at least one of the texts supports; None: there is no claim."""
    if not claims:
        return None
    known = list(texts)
    held = sum(any(supports(text, claim) for text in known) for claim in claims)
    return Score(held / len(claims))


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


def _says(text: Readable, window: Mapping[int, set[int]], claim: Readable, language: str) -> bool:
    """Whether sentences that have enough terms say what the claim says; see `supports`."""
    core = max(window, key=lambda number: len(window[number]))
    shared = set().union(*window.values())
    return (
        _denies_the_same(text, window, core, claim, language)
        and any(_has_numbers(text, window, core, form, language) for form in claim.readings)
        and all(
            name.is_first or name.terms & shared
            for name in names_of(claim.text, language)
            if name.terms <= content_terms(claim, language)
        )
    )


def _denies_the_same(
    text: Readable, window: Mapping[int, set[int]], core: int, claim: Readable, language: str
) -> bool:
    own = claim.readings[0]
    stem, small = stemmer(language), stop_words(language)

    def denies(number: int) -> bool:
        """In a clause that has a word of the claim."""
        clauses = map(plain_form, _CLAUSE.split(text.sentence(number)))
        return any(
            not words.isdisjoint(map(stem, set(clause.split()) - small))
            for clause in clauses
            if denied(clause, language)
        )

    words = set(map(stem, set(own.split()) - small))
    return denies(core) if denied(own, language) else not any(map(denies, window))


def _has_numbers(
    text: Readable, window: Mapping[int, set[int]], core: int, claim: str, language: str
) -> bool:
    sought = read_numbers(claim, language)
    if not sought:
        return True
    numbers = {
        number: read_numbers(text.plain_sentence(number), language)
        for number in range(min(window), max(window) + 1)
    }
    measured = any(number.measure for number in numbers[core])
    if measured and not any(has_number(numbers[core], number) for number in sought):
        return False
    every = [number for sentence in numbers.values() for number in sentence]
    return all(has_number(every, number) for number in sought)

"""Words brought to their stem, by language: Snowball's stemmers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from chunkwise.errors import MissingExtra

_SNOWBALL = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
LANGUAGES = frozenset((*_SNOWBALL, *"am bg bn he ja ka km ko lo my te th uk vi zh".split()))
"""All that `text.language` can tell; words of those without a stemmer stay as they are."""

_KEEPS_ACCENTS = frozenset("cs da fi hu no pl ro sv tr vi".split())
"""Languages in which a letter with a mark is another letter of the alphabet."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_INVISIBLE = re.compile("[\u00ad\u200c\u200d\u2060\ufe00-\ufe0f]")
_LONGEST = 64
"""Characters of a word worth stemming: what is longer is no word of a language."""


def folded(word: str) -> str:
    """Small letters in one spelling: compatible forms, joiners and soft hyphens do not tell words apart."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", word)).casefold()


def without_accents(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word)))


@lru_cache(maxsize=64)
def stemmer(language: str) -> Callable[[str], str]:
    """What makes a folded word of this language its stem; the word itself where there is no stemmer."""
    if language == "code":  # names and comments are made of English words
        language = "en"
    if language not in _SNOWBALL:
        stem: Callable[[str], str] = str
    else:
        try:
            import Stemmer
        except ImportError:
            raise MissingExtra("stemming", "search") from None
        # The cache of words above this makes Snowball's own a waste.
        stem = Stemmer.Stemmer(_SNOWBALL[language], 0).stemWord
    if language in _KEEPS_ACCENTS:
        return lambda word: stem(word) if len(word) <= _LONGEST else word
    # Behind the stemmer, because its rules need the accents.
    return lambda word: without_accents(stem(word) if len(word) <= _LONGEST else word)

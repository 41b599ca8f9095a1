"""Words brought to their stem, and words too small to search for, by language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

from chunkwise.base.errors import MissingExtra
from chunkwise.text.language import SMALL_WORDS

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


# What is left of a word where an apostrophe parts it (don't, l'homme) and the words of questions.
_MORE = {
    "en": "a i he she so no us me my our him them these those than then too very how why where does did am"
    " could should may might must shall being having doing about because while both each such only own same"
    " here just some any other between through during before after above below again further once"
    " s t d ll re ve m don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ain",
    "de": "was wer wo wann warum welche welcher welches um so am vom hat man ihr ihre sein seine uns wir du aber"
    " doch hier diese dieser dieses jedoch unter vor bis ob da",
    "fr": "l d qu j n s c m t y en à de quel quelle quels quelles comment quand pourquoi quoi dont lui je tu ils elles"
    " on si sa mon ma mes notre nos votre vos leurs ces cet ai as a avait était très bien",
    "es": "qué cuál cuáles cómo cuándo dónde quién quiénes porque del me mi te tu yo él ella ellos ni o si e u",
    "it": "l d dell all nell sull un c quale quali come quando dove chi perché i o se mi ti ci vi lui lei noi voi a ai"
    " agli alle dagli dalle negli nelle sui sulla tra fra",
    "pt": "qual quais como onde quem porque se eu tu nós eles elas lhe me te à às aos nas num numa",
    "nl": "wat wie waar wanneer waarom hoe welke ik je we ze hun mijn onze tot of",
    "sv": "vad vem var hur varför vilken vilket vilka i",
    "da": "hvad hvem hvorfor hvordan hvornår hvilken hvilket hvilke i",
    "no": "hva hvem hvorfor hvordan når hvilken hvilket hvilke i",
    "ru": "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от"
    " меня еще ещё нет о из ему когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь там потом"
    " себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже"
    " себе под будет ж тогда кто этот того потому этого какой ним здесь этом один почти мой тем чтобы нее были"
    " куда зачем всех при об это эта эти",
    "uk": "і й та в у не що він на я з зі як а то все вона так його але до за по від для про це чи або ні ми ви вони"
    " їх її є був була було були який яка яке які де коли хто",
    "bg": "и в на не че от за с се да по е са като до или си тя той то ние вие те което която който които при но а ли",
    "el": "ο η το οι τα του της των τον την και κι να σε με για από που πως δεν θα είναι ήταν στο στη στην στον στα"
    " στις στους τις τους μια ένα ένας ή αν ως τι ποιος ποια ποιο",
    "ar": "في من على إلى عن أن إن ما لا هو هي هذا هذه ذلك التي الذي مع كان كانت و أو ثم قد لم لن كل بعد قبل بين",
    "fa": "و در به از که این آن را با برای است بود شد یک تا بر هم نیز یا اما اگر های ها می چه",
    "hi": "का के की में है और से को पर यह वह ने हैं था थे थी कि जो भी एक इस उस तो ही या हो कर नहीं क्या लिए गया",
    "he": "של את על לא הוא היא זה עם אל כי גם או אם מה יש היה אך כל",
}  # fmt: skip


@cache
def stop_words(language: str) -> frozenset[str]:
    """Folded words left out in a language; none where the language is not known."""
    small = f"{SMALL_WORDS.get(language, '')} {_MORE.get(language, '')}"
    return frozenset(map(folded, small.split()))

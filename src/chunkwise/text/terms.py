"""Words as BM25 counts them: where they stand, what they are without their endings, how often they are there."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import DIGIT, JOINER, LETTER, MARK, CharacterArrays
from chunkwise.text.language import SMALL_WORDS, UNKNOWN, language_of, language_of_text

Positions = NDArray[np.signedinteger[Any]]
"""Of characters, in whatever width holds them."""


class TermCounts(NamedTuple):
    """How often each term occurs in each row: row `i` has the entries `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    term: NDArray[np.uint64]
    """Terms by their hash (`text.terms`), increasing within a row, none twice."""
    times: NDArray[np.int32]


def ranges(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all half-open ranges, one range after the other."""
    size = end - start
    before = np.cumsum(size) - size
    return np.arange(size.sum(), dtype=np.int64) + np.repeat(start - before, size)


def count_terms(
    row: NDArray[np.int64],
    code: NDArray[np.integer[Any]],
    vocabulary: NDArray[np.uint64],
    rows: int,
) -> TermCounts:
    """Occurrences, each in a row and of a term of the sorted vocabulary, counted."""
    terms = max(len(vocabulary), 1)
    # Half as wide sorts twice as fast, and most documents have few enough rows and terms for it.
    narrow = np.uint32 if rows * terms < 1 << 32 else np.int64
    key = np.sort((row * terms + code).astype(narrow)).astype(np.int64)
    last = np.ones(len(key), dtype=np.bool_)
    last[:-1] = key[1:] != key[:-1]
    ends = last.nonzero()[0]
    values = key[ends]
    first = values.searchsorted(np.arange(rows + 1, dtype=np.int64) * terms)
    times = np.diff(ends, prepend=-1).astype(np.int32)
    return TermCounts(first, vocabulary[values % terms], times)


def join_counts(parts: Sequence[TermCounts]) -> TermCounts:
    """The rows of several, one after the other."""
    if not parts:
        return TermCounts(np.zeros(1, np.int64), np.empty(0, np.uint64), np.empty(0, np.int32))
    entries = np.cumsum([0, *(len(part.term) for part in parts)])
    first = [part.first[:-1] + before for part, before in zip(parts, entries[:-1], strict=True)]
    return TermCounts(
        np.concatenate([*first, entries[-1:]]),
        np.concatenate([part.term for part in parts]),
        np.concatenate([part.times for part in parts]),
    )


def _joined(parts: Iterable[TermCounts]) -> TermCounts:
    """`join_counts` of parts that are let go one by one: at the end they would be there twice."""
    first, term, times = array("q", [0]), array("Q"), array("i")
    for part in parts:
        first.frombytes((part.first[1:] + len(term)).tobytes())
        term.frombytes(part.term.tobytes())
        times.frombytes(part.times.tobytes())
    return TermCounts(
        np.frombuffer(first, np.int64),
        np.frombuffer(term, np.uint64),
        np.frombuffer(times, np.int32),
    )


def add_counts(one: TermCounts, other: TermCounts) -> TermCounts:
    """Row by row the counts of both: a chunk's own terms and those of its context."""
    rows = len(one.first) - 1
    vocabulary = np.unique(np.concatenate((one.term, other.term)))
    row = np.concatenate([np.repeat(np.arange(rows), np.diff(part.first)) for part in (one, other)])
    code = vocabulary.searchsorted(np.concatenate((one.term, other.term)))
    times = np.concatenate((one.times, other.times))
    return count_terms(np.repeat(row, times), np.repeat(code, times), vocabulary, rows)


_RUN = LETTER | DIGIT | MARK | JOINER
_SOFT_HYPHEN = 0xAD
_LONGEST = 255
"""Characters of a word: a longer run is data, an image in base64 for example."""
_LOW = (1 << 21) - 1
"""Bits of a code point."""

# Thai and Lao; Burmese; Hangul is written with spaces, but particles cling to its words; Khmer; Han and kana.
_UNSPACED = (
    (0x0E01, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3041, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),
    (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF),
)  # fmt: skip
_FIRST_UNSPACED = _UNSPACED[0][0]
_CLASS = "".join(f"{chr(low)}-{chr(high)}" for low, high in _UNSPACED)
_RUNS = regex.compile(f"([{_CLASS}]+)|[^{_CLASS}]+")
_SOLID = regex.compile(r"[\p{L}\p{N}]")


class WordSpans(NamedTuple):
    """Every word of a text in order; words do not overlap, neighboring pairs share a character."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    number: NDArray[np.int64]
    """Which of the distinct words each is."""
    distinct: list[str]
    """As they are written."""


def words_of(characters: CharacterArrays) -> WordSpans:
    """The words of a text; both starts and ends increase."""
    inside, unspaced = _members(characters)
    if unspaced is None:
        return _spaced(characters, inside)
    words, pairs = _spaced(characters, inside & ~unspaced), _pairs(characters, unspaced)
    start = np.concatenate((words.start, pairs.start))
    order = np.argsort(start, kind="stable")
    end = np.concatenate((words.end, pairs.end))
    number = np.concatenate((words.number, pairs.number + len(words.distinct)))
    return WordSpans(start[order], end[order], number[order], words.distinct + pairs.distinct)


def _spaced(characters: CharacterArrays, inside: NDArray[np.bool_]) -> WordSpans:
    edge = np.diff(inside, prepend=False, append=False).nonzero()[0]
    start, end = edge[::2], edge[1::2]
    too_long = end - start > _LONGEST
    if too_long.any():
        inside = inside.copy()
        inside[ranges(start[too_long], end[too_long])] = False
        start, end = start[~too_long], end[~too_long]
    # One split of the text with everything else made a space: much faster than a slice a word.
    masked = np.where(inside, characters.points, np.uint32(ord(" ")))
    words = masked.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass").split()
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    number = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    return WordSpans(start, end, number, list(numbers))


def _pairs(characters: CharacterArrays, unspaced: NDArray[np.bool_]) -> WordSpans:
    """Each two neighbors of a run; a run of one character is a word by itself."""
    goes_on, follows = np.zeros((2, len(unspaced)), dtype=np.bool_)
    goes_on[:-1] = unspaced[1:]
    follows[1:] = unspaced[:-1]
    start = (unspaced & (goes_on | ~follows)).nonzero()[0]
    two = goes_on[start]
    one, other = characters.points[start], characters.points.take(start + 1, mode="clip")
    key, number = np.unique(one.astype(np.uint64) << 21 | other * two, return_inverse=True)
    distinct = [
        chr(pair >> 21) + (chr(pair & _LOW) if pair & _LOW else "") for pair in key.tolist()
    ]
    return WordSpans(start, start + 1 + two, number, distinct)


def _members(characters: CharacterArrays) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Which characters are part of a word, and which of those are written without spaces."""
    text, points = characters.text, characters.points
    inside = characters.are(_RUN).copy()
    if "_" in text:
        inside |= points == ord("_")
    _join_numbers(characters, inside)
    if text.isascii():
        return inside, None
    inside |= points == _SOFT_HYPHEN
    if points.max(initial=0) < _FIRST_UNSPACED:
        return inside, None
    unspaced = np.zeros(len(points), dtype=np.bool_)
    for low, high in _UNSPACED:
        unspaced |= (points >= low) & (points <= high)
    unspaced &= inside & ~characters.are(DIGIT)
    return inside, unspaced


def _join_numbers(characters: CharacterArrays, inside: NDArray[np.bool_]) -> None:
    """4.2.1 and 1,000,000 are one word each; 1,2 is two."""
    points, last = characters.points, len(characters.points) - 1
    digit = characters.are(DIGIT)
    for mark in ".,":
        at = (points == ord(mark)).nonzero()[0]
        at = at[(at > 0) & (at < last)]
        at = at[digit[at - 1] & digit[at + 1]]
        if mark == ",":
            at = at[at + 3 <= last]
            behind = (at + 3 == last) | ~digit.take(at + 4, mode="clip")
            at = at[digit[at + 2] & digit[at + 3] & behind]
        inside[at] = True


def pairs_of(word: str) -> list[str]:
    """A folded word, in pairs where folding has shown that it is written without spaces: ｶﾀｶﾅ, single jamo."""
    if word.isascii() and word.isalnum():
        return [word]
    if not _SOLID.search(word):
        return []
    if word.isascii() or len(word) <= 2:
        return [word]
    result = []
    for match in _RUNS.finditer(word):
        run = match[0]
        pairs = match[1] is not None and len(run) > 1
        result += [run[at : at + 2] for at in range(len(run) - 1)] if pairs else [run]
    return result


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
_LONGEST_STEMMED = 64
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
        import Stemmer

        # The cache of words above this makes Snowball's own a waste.
        stem = Stemmer.Stemmer(_SNOWBALL[language], 0).stemWord
    if language in _KEEPS_ACCENTS:
        return lambda word: stem(word) if len(word) <= _LONGEST_STEMMED else word
    # Behind the stemmer, because its rules need the accents.
    return lambda word: without_accents(stem(word) if len(word) <= _LONGEST_STEMMED else word)


# What is left of a word where an apostrophe parts it (don't, l'homme) and the words of questions.
_MORE = {
    "en": "a i he she so no us me my our him them these those than then too very how why where does did am"
    " could should may might must shall being having doing about because while both each such "
    "only own same"
    " here just some any other between through during before after above below again further once"
    " s t d ll re ve m don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven "
    "hadn ain",
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
    " меня еще ещё нет о из ему когда даже ну ли если уже или ни быть был него до вас нибудь вам "
    "ведь там потом"
    " себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто "
    "чего раз тоже"
    " себе под будет ж тогда кто этот того потому этого какой ним здесь этом один почти мой тем "
    "чтобы нее были"
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


AUTO = "auto"
"""The language is told for every document."""
NONE = "none"
"""No stemming, no stop words: also for documents whose language cannot be told."""
CODE = "code"
"""Source code, whatever language is asked for: stemmed as English, no stop words."""


@dataclass(frozen=True, eq=False)
class Terms:
    """Occurrences in text order, stop words left out; starts and ends never decrease."""

    language: str
    """What the text was read as: a two-letter code, `code` or `none`."""
    vocabulary: NDArray[np.uint64]
    """Hashes, sorted, each once; those of all occurrences are among them."""
    code: NDArray[np.int32]
    """Which of the vocabulary each occurrence is."""
    start: Positions
    end: Positions

    @cached_property
    def hash(self) -> NDArray[np.uint64]:
        """Of each occurrence."""
        return self.vocabulary[self.code]

    def within(
        self, start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each span the first occurrence that lies wholly inside, and the one behind the last."""
        # Of the same type: a search among others would copy all of them first.
        first = self.start.searchsorted(start.astype(self.start.dtype))
        behind = self.end.searchsorted(end.astype(self.end.dtype), "right")
        return first, np.maximum(behind, first)


def check_language(language: str) -> None:
    """Raises InvalidParameter for a language nobody knows."""
    if language not in (AUTO, NONE) and language not in LANGUAGES:
        allowed = ", ".join((AUTO, NONE, *sorted(LANGUAGES)))
        raise InvalidParameter(f"language is {language!r}; allowed: {allowed}")


def read_as(document: Document, language: str = AUTO) -> str:
    """The language a document's terms are found in: a two-letter code, `code` or `none`."""
    check_language(language)
    if document.format == "code":
        return CODE
    if language != AUTO:
        return language
    message = language_of(document)
    return NONE if message == UNKNOWN else message


def document_terms(analyzed: Analyzed, language: str = AUTO) -> Terms:
    """All terms of a document with their places."""
    return _terms(analyzed.characters, read_as(analyzed.document, language))


def text_terms(text: str, language: str) -> Terms:
    """The same for a text that is no document, a chunk's context for example; `language` as `read_as` says."""
    return _terms(CharacterArrays(text), language)


def _terms(characters: CharacterArrays, language: str) -> Terms:
    if len(characters.text) <= _WINDOW:
        return terms_of_words(words_of(characters), language)
    # Words take many times the room of their terms: they are found a window at a time.
    size = len(characters.text)
    narrow = np.dtype(np.int32 if size < 1 << 31 else np.int64)
    start, end, code = array(narrow.char), array(narrow.char), array("i")
    numbers: defaultdict[int, int] = defaultdict(count().__next__)
    for before, window in _windows(characters.text):
        terms = terms_of_words(words_of(window), language)
        known = np.array([numbers[each] for each in terms.vocabulary.tolist()], np.int32)
        code.frombytes(known[terms.code].tobytes())
        start.frombytes((terms.start + before).astype(narrow).tobytes())
        end.frombytes((terms.end + before).astype(narrow).tobytes())
    met = np.fromiter(numbers, np.uint64, len(numbers))
    order = np.argsort(met)
    rank = np.empty(len(met), np.int32)
    rank[order] = np.arange(len(met), dtype=np.int32)
    codes = np.frombuffer(code, np.int32)
    for low in range(0, len(codes), _WINDOW):
        codes[low : low + _WINDOW] = rank[codes[low : low + _WINDOW]]
    return Terms(
        language, met[order], codes, np.frombuffer(start, narrow), np.frombuffer(end, narrow)
    )


_WINDOW = 1 << 20
"""Characters of a long text whose words are found together."""
_OCCURRENCES = 1 << 18
"""Of terms, counted together: what is made on the way takes some seventy bytes each."""
_BETWEEN_WORDS = re.compile(r"[\s。、，]")


def _windows(text: str) -> Iterator[tuple[int, CharacterArrays]]:
    """A long text in parts that no word crosses, and where each begins."""
    start = 0
    while start < len(text):
        cut = _BETWEEN_WORDS.search(text, start + _WINDOW)
        end = cut.end() if cut else len(text)
        yield start, CharacterArrays(text[start:end])
        start = end


def terms_of_words(words: WordSpans, language: str) -> Terms:
    """For a text whose words were found already; `language` as `read_as` says."""
    start, end, number, distinct = words
    of_word = list(map(_reader(language), distinct))
    size = np.array([len(hashes) for hashes in of_word], dtype=np.int64)
    flat = np.array([digest for hashes in of_word for digest in hashes], dtype=np.uint64)
    vocabulary, code = np.unique(flat, return_inverse=True)
    last = np.cumsum(size)[number]
    times = size[number]
    result = code.astype(np.int32)[ranges(last - times, last)]
    return Terms(language, vocabulary, result, np.repeat(start, times), np.repeat(end, times))


@cache
def _reader(language: str) -> Callable[[str], tuple[int, ...]]:
    """What knows the terms of a word as written: none for a stop word, several for a name made of words."""
    stop, stem = stop_words(language), stemmer(language)

    @lru_cache(maxsize=1 << 16)
    def read(word: str) -> tuple[int, ...]:
        plain = [part for part in map(folded, parts_of(word)) if part not in stop]
        return tuple([_hash(stem(piece)) for part in plain for piece in pairs_of(part)])

    return read


def _hash(term: str) -> int:
    """The same on every machine and in every run."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


_SENTENCE = 4
"""Words of a question, small ones apart, from which on a name is one word among others."""

Holds = Callable[[NDArray[np.uint64]], NDArray[np.bool_]]
"""Which of these terms the documents have."""


class QueryWord(NamedTuple):
    """One word of a question, where it stands, and its terms: none for a small word."""

    start: int
    end: int
    terms: list[int]


def query_words(text: str, languages: Sequence[str], holds: Holds | None = None) -> list[QueryWord]:
    """Every word of a question with its terms in each language an index was read in.

    A term that several languages find in one word counts once. Small words of the question's own language are
    left out in all of them: among documents without stop words "the" would be rare, and weigh much. Where it is known
    what the documents hold, a name made of words that stands in prose as a whole is one word of a longer question.
    """
    words = words_of(CharacterArrays(text))
    message = language_of_text(text)
    small = stop_words(message) if message in languages or CODE in languages else frozenset()
    texts = [word for word in words.distinct if folded(word) not in small]
    # Who asks for little besides a name wants whatever is spelled like it.
    names_count_once = holds if len(texts) >= _SENTENCE else None
    asked = {word: _terms_of_query_word(word, languages, names_count_once) for word in texts}
    of_word = [asked.get(word, []) for word in words.distinct]
    places = zip(words.start.tolist(), words.end.tolist(), words.number.tolist(), strict=True)
    return [QueryWord(start, end, of_word[number]) for start, end, number in places]


def query_terms(
    text: str, languages: Sequence[str], holds: Holds | None = None
) -> NDArray[np.uint64]:
    """The terms of a question's words (`query_words`)."""
    return terms_of_query_words(query_words(text, languages, holds))


def terms_of_query_words(words: Sequence[QueryWord]) -> NDArray[np.uint64]:
    """All of them; a word said twice counts twice."""
    return np.array([term for word in words for term in word.terms], dtype=np.uint64)


def _terms_of_query_word(word: str, languages: Sequence[str], holds: Holds | None) -> list[int]:
    """The terms of a word in each language, each of them once."""
    parts = parts_of(word)
    result: list[int] = []
    for language in languages:
        read = _reader(language)
        whole = read(folded(parts[0])) if len(parts) > 1 and language != CODE else ()
        once = holds is not None and whole and holds(np.array(whole, dtype=np.uint64)).all()
        result += whole if once else read(word)
    return list(dict.fromkeys(result))


def counts_in_spans(terms: Terms, start: NDArray[np.int64], end: NDArray[np.int64]) -> TermCounts:
    """Counts of the terms that lie wholly inside each span; spans may overlap and need no order."""
    first, behind = terms.within(start, end)
    size = behind - first

    def counts(low: int, high: int) -> TermCounts:
        row = np.repeat(np.arange(high - low, dtype=np.int64), size[low:high])
        code = terms.code[ranges(first[low:high], behind[low:high])]
        return count_terms(row, code, terms.vocabulary, high - low)

    before = np.cumsum(size)
    if not len(size) or before[-1] <= _OCCURRENCES:
        return counts(0, len(size))
    # So many at a time: what is made on the way is several times as large as what is found.
    cuts = before.searchsorted(np.arange(_OCCURRENCES, before[-1], _OCCURRENCES)) + 1
    bounds = np.unique(np.concatenate(([0], cuts, [len(size)]))).tolist()
    return _joined(counts(low, high) for low, high in pairwise(bounds))


_NUMBER = regex.compile(r"\d+(?:[.,]\d+)*")
_HUMPS = regex.compile(r"_+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})")


def parts_of(word: str) -> list[str]:
    """A name taken apart at underscores and humps, the whole first: DiffExecutor, Diff, Executor."""
    if word.isalpha() and (word[1:].lower() == word[1:] or word.isupper()):
        return [word]
    if _NUMBER.fullmatch(word):
        return [word.replace(",", "")]
    parts = [part for part in _HUMPS.split(word) if part]
    if len(parts) < 2:
        return parts
    return ["".join(parts), *(part for part in parts if len(part) > 1)]

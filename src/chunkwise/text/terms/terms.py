"""The terms of a text, which word search counts: found once a document, numbers for any chunking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.text.analysis import Analyzed
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.language import UNKNOWN, language_of, language_of_text
from chunkwise.text.terms.counts import TermCounts, count_terms, ranges
from chunkwise.text.terms.stems import LANGUAGES, folded, stemmer, stop_words
from chunkwise.text.terms.words import WordSpans, pairs_of, words_of

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
    hash: NDArray[np.uint64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    @cached_property
    def numbered(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The distinct hashes, sorted, and the number of each occurrence among them."""
        vocabulary, code = np.unique(self.hash, return_inverse=True)
        return vocabulary, code.astype(np.int64)


def check_language(language: str) -> None:
    """Raises InvalidParameter for a language nobody knows."""
    if language not in (AUTO, NONE) and language not in LANGUAGES:
        allowed = ", ".join((AUTO, NONE, *sorted(LANGUAGES)))
        raise InvalidParameter(f"language is {language!r}; it is one of {allowed}")


def read_as(document: Document, language: str = AUTO) -> str:
    """The language a document's terms are found in: a two-letter code, `code` or `none`."""
    check_language(language)
    if document.format == "code":
        return CODE
    if language != AUTO:
        return language
    told = language_of(document)
    return NONE if told == UNKNOWN else told


def document_terms(analyzed: Analyzed, language: str = AUTO) -> Terms:
    """All terms of a document with their places."""
    return _terms(analyzed.characters, read_as(analyzed.document, language))


def text_terms(text: str, language: str) -> Terms:
    """The same for a text that is no document, a chunk's context for example; `language` as `read_as` says."""
    return _terms(CharacterArrays(text), language)


def _terms(characters: CharacterArrays, language: str) -> Terms:
    return terms_of_words(words_of(characters), language)


def terms_of_words(words: WordSpans, language: str) -> Terms:
    """For a text whose words were found already; `language` as `read_as` says."""
    start, end, number, distinct = words
    of_word = list(map(_reader(language), distinct))
    size = np.array([len(hashes) for hashes in of_word], dtype=np.int64)
    flat = np.array([each for hashes in of_word for each in hashes], dtype=np.uint64)
    last = np.cumsum(size)[number]
    times = size[number]
    found = flat[ranges(last - times, last)]
    return Terms(language, found, np.repeat(start, times), np.repeat(end, times))


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


def query_terms(
    text: str, languages: Sequence[str], holds: Holds | None = None
) -> NDArray[np.uint64]:
    """The terms of a question in each language an index was read in; a word said twice counts twice.

    A term that several languages find in one word counts once. Small words of the question's own language are
    left out in all of them: among documents without stop words "the" would be rare, and weigh much. Where it is known
    what the documents hold, a name made of words that stands in prose as a whole is one word of a longer question.
    """
    words = words_of(CharacterArrays(text))
    told = language_of_text(text)
    small = stop_words(told) if told in languages or CODE in languages else frozenset()
    said = [word for word in words.distinct if folded(word) not in small]
    # Who asks for little besides a name wants whatever is spelled like it.
    names_count_once = holds if len(said) >= _SENTENCE else None
    asked = {word: _terms_of_query_word(word, languages, names_count_once) for word in said}
    of_word = [asked.get(word, []) for word in words.distinct]
    terms = [each for number in words.number.tolist() for each in of_word[number]]
    return np.array(terms, dtype=np.uint64)


def _terms_of_query_word(word: str, languages: Sequence[str], holds: Holds | None) -> list[int]:
    """The terms of a word in each language, each of them once."""
    parts = parts_of(word)
    found: list[int] = []
    for language in languages:
        read = _reader(language)
        whole = read(folded(parts[0])) if len(parts) > 1 and language != CODE else ()
        once = holds is not None and whole and holds(np.array(whole, dtype=np.uint64)).all()
        found += whole if once else read(word)
    return list(dict.fromkeys(found))


def why_unfindable(text: str, languages: Sequence[str]) -> str:
    """Why word search has nothing to look for in a question, whatever the documents say; empty: it has."""
    words = words_of(CharacterArrays(text)).distinct
    if not words:
        return "the question has no word"
    if not len(query_terms(text, languages)):
        return "the question has only stop words, which are not indexed"
    others = (word for word in words if len(word) > 1 or len(pairs_of(word * 3)) == 1)
    if any(len(query_terms(word, languages)) for word in others):
        return ""
    return "the question has only single characters of a script that is indexed in pairs"


def counts_in_spans(terms: Terms, start: NDArray[np.int64], end: NDArray[np.int64]) -> TermCounts:
    """Counts of the terms that lie wholly inside each span; spans may overlap and need no order."""
    vocabulary, code = terms.numbered
    first = terms.start.searchsorted(start)
    behind = np.maximum(terms.end.searchsorted(end, "right"), first)
    row = np.repeat(np.arange(len(start), dtype=np.int64), behind - first)
    return count_terms(row, code[ranges(first, behind)], vocabulary, len(start))


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

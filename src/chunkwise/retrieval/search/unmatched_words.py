"""What of a question no document can match: stop words alone, and words that none has, with those spelled like them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from chunkwise.core import Document
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.searchable import Searchable
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.terms import pairs_of, query_terms, words_of

_MOST_WORDS = 16
"""Of a question: longer ones are texts, and nobody waits for what is odd in each line."""
_MOST_CHARACTERS = 2_000_000
"""Of documents that are looked through for a like word: under a second."""
_LEAST, _LEAST_ALIKE = 3, 5
"""Characters of a word that is told, and of one that others are held to be like: short ones are like too many."""
_ALIKE = 0.8


class UnmatchedWord(NamedTuple):
    """One word, as the question spells it."""

    word: str
    near: tuple[str, ...]
    """Of the documents; empty: none is alike."""


def unmatched_words(
    source: Searchable, languages: Sequence[str], text: str, documents: Iterable[Document]
) -> list[UnmatchedWord]:
    """Stop words are never missing; documents are looked through only where a word is."""
    words = list(words_of(CharacterArrays(text)).distinct)[:_MOST_WORDS]
    # A lone word does not tell its language: what is a stop word, the whole question says.
    terms = set(query_terms(text, languages).tolist())
    asked = [
        word
        for word in words
        if len(word) >= _LEAST and terms & set(query_terms(word, languages).tolist())
    ]
    if not asked:
        return []
    result = source.words(asked, 1, Filter())
    missing = [
        word for word, ranking in zip(asked, result, strict=True) if not len(ranking.numbers)
    ]
    known = _words(documents) - {word.lower() for word in missing} if missing else set()
    return [UnmatchedWord(word, _near(word.lower(), known)) for word in missing]


def _near(word: str, known: set[str]) -> tuple[str, ...]:
    if len(word) < _LEAST_ALIKE:
        return ()
    return tuple(get_close_matches(word, sorted(known), n=2, cutoff=_ALIKE))


def unmatched_told(missing: list[UnmatchedWord]) -> str:
    """One line; empty where no word is missing."""
    if not missing:
        return ""
    text = f"no document has {' or '.join(repr(unmatched_word.word) for unmatched_word in missing)}"
    near = list(dict.fromkeys(word for unmatched_word in missing for word in unmatched_word.near))
    return f"{text}; did you mean {' or '.join(map(repr, near))}?" if near else text


def _words(documents: Iterable[Document]) -> set[str]:
    result: set[str] = set()
    left = _MOST_CHARACTERS
    for document in documents:
        text = document.text[:left]
        result.update(word.lower() for word in words_of(CharacterArrays(text)).distinct)
        left -= len(text)
        if left <= 0:
            break
    return result


def why_unfindable(text: str, languages: Sequence[str]) -> str:
    """Why word search has nothing to look for in a question, whatever the documents say; empty: it has."""
    words = words_of(CharacterArrays(text)).distinct
    if not words:
        return "the question has no words"
    if not len(query_terms(text, languages)):
        return "the question has only stop words, which are not indexed"
    others = (word for word in words if len(word) > 1 or len(pairs_of(word * 3)) == 1)
    if any(len(query_terms(word, languages)) for word in others):
        return ""
    return "the question has only single characters of a script that is indexed in pairs"

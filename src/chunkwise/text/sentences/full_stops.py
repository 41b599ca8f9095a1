"""Whether a full stop ends its sentence: the word before it may be short for another, a number, an initial."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import (
    DIGIT,
    FULL_STOP,
    JOINER,
    LETTER,
    LOWER,
    MARK,
    NEWLINE,
    UPPER,
    CharacterArrays,
    kind_of,
)
from chunkwise.text.sentences import abbreviations as known
from chunkwise.text.sentences.abbreviations import (
    ENDING,
    MARKS,
    STREET,
    hash_beside,
    hash_endings,
    hash_words,
    in_list,
)

_WORD = LETTER | DIGIT | MARK | JOINER
_INSIDE_WORD = ".-’'"
_FEW_WORDS = 8
_SHORT = 4
"""Letters of a word that is short for another."""
_HONOUR = ". h. c."
_ANY_STOP = re.compile(r"""(?<=\w)[.!?]["'”’)\]]*\s+(?=\S)""")


def starts_behind_stops(characters: CharacterArrays) -> NDArray[np.int64]:
    """Starts of what follows a sentence that ends, small letters too: a text without capitals has nothing else."""
    found = [match.span() for match in _ANY_STOP.finditer(characters.text)]
    at, start = np.array(found, dtype=np.int64).reshape(-1, 2).T
    ends = characters.points.take(at) != ord(".")
    index = np.flatnonzero(~ends)
    ends[index] = full_stop_ends(characters, at[index], at[index] + 1, start[index])
    return start[ends]


def full_stop_ends(
    characters: CharacterArrays,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    following: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether a lone full stop before white space and no small letter ends its sentence."""
    if len(at) <= _FEW_WORDS:
        return _full_stop_read(characters, at, after, following)
    doubtful = _may_be_short_for(characters, at)
    index = np.flatnonzero(doubtful)
    ends = ~doubtful
    ends[index] = _full_stop_read(characters, at[index], after[index], following[index])
    return ends


def _may_be_short_for(characters: CharacterArrays, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the word before a full stop is short, no mere letters, or ends as some abbreviation does."""
    kinds = characters.kinds_at(at - np.arange(1, ENDING + 1)[:, None])
    word = np.bitwise_and.reduce(kinds) & np.uint16(LETTER) != 0
    ending = hash_endings(characters, at - 1, ENDING)
    # NumPy 1 takes no unsigned positions.
    return ~word | (at < ENDING) | known.endings().take((ending % MARKS).view(np.int64))


def _full_stop_read(
    characters: CharacterArrays,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    following: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The same, the whole word before it read."""
    before, length = words_beside(characters, at - 1, _INSIDE_WORD, -1)
    ends = ~in_list(before, known.words_before_stops().never)
    # Behind a word of some length that is on no list a full stop is what it seems.
    acronym = _acronym(characters, at, length)
    doubtful = (length == 1) | characters.have(np.maximum(at - 1, 0), DIGIT) | acronym
    doubtful |= in_list(before, known.perhaps_last())
    numbered = np.flatnonzero((length > ENDING) & characters.have(following, DIGIT) & ends)
    if len(numbered):
        ends[numbered] = hash_endings(characters, at[numbered] - 1, ENDING) != known.ending_of(
            STREET
        )
    index = np.flatnonzero(ends & doubtful)
    if not len(index):
        return ends
    ends[index] = _doubtful_ends(
        characters,
        at[index],
        after[index],
        following[index],
        before[index],
        length[index],
        acronym[index],
    )
    return ends


def _acronym(
    characters: CharacterArrays, at: NDArray[np.int64], length: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the word before a full stop holds another: "U.S.", or "J.-C." where it is no year's "av. J.-C."."""
    last = characters.points[np.maximum(at - 2, 0)]
    found: NDArray[np.bool_] = last == ord(".")
    index = np.flatnonzero(last == ord("-"))
    if len(index):
        hyphen, start = at[index] - 2, at[index] - length[index]
        year = characters.have(start - 2, FULL_STOP) & characters.have(start - 3, LOWER)
        found[index] = characters.have(hyphen - 1, FULL_STOP) & ~(year & (start >= 3))
    return found & (length >= 3)


def _doubtful_ends(
    characters: CharacterArrays,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    following: NDArray[np.int64],
    before: NDArray[np.uint64],
    length: NDArray[np.int64],
    acronym: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """The same behind initials, numbers, acronyms and words that may end a sentence or not."""
    lists, following_lists = known.words_before_stops(), known.words_behind_stops()
    behind, behind_length = words_beside(characters, following, "", 1)
    opens = in_list(behind, following_lists.openers)
    previous = np.maximum(at - 1, 0)
    digits, capital = characters.have(previous, DIGIT), characters.have(previous, UPPER)
    initial = (length == 1) & characters.have(previous, LETTER)
    # "т. д. Потом" ends, "z. B. ein" and "p. A. Meyer" go on: a lone small letter counts as an
    # abbreviation's end unless another initial follows.
    cased = characters.kinds_at(following) & np.uint16(LETTER | LOWER)
    initial_follows = (behind_length == 1) & (cased == LETTER)
    small_and_last = initial & ~capital & ~initial_follows & (at >= 3)
    small_and_last &= (characters.points[np.maximum(at - 2, 0)] == 32) & (
        (characters.points[np.maximum(at - 3, 0)] == ord("."))
        | characters.have(np.maximum(at - 3, 0), DIGIT)
    )
    ordinal = digits & (length <= 2) & in_list(behind, following_lists.months)
    word_start = at - length
    opens_line = (word_start == 0) | characters.have(np.maximum(word_start - 1, 0), NEWLINE)
    marker = digits & (length <= 3) & opens_line  # "1. First" at the start of a line
    goes_on = ordinal | marker
    index = np.flatnonzero(digits & (length <= 2) & ~opens & ~goes_on)
    goes_on[index] = _behind_article(characters, word_start[index])
    behind_stop = characters.have(word_start - 2, FULL_STOP) & (word_start >= 2)
    goes_on |= in_list(before, lists.learned) & behind_stop
    goes_on |= in_list(before, lists.short) & characters.have(word_start, UPPER)
    small_and_last &= ~_of_honour(characters, at, small_and_last)
    index = np.flatnonzero(in_list(before, lists.numbered))
    if len(index):
        # "No." is a word, too: "No. X-rays are bad."
        roman = before[index] != known.ending_of("no")
        goes_on[index] |= _number(characters, following[index], behind[index], roman)
    index = np.flatnonzero(in_list(before, known.by_what_follows()))
    if len(index):
        near = before[index], following[index], behind[index], behind_length[index]
        goes_on[index] |= _joined(characters, *near, behind_stop[index])
    seldom = in_list(before, lists.rarely) | (acronym & ~in_list(before, lists.often))
    goes_on |= in_list(before, lists.clock) & in_list(behind, following_lists.titles)
    goes_on |= seldom & ~opens & (after == at + 1)
    goes_on |= initial & ~small_and_last & ~(capital & opens & (behind_length > 1))
    return ~goes_on


def _number(
    characters: CharacterArrays,
    following: NDArray[np.int64],
    behind: NDArray[np.uint64],
    may_be_roman: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Whether digits follow, or a Roman number: "IV", not "Iv"."""
    digits = characters.have(following, DIGIT)
    if digits.all():
        return digits
    capitals = characters.have(following, UPPER) & ~characters.have(following + 1, LOWER)
    capitals &= may_be_roman
    return digits | (capitals & in_list(behind, known.words_behind_stops().roman))


def _joined(
    characters: CharacterArrays,
    before: NDArray[np.uint64],
    following: NDArray[np.int64],
    behind: NDArray[np.uint64],
    behind_length: NDArray[np.int64],
    behind_stop: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Whether a word goes with what it cites, as in "gem. Art. 5", or is an initial among others."""
    lists, following_lists = known.words_before_stops(), known.words_behind_stops()
    section = characters.points.take(following, mode="clip") == ord("§")
    initial = in_list(behind, following_lists.letters)
    initial &= characters.have(following + behind_length, FULL_STOP)
    # Behind a short one stands a full stop: "gem. Art. 5", but "He bought a gem. Art was his life."
    stopped = characters.have(following + behind_length, FULL_STOP) | (behind_length > _SHORT)
    cites = in_list(before, lists.citing) & (
        (in_list(behind, following_lists.cited) & stopped) | section
    )
    return cites | (in_list(before, lists.letters) & (behind_stop | initial))


def _behind_article(characters: CharacterArrays, start: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a German article stands before the word that starts there; "I am 12" has none."""
    before, length = words_beside(characters, np.maximum(start - 2, 0), "", -1)
    spaced = (characters.points.take(start - 1, mode="clip") == 32) & (start >= 3)
    mine = characters.points.take(start - length - 3, mode="clip") == ord("I")
    return in_list(before, known.words_before_stops().articles) & spaced & ~(mine & (length == 2))


def _of_honour(
    characters: CharacterArrays, at: NDArray[np.int64], where: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether the full stop is the last of "Dr. h. c."."""
    found = np.zeros(len(at), dtype=np.bool_)
    index = np.flatnonzero(where & (at >= len(_HONOUR)))
    for offset, char in enumerate(reversed(_HONOUR)):
        index = index[characters.points[at[index] - offset] == ord(char)]
    found[index] = True
    return found


@lru_cache(maxsize=4096)
def _hash_of(word: str) -> int:
    return int(hash_words(["".join(char.lower()[0] for char in word)], backwards=False)[0])


def words_beside(
    characters: CharacterArrays, positions: NDArray[np.int64], also: str, step: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """What `hash_beside` says; a short text's few words are read one by one, arrays would cost more."""
    if len(positions) > _FEW_WORDS:
        return hash_beside(characters, positions, _WORD, also, step)
    hashes, lengths = [], []
    for position in positions.tolist():
        lo, hi = (max(position - 12, 0), position + 1) if step < 0 else (position, position + 13)
        word = characters.text[lo:hi][::step]
        length = 0
        for char in word:
            if not (kind_of(char) & _WORD or char in also):
                break
            length += 1
        hashes.append(_hash_of(word[:length]))
        lengths.append(length)
    return np.array(hashes, dtype=np.uint64), np.array(lengths, dtype=np.int64)

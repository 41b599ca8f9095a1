"""Where sentences start: candidates found by array arithmetic, abbreviations looked up only there."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chunkwise.text import abbreviations
from chunkwise.text.characters import (
    CLOSER,
    DIGIT,
    ENDER,
    FINAL,
    FULL_STOP,
    JOINER,
    LETTER,
    LOWER,
    MARK,
    NEWLINE,
    OPENER,
    SPACE,
    UPPER,
    Characters,
)
from chunkwise.text.word_hash import hash_beside, hash_endings, hash_words, listed

_CLOSERS_AT_MOST = 4
_WORD = LETTER | DIGIT | MARK | JOINER
_INSIDE_WORD = ".-’'"
_GUILLEMETS = [ord("»"), ord("›")]
_DASHES = [ord("—"), ord("–")]
_TAKEN_UP = [ord("と"), ord("っ")]
_SAYING = [ord(char) for char in "问問说說喊叫"]
_SPEAKER_AT_MOST = 6
_FIRST_KANA, _LAST_KANA = 0x3040, 0x30FF
_FEW_WORDS = 32
_FURTHEST = 128
"""Characters from a full stop on among which what belongs to its sentence ends: quotes, brackets, notes."""
_ENDING = 3
"""Characters by which most words before a full stop are told from every abbreviation."""
_MARKS = np.uint64(1 << 16)
_BEFORE = (
    abbreviations.NEVER_LAST, abbreviations.BEFORE_NUMBER, abbreviations.RARELY_LAST, abbreviations.OFTEN_LAST,
    abbreviations.OF_THE_CLOCK,
)  # fmt: skip
_BEHIND = (abbreviations.OPENERS_OF_SENTENCES, abbreviations.MONTHS, abbreviations.TITLES)
_LONGEST_NOTE = 24
"""Characters of a note mark that belongs to the sentence before it: `[12]`, `[citation needed]`."""


def sentence_starts(
    characters: Characters, within: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Start of every sentence but the first, as if the text were one paragraph.

    `within`: sorted spans, two columns, that all sentences are wanted of; elsewhere some may be missing.
    """
    if not characters.text:
        return np.zeros(0, dtype=np.int64)
    terminator = characters.are(FULL_STOP | ENDER | FINAL)
    at = np.flatnonzero(terminator)
    at = at[np.append(np.diff(at) > 1, True)[: len(at)]]  # "?!" and "..." end once
    if within is not None:
        span = within[:, 0].searchsorted(at + _FURTHEST, "right") - 1
        at = at[(span >= 0) & (at < within[span, 1])] if len(within) else at[:0]
    if not len(at):
        return _thai_starts(characters)
    after = _behind_closers(characters, at)
    start = characters.next_solid(after)
    inside = start < len(characters.text)
    at, after, start = at[inside], after[inside], start[inside]
    final = _has(characters, at, FINAL)
    ends = final & ~_quoted_speech_goes_on(characters, at, after, start)
    spaced = ~final & (start > after)
    opened = _behind_openers(characters, start)
    spaced &= ~_has(characters, opened, LOWER)
    # ". . ." is an ellipsis, ".NET" a word.
    spaced &= ~_has(characters, start, FULL_STOP) | _has(characters, start + 1, LETTER)
    stop = spaced & _has(characters, at, FULL_STOP)
    ends |= spaced & ~stop
    single = stop & ~_has(characters, np.maximum(at - 1, 0), FULL_STOP)
    ends |= stop & ~single  # an ellipsis before a capital
    index = np.flatnonzero(single)
    ends[index] = _full_stop_ends(characters, at[index], after[index], opened[index])
    thai = _thai_starts(characters)
    return np.union1d(start[ends], thai) if len(thai) else start[ends]


def _has(characters: Characters, positions: NDArray[np.int64], flags: int) -> NDArray[np.bool_]:
    kinds = characters.kinds.take(positions, mode="clip")
    return ((kinds & np.uint16(flags)) != 0) & (positions < len(characters.text))


def _point(characters: Characters, positions: NDArray[np.int64]) -> NDArray[np.uint32]:
    return characters.points.take(positions, mode="clip")


def _any_of(points: NDArray[np.uint32], wanted: list[int]) -> NDArray[np.bool_]:
    """What `np.isin` says, at a tenth of its cost for a handful of characters."""
    found = points == wanted[0]
    for point in wanted[1:]:
        found |= points == point
    return found


@lru_cache(maxsize=4096)
def _hash_of(word: str) -> int:
    return int(hash_words(["".join(char.lower()[0] for char in word)], backwards=False)[0])


def _words_beside(
    characters: Characters, positions: NDArray[np.int64], also: str, step: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """What `hash_beside` says; a short text's few words are read one by one, arrays would cost more."""
    if len(positions) > _FEW_WORDS:
        return hash_beside(characters, positions, _WORD, also, step)
    hashes, lengths = [], []
    for position in positions.tolist():
        lo, hi = (max(position - 12, 0), position + 1) if step < 0 else (position, position + 13)
        near, word = characters.kinds[lo:hi].tolist()[::step], characters.text[lo:hi][::step]
        length = 0
        for kind, char in zip(near, word, strict=True):
            if not (kind & _WORD or char in also):
                break
            length += 1
        hashes.append(_hash_of(word[:length]))
        lengths.append(length)
    return np.array(hashes, dtype=np.uint64), np.array(lengths, dtype=np.int64)


def _behind_closers(characters: Characters, at: NDArray[np.int64]) -> NDArray[np.int64]:
    after = at + 1
    # French sets a space before its closing quote.
    if not characters.text.isascii():
        guillemet = _any_of(_point(characters, after + 1), _GUILLEMETS)
        after = after + 2 * (_has(characters, after, SPACE) & guillemet)
    # In Chinese and Japanese “ only ever opens; in German it closes.
    opens = _has(characters, at, FINAL) & (_point(characters, after) == ord("“"))
    for _ in range(_CLOSERS_AT_MOST):
        closes = _has(characters, after, CLOSER) & ~opens
        if not closes.any():
            break
        after = after + closes
    after = _behind_notes(characters, after)
    # A mark such as * or " that touches the next word opens it instead: step back to it.
    touching = (after > at + 1) & ~_has(characters, after, SPACE) & ~_has(characters, at, FINAL)
    return np.where(touching & (after < len(characters.text)), at + 1, after)


def _behind_notes(characters: Characters, after: NDArray[np.int64]) -> NDArray[np.int64]:
    noted = np.flatnonzero(_point(characters, after) == ord("["))
    if not len(noted):
        return after
    closing = np.append(np.flatnonzero(characters.points == ord("]")), len(characters.text))
    after = after.copy()
    for _ in range(_CLOSERS_AT_MOST):
        start = after[noted]
        end = closing[np.minimum(closing.searchsorted(start), len(closing) - 1)]
        note = (_point(characters, start) == ord("[")) & (end - start <= _LONGEST_NOTE)
        note &= end < len(characters.text)
        after[noted] = np.where(note, end + 1, start)
    return after


def _behind_openers(characters: Characters, start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the first word behind opening marks stands; a dash is one: «Кто там?» — спросил он."""
    dash = _any_of(_point(characters, start), _DASHES)
    if dash.any():
        start = np.where(dash, characters.next_solid(start + 1), start)
    for _ in range(2):
        opens = _has(characters, start, OPENER)
        if not opens.any():
            break
        start = start + opens
    return start


def _quoted_speech_goes_on(
    characters: Characters,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    start: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """A quotation taken up by と or っ, or by one who asks or says, is part of a longer sentence."""
    quoted = (after > at + 1) & (start == after)
    index = np.flatnonzero(quoted)
    if not len(index):
        return quoted
    said = np.zeros(len(index), dtype=np.bool_)
    reading = np.ones(len(index), dtype=np.bool_)
    for offset in range(_SPEAKER_AT_MOST):
        point = _point(characters, start[index] + offset)
        # Kana is Japanese, which says so by と alone; a mark ends what may be the speaker's name.
        reading &= _has(characters, start[index] + offset, LETTER)
        reading &= (point < _FIRST_KANA) | (point > _LAST_KANA)
        said |= reading & _any_of(point, _SAYING)
    quoted[index] = said | _any_of(characters.points[start[index]], _TAKEN_UP)
    return quoted


@lru_cache(maxsize=1)
def _lists() -> tuple[NDArray[np.uint64], ...]:
    return (
        *(hash_words(words, backwards=True) for words in _BEFORE),
        *(hash_words(words, backwards=False) for words in _BEHIND),
    )


@lru_cache(maxsize=1)
def _perhaps_last() -> NDArray[np.uint64]:
    _, numbered, rarely, often, *_ = _lists()
    return np.unique(np.concatenate((numbered, rarely, often)))


@lru_cache(maxsize=1)
def _endings() -> NDArray[np.bool_]:
    """Marks where the hashes of how listed words end come to lie."""
    words = {word[-_ENDING:] for word in frozenset().union(*_BEFORE)}
    marks = np.zeros(_MARKS, dtype=np.bool_)
    marks[hash_words(words, backwards=True) % _MARKS] = True
    return marks


def _full_stop_ends(
    characters: Characters,
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


def _may_be_short_for(characters: Characters, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the word before a full stop is short, no mere letters, or ends as some abbreviation does."""
    kinds = characters.kinds.take(at - np.arange(1, _ENDING + 1)[:, None], mode="clip")
    word = np.bitwise_and.reduce(kinds) & np.uint16(LETTER) != 0
    ending = hash_endings(characters, at - 1, _ENDING)
    return ~word | (at < _ENDING) | _endings().take(ending % _MARKS)


def _full_stop_read(
    characters: Characters,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    following: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The same, the whole word before it read."""
    never, *_ = _lists()
    before, length = _words_beside(characters, at - 1, _INSIDE_WORD, -1)
    ends = ~listed(before, never)
    # Behind a word of some length that is on no list a full stop is what it seems.
    doubtful = (
        (length == 1)
        | _has(characters, np.maximum(at - 1, 0), DIGIT)
        | _acronym(characters, at, length)
    )
    doubtful |= listed(before, _perhaps_last())
    index = np.flatnonzero(ends & doubtful)
    if not len(index):
        return ends
    ends[index] = _doubtful_ends(
        characters, at[index], after[index], following[index], before[index], length[index]
    )
    return ends


def _acronym(
    characters: Characters, at: NDArray[np.int64], length: NDArray[np.int64]
) -> NDArray[np.bool_]:
    return (length >= 3) & (characters.points[np.maximum(at - 2, 0)] == ord("."))


def _doubtful_ends(
    characters: Characters,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    following: NDArray[np.int64],
    before: NDArray[np.uint64],
    length: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The same behind initials, numbers, acronyms and words that may end a sentence or not."""
    _, numbered, rarely, often, clock, openers, months, titles = _lists()
    behind, behind_length = _words_beside(characters, following, "", 1)
    opens = listed(behind, openers)
    previous = np.maximum(at - 1, 0)
    digits, capital = _has(characters, previous, DIGIT), _has(characters, previous, UPPER)
    initial = (length == 1) & _has(characters, previous, LETTER)
    # "т. д. Потом" ends, "z. B. ein" and "p. A. Meyer" go on: a lone small letter counts as an
    # abbreviation's end unless another initial follows.
    initial_follows = (behind_length == 1) & _has(characters, following, UPPER)
    small_and_last = initial & ~capital & ~initial_follows & (at >= 3)
    small_and_last &= (characters.points[np.maximum(at - 2, 0)] == 32) & (
        (characters.points[np.maximum(at - 3, 0)] == ord("."))
        | _has(characters, np.maximum(at - 3, 0), DIGIT)
    )
    ordinal = digits & (length <= 2) & listed(behind, months)
    word_start = at - length
    opens_line = (word_start == 0) | _has(characters, np.maximum(word_start - 1, 0), NEWLINE)
    marker = digits & (length <= 3) & opens_line  # "1. First" at the start of a line
    goes_on = ordinal | marker
    goes_on |= listed(before, numbered) & _has(characters, following, DIGIT)
    seldom = listed(before, rarely) | (_acronym(characters, at, length) & ~listed(before, often))
    goes_on |= listed(before, clock) & listed(behind, titles)
    goes_on |= seldom & ~opens & (after == at + 1)
    goes_on |= initial & ~small_and_last & ~(capital & opens & (behind_length > 1))
    return ~goes_on


def _thai_starts(characters: Characters) -> NDArray[np.int64]:
    """Thai marks the end of a sentence or clause by a space alone."""
    if characters.text.isascii():
        return np.zeros(0, dtype=np.int64)
    points = characters.points
    thai = (points >= 0x0E01) & (points <= 0x0E5B)
    if not thai.any():
        return np.zeros(0, dtype=np.int64)
    ends = thai[:-1].copy()
    ends[1:] |= characters.are(CLOSER)[1:-1] & thai[:-2]
    start = characters.next_solid(np.flatnonzero(ends & characters.are(SPACE)[1:]) + 1)
    start = start[start < len(points)]
    return start[thai[start]]

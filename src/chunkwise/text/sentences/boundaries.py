"""Where sentences start: candidates found by array arithmetic, abbreviations looked up only there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import (
    CLOSER,
    ENDER,
    FINAL,
    FULL_STOP,
    IDEOGRAPH,
    LETTER,
    LOWER,
    NEWLINE,
    OPENER,
    SEMICOLON,
    SPACE,
    CharacterArrays,
    one_of,
)
from chunkwise.text.positions import merge_sorted, without
from chunkwise.text.sentences.enumerations import Enumerations, enumerations
from chunkwise.text.sentences.full_stops import full_stop_ends

_FIRST, _LAST = 0x0E01, 0x0E5B
_GOES_ON = "ๆ ฯลฯ และ หรือ ซึ่ง ได้แก่ คือ เป็น เช่น เพื่อ โดย กับ ของ ที่".split()
"""And so on, and, or, which, namely, is, such as, for, by, with, of, that: sentences rarely start with them."""
_BEGINS = (
    "เช่นเดียว เพื่อน โดยทั่วไป โดยสรุป โดยสาร กับข้าว กับดัก กับระเบิด เป็นไปได้"
    " ของขวัญ ของกิน ของเล่น ของใช้ ของหวาน ของฝาก ของเสีย"
    " ที่ประชุม ที่ผ่านมา ที่สำคัญ ที่นี่ ที่นั่น ที่ดิน ที่ปรึกษา ที่จริง ที่อยู่ ที่มา"
).split()
"""Words that begin with the letters of those and may start a sentence."""
_NEVER_LAST = "นาย นาง นางสาว คุณ ฯพณฯ และ หรือ ได้แก่ คือ เช่น".split()
"""Mr, Mrs, Miss, Khun, His Excellency, and, or, namely, such as: what they announce follows."""
_AGAIN = "ๆ"
"""Repeats the word before it, and has a space on both sides wherever it stands."""


def thai_starts(characters: CharacterArrays) -> NDArray[np.int64]:
    """Behind spaces, unless the word before or behind on the same line says that the sentence goes on."""
    if not characters.has_between(_FIRST, _LAST):
        return np.zeros(0, dtype=np.int64)
    points = characters.points
    thai = (points >= _FIRST) & (points <= _LAST)
    last = thai[:-1].copy()
    last[1:] |= characters.are(CLOSER)[1:-1] & thai[:-2]
    ends = (last & characters.are(SPACE)[1:]).nonzero()[0] + 1
    start = characters.next_solid(ends)
    parts = thai.take(start, mode="clip") & (start < len(points))
    ends, start = ends[parts], start[parts]
    goes_on = points[ends - 1] == ord(_AGAIN)
    goes_on |= _begin(points, start, _GOES_ON) & ~_begin(points, start, _BEGINS)
    goes_on |= _end(points, thai, ends, _NEVER_LAST)
    breaks = characters.of_kinds(NEWLINE)
    goes_on &= breaks.searchsorted(ends) == breaks.searchsorted(start)
    return start[~goes_on]


def _begin(
    points: NDArray[np.uint32], places: NDArray[np.int64], words: Sequence[str]
) -> NDArray[np.bool_]:
    """Whether what starts at each place starts with one of the words."""
    found = np.zeros(len(places), dtype=np.bool_)
    may = np.isin(points[places], [ord(word[0]) for word in words]).nonzero()[0]
    for word in words:
        left = may[places[may] + len(word) <= len(points)]
        for offset, letter in enumerate(word):
            left = left[points[places[left] + offset] == ord(letter)]
        found[left] = True
    return found


def _end(
    points: NDArray[np.uint32],
    thai: NDArray[np.bool_],
    places: NDArray[np.int64],
    words: Sequence[str],
) -> NDArray[np.bool_]:
    """Whether what ends at each place is one of the words and nothing more."""
    found = np.zeros(len(places), dtype=np.bool_)
    may = np.isin(points[places - 1], [ord(word[-1]) for word in words]).nonzero()[0]
    for word in words:
        left = may[places[may] >= len(word)]
        before = places[left] - len(word)
        left = left[(before == 0) | ~thai[before - 1]]
        for offset, letter in enumerate(word, -len(word)):
            left = left[points[places[left] + offset] == ord(letter)]
        found[left] = True
    return found


_CLOSERS_AT_MOST = 4
_GUILLEMETS = "»›"
_DASHES = "—–"
_TAKEN_UP = "とっ"
_SAYING = "问問说說喊叫"
_SPEAKER_AT_MOST = 6
_ASKING_OR_CALLING = "!?"
_ADDRESS = "www."
_QUOTES = (("「", "」"), ("『", "』"))
_SHORT_QUOTE = 40
"""Characters of a quotation that is kept whole, whatever sentences it holds: 「行こう。早く。」"""
_GREEK = ((0x0370, 0x03FF), (0x1F00, 0x1FFF))
_ARMENIAN = (0x0531, 0x0587)
"""Letters behind which a colon is typed for the full stop ։, which it looks like."""
_FIRST_KANA, _LAST_KANA = 0x3040, 0x30FF
_FURTHEST = 128
"""Characters from a full stop on among which what belongs to its sentence ends: quotes, brackets, notes."""
_LONGEST_NOTE = 24
"""Characters of a note mark that belongs to the sentence before it: `[12]`, `[citation needed]`."""
_AT_ONCE = 1 << 18
"""Marks looked at together: what is made on the way stays small."""


def sentence_starts(
    characters: CharacterArrays,
    within: NDArray[np.int64] | None = None,
    items: Enumerations | None = None,
) -> NDArray[np.int64]:
    """Start of every sentence but the first, as if the text were one paragraph; items start with their number.

    `within`: sorted spans, two columns, that all sentences are wanted of; elsewhere some may be missing. `items`: those
    of the text, where they are known.
    """
    if not characters.text:
        return np.zeros(0, dtype=np.int64)
    starts = _starts_by_marks(characters, within)
    items = enumerations(characters) if items is None else items
    if not len(items.numbers):
        return starts
    starts = merge_sorted(without(starts, items.texts), items.sentences)
    return starts[starts > 0]


def _starts_by_marks(
    characters: CharacterArrays, within: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Behind full stops, question marks and their like, whatever numbers stand there."""
    at = _terminators(characters)
    at = at[np.append(np.diff(at) > 1, True)[: len(at)]]  # "?!" and "..." end once
    if within is not None:
        span = within[:, 0].searchsorted(at + _FURTHEST, "right") - 1
        at = at[(span >= 0) & (at < within[span, 1])] if len(within) else at[:0]
    found = [
        _starts_behind(characters, at[low : low + _AT_ONCE]) for low in range(0, len(at), _AT_ONCE)
    ]
    thai = thai_starts(characters)
    if not found:
        return thai
    starts = _outside_short_quotes(characters, np.concatenate(found))
    return merge_sorted(starts, thai) if len(thai) else starts


def _starts_behind(characters: CharacterArrays, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Starts of the sentences behind those of the marks that end one."""
    final = characters.have(at, FINAL) | _behind_ideographs(characters, at)
    after = _behind_closers(characters, at, final)
    start = characters.next_solid(after)
    inside = start < len(characters.text)
    at, after, start, final = at[inside], after[inside], start[inside], final[inside]
    ends = final
    if final.any():
        # A narrow mark is none of its own: "搜索?q=1" goes on, and behind a space it is read as elsewhere.
        narrow = final & ~characters.have(at, FINAL)
        final &= ~narrow | ((start == after) & characters.have(start, IDEOGRAPH | OPENER))
        ends = final & ~_quoted_speech_goes_on(characters, at, after, start)
    spaced = ~final & (start > after)
    opened = _behind_openers(characters, start)
    spaced &= ~_small(characters, start, opened)
    # ". . ." is an ellipsis, ".NET" a word.
    spaced &= ~characters.have(start, FULL_STOP) | characters.have(start + 1, LETTER)
    stop = spaced & characters.have(at, FULL_STOP)
    ends |= spaced & ~stop
    single = stop & ~characters.have(np.maximum(at - 1, 0), FULL_STOP)
    ends |= stop & ~single  # an ellipsis before a capital
    index = single.nonzero()[0]
    ends[index] = full_stop_ends(characters, at[index], after[index], opened[index])
    found: NDArray[np.int64] = start[ends]
    return found


def _point(characters: CharacterArrays, positions: NDArray[np.int64]) -> NDArray[np.uint32]:
    return characters.points.take(positions, mode="clip")


def _terminators(characters: CharacterArrays) -> NDArray[np.int64]:
    """Marks that may end a sentence; a semicolon does behind Greek letters, where it asks, a colon behind Armenian."""
    ends = FULL_STOP | ENDER | FINAL
    if characters.text.isascii():
        return characters.of_kinds(ends)
    greek = any(characters.has_between(*each) for each in _GREEK)
    at = characters.of_kinds(ends | SEMICOLON if greek else ends)
    if characters.has_between(*_ARMENIAN):
        colons = characters.places(":")
        before = _point(characters, np.maximum(colons - 1, 0))
        at = merge_sorted(at, colons[(before >= _ARMENIAN[0]) & (before <= _ARMENIAN[1])])
    index = characters.have(at, SEMICOLON).nonzero()[0] if greek else at[:0]
    if not len(index):
        return at
    before = _point(characters, np.maximum(at[index] - 1, 0))
    asks = np.zeros(len(index), dtype=np.bool_)
    for low, high in _GREEK:
        asks |= (before >= low) & (before <= high)
    kept = np.ones(len(at), dtype=np.bool_)
    kept[index] = asks
    return at[kept]


def _behind_ideographs(characters: CharacterArrays, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Narrow ! and ? of Chinese and Japanese, which no space follows."""
    found = np.zeros(len(at), dtype=np.bool_)
    if characters.text.isascii():
        return found
    index = (
        characters.have(at, ENDER) & characters.have(at - 1, IDEOGRAPH | ENDER) & (at > 0)
    ).nonzero()[0]
    before = at[index]
    for _ in range(_CLOSERS_AT_MOST):
        before = before - (one_of(_point(characters, before), _ASKING_OR_CALLING) & (before > 0))
    found[index] = (before < at[index]) & characters.have(before, IDEOGRAPH)
    return found


def _small(
    characters: CharacterArrays, start: NDArray[np.int64], opened: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a small letter follows; the address of a page opens a sentence all the same: www.example.org is up."""
    small = characters.have(opened, LOWER)
    index = small.nonzero()[0]
    for offset, char in enumerate(_ADDRESS):
        index = index[_point(characters, start[index] + offset) == ord(char)]
    small[index] = False
    return small


def _behind_closers(
    characters: CharacterArrays, at: NDArray[np.int64], final: NDArray[np.bool_]
) -> NDArray[np.int64]:
    after = at + 1
    # French sets a space before its closing quote.
    if any(each in characters.text for each in _GUILLEMETS):
        guillemet = one_of(_point(characters, after + 1), _GUILLEMETS)
        after = after + 2 * (characters.have(after, SPACE) & guillemet)
    # In Chinese and Japanese “ only ever opens; in German it closes.
    opens = final
    if final.any():
        opens = final & (_point(characters, after) == ord("“"))
        opens |= _opened_by_straight_quotes(characters, after, final)
    for _ in range(_CLOSERS_AT_MOST):
        closes = characters.have(after, CLOSER) & ~opens
        if not closes.any():
            break
        after = after + closes
    after = _behind_notes(characters, after)
    # A mark such as * or " that touches the next word opens it instead: step back to it.
    touching = (after > at + 1) & ~characters.have(after, SPACE) & ~final
    return np.where(touching & (after < len(characters.text)), at + 1, after)


def _opened_by_straight_quotes(
    characters: CharacterArrays, at: NDArray[np.int64], final: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether a straight quote stands there that opens: on its line an even number come before it."""
    opens = final & (_point(characters, at) == ord('"')) & ~characters.have(at + 1, SPACE)
    index = opens.nonzero()[0]
    if len(index):
        quotes, lines = characters.straight_quotes, characters.line_breaks
        line = lines[lines.searchsorted(at[index], "right") - 1]
        opens[index] = (quotes.searchsorted(at[index]) - quotes.searchsorted(line)) % 2 == 0
    return opens


def _behind_notes(characters: CharacterArrays, after: NDArray[np.int64]) -> NDArray[np.int64]:
    noted = (_point(characters, after) == ord("[")).nonzero()[0]
    if not len(noted):
        return after
    first, last = int(after[noted].min()), int(after[noted].max())
    reach = last + _CLOSERS_AT_MOST * (_LONGEST_NOTE + 1)
    closing = np.append(characters.places("]", first, reach + 1), len(characters.text))
    after = after.copy()
    for _ in range(_CLOSERS_AT_MOST):
        start = after[noted]
        end = closing[np.minimum(closing.searchsorted(start), len(closing) - 1)]
        note = (_point(characters, start) == ord("[")) & (end - start <= _LONGEST_NOTE)
        note &= end < len(characters.text)
        after[noted] = np.where(note, end + 1, start)
    return after


def _behind_openers(characters: CharacterArrays, start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the first word behind opening marks stands; a dash is one: «Кто там?» — спросил он."""
    dash = one_of(_point(characters, start), _DASHES)
    if dash.any():
        start = np.where(dash, characters.next_solid(start + 1), start)
    for _ in range(2):
        opens = characters.have(start, OPENER)
        if not opens.any():
            break
        start = start + opens
    return start


def _quoted_speech_goes_on(
    characters: CharacterArrays,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    start: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """A quotation taken up by と or っ, or by one who asks or says, is part of a longer sentence."""
    quoted = (after > at + 1) & (start == after)
    index = quoted.nonzero()[0]
    if not len(index):
        return quoted
    said = np.zeros(len(index), dtype=np.bool_)
    reading = np.ones(len(index), dtype=np.bool_)
    for offset in range(_SPEAKER_AT_MOST):
        point = _point(characters, start[index] + offset)
        # Kana is Japanese, which says so by と alone; a mark ends what may be the speaker's name.
        reading &= characters.have(start[index] + offset, LETTER)
        reading &= (point < _FIRST_KANA) | (point > _LAST_KANA)
        said |= reading & one_of(point, _SAYING)
    quoted[index] = said | one_of(characters.points[start[index]], _TAKEN_UP)
    return quoted


def _outside_short_quotes(
    characters: CharacterArrays, starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Starts but those between the marks of a short quotation, as Chinese and Japanese write them."""
    for opening, closing in _QUOTES:
        if opening not in characters.text or closing not in characters.text:
            continue
        opened = characters.places(opening)
        closed = characters.places(closing)
        before, after = opened.searchsorted(starts) - 1, closed.searchsorted(starts)
        low = opened.take(before, mode="clip")
        inside = (before >= 0) & (after < len(closed)) & (closed.searchsorted(low) == after)
        inside &= closed.take(after, mode="clip") - low <= _SHORT_QUOTE
        starts = starts[~inside]
    return starts

"""Where sentences start: candidates found by array arithmetic, abbreviations looked up only there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import (
    CLOSER,
    ENDERS,
    FINAL,
    FINALS,
    FULL_STOP,
    LETTER,
    LOWER,
    OPENER,
    SPACE,
    CharacterArrays,
    one_of,
)
from chunkwise.text.positions import merge_sorted, without
from chunkwise.text.sentences.enumerations import Enumerations, enumerations
from chunkwise.text.sentences.full_stops import full_stop_ends

_FIRST, _LAST = 0x0E01, 0x0E5B


def thai_starts(characters: CharacterArrays) -> NDArray[np.int64]:
    """Behind every space between Thai letters."""
    if not characters.has_between(_FIRST, _LAST):
        return np.zeros(0, dtype=np.int64)
    points = characters.points
    thai = (points >= _FIRST) & (points <= _LAST)
    ends = (thai[:-1] & characters.are(SPACE)[1:]).nonzero()[0] + 1
    start = characters.next_solid(ends)
    return start[thai.take(start, mode="clip") & (start < len(points))]


_CLOSERS_AT_MOST = 4
_GUILLEMETS = "»›"
_DASHES = "—–"
_TAKEN_UP = "とっ"
"""Behind a quotation: 「はい。」と言った。"""
_GREEK = ((0x0370, 0x03FF), (0x1F00, 0x1FFF))
_ARMENIAN = ((0x0531, 0x0587),)
"""Letters behind which a colon is typed for the full stop ։, which it looks like."""
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
    result = [
        _starts_behind(characters, at[low : low + _AT_ONCE]) for low in range(0, len(at), _AT_ONCE)
    ]
    thai = thai_starts(characters)
    if not result:
        return thai
    starts = np.concatenate(result)
    return merge_sorted(starts, thai) if len(thai) else starts


def _starts_behind(characters: CharacterArrays, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Starts of the sentences behind those of the marks that end one."""
    final = characters.have(at, FINAL)
    after = _behind_closers(characters, at, final)
    start = characters.next_solid(after)
    inside = start < len(characters.text)
    at, after, start, final = at[inside], after[inside], start[inside], final[inside]
    quoted = (after > at + 1) & (start == after)
    ends = final & ~(quoted & one_of(_point(characters, start), _TAKEN_UP))
    spaced = ~final & (start > after)
    opened = _behind_openers(characters, start)
    spaced &= ~characters.have(opened, LOWER)
    # ". . ." is an ellipsis, ".NET" a word.
    spaced &= ~characters.have(start, FULL_STOP) | characters.have(start + 1, LETTER)
    stop = spaced & characters.have(at, FULL_STOP)
    ends |= spaced & ~stop
    single = stop & ~characters.have(np.maximum(at - 1, 0), FULL_STOP)
    ends |= stop & ~single  # an ellipsis before a capital
    index = single.nonzero()[0]
    ends[index] = full_stop_ends(characters, at[index], after[index], opened[index])
    result: NDArray[np.int64] = start[ends]
    return result


def _point(characters: CharacterArrays, positions: NDArray[np.int64]) -> NDArray[np.uint32]:
    return characters.points.take(positions, mode="clip")


def _terminators(characters: CharacterArrays) -> NDArray[np.int64]:
    """Marks that may end a sentence; a semicolon does behind Greek letters, where it asks, a colon behind Armenian."""
    at = characters.places("." + ENDERS + FINALS)
    for mark, letters in ((";", _GREEK), (":", _ARMENIAN)):
        if any(characters.has_between(*span) for span in letters):
            marks = characters.places(mark)
            before = _point(characters, np.maximum(marks - 1, 0))
            ends = [(first <= before) & (before <= last) for first, last in letters]
            at = merge_sorted(at, marks[np.any(ends, axis=0)])
    return at


def _behind_closers(
    characters: CharacterArrays, at: NDArray[np.int64], final: NDArray[np.bool_]
) -> NDArray[np.int64]:
    after = at + 1
    # French sets a space before its closing quote.
    if any(item in characters.text for item in _GUILLEMETS):
        guillemet = one_of(_point(characters, after + 1), _GUILLEMETS)
        after = after + 2 * (characters.have(after, SPACE) & guillemet)
    # In Chinese and Japanese “ only ever opens; in German it closes.
    opens = final
    if final.any():
        opens = final & (_point(characters, after) == ord("“"))
    for _ in range(_CLOSERS_AT_MOST):
        closes = characters.have(after, CLOSER) & ~opens
        if not closes.any():
            break
        after = after + closes
    after = _behind_notes(characters, after)
    # A mark such as * or " that touches the next word opens it instead: step back to it.
    touching = (after > at + 1) & ~characters.have(after, SPACE) & ~final
    return np.where(touching & (after < len(characters.text)), at + 1, after)


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

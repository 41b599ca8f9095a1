"""Whether a full stop ends its sentence: the word before it may be an abbreviation, a number, an initial."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

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
    kinds_of,
    lower,
    one_of,
)

_BASE = 1_000_003
_MASK = (1 << 64) - 1
_LONGEST_WORD = 12
_AT_ONCE = 1 << 15
"""Words read together: the arrays for millions of them would take gigabytes."""


def _powers() -> NDArray[np.uint64]:
    """By which number each character of a word is multiplied, a column for each length; behind its end by none."""
    powers = np.zeros((_LONGEST_WORD + 1, _LONGEST_WORD + 2), dtype=np.uint64)
    for length in range(_LONGEST_WORD + 2):
        powers[:length, length] = [pow(_BASE, after, 1 << 64) for after in reversed(range(length))]
    return powers


_POWERS = _powers()


def hash_words(words: Iterable[str], *, backwards: bool) -> NDArray[np.uint64]:
    """The hashes of lower-case words, sorted; backwards as `hash_beside` reads to the left."""
    hashes = []
    for word in words:
        value = 0
        for char in reversed(word) if backwards else word:
            value = (value * _BASE + ord(char)) & _MASK
        hashes.append(value)
    return np.array(sorted(set(hashes)), dtype=np.uint64)


def hash_beside(
    characters: CharacterArrays, positions: NDArray[np.int64], flags: int, also: str, step: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hash and length of the word at each position, read one way over characters of some kinds.

    A word longer than any listed gets a length beyond the longest and a hash that matches nothing.
    """
    values = np.empty(len(positions), dtype=np.uint64)
    lengths = np.empty(len(positions), dtype=np.int64)
    for start in range(0, len(positions), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        where = positions[part] + step * np.arange(_LONGEST_WORD + 1)[:, None]
        points = characters.points.take(where, mode="clip")
        member = kinds_of(points) & np.uint16(flags) != 0
        for char in also:
            member |= points == ord(char)
        member &= (where >= 0) & (where < len(characters.text))
        length = np.logical_and.accumulate(member).sum(axis=0)
        lengths[part] = length
        np.sum(lower(points) * _POWERS.take(length, axis=1), axis=0, out=values[part])
    return values, lengths


def hash_endings(
    characters: CharacterArrays, positions: NDArray[np.int64], size: int
) -> NDArray[np.uint64]:
    """Hash of as many characters up to each position, read backwards; what precedes the text is its first."""
    where = positions - np.arange(size)[:, None]
    value = np.zeros(len(positions), dtype=np.uint64)
    for letters in lower(characters.points.take(where, mode="clip")):
        value = value * np.uint64(_BASE) + letters
    return value


def in_list(values: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each hash is in the sorted list."""
    index = np.minimum(hashes.searchsorted(values), len(hashes) - 1)
    return hashes[index] == values


NEVER_LAST = frozenset(
    """
    dr mr mrs ms mx prof hon rev fr sra sres dra drs gen col maj capt cpt lt sgt cmdr adm gov sen rep pres supt
    messrs mme mlle mm mgr mons st ste sta sto mt e.g eg i.e ie cf vs viz approx ca c.a incl excl esp
    resp ed eds trans transl dept univ assn bros tel ext orig abbr obs pseud var

    hr hrn z.b d.h u.a u.ä o.ä s.o s.u i.d.r i.a v.a m.e bzw bspw ggf evtl vgl inkl exkl zzgl abzgl sog
    geb gest hrsg aufl ing dipl mag röm österr schweiz str tel hl frl

    डॉ श्री श्रीमती प्रो पं कु
    ดร ผศ รศ นพ พญ ทพ
    p.ex p.ej ej ee vgr env av boul bd apr avt exc etc.-à-d c.-à-d ud uds vd vds avda ctra dto dtor excmo ilmo núm
    dott dott.ssa avv l'avv l’avv dell'avv dell’avv sig sig.ra sigg egr spett geom pag pagg
    dhr mevr mej bijv d.w.z drs blz o.a m.b.t i.v.m t.a.v n.a.v z.s.m incl
    exmo exma sr.ª dr.ª
    t.e т.е т.к т.н т.о т.ч напр ул пр пл просп им д-р проф акад гр обл р-н стр рис табл см ср
    """.split()
)

BEFORE_NUMBER = frozenset(
    """
    no nos nr nrn num fig figs tab tbl eq eqs eqn vol vols ch chap sec sect secs art arts para paras par cl p pp pg
    pt pts app appx ex exh ln ll n nn v vv lib ver vers op cap sched reg regs
    abs abb kap bd anm anl zif ziff rn rz art aufl bl
    chap art l'art l’art d'art d’art dell'art dell’art all'art all’art al fig núm pág págs cap h nº
    гл ст п пп рис табл стр с т кв корп оф каб эт
    रु
    jan feb mar apr jun jul aug sep sept oct nov dec jän mär mrz okt dez
    """.split()
)
"""End no sentence where a number follows: "Fig. 2", "No. 7"."""

ROMAN_NUMBERS = frozenset(
    tens + ones
    for tens in ("", "x", "xx", "xxx")
    for ones in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
) - {"", "i"}
"""Are numbers where they are written in capitals; not I, which is a word: "Did you? No. I did not."."""

BEHIND_TITLE = frozenset("med phil jur rer nat theol pol oec techn habil د".split())
"""End no sentence behind another abbreviation: "Dr. rer. nat. Lund"."""

BEFORE_ORDINAL = frozenset("der dem am im vom zum zur beim".split())
"""Make a number behind them an ordinal, as in "der 2. Mann"; not "des", which is French too: "l'un des 12. Marie …"."""

RARELY_LAST = frozenset(
    """
    inc ltd co corp llc llp plc jr sr esq ph.d phd m.d b.a m.a b.sc m.sc u.s u.k u.n e.u u.s.a n.y l.a a.d b.c b.c.e c.e
    uu al ft jh mio mrd tsd тыс млн млрд руб коп gmbh ag kg sa s.a s.l bros dept ave blvd rd
    """.split()
)
"""End a sentence only where a word follows that usually opens one."""

OFTEN_LAST = frozenset("a.m p.m etc ecc enz usw u.s.w u.v.m".split())
"""Look like acronyms but end a sentence before any capital letter."""

OPENERS_OF_SENTENCES = frozenset(
    """
    the this that these those there then they their it its he she his her we our you your i in on at as if when while
    after before but and so yet however although though because since for from to with by what who how why where
    no not all some many most each every both few one two once here such another other
    did does is are was were could would should have
    der die das ein eine es er sie wir ich ihr in im am auf mit nach vor bei als wenn aber und doch so dann dort hier
    le la les un une il elle nous vous ils elles ce cette ces en dans pour mais et puis
    el los las una ella este esta pero
    """.split()
)

MONTHS = frozenset(
    """
    januar jänner februar märz april mai juni juli august september oktober november dezember
    jan feb mär mrz apr jun jul aug sep sept okt nov dez
    januari februari maart mei juni juli augustus oktober
    leden únor březen duben květen červen červenec srpen září říjen listopad prosinec
    jahrhundert jahrhunderts jh klasse auflage kapitel tag woche monat jahr stock stufe rang platz
    weltkrieg weltkriegs bundesliga preis preises quartal quartals halbjahr etage runde spieltag geburtstag lebensjahr
    """.split()
)
"""Follow an ordinal number, which some languages write with a full stop: "3. März"."""


ENDING = 3
"""Characters by which most words before a full stop are told from every abbreviation."""
MARKS = np.uint64(1 << 16)
_BEFORE = (
    NEVER_LAST, BEFORE_NUMBER, RARELY_LAST, OFTEN_LAST, BEHIND_TITLE, BEFORE_ORDINAL,
)  # fmt: skip
_BEHIND = (OPENERS_OF_SENTENCES, MONTHS)

Hashes = NDArray[np.uint64]


class WordsBeforeStop(NamedTuple):
    """Of words before a full stop, read backwards."""

    never: Hashes
    numbered: Hashes
    rarely: Hashes
    often: Hashes
    learned: Hashes
    articles: Hashes


class WordsBehindStop(NamedTuple):
    """Of words that follow one."""

    openers: Hashes
    months: Hashes


@lru_cache(maxsize=1)
def words_before_stops() -> WordsBeforeStop:
    return WordsBeforeStop(*(hash_words(words, backwards=True) for words in _BEFORE))


@lru_cache(maxsize=1)
def words_behind_stops() -> WordsBehindStop:
    return WordsBehindStop(*(hash_words(words, backwards=False) for words in _BEHIND))


@lru_cache(maxsize=1)
def perhaps_last() -> Hashes:
    """Words that end a sentence or do not."""
    lists = words_before_stops()
    return np.unique(np.concatenate((lists.numbered, lists.rarely, lists.often, lists.learned)))


@lru_cache(maxsize=1)
def endings() -> NDArray[np.bool_]:
    """Marks where the hashes of how listed words end come to lie."""
    marks = np.zeros(MARKS, dtype=np.bool_)
    marks[hash_words(_endings(), backwards=True) % MARKS] = True
    return marks


WORD = LETTER | DIGIT | MARK | JOINER
_INSIDE_WORD = ".-’'"
_FEW_WORDS = 8
_SPACES = 8
_CLAUSE_ENDS = '.;:!?)”"'
_ANY_STOP = re.compile(r"""[.!?](?<=\w.)["'”’)\]]*\s+(?=\S)""")


def starts_behind_stops(
    characters: CharacterArrays, spans: Iterable[tuple[int, int]]
) -> NDArray[np.int64]:
    """Starts of what follows a sentence that ends, small letters too: a text without capitals has nothing else.

    Those inside of some sorted spans.
    """
    text = characters.text
    found = [match.span() for span in spans for match in _ANY_STOP.finditer(text, *span)]
    at, start = np.array(found, dtype=np.int64).reshape(-1, 2).T
    ends = characters.points.take(at) != ord(".")
    index = (~ends).nonzero()[0]
    ends[index] = full_stop_ends(characters, at[index], at[index] + 1, start[index])
    return start[ends]


@lru_cache(maxsize=1)
def _endings() -> frozenset[str]:
    return frozenset(word[-ENDING:] for words in _BEFORE[:-1] for word in words)


def ends_behind_word(text: str, at: int) -> bool:
    """Whether a full stop ends its sentence because no abbreviation ends as the word before it does."""
    ending = text[max(at - ENDING, 0) : at]
    return len(ending) == ENDING and ending.isalpha() and ending.lower() not in _endings()


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
    index = doubtful.nonzero()[0]
    ends = ~doubtful
    ends[index] = _full_stop_read(characters, at[index], after[index], following[index])
    return ends


def _may_be_short_for(characters: CharacterArrays, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the word before a full stop is short, no mere letters, or ends as some abbreviation does."""
    kinds = characters.kinds_at(at - np.arange(1, ENDING + 1)[:, None])
    word = np.bitwise_and.reduce(kinds) & np.uint16(LETTER) != 0
    ending = hash_endings(characters, at - 1, ENDING)
    # NumPy 1 takes no unsigned positions.
    return ~word | (at < ENDING) | endings().take((ending % MARKS).view(np.int64))


def _full_stop_read(
    characters: CharacterArrays,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    following: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The same, the whole word before it read."""
    before, length = words_beside(characters, at - 1, _INSIDE_WORD, -1)
    ends = ~in_list(before, words_before_stops().never)
    # Behind a word of some length that is on no list a full stop is what it seems.
    acronym = _acronym(characters, at, length)
    doubtful = (length == 1) | characters.have(np.maximum(at - 1, 0), DIGIT) | acronym
    doubtful |= in_list(before, perhaps_last())
    index = (ends & doubtful).nonzero()[0]
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
    """Whether the word before a full stop holds another: "U.S.", or "J.-C." where it is no year's "av. J.-C.".

    A number does, too, and is none: "in room 4.2."
    """
    last = characters.points[np.maximum(at - 2, 0)]
    found: NDArray[np.bool_] = last == ord(".")
    index = (last == ord("-")).nonzero()[0]
    if len(index):
        hyphen, start = at[index] - 2, at[index] - length[index]
        year = characters.have(start - 2, FULL_STOP) & characters.have(start - 3, LOWER)
        found[index] = characters.have(hyphen - 1, FULL_STOP) & ~(year & (start >= 3))
    return found & (length >= 3) & ~characters.have(np.maximum(at - 1, 0), DIGIT)


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
    lists, following_lists = words_before_stops(), words_behind_stops()
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
    dotted = characters.points[np.maximum(at - 2, 0)] == ord(".")
    dotted |= characters.points[np.maximum(at - 3, 0)] == ord(".")
    # "1. First", "4.2. Scope" at the start of a line, and "… is sold. 4.2. Scope."
    marker = digits & ((length <= 3) | dotted) & opens_line
    marker |= digits & dotted & (length >= 3) & _behind_end(characters, word_start)
    goes_on = ordinal | marker
    index = (digits & (length <= 2) & ~opens & ~goes_on).nonzero()[0]  # "der 2. Mann"
    goes_on[index] = _behind_article(characters, word_start[index])
    behind_stop = characters.have(word_start - 2, FULL_STOP) & (word_start >= 2)
    goes_on |= in_list(before, lists.learned) & behind_stop
    goes_on |= in_list(before, lists.numbered) & characters.have(following, DIGIT)
    seldom = in_list(before, lists.rarely) | (acronym & ~in_list(before, lists.often))
    goes_on |= seldom & ~opens & (after == at + 1)
    goes_on |= initial & ~small_and_last & ~(capital & opens & (behind_length > 1))
    return ~goes_on


def _behind_end(characters: CharacterArrays, start: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether what stands before a word, some spaces away, ends a sentence or a clause."""
    before = start - 1
    for _ in range(_SPACES):
        before = before - (characters.points.take(np.maximum(before, 0), mode="clip") == 32)
    ended = one_of(characters.points.take(np.maximum(before, 0), mode="clip"), _CLAUSE_ENDS)
    return ended & (before < start - 1) & (before >= 0)


def _behind_article(characters: CharacterArrays, start: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a German article stands before the word that starts there; "I am 12" has none."""
    before, length = words_beside(characters, np.maximum(start - 2, 0), "", -1)
    spaced = (characters.points.take(start - 1, mode="clip") == 32) & (start >= 3)
    mine = characters.points.take(start - length - 3, mode="clip") == ord("I")
    return in_list(before, words_before_stops().articles) & spaced & ~(mine & (length == 2))


@lru_cache(maxsize=4096)
def _hash_of(word: str) -> int:
    return int(hash_words(["".join(char.lower()[0] for char in word)], backwards=False)[0])


def words_beside(
    characters: CharacterArrays, positions: NDArray[np.int64], also: str, step: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """What `hash_beside` says; a short text's few words are read one by one, arrays would cost more."""
    if len(positions) > _FEW_WORDS:
        return hash_beside(characters, positions, WORD, also, step)
    hashes, lengths = [], []
    for position in positions.tolist():
        lo, hi = (max(position - 12, 0), position + 1) if step < 0 else (position, position + 13)
        word = characters.text[lo:hi][::step]
        length = 0
        for char in word:
            if not (kind_of(char) & WORD or char in also):
                break
            length += 1
        hashes.append(_hash_of(word[:length]))
        lengths.append(length)
    return np.array(hashes, dtype=np.uint64), np.array(lengths, dtype=np.int64)

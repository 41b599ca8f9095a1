"""Whether a full stop ends its sentence: the word before it may be an abbreviation, a number, an initial."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice, takewhile

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import (
    DIGIT,
    JOINER,
    LETTER,
    LOWER,
    MARK,
    NEWLINE,
    UPPER,
    CharacterArrays,
    Points,
    kind_of,
)

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


WORD = LETTER | DIGIT | MARK | JOINER
_LONGEST_WORD = 12
"""Characters of the longest word listed."""
_PERHAPS_LAST = frozenset().union(BEFORE_NUMBER, RARELY_LAST, OFTEN_LAST, BEHIND_TITLE)
"""Words that end a sentence or do not."""
_INSIDE_WORD = ".-’'"
_SPACES = 8
_CLAUSE_ENDS = '.;:!?)”"'
_TAIL = np.arange(1, 5)
"""How far before a full stop the letters stand that tell most words from abbreviations."""
_ANY_STOP = re.compile(r"""[.!?](?<=\w.)["'”’)\]]*\s+(?=\S)""")


def starts_behind_stops(text: str, spans: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Starts of what follows a sentence that ends, small letters too: a text without capitals has nothing else.

    Those inside of some sorted spans.
    """
    starts = (
        match.end()
        for span in spans
        for match in _ANY_STOP.finditer(text, *span)
        if match[0][0] != "." or stop_ends(text, match.start(), match.start() + 1, match.end())
    )
    return np.fromiter(starts, np.int64)


def full_stop_ends(
    characters: CharacterArrays,
    at: NDArray[np.int64],
    after: NDArray[np.int64],
    following: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """`stop_ends` of many full stops."""
    ends = _behind_plain_words(characters, at)
    left = (~ends).nonzero()[0]
    places = zip(*(array[left].tolist() for array in (at, after, following)), strict=True)
    ends[left] = [stop_ends(characters.text, *place) for place in places]
    return ends


def _behind_plain_words(characters: CharacterArrays, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the word before a full stop ends with two letters of ASCII, and as no abbreviation: as most do."""
    places = at[:, None] - _TAIL
    last = characters.points.take(places, mode="clip")
    letters = characters.have(places, LETTER) & (last < 128) & (places >= 0)
    np.logical_and.accumulate(letters, axis=1, out=letters)
    return letters[:, 1] & ~_endings().take(_number_of(last * letters))


def _number_of(letters: Points) -> NDArray[np.int64]:
    """Of the last letters of words, small or capital, in rows, the last letter first; 0 stands for none."""
    return np.asarray((letters & 31).astype(np.int64) @ (1 << 5 * np.arange(len(_TAIL))))


@cache
def _endings() -> NDArray[np.bool_]:
    """By their numbers whether these letters end an abbreviation."""
    result = np.zeros(1 << 5 * len(_TAIL), dtype=np.bool_)
    tails = np.zeros((len(NEVER_LAST | _PERHAPS_LAST), len(_TAIL)), dtype=np.uint8)
    for row, word in enumerate(NEVER_LAST | _PERHAPS_LAST):
        letters = takewhile(lambda char: char.isascii() and char.isalpha(), reversed(word))
        tail = [ord(letter) for letter in islice(letters, len(_TAIL))]
        tails[row, : len(tail)] = tail
    result[_number_of(tails)] = True
    return result


def stop_ends(text: str, at: int, after: int, following: int) -> bool:
    """Whether a lone full stop before white space and no small letter ends its sentence.

    `after` is behind the closing marks that belong to it, `following` where the first word behind it stands.
    """
    start = _word_start(text, at, _INSIDE_WORD)
    word, alone = text[start:at].lower(), at - start == 1
    if word in NEVER_LAST:
        return False
    listed = word in _PERHAPS_LAST
    if not (listed or alone) and (word.isalpha() or not word):
        return True  # as most do
    last, acronym = _kind(text, at - 1), _is_acronym(text, start, at)
    if not (listed or alone or last & DIGIT or acronym):
        return True
    behind = _word_behind(text, following)
    opens = behind.lower() in OPENERS_OF_SENTENCES
    if last & DIGIT and _is_ordinal_or_marker(text, start, at, behind):
        return False
    if word in BEHIND_TITLE and _is_stop(text, start - 2):
        return False
    if word in BEFORE_NUMBER and _kind(text, following) & DIGIT:
        return False
    seldom = word in RARELY_LAST or (acronym and word not in OFTEN_LAST)
    if seldom and not opens and after == at + 1:
        return False
    if alone and last & LETTER:
        if last & UPPER:
            return opens and len(behind) > 1
        return _is_last_of_abbreviation(text, at, following, behind)
    return True


def _kind(text: str, at: int) -> int:
    return kind_of(text[at]) if 0 <= at < len(text) else 0


def _is_stop(text: str, at: int) -> bool:
    return at >= 0 and text[at] == "."


def _word_start(text: str, end: int, also: str = "") -> int:
    """Where the word that ends here starts, one longer than any listed cut off."""
    least = max(end - _LONGEST_WORD - 1, 0)
    last = text[least:end].rsplit(None, 1)[-1:]
    if last and last[0].isalnum() and not text[end - 1].isspace():  # as most: read at once
        return end - len(last[0])
    start = end
    while start > least and (kind_of(text[start - 1]) & WORD or text[start - 1] in also):
        start -= 1
    return start


def _word_behind(text: str, start: int) -> str:
    """The word that starts here."""
    some = text[start : start + _LONGEST_WORD + 1]
    for end, char in enumerate(some):
        if not kind_of(char) & WORD:
            return some[:end]
    return some


def _is_acronym(text: str, start: int, at: int) -> bool:
    """Whether the word before a full stop holds another: "U.S.", or "J.-C." where it is no year's "av. J.-C.".

    A number does, too, and is none: "in room 4.2."
    """
    if at - start < 3 or kind_of(text[at - 1]) & DIGIT:
        return False
    if text[at - 2] == "-":
        is_year = _is_stop(text, start - 2) and _kind(text, start - 3) & LOWER
        return text[at - 3] == "." and not is_year
    return text[at - 2] == "."


def _is_ordinal_or_marker(text: str, start: int, at: int, behind: str) -> bool:
    """Whether a number before a full stop counts what follows ("der 2. Mann") or stands above it ("4.2. Scope")."""
    length = at - start
    if length <= 2 and behind.lower() in MONTHS:
        return True
    dotted = _is_stop(text, at - 2) or _is_stop(text, at - 3)
    opens_line = start == 0 or kind_of(text[start - 1]) & NEWLINE != 0
    if opens_line and (length <= 3 or dotted):
        return True
    if dotted and length >= 3 and _behind_end(text, start):
        return True
    return (
        length <= 2 and behind.lower() not in OPENERS_OF_SENTENCES and _behind_article(text, start)
    )


def _is_last_of_abbreviation(text: str, at: int, following: int, behind: str) -> bool:
    """Whether a lone small letter ends an abbreviation and its sentence.

    "т. д. Потом" ends, "z. B. ein" and "p. A. Meyer" go on: it does unless another initial follows.
    """
    if at < 3 or text[at - 2] != " " or not (text[at - 3] == "." or _kind(text, at - 3) & DIGIT):
        return False
    return len(behind) != 1 or _kind(text, following) & (LETTER | LOWER) != LETTER


def _behind_end(text: str, start: int) -> bool:
    """Whether what stands before a word, some spaces away, ends a sentence or a clause."""
    before = text[max(start - _SPACES - 1, 0) : start]
    bare = before.rstrip(" ")
    return len(bare) < len(before) and bare[-1:] in tuple(_CLAUSE_ENDS)


def _behind_article(text: str, start: int) -> bool:
    """Whether a German article stands before the word that starts there; "I am 12" has none."""
    if start < 3 or text[start - 1] != " ":
        return False
    first = _word_start(text, start - 1)
    article = text[first : start - 1].lower()
    return article in BEFORE_ORDINAL and not (
        article in ("am", "im") and text[max(first - 2, 0) : first] == "I "
    )

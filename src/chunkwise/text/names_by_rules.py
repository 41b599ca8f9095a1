"""Names a text speaks of, each with the places where it stands: found by rules, no model."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.sections import heading_title
from chunkwise.text.links import LONGEST_LINK, file_title, is_file_name, written_links
from chunkwise.text.names import (
    HEADING,
    MENTION,
    MONTH_NUMBERS,
    MOST_WORDS,
    STATED,
    TITLE,
    Mentions,
    dates_in,
    name_hash,
    name_key,
)
from chunkwise.text.terms import folded, stop_words, words_of

_WRAPPED = 40
"""Characters that a line has at least where it was broken to fit a page."""
_SPACE = "[ \u00a0]{1,2}"
_CAPITAL = r"[\p{Lu}\p{Lt}]"
_CASED = r"\p{Lu}\p{Ll}\p{Lt}\p{Lm}\p{M}\p{N}_"
"""Of words in scripts with capitals: Chinese may follow one without a blank."""
_WORD = rf"(?:{_CAPITAL}\.(?={_SPACE}{_CAPITAL})|{_CAPITAL}[{_CASED}’'-]{{0,60}}+)"
_BETWEEN = "of|the|and|&|for|in|on|de|la|le|du|des|del|di|da|dos|van|von|der|den|zu|y|el|al|bin|ibn"
_RUN = regex.compile(
    rf"(?<![{_CASED}]){_WORD}(?:(?:{_SPACE}(?:{_BETWEEN})){{0,2}}{_SPACE}{_WORD}"
    rf"|{_SPACE}\p{{Nd}}{{1,6}}(?![\p{{L}}\p{{N}}_])){{0,{MOST_WORDS - 1}}}"
)
"""Words with a capital in a row. Every repetition has a bound, so no text makes matching more than linear."""
_JOINING = frozenset(_BETWEEN.split("|"))
_PARTS = regex.compile(rf"{_SPACE}(?:of|and|&|for|in|on)(?:{_SPACE}the)?{_SPACE}")
_MARKED = regex.compile(
    r'"([^"\n]{2,60})"|“([^“”\n]{2,60})”|„([^„“”\n]{2,60})[“”]|«([^«»\n]{2,60})»|「([^「」\n]{1,60})」'
    r"|『([^『』\n]{1,60})』|《([^《》\n]{1,60})》|`([^`\n]{2,60})`|\[\[([^\[\]|\n]{1,80})"
    r"|\[([^\[\]\n]{1,80})\]\(|\*\*([^*\n]{2,60})\*\*|\*([^*\s][^*\n]{1,60})\*"
    r"|‘([^‘’\n]{2,60})’|(?<![\p{L}\p{N}])'(\p{L}[^'\n]{1,58}[\p{L}\p{N}])'(?![\p{L}\p{N}])"
    r"|(?<![\u30a1-\u30fc])([\u30a1-\u30fa\u30fc]{3,40}+)"
)
"""Quoted, linked, emphasised, set as code, or written in katakana: what other scripts show names by, too."""
_ACRONYM = regex.compile(r"""[ \u00a0]\((?:the )?["“„'‘]?((?:\p{Lu}\.?){2,10})["”“'’]?\)""")
_SPELLED = regex.compile(r"(?<![\p{L}\p{N}])((?:\p{Lu}\.?){2,10}) \((\p{Lu}[^()\n]{3,80})\)")
"""An acronym with its long form behind it."""
_IDENTIFIER = regex.compile(
    r"(?<![\p{L}\p{N}_./-])(?:_{0,2}[a-z][a-z0-9]{0,40}+(?:_[a-z0-9]{1,40}+){1,8}|[a-z]{2,30}+[A-Z][A-Za-z0-9]{1,40}+)"
    r"(?![\p{L}\p{N}_])"
)
"""What code is called by, in text that does not set it apart: get_user, parseConfig."""
_HAN_SMALL = (
    "的了是在和与及或为于以从到由对把被将就也都还而但且并等所其之这那此该每各某个们他她它我你您不没无有很更最"
    "可因则若如时年月日号一二三四五六七八九十百千万亿两第几又再已曾着过说称使让给向至当"
)
"""Characters that words of Chinese grammar are made of, and numbers: no repeated term has one of them."""
_HAN_LETTERS = rf"(?![{_HAN_SMALL}])\p{{Script=Han}}"
_UNCASED = regex.compile(
    r"[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}"
    r"\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Hangul}\p{M}]{2,40}+"
)
"""Words of scripts that have blanks and no capitals."""
_HAN = regex.compile(r"\p{Script=Han}")
_HAN_SMALL_POINTS = np.array(sorted(map(ord, set(_HAN_SMALL))), np.uint32)
_HAN_SHORTEST = 3
"""Two are a word of any kind: on Chinese articles three times as many places, and few more of them names."""
_HAN_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HAN_JOINED = regex.compile(
    rf"(?:{_HAN_LETTERS}){{1,8}}+(?:[·・](?:{_HAN_LETTERS}){{1,8}}+){{1,4}}"
)
"""Names from elsewhere as Chinese writes them: 里昂·席勒."""
_HAN_LONGEST = 8
"""Characters of a term that is found by its repetition."""
_HAN_QUOTED = 20
"""Of a term between quotes: what is longer is something said."""
_HAN_CLAUSE = regex.compile(r"[，。；！？、,;]")
_SAID = regex.compile(r"\S+")
_OPENERS = frozenset(
    "although however during after before since until while despite according because many most some several both "
    "each every such other another these those then here there also thus later i we you he she it they his her its "
    "their our my your this that what which who whose where when why how did does do is was are were has"
    " have had".split()
)
"""What begins an English sentence or question with a capital and is no name."""


_GERMAN_ARTICLES = frozenset(
    "der die das den dem des ein eine einen einem einer eines im am zum zur beim vom ins ans kein keine keinen keinem "
    "keiner mein meine dein deine sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren "
    "jede jeder jeden jedem jedes diese dieser diesen diesem dieses welche welcher alle allen aller viele vielen "
    "mehrere einige beide beiden zwei drei vier fünf".split()
)
"""A single noun behind one of these is a thing (der Hafen), hardly ever a name."""
_BEFORE = regex.compile(r"(?<![\p{L}\p{N}])(\p{L}{2,8})[ \u00a0\n]$")


def document_names(
    analyzed: Analyzed,
    starts: NDArray[np.int64],
    language: str,
    given: Iterable[tuple[int, int]] = (),
) -> Mentions:
    """The names of a document; none runs over the start of an atom. `language` is what its words were read as.

    `given` are places of names that something else than rules found.
    """
    small = _OPENERS | stop_words(language) | stop_words("en")
    text = _within_atoms(analyzed, starts)
    articles = _GERMAN_ARTICLES if language == "de" else frozenset[str]()
    result = list(_capitalised(text, small, articles, _Openings(analyzed, starts)))
    result += _marked(text, small)
    result += _linked(text, analyzed.document, small)
    result += _given(text, given)
    result += dates_in(text)
    result += _repeated(text, small)
    result += _repeated_han(text)
    subjects = list(_subjects(analyzed))
    first: dict[str, int] = {}
    for start, _, key in [*result, *(subject[:3] for subject in subjects)]:
        first[key] = min(start, first.get(key, start))
    if _bare_title(analyzed.document.title):  # by its last word nobody calls "Mercury (planet)"
        first.pop(name_key(analyzed.document.title), None)
    aliases = _Aliases(first, _acronyms(text, result))
    hashes: dict[str, int] = {}
    rows: set[tuple[int, int, int, int]] = set()

    def add(start: int, end: int, key: str, kind: int) -> None:
        if key not in hashes:
            hashes[key] = name_hash(key)
        rows.add((start, end, hashes[key], kind))

    for start, end, key in result:
        add(start, end, key, MENTION)
        if (full := aliases.full_name(key)) is not None:
            add(start, end, full, MENTION)
    for start, end, key, kind in subjects:
        atom_end = (
            int(starts[at])
            if (at := int(starts.searchsorted(start, "right"))) < len(starts)
            else len(text)
        )
        add(start, min(end, atom_end), key, kind)
    return _mentions(rows)


def _mentions(rows: Collection[tuple[int, int, int, int]]) -> Mentions:
    columns = zip(*sorted(rows), strict=True) if rows else ((), (), (), ())
    types = (np.int64, np.int64, np.uint64, np.uint8)
    return Mentions(*(np.array(group, type) for group, type in zip(columns, types, strict=True)))


def with_statements(mentions: Mentions, stated: Iterable[tuple[int, int, str, bool]]) -> Mentions:
    """With places that statements name: start, end, the key of the name, whether they are about it."""
    rows = set(zip(*(column.tolist() for column in mentions), strict=True))
    for start, end, key, is_about in stated:
        rows.add((start, end, name_hash(key), STATED if is_about else MENTION))
    return _mentions(rows)


def _within_atoms(analyzed: Analyzed, starts: NDArray[np.int64]) -> str:
    """The text with spaces for the line ends inside atoms: a name may be wrapped, and ends with its sentence."""
    if "\n" not in analyzed.text:
        return analyzed.text
    points = analyzed.characters.points
    behind = (points == ord("\n")).nonzero()[0] + 1
    # A short line was not wrapped: it is a title, an entry of a list, a verse.
    full = np.diff(behind, prepend=0) > _WRAPPED
    inside = behind[full & ~np.isin(behind, starts)]
    inside = inside[(inside < len(points))] if len(inside) else inside
    # An empty line ends a name, whatever the atoms are.
    inside = inside[points[inside] != ord("\n")]
    if not len(inside):
        return analyzed.text
    joined = points.copy()
    joined[inside - 1] = ord(" ")
    return joined.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


class _Openings:
    """Words that begin an atom: their capital says nothing."""

    def __init__(self, analyzed: Analyzed, starts: NDArray[np.int64]) -> None:
        self._starts = set(starts.tolist())
        self._small = frozenset(
            word for word in words_of(analyzed.characters).distinct if word[:1].islower()
        )

    def is_doubtful(self, start: int, word: str) -> bool:
        """A single word at the start of an atom that the document writes small elsewhere."""
        return start in self._starts and word.lower() in self._small


def _capitalised(
    text: str, small: frozenset[str], articles: frozenset[str], openings: _Openings
) -> Iterator[tuple[int, int, str]]:
    for match in _RUN.finditer(text):
        start, end = match.span()
        matches = list(_SAID.finditer(match[0]))
        at = 0
        while at < len(matches) and _is_small(matches[at][0].rstrip("."), small):
            at += 1
        if at == len(matches):
            continue
        start += matches[at].start()
        alone = at == len(matches) - 1
        if alone and not at and openings.is_doubtful(start, matches[at][0]):
            continue
        if alone and articles and not matches[at][0].isupper():
            before = matches[at - 1][0] if at else _word_before(text, start)
            if before.lower() in articles:
                continue
        yield from _named(text, start, end, small)
        low = start
        parts = list(_PARTS.finditer(text, start, end))
        for part in [*parts, None] if parts else []:
            high = part.start() if part else end
            yield from _named(text, low, high, small)
            low = part.end() if part else end


def _word_before(text: str, start: int) -> str:
    match = _BEFORE.search(text, max(0, start - 12), start)
    return match[1] if match else ""


def _named(
    text: str, start: int, end: int, small: frozenset[str]
) -> Iterator[tuple[int, int, str]]:
    key = name_key(text[start:end])
    if len(key) > 1 and (key not in small or text[start:end].isupper()):
        yield start, end, key


def _is_small(word: str, small: frozenset[str]) -> bool:
    """Whether it is no name, capital or not; WHO and IT are."""
    return folded(word) in small and not (len(word) > 1 and word.isupper())


def _marked(text: str, small: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    for match in _MARKED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        key = name_key(text[start:end])
        if key and key not in small and key.count(" ") < MOST_WORDS and not _is_said(match[0]):
            yield start, end, key
    for match in _IDENTIFIER.finditer(text):
        yield *match.span(), name_key(match[0])


def _is_said(quoted: str) -> bool:
    """Whether what is between quotes is a clause of Chinese or Japanese: blanks do not tell how long it is."""
    return bool(_HAN.search(quoted)) and (
        len(quoted) > _HAN_QUOTED or _HAN_CLAUSE.search(quoted) is not None
    )


def _given(text: str, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    for start, end in places:
        key = name_key(text[start:end])
        if len(key) > 1 and key.count(" ") < MOST_WORDS:
            yield start, end, key


def _linked(text: str, document: Document, small: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """What a link leads to, by the name of its file: [how to ask](../leave-policy.md) is about the leave policy."""
    for start, end, target in written_links(text, document):
        if key := _file_key(target):
            yield start, end, key
    for start, end, target in document.links:
        said = text[start:end]
        if len(said) > LONGEST_LINK or "\n" in said:
            continue
        key = name_key(said)
        if key and key not in small and key.count(" ") < MOST_WORDS:
            yield start, end, key
        if key := _file_key(target):
            yield start, end, key


def _file_key(path: str) -> str:
    """Of what a file is about by its name; empty: it is an address elsewhere, or its name says nothing."""
    key = name_key(file_title(path))
    return key if len(key) > 1 and key.count(" ") < MOST_WORDS else ""


def own_file_key(id: str) -> str:
    """The name that a document has by its file alone, by its id; empty: it is called by none."""
    return _file_key(id) if is_file_name(id) else ""


def _repeated(text: str, small: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Two words in a row that a text in a script without capitals says again: mostly a name, or a term."""
    if not _UNCASED.search(text):
        return
    matches = [match for match in _UNCASED.finditer(text) if match[0] not in small]
    places: dict[str, list[tuple[int, int]]] = {}
    for one, other in itertools.pairwise(matches):
        if one.end() + 1 == other.start() and text[one.end()] in " \u00a0":
            key = name_key(f"{one[0]} {other[0]}")
            places.setdefault(key, []).append((one.start(), other.end()))
    for key, own in places.items():
        if len(own) > 1 and key.count(" ") == 1:
            for start, end in own:
                yield start, end, key


def _repeated_han(text: str) -> Iterator[tuple[int, int, str]]:
    """Names with a dot in them, and the longest runs of Chinese characters that a text says again."""
    if not _HAN.search(text):
        return
    taken = np.zeros(len(text), np.bool_)
    has_dots = "·" in text or "・" in text  # else every character would be a beginning to look from
    for match in _HAN_JOINED.finditer(text) if has_dots else ():
        taken[slice(*match.span())] = True
        yield *match.span(), name_key(match[0])
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    letter = (points >= 0x4E00) & (points <= 0x9FFF) & ~np.isin(points, _HAN_SMALL_POINTS)
    for length in range(_HAN_LONGEST, _HAN_SHORTEST - 1, -1):
        # How many characters from here on are letters of terms that nothing longer has taken.
        free = np.append(0, np.cumsum(~(letter & ~taken)))
        start = (free[length:] == free[:-length]).nonzero()[0]
        if not len(start):
            continue
        key = np.zeros(len(start), np.uint64)
        for at in range(length):
            key = key * _HAN_FACTOR + points[start + at]
        _, of, times = np.unique(key, return_inverse=True, return_counts=True)
        for low in start[times[of.reshape(-1)] > 1].tolist():
            if not taken[low : low + length].any():
                taken[low : low + length] = True
                yield low, low + length, text[low : low + length]


def _acronyms(text: str, found: Iterable[tuple[int, int, str]]) -> dict[str, str]:
    """Short forms in brackets behind the long form whose initials they are: World Health Organization (WHO)."""
    known: dict[str, str] = {}
    for _, end, key in found:
        match = _ACRONYM.match(text, end)
        if match:
            short = name_key(match[1].replace(".", ""))
            initials = "".join(word[0] for word in key.split())
            without = "".join(word[0] for word in key.split() if word not in _JOINING)
            if short in (initials, without):
                known.setdefault(short, key)
    for match in _SPELLED.finditer(text):
        key = name_key(match[2])
        initials = "".join(word[0] for word in key.split() if word not in _JOINING)
        short = name_key(match[1].replace(".", ""))
        if short == initials:
            known.setdefault(short, key)
    return known


class _Aliases:
    """Short forms of names that the same document has in full; what could be two of them is none."""

    def __init__(self, first: dict[str, int], acronyms: dict[str, str]) -> None:
        """`first`: where each name stands first."""
        self._acronyms = acronyms
        self._full: dict[str, list[str]] = {}
        for key, start in first.items():
            texts = key.split()
            if 2 <= len(texts) <= 4 and len(texts[0]) > 1:
                shorts = {texts[-1], f"{texts[0][0]} {texts[-1]}"}
                # Paris before Paris Hilton is the town; and March is no hare.
                if start <= first.get(texts[0], start) and texts[0] not in MONTH_NUMBERS:
                    shorts.add(texts[0])
                for short in shorts:
                    known = self._full.setdefault(short, [])
                    if len(known) < 2:  # more would not tell more, and could be many
                        known.append(key)

    def full_name(self, key: str) -> str | None:
        """Smith, J Smith, WHO: what they stand for; None: nothing, or it cannot be told."""
        if key in self._acronyms:
            return self._acronyms[key]
        known = self._full.get(key, ())
        return known[0] if len(known) == 1 else None


def _subjects(analyzed: Analyzed) -> Iterator[tuple[int, int, str, int]]:
    """The title, the name of the file, by which links call it, and the headings."""
    text, title = analyzed.text, analyzed.document.title or ""
    key = name_key(title[:200])
    if key and key.count(" ") < MOST_WORDS:
        begins = text.startswith(title)
        yield 0, len(title) if begins else 0, key, TITLE
    short = name_key(_bare_title(title))
    if short and short != key and short.count(" ") < MOST_WORDS:
        yield 0, 0, short, HEADING
    if (own := own_file_key(analyzed.document.id)) and own != key:
        yield 0, 0, own, TITLE
    for start, end in analyzed.blocks.spans("heading").tolist():
        key = name_key(heading_title(text[start:end]))
        if key and key.count(" ") < MOST_WORDS:
            yield start, end, key, HEADING


def unwritten_title(document: Document, name: int) -> str:
    """What names it beside its text, for one that this does: the name of its file, or its title."""
    title = document.title or ""
    known = (file_title(document.id), _bare_title(title))
    return next((item for item in known if item and name_hash(name_key(item)) == name), title)


_IN_BRACKETS = regex.compile(r"\s*\([^()]{0,80}\)\s*$")


def _bare_title(title: str) -> str:
    """Mercury for "Mercury (planet)"; empty where nothing stands in brackets behind it."""
    bare = _IN_BRACKETS.sub("", title[:200])
    return bare if bare != title[:200] else ""

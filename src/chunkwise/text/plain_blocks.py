"""The blocks of plain text: paragraphs between blank lines, enumerations, and headings that stand alone."""

from __future__ import annotations

import itertools
import re

import numpy as np
from numpy.typing import NDArray

from chunkwise.text import line_kinds as kinds
from chunkwise.text.blocks import CODE_OF, Blocks
from chunkwise.text.characters import LOWER, UPPER
from chunkwise.text.lines import Lines

_BULLETS = "-*+•‣◦▪–—●"
_LONGEST_HEADING = 100
_DEEPEST = 9
_LOG_SHARE = 0.8

_DIVISION = re.compile(
    r"(?P<top>book|part|volume|teil|buch|livre|partie|libro|parte|часть|книга)\b"
    r"|(?P<chapter>chapter|letter|canto|act|kapitel|chapitre|capítulo|capitulo|глава)\b"
    r"|(?P<section>section|article|appendix|annex|schedule|exhibit|scene|abschnitt|artikel|anhang|§"
    r"|sección|artículo|раздел|статья)(?=\s)",
    re.IGNORECASE,
)
_INITIALS = frozenset("bpvtlckased§第чкгрсBPVTLCKASEDЧКГРС")
"""First letters of the words above, to pass over most lines at once."""
_DIVISION_NUMBER = re.compile(
    r"\s*(?:the\s+)?(?:\d+(?:\.\d+)*|[ivxlcdm]+|[a-z]|[а-я]|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|eins|zwei|drei|vier|fünf|premi[eè]re?|deuxième|troisième|primer[ao]|segund[ao]|tercer[ao]"
    r"|перв(?:ая|ый)|втор(?:ая|ой)|трет(?:ья|ий)|четв[её]рт(?:ая|ый)|пят(?:ая|ый))\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"第[0-9一二三四五六七八九十百千〇零两]+(?:(?P<top>[部篇卷])|(?P<chapter>[章回])|(?P<section>[节節条條]))"
)
_NUMBER = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3})*)[.)]?\s+(?P<title>\S.*)")
_ROMAN = re.compile(r"[IVXLC]+[.)]\s+(?P<title>\S.*)")
_PAGE = re.compile(r"\W*(?:page|seite|página|стр\.?)\s+\d+\b.{0,12}", re.IGNORECASE)
_ENUMERATION = re.compile(r"\(?(?:[a-zA-Z]|[ivx]{1,5}|\d{1,3})[.)]\s")


def plain_blocks(lines: Lines, *, dense: bool = False) -> Blocks:
    """Blocks of plain text; `dense` for text whose paragraphs no blank line parts, as from a PDF."""
    if not len(lines):
        return Blocks()
    kind = _classify(lines)
    levels = _headings(lines, kind, dense)
    kind[levels > 0] = kinds.HEADING
    return _read(lines, kind, levels)


def _classify(lines: Lines) -> NDArray[np.int8]:
    kind = np.full(len(lines), kinds.TEXT, dtype=np.int8)
    kind[kinds.bullets(lines, _BULLETS) | kinds.numbered(lines, 3)] = kinds.ITEM
    bracket = np.flatnonzero(
        (lines.head == ord("("))
        | np.isin(lines.at(1), [ord("."), ord(")")])
        | np.isin(lines.head, [ord("i"), ord("v"), ord("x")])
    )
    text, first, end = lines.characters.text, lines.first, lines.end
    for line in bracket.tolist():
        # "A. Smith" is a name as often as an item: letters count in brackets or before one.
        match = _ENUMERATION.match(text, int(first[line]), int(end[line]))
        if match and (")" in match.group() or match.group()[0].islower()):
            kind[line] = kinds.ITEM
    kind[lines.blank] = kinds.BLANK
    return kind


def _headings(lines: Lines, kind: NDArray[np.int8], dense: bool) -> NDArray[np.int64]:
    """Heading level of each line, 0 for none."""
    levels = np.zeros(len(lines), dtype=np.int64)
    blank_before = np.append(True, lines.blank[:-1])
    blank_after = np.append(lines.blank[1:], True)
    short = ~lines.blank & (lines.end - lines.first <= _LONGEST_HEADING)
    digit = (lines.head >= ord("0")) & (lines.head <= ord("9"))
    # In the midst of text only a number, or capitals in text without blank lines, make a heading.
    maybe = (blank_before & blank_after) | digit
    if dense:
        maybe |= lines.head_is(UPPER)
    candidates = short & maybe & (blank_before | dense)
    wrapped = np.append(lines.head_is(LOWER)[1:], False)
    single: list[tuple[int, int]] = []
    for line in np.flatnonzero(candidates).tolist():
        text = lines.text(line).strip()
        level, depth = _heading_level(text)
        if not level:
            continue
        alone = bool(blank_before[line] and blank_after[line])
        if not alone and (depth < 2 and not (dense and _shouts(text))):
            continue
        if not alone and (wrapped[line] or ". " in text.split(None, 1)[-1]):
            continue  # the first line of a clause, not its title
        if not alone and line + 1 < len(lines) and kind[line + 1] == kinds.ITEM:
            continue
        levels[line] = level
        if depth == 1:
            single.append((line, level))
    _drop_lists(lines, levels, single)
    _nest_titles(lines, levels)
    return levels


def _drop_lists(lines: Lines, levels: NDArray[np.int64], single: list[tuple[int, int]]) -> None:
    """Numbered lines that follow each other with nothing between them are a list, not headings."""
    for (line, _), (following, _) in itertools.pairwise(single):
        if lines.blank[line + 1 : following].all():
            levels[line] = levels[following] = 0


def _nest_titles(lines: Lines, levels: NDArray[np.int64]) -> None:
    """A title that follows "CHAPTER I" with nothing between them is that chapter's: one level below."""
    for line, following in itertools.pairwise(np.flatnonzero(levels).tolist()):
        if levels[line] == levels[following] and lines.blank[line + 1 : following].all():
            named = _division(lines.text(line).strip())
            if named and not _division(lines.text(following).strip()):
                levels[following] += 1


def _division(text: str) -> re.Match[str] | None:
    """A part, chapter or section that says so, with its number."""
    match = _DIVISION.match(text)
    if match and _DIVISION_NUMBER.match(text, match.end()):
        return match
    return _CHINESE.match(text)


def _heading_level(text: str) -> tuple[int, int]:
    """Level (0: no heading) and, for numbered ones, the number's depth."""
    if text[0].isdigit():
        return _numbered_level(text)
    division = _division(text) if text[0] in _INITIALS else None
    if division:
        if text[-1] not in ",;":
            return (1 if division["top"] else 2 if division["chapter"] else 3), 0
        return 0, 0
    roman = _ROMAN.fullmatch(text) if text[0] in "IVXLC" else None
    if roman and text[-1] not in ".,;:" and not roman["title"][0].islower():
        return 2, 0
    return (2, 0) if _shouts(text) and not _PAGE.fullmatch(text) else (0, 0)


def _numbered_level(text: str) -> tuple[int, int]:
    number = _NUMBER.fullmatch(text)
    if number is None:
        return (2, 0) if _shouts(text) else (0, 0)
    depth = number["number"].count(".") + 1
    ends_like_text = text[-1] in ".,;:!?" and not text.isupper()
    opens = not number["title"][0].islower() and any(map(str.isalpha, number["title"]))
    return (min(2 + depth, _DEEPEST), depth) if opens and not ends_like_text else (0, 0)


def _shouts(text: str) -> bool:
    if not text.isupper():
        return False
    letters = sum(map(str.isalpha, text))
    return letters >= 3 and letters * 2 >= len(text) and text[-1] not in ",;"


def _read(lines: Lines, kind: NDArray[np.int8], levels: NDArray[np.int64]) -> Blocks:
    heading, item = np.flatnonzero(kind == kinds.HEADING), np.flatnonzero(kind == kinds.ITEM)
    text = np.concatenate(([0], (kind == kinds.TEXT).view(np.int8), [0]))
    edges = np.flatnonzero(np.diff(text))
    first, last = edges[::2], edges[1::2] - 1
    # Text right below an item goes on with it; all other runs of text are paragraphs.
    ends = lines.end.copy()
    joined = np.append(False, kind == kinds.ITEM)[first]
    ends[first[joined] - 1] = lines.end[last[joined]]
    first, last = first[~joined], last[~joined]
    log = _like_a_log(lines, first, last)
    record = _each(first[log], last[log])
    first, last = first[~log], last[~log]
    line = np.concatenate((heading, item, first, record))
    order = np.argsort(line, kind="stable")
    sizes = (len(heading), len(item), len(first) + len(record))
    codes = np.repeat([CODE_OF["heading"], CODE_OF["item"], CODE_OF["paragraph"]], sizes)[order]
    nesting = np.concatenate(
        (levels[heading], lines.indent[item] // 2, np.zeros(sizes[2], np.int64))
    )
    stop = np.concatenate((ends[heading], ends[item], lines.end[last], lines.end[record]))
    is_item = codes == CODE_OF["item"]
    opens = is_item & ~np.append(False, is_item[:-1])
    group = np.where(is_item, np.cumsum(opens), 0)
    return Blocks(codes, lines.first[line][order], stop[order], nesting[order], group)


def _each(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every number of the ranges `[first, last]`."""
    sizes = last - first + 1
    starts = np.repeat(first - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return starts + np.arange(sizes.sum())


def _like_a_log(
    lines: Lines, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the lines of a run open like entries of a log, with a digit or a bracket: a block a line."""
    record = (lines.head >= ord("0")) & (lines.head <= ord("9"))
    for bracket in "[<{":
        record |= lines.head == ord(bracket)
    before = np.concatenate(([0], np.cumsum(record)))
    sizes = last - first + 1
    return (sizes >= 3) & (before[last + 1] - before[first] >= _LOG_SHARE * sizes)

"""The lines of a PDF's pages as PDFium tells them, with box, baseline and type, and in the order they are read."""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pypdfium2


HYPHEN_MARKS = "\ufffe\x02"
"""What PDFium puts in place of a hyphen at the end of a line and the line's end."""
_LIGATURES = "\ufb00\ufb01\ufb02\ufb03\ufb04"
"""ff, fi, fl, ffi, ffl."""
# Bitmap fonts of TeX do not say which characters they draw: PDFium tells their codes, in the encodings T1 and OT1.
_CODES = str.maketrans(
    "\x1b\x1c\x1d\x1e\x1f" + "\x0b\x0c\x0e\x0f", _LIGATURES + "\ufb00\ufb01\ufb03\ufb04"
)
_CODE_13 = re.compile(r"\r([^\W\d_])")
"""fl in OT1, a circle in TeX's fonts of signs, where a c in it is ©; ends of lines are two characters."""
_LETTERS = str.maketrans(dict(zip(_LIGATURES, ("ff", "fi", "fl", "ffi", "ffl"), strict=True)))
_LIGATURE = re.compile(f"[{_LIGATURES}]")
_LINE = re.compile(rf"[^\r\n{HYPHEN_MARKS}]*+(?:[{HYPHEN_MARKS}]|(?=[\r\n]|\Z))")
_BOLD_NAME = re.compile(r"bold|black|heavy|demi|[-,]bd|CMBX|CMSSBX|SFBX|-Medi", re.IGNORECASE)
_MONO_NAME = re.compile(r"mono|courier|typewriter|consol|CMTT|SFTT|menlo|code", re.IGNORECASE)
_MATH_NAME = re.compile(r"CMMI|CMSY|CMEX|MSBM|MSAM|math|symbol", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_SOLID = re.compile(r"\S")
_FIXED_PITCH, _FORCE_BOLD = 1, 1 << 18
_CELL = 1.1
"""Ems of white that part cells of a table, and the text of two columns on one line."""
_FAR = 1e6
"""Points from the corner of a page that none reaches."""
_LOOSE = 0.58
"""Ems a character of a line: with more, some of it is white."""
_WORDS = re.compile(r"[^\s\x00\x02\ufffe]+")
# Behind no letter, or each letter of a long word would be tried as its first.
_PARTED = re.compile(rf"(?<![^\W\d_])([^\W\d_]++)[{HYPHEN_MARKS}](?=([^\W\d_]++))")
_HALVES = re.compile(rf"(?<![^\W\d_])[^\W\d_]++[{HYPHEN_MARKS}][^\W\d_]++")
_WORD = re.compile(r"[^\W\d_]++(?:-[^\W\d_]++)*+")
_MOST_RECTANGLES = 400
"""Of a line: the rest of a longer one is taken for its end."""


class Font(NamedTuple):
    """What the name and flags of a font tell."""

    bold: bool = False
    mono: bool = False
    math: bool = False
    weight: int = 0


PLAIN = Font()


@dataclass(slots=True)
class Line:
    """A line of a page; coordinates are points of the page as it is shown, from its lower left corner."""

    page: int
    """From 0."""
    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    size: float
    """Of its type, the middle of the line; 0 where nothing is known."""
    font: Font = PLAIN
    all_bold: bool = False
    upright: bool = True
    """Whether it runs from left to right; what stands in a margin from top to bottom does not."""
    cells: tuple[tuple[float, float], ...] = ()
    """Left and right of the stretches that much white parts, where there are several."""
    box: tuple[float, float, float, float] = (0, 0, 0, 0)
    """In the page's own coordinates, which differ where it is shown turned."""
    number: int = field(default=0)
    """Its place in the order in which the page draws it."""
    cuts: tuple[int, ...] = ()
    """Where the second and later cells begin in its text; left out where that is not known."""


class Page(NamedTuple):
    """What was read of a page."""

    width: float
    height: float
    lines: list[Line]


def read_page(pdf: pypdfium2.PdfDocument, number: int) -> Page:
    """The lines of one page, as they are drawn; raises what PDFium raises."""
    page = pdf[number]
    try:
        width, height = page.get_size()
        turned = page.get_rotation()
        x, y, *_ = page.get_bbox()
        content = page.get_textpage()
        try:
            reader = _Reader(content, number, _Turn(turned, width, height, x, y))
            return Page(width, height, list(reader.lines()))
        finally:
            content.close()
    finally:
        page.close()


_LEADING = 12.0
"""Points from line to line."""


def recognized_page(page: Page, number: int, text: str) -> Page:
    """A page whose text was read from its picture: lines below each other, which lie anywhere on the page."""
    written = text.splitlines()
    leading = min(_LEADING, page.height / (len(written) + 1))
    lines = []
    for at, line in enumerate(written):
        baseline = page.height - (at + 1) * leading
        if line.strip():
            lines.append(
                Line(
                    number, line.strip(), 0.0, baseline, page.width, baseline + 0.8 * leading,
                    baseline, 0.8 * leading, box=(0.0, 0.0, page.width, page.height), number=at,
                )
            )  # fmt: skip
    return Page(page.width, page.height, lines)


class _Turn(NamedTuple):
    """How a page is shown: turned clockwise by so many degrees, so wide and high, from this corner of its box."""

    degrees: int
    width: float
    height: float
    x: float
    y: float

    def shown(
        self, x0: float, y0: float, x1: float, y1: float
    ) -> tuple[float, float, float, float]:
        x0, x1, y0, y1 = x0 - self.x, x1 - self.x, y0 - self.y, y1 - self.y
        if self.degrees == 90:
            return y0, self.height - x1, y1, self.height - x0
        if self.degrees == 180:
            return self.width - x1, self.height - y1, self.width - x0, self.height - y0
        if self.degrees == 270:
            return self.width - y1, x0, self.width - y0, x1
        return x0, y0, x1, y1


class _Reader:
    """Asks PDFium a few questions a line, not one a character: each is a call into the library."""

    def __init__(self, content: pypdfium2.PdfTextPage, page: int, turn: _Turn) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._content = content.raw
        self._page = page
        self._turn = turn
        self._fonts: dict[tuple[bytes, int], Font] = {}
        self._corners = [ctypes.c_double() for _ in range(4)]
        self._pointers = [ctypes.pointer(corner) for corner in self._corners]
        self._matrix = raw.FS_MATRIX()
        self._name = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()
        message: str = content.get_text_range()
        self._plain = content.count_chars() == len(message)
        astral = np.frombuffer(message.encode("utf-32-le", "surrogatepass"), np.uint32) > 0xFFFF
        self._units = np.cumsum(astral) if astral.any() else None
        self.text = _CODE_13.sub(self._code_13, message).translate(_CODES)

    def _code_13(self, match: re.Match[str]) -> str:
        """As long as what it stands for: a glyph that another one is drawn into has no character of its own."""
        if not self._font(self._index(match.start())).math:
            return f"\ufb02{match[1]}"
        return "©\x00" if match[1] == "c" else f"◯{match[1]}"

    def lines(self) -> Iterator[Line]:
        text, at = self.text, 0
        number = 0
        while at < len(text):
            match = _LINE.match(text, at)
            end = match.end() if match else at
            if end == at:
                at += 1
                continue
            result = text[at:end]
            if "\x00" in result:  # a glyph without a character
                result = result.replace("\x00", "")
            if result.strip():
                yield self._line(result, at, end, number)
                number += 1
            at = end

    def _index(self, at: int) -> int:
        """Of a character of the text in the page; PDFium counts UTF-16, and glyphs that stand for nothing."""
        if self._plain:
            return at
        unit = at if self._units is None else at + int(self._units[at])
        result: int = self._raw.FPDFText_GetCharIndexFromTextIndex(self._content, unit)
        return max(0, result)

    def _line(self, text: str, start: int, end: int, number: int) -> Line:
        raw, content = self._raw, self._content
        while start < end and self.text[start].isspace():
            start += 1
        while end > start + 1 and (
            self.text[end - 1].isspace() or self.text[end - 1] in HYPHEN_MARKS
        ):
            end -= 1
        first = self._index(start)
        last = max(first, self._index(end - 1))
        left, top, right, bottom = self._corners
        pointers = self._pointers
        stretches: list[tuple[float, float]] = []
        x0 = y0 = float("inf")
        x1 = y1 = float("-inf")
        count = raw.FPDFText_CountRects(content, first, last - first + 1)
        for index in range(min(count, _MOST_RECTANGLES)):
            if raw.FPDFText_GetRect(content, index, *pointers):
                low, high, floor, roof = left.value, right.value, bottom.value, top.value
                if not (-_FAR < low <= high < _FAR and -_FAR < floor <= roof < _FAR):
                    continue  # no number, or no place on any paper
                stretches.append((low, high))
                x0, x1 = min(x0, low), max(x1, high)
                y0, y1 = min(y0, floor), max(y1, roof)
        if not stretches:
            x0 = y0 = x1 = y1 = 0.0
        # A space may be one that PDFium put there, and has no type.
        solid = _SOLID.search(self.text, (start + end) // 2, end)
        middle = self._index(solid.start()) if solid else last
        size, baseline, upright = self._type(middle)
        font = self._font(middle)
        bold = False
        if font.bold and self._font(last).bold:
            # The number in front of a title may be lighter.
            letter = _LETTER.search(self.text, start, end)
            bold = self._font(self._index(letter.start()) if letter else first).bold
        if self._turn.degrees or self._turn.x or self._turn.y:
            shown = self._turn.shown(x0, y0, x1, y1)
            if self._turn.degrees:
                baseline = shown[1]
                stretches = []
                upright = (shown[2] - shown[0] >= shown[3] - shown[1]) or len(text) < 3
            else:
                baseline -= self._turn.y
                stretches = [(low - self._turn.x, high - self._turn.x) for low, high in stretches]
        else:
            shown = x0, y0, x1, y1
        if not upright or not y0 - size <= baseline <= y1 + size:
            baseline = shown[1]
        cells: tuple[tuple[float, float], ...] = ()
        cuts: tuple[int, ...] = ()
        if upright and not self._turn.degrees:
            loose = x1 - x0 > _LOOSE * (end - start) * size > 0
            if loose or _cells([(low, high, 0) for low, high in stretches], size or 10.0)[0]:
                cells, cuts = _cells(self._words(start, end, x0 - shown[0]), size or 10.0)
        text = text.strip(" \t")
        for ligature in reversed(list(_LIGATURE.finditer(text))):
            more = len(ligature[0].translate(_LETTERS)) - 1
            cuts = tuple(cut + more if cut > ligature.start() else cut for cut in cuts)
        return Line(
            self._page, text.translate(_LETTERS), *shown, baseline, size, font, bold, upright, cells,
            (x0, y0, x1, y1), number, cuts if "\x00" not in self.text else (),
        )  # fmt: skip

    def _words(self, start: int, end: int, by: float) -> list[tuple[float, float, int]]:
        """Left, right and place of each word: what is drawn in one go is one rectangle, whatever the white in it."""
        raw, content = self._raw, self._content
        left, right, *_ = self._corners
        words = []
        for word in islice(_WORDS.finditer(self.text, start, end), _MOST_RECTANGLES):
            low = high = 0.0
            if raw.FPDFText_GetCharBox(content, self._index(word.start()), *self._pointers):
                low, high = left.value, right.value
            if raw.FPDFText_GetCharBox(content, self._index(word.end() - 1), *self._pointers):
                high = right.value
            words.append((low - by, high - by, word.start() - start))
        return words

    def _type(self, index: int) -> tuple[float, float, bool]:
        """Size and baseline of the type at a character, and whether it runs from left to right."""
        raw = self._raw
        size = raw.FPDFText_GetFontSize(self._content, index)
        if not raw.FPDFText_GetMatrix(self._content, index, self._matrix):
            return size if 0 < size < _FAR else 0.0, float("-inf"), True
        matrix = self._matrix
        size *= math.hypot(matrix.c, matrix.d)
        return size if 0 < size < _FAR else 0.0, matrix.f, abs(matrix.a) >= abs(matrix.b)

    def _font(self, index: int) -> Font:
        raw = self._raw
        if not raw.FPDFText_GetFontInfo(self._content, index, self._name, 128, self._flags):
            return PLAIN
        key = self._name.value, self._flags.value
        if key not in self._fonts:
            weight = raw.FPDFText_GetFontWeight(self._content, index)
            self._fonts[key] = _named(*key, weight)
        return self._fonts[key]


def _named(name: bytes, flags: int, weight: int) -> Font:
    text = name.decode("utf-8", "replace")
    return Font(
        bool(_BOLD_NAME.search(text)) or bool(flags & _FORCE_BOLD),
        bool(_MONO_NAME.search(text)) or bool(flags & _FIXED_PITCH),
        bool(_MATH_NAME.search(text)),
        weight,
    )


def _cells(
    stretches: list[tuple[float, float, int]], size: float
) -> tuple[tuple[tuple[float, float], ...], tuple[int, ...]]:
    """The stretches between wide gaps, and where all but the first begin; none where there are no such gaps."""
    if len(stretches) < 2:
        return (), ()
    stretches.sort()
    gaps = [right[0] - left[1] for left, right in pairwise(stretches)][1:]
    if len(gaps) > 1 and max(gaps) < 1.1 * min(gaps):
        return (), ()  # a line that is stretched; the gap behind a number is one of its own
    result = [stretches[0][:2]]
    cuts: list[int] = []
    for low, high, at in stretches[1:]:
        last_low, last_high = result[-1]
        if low - last_high > _CELL * size:
            result.append((low, high))
            cuts.append(at)
        else:
            result[-1] = (last_low, max(last_high, high))
    if len(result) < 2:
        return (), ()
    return tuple(result), tuple(cuts) if cuts == sorted(set(cuts)) and cuts[0] else ()


def without_hyphens(text: str) -> tuple[str, list[int]]:
    """The text with each mark gone, or turned into a hyphen where nothing speaks against one; and which are gone."""
    if not any(mark in text for mark in HYPHEN_MARKS):
        return text, []
    cuts = [(cut.end() - 1, cut[1].lower(), cut[2].lower()) for cut in _PARTED.finditer(text)]
    words = {word.lower() for word in _WORD.findall(_HALVES.sub(" ", text))}
    compounds = sum(f"{first}-{second}" in words for _, first, second in cuts)
    # A document that parts words at line ends parts rare words, too: half of one is seldom a word of its text.
    parts_words = sum(first + second in words for _, first, second in cuts) > compounds
    gone = [
        at
        for at, first, second in cuts
        if f"{first}-{second}" not in words
        and (first + second in words or (parts_words and not {first, second} <= words))
    ]
    bounds = [-1, *gone, len(text)]
    kept = "".join(text[start + 1 : end] for start, end in pairwise(bounds))
    for mark in HYPHEN_MARKS:
        kept = kept.replace(mark, "-")
    return kept, gone


_COLUMN_LINES = 5
"""On either side of a gutter."""
_CROSSING = 0.4
"""Of the lines of a page: with more of them over a gutter it is none."""
_FILLED = 0.6
"""Of a column's width, that three quarters of its lines stay below in a table, and not in text."""


def columns(lines: list[Line], depth: int = 3) -> list[list[Line]]:
    """The columns of a page in reading order; a line over all of them is a column of its own between them."""
    lines = _uncoupled(lines) if depth else lines
    gutter = _gutter(lines) if depth else None
    if gutter is None:
        return [_downwards(lines)] if lines else []
    left = [line for line in lines if line.x1 <= gutter + 1]
    right = [line for line in lines if line.x0 >= gutter - 1]
    taken = {*map(id, left), *map(id, right)}
    across: list[Line] = []
    heights = sorted((line.y0 + line.y1) / 2 for line in (*left, *right))
    low, high = min(line.x0 for line in lines), max(line.x1 for line in lines)
    for line in lines:
        if id(line) in taken:
            continue
        middle = abs(line.x0 + line.x1 - low - high) < 0.1 * (high - low)
        whole = middle or line.x1 - line.x0 > 0.75 * (high - low)
        if not whole or _beside(line, heights):
            # Too long for its column, or several columns drawn as one line.
            (left if line.x0 < gutter else right).append(line)
        else:
            across.append(line)
    across.sort(key=lambda line: -line.baseline)
    left.sort(key=lambda line: line.number)
    right.sort(key=lambda line: line.number)
    bounds = np.array([-line.baseline for line in across])
    bands: list[tuple[list[Line], list[Line]]] = [([], []) for _ in range(len(across) + 1)]
    for side, found in enumerate((left, right)):
        for line in found:
            bands[int(bounds.searchsorted(-line.baseline))][side].append(line)
    ordered: list[list[Line]] = []
    for number, sides in enumerate(bands):
        for side_lines in sides:
            ordered += columns(side_lines, depth - 1)
        if number < len(across):
            after_across = number and not any(bands[number]) and ordered
            if after_across:
                ordered[-1].append(across[number])
            else:
                ordered.append([across[number]])
    return ordered


def _uncoupled(lines: list[Line]) -> list[Line]:
    """Lines of two columns that are drawn row by row, each as two."""
    coupled = [line for line in lines if len(line.cells) == 2 and len(line.cuts) == 1]
    if len(coupled) < max(_COLUMN_LINES, 0.5 * len(lines)):
        return lines
    starts = Counter(round(line.cells[1][0] / 3) for line in coupled)
    place = starts.most_common(1)[0][0]
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    both = [
        line
        for line in coupled
        if abs(line.cells[1][0] / 3 - place) <= 1
        and min(high - low for low, high in line.cells) > 0.25 * width
    ]
    if len(both) < max(_COLUMN_LINES, 0.5 * len(lines)):
        return lines
    taken = set(map(id, both))
    result: list[Line] = []
    for line in lines:
        if id(line) not in taken:
            result.append(line)
            continue
        by = line.box[0] - line.x0
        for text, (low, high) in zip(cell_texts(line), line.cells, strict=True):
            box = (low + by, line.box[1], high + by, line.box[3])
            result.append(replace(line, text=text, x0=low, x1=high, box=box, cells=(), cuts=()))
    return result


def _beside(line: Line, heights: Sequence[float]) -> bool:
    """Whether the middle of another line lies at the height of this one."""
    return bisect_left(heights, line.y1) > bisect_left(heights, line.y0)


def _gutter(lines: Sequence[Line]) -> float | None:
    """Where two columns of text are parted; None where there is one."""
    if len(lines) < 2 * _COLUMN_LINES:
        return None
    x0 = np.array([line.x0 for line in lines])
    x1 = np.array([line.x1 for line in lines])
    low, high = float(x0.min()), float(np.sort(x1)[(len(x1) - 1) * 49 // 50])
    width = high - low
    if width < 12 * lines[0].size:
        return None
    places = np.linspace(low + 0.25 * width, high - 0.25 * width, 51)[:, None]
    lefts, rights = x1 <= places + 1, x0 >= places - 1
    crossing = (~(lefts | rights)).sum(axis=1)
    enough = (lefts.sum(axis=1) >= _COLUMN_LINES) & (rights.sum(axis=1) >= _COLUMN_LINES)
    if not enough.any():
        return None
    least = crossing[enough].min()
    if least > _CROSSING * len(lines):
        return None
    best = np.flatnonzero(enough & (crossing == least))
    place = best[len(best) // 2]
    gutter = float(places[place, 0])
    one, other = lefts[place], rights[place]
    for side in (one, other):
        own = (x1 - x0)[side]
        wide = float(x1[side].max() - x0[side].min())
        if float(np.sort(own)[len(own) * 3 // 4]) < _FILLED * wide or wide < 0.2 * width:
            return None
    y0, y1 = np.array([line.y0 for line in lines]), np.array([line.y1 for line in lines])
    shared = min(y1[one].max(), y1[other].max()) - max(y0[one].min(), y0[other].min())
    shortest = min(y1[one].max() - y0[one].min(), y1[other].max() - y0[other].min())
    return gutter if shared > 0.3 * shortest else None


def _downwards(lines: list[Line]) -> list[Line]:
    """As they are drawn, unless a part that stands higher is drawn later."""
    runs: list[list[Line]] = []
    for line in lines:
        if runs and line.baseline <= runs[-1][-1].baseline + 1.5 * max(line.size, 1.0):
            runs[-1].append(line)
        else:
            runs.append([line])
    if len(runs) == 1:
        return lines
    runs.sort(key=lambda run: -max(line.baseline for line in run))
    return [line for run in runs for line in run]


def same_row(one: Line, other: Line) -> bool:
    near = abs(one.baseline - other.baseline) < 0.35 * max(one.size, other.size, 1.0)
    return near and one.page == other.page and (one.x1 <= other.x0 + 1 or other.x1 <= one.x0 + 1)


def cell_texts(line: Line) -> list[str]:
    """The texts of its cells."""
    bounds = [0, *line.cuts, len(line.text)]
    return [line.text[low:high].strip() for low, high in pairwise(bounds)]

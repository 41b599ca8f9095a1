"""Page furniture: running heads and feet, and page numbers, told by where they come again and not by their words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from chunkwise.documents.formats.pdf.lines import Line, Page

PAGE_NUMBER = re.compile(
    r"\W*(?:page |p\. ?)?\d{1,4}(?: ?(?:of|/|von|de|sur) ?\d{1,4})?\W*", re.IGNORECASE
)
_TOLD = re.compile(
    r"\W*(?:page|seite|página) \d{1,4}(?: ?(?:of|/|von|de|sur) ?\d{1,4})?\W*", re.IGNORECASE
)
"""A page number whatever stands elsewhere."""
_ROMAN = re.compile(r"[ivxlc]{1,7}")
_DIGITS = re.compile(r"\d+")
_EDGE = 6
"""Lines above each other that are looked at at the head of a page, and as many at its foot: fewer are furniture."""
_PAGES = 3
"""On which a line has to come again at its place."""
_NEAR = 4.0
"""Points between the places of one line on two pages."""
_SHARE = 0.5
"""Of the pages that have furniture at a place: with as many, all that stands there is furniture."""
_APART = 1.6
"""Sizes of type between a head or foot and the text."""
_LONGEST = 80
"""Characters of a head that comes once."""
_DENSE = 0.25
"""Of the pages from the first to the last that has a line, those that have it."""
_DEEP = 0.2
"""Of a page's height: what is further from its edge is furniture only where it comes on half of the pages."""


def furniture(pages: Sequence[Page]) -> set[int]:
    """The ids (`id(line)`) of the lines that are no part of the text."""
    edges = [_Edges(page) for page in pages]
    by_text: defaultdict[tuple[bool, str], list[Line]] = defaultdict(list)
    for edge in edges:
        for high, lines in ((True, edge.head), (False, edge.foot)):
            for line in lines:
                if _is_worth(line.text):
                    by_text[high, _but_numbers(line)].append(line)
    result: set[int] = set()
    for same in by_text.values():
        result |= {id(line) for line in _again(same, pages)}
    lines = [line for edge in edges for line in (*edge.head, *edge.foot)]
    numbers = {id(line) for line in lines if _TOLD.fullmatch(line.text.strip())}
    numbers |= _page_numbers(edges, result)
    result |= numbers
    result |= _in_their_place(edges, result)
    runs = [run for edge in edges for run in edge.runs(result)]
    # Where what stands further in comes again as well, pages are copies, and their text is no furniture.
    ended: Counter[str] = Counter()
    for run, all_of_it in runs:
        for line in run:
            ended[_but_numbers(line)] += -1 if all_of_it else 1
    return {
        id(line)
        for run, _ in runs
        for line in run
        if ended[_but_numbers(line)] >= 0 or id(line) in numbers
    }


class _Edges:
    """The lines at the head and at the foot of a page, outermost first."""

    def __init__(self, page: Page) -> None:
        lines = [line for line in page.lines if line.upright]
        levels = sorted({round(line.baseline) for line in lines})
        highest, lowest = set(levels[-_EDGE:]), set(levels[:_EDGE])
        self.head = sorted(
            (line for line in lines if round(line.baseline) in highest),
            key=lambda line: -line.baseline,
        )
        self.foot = sorted(
            (line for line in lines if round(line.baseline) in lowest),
            key=lambda line: line.baseline,
        )

    def runs(self, found: set[int]) -> Iterator[tuple[list[Line], bool]]:
        """Of either side the lines found that nothing else parts from the edge, and whether that is all of the side."""
        for side in (self.head, self.foot):
            run = []
            for at, line in enumerate(side):
                if id(line) in found:
                    run.append(line)
                # What stands beside the last one found comes before or behind it by chance.
                elif at + 1 == len(side) or abs(side[at + 1].baseline - line.baseline) > _NEAR:
                    break
            yield run, len(run) == len(side)


def _but_numbers(line: Line) -> str:
    return _DIGITS.sub("#", line.text.strip())


def _in_their_place(edges: Sequence[_Edges], found: set[int]) -> set[int]:
    """Heads that change too often to come again: where most pages have furniture, alone there and apart."""
    places: Counter[tuple[bool, int]] = Counter()
    for edge in edges:
        for high, side in ((True, edge.head), (False, edge.foot)):
            places.update(
                {(high, round(line.baseline / _NEAR)) for line in side if id(line) in found}
            )
    more: set[int] = set()
    for item in edges:
        for high, side in ((True, item.head), (False, item.foot)):
            if len(side) < 2 or any(id(line) in found for line in side):
                continue
            near = round(side[0].baseline / _NEAR)
            count = sum(places[high, near + by] for by in (-1, 0, 1))
            apart = abs(side[0].baseline - side[1].baseline) > _APART * max(side[1].size, 1)
            short = len(side[0].text) <= _LONGEST
            if short and apart and count >= max(_PAGES, _SHARE * len(edges)):
                more.add(id(side[0]))
    return more


def _is_worth(text: str) -> bool:
    """A bracket or a dash at the edge of a few pages is text; a number may be that of the page."""
    return any(map(str.isdigit, text)) or sum(map(str.isalpha, text)) >= 3


def _again(same: list[Line], pages: Sequence[Page]) -> list[Line]:
    """Of lines with one text those that stand at one place on enough pages."""
    if len(same) < _PAGES:
        return []
    kept: list[Line] = []
    rest = sorted(same, key=lambda line: line.baseline)
    while len(rest) >= _PAGES:
        count = 1
        while count < len(rest) and rest[count].baseline - rest[count - 1].baseline <= _NEAR:
            count += 1
        near, rest = rest[:count], rest[count:]
        on = {line.page for line in near}
        height = pages[near[0].page].height
        edge = min(near[0].baseline, height - near[0].baseline)
        least = _PAGES if edge <= _DEEP * height else max(_PAGES, _SHARE * len(pages))
        # Left and right pages may have heads of their own, and the first of a chapter none.
        if len(on) >= max(least, _DENSE * (max(on) - min(on) + 1)) and _rise(near):
            kept += near
    return kept


def _rise(lines: list[Line]) -> bool:
    """Whether the numbers in lines go up with the pages, or are the same on all."""
    if not any(map(str.isdigit, lines[0].text)):
        return True
    numbers = [[int(each[:9]) for each in _DIGITS.findall(line.text)] for line in lines]
    most = _SHARE * len(lines)
    for column in zip(*numbers, strict=True):
        steps = Counter(value - line.page for value, line in zip(column, lines, strict=True))
        if steps.most_common(1)[0][1] >= max(2, most):
            return True
    return Counter(map(tuple, numbers)).most_common(1)[0][1] >= max(2, most)


def _page_numbers(edges: Sequence[_Edges], known: set[int]) -> set[int]:
    """Numbers at the very edge of pages that go up as they do: at changing places, or in Roman figures."""
    lone: list[tuple[Line, tuple[bool, int]]] = []
    for edge in edges:
        for side in (edge.head, edge.foot):
            line = next((line for line in side if id(line) not in known), None)
            text = line.text.strip().strip("-–—[]() .") if line else ""
            if line is None or not text:
                continue
            if PAGE_NUMBER.fullmatch(text):
                number = _DIGITS.search(text)
                lone.append((line, (False, int(number[0][:9]) - line.page if number else 0)))
            elif _ROMAN.fullmatch(text.lower()):
                lone.append((line, (True, _roman(text.lower()) - line.page)))
    steps = Counter(step for _, step in lone)
    return {id(line) for line, step in lone if steps[step] >= min(_PAGES, max(2, len(edges)))}


def _roman(text: str) -> int:
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    figures = [values[item] for item in text]
    return sum(
        -number if figures[at + 1 : at + 2] > [number] else number
        for at, number in enumerate(figures)
    )

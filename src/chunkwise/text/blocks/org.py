"""The blocks of Org text: starred headings, lists, tables, blocks of source and examples."""

from __future__ import annotations

import re
from bisect import bisect_right

from chunkwise.text.blocks.blocks import Blocks
from chunkwise.text.blocks.markup_lines import LineBlocks, markup_lines

_HEADING = re.compile(r"(\*+)\s+\S")
_ITEM = re.compile(r"(?:[-+]|\d{1,9}[.)])(?=\s|$)")
_BEGIN = re.compile(r"#\+begin_(src|example|export|verse)\b", re.IGNORECASE)
_SETTING = re.compile(r"#\+\w+:|#\+(?:begin|end)_\w+", re.IGNORECASE)
_DRAWER = re.compile(r":[A-Za-z][\w-]*:")
_LATEST_END = 100
"""Lines a drawer may have."""
_STATE = re.compile(r"(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED)\s+(?=\S))?(?:\[#\w\]\s+)?")
"""At the beginning alone; elsewhere they are words."""
# Behind no space, or each space of a long run would be tried as the first.
_TAGS = re.compile(r"(?<!\s)\s++:[\w@#%:]{2,}+(?<=:)\Z")
_LINK = re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]")


def org_blocks(text: str) -> Blocks:
    """Headings, paragraphs, items, tables and code of an Org text, in order."""
    lines = markup_lines(text)
    found = LineBlocks()
    ends = _ends_of_blocks([line.words for line in lines])
    drawer_ends = [number for number, line in enumerate(lines) if line.words.upper() == ":END:"]
    at = 0
    while at < len(lines):
        line = lines[at]
        heading = _HEADING.match(line.words) if not line.indent else None
        if heading:
            found.heading(line.start, line.end, len(heading[1]))
        elif not line.words:
            found.close()
        elif at in ends:
            found.code(line.start, lines[ends[at]].end)
            at = ends[at]
        elif _DRAWER.fullmatch(line.words) and (end := _drawer_end(drawer_ends, at)):
            found.close()
            at = end
        elif _SETTING.match(line.words):
            found.end_list()
        elif line.words.startswith("|"):
            if line.words.startswith("|-"):
                found.to_header(line.end)
            else:
                found.row(line.start, line.end)
        elif _ITEM.match(line.words) or (line.indent and line.words.startswith("* ")):
            found.item(line)
        else:
            found.text(line)
        at += 1
    return found.blocks()


def org_title(heading: str) -> str:
    """A heading without its stars, state, priority and tags."""
    title = heading.strip().lstrip("\ufeff*").strip()
    state = _STATE.match(title)
    title = title[state.end() :] if state else title
    return _LINK.sub(r"\1", _TAGS.sub("", title)).strip()


def _ends_of_blocks(lines: list[str]) -> dict[int, int]:
    """Of each line that opens a block of source: the line that ends it."""
    found: dict[int, int] = {}
    opened: tuple[int, str] | None = None
    for at, words in enumerate(lines):
        if opened is None:
            if begin := _BEGIN.match(words):
                opened = at, f"#+end_{begin[1].lower()}"
        elif words.lower().startswith(opened[1]):
            found[opened[0]] = at
            opened = None
    return found


def _drawer_end(ends: list[int], at: int) -> int:
    """The line that ends the drawer which opens here; 0 where none does nearby."""
    following = bisect_right(ends, at)
    near = following < len(ends) and ends[following] < at + _LATEST_END
    return ends[following] if near else 0

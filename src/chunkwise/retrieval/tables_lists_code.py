"""Tables, lists and code in what is found: whole with their lead-ins, or a part with the header or fence it needs."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.recently_used import RecentlyUsed
from chunkwise.core import Block, Document, Span
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import CODE_OF

_HEADING_KINDS = ("heading", "header")
_AROUND = 1000
"""Characters before and behind a stretch that help to tell what its lines are."""


def end_before_headings(document: Document, start: int, end: int) -> int:
    """Where a stretch ends without the headings and headers at its end; its start where it has nothing else."""
    for lead in _headings_backwards(document, start, end):
        if document.text[lead.end : end].strip():
            break
        end = max(start, lead.start)
    return end


def _headings_backwards(document: Document, start: int, end: int) -> Iterator[Span]:
    """Headings and headers that lie in a stretch, the last first, up to the first block of another kind."""
    blocks, shift = document.blocks, 0
    if blocks is None:
        shown = document.text[start:end]
        if "\n" not in shown[len(shown.rstrip()) :]:
            return  # it ends inside a line, as most cuts do: nothing has to be analyzed
        # From the start of a line: the rest of a heading is not known by itself.
        floor = max(0, start - _AROUND)
        shift = max(floor, document.text.rfind("\n", floor, start) + 1)
        text = document.text[shift : end + _AROUND]
        part = Document("", text, format=document.format, language=document.language)
        blocks = tuple(Analyzed(part).blocks)
    for at in range(bisect_left(blocks, end - shift, key=_heading_start) - 1, -1, -1):
        block = blocks[at]
        if block.kind not in _HEADING_KINDS or block.end + shift <= start:
            return
        yield Span(block.start + shift, block.end + shift)


def _heading_start(block: Block) -> int:
    return block.start


BlockName = Literal["code", "table", "list", "comment"]
_KINDS: tuple[BlockName, ...] = ("code", "table", "list", "comment")
_COMMENT_KIND = _KINDS.index("comment")
ROW_WIDTH = 6
"""Of the rows that an index stores: the number of the kind, and the five offsets of a `WholeBlock`."""

_FENCE = re.compile(r"(`{3,}|~{3,})[^\n]*")
_TICKS = re.compile(r"`{3,}")
_LONE_MARKER = re.compile(r"(?:[-*+•–]|\d{1,3}[.)]|\(?[a-zA-Z0-9]{1,3}\))")
_COMMENT, _COMMENT_END = "<!--", "-->"
_REST_OF_LINE = re.compile(r"[ \t]*\n")
_LONG_ITEM = 200
"""Characters; items longer than this on average are paragraphs of their own, as the clauses of a contract."""
_CLOSING = ")]}"
_LINE = re.compile(r"([ \t]*)(\S?)[^\n]*\n?")
_COMMENT_LINE = re.compile(r"#(?![A-Za-z])|//|/\*|\*(?=[ /])|--(?=[ \n])|;;")
"""How a line of comment begins in some language; `#include` is none."""
_FAR = 2000
"""Characters around a line of code in which what belongs to it is sought."""
_LONGEST_HEAD = 2000
"""Characters of a fence or of a table's header that are put before a part of the block."""


class WholeBlock(NamedTuple):
    """A code block, a table or a list; the last sentence before it belongs to it where it leads it in.

    A comment of Markdown is one, too, that no reader is to see.
    """

    kind: BlockName
    start: int
    """Of the lead-in, where there is one."""
    own: int
    """Where the block itself starts."""
    body: int
    """Where its first line of code, row or item starts, behind an opening fence or a header."""
    body_end: int
    """Where the closing fence starts; elsewhere the end."""
    end: int


class Frame(NamedTuple):
    """What is shown around a part of a block so that it can be read: a fence opened and closed, a table's header."""

    opening: str = ""
    closing: str = ""


NO_FRAME = Frame()


class WholeBlocks:
    """Of one document: as an index stores them, or found when first asked for."""

    def __init__(self, document: Document, rows: NDArray[np.int64] | None = None) -> None:
        """`rows` are those of `block_rows`; a ValueError where they cannot be."""
        self.document = document
        if rows is not None:
            _check_rows(rows, len(document.text))
            self.rows = rows

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        return block_rows(Analyzed(self.document))

    @cached_property
    def _blocks(self) -> list[WholeBlock]:
        """In order; none overlaps another, but a lead-in may be the item of a list above."""
        return [block for block in map(_block, self.rows.tolist()) if block.kind != "comment"]

    @cached_property
    def comments(self) -> list[Span]:
        """Of Markdown, outside of code; what is never closed hides nothing."""
        if not _may_have_comments(self.document):  # told without the layout
            return []
        result = self.rows[self.rows[:, 0] == _COMMENT_KIND]
        return list(map(Span, result[:, 2].tolist(), result[:, 5].tolist()))

    @cached_property
    def _owns(self) -> list[int]:
        return [block.own for block in self._blocks]

    def around(self, start: int, end: int) -> WholeBlock | None:
        """The block that a sentence, row or line is part of, or leads in."""
        at = bisect_right(self._owns, start)
        # The block that a sentence leads in goes before the one it is part of.
        for block in (*self._blocks[at : at + 1], *self._blocks[max(at - 1, 0) : at]):
            if start < block.end and block.start < end:
                return block
        return None

    def parts_of_code(self, block: WholeBlock, at: int) -> list[Span]:
        """What a line of code is read with, the largest first: up to blank lines, then what is indented below."""
        if not block.body <= at < block.body_end:
            return []
        text = self.document.text
        before, behind = text.rfind("\n\n", block.body, at), text.find("\n\n", at, block.body_end)
        part = Span(
            block.body if before < 0 else before + 2,
            block.body_end if behind < 0 else behind + 2,
        )
        return [part, *_statements(text, part, at)]

    def hidden(self, start: int, end: int) -> tuple[Span, ...]:
        """The comments that a stretch touches, each with the line that it leaves empty."""
        comments = self.comments
        if not comments:
            return ()
        first = bisect_right(comments, start, key=_end)
        stop = bisect_left(comments, end, key=_start)
        text, result = self.document.text, []
        for low, high in comments[first:stop]:
            behind = _REST_OF_LINE.match(text, high)
            if behind is not None and _opens_line(text, low):
                high = behind.end()
            result.append(Span(max(low, start), min(high, end)))
        return tuple(result)

    def is_hidden(self, start: int, end: int) -> bool:
        """Whether nothing is there but comments."""
        span = self._without_comments(start, end)
        return span.start == span.end

    def _without_comments(self, start: int, end: int) -> Span:
        """Without white space and comments at the edges."""
        text, comments = self.document.text, self.comments
        while True:
            inside = text[start:end]
            low = start + len(inside) - len(inside.lstrip())
            high = start + len(inside.rstrip())
            if comments and low < high:
                before = bisect_right(comments, low, key=_start) - 1
                behind = bisect_right(comments, high - 1, key=_start) - 1
                if before >= 0 and low < comments[before].end:
                    start, end = min(comments[before].end, high), high
                    continue
                if behind >= 0 and high <= comments[behind].end:
                    start, end = low, max(comments[behind].start, low)
                    continue
            # White space before a text is its indentation, unless a whole line or a comment was taken away.
            return Span(
                start if low < high and "\n" not in inside[: low - start] else low, max(low, high)
            )

    def readable(self, start: int, end: int) -> Span:
        """Without what says nothing at its edges: comments, fences without code, lead-ins and headers without more.

        Empty where nothing is left but marks.
        """
        span = self._without_comments(start, end)
        while span.start < span.end:
            trimmed = self._without_edge(span)
            if trimmed == span:
                break
            span = self._without_comments(*trimmed)
        text = self.document.text[span.start : span.end].strip()
        if not any(map(str.isalnum, text)) or _LONE_MARKER.fullmatch(text):
            return Span(span.start, span.start)
        return span

    def _without_edge(self, span: Span) -> Span:
        led = self.around(span.end - 1, span.end)
        if led is not None and span.start < led.start and span.end <= led.body > led.start:
            return Span(span.start, led.start)
        last = self._code_at(span.end - 1)
        if last is not None and last.own < span.end <= last.body:
            return Span(span.start, max(span.start, last.own))
        first = self._code_at(span.start)
        if first is not None and first.body_end <= span.start < first.end:
            return Span(min(first.end, span.end), span.end)
        return span

    def _code_at(self, at: int) -> WholeBlock | None:
        """The fenced code a position lies in."""
        number = bisect_right(self._owns, at) - 1
        block = self._blocks[number] if number >= 0 else None
        if block is None or block.kind != "code" or block.body == block.own or at >= block.end:
            return None
        return block

    def frame(self, start: int, end: int) -> Frame:
        """What a stretch needs around it: the fence of code that it begins or ends in, the header of its rows."""
        if start >= end or not self._may_be_framed:
            return NO_FRAME
        text, opening, closing = self.document.text, "", ""
        number = bisect_right(self._owns, start) - 1
        block = self._blocks[number] if number >= 0 else None
        if block is not None and block.own < block.body <= start < block.end:
            head = text[block.own : block.body].rstrip()
            if len(head) <= _LONGEST_HEAD and start < block.body_end:
                opening = _indentation(text, block.own) + head + "\n"
        code = self._code_at(end - 1)
        if (
            code is not None
            and code.own < end <= code.body_end
            and code.body < end
            and (fence := _FENCE.match(text, code.own)) is not None
        ):
            closing = _indentation(text, code.own) + fence[1]
            if not text[start:end].endswith("\n"):
                closing = f"\n{closing}"
        return Frame(opening, closing)

    def quoted(self, start: int, end: int) -> Frame:
        """The same for a stretch among words: of a file of code with a fence, and its first line indented."""
        if self.document.format != "code":
            return self.frame(start, end)
        text = self.document.text
        ticks = max((len(match[0]) for match in _TICKS.finditer(text, start, end)), default=2)
        fence = "`" * max(ticks + 1, 3)
        line = text.rfind("\n", 0, start) + 1
        indentation = text[line:start]
        opening = f"{fence}{self.document.language}\n{'' if indentation.strip() else indentation}"
        return Frame(opening, fence if text[start:end].endswith("\n") else f"\n{fence}")

    @cached_property
    def _may_be_framed(self) -> bool:
        """Whether there is a fence or a table at all, told without reading the layout."""
        if self.document.blocks is not None:
            return any(block.kind in ("header", "code") for block in self.document.blocks)
        text = self.document.text
        return self.document.format != "code" and any(mark in text for mark in ("```", "~~~", "|"))


def block_rows(analyzed: Analyzed) -> NDArray[np.int64]:
    """The rows of `WholeBlocks` by where they begin, found in the text."""
    blocks = _blocks_in(analyzed)
    blocks += _comments_in(analyzed.document, blocks)
    blocks.sort(key=_own)
    rows = [(_KINDS.index(kind), *bounds) for kind, *bounds in blocks]
    return np.array(rows, np.int64).reshape(-1, ROW_WIDTH)


def _block(row: Sequence[int]) -> WholeBlock:
    return WholeBlock(_KINDS[row[0]], *row[1:])


def _check_rows(rows: NDArray[np.int64], length: int) -> None:
    """Offsets that go back would let a reader look for ever."""
    if not len(rows):
        return
    kind, bounds = rows[:, 0], rows[:, 1:]
    if kind.min() < 0 or kind.max() >= len(_KINDS) or bounds.min() < 0 or bounds.max() > length:
        raise ValueError("its blocks lie outside of its text")
    if (np.diff(bounds, axis=1) < 0).any() or (np.diff(bounds[:, 1]) < 0).any():
        raise ValueError("its blocks are out of order")


IN_BLOCK, HEADS, HIDDEN = 1, 2, 4
"""Of an atom: it is part of a block or leads one in; it is to be read with what follows; no reader is to see it."""


def atom_flags(
    analyzed: Analyzed, rows: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """What an index stores of each atom, so that no search looks for it in the text; `rows` are its `block_rows`."""
    flags = np.zeros(len(starts), np.uint8)
    blocks = rows[rows[:, 0] != _COMMENT_KIND]
    if len(blocks):
        _, start, own, body, _, end = blocks.T
        at = own.searchsorted(starts, "right")
        # As in `WholeBlocks.around`: the block that an atom leads in goes before the one it is part of.
        for near in (at - 1, at):
            there = np.clip(near, 0, len(blocks) - 1)
            touch = (near == there) & (starts < end[there]) & (start[there] < ends)
            heads = (body[there] > start[there]) & (ends <= body[there])
            flags = np.where(touch, IN_BLOCK | np.where(heads, HEADS, 0), flags).astype(np.uint8)
    flags[_table_headers(analyzed, starts, ends)] |= HEADS
    if len(blocks) < len(rows):
        whole = WholeBlocks(analyzed.document, rows)
        bounds = enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
        flags[[at for at, pair in bounds if whole.is_hidden(*pair)]] |= HIDDEN
    return flags


def _table_headers(
    analyzed: Analyzed, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The atoms that are a table's header: declared as one, or ended by a line such as `|---|---|`."""
    text = analyzed.text
    if analyzed.document.blocks is not None:
        blocks = analyzed.blocks
        is_header = np.append(blocks.kind == CODE_OF["header"], False)  # before the first block
        return np.flatnonzero(is_header[blocks.start.searchsorted(starts, "right") - 1])
    headers = []
    if "|" in text:
        bars = np.flatnonzero(analyzed.characters.points == ord("|"))
        held = np.flatnonzero(bars.searchsorted(ends) > bars.searchsorted(starts))
        for at, start, end in zip(
            held.tolist(), starts[held].tolist(), ends[held].tolist(), strict=True
        ):
            line = text[start:end].rstrip().rpartition("\n")[2]
            if "|" in line and "-" in line and not line.strip("|:- \t"):
                headers.append(at)
    return np.array(headers, np.int64)


def _blocks_in(analyzed: Analyzed) -> list[WholeBlock]:
    text = analyzed.text
    if analyzed.document.format == "code":
        return []  # whole paragraphs of a source file take the budget from lines that answer
    blocks = analyzed.blocks
    if not len(blocks.of("item", "code", "header", "row")):
        return []
    led = {own: start for start, own, _ in analyzed.lead_ins.tolist()}
    result = [_code(text, led.get(start, start), start, end) for start, end in blocks.code.tolist()]
    items = blocks.start[blocks.of("item")]
    for start, end in blocks.lists.tolist():
        held = int(items.searchsorted(end) - items.searchsorted(start))
        if end - start <= _LONG_ITEM * held:
            result.append(WholeBlock("list", led.get(start, start), start, start, end, end))
    headers = blocks.spans("header")
    ends = dict(headers.tolist())
    for start, end in blocks.tables.tolist():
        body = min(ends.get(start, start), end)
        body += len(text[body:end]) - len(text[body:end].lstrip()) if body > start else 0
        result.append(WholeBlock("table", led.get(start, start), start, body, end, end))
    return sorted(result, key=_own)


def _may_have_comments(document: Document) -> bool:
    return document.format == "markdown" and _COMMENT in document.text


def _comments_in(document: Document, blocks: Sequence[WholeBlock]) -> Iterator[WholeBlock]:
    if not _may_have_comments(document):
        return
    code = [block for block in blocks if block.kind == "code"]
    at, text = 0, document.text
    ticks = 0  # in this line so far: an odd number opens code
    while (start := text.find(_COMMENT, at)) >= 0:
        line = text.rfind("\n", at, start) + 1
        ticks = (0 if line else ticks) + text.count("`", max(line, at), start)
        last = bisect_right(code, start, key=_own) - 1
        in_code = last >= 0 and start < code[last].end
        if ticks % 2 or text[start - 1 : start] == "\\" or in_code:
            at = start + len(_COMMENT)
            continue
        end = text.find(_COMMENT_END, start + len(_COMMENT))
        if end < 0:
            break
        at = end + len(_COMMENT_END)
        yield WholeBlock("comment", start, start, start, at, at)


def _code(text: str, start: int, own: int, end: int) -> WholeBlock:
    fence = _FENCE.match(text, own, end)
    if fence is None:
        return WholeBlock("code", start, own, own, end, end)
    body = min(fence.end() + 1, end)
    last = max(text.rfind("\n", own, end) + 1, body)
    line = text[last:end].strip()
    closed = len(line) >= len(fence[1]) and not line.strip(fence[1][0])
    return WholeBlock("code", start, own, body, last if closed else end, end)


def _statements(text: str, part: Span, at: int) -> list[Span]:
    """Lines that are one by their indentation: comments, the line below, what is deeper, the bracket that closes it.

    The largest first; none reaches further than some forty lines.
    """
    low, high = max(part.start, at - _FAR), min(part.end, at + _FAR)
    lines = [_Line.of(match) for match in _LINE.finditer(text, low, high)]
    if low > part.start:
        lines = lines[1:]  # it may have begun before
    own = sum(line.start <= at for line in lines) - 1
    if own < 0:
        return []
    statements = []
    levels = {line.indent for line in lines[: own + 1] if line.indent <= lines[own].indent}
    for level in sorted(levels):
        first = next((index for index in range(own, -1, -1) if lines[index].opens(level)), None)
        if first is None:
            continue
        told = first
        while told + 1 < len(lines) and lines[told].tells_of(lines[told + 1]):
            told += 1
        while first and lines[first - 1].tells_of(lines[first]):
            first -= 1
        behind = next((line for line in lines[max(told, own) + 1 :] if line.ends(level)), None)
        if behind is not None or high == part.end:
            statements.append(
                Span(lines[first].start, behind.start if behind is not None else high)
            )
    return statements


class _Line(NamedTuple):
    start: int
    indent: int
    closes: bool
    """Whether it begins with a bracket that closes what stands above."""
    is_comment: bool

    @classmethod
    def of(cls, match: re.Match[str]) -> _Line:
        closes = bool(match[2]) and match[2] in _CLOSING
        is_comment = _COMMENT_LINE.match(match.string, match.start(2)) is not None
        return cls(match.start(), len(match[1]), closes, is_comment)

    def tells_of(self, below: _Line) -> bool:
        """Whether it is a comment on the next line, or goes on there."""
        return self.is_comment and self.indent == below.indent

    def opens(self, level: int) -> bool:
        return self.indent <= level and not self.closes

    def ends(self, level: int) -> bool:
        """Whether what stands at this level ends before it."""
        return self.indent < level or self.opens(level)


def _indentation(text: str, at: int) -> str:
    before = text[max(text.rfind("\n", 0, at) + 1, at - 40) : at]
    return "" if before.strip() else before


def _opens_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _own(block: WholeBlock) -> int:
    return block.own


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.end


_CHARACTERS = 1 << 23
"""Of the documents whose blocks are kept, many questions meeting the same ones; each counts some for itself."""
_EACH = 1 << 15
_kept: RecentlyUsed[WholeBlocks] = RecentlyUsed(
    _CHARACTERS, lambda blocks: _EACH + len(blocks.document.text)
)


def whole_blocks(document: Document) -> WholeBlocks:
    # They keep their document alive, and with it the id.
    return _kept.get(id(document), lambda: WholeBlocks(document))

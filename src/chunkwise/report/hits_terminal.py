"""Hits in a terminal: how good, where from, and the text with the question's words marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chunkwise.base.wording import counted
from chunkwise.core import SECTION_SEPARATOR, Hit
from chunkwise.report.plain_text import one_line
from chunkwise.report.terminal_parts import bar
from chunkwise.text.terms.terms import query_terms, text_terms

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_BAR = 8
_INDENT = 4
_LINES = 8
"""Lines of a hit that are shown, unless all are asked for."""
_PROSE = ("text", "markdown", "pdf")
_FULL_LINE = 60
"""A line of so many characters was probably broken to fit a page."""
_DEEPEST = 40
_WIDEST = 200_000
"""Characters of a hit that can reach the screen."""


def render_hits(
    hits: Sequence[Hit],
    question: str,
    console: Console,
    *,
    languages: Sequence[str] = ("en",),
    full: bool = False,
) -> None:
    """Draw the hits of one question, best first; documents' text cannot move the cursor or add markup."""
    best = max((hit.score for hit in hits), default=0.0)
    room = max(console.width - _INDENT, 20)
    for hit in sorted(hits, key=lambda hit: hit.rank):
        console.print(_head(hit, best), no_wrap=True, overflow="ellipsis")
        lines = list(_text(hit, question, languages).wrap(console, room))
        for line in [*_place(hit).wrap(console, room), *(lines if full else _window(lines))]:
            line.rstrip()
            line.pad_left(_INDENT)
            console.print(line, no_wrap=True)
        console.print()
    console.print(_total(hits), style="bold", markup=False, highlight=False)


def _total(hits: Sequence[Hit]) -> str:
    if not hits:
        return "nothing found"
    tokens = sum(hit.token_count for hit in hits)
    documents = len({hit.doc_id for hit in hits})
    return " · ".join(
        (counted(len(hits), "hit"), counted(tokens, "token"), counted(documents, "document"))
    )


def _head(hit: Hit, best: float) -> Text:
    """Rank, score and what the document is called."""
    from rich.text import Text

    share = hit.score / best if best > 0 else 0.0
    return Text.assemble(
        (f"{hit.rank:>2}  ", "bold cyan"),
        (f"{bar(share, _BAR):<{_BAR}}", "cyan"),
        (f" {hit.score:.3f}  ", "dim"),
        (one_line(hit.document.title or hit.doc_id, 120), "bold"),
    )


def _place(hit: Hit) -> Text:
    """What a citation needs: section, document, page, offsets, size."""
    from rich.text import Text

    parts = [one_line(hit.doc_id, 120)]
    if hit.page is not None:
        one = hit.last_page == hit.page
        parts.append(f"page {hit.page}" if one else f"pages {hit.page}–{hit.last_page}")
    if hit.level:
        parts.append(f"summary of {counted(len(hit.spans), 'passage')}, level {hit.level}")
    parts += [f"{hit.start:,}–{hit.end:,}", counted(hit.token_count, "token")]
    place = Text(" · ".join(parts), "dim")
    # The title stands above already, and the outermost heading is often the same.
    below = hit.section[1:] if hit.section[:1] == (hit.document.title,) else hit.section
    section = one_line(SECTION_SEPARATOR.join(below), 300)
    return Text.assemble((section, "green"), "\n", place) if section else place


def _text(hit: Hit, question: str, languages: Sequence[str]) -> Text:
    """Without empty lines, and prose without the line breaks of its file; the question's words are marked."""
    from rich.text import Text

    flowing = hit.level > 0 or hit.document.format in _PROSE
    lines: list[str] = []
    for raw in hit.text[:_WIDEST].splitlines():
        line = one_line(raw).rstrip()
        if not flowing and line:  # code is read with its indentation
            line = " " * _indentation(raw) + line.lstrip()
        if flowing and lines and len(lines[-1]) >= _FULL_LINE and line[:1].isalpha():
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    text = Text("\n".join(line for line in lines if line))
    for start, end in _marked(text.plain, question, languages):
        text.stylize("bold yellow", start, end)
    return text


def _indentation(line: str) -> int:
    wide = line[:_DEEPEST].expandtabs(4)
    return min(len(wide) - len(wide.lstrip()), _DEEPEST)


def _marked(text: str, question: str, languages: Sequence[str]) -> list[tuple[int, int]]:
    """Where words of the question stand, in whatever form word search takes for the same, names also in parts."""
    asked = query_terms(question, languages)
    found = set()
    for language in languages:
        terms = text_terms(text, language)
        same = np.isin(terms.hash, asked)
        found |= set(zip(terms.start[same].tolist(), terms.end[same].tolist(), strict=True))
    return sorted(found)


def _window(lines: Sequence[Text]) -> list[Text]:
    """The stretch of lines with the most marked words, and how much stands around it."""
    from rich.text import Text

    if len(lines) <= _LINES + 2:  # a line that says "one more line" takes a line
        return list(lines)
    marks = np.concatenate(([0], np.cumsum([len(line.spans) for line in lines])))
    start = int((marks[_LINES:] - marks[:-_LINES]).argmax())
    chosen = list(lines[start : start + _LINES])
    if start:
        chosen.insert(0, Text(f"… {counted(start, 'line')} before", "dim"))
    if left := len(lines) - start - _LINES:
        chosen.append(Text(f"… {counted(left, 'more line')}", "dim"))
    return chosen

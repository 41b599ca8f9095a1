"""The report of a search: each hit with its score, its place and the lines that answer, with the words marked."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, format_number, from_to, percent
from chunkwise.core import Document, Hit
from chunkwise.report.report import Excerpt, Headline, Next, Note, Report, ReportPart, TextRun
from chunkwise.report.sanitize import one_line
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.terms import query_terms, terms_of_words, words_of

if TYPE_CHECKING:
    from chunkwise.retrieval.search.chains import ChainHop, HitChain

Marks = tuple[tuple[int, int], ...]

_PROSE = ("text", "markdown", "pdf", "rst", "tex", "asciidoc", "org")
_FULL_LINE = 60
"""A line of so many characters was probably broken to fit a page."""
_DEEPEST = 40
_WIDEST = 200_000
"""Characters of a hit that can be shown."""
_ROWS, _ROW = 3, 70
"""Lines of a hit that are shown, and what one of them holds, unless whole texts are asked for."""
_LEAD = 50
"""Characters before the first marked word that are shown, if its line begins there."""


def search_report(
    hits: Sequence[Hit],
    question: str = "",
    *,
    languages: Sequence[str] = ("en",),
    chains: Sequence[HitChain] = (),
    naming: str = "",
    is_whole: bool = False,
    next_command: str = "",
) -> Report:
    """Build the report of the hits of one question.

    Args:
        hits: What was found.
        question: Its words are marked.
        languages: In which forms of a word are the same.
        chains: By which names each hit was found.
        naming: Which documents the question names.
        is_whole: Show whole texts instead of the lines that answer.
        next_command: What to run next.
    """
    known: Sequence[HitChain | None] = chains or [None] * len(hits)
    terms = query_terms(question, languages) if question and hits else None
    parts: list[ReportPart] = [] if hits else [Headline("Nothing found.")]
    parts += [Note(one_line(naming))] if naming else []
    for hit, chain in sorted(zip(hits, known, strict=True), key=lambda pair: pair[0].rank):
        text = hit_text(hit)
        marks = marked_words(text, terms, languages) if terms is not None else ()
        parts.append(_excerpt(hit, text, marks, is_whole=is_whole))
        if chain:
            parts += _chain_notes(chain)
    parts += [Next(next_command)] if next_command and hits else []
    return Report(question or "Hits", tuple(parts), "search", hits_total(hits) if hits else "")


def hits_total(hits: Sequence[Hit]) -> str:
    """ "5 hits · 800 tokens · 3 documents"."""
    tokens = sum(hit.token_count for hit in hits)
    documents = len({place.doc_id for hit in hits for place in hit.places})
    return " · ".join(
        (counted(len(hits), "hit"), counted(tokens, "token"), counted(documents, "document"))
    )


def hit_section(hit: Hit) -> tuple[str, ...]:
    """Below the title, which is often the outermost heading."""
    return hit.section[1:] if hit.section[:1] == (hit.document.title,) else hit.section


def hit_text(hit: Hit) -> str:
    """Without empty lines, and prose without the line breaks of its file."""
    lines: list[str] = []
    flows = False  # whether the last line may go on
    for prose, text in _stretches(hit):
        for raw in text.splitlines():
            line = one_line(raw).rstrip()
            if not prose and line:  # code is read with its indentation
                line = " " * _indentation(raw) + line.lstrip()
            if prose and flows and len(lines[-1]) >= _FULL_LINE and line[:1].isalpha():
                lines[-1] += f" {line}"
            else:
                lines.append(line)
            flows = prose
    return "\n".join(line for line in lines if line)


def marked_words(
    text: str, terms_of_question: NDArray[np.uint64], languages: Sequence[str]
) -> Marks:
    """Where words of the question stand, in whatever form word search takes for the same, names also in parts."""
    places: set[tuple[int, int]] = set()
    words = words_of(CharacterArrays(text))  # the same in every language
    for language in languages:
        terms = terms_of_words(words, language)
        same = np.isin(terms.hash, terms_of_question)
        places |= set(zip(terms.start[same].tolist(), terms.end[same].tolist(), strict=True))
    return tuple(sorted(places))


def _stretches(hit: Hit) -> Iterator[tuple[bool, str]]:
    """Prose, whose lines were broken to fit a page, and code, whose lines were not."""
    shown = hit.shown[:_WIDEST]
    if hit.level or hit.document.format not in _PROSE:
        yield hit.level > 0, shown
        return
    # Read by itself: the fence it is shown with tells where its code is.
    document = Document("", shown, format=hit.document.format, language=hit.document.language)
    at = 0
    for start, end in Analyzed(document).blocks.code.tolist():
        yield True, shown[at:start]
        yield False, shown[start:end]
        at = end
    yield True, shown[at:]


def _indentation(line: str) -> int:
    wide = line[:_DEEPEST].expandtabs(4)
    return min(len(wide) - len(wide.lstrip()), _DEEPEST)


def _excerpt(hit: Hit, text: str, marks: Marks, *, is_whole: bool) -> Excerpt:
    start, end = (0, len(text)) if is_whole else _best_lines(text, marks)
    runs = [TextRun("… ")] if start else []
    at = start
    for first, last in marks:
        if at <= first and last <= end:
            runs += [TextRun(text[at:first]), TextRun(text[first:last], "match")]
            at = last
    runs.append(TextRun(text[at:end].rstrip() + (" …" if end < len(text) else "")))
    title = hit.document.title or hit.doc_id
    sections = hit_section(hit)
    # The section says more than the title of its document, whose name is beside it.
    named = " › ".join((title, *sections)) if is_whole or not sections else sections[-1]
    return Excerpt(
        tuple(run for run in runs if run.text),
        f"{hit.rank}. {named}",
        " · ".join(_place(hit, is_whole=is_whole)),
    )


def _place(hit: Hit, *, is_whole: bool) -> Iterator[str]:
    """What a citation needs: score, document, page, offsets, size."""
    yield f"score {format_number(hit.score, 'number')}"
    yield hit.doc_id
    if hit.level:
        several = len({place.doc_id for place in hit.places})
        more = f" of {counted(several, 'document')}" if several > 1 else ""
        yield f"summary of {counted(len(hit.places), 'passage')}{more}, level {hit.level}"
    if hit.page is not None:
        one = hit.last_page == hit.page
        yield f"page {hit.page}" if one else f"pages {hit.page}–{hit.last_page}"
    yield from_to(hit.start, hit.end)
    if is_whole:
        yield counted(hit.token_count, "token")


def _best_lines(text: str, marks: Marks) -> tuple[int, int]:
    """The few lines with the most different words of the question, of those with as many the ones with most."""
    starts = [first for first, _ in marks]

    def words_from(start: int) -> tuple[int, int]:
        inside = marks[bisect_left(starts, start) : bisect_left(starts, _end(text, start))]
        return len({text[first:last].lower() for first, last in inside}), len(inside)

    start = max(sorted({0, *(_begin(text, first) for first in starts)}), key=words_from)
    return start, _end(text, start)


def _begin(text: str, first: int) -> int:
    """Of the line or the sentence that a word stands in, or of a word a little before."""
    low = max(0, first - _LEAD)
    before = text[low:first]
    for sign in ("\n", ". ", " "):
        at = before.find(sign) if sign == " " else before.rfind(sign)
        if at >= 0:
            return low + at + len(sign)
    return low


def _end(text: str, start: int) -> int:
    """Where the lines that are shown end, long ones being wrapped."""
    rows, at = _ROWS, start
    for line in text[start : start + _ROWS * _ROW].split("\n"):
        needed = max(1, math.ceil(len(line) / _ROW))
        if needed > rows:
            return at + rows * _ROW if rows else at - 1
        rows -= needed
        at += len(line) + 1
    return min(at - 1, len(text))


def _chain_notes(chain: HitChain) -> Iterator[Note]:
    """From the question over names and sentences to the passage above."""
    if not chain.hops:
        return
    by_question, along = (percent(share) for share in (1 - chain.graph_share, chain.graph_share))
    path = " ".join(_hop_words(hop, is_first=not at) for at, hop in enumerate(chain.hops))
    yield Note(f"{by_question} of the score from the question, {along} via names: {path}")


def _hop_words(hop: ChainHop, *, is_first: bool) -> str:
    after = f"{hop.after.doc_id} {from_to(hop.after.start, hop.after.end)}"
    name = one_line(hop.name, 80)
    if is_first:
        return f"question → {name or 'the question’s words'} → {after}"
    before = f"“{one_line(hop.before.text, 300)}” " if hop.before else ""
    return f"{before}→ {name} → {after}"

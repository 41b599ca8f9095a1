"""What is shown of the hits of a question: how good, where from, and the text with the question's words marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted, from_to
from chunkwise.core import SECTION_SEPARATOR, Document, Hit
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.view import View
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.terms import query_terms, terms_of_words, words_of

if TYPE_CHECKING:
    from chunkwise.retrieval.search.chains import ChainHop, HitChain

_PROSE = ("text", "markdown", "pdf", "rst", "tex", "asciidoc", "org")
_FULL_LINE = 60
"""A line of so many characters was probably broken to fit a page."""
_DEEPEST = 40
_SHOWN = 1_500
"""Characters of a hit in a notebook."""
_WIDEST = 200_000
"""Characters of a hit that can be shown."""


@dataclass(frozen=True, slots=True)
class HopLine:
    """One hop of a chain: a name, the sentence it is followed from, the one it leads to."""

    name: str
    """Empty: other words of the question lead there."""
    before: str
    """Empty: it is followed from the question."""
    before_place: str
    after: str
    after_place: str


@dataclass(frozen=True, slots=True)
class HitCard:
    """One hit."""

    rank: int
    score: float
    share_of_best: float
    """Of the best score; 0 where that is not above 0."""
    title: str
    doc_id: str
    section: str
    """Below the title, which is often the outermost heading."""
    start: int
    end: int
    page: int | None
    last_page: int | None
    token_count: int
    level: int
    """Above 0: a summary of so many `passages`."""
    passages: int
    text: str
    """Without empty lines, and prose without the line breaks of its file."""
    marks: tuple[tuple[int, int], ...]
    """Where words of the question stand in the text."""
    hops: tuple[HopLine, ...] = ()
    """By which names it was found, where that is asked for."""
    graph_share: float = 0.0
    """How much of the score came along those names."""
    doc_ids: tuple[str, ...] = ()
    """Of all it stands for, each once: those that the passages of a summary are of."""

    @property
    def place(self) -> str:
        """What a citation needs: document, page, offsets, size."""
        parts = [one_line(self.doc_id, 120)]
        if self.page is not None:
            one = self.last_page == self.page
            parts.append(f"page {self.page}" if one else f"pages {self.page}–{self.last_page}")
        if self.level:
            several = len(self.doc_ids)
            more = f" of {counted(several, 'document')}" if several > 1 else ""
            parts.append(
                f"summary of {counted(self.passages, 'passage')}{more}, level {self.level}"
            )
        parts += [from_to(self.start, self.end), counted(self.token_count, "token")]
        return " · ".join(parts)

    @property
    def shown_parts(self) -> list[tuple[str, bool]]:
        """The beginning of the text in stretches, each with whether it is a word of the question."""
        parts: list[tuple[str, bool]] = []
        at, end = 0, min(len(self.text), _SHOWN)
        for first, last in self.marks:
            if at <= first and last <= end:
                parts += [(self.text[at:first], False), (self.text[first:last], True)]
                at = last
        rest = self.text[at:end] + (" …" if end < len(self.text) else "")
        return [part for part in (*parts, (rest, False)) if part[0]]


@dataclass(frozen=True, slots=True)
class HitsView(View):
    """All hits of one question, the best first."""

    fragment_template: ClassVar[str] = "fragment_hits.html.j2"

    question: str
    hits: tuple[HitCard, ...]

    @property
    def total(self) -> str:
        if not self.hits:
            return "nothing found"
        tokens = sum(hit.token_count for hit in self.hits)
        documents = len(frozenset().union(*(hit.doc_ids for hit in self.hits)))
        return " · ".join(
            (counted(len(self.hits), "hit"), counted(tokens, "token"), counted(documents, "document"))
        )  # fmt: skip


def hits_view(
    hits: Sequence[Hit],
    question: str = "",
    *,
    languages: Sequence[str] = ("en",),
    chains: Sequence[HitChain] = (),
) -> HitsView:
    """`languages` are those in which word search takes forms of a word for the same; `chains`: one a hit, or none."""
    best = max((hit.score for hit in hits), default=0.0)
    known: Sequence[HitChain | None] = chains or [None] * len(hits)
    ordered = sorted(zip(hits, known, strict=True), key=lambda pair: pair[0].rank)
    terms = query_terms(question, languages) if question and hits else None
    cards = (_card(hit, best, terms, languages, chain) for hit, chain in ordered)
    return HitsView(question, tuple(cards))


def _hop(hop: ChainHop) -> HopLine:
    before = hop.before
    return HopLine(
        hop.name,
        before.text if before else "",
        f"{before.doc_id} {from_to(before.start, before.end)}" if before else "",
        hop.after.text,
        f"{hop.after.doc_id} {from_to(hop.after.start, hop.after.end)}",
    )


def _card(
    hit: Hit,
    best: float,
    terms: NDArray[np.uint64] | None,
    languages: Sequence[str],
    chain: HitChain | None,
) -> HitCard:
    below = hit.section[1:] if hit.section[:1] == (hit.document.title,) else hit.section
    text = _flowing(hit)
    return HitCard(
        hit.rank,
        hit.score,
        hit.score / best if best > 0 else 0.0,
        hit.document.title or hit.doc_id,
        hit.doc_id,
        SECTION_SEPARATOR.join(below),
        hit.start,
        hit.end,
        hit.page,
        hit.last_page,
        hit.token_count,
        hit.level,
        len(hit.places),
        text,
        _marks(text, terms, languages) if terms is not None else (),
        tuple(map(_hop, chain.hops)) if chain else (),
        chain.graph_share if chain else 0.0,
        tuple(dict.fromkeys(place.doc_id for place in hit.places)),
    )


def _flowing(hit: Hit) -> str:
    lines: list[str] = []
    flows = False  # whether the last line may go on
    for prose, text in _parts(hit):
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


def _parts(hit: Hit) -> Iterator[tuple[bool, str]]:
    """What is shown of a hit: prose, whose lines were broken to fit a page, and code, whose lines were not."""
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


def _marks(
    text: str, terms_of_question: NDArray[np.uint64], languages: Sequence[str]
) -> tuple[tuple[int, int], ...]:
    """Where words of the question stand, in whatever form word search takes for the same, names also in parts."""
    places: set[tuple[int, int]] = set()
    words = words_of(CharacterArrays(text))  # the same in every language
    for language in languages:
        terms = terms_of_words(words, language)
        same = np.isin(terms.hash, terms_of_question)
        places |= set(zip(terms.start[same].tolist(), terms.end[same].tolist(), strict=True))
    return tuple(sorted(places))

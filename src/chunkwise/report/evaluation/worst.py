"""The worst questions, a card each: what was missed, where it stands, and what was retrieved instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.base.wording import counted
from chunkwise.core import Document
from chunkwise.evaluation.results import FoundSpan, Missed, QuestionResult, Results
from chunkwise.report.evaluation.marks import small_bar
from chunkwise.report.page_text import attribute, breakable, passage, words

_SHOWN = 5
_MOST_MISSED = 3
_MOST_HITS = 10
_TEXT = 360
_LINES = 3


def worst_questions(results: Results, documents: Mapping[str, Document]) -> str:
    """Some are shown, the others are behind one click; the texts of hits where `documents` has them."""
    by_id = {question.id: question for question in results.questions}
    worst = [by_id[id] for id in results.worst if id in by_id]
    if not worst:
        return ""
    cards = [_card(question, results.objective, documents) for question in worst]
    more = len(cards) - _SHOWN
    rest = (
        f'<details class="more"><summary>{counted(more, "more question")}</summary>'
        f"{''.join(cards[_SHOWN:])}</details>"
        if more > 0
        else ""
    )
    return "".join(cards[:_SHOWN]) + rest


def _card(question: QuestionResult, objective: str, documents: Mapping[str, Document]) -> str:
    score = question.scores.get(objective)
    shown = "unscored" if score is None else f"{score:.3f}"
    types = "".join(f'<span class="tag">{words(type, 40)}</span>' for type in question.types)
    asked = {piece.passage.doc_id for piece in question.missed} or set(question.documents)
    return (
        f'<article class="card worst"><header><div class="mark"><b>{shown}</b>{small_bar(score or 0.0)}'
        f"<span>{breakable(objective)}</span></div><div><h3>{words(question.text, 600)}</h3>"
        f'<p class="where">{words(question.id, 60)} {types}</p></div></header>'
        f'<div class="sides"><div><h4>Missed</h4>{missed_pieces(question.missed)}</div>'
        f"<div><h4>Retrieved instead</h4>{_hits(question.hits, asked, documents)}</div></div></article>"
    )


def missed_pieces(missed: Sequence[Missed]) -> str:
    """What no hit covers, with the rank at which it stands."""
    if not missed:
        return '<p class="none">Nothing is known to be missing.</p>'
    more = len(missed) - _MOST_MISSED
    rest = f'<p class="where">and {counted(more, "more passage")}</p>' if more > 0 else ""
    return "".join(_piece(piece) for piece in missed[:_MOST_MISSED]) + rest


def _piece(piece: Missed) -> str:
    place = piece.passage
    rank = (
        f"stands at <b>rank {piece.rank:,}</b>"
        if piece.rank is not None
        else "is <b>not among the hits</b> that were looked at"
    )
    longer = place.end - place.start > len(piece.text)
    # One more character makes the passage tell that it goes on.
    text = piece.text + (" …" if longer else "")
    return (
        f'<blockquote>{passage(text, 420, 8)}</blockquote><p class="where">{words(place.doc_id, 120)}'
        f" {place.start:,}–{place.end:,} {rank}</p>"
    )


def _hits(hits: Sequence[FoundSpan], asked: set[str], documents: Mapping[str, Document]) -> str:
    if not hits:
        return '<p class="none">Nothing at all.</p>'
    more = len(hits) - _MOST_HITS
    rest = f'<p class="where">and {counted(more, "more hit")}</p>' if more > 0 else ""
    rows = "".join(_hit(hit, asked, documents) for hit in hits[:_MOST_HITS])
    return f'<ol class="hits">{rows}</ol>{rest}'


def _hit(hit: FoundSpan, asked: set[str], documents: Mapping[str, Document]) -> str:
    document = documents.get(hit.doc_id)
    text = (
        f'<p class="text">{passage(hit.summary or document.text[hit.start : hit.end], _TEXT, _LINES)}</p>'
        if document
        else ""
    )
    near = " · right document" if hit.doc_id in asked else ""
    return (
        f'<li><span class="rank">{hit.rank}</span><div><p class="from">{words(hit.doc_id, 120)}</p>'
        f'<p class="where">{hit.start:,}–{hit.end:,} · {counted(hit.tokens, "token")}{near}</p>'
        f'<p class="judged">{_judged(hit)}</p>{text}</div></li>'
    )


def _judged(hit: FoundSpan) -> str:
    """What the judges say, those of one mind together."""
    says: dict[bool | None, list[str]] = {}
    for judge, verdict in hit.relevant.items():
        says.setdefault(verdict, []).append(judge)
    signs = {
        True: ("yes", "●", "relevant"),
        False: ("no", "○", "not relevant"),
        None: ("none", "–", "unscored"),
    }
    told = []
    for verdict, (style, sign, word) in signs.items():
        if judges := says.get(verdict):
            by = f" <small>by {attribute(', '.join(judges), 80)}</small>"
            told.append(
                f'<span class="{style}"><span aria-hidden="true">{sign}</span> {word}{by}</span>'
            )
    return " ".join(told)

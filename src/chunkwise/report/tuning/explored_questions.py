"""Questions with what the choice and a default retrieved for them, side by side, the gold text marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.base.wording import counted
from chunkwise.core import Passage
from chunkwise.report.evaluation.worst import missed_pieces
from chunkwise.report.page_text import attribute, words
from chunkwise.report.tuning.explorer import Answered, ExploredQuestion, Explorer, Retrieved
from chunkwise.report.tuning.forest import signed
from chunkwise.report.tuning.highlight import gold_in, highlighted

MOST = 200
_ROOM = 2_000_000
"""Bytes of HTML for all of them: the page stays one that can be sent by mail."""
_MOST_HITS = 10


def explored_questions(explorer: Explorer) -> str:
    """As many as there is room for, in the order given; the first is open."""
    rows: list[str] = []
    used = 0
    for question in explorer.questions[:MOST]:
        row = _row(question, explorer, opened=not rows)
        used += len(row.encode("utf-8", "replace"))
        if rows and used > _ROOM:
            break
        rows.append(row)
    if not rows:
        return ""
    left = len(explorer.questions) - len(rows)
    rest = (
        f'<p class="hint">{counted(left, "more question")} found no room here.</p>' if left else ""
    )
    heads = "".join(
        f'<th role="columnheader" scope="col" data-sort="{key}" class="{key}">{name}</th>'
        for key, name in (("choice", "choice"), ("default", "default"), ("less", "difference"), ("asked", "question"))
    )  # fmt: skip
    return (
        '<form class="tools" data-for="explored-table" data-noun="question" data-rows="20" hidden>'
        '<label class="wide">Search <input type="search" id="explored" autocomplete="off"'
        ' placeholder="words of a question or its id"></label>'
        '<label>Show <select data-filter="kind"><option value="">all</option>'
        '<option value="worse">choice worse</option>'
        '<option value="better">choice better</option><option value="nothing">choice finds nothing</option></select>'
        '</label><output aria-live="polite"></output></form>'
        f'<div class="card"><table class="questions explored" id="explored-table" role="table">'
        f'<caption>Questions</caption><thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(rows)}</tbody></table>'
        f'<p class="pages"><button type="button" hidden></button></p>{rest}</div>'
    )


def _row(question: ExploredQuestion, explorer: Explorer, *, opened: bool) -> str:
    mine, theirs = question.chosen.score, question.baseline.score
    less = None if mine is None or theirs is None else mine - theirs
    kinds = [name for name, so in (
        ("worse", less is not None and less < 0), ("better", less is not None and less > 0),
        ("nothing", mine is not None and mine <= 0),
    ) if so]  # fmt: skip
    sides = "".join(
        _side(name, label, answered, question.gold, explorer.texts)
        for name, label, answered in (
            ("The choice", explorer.chosen, question.chosen),
            ("The default", explorer.baseline, question.baseline),
        )
    )
    data = "".join(
        f' data-{name}="{"" if value is None else f"{value:.6g}"}"'
        for name, value in (("choice", mine), ("default", theirs), ("less", less))
    )
    return (
        f'<tr role="row" data-kind="{" ".join(kinds)}"{data}>{_score("choice", mine)}{_score("default", theirs)}'
        f'<td role="cell" class="less" data-label="difference">{"" if less is None else signed(less)}</td>'
        f'<td role="cell" class="asked"><details{" open" if opened else ""}><summary data-found data-sorted>'
        f'{words(question.text, 600)}</summary><p class="where" data-found>{words(question.id, 80)}</p>'
        f'<div class="both">{sides}</div></details></td></tr>'
    )


def _score(name: str, score: float | None) -> str:
    shown = '<span class="none">unscored</span>' if score is None else f"<b>{score:.3f}</b>"
    return f'<td role="cell" class="score" data-label="{name}">{shown}</td>'


def _side(
    name: str, label: str, answered: Answered, gold: Sequence[Passage], texts: Mapping[str, str]
) -> str:
    hits = "".join(_hit(hit, gold, texts) for hit in answered.hits[:_MOST_HITS])
    more = len(answered.hits) - _MOST_HITS
    rest = f'<p class="where">and {counted(more, "more hit")}</p>' if more > 0 else ""
    found = (
        f'<ol class="found">{hits}</ol>{rest}' if hits else '<p class="none">Nothing at all.</p>'
    )
    missed = (
        f'<h4 class="apart">Missed</h4>{missed_pieces(answered.missed)}' if answered.missed else ""
    )
    return f'<div><h4 title="{attribute(label, 200)}">{name}</h4>{found}{missed}</div>'


def _hit(hit: Retrieved, gold: Sequence[Passage], texts: Mapping[str, str]) -> str:
    # A summary is text of its own: gold between its first place and its last may lie in none of them.
    own = [
        (low, high)
        for low, high in gold_in(gold, hit.doc_id)
        if low < hit.end and hit.start < high and not hit.summary
    ]
    text, start, end = texts.get(hit.doc_id), hit.start, hit.end
    if hit.summary:
        text, start, end = hit.summary, 0, len(hit.summary)
    shown = f'<p class="text">{highlighted(text, start, end, own)}</p>' if text is not None else ""
    word = '<span class="yes">holds gold text</span>' if own else "a summary" * bool(hit.summary)
    return (
        f'<li{" class=gold" if own else ""}><span class="rank">{hit.rank}</span><div>'
        f'<p class="where"><b>{words(hit.doc_id, 120)}</b> {hit.start:,}–{hit.end:,} {word}</p>{shown}</div></li>'
    )

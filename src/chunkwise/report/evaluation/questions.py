"""Every question of an evaluation as a row of one table, ready to be sorted and searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.base.wording import counted
from chunkwise.evaluation.results import QuestionResult, Results
from chunkwise.report.evaluation.marks import dots, small_bar
from chunkwise.report.page_text import attribute, breakable, words


def questions_table(results: Results) -> str:
    """In the order of the test set; whoever has no script reads all of them."""
    if not results.questions:
        return ""
    types = {
        type: number
        for number, type in enumerate(
            sorted({type for question in results.questions for type in question.types})
        )
    }
    judges = list(
        dict.fromkeys(
            judge
            for question in results.questions
            for hit in question.hits
            for judge in hit.relevant
        )
    )
    rows = "".join(
        _row(question, results.objective, types, judges) for question in results.questions
    )
    heads = "".join(
        f'<th role="columnheader" scope="col" data-sort="{key}"{first}>{name}</th>'
        for key, name, first in (
            ("id", "id", ""),
            ("text", "question", ""),
            ("score", breakable(results.objective) or "score", ""),
            ("hits", "relevant hits", ' data-first="down"'),
        )
    )
    legend = (
        '<p class="hint">Dots are the hits, the best first: <b>●</b> relevant, <b>○</b> not,'
        " <b>–</b> unscored. Open a question to see all of its scores.</p>"
    )
    return (
        f'{_tools(types)}{legend}<div class="card"><table class="questions" id="questions-table" role="table">'
        f"<caption>All {counted(len(results.questions), 'question')}</caption>"
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
        f'<p class="pages"><button type="button" id="more" hidden></button></p></div>'
    )


def _tools(types: Mapping[str, int]) -> str:
    """Hidden until there is a script that makes them work."""
    options = "".join(
        f'<option value="{number}">{attribute(type, 60) or "(no type)"}</option>'
        for type, number in types.items()
    )
    chooser = (
        f'<label>Type <select id="type" data-filter="types"><option value="">all</option>{options}</select></label>'
        if types
        else ""
    )
    return (
        '<form class="tools" data-for="questions-table" data-noun="question" hidden>'
        '<label class="wide">Search <input type="search" id="wanted" autocomplete="off"'
        f' placeholder="words of a question, its id or document"></label>{chooser}'
        '<output id="shown" aria-live="polite"></output></form>'
    )


def _row(
    question: QuestionResult, objective: str, types: Mapping[str, int], judges: Sequence[str]
) -> str:
    score = question.scores.get(objective)
    relevant = sum(any(hit.relevant.values()) for hit in question.hits)
    own = " ".join(str(types[type]) for type in dict.fromkeys(question.types))
    shown = (
        f"<b>{score:.3f}</b>{small_bar(score)}"
        if score is not None
        else f'<span class="none" title="{attribute(question.unscored.get(objective, ""))}">unscored</span>'
    )
    return (
        f'<tr role="row" data-types="{own}" data-score="{"" if score is None else f"{score:.6f}"}"'
        f' data-hits="{relevant}"><th role="rowheader" scope="row" data-found>{words(question.id, 60)}</th>'
        f'<td role="cell" class="asked"><details><summary data-found data-sorted>{words(question.text, 400)}</summary>'
        f'{_more(question)}</details></td><td role="cell" class="score">{shown}</td>'
        f'<td role="cell" class="relevant">{_dots(question, judges)}</td></tr>'
    )


def _more(question: QuestionResult) -> str:
    scores = " · ".join(
        f"{attribute(name)} {'unscored' if score is None else f'{score:.3f}'}"
        for name, score in question.scores.items()
    )
    reasons = "; ".join(dict.fromkeys(question.unscored.values()))
    why = f'<p class="where">Unscored: {attribute(reasons, 400)}.</p>' if reasons else ""
    about = ", ".join(words(name, 120) for name in question.documents[:5])
    told = [words(", ".join(question.types), 200)] if question.types else []
    told += [f'<span class="about" data-found>{about}</span>'] if about else []
    told.append(f"{counted(question.context_tokens, 'token')} of context")
    return f'<p>{scores}</p>{why}<p class="where">{" · ".join(told)}</p>'


def _dots(question: QuestionResult, judges: Sequence[str]) -> str:
    if not question.hits:
        return '<span class="none">no hits</span>'
    shown = []
    for judge in judges:
        verdicts = [hit.relevant.get(judge) for hit in question.hits]
        if any(verdict is not None for verdict in verdicts) or len(judges) == 1:
            ranks = [str(hit.rank) for hit in question.hits if hit.relevant.get(judge)]
            told = (
                f"{judge}: relevant at {', '.join(ranks)}" if ranks else f"{judge}: none relevant"
            )
            name = f"<small>{attribute(judge, 20)}</small>" if len(judges) > 1 else ""
            shown.append(f"<span>{name}{dots(verdicts, told)}</span>")
    return "".join(shown)

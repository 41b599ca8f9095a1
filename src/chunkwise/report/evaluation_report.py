"""The report of an evaluation: how good it is, where it is weakest, the worst questions; then all it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from chunkwise.base.wording import Kind, counted, format_number, shortened
from chunkwise.core import Document
from chunkwise.evaluation.cost import COSTS, cost_label
from chunkwise.evaluation.judge_calibrations import judged_by
from chunkwise.evaluation.results import (
    LATENCY,
    Figure,
    FoundSpan,
    Missed,
    QuestionResult,
    Results,
)
from chunkwise.evaluation.verdicts_and_advice import (
    OUT_OF_REACH,
    four_questions,
    most_reachable,
    type_robustness,
    verdict,
)
from chunkwise.metrics.registry import help_of, kind_of, lower_is_better, metric_of, title_of
from chunkwise.report.format_values import format_value
from chunkwise.report.lint_report import boundary_table
from chunkwise.report.report import (
    Axis,
    Badge,
    Chart,
    Column,
    Estimate,
    Excerpt,
    Headline,
    KeyFigure,
    KeyFigures,
    Level,
    Next,
    Note,
    Point,
    Report,
    ReportPart,
    Section,
    Series,
    TextRun,
    Value,
    ValueTable,
    settings_table,
)
from chunkwise.report.sanitize import few_lines
from chunkwise.testsets.testset import QuestionCounts

_KEY_METRICS, _FEW_METRICS = 6, 10
_LINE = 78
"""Characters of a note that a terminal shows on one line."""
_LEVELS: Mapping[str, Level] = {"excellent": "good", "good": "good", "below": "bad"}
_MOST_HITS = 10
_HIT_CHARACTERS, _HIT_LINES = 360, 3
_RANGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_LLM: Mapping[str, tuple[str, Kind]] = {
    "llm_calls": ("LLM calls", "count"),
    "llm_kept": ("cached verdicts", "count"),
    "llm_failed": ("failed requests", "count"),
    "llm_prompt_tokens": ("LLM input tokens", "count"),
    "llm_output_tokens": ("LLM output tokens", "count"),
    "llm_money": ("paid", "money"),
    "llm_money_per_100_questions": ("cost per 100 questions", "money"),
}


def evaluation_report(
    results: Results,
    documents: Mapping[str, Document] | None = None,
    types: tuple[str, str] | None = None,
    next_command: str = "",
) -> Report:
    """Build the report of an evaluation.

    Args:
        results: What `evaluate` returned.
        documents: By id; the hits of the worst questions are quoted from them.
        types: Two question types to compare, instead of the easiest and the hardest.
        next_command: What to run next.
    """
    parts: list[ReportPart] = [
        *_warnings(results),
        _headline(results, types),
        _key_metrics(results),
        *_question_types(results, types),
        *_worst_questions(results, documents or {}),
        *_unscored(results),
        *_spent(results),
        *_latency(results),
        *_advice(results),
        Section("The four questions", tuple(_four_questions(results)), detail=True),
        Section("All metrics", (_all_metrics(results),), detail=True),
        *_by_document(results),
        *_boundaries(results),
        *_all_questions(results),
        *_certainty(results),
        Section("Cost", (KeyFigures(tuple(_costs(results))),), detail=True),
        Section(
            "Made with",
            (
                settings_table("Configuration", results.configuration),
                settings_table("Data", results.data),
                settings_table("Versions", results.versions),
            ),
            is_folded=True,
            detail=True,
        ),
        *([Next(next_command)] if next_command else []),
    ]
    return Report(results.label, tuple(parts), "evaluation", _subtitle(results))


def estimate_of(figure: Figure) -> Estimate:
    return Estimate(figure.mean, figure.low, figure.high)


def _rating(results: Results, name: str, grade: str) -> Badge | str:
    """Excellent, good, below: in a color; the best possible score where these chunks cannot be good."""
    if grade == OUT_OF_REACH and (most := most_reachable(results, name)) is not None:
        grade = f"best possible {format_number(most, 'score')}"
    return Badge(grade, _LEVELS.get(grade, "tie")) if grade else ""


def _subtitle(results: Results) -> str:
    settings = results.configuration
    budget = settings.get("budget")
    handed = (
        f"{counted(budget, 'token')} per question"
        if isinstance(budget, int)
        else f"k={settings.get('k')}"
    )
    known = results.data.get("documents")
    count = known.get("count") if isinstance(known, Mapping) else None
    asked = counted(len(results.questions), "question")
    in_documents = f" · {counted(count, 'document')}" if isinstance(count, int) else ""
    return f"{handed} · {asked}{in_documents}"


def _warnings(results: Results) -> Iterator[Note]:
    if note := QuestionCounts.of(results.data.get("questions")).note:
        yield Note(note, is_warning=True)
    left = results.data.get("questions")
    count = left.get("left_out") if isinstance(left, Mapping) else None
    if isinstance(count, int) and count:
        yield Note(f"{counted(count, 'question')} left out", is_warning=True)


def _headline(results: Results, types: tuple[str, str] | None) -> Headline:
    name = results.objective
    figure = results.summary.get(name)
    if figure is None or figure.mean is None:
        return Headline(f"{name} is unscored.", "bad")
    grade = figure.verdict or verdict(name, figure.mean)
    text = f"{name} {format_value(estimate_of(figure), kind_of(name))}"
    text += f", {grade}." if grade else "."
    groups = _hardest_first(results, results.by_type)
    if groups:
        hardest, its = groups[0]
        value = format_number(its.mean or 0.0, kind_of(name))
        if (its.mean or 0.0) != figure.mean:
            text += f" Weakest: {shortened(hardest or 'untyped', 40)} questions, {value}."
    return Headline(text, _LEVELS.get(grade, ""))


def _key_metrics(results: Results) -> ValueTable:
    """The objective, then what answers the four questions, then other scores: six of many, or all of few."""
    chosen = [results.objective]
    for question in four_questions(results):
        answers = [
            question.name_of(method)
            for method, figure in question.figures.items()
            if figure.mean is not None
        ]
        chosen += [name for name in answers if not _is_guess(name)][:1] or answers[:1]
    scored = [name for name, figure in results.summary.items() if figure.mean is not None]
    names = [name for name in dict.fromkeys([*chosen, *scored]) if name in results.summary]
    if len(names) > _FEW_METRICS:
        named = [name for name in names[_KEY_METRICS:] if _is_asked_for(name)]
        names = [*names[:_KEY_METRICS], *named]
    grades = {
        question.name_of(method): figure.verdict
        for question in four_questions(results)
        for method, figure in question.figures.items()
    }
    figures = {name: results.summary[name] for name in names}
    rows: list[tuple[Value, ...]] = [
        (
            directed(name),
            _cell(name, figure),
            _rating(results, name, grades.get(name, "") or figure.verdict),
        )
        for name, figure in figures.items()
    ]
    columns = (Column("metric", "code"), Column("score", "score", is_drawn=True), Column("rating"))
    if not any(figure.mean is not None and figure.unscored for figure in figures.values()):
        return ValueTable(columns, tuple(rows))
    # A mean over some of the questions may be one over the easy ones.
    counts = [figure.of_how_many or "all" for figure in figures.values()]
    counted_rows = tuple((*row, count) for row, count in zip(rows, counts, strict=True))
    return ValueTable((*columns, Column("scored")), counted_rows)


def _is_asked_for(name: str) -> bool:
    """Whether somebody named its judge or wrote it: nobody wants to look for it."""
    known = metric_of(name)
    return known is None or bool(known.asks)


def _is_guess(name: str) -> bool:
    """Whether another metric knows what this one guesses."""
    known = metric_of(name)
    return bool(known and known.known_better_by)


def _cell(name: str, figure: Figure) -> Value:
    estimate = estimate_of(figure)
    return estimate if kind_of(name) == "score" else format_value(estimate, "number")


def directed(name: str) -> str:
    return f"{name} ↓" if lower_is_better(name) else name


def _hardest_first(
    results: Results, groups: Mapping[str, Mapping[str, Figure]]
) -> list[tuple[str, Figure]]:
    """By the objective; nothing where there are not two."""
    scored = [
        (name, figure)
        for name, figures in groups.items()
        if (figure := figures.get(results.objective)) and figure.mean is not None
    ]
    sign = -1 if lower_is_better(results.objective) else 1
    return (
        sorted(scored, key=lambda pair: (sign * (pair[1].mean or 0.0), pair[0]))
        if len(scored) > 1
        else []
    )


def _question_types(results: Results, types: tuple[str, str] | None) -> Iterator[ReportPart]:
    groups = _hardest_first(results, results.by_type)
    if not groups:
        return
    yield _group_table(
        "Question types, weakest first", "question type", groups, results, brief_rows=3
    )
    spread = type_robustness(results, types)
    if spread is None or (spread.drop <= 0 and types is None):
        return
    drop = format_value(Estimate(spread.drop, spread.low, spread.high), "change").removeprefix("+")
    proved = "" if spread.is_shown else "; not significant"
    yield Note(
        f"From {shortened(spread.easiest, 40)} to {shortened(spread.hardest, 40)} questions "
        f"{results.objective} drops by {drop}{proved}.",
        detail=types is None,
    )  # fmt: skip


def _group_table(
    title: str,
    head: str,
    groups: Sequence[tuple[str, Figure]],
    results: Results,
    *,
    brief_rows: int = 10,
) -> ValueTable:
    columns = (
        Column(head),
        Column(results.objective, kind_of(results.objective), is_drawn=True),
        Column("questions", "count"),
    )
    rows = tuple((name or "(none)", estimate_of(figure), figure.scored) for name, figure in groups)
    return ValueTable(columns, rows, title, head, brief_rows=brief_rows)


def _by_document(results: Results) -> Iterator[ReportPart]:
    if groups := _hardest_first(results, results.by_document):
        table = _group_table("", "document", groups, results)
        yield Section("Documents, weakest first", (table,), detail=True)


def _worst_questions(results: Results, documents: Mapping[str, Document]) -> Iterator[ReportPart]:
    by_id = {question.id: question for question in results.questions}
    worst = [by_id[id] for id in results.worst if id in by_id]
    if not worst:
        return
    columns = (
        Column(results.objective, kind_of(results.objective)),
        Column("question"),
        Column("missed"),
    )
    rows = tuple(
        (question.scores.get(results.objective), question.text, _missed_place(question.missed))
        for question in worst
    )
    details = tuple(_question_details(question, documents) for question in worst)
    yield ValueTable(columns, rows, "Worst questions", details=details, brief_rows=3)


def _missed_place(missed: Sequence[Missed]) -> str:
    if not missed:
        return ""
    first = missed[0]
    return f"rank {first.rank}" if first.rank else "not found"


def _question_details(
    question: QuestionResult, documents: Mapping[str, Document]
) -> tuple[ReportPart, ...]:
    """What was missed beside what was retrieved instead."""
    missed = Section("Missed", tuple(map(missed_excerpt, question.missed)))
    right = {piece.doc_id for piece in question.missed} or set(question.documents)
    hits: list[ReportPart] = [_hit(hit, right, documents) for hit in question.hits[:_MOST_HITS]]
    if not hits:
        hits = [Note("No hits.")]
    if len(question.hits) > _MOST_HITS:
        hits.append(Note(f"{len(question.hits) - _MOST_HITS} more hits"))
    return (Section("", (missed, Section("Retrieved", tuple(hits))), is_beside=True),)


def missed_excerpt(piece: Missed) -> Excerpt:
    """Gold text that no hit covers."""
    rank = f"rank {piece.rank}" if piece.rank else "not among the hits"
    more = " …" if piece.end - piece.start > len(piece.text) else ""
    return Excerpt(
        (TextRun(piece.text + more, "gold"),),
        piece.doc_id,
        f"{piece.start:,}–{piece.end:,} · {rank}",
        "bad",
    )


def _hit(hit: FoundSpan, right: set[str], documents: Mapping[str, Document]) -> Excerpt:
    document = documents.get(hit.doc_id)
    text = (hit.summary or document.text[hit.start : hit.end]) if document else ""
    verdicts = [
        f"{'relevant' if is_relevant else 'not relevant'} by {judge}"
        for judge, is_relevant in hit.relevant.items()
        if is_relevant is not None
    ]
    in_right = "right document" if any(place.doc_id in right for place in hit.places) else ""
    place = [
        f"{hit.rank}. {hit.start:,}–{hit.end:,}", counted(hit.token_count, "token"), in_right, *verdicts
    ]  # fmt: skip
    shown = few_lines(text, _HIT_CHARACTERS, _HIT_LINES)
    level: Level = "good" if any(hit.relevant.values()) else ""
    return Excerpt((TextRun(shown),), hit.doc_id, " · ".join(filter(None, place)), level)


def _unscored(results: Results) -> Iterator[Note]:
    """Metrics without any score, in one line."""
    reasons = Counter(
        next(iter(figure.unscored), "no score")
        for figure in results.summary.values()
        if figure.mean is None
    )
    if reasons:
        named = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
        note = f"{counted(reasons.total(), 'metric')} not computed: {named}"
        yield Note(shortened(note, _LINE))


def reason_of(figure: Figure) -> str:
    """Why questions have no score, the most common reason first."""
    reasons = sorted(figure.unscored.items(), key=lambda pair: (-pair[1], pair[0]))
    named = [
        f"{shortened(reason, 300)} ({count:,})" if len(reasons) > 1 else shortened(reason, 300)
        for reason, count in reasons[:3]
    ]
    return "; ".join(named) or "no score"


def _spent(results: Results) -> Iterator[Note]:
    """What a language model was asked."""
    timing = results.timing
    if "llm_calls" not in timing:
        return
    read, written = timing.get("llm_prompt_tokens", 0.0), timing.get("llm_output_tokens", 0.0)
    text = f"language model: {counted(timing['llm_calls'], 'call')}, {counted(read + written, 'token')}"
    money = timing.get("llm_money")
    yield Note(f"{text}, {format_number(money, 'money')} paid" if money else text)


def _latency(results: Results) -> Iterator[Note]:
    """How long a question took a retriever of the user's own."""
    shown = [
        f"{name.removeprefix(LATENCY)} {format_number(seconds, 'seconds')}"
        for name, seconds in results.timing.items()
        if name.startswith(LATENCY)
    ]
    if shown:
        yield Note(f"retriever latency: {', '.join(shown)}")


def _advice(results: Results) -> Iterator[ReportPart]:
    if results.advice:
        notes = tuple(Note(advice.text) for advice in results.advice)
        yield Section("Suggestions", notes, detail=True)


def _four_questions(results: Results) -> Iterator[ReportPart]:
    columns = (
        Column("metric", "code"), Column("score", "score", is_drawn=True), Column("rating"), Column("remarks"),
    )  # fmt: skip
    for question in four_questions(results):
        rows = []
        for method, figure in question.figures.items():
            name = question.name_of(method)
            rating = _rating(results, name, figure.verdict)
            rows.append((name, _cell(name, figure), rating, _remark(results, name, figure)))
        yield ValueTable(columns, tuple(rows), question.question)


def _remark(results: Results, name: str, figure: Figure) -> str:
    """Who judged, what is not scored and why, and how far the score could rise."""
    if figure.mean is None:
        return reason_of(figure)
    most = most_reachable(results, name)
    remarks = [
        judged_by(results, name),
        f"at most {format_number(most, 'score')} with these chunks" if most is not None else "",
        f"{figure.of_how_many}: {reason_of(figure)}" if figure.unscored else "",
        *(f"{counted(count, 'hit')} unjudged: {reason}" for reason, count in figure.unjudged_hits.items()),
    ]  # fmt: skip
    return "; ".join(filter(None, remarks))


def _all_metrics(results: Results) -> ValueTable:
    rows = []
    for name, figure in results.summary.items():
        metric = metric_of(name)
        of_chunking = metric is not None and metric.per == "chunking"
        about = " ".join(filter(None, (help_of(name), _remark(results, name, figure))))
        rows.append(
            (
                directed(name),
                title_of(metric) if metric else "Others",
                _cell(name, figure),
                None if of_chunking else figure.scored,
                about,
            )
        )
    columns = (
        Column("metric", "code"), Column("group", is_filter=True), Column("score", "score", is_drawn=True),
        Column("questions", 'count'), Column("about"),
    )  # fmt: skip
    return ValueTable(columns, tuple(rows), noun="metric", brief_rows=100)


def _boundaries(results: Results) -> Iterator[ReportPart]:
    if results.cuts is not None and results.cuts.chunks:
        yield Section("Boundary issues", tuple(boundary_table(results.cuts)), detail=True)


def _all_questions(results: Results) -> Iterator[ReportPart]:
    if not results.questions:
        return
    objective = results.objective
    judges = list(
        dict.fromkeys(judge for question in results.questions for hit in question.hits for judge in hit.relevant)
    )  # fmt: skip
    columns = (
        Column("id", "code"), Column("type", is_filter=True), Column(objective, kind_of(objective), is_drawn=True),
        *(Column(f"hits by {judge}") for judge in judges), Column("question"),
    )  # fmt: skip
    rows = tuple(
        (
            question.id,
            question.types,
            question.scores.get(objective),
            *(_dots(question, judge) for judge in judges),
            question.text,
        )
        for question in results.questions
    )
    details = tuple(_scores(question) for question in results.questions)
    table = ValueTable(columns, rows, noun="question", details=details)
    yield Section(
        "All questions",
        (*_distribution(results), table),
        "● relevant, ○ not relevant, – unscored; best hit first." if judges else "",
        detail=True,
    )


def _dots(question: QuestionResult, judge: str) -> str:
    signs = {True: "●", False: "○", None: "–"}
    return "".join(signs[hit.relevant.get(judge)] for hit in question.hits)


def _scores(question: QuestionResult) -> tuple[ReportPart, ...]:
    """In a line: a page may have thousands of questions."""
    scores = [
        f"{name} {format_value(value, kind_of(name))}" for name, value in question.scores.items()
    ]
    context = f"{counted(question.context_tokens, 'token')} of context"
    notes = [" · ".join(scores), " · ".join([context, *question.documents])]
    reasons = dict.fromkeys(question.unscored.values())
    notes += [f"not scored: {'; '.join(reasons)}"] if reasons else []
    return tuple(map(Note, notes))


def _distribution(results: Results) -> Iterator[ReportPart]:
    scores = [question.scores.get(results.objective) for question in results.questions]
    known = [score for score in scores if score is not None]
    if not known or kind_of(results.objective) != "score":
        return
    points = []
    for low, high in zip((-1.0, *_RANGES), (*_RANGES, 1.0), strict=True):
        if low == high:
            name, count = "100%", sum(score >= 1 for score in known)
        elif low < 0:
            name, count = "0%", sum(score <= 0 for score in known)
        else:
            name = f"under {format_number(high, 'score')}"
            count = sum(low < score < high if low == 0 else low <= score < high for score in known)
        level: Level = "bad" if low < 0 else "" if low == high else "tie"
        points.append(Point(name, Estimate(count), level=level))
    yield Chart(
        f"Questions by {results.objective}", "columns", Axis("score per question"), Axis("questions", 'count'),
        (Series("", tuple(points)),), is_half=True,
    )  # fmt: skip


def _certainty(results: Results) -> Iterator[ReportPart]:
    parts: list[ReportPart] = []
    least = results.detectable.get(results.objective)
    if least is not None:
        shown = format_number(least, "change").removeprefix("+")
        asked = counted(len(results.questions), "question")
        yield Note(f"With {asked}, the minimum detectable difference is about {shown}.")
        rows = tuple(results.detectable.items())
        columns = (Column("metric", "code"), Column("minimum detectable difference", "change"))
        parts.append(
            ValueTable(columns, rows, "Minimum detectable difference (80% power, 5% level, paired)")
        )
    if results.agreement:
        heads = (
            Column("judges"),
            Column("Cohen’s κ", "number"),
            Column("agreement", "share"),
            Column("hits", "count"),
        )
        pairs = tuple(
            (
                f"{agreement.first} and {agreement.second}",
                agreement.kappa,
                agreement.same,
                agreement.hits,
            )
            for agreement in results.agreement
        )
        parts.append(ValueTable(heads, pairs, "Judge agreement"))
    if parts:
        yield Section("Statistical power", tuple(parts), is_beside=True, detail=True)


def _costs(results: Results) -> Iterator[KeyFigure]:
    for name, value in results.cost.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield KeyFigure(
                cost_label(name), value, COSTS[name].kind if name in COSTS else "number"
            )
        elif value is not None:
            yield KeyFigure(cost_label(name), str(value))
    for name, value in results.timing.items():
        title, kind = _timing(name)
        yield KeyFigure(title, value, kind)


def _timing(name: str) -> tuple[str, Kind]:
    if name in _LLM:
        return _LLM[name]
    if name.startswith(LATENCY):
        return f"latency, {name.removeprefix(LATENCY)}", "seconds"
    for key, (title, kind) in _LLM.items():
        if name.startswith(f"{key}."):
            return f"{title}: {name.partition('.')[2]}", kind
    if name.startswith("llm_tokens."):
        return f"tokens: {name.partition('.')[2]}", "count"
    return f"time to {name}" if name.islower() else name, "seconds"

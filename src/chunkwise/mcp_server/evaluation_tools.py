"""The tools that measure: `lint`, `evaluate`, `compare`; and `update_index`, where writing is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.base.wording import counted, thousands
from chunkwise.evaluation.compare import compare as compare_results
from chunkwise.evaluation.evaluate import evaluate as evaluate_index
from chunkwise.evaluation.lint import Linter, lint_subject
from chunkwise.evaluation.results import Figure, QuestionResult, Results, read_results
from chunkwise.evaluation.scoring import Listeners
from chunkwise.mcp_server.fenced_text import (
    Quotation,
    TextBudget,
    ToolAnswer,
    answer_text,
    as_line,
    quoted,
    shown_id,
)
from chunkwise.mcp_server.search_tools import StrategySpec, Strings
from chunkwise.mcp_server.workspace import ToolCall, Workspace
from chunkwise.options import LintOptions, SearchOptions
from chunkwise.report.comparison_report import comparison_report
from chunkwise.report.evaluation_report import evaluation_report
from chunkwise.report.lint_report import LintSample, lint_report
from chunkwise.report.runs_report import run_difference_report
from chunkwise.report.to_terminal import terminal_text
from chunkwise.studio.documents import requested_strategy
from chunkwise.studio.serve_endpoints import MOST_QUESTIONS

if TYPE_CHECKING:
    from chunkwise.core import Document
    from chunkwise.core import Query as TestQuery
    from chunkwise.evaluation.lint import LocatedIssue

_MAX_PROBLEMS = 20
_MAX_SCORED = 100
"""Questions whose scores are in one answer."""

Metrics = Annotated[Strings, Field(description="metric names; default: all that need no LLM")]


def _report(text: str, *more: str) -> str:
    """Reports quote documents and questions: all of it goes between marks."""
    shown, is_whole = TextBudget().cut(text)
    return answer_text(
        *quoted([Quotation(shown, "report")]),
        *more,
        "" if is_whole else "The report is truncated here.",
    )


@dataclass(frozen=True)
class LintedIssue:
    """One bad chunk boundary."""

    kind: str
    doc_id: str
    chunk: int
    offset: int
    before: str
    after: str


@dataclass(frozen=True)
class LintAnswer:
    """Boundary issues of chunks."""

    label: str
    documents: int
    chunks: int
    with_issues: int
    counts: Mapping[str, int]
    issues: tuple[LintedIssue, ...]
    left_out: int
    problems: tuple[str, ...]


def lint(
    workspace: Workspace,
    call: ToolCall,
    path: Annotated[
        str,
        Field(description="a file or folder of the project; default: the chunks of the index"),
    ] = "",
    strategy: StrategySpec = "",
    kinds: Annotated[
        Strings,
        Field(description="kinds of issues, such as mid_sentence, split_table; default: all"),
    ] = [],  # noqa: B006
    most: Annotated[int, Field(ge=0, le=200, description="maximum issues to show")] = 20,
) -> ToolAnswer[LintAnswer]:
    """Find where chunks of the index, or of files of the project folder, are cut badly.

    Words, sentences, lists, tables and code cut in two, headings left behind. No questions are needed.
    """
    if strategy and not path:
        raise InvalidParameter(
            "a strategy needs a path, since the index stores its chunks; leave it out, or give "
            "files"
        )
    linter = Linter(kinds or None)
    sample, issues, problems = LintSample(most), list[LintedIssue](), list[str]()
    budget, documents, left_out = TextBudget(), 0, 0

    def name_of(issue: LocatedIssue) -> str:
        return workspace.shown(issue.source) if path else issue.doc_id

    def add(outcomes: Any, total: int) -> None:
        nonlocal documents, left_out
        with call.stages("examining", total) as advance:
            for outcome in outcomes:
                if isinstance(outcome, UnreadableDocument):
                    problems.append(str(outcome))
                    continue
                located = linter.add(outcome)
                documents += 1
                sample.add(outcome.document, located)
                shown = located[: max(0, most - len(issues))]
                issues.extend(_issue(issue, name_of(issue), budget) for issue in shown)
                left_out += len(located) - len(shown)
                advance(1, outcome.document.id)

    if path:
        place = workspace.path(path)
        cutter = requested_strategy(strategy, 0) if strategy else None
        subject = lint_subject(
            [str(place)], LintOptions(strategy=cutter), options=workspace.loading(place)
        )
        add(subject.outcomes, 0)
    else:
        with workspace.index_of_its_own(call) as index:
            subject = lint_subject(index)
            add(subject.outcomes, len(index))
    if not documents:
        raise ChunkwiseError(problems[0] if problems else "no documents to check")
    cuts, label = linter.tally.cuts(), subject.strategy.label
    answer = LintAnswer(
        as_line(label), documents, cuts.chunks, cuts.with_issues, dict(cuts.counts), tuple(issues), left_out,
        _shortened(map(workspace.shown, problems)),
    )  # fmt: skip
    text = terminal_text(lint_report(cuts, label, sample.chosen()))
    return ToolAnswer(_report(workspace.shown(text), *answer.problems), answer)


def _issue(issue: LocatedIssue, name: str, budget: TextBudget) -> LintedIssue:
    before, _ = budget.cut(as_line(issue.before))
    after, _ = budget.cut(as_line(issue.after))
    return LintedIssue(issue.kind, shown_id(name), issue.chunk, issue.offset, before, after)


def _shortened(lines: Iterable[str]) -> tuple[str, ...]:
    problems = [as_line(line) for line in lines]
    more = len(problems) - _MAX_PROBLEMS
    return (*problems[:_MAX_PROBLEMS], *([f"… and {thousands(more)} more"] if more > 0 else []))


@dataclass(frozen=True)
class ScoredQuery:
    """One question, by metric; None: it could not be scored."""

    id: str
    query: str
    scores: Mapping[str, float | None]
    missed: int
    """Passages that no hit has."""


@dataclass(frozen=True)
class EvaluationAnswer:
    """Scores with 95% confidence intervals, and those of every question."""

    label: str
    objective: str
    figures: Mapping[str, Figure]
    questions: tuple[ScoredQuery, ...]
    """The worst first."""
    left_out: int
    problems: tuple[str, ...]
    run: int | None
    """Its number in the history, if it was stored."""


def evaluate(
    workspace: Workspace,
    call: ToolCall,
    questions: Annotated[
        list[dict[str, Any]],
        Field(
            max_length=MOST_QUESTIONS,
            description='records such as {"query": "…", "relevant_text": "…"}; or pass a file',
        ),
    ] = [],  # noqa: B006
    test_queries: Annotated[
        str, Field(description="a file of questions in the project folder")
    ] = "",
    search: SearchOptions = SearchOptions(),
    metrics: Metrics = [],  # noqa: B006
    keep: Annotated[bool, Field(description="save the run in the project's history")] = False,
) -> ToolAnswer[EvaluationAnswer]:
    """Measure with 95% intervals how well the index retrieves the known passages of questions; no LLM is called."""
    if keep:
        workspace.refuse_writing("keep")
    if bool(questions) == bool(test_queries):
        raise InvalidParameter("give questions, or a file of questions as test_queries")
    asked: Any = questions
    if test_queries:
        asked = str(workspace.file(test_queries))
    problems: list[str] = []
    documents: list[Document] = []
    queries: list[TestQuery] = []
    listeners = Listeners(
        on_bad=problems.append,
        on_documents=documents.extend,
        on_questions=queries.extend,
        stages=call.stages,
    )
    with workspace.index_of_its_own(call) as index:
        results = evaluate_index(
            index, asked, metrics=metrics or "all", search=search, listeners=listeners
        )
    call.check()
    run = None
    if keep:
        run = workspace.known_history().keep(results, documents=documents, queries=queries).number
    scored = _worst_first(results)
    answer = EvaluationAnswer(
        as_line(results.label), results.objective, dict(results.summary), scored[:_MAX_SCORED],
        max(0, len(scored) - _MAX_SCORED), _shortened(map(workspace.shown, problems)), run,
    )  # fmt: skip
    by_id = {document.id: document for document in documents}
    text = terminal_text(evaluation_report(results, by_id))
    stored = f"Saved as run {run}." if run is not None else ""
    return ToolAnswer(_report(text, *answer.problems, stored), answer)


def _worst_first(results: Results) -> tuple[ScoredQuery, ...]:
    def score(question: QuestionResult) -> float:
        value = question.scores.get(results.objective)
        return 2.0 if value is None else value

    return tuple(
        ScoredQuery(
            as_line(question.id),
            as_line(question.text),
            dict(question.scores),
            len(question.missed),
        )
        for question in sorted(results.questions, key=score)
    )


@dataclass(frozen=True)
class MetricVerdict:
    """The difference of a metric and its verdict."""

    metric: str
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True)
class CompareAnswer:
    """One run against another."""

    before: str
    after: str
    questions: int | None
    """In both runs; None: unknown."""
    metrics: tuple[MetricVerdict, ...]
    warnings: tuple[str, ...]
    """Warnings about limited comparability."""


def compare(
    workspace: Workspace,
    call: ToolCall,
    before: Annotated[
        str,
        Field(min_length=1, description="a result file, or the number of a run, such as 12"),
    ],
    after: Annotated[str, Field(min_length=1, description="a second run of the same kind")],
    metrics: Metrics = [],  # noqa: B006
) -> ToolAnswer[CompareAnswer]:
    """Compare two runs on the same questions: two files of results, or two runs of the history by their numbers."""
    names = before, after
    numbers = [re.fullmatch(r"#?([0-9]{1,9})", name) for name in names]
    if all(numbers):
        first, second = (int(number[1]) for number in numbers if number)
        return _compare_in_history(workspace, first, second)
    if any(numbers):
        raise InvalidParameter(
            f"{as_line(before)!r} and {as_line(after)!r} mix a file and a number; give two files "
            "or two numbers"
        )
    runs = [read_results(workspace.file(name)) for name in names]
    call.check()
    comparison = compare_results(runs, metrics=metrics or None, sources=names)
    contrast = comparison.contrasts[0]
    answer = CompareAnswer(
        as_line(comparison.runs[0].label), as_line(comparison.runs[1].label), contrast.questions,
        tuple(
            MetricVerdict(
                name, metric.first, metric.second, metric.difference.mean, metric.corrected.low,
                metric.corrected.high, metric.verdict,
            )
            for name, metric in contrast.metrics.items()
        ),
        tuple(map(as_line, comparison.warnings)),
    )  # fmt: skip
    return ToolAnswer(_report(terminal_text(comparison_report(comparison))), answer)


def _compare_in_history(workspace: Workspace, before: int, after: int) -> ToolAnswer[CompareAnswer]:
    if before == after:
        raise InvalidParameter(f"cannot compare run {before} with itself; give two runs")
    history = workspace.known_history()
    difference = history.difference(before, after)
    verdicts = tuple(
        MetricVerdict(
            name, metric.before, metric.after, metric.difference, metric.paired.low if metric.paired else None,
            metric.paired.high if metric.paired else None, as_line(metric.words),
        )
        for name, metric in difference.metrics.items()
    )  # fmt: skip
    changes = tuple(map(as_line, difference.changes.words))
    labels = as_line(history.run(before).label), as_line(history.run(after).label)
    text = terminal_text(run_difference_report(history, before, after))
    return ToolAnswer(_report(text), CompareAnswer(*labels, None, verdicts, changes))


@dataclass(frozen=True)
class UpdateAnswer:
    """What the update did."""

    added: int
    changed: int
    unchanged: int
    documents: int
    """In the index now."""
    problems: tuple[str, ...]


def update_index(
    workspace: Workspace,
    call: ToolCall,
    paths: Annotated[
        Strings, Field(min_length=1, description="files or folders in the project folder")
    ],
) -> ToolAnswer[UpdateAnswer]:
    """Read new and changed files of the project folder into the index; its other documents stay."""
    workspace.refuse_writing("update_index")
    if not workspace.sources.index:
        raise InvalidParameter(
            "this index is in memory; create a permanent one with `chunkwise index`"
        )
    places = [workspace.path(path) for path in paths]
    problems: list[str] = []
    options = replace(
        workspace.loading(*places),
        on_unreadable=lambda problem: problems.append(str(problem)),
    )
    with workspace.index_of_its_own(call) as index, call.stages("indexing", 0) as advance:
        update = index.update(
            [str(place) for place in places], options=options, keep_others=True, advance=advance,
        )  # fmt: skip
        answer = UpdateAnswer(
            update.added, update.changed, update.unchanged, len(index),
            _shortened(map(workspace.shown, problems)),
        )  # fmt: skip
    summary = (
        f"{counted(answer.added, 'document')} added, {thousands(answer.changed)} changed, "
        f"{thousands(answer.unchanged)} unchanged; the index has "
        f"{counted(answer.documents, 'document')}."
    )
    return ToolAnswer("\n".join((*answer.problems, summary)), answer)

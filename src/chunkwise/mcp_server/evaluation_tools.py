"""The tools that measure: `lint`, `evaluate`, `compare`; and `update_index`, where writing is allowed."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkwise.base.allow_hosts_and_code_from_files import unmarked
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.base.parameters import param
from chunkwise.base.wording import counted, thousands
from chunkwise.evaluation.compare import compare as compared
from chunkwise.evaluation.evaluate import evaluate as evaluated
from chunkwise.evaluation.lint import Linter, lint_subject
from chunkwise.evaluation.results import Figure, Json, QuestionResult, Results, read_results
from chunkwise.evaluation.scoring_options import Listeners
from chunkwise.mcp_server.fenced_text import (
    NOTICE,
    Quotation,
    TextBudget,
    answer_text,
    as_line,
    quoted,
    shown_id,
)
from chunkwise.mcp_server.tool import (
    WHERE,
    AssistantTool,
    ToolAnswer,
    retriever_param,
    strategy_param,
)
from chunkwise.mcp_server.workspace import ToolCall, Workspace
from chunkwise.report.terminal.comparison import render_comparison
from chunkwise.report.terminal.evaluation import render_evaluation
from chunkwise.report.terminal.history import render_run_difference
from chunkwise.report.terminal.lint import render_lint
from chunkwise.report.views.comparison import comparison_view
from chunkwise.report.views.evaluation import evaluation_view
from chunkwise.report.views.history import run_difference_view
from chunkwise.report.views.lint import LintSample, lint_view
from chunkwise.studio.documents import requested_strategy
from chunkwise.studio.serve_endpoints import MOST_QUESTIONS

if TYPE_CHECKING:
    from rich.console import Console

    from chunkwise.core import Document, Query
    from chunkwise.evaluation.lint import LocatedIssue

_WIDTH = 110
_MOST_PROBLEMS = 20
_MOST_SCORED = 100
"""Questions whose scores are in one answer."""


def drawn(draw: Callable[[Console], None]) -> str:
    """What a command would print, without colours."""
    from rich.console import Console

    out = io.StringIO()
    draw(Console(file=out, width=_WIDTH, color_system=None, legacy_windows=False))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n")


def _report(text: str, *more: str) -> str:
    """Reports quote documents and questions: all of it stands between marks."""
    shown, is_whole = TextBudget().cut(text)
    return answer_text(
        *quoted([Quotation(shown, "report")]), *more, "" if is_whole else "The report is cut here."
    )


@dataclass(frozen=True, kw_only=True)
class LintArguments:
    """The chunks of the index, or files of the project as a strategy cuts them."""

    path: str = param("", "a file or folder of the project; empty: the chunks of the index")
    strategy: str = strategy_param()
    kinds: tuple[str, ...] = param(
        (), "kinds of issues, such as mid_sentence, split_table; none: all"
    )
    most: int = param(20, "issues that are shown", low=0, high=200)


@dataclass(frozen=True, slots=True)
class LintedIssue:
    """One cut that hurts."""

    kind: str
    doc_id: str
    chunk: int
    offset: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class LintAnswer:
    """What the cuts are like."""

    label: str
    documents: int
    chunks: int
    with_issues: int
    counts: Mapping[str, int]
    issues: tuple[LintedIssue, ...]
    left_out: int
    problems: tuple[str, ...]


def lint(workspace: Workspace, request: LintArguments, call: ToolCall) -> ToolAnswer:
    """No questions are needed."""
    if request.strategy and not request.path:
        raise InvalidParameter(
            "a strategy is given without a path; the index has its chunks already: leave it out, or name files"
        )
    linter = Linter([str(kind) for kind in request.kinds] or None)
    sample, issues, problems = LintSample(request.most), list[LintedIssue](), list[str]()
    budget, documents, left_out = TextBudget(), 0, 0

    def add(outcomes: Any, total: int) -> None:
        nonlocal documents, left_out
        with call.stages("examining", total) as advance:
            for each in outcomes:
                if isinstance(each, UnreadableDocument):
                    problems.append(str(each))
                    continue
                found = linter.add(each)
                documents += 1
                sample.add(each.document, len(each.chunks), found)
                taken = _issues(found, request.most - len(issues), budget)
                issues.extend(taken)
                left_out += len(found) - len(taken)
                advance(1, each.document.id)

    if request.path:
        place = workspace.path(str(request.path))
        strategy = requested_strategy(request.strategy, 0) if request.strategy else None
        subject = lint_subject([str(place)], strategy, options=workspace.loading(place))
        add(subject.outcomes, 0)
    else:
        with workspace.index_of_its_own(call) as index:
            subject = lint_subject(index)
            add(subject.outcomes, len(index))
    if not documents:
        raise ChunkwiseError(problems[0] if problems else "there is no document to examine")
    cuts, label = linter.tally.cuts(), subject.strategy.label
    answer = LintAnswer(
        as_line(label), documents, cuts.chunks, cuts.with_issues, dict(cuts.counts), tuple(issues), left_out,
        _few(map(workspace.shown, problems)),
    )  # fmt: skip
    text = drawn(lambda console: render_lint(lint_view(sample, cuts, label), console))
    return ToolAnswer(_report(workspace.shown(text), *answer.problems), answer)


def _issues(found: Sequence[LocatedIssue], most: int, budget: TextBudget) -> list[LintedIssue]:
    taken = []
    for each in found[: max(0, most)]:
        before, _ = budget.cut(as_line(each.before))
        after, _ = budget.cut(as_line(each.after))
        taken.append(
            LintedIssue(each.kind, shown_id(each.doc_id), each.chunk, each.offset, before, after)
        )
    return taken


def _few(lines: Iterable[str]) -> tuple[str, ...]:
    problems = list(lines)
    more = len(problems) - _MOST_PROBLEMS
    told = [as_line(each) for each in problems[:_MOST_PROBLEMS]]
    return (*told, f"… and {thousands(more)} more") if more > 0 else tuple(told)


@dataclass(frozen=True, kw_only=True)
class EvaluateArguments:
    """Questions with their references, and how they are searched for."""

    questions: tuple[Mapping[str, Json], ...] = param(
        (), 'records such as {"query": "…", "relevant_text": "…"}; or none, and a file'
    )
    test_queries: str = param("", "a file of questions in the project folder")
    retriever: str = retriever_param()
    budget: int | None = param(
        None, "tokens of the hits for a question; none: k hits", low=1, high=100_000
    )
    k: int | None = param(
        None,
        "hits for a question; 5 without a budget (multiscale, graph: 1,000 tokens)",
        low=1,
        high=1_000,
    )
    where: tuple[str, ...] = param((), WHERE)
    metrics: tuple[str, ...] = param((), "names of metrics; none: all that need no language model")
    keep: bool = param(False, "whether the run joins the history of the project; writes")


@dataclass(frozen=True, slots=True)
class ScoredQuery:
    """One question, by metric; None: it could not be scored."""

    id: str
    query: str
    scores: Mapping[str, float | None]
    missed: int
    """Passages that no hit has."""


@dataclass(frozen=True, slots=True)
class EvaluationAnswer:
    """Figures with 95 % intervals, and the scores of every question."""

    label: str
    objective: str
    figures: Mapping[str, Figure]
    questions: tuple[ScoredQuery, ...]
    """The worst first."""
    left_out: int
    problems: tuple[str, ...]
    run: int | None
    """Its number in the history, where it was kept."""


def evaluate(workspace: Workspace, request: EvaluateArguments, call: ToolCall) -> ToolAnswer:
    """No language model is asked."""
    if request.keep:
        workspace.refuse_writing("keep")
    if bool(request.questions) == bool(request.test_queries):
        raise InvalidParameter(
            "give questions, or test_queries, a file of them; one of both is needed"
        )
    if len(request.questions) > MOST_QUESTIONS:
        raise InvalidParameter(
            f"{counted(len(request.questions), 'question')} given; at most {thousands(MOST_QUESTIONS)} are allowed "
            "at a time, more from a file"
        )
    asked: Any = [unmarked(each) for each in request.questions]
    if request.test_queries:
        asked = str(workspace.file(str(request.test_queries)))
    problems: list[str] = []
    documents: list[Document] = []
    queries: list[Query] = []
    listeners = Listeners(
        on_documents=documents.extend, on_questions=queries.extend, stages=call.stages
    )
    with workspace.index_of_its_own(call) as index:
        results = evaluated(
            index, asked, retriever=request.retriever or None, budget=request.budget, k=request.k,
            where=request.where, metrics=[str(each) for each in request.metrics] or "all", on_bad=problems.append,
            listeners=listeners,
        )  # fmt: skip
    call.check()
    run = None
    if request.keep:
        run = workspace.known_history().keep(results, documents=documents, queries=queries).number
    scored = tuple(map(_scored, _worst_first(results)))
    answer = EvaluationAnswer(
        as_line(results.label), results.objective, dict(results.summary), scored[:_MOST_SCORED],
        max(0, len(scored) - _MOST_SCORED), _few(map(workspace.shown, problems)), run,
    )  # fmt: skip
    known = {document.id: document for document in documents}
    text = drawn(lambda console: render_evaluation(evaluation_view(results, known), console))
    kept = f"It is run {run} of the history." if run is not None else ""
    return ToolAnswer(_report(text, *answer.problems, kept), answer)


def _worst_first(results: Results) -> list[QuestionResult]:
    def score(question: QuestionResult) -> float:
        found = question.scores.get(results.objective)
        return 2.0 if found is None else found

    return sorted(results.questions, key=score)


def _scored(question: QuestionResult) -> ScoredQuery:
    return ScoredQuery(
        as_line(question.id), as_line(question.text), dict(question.scores), len(question.missed)
    )


@dataclass(frozen=True, kw_only=True)
class CompareArguments:
    """Two runs: files of results in the project folder, or numbers of the history."""

    before: str = param("", "a file of results, or the number of a run, such as 12")
    after: str = param("", "another one, of the same kind")
    metrics: tuple[str, ...] = param((), "of files: names of metrics; none: all that both have")


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """By how much a figure differs, and what can be said about it."""

    metric: str
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class CompareAnswer:
    """One run against another."""

    before: str
    after: str
    questions: int | None
    """In both runs; None: not known."""
    metrics: tuple[MetricVerdict, ...]
    warnings: tuple[str, ...]
    """What makes the runs less comparable than they look."""


def compare(workspace: Workspace, request: CompareArguments, call: ToolCall) -> ToolAnswer:
    """Paired on the same questions; of files with Holm's correction, of the history with where it came from."""
    names = str(request.before), str(request.after)
    numbers = [re.fullmatch(r"#?([0-9]{1,9})", name) for name in names]
    if not all(names):
        raise InvalidParameter(
            "before and after are needed: two files of results of the project folder, or two numbers of runs"
        )
    if all(numbers):
        first, second = (int(each[1]) for each in numbers if each)
        return _of_history(workspace, first, second)
    if any(numbers):
        raise InvalidParameter(
            f"{as_line(names[0])!r} and {as_line(names[1])!r} are a file and a number; name two files, or two numbers"
        )
    runs = [read_results(workspace.file(name)) for name in names]
    call.check()
    found = compared(runs, metrics=[str(each) for each in request.metrics] or None, sources=names)
    contrast = found.contrasts[0]
    answer = CompareAnswer(
        as_line(found.runs[0].label), as_line(found.runs[1].label), contrast.questions,
        tuple(
            MetricVerdict(
                name, each.first, each.second, each.difference.mean, each.corrected.low, each.corrected.high,
                each.verdict,
            )
            for name, each in contrast.metrics.items()
        ),
        tuple(map(as_line, found.warnings)),
    )  # fmt: skip
    text = drawn(lambda console: render_comparison(comparison_view(found), console))
    return ToolAnswer(_report(text), answer)


def _of_history(workspace: Workspace, before: int, after: int) -> ToolAnswer:
    if before == after:
        raise InvalidParameter(f"run {before} has no difference to itself; name two runs")
    history = workspace.known_history()
    view = run_difference_view(history, before, after, whole=True)
    labels = [as_line(each.label) for each in (view.before, view.after)]
    verdicts = tuple(
        MetricVerdict(
            name, each.before, each.after, each.difference, each.paired.low if each.paired else None,
            each.paired.high if each.paired else None, as_line(each.words),
        )
        for name, each in view.difference.metrics.items()
    )  # fmt: skip
    changed = tuple(as_line(each) for each in view.difference.changes.words)
    text = drawn(lambda console: render_run_difference(view, console))
    return ToolAnswer(_report(text), CompareAnswer(labels[0], labels[1], None, verdicts, changed))


@dataclass(frozen=True, kw_only=True)
class UpdateArguments:
    """Files of the project that join the index."""

    paths: tuple[str, ...] = param((), "files or folders of the project folder")


@dataclass(frozen=True, slots=True)
class UpdateAnswer:
    """What was done."""

    added: int
    changed: int
    unchanged: int
    documents: int
    """In the index now."""
    problems: tuple[str, ...]


def update_index(workspace: Workspace, request: UpdateArguments, call: ToolCall) -> ToolAnswer:
    """New and changed documents are read; none is removed."""
    workspace.refuse_writing("update_index")
    if not workspace.sources.index:
        raise InvalidParameter(
            "these documents are indexed in memory; what is to stay is made by `chunkwise index`"
        )
    if not request.paths:
        raise InvalidParameter("paths is empty; name files or folders of the project folder")
    places = [workspace.path(str(each)) for each in request.paths]
    options = workspace.loading(*places)
    problems: list[str] = []
    with workspace.index_of_its_own(call) as index, call.stages("indexing", 0) as advance:
        done = index.update(
            [str(place) for place in places], options=options, keep_others=True, advance=advance,
            on_unreadable=lambda problem: problems.append(str(problem)),
        )  # fmt: skip
        found = UpdateAnswer(
            done.added,
            done.changed,
            done.unchanged,
            len(index),
            _few(map(workspace.shown, problems)),
        )
    told = (
        f"{counted(found.added, 'document')} added, {thousands(found.changed)} changed, "
        f"{thousands(found.unchanged)} unchanged; the index has {counted(found.documents, 'document')}."
    )
    return ToolAnswer("\n".join((*found.problems, told)), found)


MEASURING = (
    AssistantTool(
        "lint", "Find cuts that hurt",
        "Find the places where chunks of the index, or of files of the project folder, are cut badly: words, "
        f"sentences, lists, tables and code cut in two, headings left behind. No questions are needed. {NOTICE}",
        LintArguments, LintAnswer, lint,
    ),
    AssistantTool(
        "evaluate", "Measure the search with questions",
        "Measure how well questions with known passages are answered by what is retrieved from the index, with 95 % "
        f"intervals. No language model is asked. {NOTICE}",
        EvaluateArguments, EvaluationAnswer, evaluate,
    ),
    AssistantTool(
        "compare", "Compare two runs",
        "Say whether one run is better than another: two files of results of the project folder, or two runs of its "
        f"history by their numbers. {NOTICE}",
        CompareArguments, CompareAnswer, compare,
    ),
    AssistantTool(
        "update_index", "Bring the index up to date",
        "Read new and changed files of the project folder into the index; documents that it has stay.",
        UpdateArguments, UpdateAnswer, update_index, writes=True,
    ),
)  # fmt: skip

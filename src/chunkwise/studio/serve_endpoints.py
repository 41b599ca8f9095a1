"""What programs ask for beside what pages show: a text cut into chunks, questions scored against the index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from chunkwise.chunkers.chunk import chunk_text
from chunkwise.evaluation.evaluate import evaluate as evaluated
from chunkwise.evaluation.results import Figure, QuestionResult
from chunkwise.evaluation.scoring import Listeners
from chunkwise.options import SERVED_SEARCH_OPTIONS, ChunkOptions, ScoreOptions, SearchOptions
from chunkwise.report.view import View
from chunkwise.studio.documents import strategy_of
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import NotReady, declared

MOST_QUESTIONS = 1_000


class ChunkRequest(declared("ChunkOptions", {ChunkOptions: ("strategy",)}), frozen=True):  # type: ignore[call-arg, misc]
    """A text, and what cuts it."""

    text: str
    format: Annotated[Literal["auto", "text", "markdown"], Meta(description="format")] = "auto"
    id: Annotated[str, Meta(description="prefix of chunk ids")] = "text"


@dataclass(frozen=True, slots=True)
class ServedChunk:
    """A chunk: its text is that of the request between two places, in code points."""

    id: str
    start: int
    end: int
    token_count: int
    section: str
    text: str
    context: str


@dataclass(frozen=True, slots=True)
class ChunksAnswer(View):
    """The chunks of a text."""

    strategy: str
    chunks: tuple[ServedChunk, ...]


def chunk(project: Project, request: ChunkRequest) -> ChunksAnswer:
    text = str(request.text)
    strategy = (
        strategy_of(request.strategy, len(text), project)
        if request.strategy
        else project.corpus.strategy
    )
    result = chunk_text(text, strategy, format=str(request.format), id=str(request.id))
    return ChunksAnswer(
        strategy.label,
        tuple(
            ServedChunk(
                item.id, item.start, item.end, item.token_count, item.section_path, item.text, item.context
            )
            for item in result
        ),
    )  # fmt: skip


_OPTIONS = {
    SearchOptions: SERVED_SEARCH_OPTIONS,
    ScoreOptions: ("metrics", "unit", "relevance_threshold"),
}


class EvaluateRequest(declared("EvaluateOptions", _OPTIONS), frozen=True):  # type: ignore[call-arg, misc]
    """Questions with their references, and how they are searched for and scored."""

    questions: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1, max_length=MOST_QUESTIONS)]
    """Records as a file of questions has them: {"query": …, "relevant_text": …}."""


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """One question, by metric; None: it could not be scored, `unscored` says why."""

    id: str
    scores: Mapping[str, float | None]
    unscored: Mapping[str, str]
    missed: int
    """Passages that no hit has."""
    context_tokens: int


@dataclass(frozen=True, slots=True)
class EvaluateAnswer(View):
    """The figures of an evaluation with their intervals, and every question's scores."""

    label: str
    objective: str
    summary: Mapping[str, Figure]
    questions: tuple[ScoredQuestion, ...]
    problems: tuple[str, ...]
    """Questions that could not be used, and why."""


def evaluate(project: Project, request: EvaluateRequest) -> EvaluateAnswer:
    if not project.evaluating.acquire(blocking=False):
        raise NotReady("another evaluation is running; try again when it is done")
    problems: list[str] = []
    try:
        with project.index_of_its_own() as index:
            results = evaluated(
                index, list(request.questions), search=request.part(SearchOptions),
                score=request.part(ScoreOptions), listeners=Listeners(on_bad=problems.append),
            )  # fmt: skip
    finally:
        project.evaluating.release()
    return EvaluateAnswer(
        results.label, results.objective, dict(results.summary), tuple(map(_scored, results.questions)),
        tuple(problems),
    )  # fmt: skip


def _scored(question: QuestionResult) -> ScoredQuestion:
    return ScoredQuestion(
        question.id, dict(question.scores), dict(question.unscored), len(question.missed),
        question.context_tokens,
    )  # fmt: skip

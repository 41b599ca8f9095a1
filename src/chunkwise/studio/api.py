"""Every address under /api, declared once: requests, pages and the OpenAPI description read this list."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import chunkwise.studio.ask as ask
import chunkwise.studio.documents as documents
import chunkwise.studio.draft_questions as draft_questions
import chunkwise.studio.labelling as labelling
import chunkwise.studio.pdf_pages as pdf_pages
import chunkwise.studio.question_review as question_review
import chunkwise.studio.questions as questions
import chunkwise.studio.runs as runs
import chunkwise.studio.search as searching
import chunkwise.studio.serve_endpoints as serving
import chunkwise.studio.sweeps as sweeps
from chunkwise.report.views.comparison import ComparisonView
from chunkwise.report.views.history import MetricHistoryView
from chunkwise.studio.accounts import Role
from chunkwise.studio.read_request import ApiRequest, NoParameters, read_body, read_query

if TYPE_CHECKING:
    from chunkwise.report.views.view import View
    from chunkwise.studio.project import Project


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """One address under /api: GET reads, POST has a body of JSON and may change something."""

    path: str
    """As OpenAPI writes it: /api/documents/{number}."""
    summary: str
    answer: Callable[[Project, Any], View]
    takes: type[ApiRequest]
    """The fields of the path, and those of the query or the body."""
    gives: type[View]
    method: Literal["GET", "POST"] = "GET"
    role: Role | None = None
    """Who may ask; None: readers for GET, labellers for POST."""
    units: float = 0.0
    """What it costs of the units that a caller has a minute; a search is 1."""

    @property
    def needs(self) -> Role:
        return self.role or ("reader" if self.method == "GET" else "labeller")

    def read(self, path: Mapping[str, str], query: Sequence[tuple[str, str]]) -> Any:
        """The parameters of a request; what is unknown, no number, or out of bounds is an error that says so."""
        return read_query(self.takes, path, query)

    def read_body(self, body: bytes) -> Any:
        """The same from a JSON object."""
        return read_body(self.takes, body)


ENDPOINTS = (
    ApiEndpoint(
        "/api/state", "How far reading and indexing are.", documents.state, NoParameters, documents.StateView
    ),
    ApiEndpoint(
        "/api/strategies", "Every strategy with the parameters of its form.", documents.strategies,
        NoParameters, documents.StrategiesView,
    ),
    ApiEndpoint(
        "/api/documents", "The list of documents, filtered and sorted.", documents.documents,
        documents.DocumentsRequest, documents.DocumentsView,
    ),
    ApiEndpoint(
        "/api/documents/{number}", "One document: what it is, its headings, its bands of text.",
        documents.document, documents.DocumentRequest, documents.DocumentView,
    ),
    ApiEndpoint(
        "/api/documents/{number}/cuts", "How a strategy cuts a document, with the text of some bands.",
        documents.document_cuts, documents.CutsRequest, documents.DocumentCuts, units=0.1,
    ),
    ApiEndpoint(
        "/api/documents/{number}/tokens", "Where the tokens of a stretch begin.", documents.tokens,
        documents.TokensRequest, documents.TokensView, units=0.1,
    ),
    ApiEndpoint(
        "/api/documents/{number}/boxes", "Where a span stands on the pages of a PDF.", pdf_pages.boxes,
        pdf_pages.BoxesRequest, pdf_pages.BoxesView, units=5,
    ),
    ApiEndpoint(
        "/api/search", "A question to one or several retrievers, within a budget of tokens.",
        searching.search, searching.StudioSearch, searching.SearchView, units=1,
    ),
    ApiEndpoint(
        "/api/ask", "A question answered from the documents, every claim with its place.", ask.ask,
        ask.AskRequest, ask.AskView, units=5,
    ),
    ApiEndpoint(
        "/api/chunk", "A text cut into chunks.", serving.chunk, serving.ChunkRequest, serving.ChunksAnswer,
        method="POST", role="reader", units=1,
    ),
    ApiEndpoint(
        "/api/evaluate", "Questions with their references, scored against what the index retrieves.",
        serving.evaluate, serving.EvaluateRequest, serving.EvaluateAnswer, method="POST", role="reader", units=30,
    ),
    ApiEndpoint(
        "/api/runs", "The runs that were named, and those of the history.", runs.runs, NoParameters, runs.RunsView
    ),
    ApiEndpoint(
        "/api/runs/{number}", "One run: what its page shows.", runs.run_page, runs.RunParameters, runs.RunPage
    ),
    ApiEndpoint(
        "/api/sweeps", "The sweeps of this project, and how far they are.", sweeps.sweeps,
        NoParameters, sweeps.SweepsView,
    ),
    ApiEndpoint(
        "/api/sweeps/estimate", "How much work a sweep is.", sweeps.estimate, sweeps.SweepForm, sweeps.EstimateView,
        method="POST", role="owner", units=10,
    ),
    ApiEndpoint(
        "/api/sweeps/start", "Start a sweep, or go on with it.", sweeps.start, sweeps.SweepForm, sweeps.SweepsView,
        method="POST", role="owner", units=30,
    ),
    ApiEndpoint(
        "/api/sweeps/stop", "Stop a sweep; what is done is kept.", sweeps.stop, sweeps.SweepName, sweeps.SweepsView,
        method="POST", role="owner",
    ),
    ApiEndpoint(
        "/api/sweeps/apply", "Make the index by the recommendation of a sweep.", sweeps.apply, sweeps.SweepName,
        sweeps.SweepsView, method="POST", role="owner", units=30,
    ),
    ApiEndpoint(
        "/api/alerts/acknowledge", "Keep an alert quiet until it is worse.", runs.acknowledge, runs.AlertNumber,
        runs.RunsView, method="POST", role="owner",
    ),
    ApiEndpoint(
        "/api/compare", "Two runs against each other, question by question.", runs.comparison,
        runs.CompareParameters, ComparisonView,
    ),
    ApiEndpoint(
        "/api/history", "One metric over the runs of the history.", runs.metric_history,
        runs.HistoryParameters, MetricHistoryView,
    ),
    ApiEndpoint(
        "/api/questions", "Every question with its score in every run.", questions.questions,
        questions.QuestionsParameters, questions.QuestionsView,
    ),
    ApiEndpoint(
        "/api/question", "One question: gold, what every run retrieved, and what it missed.",
        questions.question, questions.QuestionParameters, questions.QuestionView,
    ),
    ApiEndpoint(
        "/api/labelling", "A question to label, its passages pooled and in no order that tells who found them.",
        labelling.labelling, labelling.LabellingRequest, labelling.LabellingView,
    ),
    ApiEndpoint(
        "/api/label", "Keeps what a person says of a passage or a question; nothing is ever written over.",
        labelling.keep_label, labelling.LabelRequest, labelling.LabelKept, method="POST",
    ),
    ApiEndpoint(
        "/api/labels", "How far labelling is, who did how much, how far people agree.", labelling.labels,
        NoParameters, labelling.LabelsView,
    ),
    ApiEndpoint(
        "/api/adjudication", "Passages that people graded differently.", labelling.adjudication,
        NoParameters, labelling.AdjudicationView,
    ),
    ApiEndpoint(
        "/api/documents/{number}/sentences", "A stretch of a document in sentences.", labelling.sentences,
        labelling.SentencesRequest, labelling.SentencesView,
    ),
    ApiEndpoint(
        "/api/edit", "A question as it stands in its file, to be changed.",
        question_review.edit, question_review.EditRequest, question_review.EditView,
    ),
    ApiEndpoint(
        "/api/edit/save", "Makes, changes, accepts or drops a question, unless somebody else changed it.",
        question_review.save, question_review.SaveRequest, question_review.EditView, method="POST", role="owner",
    ),
    ApiEndpoint(
        "/api/drafts", "How far drafting questions is, and what waits for a review.", draft_questions.drafts,
        NoParameters, draft_questions.DraftsView,
    ),
    ApiEndpoint(
        "/api/drafts/estimate", "What drafting questions would take; nothing is sent.", draft_questions.estimate,
        draft_questions.DraftForm, draft_questions.DraftEstimate, method="POST", role="owner", units=10,
    ),
    ApiEndpoint(
        "/api/drafts/start", "Draft questions from the documents, by rules or the language model.",
        draft_questions.start, draft_questions.DraftForm, draft_questions.DraftsView,
        method="POST", role="owner", units=30,
    ),
    ApiEndpoint(
        "/api/drafts/stop", "Stop drafting; what was drafted is kept.", draft_questions.stop, NoParameters,
        draft_questions.DraftsView, method="POST", role="owner",
    ),
    ApiEndpoint(
        "/api/evidence", "Places with words of a question near each other, found without any retriever.",
        question_review.evidence, question_review.EvidenceRequest, question_review.EvidenceView,
    ),
)  # fmt: skip

BY_PATH = {each.path: each for each in ENDPOINTS if each.method == "GET"}
_SERVED = (
    "/api/state", "/api/strategies", "/api/documents", "/api/search", "/api/ask", "/api/chunk", "/api/evaluate",
)  # fmt: skip
SERVICE = tuple(each for each in ENDPOINTS if each.path.startswith(_SERVED))
"""Those of `chunkwise serve`."""
_PATTERNS = {
    each.path: re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(each.path)))
    for each in ENDPOINTS
}


def endpoints_at(
    path: str, endpoints: Sequence[ApiEndpoint]
) -> tuple[dict[str, ApiEndpoint], dict[str, str]]:
    """What answers at a path, by method, and the values that the path holds; nothing: nobody does."""
    for own, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(path):
            there: dict[str, ApiEndpoint] = {
                each.method: each for each in endpoints if each.path == own
            }
            if there:
                return there, found.groupdict()
    return {}, {}

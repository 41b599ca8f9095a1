"""Every address under /api, declared once: requests, pages and the OpenAPI description read this list."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import chunkwise.studio.ask as ask
import chunkwise.studio.documents as documents
import chunkwise.studio.draft_questions as draft_questions
import chunkwise.studio.labeling as labeling
import chunkwise.studio.pdf_pages as pdf_pages
import chunkwise.studio.question_review as question_review
import chunkwise.studio.questions as questions
import chunkwise.studio.review_outlook as review_outlook
import chunkwise.studio.runs as runs
import chunkwise.studio.search as searching
import chunkwise.studio.serve_endpoints as serving
import chunkwise.studio.served_search as served_search
import chunkwise.studio.sweeps as sweeps
import chunkwise.studio.tour as tour
from chunkwise.studio.accounts import Role
from chunkwise.studio.read_request import ApiRequest, read_body, read_query

if TYPE_CHECKING:
    from chunkwise.report.report import Report
    from chunkwise.report.view import View
    from chunkwise.studio.project import Project


@dataclass(frozen=True)
class ApiEndpoint:
    """One address under /api: GET reads, POST has a body of JSON and may change something."""

    path: str
    """As OpenAPI writes it: /api/documents/{number}."""
    summary: str
    answer: Callable[[Project, Any], View | Report]
    method: Literal["GET", "POST"] = "GET"
    role: Role | None = None
    """Who may ask; None: readers for GET, labelers for POST."""
    units: float = 0.0
    """What it costs of the units that a caller has a minute; a search is 1."""

    @cached_property
    def takes(self) -> type[ApiRequest]:
        """The type of the request, which holds the fields of the path, and those of the query or the body."""
        _, takes, _ = get_type_hints(self.answer).values()
        kind: type[ApiRequest] = takes
        return kind

    @cached_property
    def gives(self) -> type[View | Report]:
        kind: type[View | Report] = get_type_hints(self.answer)["return"]
        return kind

    @property
    def needs(self) -> Role:
        return self.role or ("reader" if self.method == "GET" else "labeler")

    def read(
        self, path: Mapping[str, str], query: Sequence[tuple[str, str]], body: bytes = b""
    ) -> Any:
        """Read a request; a value that is unknown or out of bounds is an error that names it."""
        if self.method == "POST":
            return read_body(self.takes, body)
        return read_query(self.takes, path, query)


ENDPOINTS = (
    ApiEndpoint("/api/state", "Progress of reading and indexing.", documents.state),
    ApiEndpoint("/api/tour", "Steps to an applied recommendation: which are done, which is next.", tour.tour),
    ApiEndpoint("/api/strategies", "List the strategies with their parameters.", documents.strategies),
    ApiEndpoint("/api/documents", "List documents, filtered and sorted.", documents.documents),
    ApiEndpoint("/api/documents/{number}", "Describe one document: metadata, headings, text bands.",
                documents.document),
    ApiEndpoint("/api/documents/{number}/cuts", "Chunk one document with a strategy; return the text of some bands.",
                documents.document_cuts, units=0.1),
    ApiEndpoint("/api/documents/{number}/tokens", "Return the token offsets of a span.", documents.tokens, units=0.1),
    ApiEndpoint("/api/documents/{number}/boxes", "Return the boxes of a span on the pages of a PDF.",
                pdf_pages.boxes, units=5),
    ApiEndpoint("/api/search", "Search with one or more retrievers within a token budget.",
                searching.search, units=1),
    ApiEndpoint("/api/ask", "Answer a question from the documents, with a citation per claim.", ask.ask, units=5),
    ApiEndpoint("/api/chunk", "Split a text into chunks.", serving.chunk, method="POST", role="reader", units=1),
    ApiEndpoint("/api/evaluate", "Score retrieval on questions with references.",
                serving.evaluate, method="POST", role="reader", units=30),
    ApiEndpoint("/api/runs", "List the runs of the command line and the history.", runs.runs),
    ApiEndpoint("/api/runs/{number}", "Return the report of one run.", runs.run_page),
    ApiEndpoint("/api/sweeps", "List the sweeps of this project with their progress.", sweeps.sweeps),
    ApiEndpoint("/api/sweeps/estimate", "Estimate the time and cost of a sweep.",
                sweeps.estimate, method="POST", role="owner", units=10),
    ApiEndpoint("/api/sweeps/start", "Start or resume a sweep.",
                sweeps.start, method="POST", role="owner", units=30),
    ApiEndpoint("/api/sweeps/stop", "Stop a sweep, keeping its results.", sweeps.stop, method="POST", role="owner"),
    ApiEndpoint("/api/sweeps/apply", "Build the index with the recommendation of a sweep.",
                sweeps.apply, method="POST", role="owner", units=30),
    ApiEndpoint("/api/alerts/acknowledge", "Acknowledge an alert: it stays silent until the metric falls further.",
                runs.acknowledge, method="POST", role="owner"),
    ApiEndpoint("/api/compare", "Compare two runs, question by question.", runs.comparison),
    ApiEndpoint("/api/history", "Return one metric over all saved runs.", runs.history_of_metric),
    ApiEndpoint("/api/questions", "List questions with their scores per run.", questions.questions),
    ApiEndpoint("/api/question", "Return one question: gold spans, retrieved and missed passages per run.",
                questions.question),
    ApiEndpoint("/api/labeling", "Return a question to label, with its pooled passages in random order.",
                labeling.labeling),
    ApiEndpoint("/api/label", "Store a label; labels are never overwritten.",
                labeling.keep_label, method="POST"),
    ApiEndpoint("/api/labels", "Labeling progress per person, and agreement.", labeling.labels),
    ApiEndpoint("/api/adjudication", "List the passages with conflicting grades.", labeling.adjudication),
    ApiEndpoint("/api/documents/{number}/sentences", "Return a text span as sentences.", labeling.sentences),
    ApiEndpoint("/api/edit", "Return a test question to edit.", question_review.edit),
    ApiEndpoint("/api/edit/outlook", "Current choice of a sweep, given the reviewed questions.",
                review_outlook.review_outlook, units=0.1),
    ApiEndpoint("/api/edit/save", "Create, change, accept or drop a question, unless it was changed since.",
                question_review.save, method="POST", role="owner"),
    ApiEndpoint("/api/drafts", "Progress of drafting, and the number of unreviewed questions.", draft_questions.drafts),
    ApiEndpoint("/api/drafts/estimate", "Estimate the cost of drafting; nothing is sent.",
                draft_questions.estimate, method="POST", role="owner", units=10),
    ApiEndpoint("/api/drafts/start", "Draft questions from the documents, with rules or a language model.",
                draft_questions.start, method="POST", role="owner", units=30),
    ApiEndpoint("/api/drafts/stop", "Stop drafting; drafted questions are kept.",
                draft_questions.stop, method="POST", role="owner"),
    ApiEndpoint("/api/evidence", "Find passages with words of a question close together, without a retriever.",
                question_review.evidence),
)  # fmt: skip

BY_PATH = {endpoint.path: endpoint for endpoint in ENDPOINTS}
_SERVED = (
    "/api/state", "/api/strategies", "/api/documents", "/api/search", "/api/ask", "/api/chunk", "/api/evaluate",
)  # fmt: skip
_SERVED_SEARCH = ApiEndpoint(
    "/api/search", "Search the index with its stored settings, or with those of the request.",
    served_search.search, units=1,
)  # fmt: skip
SERVICE = tuple(
    _SERVED_SEARCH if endpoint.path == _SERVED_SEARCH.path else endpoint
    for endpoint in ENDPOINTS
    if endpoint.path.startswith(_SERVED)
)
"""Those of `chunkwise serve`."""


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))


def endpoint_at(
    path: str, endpoints: Sequence[ApiEndpoint]
) -> tuple[ApiEndpoint | None, dict[str, str]]:
    """The endpoint of a path, and the values that the path holds."""
    for endpoint in endpoints:
        if match := _pattern(endpoint.path).fullmatch(path):
            return endpoint, match.groupdict()
    return None, {}

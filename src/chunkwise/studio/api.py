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
    ApiEndpoint("/api/state", "How far reading and indexing are.", documents.state),
    ApiEndpoint("/api/tour", "The way from documents to an applied choice: what is done, what comes next.", tour.tour),
    ApiEndpoint("/api/strategies", "Every strategy with the parameters of its form.", documents.strategies),
    ApiEndpoint("/api/documents", "The list of documents, filtered and sorted.", documents.documents),
    ApiEndpoint("/api/documents/{number}", "One document: what it is, its headings, its bands of text.",
                documents.document),
    ApiEndpoint("/api/documents/{number}/cuts", "How a strategy cuts a document, with the text of some bands.",
                documents.document_cuts, units=0.1),
    ApiEndpoint("/api/documents/{number}/tokens", "Where the tokens of a stretch begin.", documents.tokens, units=0.1),
    ApiEndpoint("/api/documents/{number}/boxes", "Return the boxes of a span on the pages of a PDF.",
                pdf_pages.boxes, units=5),
    ApiEndpoint("/api/search", "A question to one or several retrievers, within a budget of tokens.",
                searching.search, units=1),
    ApiEndpoint("/api/ask", "A question answered from the documents, every claim with its place.", ask.ask, units=5),
    ApiEndpoint("/api/chunk", "A text cut into chunks.", serving.chunk, method="POST", role="reader", units=1),
    ApiEndpoint("/api/evaluate", "Questions with their references, scored against what the index retrieves.",
                serving.evaluate, method="POST", role="reader", units=30),
    ApiEndpoint("/api/runs", "The runs that were named, and those of the history.", runs.runs),
    ApiEndpoint("/api/runs/{number}", "One run: what its page shows.", runs.run_page),
    ApiEndpoint("/api/sweeps", "The sweeps of this project, and how far they are.", sweeps.sweeps),
    ApiEndpoint("/api/sweeps/estimate", "How much work a sweep is.",
                sweeps.estimate, method="POST", role="owner", units=10),
    ApiEndpoint("/api/sweeps/start", "Start or continue a sweep.",
                sweeps.start, method="POST", role="owner", units=30),
    ApiEndpoint("/api/sweeps/stop", "Stop a sweep; what is done is kept.", sweeps.stop, method="POST", role="owner"),
    ApiEndpoint("/api/sweeps/apply", "Make the index by the recommendation of a sweep.",
                sweeps.apply, method="POST", role="owner", units=30),
    ApiEndpoint("/api/alerts/acknowledge", "Keep an alert quiet until it is worse.",
                runs.acknowledge, method="POST", role="owner"),
    ApiEndpoint("/api/compare", "Two runs against each other, question by question.", runs.comparison),
    ApiEndpoint("/api/history", "One metric over the runs of the history.", runs.history_of_metric),
    ApiEndpoint("/api/questions", "Every question with its score in every run.", questions.questions),
    ApiEndpoint("/api/question", "One question: gold, what every run retrieved, and what it missed.",
                questions.question),
    ApiEndpoint("/api/labeling", "A question to label, its passages pooled and in no order that tells who found them.",
                labeling.labeling),
    ApiEndpoint("/api/label", "Keeps what a person says of a passage or a question; nothing is ever written over.",
                labeling.keep_label, method="POST"),
    ApiEndpoint("/api/labels", "How far labeling is, who did how much, how far people agree.", labeling.labels),
    ApiEndpoint("/api/adjudication", "Passages that people graded differently.", labeling.adjudication),
    ApiEndpoint("/api/documents/{number}/sentences", "A stretch of a document in sentences.", labeling.sentences),
    ApiEndpoint("/api/edit", "A test question to edit.", question_review.edit),
    ApiEndpoint("/api/edit/outlook", "What the reviewed questions of a sweep choose so far.",
                review_outlook.review_outlook, units=0.1),
    ApiEndpoint("/api/edit/save", "Makes, changes, accepts or drops a question, unless somebody else changed it.",
                question_review.save, method="POST", role="owner"),
    ApiEndpoint("/api/drafts", "How far drafting questions is, and what waits for a review.", draft_questions.drafts),
    ApiEndpoint("/api/drafts/estimate", "What drafting questions would take; nothing is sent.",
                draft_questions.estimate, method="POST", role="owner", units=10),
    ApiEndpoint("/api/drafts/start", "Draft questions from the documents, by rules or the language model.",
                draft_questions.start, method="POST", role="owner", units=30),
    ApiEndpoint("/api/drafts/stop", "Stop drafting; what was drafted is kept.",
                draft_questions.stop, method="POST", role="owner"),
    ApiEndpoint("/api/evidence", "Places with words of a question near each other, found without any retriever.",
                question_review.evidence),
)  # fmt: skip

BY_PATH = {endpoint.path: endpoint for endpoint in ENDPOINTS}
_SERVED = (
    "/api/state", "/api/strategies", "/api/documents", "/api/search", "/api/ask", "/api/chunk", "/api/evaluate",
)  # fmt: skip
_SERVED_SEARCH = ApiEndpoint(
    "/api/search", "The hits of a question, as the index is searched or as the request says.",
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

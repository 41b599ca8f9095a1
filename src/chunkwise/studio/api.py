"""Every address under /api, declared once: requests, pages and the OpenAPI description read this list."""

from __future__ import annotations

import re

from chunkwise.report.views.comparison import ComparisonView
from chunkwise.report.views.history import MetricHistoryView
from chunkwise.studio import documents, editing, labelling, questions, runs
from chunkwise.studio import search as searching
from chunkwise.studio.documents import NoParameters
from chunkwise.studio.endpoint import ApiEndpoint

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
        documents.document_cuts, documents.CutsRequest, documents.DocumentCuts,
    ),
    ApiEndpoint(
        "/api/search", "A question to one or several retrievers, within a budget of tokens.",
        searching.search, searching.StudioSearch, searching.SearchView,
    ),
    ApiEndpoint(
        "/api/runs", "The runs that were named, and those of the history.", runs.runs, NoParameters, runs.RunsView
    ),
    ApiEndpoint(
        "/api/runs/{number}", "One run: what its page shows.", runs.run_page, runs.RunParameters, runs.RunPage
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
        "/api/edit", "A question as it stands in its file, to be changed.", editing.edit, editing.EditRequest,
        editing.EditView,
    ),
    ApiEndpoint(
        "/api/edit/save", "Makes, changes, accepts or drops a question, unless somebody else changed it.",
        editing.save, editing.SaveRequest, editing.EditView, method="POST",
    ),
    ApiEndpoint(
        "/api/evidence", "Places with words of a question near each other, found without any retriever.",
        editing.evidence, editing.EvidenceRequest, editing.EvidenceView,
    ),
)  # fmt: skip

BY_PATH = {each.path: each for each in ENDPOINTS if each.method == "GET"}
_PATTERNS = [
    (re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(each.path))), each)
    for each in ENDPOINTS
]


def endpoint_at(path: str) -> tuple[ApiEndpoint | None, dict[str, str]]:
    """What answers at a path, and the values that the path holds; None: nothing does."""
    for pattern, each in _PATTERNS:
        if found := pattern.fullmatch(path):
            return each, found.groupdict()
    return None, {}

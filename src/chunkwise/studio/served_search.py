"""The search that programs ask for: the hits of one retriever, as fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from msgspec import Meta

from chunkwise.options import SERVED_SEARCH_OPTIONS, SearchOptions
from chunkwise.report.view import View
from chunkwise.retrieval.search.search import search as find
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import declared
from chunkwise.studio.search import kept_reranker

_OPTIONS = {SearchOptions: SERVED_SEARCH_OPTIONS}


class ServedSearchRequest(declared("SearchOptions", _OPTIONS), frozen=True):  # type: ignore[call-arg, misc]
    """A question, and how it is searched for; what is not given is as the index keeps it."""

    q: Annotated[str, Meta(min_length=1, max_length=4_000, description="question")]


@dataclass(frozen=True, slots=True)
class ServedHit:
    """A span of a document."""

    doc_id: str
    title: str
    section: str
    start: int
    """First character in the document's text, in code points."""
    end: int
    page: int | None
    chunk_id: str | None
    """None: the hit is no chunk."""
    rank: int
    score: float
    token_count: int
    text: str
    """That of the document between the two places; of a summary what was written."""


@dataclass(frozen=True, slots=True)
class ServedSearchAnswer(View):
    """The hits of a question, in the order they are to be read."""

    question: str
    token_count: int
    hits: tuple[ServedHit, ...]


def search(project: Project, request: ServedSearchRequest) -> ServedSearchAnswer:
    index = project.ready_index()
    options = request.part(SearchOptions).filled_from(index.settings.search)
    options = options.override(reranker=kept_reranker(project, options))
    with project.search_lock:
        result = find(
            index.source, [request.q], options, embedder=partial(project.embedder, index)
        )[0]
    hits = tuple(
        ServedHit(
            hit.doc_id, hit.document.title, hit.section_path, hit.start, hit.end, hit.page, hit.chunk_id,
            hit.rank, round(float(hit.score), 6), hit.token_count, hit.summary or hit.text,
        )
        for hit in result
    )  # fmt: skip
    return ServedSearchAnswer(request.q, sum(hit.token_count for hit in hits), hits)

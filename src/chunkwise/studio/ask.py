"""A question answered from the documents: sentences quoted, or a language model's claims, each with its place."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from chunkwise.answering.ask import RetrievedQuestion, answer_question, budget_for, quote_each
from chunkwise.answering.cited_answer import Citation, CitedAnswer
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Query
from chunkwise.options import SERVED_SEARCH_OPTIONS, SearchOptions
from chunkwise.report.answer_report import cited_claims, claim_text, made_with
from chunkwise.report.sanitize import few_lines, one_line
from chunkwise.report.view import View
from chunkwise.retrieval.search.search import search as find
from chunkwise.studio.corpus import words_around
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import NotReady, declared
from chunkwise.studio.search import Question, usable_retrievers

_AROUND = 240
"""Characters of the text before and behind a quote that are shown with it."""


class AskRequest(declared("AskOptions", {SearchOptions: SERVED_SEARCH_OPTIONS}), frozen=True):  # type: ignore[call-arg, misc]
    """A question, how passages are searched for, and in whose words it is answered."""

    q: Question = ""
    words: Annotated[Literal["", "documents", "model"], Meta(description="who answers")] = ""


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """Where a claim stands, with the text around it."""

    mark: str
    document: int | None
    """In the list of documents; None: it is not there."""
    doc_id: str
    start: int
    end: int
    page: int | None
    before: str
    quote: str
    after: str


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """One sentence of an answer."""

    text: str
    mark: str
    """The number of its citation; empty: nothing supports it."""
    note: str
    """What is wrong with it."""


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The claims of an answer, or what is said instead."""

    not_found: str
    """Empty where the documents answer."""
    note: str
    claims: tuple[ShownClaim, ...]
    unsupported: tuple[ShownClaim, ...]
    made_with: str


@dataclass(frozen=True, slots=True)
class AskView(View):
    """An answer with its citations; without a question only what can be asked."""

    question: str
    has_model: bool
    model: str
    """Its name; empty: none is set."""
    answer: ShownAnswer | None
    cited: tuple[CitedPlace, ...]
    """One for each claim with a citation, in their order."""
    command: str


def ask(project: Project, request: AskRequest) -> AskView:
    model = project.llm
    name = model.model.identity if model is not None else ""
    if request.words == "model" and model is None:
        raise InvalidParameter(
            "no language model is set; start the studio with --llm local, or choose quotes"
        )
    question = str(request.q)
    if not question.strip():
        return AskView("", model is not None, name, None, (), "")
    client = model if request.words != "documents" else None
    index = project.ready_index()
    options = request.part(SearchOptions)
    options = options.filled_from(index.settings.search)
    budget = budget_for(client, options.k, options.budget) or 1000
    options = options.override(
        retriever=options.retriever or usable_retrievers(index)[0],
        budget=None if options.k else budget,
    )
    with project.search_lock:
        hits = find(index.source, [question], options, embedder=project.embedder)[0]
    # A slow model keeps its own askers waiting, and not everybody else: requests at work are few.
    if not project.askers.acquire(blocking=False):
        raise NotReady("other questions are being answered; try again in a moment")
    try:
        with project.asking:
            query = Query("1", question)
            if client is None:
                answered = next(quote_each([RetrievedQuestion(query, hits)]))
            else:
                answered = answer_question(query, hits, client)
    finally:
        project.askers.release()
    if not answered.is_answered:
        raise ChunkwiseError(f"the model gave no answer: {answered.reason}")
    return AskView(
        question, model is not None, name, _shown(answered), tuple(_places(project, answered)),
        _command(project, question, client is not None),
    )  # fmt: skip


def _shown(answered: CitedAnswer) -> ShownAnswer:
    cited = [
        ShownClaim(claim_text(answered, claim), mark, claim.note)
        for mark, claim, _ in cited_claims(answered)
    ]
    others = [
        ShownClaim(claim.text, "", claim.note) for claim in answered.claims if not claim.citation
    ]
    return ShownAnswer(
        answered.refusal, answered.note, tuple(cited), tuple(others), made_with(answered)
    )


def _places(project: Project, answered: CitedAnswer) -> list[CitedPlace]:
    cited = [claim.citation for claim in answered.claims if claim.citation]
    return [_place(project, citation, str(number)) for number, citation in enumerate(cited, 1)]


def _place(project: Project, citation: Citation, mark: str) -> CitedPlace:
    number = project.corpus.number_of(citation.doc_id)
    text = "" if number is None else project.corpus.document(number).text
    start, end = citation.start, citation.end
    before, behind = words_around(text, start, end, _AROUND)
    return CitedPlace(
        mark, number, citation.doc_id, start, end, citation.page,
        before.rpartition("\n\n")[2], few_lines(citation.quote, 2_000, 40), behind.partition("\n\n")[0],
    )  # fmt: skip


def _command(project: Project, question: str, with_model: bool) -> str:
    sources = project.sources
    index = project.ready_index()
    is_kept = index.place is not None or not sources.documents
    place = project.shown_place if is_kept else " ".join(map(shlex.quote, sources.documents[:1]))
    return f"chunkwise ask {place} {shlex.quote(one_line(question))}" + (
        f" --llm {shlex.quote(project.sources.llm_name)}" if with_model else ""
    )

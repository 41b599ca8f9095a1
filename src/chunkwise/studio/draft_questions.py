"""Questions drafted from the documents, by rules or a language model; each waits in the file for a review."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.report.sanitize import one_line
from chunkwise.report.view import View
from chunkwise.studio.background_jobs import DraftingStopped, DraftJob, DraftState
from chunkwise.studio.project import Project
from chunkwise.studio.question_review import begin_file
from chunkwise.studio.read_request import ApiRequest, NoParameters, NotReady
from chunkwise.testsets.formats.chunkwise import QuestionsFile, dropped_file, id_of_row, is_there

if TYPE_CHECKING:
    from chunkwise.core import Query
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.testsets.generate.generate import GenerationRun

MOST_DRAFTS = 500
_ENDINGS = {
    "enough": "",
    "rules": "The rules find no more questions in these documents.",
    "cost": "The cost limit is reached.",
    "passages": "No passages are left.",
    "calls": "The limit of three calls per question is reached.",
    "silence": "The model failed to answer several times in a row.",
}


class DraftForm(ApiRequest, frozen=True):
    """How many questions, and who writes them."""

    count: Annotated[int, Meta(ge=1, le=MOST_DRAFTS, description="questions to add")] = 30
    by: Annotated[Literal["rules", "model"], Meta(description="who writes them")] = "rules"


@dataclass(frozen=True, slots=True)
class DraftEstimate(View):
    """What drafting would take at most; nothing is sent for it."""

    calls: int
    kept: int
    """Answers that are known already, and not asked for again."""
    prompt_tokens: int
    output_tokens: int
    money: float | None
    """US dollars; None: the price of the model is not known."""
    seconds: float | None


@dataclass(frozen=True, slots=True)
class DroppedDrafts:
    """Why drafts were not kept, and how many."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class DraftsView(View):
    """How far drafting is, and what waits for a review."""

    model: str
    """That of --llm; empty: none is set."""
    state: DraftState
    by: str
    wanted: int
    made: int
    note: str
    """What is done now, how it ended, or what went wrong."""
    dropped: tuple[DroppedDrafts, ...]
    file: str
    unreviewed: int
    following: str
    """The first question that nobody has reviewed; empty: there is none."""


class ProjectDrafts:
    """Adds to the file of questions, whoever wrote the others; what is there is not asked again."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._path = project.questions_file()
        self.queries: list[Query] = list(project.queries.values())
        self._known = {query.id for query in self.queries}
        if is_there(gone := dropped_file(self._path)):
            self._known |= {id_of_row(row) for row in QuestionsFile.read(gone).rows}

    def knows(self, id: str) -> bool:
        return id in self._known

    def add(self, query: Query, made: Mapping[str, str]) -> None:
        from chunkwise.testsets.generate.generate import generated_row

        project = self._project
        places = [place.doc_id for item in query.references for place in item.places]
        row = generated_row(query, project.document_texts(places), made)
        with project.labels().alone():
            begin_file(project, self._path)
            known = project.queries  # read again wherever the file has changed
            file = (
                QuestionsFile.read(self._path)
                if is_there(self._path)
                else QuestionsFile.new(self._path)
            )
            file.rows.append(row)
            file.write()
            project.queries = {**known, query.id: query}
        self.queries.append(query)
        self._known.add(query.id)


def drafts(project: Project, _: NoParameters) -> DraftsView:
    states = project.question_states()
    waiting = [
        id for id, state in states.items() if state == "unreviewed" and id in project.queries
    ]
    model = project.llm.identity if project.llm is not None else ""
    file, following = str(project.questions_file()), waiting[0] if waiting else ""
    job = project.drafting
    if job is None:
        return DraftsView(model, "", "", 0, 0, "", (), file, len(waiting), following)
    note = job.problem or (_ENDINGS[job.result.ending] if job.result is not None else job.note)
    if job.state == "stopped":
        note = "The drafted questions are kept."
    dropped = job.result.dropped.items() if job.result is not None else ()
    return DraftsView(
        model, job.state, job.by, job.wanted, job.made(),
        one_line(note, 400), tuple(DroppedDrafts(reason, count) for reason, count in dropped), file, len(waiting),
        following,
    )  # fmt: skip


def estimate(project: Project, form: DraftForm) -> DraftEstimate:
    from chunkwise.testsets.generate.generate import request_for

    client = _client(project, form)
    if client is None:
        return DraftEstimate(0, 0, 0, 0, 0.0, None)
    store = ProjectDrafts(project)
    planned = _run(project, store, form, None).planned(_most_calls(form))
    found = client.estimate([request_for(task) for task in planned])
    return DraftEstimate(
        found.calls, found.kept, found.prompt_tokens, found.output_tokens, found.money, found.seconds
    )  # fmt: skip


def start(project: Project, form: DraftForm) -> DraftsView:
    client = _client(project, form)
    with project.jobs_lock:
        if project.drafting is not None and project.drafting.is_running:
            raise NotReady("questions are already being drafted; stop that, or wait")
        store = ProjectDrafts(project)
        before = len(store.queries)
        job = DraftJob(str(form.by), form.count, lambda: len(store.queries) - before)
        job.thread = threading.Thread(
            target=_work, args=(project, store, form, job, client), name="chunkwise-drafting", daemon=True
        )  # fmt: skip
        project.drafting = job
        job.thread.start()
    return drafts(project, NoParameters())


def stop(project: Project, _: NoParameters) -> DraftsView:
    if project.drafting is not None:
        project.drafting.stopping.set()
    return drafts(project, NoParameters())


def is_running(project: Project) -> bool:
    return project.drafting is not None and project.drafting.is_running


def _client(project: Project, form: DraftForm) -> LlmClient | None:
    if not len(project.corpus):
        raise NotReady("documents are still being read; try again in a moment")
    if form.by == "rules":
        return None
    if project.llm is None:
        raise InvalidParameter(
            "no language model is set; start the studio with --llm local, or use rules"
        )
    return project.llm


def _most_calls(form: DraftForm) -> int:
    """One question may need as many as two: the first passage may be none to ask about."""
    from chunkwise.testsets.generate.generate import CALLS_A_QUESTION

    return CALLS_A_QUESTION * max(form.count, 2)


def _run(
    project: Project, store: ProjectDrafts, form: DraftForm, job: DraftJob | None
) -> GenerationRun:
    from chunkwise.testsets.generate.generate import GenerationRun

    return GenerationRun(
        project.corpus.documents(),
        len(store.queries) + form.count,
        into=store,
        seed=len(store.queries),  # other passages come first than those that were asked about
        advance=job.advance if job is not None else None,
    )


def _work(
    project: Project, store: ProjectDrafts, form: DraftForm, job: DraftJob, client: LlmClient | None
) -> None:
    try:
        making = _run(project, store, form, job)
        if client is None:
            job.result = making.by_rules()
        else:
            job.result = making.by_model(client, _most_calls(form))
    except DraftingStopped:
        return
    except ChunkwiseError as error:
        job.problem = str(error)
    except Exception as error:
        # A fault of ours is told on the page; what was kept stays.
        job.problem = f"internal error: {type(error).__name__}: {error}"

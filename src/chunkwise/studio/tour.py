"""How far a project is on the way from documents to an applied choice, and which step comes next."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from chunkwise.base.wording import counted, thousands
from chunkwise.report.view import View
from chunkwise.studio.accounts import Role
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import NoParameters


@dataclass(frozen=True, slots=True)
class TourStep:
    """One station of the way."""

    name: str
    note: str
    """How far it is, in a word or two."""
    is_done: bool
    address: str
    role: Role = "reader"
    """Who may open it."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do now."""

    label: str
    address: str
    role: Role
    """Who may do it."""


@dataclass(frozen=True, slots=True)
class TourView(View):
    """The stations in their order, and the next thing to do; without documents there are none."""

    steps: tuple[TourStep, ...]
    next: NextStep | None


def tour(project: Project, _: NoParameters) -> TourView:
    if not project.sources.documents:
        return TourView((), None)
    documents, questions = len(project.corpus), len(project.queries)
    waiting = project.unreviewed_drafts()
    labeled = project.labeled_count()
    from chunkwise.studio.sweeps import newest_sweep

    sweep = newest_sweep(project)
    is_swept = sweep is not None and sweep.state == "done"
    is_applied = project.index_before is not None
    review = f"/edit?{urlencode({'id': waiting[0]})}" if waiting else "/questions"
    reviewed = f"{thousands(questions - len(waiting))} of {thousands(questions)}"
    steps = (
        TourStep("Documents", thousands(documents) if documents else "", documents > 0, "/documents"),
        TourStep("Questions", thousands(questions) if questions else "", questions > 0, "/questions"),
        TourStep("Review", reviewed if questions else "", questions > 0 and not waiting, review, "owner"),
        TourStep("Labels", f"{thousands(labeled)} of {thousands(questions)}" if labeled else "",
                 labeled > 0 or is_swept, "/labeling", "labeler"),
        TourStep("Sweep", "" if sweep is None else sweep.note, is_swept, "/sweeps"),
        TourStep("Apply", project.into if is_applied else "", is_applied, "/sweeps"),
    )  # fmt: skip
    if not documents:
        return TourView(steps, None)
    # What was passed over is not asked for again: the way goes on from the last step that is done.
    last = max(at for at, step in enumerate(steps) if step.is_done)
    behind = (
        steps[last + 1 :]
        if last > 3 and not waiting
        else [step for step in steps if not step.is_done]
    )
    coming = next((step.name for step in behind), "")
    compare = urlencode([("retriever", "before"), ("retriever", "recommended")])
    following = {
        "Questions": NextStep("Draft questions", "/questions", "owner"),
        "Review": NextStep(f"Review {counted(len(waiting), 'question')}", review, "owner"),
        "Labels": NextStep("Label passages", "/labeling", "labeler"),
        "Sweep": NextStep("Find the best configuration", "/sweeps", "owner"),
        "Apply": NextStep("Apply the recommendation", "/sweeps", "owner"),
        "": NextStep("Compare before and after", f"/search?{compare}", "reader"),
    }
    return TourView(steps, following[coming])

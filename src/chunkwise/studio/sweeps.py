"""Sweeps started from a page: a process of `chunkwise tune`, whose record on disk is all that the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Literal, get_args

from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import format_interval, thousands
from chunkwise.documents.walk import SWEEP_FILES, SWEEP_RECORD
from chunkwise.metrics.registry import format_score, kind_of
from chunkwise.report.sanitize import one_line
from chunkwise.report.view import View
from chunkwise.studio.background_jobs import Job, started
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import ApiRequest, NoParameters, NotFound, NotReady
from chunkwise.tuning.run.sweep_folder import RECOMMENDATION, RESULTS
from chunkwise.tuning.sweep_result import SweepResult

USUAL_NAME = "chunkwise-tune"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
Embedder = Literal["none", "minilm", "bge-small"]
LABELLED = Path(".chunkwise") / "labeled-questions.json"
"""What `chunkwise testset from-labels` would write, for a sweep by human labels."""
TimeLimit = Literal["1 min", "5 min", "10 min", "30 min", "2 h"]

State = Literal["running", "stopped", "done", "failed"]


class SweepForm(ApiRequest, frozen=True):
    """What is swept; the rest is as `chunkwise tune` has it."""

    name: Annotated[str, Meta(description="folder name")] = USUAL_NAME
    objective: Annotated[str, Meta(description="objective")] = ""
    embedder: Annotated[Embedder, Meta(description="embedding model")] = "none"
    time: Annotated[TimeLimit, Meta(description="time limit")] = "5 min"
    questions: Annotated[Literal["file", "labels"], Meta(description="source of references")] = (
        "file"
    )


class SweepName(ApiRequest, frozen=True):
    """Which sweep."""

    name: Annotated[str, Meta(description="of its folder")] = USUAL_NAME


@dataclass(frozen=True, slots=True)
class EstimateView(View):
    """How much work a sweep is, in the words of `chunkwise tune --dry-run`."""

    lines: tuple[str, ...]
    command: str


@dataclass(frozen=True, slots=True)
class SweepVerdict:
    """The recommendation, and what its configuration gains."""

    sentence: str
    chosen: str
    score: str
    gain: str
    """Against the first common default; empty: there is none to compare with."""
    words: str
    """better, worse or inconclusive."""


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """The sweep that was worked on last, in short."""

    state: State
    note: str


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One folder of a sweep."""

    name: str
    state: State
    done: int
    total: int
    """Configurations; 0: not known."""
    seconds: float
    """Since it was started here; 0: it was not."""
    lines: tuple[str, ...]
    """What its process said last."""
    run: int | None
    """Its number among the runs, once there is a result."""
    verdict: SweepVerdict | None
    """What it found; None: there is no result, or nothing could be recommended."""
    can_apply: bool
    applying: str
    """running, done or the reason why it failed; empty: nobody asked for it."""


@dataclass(frozen=True, slots=True)
class SweepsView(View):
    """The sweeps of this project, and whether one can be started."""

    why_not: str
    """Why none can be started; empty: it can."""
    embedders: tuple[str, ...]
    times: tuple[str, ...]
    labeled: int
    """Questions that people have labeled."""
    into: str
    """Where a recommendation is applied."""
    name: str
    """A folder for the next sweep: no other's."""
    rows: tuple[SweepRow, ...]


def _folder(name: str) -> Path:
    """Inside the working folder and nowhere else; of what is there already only a sweep's."""
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"{name!r:.80} is not a valid folder name: use letters, digits, - and _"
        )
    folder = Path(str(name))
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidParameter(f"{name} exists and is not a folder; choose another name")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / SWEEP_RECORD).is_dir():
        raise InvalidParameter(f"{name} contains other files; choose another folder for the sweep")
    return folder


def _why_not(project: Project) -> str:
    if not project.sources.documents:
        return (
            "A sweep needs the documents, and this studio shows an index. "
            "Start the studio with the documents instead."
        )
    if not project.sources.questions and not project.queries:
        return "A sweep needs questions with references: draft some under Questions, or label passages."
    return ""


def _questions(project: Project, form: SweepForm) -> str:
    """The file of the questions; that of labels is written anew, so that it says what people say now."""
    if form.questions == "file":
        own = project.questions_file()
        return str(own) if own.is_file() else project.sources.questions
    from chunkwise.labels.question_labels import labels_of
    from chunkwise.labels.to_testset import questions_from_labels, write_questions

    store = project.labels()
    labels = labels_of(store) if store.exists() else []
    made = questions_from_labels(labels, project.queries)
    if not made.queries:
        raise InvalidParameter(
            f"no question has labels yet in {store.place}; label some, or sweep with "
            "the references of the questions"
        )
    LABELLED.parent.mkdir(parents=True, exist_ok=True)
    write_questions(made, LABELLED, project.corpus.documents(), labels)
    return str(LABELLED)


def _command(project: Project, form: SweepForm) -> list[str]:
    if why := _why_not(project):
        raise InvalidParameter(why)
    folder = _folder(form.name)
    if (folder / SWEEP_FILES[0]).is_file() and not (folder / RESULTS).is_file():
        return ["tune", "--resume", "-o", str(folder)]  # with the settings it was started with
    questions = _questions(project, form)
    command = ["tune", *project.sources.documents, "--queries", questions]
    command += ["--embedder", str(form.embedder), "-o", str(folder)]
    if form.objective:
        command += ["--objective", str(form.objective)]
    command += ["--time-limit", form.time]
    return command


def _shown(command: Sequence[str]) -> str:
    return "chunkwise " + " ".join(map(shlex.quote, command))


def estimate(project: Project, form: SweepForm) -> EstimateView:
    command = _command(project, form)
    job = started([*command, "--dry-run"])
    try:
        status = job.process.wait(timeout=300)
    except subprocess.TimeoutExpired:
        job.stop()
        raise NotReady(
            "the estimate takes longer than five minutes; run chunkwise tune --dry-run in a terminal"
        ) from None
    lines = _said(job)
    if status not in (0, 3):
        raise ChunkwiseError(
            lines[-1] if lines else f"chunkwise tune failed with exit status {status}"
        )
    return EstimateView(tuple(lines), _shown(command))


def _said(job: Job) -> list[str]:
    """Without the name of the program, which stands before each line."""
    job.reader.join(timeout=60)  # the last lines may still be on their way
    return [line.removeprefix("chunkwise: ").removeprefix("error: ") for line in list(job.lines)]


def start(project: Project, form: SweepForm) -> SweepsView:
    command = _command(project, form)
    with project.jobs_lock:
        running = [name for name, job in project.sweeps.items() if job.is_running]
        if running:
            raise NotReady(f"the sweep {running[0]} is running; stop it, or wait")
        project.sweeps[str(form.name)] = started(command)
    return sweeps(project, NoParameters())


def stop(project: Project, which: SweepName) -> SweepsView:
    job = project.sweeps.get(str(which.name))
    if job is None:
        raise NotFound(f"no sweep {which.name!r:.80} was started in this studio")
    job.stop()
    return sweeps(project, NoParameters())


def apply(project: Project, which: SweepName) -> SweepsView:
    """Makes the index by the recommendation, as `chunkwise index … --config` does."""
    folder = _folder(which.name)
    if not (folder / RECOMMENDATION).is_file():
        raise NotFound(f"the sweep {which.name} has no recommendation yet")
    if not project.sources.documents:
        raise InvalidParameter(_why_not(project))
    command = ["index", *project.sources.documents, "--into", project.into, "--rebuild"]
    with project.jobs_lock:
        if any(job.is_running for job in project.applied.values()):
            raise NotReady("an index is already being built; wait until it is done")
        project.applied[str(which.name)] = started(
            [*command, "--config", str(folder / RECOMMENDATION)]
        )
    return sweeps(project, NoParameters())


def _names(project: Project) -> list[str]:
    """The sweeps of the working folder, that of the latest work first."""
    there = {*project.sweeps, *(path.parent.name for path in Path().glob(f"*/{SWEEP_RECORD}"))}

    def worked_on(name: str) -> float:
        files = (Path(name) / RESULTS, Path(name) / SWEEP_RECORD, Path(name))
        return max((file.stat().st_mtime for file in files if file.exists()), default=time.time())

    return sorted((name for name in there if _NAME.fullmatch(name)), key=worked_on, reverse=True)


def newest_sweep(project: Project) -> SweepProgress | None:
    """The sweep of the latest work; None: there is none."""
    names = _names(project)
    if not names:
        return None
    state, done, job = _state_of(project, names[0])
    total = f" of {thousands(job.total)}" if job is not None and job.total > done else ""
    notes = {"running": f"{thousands(done)}{total}", "done": ""}
    return SweepProgress(state, notes.get(state, state))


def verdict_of(sweep: SweepResult) -> SweepVerdict | None:
    """None: nothing could be recommended."""
    chosen = next((item for item in sweep.standings if item.key == sweep.chosen), None)
    if chosen is None:
        return None
    # On questions that had no part in the choice, as the difference to the default is.
    result = chosen.test or (sweep.nested.figure if sweep.nested else chosen.validation)
    against = next(iter(sweep.against), None)
    gain = ""
    if against is not None:
        low, high = (f"{100 * value:+.0f}" for value in (against.low, against.high))
        gain = (
            f"{100 * against.difference:+.0f} points ({low} to {high}) against {against.baseline}"
        )
    return SweepVerdict(
        one_line(sweep.sentence.partition(". ")[0].rstrip(".") + ".", 400), one_line(chosen.label, 200),
        f"{sweep.objective} {format_score(sweep.objective, result.mean)} "
        f"({format_interval(result.low, result.high, kind_of(sweep.objective))})",
        one_line(gain, 200).replace("-", "−"), against.words if against else "",
    )  # fmt: skip


def sweeps(project: Project, _: NoParameters) -> SweepsView:
    with suppress(ChunkwiseError):  # told beside the sweep
        project.take_applied()
    rows = tuple(_row(project, name) for name in _names(project))
    there = {row.name for row in rows}
    names = chain([USUAL_NAME], (f"{USUAL_NAME}-{number}" for number in count(2)))
    return SweepsView(
        _why_not(project), get_args(Embedder), get_args(TimeLimit), project.labeled_count(), project.into,
        next(name for name in names if name not in there), rows,
    )  # fmt: skip


def _state_of(project: Project, name: str) -> tuple[State, int, Job | None]:
    """How a sweep is, its finished configurations, and its process if it was started here."""
    folder, job = Path(name), project.sweeps.get(name)
    done = sum(1 for _ in (folder / SWEEP_RECORD).glob("outcomes/*.json"))
    state: State = "done" if (folder / RESULTS).is_file() else "stopped"
    if job is not None and job.is_running:
        state = "running"
    elif job is not None and job.process.returncode not in (0, 3):
        state = "stopped" if job.was_stopped else "failed"
    return state, done, job


def _row(project: Project, name: str) -> SweepRow:
    folder = Path(name)
    state, done, job = _state_of(project, name)
    run = project.run_of_file(folder / RESULTS) if state == "done" else None
    sweep = None if run is None else project.run(run).sweep
    return SweepRow(
        name, state, done, max(job.total if job else 0, done if state == "done" else 0),
        time.monotonic() - job.began if job is not None and job.is_running else 0.0,
        tuple(_said_last(job)) if job is not None and state != "done" else (), run,
        verdict_of(sweep) if sweep else None,
        state == "done" and (folder / RECOMMENDATION).is_file(), _applying(project.applied.get(name)),
    )  # fmt: skip


def _said_last(job: Job) -> list[str]:
    return [line.removeprefix("chunkwise: ") for line in list(job.lines)[-4:]]


def _applying(job: Job | None) -> str:
    if job is None:
        return ""
    if job.is_running:
        return "running"
    if job.process.returncode in (0, 3):
        return "done"
    return job.lines[-1] if job.lines else f"failed with exit status {job.process.returncode}"


def is_running(project: Project) -> bool:
    return any(job.is_running for job in (*project.sweeps.values(), *project.applied.values()))

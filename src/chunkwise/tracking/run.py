"""What is remembered of a run: figures, scores, settings, fingerprints, and where it comes from (user, host, git)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.core import Document, Query
from chunkwise.documents.document_hash import document_hash
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.verdicts_and_advice import question_of
from chunkwise.metrics.registry import format_score
from chunkwise.records.json import json_text, plain
from chunkwise.tracking import RunKind


@dataclass(frozen=True, slots=True)
class KeptFigure:
    """One metric of a run."""

    mean: float | None
    """None: nothing could be scored."""
    low: float | None = None
    """The 95% interval; None for metrics that are not means over questions."""
    high: float | None = None
    scored: int = 0
    questions: int = 0
    """All questions, scored or not."""
    detectable: float | None = None
    """The least difference to another run that this many questions can show; None: not known."""

    @property
    def is_amount(self) -> bool:
        """Whether it is a count, such as the documents of a profile, and neither a mean nor a share."""
        return not self.scored and self.low is None and self.mean is not None and self.mean % 1 == 0

    @property
    def is_nothing(self) -> bool:
        """Whether it counts something of which there is none."""
        return self.is_amount and not self.mean


class KeptHit(NamedTuple):
    """A hit of a question, by its span."""

    doc_id: str
    start: int
    end: int
    text: str = ""
    """Empty unless texts were to be kept."""


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """A question of a run."""

    id: str
    text: str
    fingerprint: str = ""
    """Of what is asked and the passages, answers and facts that are expected; empty: not known."""
    types: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Those of its references."""
    hits: tuple[KeptHit, ...] = ()
    """In the order of their ranks."""


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """Who ran it, where, and of which state of a repository; empty: not known, or not to be kept."""

    user: str = ""
    host: str = ""
    git_revision: str = ""
    git_branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as a list of runs has it."""

    number: int = 0
    """In the order in which runs were kept, whatever the clock said; 0: not kept yet."""
    kind: RunKind
    when: str
    """Date and time in UTC, as 2026-01-31T08:00:00Z."""
    label: str
    """What was run, in one line."""
    objective: str = ""
    """The metric that is looked at first."""
    figures: Mapping[str, KeptFigure] = field(default_factory=dict)
    """Results by metric, such as `recall@5`."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    documents_hash: str = ""
    questions_hash: str = ""
    origin: RunOrigin = field(default_factory=RunOrigin)
    seconds: float | None = None
    money: float | None = None
    """US dollars that language models cost; None: not known."""
    source: str = ""
    """The file it was imported from; empty: it was kept when it ran."""

    @property
    def settings_hash(self) -> str:
        return hash_of_json(self.settings)

    @property
    def main_metric(self) -> str:
        """The objective if it has a score, else the first that has one; empty: there is none."""
        return next(iter(self.main_metrics(1)), "")

    def main_metrics(self, most: int = 3) -> list[str]:
        """The objective first, then one for each of the four questions, then in the order of the tables."""
        known = [name for name, figure in self.figures.items() if figure.mean is not None]
        first = {question.name: name for name in reversed(known) if (question := question_of(name))}
        order = {
            name: (
                name != self.objective,
                name not in first.values(),
                self.figures[name].is_nothing,
            )
            for name in known
        }
        return sorted(known, key=lambda name: order[name])[:most]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**plain(self), "settings_hash": self.settings_hash}

    def __repr__(self) -> str:
        """What it is, and the figure that is looked at first."""
        metric = self.main_metric
        figure = f"; {metric} {format_score(metric, self.figures[metric].mean)}" if metric else ""
        return f"<{type(self).__name__} {self.label}{figure}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KeptRun(RunSummary):
    """A run with all that is remembered of it."""

    documents: Mapping[str, str] | None = None
    """Fingerprints by id; None: not known by document."""
    questions: tuple[KeptQuestion, ...] = ()
    scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By metric, in the order of the questions; None: unscored."""
    details: Mapping[str, Json] = field(default_factory=dict)
    """What only runs of this kind say."""
    key: str = ""
    """Of the file of results it is: the same file is one run, however often it is imported."""

    def sample(self, metric: str) -> tuple[float, ...]:
        """The scores that its mean is of: one per question, or 1 and 0 per chunk where it is a share of chunks.

        Empty: it has no mean, or one over neither.
        """
        if metric in self.scores:
            return tuple(score for score in self.scores[metric] if score is not None)
        figure = self.figures.get(metric)
        if figure is None or figure.mean is None:
            return ()
        met = round(figure.mean * figure.scored)
        if abs(met - figure.mean * figure.scored) > 1e-6:
            return ()
        return (1.0,) * met + (0.0,) * (figure.scored - met)

    def __post_init__(self) -> None:
        for metric, own in self.scores.items():
            if len(own) != len(self.questions):
                raise InvalidParameter(
                    f"{metric} has {counted(len(own), 'score')} for "
                    f"{counted(len(self.questions), 'question')}; "
                    "expected one per question, None if unscored"
                )


def document_fingerprints(documents: Iterable[Document]) -> dict[str, str]:
    """By id."""
    return {document.id: document_hash(document) for document in documents}


def question_fingerprint(query: Query, texts: Mapping[str, str] | None = None) -> str:
    """Of what is asked and what is expected: of passages the words, where the documents' `texts` are known.

    So a passage that only moved, since something was inserted above it, is the same passage.
    """

    def passage(doc_id: str, start: int, end: int) -> list[Json]:
        if texts is None or doc_id not in texts:
            return [doc_id, start, end]
        return [doc_id, texts[doc_id][start:end]]

    said: list[object] = [
        query.text, query.answer, [[fact.text, list(fact.aliases)] for fact in query.facts],
        [[passage(*place) for place in reference.places] for reference in query.references],
        [[*passage(*label[:3]), label.relevant] for label in query.labels],
    ]  # fmt: skip
    return fingerprint(json.dumps(said, ensure_ascii=True))


def fingerprint(text: str) -> str:
    """32 hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def hash_of_json(value: object) -> str:
    """The same for the same values, in whatever order their names stand."""
    return fingerprint(json.dumps(plain(value), sort_keys=True))


def parsed(name: str, text: Any) -> Any:
    """A cell of JSON; a ValueError where somebody else has changed it."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"{name} is not JSON") from None


def kept_questions(
    queries: Sequence[Query], documents: Sequence[Document] | None
) -> tuple[KeptQuestion, ...]:
    """Questions without anything retrieved for them."""
    texts = None if documents is None else {document.id: document.text for document in documents}
    return tuple(
        KeptQuestion(
            query.id, query.text, question_fingerprint(query, texts), query.types,
            tuple(dict.fromkeys(reference.doc_id for reference in query.references)),
        )
        for query in queries
    )  # fmt: skip


def utc_now() -> str:
    """Date and time, to the second."""
    return time_text(datetime.now(UTC))


def time_text(when: datetime) -> str:
    """In UTC, as 2026-01-31T08:00:00Z: texts are in the order of their times; without a zone it is UTC already."""
    own = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    # Years have four digits here, with strftime only from 1000 on.
    return own.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def run_row(run: RunSummary) -> dict[str, object]:
    """Describe a run in the columns that its rows in tables share."""
    origin = run.origin
    return {
        "run": run.number, "when": run.when, "kind": run.kind, "label": run.label,
        "git_revision": origin.git_revision, "git_branch": origin.git_branch, "user": origin.user,
        "host": origin.host, "source": run.source, "documents_hash": run.documents_hash,
        "questions_hash": run.questions_hash, "settings_hash": run.settings_hash,
        "chunkwise": run.versions.get("chunkwise", ""), "settings": json_text(run.settings),
        "seconds": run.seconds, "money": run.money,
    }  # fmt: skip


def figure_rows(run: RunSummary) -> Iterator[dict[str, object]]:
    """List the metrics of a run as rows of a table."""
    for metric, figure in run.figures.items():
        yield {
            **run_row(run), "metric": metric, "is_objective": metric == run.objective, "mean": figure.mean,
            "low": figure.low, "high": figure.high, "scored": figure.scored,
            "questions": figure.questions, "detectable": figure.detectable,
        }  # fmt: skip

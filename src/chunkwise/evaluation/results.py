"""What an evaluation found out, whole: figures, intervals, every question's scores; in memory and as a file."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from chunkwise.base.errors import InvalidParameter, UnknownMetric
from chunkwise.base.repr_html import drawn
from chunkwise.base.version import __version__
from chunkwise.base.wording import counted, did_you_mean, thousands
from chunkwise.chunkers.read_chunks import shown_label
from chunkwise.core import Passage
from chunkwise.metrics.metric import CutCounts
from chunkwise.metrics.registry import format_score, remember
from chunkwise.options import STEPS, SearchOptions
from chunkwise.records.json import plain, saved_text
from chunkwise.records.read import read_saved
from chunkwise.records.tables import Table
from chunkwise.records.write import text_file

_COUNTED = ("numpy", "regex", "bpe-openai", "lxml", "onnxruntime", "tokenizers", "PyStemmer")
"""Packages whose versions can change a figure."""


def versions() -> dict[str, str]:
    """Of chunkwise, Python and the packages that take part."""
    return dict(_versions())


@cache
def _versions() -> Mapping[str, str]:
    result = {"chunkwise": __version__, "python": platform.python_version()}
    for name in _COUNTED:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            continue
    return result


_LIBRARIES = ("endpoint", "fastembed", "sentence-transformers", "sentence-transformers-reranker")
_HASHED = ("gguf",)
"""Kinds that are told apart by a hash alone: without it nothing would be left of them."""


def short_name(identity: str) -> str:
    """`minilm` of `minilm:afdb6f1a0e45:be50c3628f2b:mean:256:windows`, `big-1` of `endpoint:host/v1#'big-1'`."""
    if asked := re.search(r"#'(.+)'$", identity):
        return asked[1]
    kind, _, rest = identity.partition(":")
    if kind in _HASHED:
        return identity
    name = rest if kind in _LIBRARIES and rest else kind
    return re.split(r"[@ ]", name, maxsplit=1)[0] or identity


def _writer(made: Mapping[str, Json]) -> str:
    """The model that wrote the contexts: two runs may differ by it alone."""
    identity = made.get("context_llm")
    return f"by {short_name(str(identity))}" if identity else ""


Json = str | int | float | bool | None | list[Any] | dict[str, Any]


def positions_by(groups: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """The positions of things by the names of their groups: types of a question, its documents."""
    result: dict[str, list[int]] = {}
    for at, names in enumerate(groups):
        for name in dict.fromkeys(names):
            result.setdefault(name, []).append(at)
    return result


LATENCY = "retriever_"
"""How entries in `timing` begin that say how long a question took a retriever of the user's own."""
FORMAT = "chunkwise results"
"""What the file of an evaluation calls itself."""
VERSION = 1
"""Of the file's layout; a reader refuses a later one."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric over all questions, or those of one type or document."""

    mean: float | None
    """None if no question is scored."""
    low: float | None = None
    """95% confidence interval; None for metrics per corpus."""
    high: float | None = None
    scored: int = 0
    unscored: Mapping[str, int] = field(default_factory=dict)
    """Number of unscored questions by reason."""
    verdict: str = ""
    """excellent, good or below; empty if the metric has no targets."""
    unjudged_hits: Mapping[str, int] = field(default_factory=dict)
    """Number of unjudged hits by reason."""

    @property
    def questions(self) -> int:
        """All questions, scored or not."""
        return self.scored + sum(self.unscored.values())

    @property
    def of_how_many(self) -> str:
        """`2 of 27 questions` if some are unscored, else empty."""
        return (
            f"{thousands(self.scored)} of {counted(self.questions, 'question')}"
            if self.unscored
            else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: as the file of results has them."""
        return plain(self)


class Figures(dict[str, Figure]):
    """By metric; a name that is not there is answered with those that are."""

    def __missing__(self, name: object) -> Figure:
        there = f"known: {', '.join(self) or 'none'}"
        near = did_you_mean(str(name), self, there)
        hint = there if near == there else f"{near} {there}"
        raise UnknownMetric(f"the results have no metric {name!r}; {hint}")


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A hit as the file keeps it: without its text, which is in the document."""

    doc_id: str
    start: int
    end: int
    rank: int
    score: float
    token_count: int
    relevant: Mapping[str, bool | None]
    """By judge; None: unscored."""
    summary: str = ""
    """What a summary says; `start` and `end` are around its places in its first document."""
    summarized: tuple[tuple[str, int, int], ...] = ()
    """The spans that a summary covers: id of the document, start, end."""

    @property
    def places(self) -> tuple[Passage, ...]:
        """All its spans."""
        own = self.summarized or ((self.doc_id, self.start, self.end),)
        return tuple(Passage(*row) for row in own)


@dataclass(frozen=True, slots=True)
class Missed:
    """A part of a reference that no hit covers."""

    doc_id: str
    start: int
    end: int
    """Of the reference's best covered place, what is missing."""
    text: str
    rank: int | None
    """The rank at which it stands, further down than the hits; None: nowhere in what was searched."""

    @property
    def passage(self) -> Passage:
        """The place in its document."""
        return Passage(self.doc_id, self.start, self.end)


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Hits, missed references and scores of one question."""

    id: str
    text: str
    types: tuple[str, ...]
    documents: tuple[str, ...]
    """Documents of its references."""
    scores: Mapping[str, float | None]
    """Scores by metric, in the order of the summary."""
    unscored: Mapping[str, str]
    """Reasons by unscored metric."""
    hits: tuple[FoundSpan, ...]
    missed: tuple[Missed, ...]
    context_tokens: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges on the same hits."""

    first: str
    second: str
    kappa: float | None
    """Cohen's kappa; None if undefined."""
    same: float | None
    """Share of hits they agree on."""
    hits: int


@dataclass(frozen=True, slots=True)
class MetricAdvice:
    """Advice for a low score."""

    metric: str
    text: str


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """The calibration of a judge on this machine."""

    against: str
    """Ground truth: labels or spans."""
    same_questions: bool
    accuracy: float | None
    kappa: float | None
    verdicts: int
    weakness: str = ""
    """Why the judge is unreliable; empty if it isn't."""


@dataclass(frozen=True, slots=True, repr=False)
class Results(Table):
    """Metrics of one evaluation with confidence intervals, and the scores of every question.

    Equal inputs give equal bytes, apart from `calibrations` and `timing`.
    """

    configuration: Mapping[str, Json]
    """All settings needed to reproduce the run."""
    versions: Mapping[str, str]
    data: Mapping[str, Json]
    """Hashes and counts of documents and questions, and skipped ones with reasons."""
    summary: Mapping[str, Figure]
    """Results by metric, such as `recall@5`."""
    by_type: Mapping[str, Mapping[str, Figure]]
    by_document: Mapping[str, Mapping[str, Figure]]
    cuts: CutCounts | None
    cost: Mapping[str, Json]
    agreement: tuple[Agreement, ...]
    advice: tuple[MetricAdvice, ...]
    worst: tuple[str, ...]
    """Ids of the questions with the lowest `objective`, worst first."""
    objective: str
    """The main metric, which orders questions."""
    detectable: Mapping[str, float]
    """Minimum detectable difference by metric."""
    questions: tuple[QuestionResult, ...]
    calibrations: Mapping[str, KnownJudge] = field(default_factory=dict, compare=False)
    """Calibrations by judge, from `chunkwise testset calibrate`."""
    timing: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Seconds of each stage."""

    def __post_init__(self) -> None:
        # A frozen value is filled once, here.
        object.__setattr__(self, "summary", Figures(self.summary))

    @property
    def label(self) -> str:
        """Short name: strategy, retriever and steps, or the file of hits."""
        made = self.configuration
        strategy = made.get("strategy")
        context = made.get("context")
        beside = "" if context in (None, "none") else f"{context} context"
        parts = (strategy, beside, _writer(made), made.get("retriever"), *self.steps)
        named = " · ".join(str(part) for part in parts if part)
        return shown_label(named) or str(self.configuration.get("hits", ""))

    @property
    def steps(self) -> list[str]:
        """Steps after ranking, such as reranking."""
        values = ((name, self.configuration.get(name)) for name in STEPS)
        return [
            f"{name} {short_name(str(value))}"
            for name, value in values
            if value not in (None, getattr(SearchOptions, name))
        ]

    def save(self, path: str | Path) -> None:
        """Write the results atomically to a file for `read_results`.

        Args:
            path: The JSON file.

        Raises:
            InvalidParameter: A score is NaN or infinite.
        """
        with text_file(Path(path)) as out:
            out.write(results_text(self))

    def rows(self) -> Iterator[dict[str, object]]:
        """List the questions with their scores by metric."""
        for question in self.questions:
            yield {
                "id": question.id,
                "text": question.text,
                "types": question.types,
                **question.scores,
            }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: the content of a results file, which `read_results` reads."""
        return {"format": FORMAT, "version": VERSION, **plain(self)}

    def _repr_html_(self) -> str:
        return drawn(self)

    def __repr__(self) -> str:
        figure = self.summary.get(self.objective)
        message = (
            ""
            if figure is None or figure.mean is None
            else f", {self.objective} {format_score(self.objective, figure.mean)}"
        )
        return f"<Results {self.label}: {counted(len(self.questions), 'question')}{message}>"


def results_text(results: Results) -> str:
    """What the file holds."""
    try:
        return saved_text(results, FORMAT, VERSION, "questions")
    except ValueError:
        raise InvalidParameter(
            "results contain NaN or infinity; use None and a reason for unscored values"
        ) from None


def read_results(path: str | Path) -> Results:
    """Read results written by `Results.save`.

    Args:
        path: The file.

    Returns:
        The results.

    Raises:
        ChunkwiseError: The file is unreadable, damaged or of another version.

    Example:
        >>> chunkwise.read_results("results.json").summary["recall@5"]
    """
    results = read_saved(
        path, Results, FORMAT, VERSION, "Results.save or chunkwise evaluate -o FILE"
    )
    remember(results.data.get("metrics"))
    return results

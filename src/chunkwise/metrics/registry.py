"""Every metric there is, by the names users give: our own, those of other packages, and `./file.py:NAME`."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType

from chunkwise.base.errors import InvalidParameter, UnknownName, warn_user
from chunkwise.base.parameters import named_list
from chunkwise.base.registry import RegisteredPart, Registry
from chunkwise.base.wording import Kind, did_you_mean, format_estimate, shown
from chunkwise.metrics.judges import retrieval_precision
from chunkwise.metrics.judges.judge import LLM
from chunkwise.metrics.judges.judge import registry as judges
from chunkwise.metrics.metric import KeyQuestion, Metric

_FILES = (
    "spans.retrieval_metrics",
    "judges.retrieval_precision",
    "judges.judged_ranking",
    "answers.faithfulness",
    "answers.correctness",
    "answers.relevancy",
    "answers.completeness",
    "cuts.boundary_issue_counts",
    "cuts.coherence",
    "answers.citations",
    "spans.chroma",
)
"""Each has its metrics in METRICS."""

GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "retrieval": "Retrieval",
        "retrieval_precision": "Retrieval",
        "labels": "Human labels",
        "completeness": "Retrieval",
        "boundary_issues": "Chunks",
        "citation_accuracy": "Answers",
        "answers": "Answers",
        "chroma": "Chroma report definitions",
    }
)
"""Our own groups in the order of the tables, and what a page calls their metrics."""

registry = Registry("metric", "chunkwise.metrics", {}, needs=("score", "help"))
"""What other packages and files declare."""

_handed_over: dict[str, Metric] = {}
"""Metrics of files that were named in this process, of judges from files, and those given as objects."""


@cache
def _own() -> dict[str, Metric]:
    metrics = [
        metric
        for file in _FILES
        for metric in importlib.import_module(f"chunkwise.metrics.{file}").METRICS
    ]
    order = list(GROUPS)
    return {each.name: each for each in sorted(metrics, key=lambda item: order.index(item.group))}


@lru_cache(maxsize=4)
def _others(path: tuple[str, ...]) -> dict[str, Metric]:
    """Of the packages on this path."""
    others = {}
    for name, part in registry.all().items():
        try:
            others[_checked(name, part).name] = part
        except InvalidParameter as error:
            warn_user(str(error))
    for judge in judges.names():
        if judge not in judges.builtin:
            metric = retrieval_precision.of_judge(judge)
            others[metric.name] = metric
    return others


def _checked(name: str, part: object) -> Metric:
    if isinstance(part, type):
        raise InvalidParameter(
            f"{name} is a class; expected an instance: {name}(name, help, score=…)"
        )
    if not isinstance(part, Metric):
        raise InvalidParameter(
            f"{name} is {type(part).__name__}; expected chunkwise.ext.Metric(name, help, score=…)"
        )
    if part.name in _own():
        raise InvalidParameter(f"{name} declares {part.name!r}, which is a built-in metric")
    return part


def known_metrics() -> dict[str, Metric]:
    """Return all installed metrics by name, in the order of the tables: our own, then those of other packages.

    Metrics that were handed over are left out, so that what `all` measures does not depend on what ran before.
    """
    return {**_own(), **_others(tuple(sys.path))}


def listed_metrics() -> list[RegisteredPart]:
    """Our own and those of other packages, as every registry lists its parts."""
    parts = [RegisteredPart(name, "chunkwise", "") for name in _own()]
    return parts + [
        replace(part, problem=part.problem or _why_not(part.name)) for part in registry.listed()
    ]


def _why_not(name: str) -> str:
    try:
        _checked(name, registry.get(name))
    except InvalidParameter as error:
        return str(error)
    return ""


def is_own(metric: Metric) -> bool:
    """Whether it is one of ours: what others wrote may raise anything."""
    return _own().get(metric.name) is metric


def metric_of(label: str) -> Metric | None:
    """The metric of a name as tables and files have it, such as `failure@20`; None: nobody here declares it."""
    name = label.partition("@")[0]
    return _own().get(name) or known_metrics().get(name) or _handed_over.get(name)


def kind_of(metric: str) -> Kind:
    """Scores from 0 to 1 are read as per cent."""
    known = metric_of(metric)
    return "score" if known is None or known.bounds == (0.0, 1.0) else "number"


def format_score(
    metric: str, value: float | None, low: float | None = None, high: float | None = None
) -> str:
    """A metric's value with its interval: "81% (73–87)", "unscored"."""
    return "unscored" if value is None else format_estimate(value, low, high, kind_of(metric))


def from_file(reference: str) -> Metric:
    """The metric of `./file.py:NAME`, known by its own name from now on."""
    return handed_over(reference, registry.get(reference))


def handed_over(called: str, part: object) -> Metric:
    """A metric that stands behind no name, known by its own from now on."""
    metric = part if isinstance(part, Metric) and is_own(part) else _checked(called, part)
    _handed_over[metric.name] = metric
    return metric


def of_judge(judge: str) -> Metric:
    """The share of hits that a judge finds relevant; of one from a file it is known from now on."""
    metric = retrieval_precision.of_judge(judge)
    return metric_of(metric.name) or _handed_over.setdefault(metric.name, metric)


def described(metrics: Iterable[Metric]) -> dict[str, dict[str, str]]:
    """What files of results keep of metrics that are not ours: who reads them may not have the package."""
    return {
        metric.name: {
            "help": metric.help, "better": metric.better, "group": metric.group, "per": metric.per
        }
        for metric in metrics
        if not is_own(metric) and not metric.judge
    }  # fmt: skip


def remember(told: object) -> None:
    """Metrics as a file describes them, where nobody here declares them; what makes no sense is left alone."""
    for name, record in told.items() if isinstance(told, dict) else ():
        if (
            metric_of(name) is not None
            or not isinstance(record, dict)
            or not isinstance(record.get("help"), str)
        ):
            continue
        try:
            _handed_over[name] = Metric(
                name, record["help"], group=str(record.get("group", "others")),
                better="lower" if record.get("better") == "lower" else "higher",
                per="chunking" if record.get("per") == "chunking" else "question", at="hits or tokens",
            )  # fmt: skip
        except InvalidParameter:
            continue


def lower_is_better(label: str) -> bool:
    """Of a metric by the name it has in a table, as in `failure@20`."""
    metric = metric_of(label)
    return metric is not None and metric.better == "lower"


def help_of(label: str) -> str:
    """What a metric says, in a sentence or two; empty for one that is not known."""
    metric = metric_of(label)
    if metric is None:
        return ""
    messages = [metric.help]
    if label.partition("@")[2].endswith("t"):
        messages.append("Within this many context tokens.")
    if metric.better == "lower":
        messages.append("Less is better.")
    return " ".join(messages)


def title_of(metric: Metric) -> str:
    """Under which head a page shows it."""
    if metric.question is not None:
        return "The four questions"
    if metric.per == "chunking":
        return "Chunks"
    return GROUPS.get(metric.group, metric.group.replace("_", " ").capitalize())


def key_questions() -> dict[str, KeyQuestion]:
    """The four questions about a chunking by their metrics' name, in their order."""
    asked = [metric.question for metric in known_metrics().values() if metric.question]
    return {question.name: question for question in dict.fromkeys(asked)}


def groups(asked: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """Names that stand for several metrics: groups as they are declared, and what names have before their dot.

    `asked`: judges that may be asked, whose metrics are members even if they are not installed.
    """
    every = known_metrics() | {metric.name: metric for metric in map(of_judge, asked)}
    result: dict[str, list[str]] = {name: [] for name in GROUPS}
    families: dict[str, list[str]] = {}
    later: dict[str, list[str]] = {}
    for metric in every.values():
        own = result.setdefault(metric.group, [])
        for at in metric.usual:
            (later.setdefault(metric.group, []) if at else own).append(
                f"{metric.name}@{at}" if at else metric.name
            )
        if metric.family != metric.name:
            families.setdefault(metric.family, []).append(metric.name)
    for group, names in later.items():
        result[group] += names
    several = {
        name: own for name, own in families.items() if name not in result and name not in every
    }
    return {name: tuple(own) for name, own in {**result, **several}.items() if own}


@dataclass(frozen=True, slots=True)
class MetricAt:
    """A metric at a number of hits or tokens."""

    metric: Metric
    at: int = 0
    """0 where nothing stands behind its @."""
    tokens: bool = False
    """Whether `at` counts tokens: hits are then taken in rank order, the last one cut at the budget."""

    @property
    def label(self) -> str:
        """The canonical name: argument, key and column head at once."""
        if self.metric.at == "none":
            return self.metric.name
        return f"{self.metric.name}@{self.at}{'t' if self.tokens else ''}"


_LABEL = re.compile(r"(?P<name>[a-z0-9_.-]+)(?:@(?P<at>0*[1-9][0-9]{0,8})(?P<tokens>t?))?")


def parse(text: str, k: int = 5, budget: int | None = None) -> MetricAt:
    """recall@5, recall@1000t, or a bare name: then at the budget or the k of the run, or where it is usual."""
    if ".py:" in text:
        text, at, number = text.partition("@")
        text = f"{from_file(text.strip()).name}{at}{number}"
    match = _LABEL.fullmatch(text.strip().lower())
    name = match["name"] if match else text.strip().lower().partition("@")[0]
    metric = metric_of(name)
    if metric is None:
        raise _unknown(text.strip())
    if match is None:
        raise InvalidParameter(
            f"{text!r}: expected a number of hits after @, as in {name}@5, or of tokens, as in "
            "recall@1000t"
        )
    if match["at"] is None:
        return _usual(metric, k, budget)
    if metric.at == "none":
        raise InvalidParameter(f"{text!r}: {name} has no cutoff; use {name}")
    if match["tokens"] and metric.at == "hits":
        raise InvalidParameter(f"{text!r}: {name} counts hits, not tokens; use {name}@{k}")
    return MetricAt(metric, int(match["at"]), bool(match["tokens"]))


def _usual(metric: Metric, k: int, budget: int | None) -> MetricAt:
    if metric.at == "none":
        return MetricAt(metric)
    if budget is not None and metric.at == "hits or tokens":
        return MetricAt(metric, budget, tokens=True)
    return MetricAt(metric, metric.usual_at or k)


def _unknown(name: str) -> UnknownName:
    known = list(dict.fromkeys(["all", *groups(), *known_metrics()]))
    listed = f"known: all, {', '.join(groups())}; `chunkwise list metrics` lists all"
    hint = did_you_mean(name, known, listed)
    return UnknownName(f"unknown metric {name!r}; {hint}")


def chosen(
    names: str | Metric | Iterable[str | Metric],
    k: int,
    budget: int | None,
    *,
    asked: Collection[str] = (),
) -> list[str]:
    """The metrics asked for, each once, in the order of the tables; those over hits with how many are looked at.

    `asked`: the judges that may be asked, since somebody named them.
    """
    wanted = _named(names)
    if not wanted:
        raise InvalidParameter(f"no metrics given; allowed: all, {', '.join(groups())}")
    result: dict[str, None] = {}
    for name in wanted:
        for member in _members(name, budget, asked):
            which = parse(member, k=k, budget=budget)
            if type(which.metric) is Metric and which.metric.score is None:
                raise _unknown(member)  # a file describes it, and nobody here can score it
            if which.metric.asks and which.metric.asks not in asked:
                raise InvalidParameter(_unnamed(which.metric))
            result[which.label] = None
    order: dict[str, int] = {}
    for name in (name for group in groups(asked).values() for name in group):
        order.setdefault(name, len(order))
        order.setdefault(
            name.partition("@")[0], len(order)
        )  # at other numbers it stands there, too

    def place(name: str) -> int:
        base = order.get(name.partition("@")[0], len(order))
        # Within a budget all are at the same number: none has a place of its own.
        return base if budget is not None else order.get(name, base)

    return sorted(result, key=place)


def _named(names: str | Metric | Iterable[str | Metric]) -> list[str]:
    several = [names] if isinstance(names, Metric) else names
    given = several.split(",") if isinstance(several, str) else named_list("metrics", several)
    named = (
        item if isinstance(item, str) else handed_over(_called(item), item).name for item in given
    )
    return [name.strip() for name in named if name.strip()]


def _called(part: object) -> str:
    """What an error calls what was handed over: a function and a class by their names."""
    return str(
        getattr(part, "__name__", None)
        or (type(part).__name__ if isinstance(part, Metric) else shown(part))
    )


def named_one_by_one(
    names: str | Metric | Iterable[str | Metric], k: int, budget: int | None
) -> tuple[str, ...]:
    """Those asked for by their own names, as they were written; groups name none."""
    known = {"all", *groups()}
    return tuple(
        parse(name, k=k, budget=budget).label for name in _named(names) if name not in known
    )


def asks_for_all(names: str | Metric | Iterable[str | Metric]) -> bool:
    """Whether everything is wanted that can be measured, and nothing in particular."""
    return "all" in list(_named(names))


def _members(name: str, budget: int | None, asked: Collection[str]) -> tuple[str, ...]:
    known = groups(asked)
    named = known if name == "all" else {name: known[name]} if name in known else {}
    # A name of a group that is a metric, too, stands for the group: it holds that metric.
    members = tuple(dict.fromkeys(item for group in named.values() for item in group))
    if not members:
        return (name,)
    # A search within a budget gives what fits: to look at more or at other amounts would need another search.
    return tuple(
        member
        for member in members
        if (budget is None or "@" not in member)
        and ((metric := metric_of(member)) is None or not metric.asks or metric.asks in asked)
    )


def _unnamed(metric: Metric) -> str:
    if metric.asks == LLM:
        return (
            f"{metric.name} needs an LLM judge: --judge llm --llm local (judge='llm', "
            f"llm='local' in Python)"
        )
    return (
        f"{metric.name} needs the judge {metric.asks}: --judge {metric.asks} "
        f"(judge={metric.asks!r} in Python)"
    )

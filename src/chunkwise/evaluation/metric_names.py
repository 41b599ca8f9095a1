"""What can be measured, by the names users give: single metrics, and groups of them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.metrics.measures import NAMES, is_measure, parse

_RANKED = ("recall", "precision", "density", "iou", "context_precision", "context_recall", "hit", "mrr",
           "ndcg", "map")  # fmt: skip

GROUPS: dict[str, tuple[str, ...]] = {
    "retrieval": (*_RANKED, "recall@1000t", "failure@20"),
    "retrieval_precision": (
        "retrieval_precision.labels",
        "retrieval_precision.spans",
        "retrieval_precision.similarity",
        "retrieval_precision.llm",
    ),
    "completeness": (
        "completeness.facts",
        "completeness.coverage",
        "completeness.spans",
        "completeness.llm",
        "context_recall.llm",
    ),
    "boundary_issues": ("boundary_issues", "split_references", "coherence", "cohesion", "contrast"),
    "citation_accuracy": (
        "citation_accuracy.position",
        "citation_accuracy.support",
        "citation_accuracy.attribution",
        "citation_accuracy.llm",
    ),
    "faithfulness": ("faithfulness.words", "faithfulness.llm"),
    "answer_correctness": ("answer_correctness.words", "answer_correctness.llm"),
    "answer_relevancy": ("answer_relevancy.similarity", "answer_relevancy.llm"),
    "answers": (
        "answer_completeness",
        "answer_correctness.words",
        "answer_correctness.llm",
        "answer_relevancy.similarity",
        "answer_relevancy.llm",
        "faithfulness.words",
        "faithfulness.llm",
        "citation_precision",
        "citation_recall",
    ),
    "chroma": ("chroma.recall", "chroma.precision", "chroma.iou", "chroma.precision_omega"),
}
"""The order is that of the tables."""

_EVERY = tuple(dict.fromkeys(name for names in GROUPS.values() for name in names))

OTHERS = tuple(name for name in _EVERY if not is_measure(name))
"""Metrics that are no measure over spans."""

BY_LLM = tuple(name for name in _EVERY if name.endswith(".llm"))
"""Metrics for which a language model is asked: in a group only where it is the judge."""


def chosen(
    names: str | Iterable[str], k: int, budget: int | None, *, llm: bool = False
) -> list[str]:
    """The metrics asked for, each once, in the order of the tables; those over hits with how many are looked at.

    `llm`: whether a language model may be asked.
    """
    given = names.split(",") if isinstance(names, str) else list(names)
    wanted = [name.strip() for name in given if name.strip()]
    if not wanted:
        raise InvalidParameter(f"no metric is named; allowed: all, {', '.join(GROUPS)}")
    found: dict[str, None] = {}
    for name in wanted:
        for each in _members(name, budget, llm):
            if each in BY_LLM and not llm:
                raise InvalidParameter(
                    f"{each} asks a language model; say so, and which: --judge llm --llm local"
                )
            found[each if each in OTHERS else _label(each, k, budget)] = None
    order = {name: at for at, name in enumerate(_EVERY)}

    def place(name: str) -> int:
        base = order.get(name.partition("@")[0], len(order))
        # Within a budget all are at the same number: none has a place of its own.
        return base if budget is not None else order.get(name, base)

    return sorted(found, key=place)


def _members(name: str, budget: int | None, llm: bool) -> tuple[str, ...]:
    groups = GROUPS if name == "all" else {name: GROUPS[name]} if name in GROUPS else {}
    # A name of a group that is a metric, too, stands for the group: it holds that metric.
    members = tuple(each for own in groups.values() for each in own)
    if not members:
        return (name,)
    # A search within a budget gives what fits: to look at more or at other amounts would need another search.
    return tuple(
        each
        for each in members
        if (budget is None or "@" not in each) and (llm or each not in BY_LLM)
    )


def _label(name: str, k: int, budget: int | None) -> str:
    if not is_measure(name):
        known = list(dict.fromkeys(["all", *GROUPS, *NAMES, *OTHERS]))
        near = get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
        raise UnknownName(f"no metric is named {name!r}; {hint}")
    return parse(name, k=k, budget=budget).label

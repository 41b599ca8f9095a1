"""Whether two runs measured the same thing: data, cut and rules."""

from __future__ import annotations

from collections.abc import Mapping

from chunkwise.evaluation.results import Json, Results
from chunkwise.models import DEFAULT as DEFAULT_MODEL
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER

_SIMILARITY = "retrieval_precision.similarity"


def warnings_of(first: Results, second: Results, names: tuple[str, str]) -> list[str]:
    """A sentence for each thing that differs and should not."""
    a, b = names
    found = [
        f"{a} and {b} were made with different {what}: a difference may come from them"
        for what in ("documents", "questions")
        if _fingerprint(first, what) != _fingerprint(second, what)
    ]
    found += _amounts(first, second, names)
    rules = _rules(first), _rules(second)
    for key in rules[0]:
        # What is asked of one run alone is compared with nothing.
        if key in rules[1] and (one := rules[0][key]) != (other := rules[1][key]):
            found.append(
                f"{key} differs ({a}: {_told(one)}, {b}: {_told(other)}): scores are not alike"
            )
    if first.questions and first.questions == second.questions:
        found.append(f"{a} and {b} found the same for every question: is one a copy of the other?")
    return found


def _amounts(first: Results, second: Results, names: tuple[str, str]) -> list[str]:
    """Where one hands out more than the other, or one a number of hits and the other what fits into tokens."""
    a, b = names
    more = "who may read more finds more"
    budgets = [run.configuration.get("budget") for run in (first, second)]
    if budgets.count(None) != 1:
        return [
            f"{key} differs ({a}: {_told(one)}, {b}: {_told(other)}): {more}; "
            "compare runs with the same, or by recall within a budget (recall@1000t)"
            for key in ("k", "budget")
            if (one := first.configuration.get(key)) != (other := second.configuration.get(key))
        ]
    told = f"{a} hands out {_amount(first)}, {b} {_amount(second)}: {more}"
    if {*_recalls(first)} & {*_recalls(second)}:
        return [told]
    counted, budget = (a, budgets[1]) if budgets[0] is None else (b, budgets[0])
    return [
        f"{told}, and no recall is in both ({a}: {', '.join(_recalls(first)) or 'none'}; "
        f"{b}: {', '.join(_recalls(second)) or 'none'}); evaluate both with --budget {budget}, "
        f"or {counted} with --metrics all,recall@{budget}t, too"
    ]


def _amount(run: Results) -> str:
    budget = run.configuration.get("budget")
    if budget is None:
        return f"{_told(run.configuration.get('k'))} hits a question"
    return f"what fits into {budget} tokens"


def _recalls(run: Results) -> list[str]:
    return [name for name in run.summary if name.startswith("recall@")]


def _rules(run: Results) -> Mapping[str, Json]:
    """What scores are made with; a file of another system's hits names no tokenizer and no model: the usual ones."""
    asked = run.configuration
    found = {key: asked.get(key) for key in ("unit", "relevance_threshold")}
    found["tokenizer"] = asked.get("tokenizer") or DEFAULT_TOKENIZER
    if _SIMILARITY in run.summary:
        found["similarity_threshold"] = asked.get("similarity_threshold")
        found["judge model"] = asked.get("judge_model") or asked.get("model") or DEFAULT_MODEL
    if any(name.endswith(".llm") for name in run.summary):
        found["language model"] = asked.get("llm")
        found["prompts"] = asked.get("judge_prompts")
    return found


def _fingerprint(results: Results, what: str) -> Json:
    """The hash, where there is one."""
    value = results.data.get(what)
    return value.get("hash", value) if isinstance(value, dict) else value


def _told(value: Json) -> str:
    return "none" if value is None else str(value)

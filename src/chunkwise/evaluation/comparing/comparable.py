"""Whether two runs measured the same thing: data, cut and rules."""

from __future__ import annotations

from chunkwise.evaluation.results import Json, Results

_RULES = ("unit", "relevance_threshold", "similarity_threshold")


def warnings_of(first: Results, second: Results, names: tuple[str, str]) -> list[str]:
    """A sentence for each thing that differs and should not."""
    a, b = names
    found = [
        f"{a} and {b} were made with different {what}: a difference may come from them"
        for what in ("documents", "questions")
        if _fingerprint(first, what) != _fingerprint(second, what)
    ]
    for key in ("k", "budget"):
        one, other = first.configuration.get(key), second.configuration.get(key)
        if one != other:
            found.append(
                f"{key} differs ({a}: {_told(one)}, {b}: {_told(other)}): who may read more finds more; "
                "compare runs with the same, or by recall within a budget (recall@1000t)"
            )
    for key in _RULES:
        one, other = first.configuration.get(key), second.configuration.get(key)
        if one != other:
            found.append(
                f"{key} differs ({a}: {_told(one)}, {b}: {_told(other)}): scores are not alike"
            )
    if first.questions and first.questions == second.questions:
        found.append(f"{a} and {b} found the same for every question: is one a copy of the other?")
    return found


def _fingerprint(results: Results, what: str) -> Json:
    """The hash, where there is one."""
    value = results.data.get(what)
    return value.get("hash", value) if isinstance(value, dict) else value


def _told(value: Json) -> str:
    return "none" if value is None else str(value)

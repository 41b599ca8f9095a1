"""What stands beside the figures of the four questions: how far one could rise, what it rests on, or lacks."""

from __future__ import annotations

from chunkwise.evaluation.four_questions import most_reachable
from chunkwise.evaluation.results import Results
from chunkwise.metrics.citations.position import EXACT, KINDS


def at_most(name: str, results: Results) -> str:
    """How far a figure can rise that no ranking could make good; else nothing."""
    most = most_reachable(results, name)
    return "" if most is None else f"at most {most:.3f}"


def with_so_many(results: Results) -> str:
    """Why it cannot rise further: how much is handed out."""
    asked = results.configuration
    return "here" if asked.get("budget") else f"with k={asked['k']}"


def nothing_known(results: Results) -> str:
    """That nothing can be said of the search, and what the questions lack; empty: something is known."""
    if not results.data.get("nothing_known"):
        return ""
    return (
        "no question has a reference, an answer, facts or labels: whether the right text is found cannot be scored. "
        'Add relevant_text: [{"query": "How long is the guarantee?", "relevant_text": "guaranteed for five years"}]'
    )


def offsets(results: Results) -> list[str]:
    """Of chunks from a file, how many offsets are of which kind, then what each kind means that is not exact."""
    known = results.data.get("positions")
    if not isinstance(known, dict):
        return []
    counts = {kind: count for kind in KINDS if isinstance(count := known.get(kind), int) and count}
    told = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.items())
    meanings = [f"{kind.replace('_', ' ')}: {KINDS[kind]}" for kind in counts if kind != EXACT]
    return [f"offsets: {told}", *meanings]

"""What stands beside a figure of the four questions: how far it could rise, what the offsets are worth."""

from __future__ import annotations

from chunkwise.evaluation.advice import out_of_reach
from chunkwise.evaluation.results import Results
from chunkwise.metrics.citations.position import EXACT, KINDS


def at_most(name: str, results: Results) -> str:
    """How far a figure can rise that no ranking could make good; else nothing."""
    known = results.data.get("reachable")
    most = known.get(name) if isinstance(known, dict) else None
    if not isinstance(most, int | float) or not out_of_reach(name, most):
        return ""
    where = (
        "here" if results.configuration.get("budget") else f"with k={results.configuration['k']}"
    )
    return f"at most {most:.3f} {where}"


def offsets(results: Results) -> list[str]:
    """Of chunks from a file, how many offsets are of which kind, then what each kind means that is not exact."""
    known = results.data.get("positions")
    if not isinstance(known, dict):
        return []
    counts = {kind: count for kind in KINDS if isinstance(count := known.get(kind), int) and count}
    told = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.items())
    meanings = [f"{kind.replace('_', ' ')}: {KINDS[kind]}" for kind in counts if kind != EXACT]
    return [f"offsets: {told}", *meanings]

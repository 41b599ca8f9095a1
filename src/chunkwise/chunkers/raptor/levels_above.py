"""What summaries would take whose texts are not known yet: clusters are counted, and texts as long as allowed."""

from __future__ import annotations

from chunkwise.chunkers.raptor.clustering import cluster_count
from chunkwise.chunkers.raptor.summaries import summary_requests
from chunkwise.models.llm.client import LlmClient, prompt_tokens
from chunkwise.models.llm.estimate import Estimate


def levels_above(
    client: LlmClient, below: int, levels: int, *, branching: int, summary_tokens: int
) -> Estimate:
    """For so many `levels` over `below` summaries of one document; the clusters of a level are asked about together."""
    empty, one = (summary_requests([texts], summary_tokens)[0] for texts in ([], [""]))
    wording = prompt_tokens(empty)
    passage = prompt_tokens(one) - wording + summary_tokens
    found = Estimate()
    for _ in range(levels):
        calls = cluster_count(below, branching)
        prompt = calls * wording + below * passage
        if calls:
            found += client.estimate_of(calls, prompt, calls * empty.max_tokens, calls)
        below = calls
    return found

"""What asking a language model took, in words."""

from __future__ import annotations

from chunkwise.evaluation.results import Results
from chunkwise.models.llm.prices import rough_dollars
from chunkwise.profile.wording import short_number

OF_LLM = "llm_"
"""How its entries in `timing` begin: a second run finds most verdicts kept, so that they are no part of the result."""

_WORDS = {
    "llm_calls": "calls",
    "llm_kept": "verdicts of earlier runs",
    "llm_failed": "requests without a usable answer",
    "llm_prompt_tokens": "tokens read",
    "llm_output_tokens": "tokens written",
}


def llm_spent(results: Results) -> list[tuple[str, str]]:
    """What, and how much of it; empty where none was asked."""
    timing = results.timing
    found = [
        (words, short_number(timing[key]))
        for key, words in _WORDS.items()
        if key in timing and (timing[key] or key == "llm_calls")
    ]
    if money := timing.get("llm_money"):
        found.append(("paid", rough_dollars(money)))
    return found

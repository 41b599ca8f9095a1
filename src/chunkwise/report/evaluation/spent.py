"""What asking a language model took, in words."""

from __future__ import annotations

from chunkwise.base.wording import short_number
from chunkwise.evaluation.results import Results
from chunkwise.models.llm.cost import rough_dollars

OF_LLM = "llm_"
"""How its entries in `timing` begin: a second run finds most verdicts kept, so that they are no part of the result."""

_WORDS = {
    "llm_calls": ("call", ""),
    "llm_kept": ("verdict", " of earlier runs"),
    "llm_failed": ("request", " without a usable answer"),
    "llm_prompt_tokens": ("token", " read"),
    "llm_output_tokens": ("token", " written"),
}
"""What is counted, and what is said of it."""


def llm_spent(results: Results) -> list[tuple[str, str]]:
    """What, and how much of it; empty where none was asked."""
    timing = results.timing
    found = [
        (noun + ("" if timing[key] == 1 else "s") + more, short_number(timing[key]))
        for key, (noun, more) in _WORDS.items()
        if key in timing and (timing[key] or key == "llm_calls")
    ]
    if money := timing.get("llm_money"):
        found.append(("paid", rough_dollars(money)))
    return found

"""What of the options of `chunkwise evaluate` does not go together, told before anything is read."""

from __future__ import annotations

from typing import Any

import click

from chunkwise.cli.evaluate_summaries import strategy_asks
from chunkwise.cli.llm_options import is_typed, or_local, refuse_unasked
from chunkwise.cli.messages import say


def check_judge(options: dict[str, Any]) -> None:
    """A language model is named where one is asked, and only there."""
    if options["judge"] == "llm":
        or_local(options)
    elif not strategy_asks(options):
        refuse_unasked("no language model is asked; add --judge llm")


def check_count(options: dict[str, Any]) -> None:
    """A number of hits and a budget are two ways to say how much is handed out: measures are cut at one of them.

    What is typed beats what a file says; two that are typed contradict each other.
    """
    if not is_typed("count"):
        return
    of_file = None if is_typed("budget") else options["budget"]
    if of_file is not None:
        options["budget"] = None
    if (budget := budget_of(options)) is not None:
        raise click.UsageError(
            f"-k is given, and within a budget ({budget:,} tokens) as many hits are handed out as fit; leave -k out, "
            f"or {_without_budget(options)}"
        )
    if of_file is not None:
        say(
            f"-k {options['count']} is given: the budget of --config, {of_file:,} tokens, is left out"
        )


def budget_of(options: dict[str, Any]) -> int | None:
    """The tokens a question gets; None: it gets `-k` hits."""
    from chunkwise.evaluation.subjects.index_subject import Searching, usual_budget

    budget: int | None = options["budget"]
    return budget if options["hits"] else usual_budget(Searching(options["retriever"]), budget)


def _without_budget(options: dict[str, Any]) -> str:
    if options["budget"] is None:
        return f"take another retriever than {options['retriever']}, which fills a budget"
    return "--budget"

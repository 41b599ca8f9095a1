"""`chunkwise judge`: its commands by name, each in a file of its own."""

from __future__ import annotations

import click

from chunkwise.cli.lazy_group import LazyGroup

_COMMANDS = {"calibrate": "Measure a judge against people's labels or gold spans."}

_EXAMPLES = """
\b
Examples:
  chunkwise judge calibrate handbook/ --test-queries queries.json --judge llm --llm local
  chunkwise judge calibrate handbook/ --test-queries queries.json --judge similarity
"""


class _JudgeGroup(LazyGroup):
    helps = _COMMANDS
    module = "chunkwise.cli.judge_{}"


@click.group("judge", cls=_JudgeGroup, epilog=_EXAMPLES)
def command() -> None:
    """Who says that a passage is relevant, and how far that can be trusted."""

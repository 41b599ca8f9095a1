"""`chunkwise testset`: its commands by name, each in a file of its own."""

from __future__ import annotations

import click

from chunkwise.cli.lazy_group import LazyGroup

_COMMANDS = {
    "check": "Verify that questions and documents fit, and repair what is beyond doubt.",
    "convert": "Bring questions from one format into another.",
    "generate": "Make questions from documents, with answers and exact references.",
    "review": "Accept, edit or drop questions one by one, in the terminal.",
}

_EXAMPLES = """
\b
Examples:
  chunkwise testset check queries.json handbook/
  chunkwise testset check queries.json handbook/ -o repaired.json
  chunkwise testset convert squad.json --to chunkwise
  chunkwise testset generate handbook/ -n 100 --llm openai:gpt-4o-mini -o queries.json
  chunkwise testset review queries.json handbook/
"""


class _TestsetGroup(LazyGroup):
    helps = _COMMANDS
    module = "chunkwise.cli.testset_{}"


@click.group("testset", cls=_TestsetGroup, epilog=_EXAMPLES)
def command() -> None:
    """Questions with references: make them, review them, check them against documents, convert them."""

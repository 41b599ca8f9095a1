"""`chunkwise testset`: its commands by name, each in a file of its own."""

from __future__ import annotations

import click

from chunkwise.cli.commands import LazyGroup

_COMMANDS = {
    "check": "Check that questions and documents fit together; repair what is certain.",
    "convert": "Convert a test set from one format into another.",
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
    package = "chunkwise.cli.testset"


@click.group("testset", cls=_TestsetGroup, epilog=_EXAMPLES)
def command() -> None:
    """Make, review, check and convert test sets: questions with references, the passages that answer them."""

"""`chunkwise cache`."""

from __future__ import annotations

import click

from chunkwise.base.wording import counted, megabytes, thousands
from chunkwise.cli.dataclass_options import CommandGroup
from chunkwise.cli.streams import print_json, say

_EXAMPLES = """
\b
Examples:
  chunkwise cache                        # how much is cached, for which models
  chunkwise cache clear --model minilm
  chunkwise cache clear
  chunkwise cache stats --json
"""
_STATS_EXAMPLES = """
\b
Examples:
  chunkwise cache stats
  chunkwise cache stats --json
"""
_CLEAR_EXAMPLES = """
\b
Examples:
  chunkwise cache clear
  chunkwise cache clear --model minilm
"""
_as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else."
)


@click.group("cache", cls=CommandGroup, invoke_without_command=True, epilog=_EXAMPLES)
@_as_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show how much is cached of models' embeddings, answers and verdicts, and clear it."""
    if context.invoked_subcommand is None:
        context.invoke(stats, as_json=as_json)


@command.command("stats", epilog=_STATS_EXAMPLES)
@_as_json
def stats(as_json: bool) -> None:
    """Show how much is cached for each model, and where."""
    from chunkwise.models.cache import ModelCache

    cache = ModelCache()
    kept = cache.stats()
    if as_json:
        shown = {
            "path": str(cache.path),
            "bytes_on_disk": cache.size(),
            "entries": sum(entry.entries for entry in kept),
            "models": [entry._asdict() for entry in kept],
        }
        print_json(shown)
        return
    for entry in kept:
        click.echo(f"{thousands(entry.entries):>10}  {megabytes(entry.bytes):>12}  {entry.model}")
    entries = sum(entry.entries for entry in kept)
    click.echo(f"{thousands(entries):>10}  {megabytes(cache.size()):>12}  on disk: {cache.path}")


@command.command("clear", epilog=_CLEAR_EXAMPLES)
@click.option("--model", metavar="NAME",
              help="Clear only models whose name, as `stats` shows it, begins with this.")  # fmt: skip
@_as_json
def clear(model: str | None, as_json: bool) -> None:
    """Delete what is cached; it is computed again when it is needed."""
    from chunkwise.models.cache import ModelCache

    cache = ModelCache()
    before = cache.size()
    removed = cache.clear(model)
    freed = max(0, before - cache.size())
    if as_json:
        print_json({"removed": removed, "freed": freed}, indent=None)
    else:
        say(f"{counted(removed, 'entry')} forgotten, {megabytes(freed)} freed")

"""`chunkwise cache`."""

from __future__ import annotations

import json

import click

from chunkwise.cli.sizes import megabytes

_EXAMPLES = """
\b
Examples:
  chunkwise cache                        # how much is kept, of which models
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
_as_json = click.option("--json", "as_json", is_flag=True, help="Only JSON on stdout.")


@click.group("cache", invoke_without_command=True, epilog=_EXAMPLES)
@_as_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Tell what is kept of earlier embeddings, and forget it."""
    if context.invoked_subcommand is None:
        context.invoke(stats, as_json=as_json)


@command.command("stats", epilog=_STATS_EXAMPLES)
@_as_json
def stats(as_json: bool) -> None:
    """How much is kept of each model, and where."""
    from chunkwise.models.cache import ModelCache

    cache = ModelCache()
    kept = cache.stats()
    if as_json:
        told = {
            "path": str(cache.path),
            "bytes_on_disk": cache.size(),
            "entries": sum(each.entries for each in kept),
            "models": [each._asdict() for each in kept],
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    for each in kept:
        click.echo(f"{each.entries:>10,}  {megabytes(each.bytes):>12}  {each.model}")
    entries = sum(each.entries for each in kept)
    click.echo(f"{entries:>10,}  {megabytes(cache.size()):>12}  on disk: {cache.path}")


@command.command("clear", epilog=_CLEAR_EXAMPLES)
@click.option("--model", help="Only models whose identity, as `stats` shows it, starts so.")
@_as_json
def clear(model: str | None, as_json: bool) -> None:
    """Forget what is kept; it will be computed again when it is needed."""
    from chunkwise.cli.messages import say
    from chunkwise.models.cache import ModelCache

    cache = ModelCache()
    before = cache.size()
    removed = cache.clear(model)
    freed = max(0, before - cache.size())
    if as_json:
        click.echo(json.dumps({"removed": removed, "freed": freed}))
    else:
        say(f"{removed:,} entries forgotten, {megabytes(freed)} freed")

"""`chunkwise models cache`."""

from __future__ import annotations

from typing import Annotated

import click

from chunkwise.base.schema import Name, Option
from chunkwise.base.wording import counted, format_number, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.options import JsonOption
from chunkwise.cli.streams import print_json


@dataclass_command("cache", JsonOption)
def stats(options: JsonOption) -> None:
    """Show the cache size per model: embeddings, answers, verdicts.

    Examples:
      chunkwise models cache
      chunkwise models cache clear --model minilm
      chunkwise models cache clear
      chunkwise models cache --json
    """
    from chunkwise.models.cache import ModelCache

    cache = ModelCache()
    models = cache.stats()
    entries = sum(model.entries for model in models)
    if options.as_json:
        print_json({
            "path": str(cache.path),
            "bytes_on_disk": cache.size(),
            "entries": entries,
            "models": [model._asdict() for model in models],
        })  # fmt: skip
        return
    for model in models:
        click.echo(
            f"{thousands(model.entries):>10}  {format_number(model.bytes, 'bytes'):>12}  "
            f"{model.model}"
        )
    click.echo(
        f"{thousands(entries):>10}  {format_number(cache.size(), 'bytes'):>12}  on disk: "
        f"{cache.path}"
    )


class ClearOptions(JsonOption):
    """The options of `chunkwise models cache clear`."""

    model: Annotated[Name | None, Option(
        "Only models whose names start with this", metavar="NAME", common=True
    )] = None  # fmt: skip


@dataclass_command("clear", ClearOptions)
def clear(options: ClearOptions) -> None:
    """Delete cached results; they are recomputed when needed.

    Examples:
      chunkwise models cache clear
      chunkwise models cache clear --model minilm
    """
    from chunkwise.models.cache import ModelCache

    cache = ModelCache()
    before = cache.size()
    removed = cache.clear(options.model)
    freed = max(0, before - cache.size())
    options.answer(
        {"removed": removed, "freed": freed},
        f"removed {counted(removed, 'entry')}, {format_number(freed, 'bytes')} freed",
    )


command = DefaultGroup(stats, (clear,))

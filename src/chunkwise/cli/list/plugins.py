"""`chunkwise list plugins`."""

from __future__ import annotations

import importlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.schema import Options, argument
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import Json
from chunkwise.cli.streams import print_json, stdout_console

if TYPE_CHECKING:
    from chunkwise.base.registry import RegisteredPart, Registry

_EXAMPLES = """
  chunkwise list plugins
  chunkwise list plugins loaders
  chunkwise list plugins --json

How to add a part of your own: docs/extending.md.
"""

KINDS = {
    "loaders": "chunkwise.documents.loader:loaders",
    "chunkers": "chunkwise.chunkers:strategies",
    "embedders": "chunkwise.models:embedders",
    "rerankers": "chunkwise.models:rerankers",
    "language_models": "chunkwise.models:language_models",
    "name_finders": "chunkwise.models:name_finders",
    "retrievers": "chunkwise.retrieval.retrievers:registry",
    "engines": "chunkwise.retrieval.engine:registry",
    "vector_databases": "chunkwise.vector_databases.database:registry",
    "metrics": "chunkwise.metrics.registry:registry",
    "judges": "chunkwise.metrics.judges.judge:registry",
}
"""Where the registry of each kind is; the entry point group is `chunkwise.` and the kind."""


class PluginsOptions(Options):
    """The options of `chunkwise list plugins`."""

    kinds: Annotated[tuple[str, ...], argument("[KINDS]...")] = ()
    as_json: Json = False


@dataclass_command("plugins", PluginsOptions, examples=_EXAMPLES)
def command(options: PluginsOptions) -> None:
    """List what can be added to, what is there, which package it comes from, and what cannot be loaded.

    KINDS are loaders, chunkers, embedders, rerankers, language_models, name_finders, retrievers, engines,
    vector_databases, metrics, judges; without any, all are listed.
    """
    for kind in options.kinds:
        if kind not in KINDS:
            raise click.UsageError(f"{kind!r} cannot be added to; kinds: {', '.join(KINDS)}")
    found = {kind: (_registry(kind), _parts(kind)) for kind in options.kinds or KINDS}
    if options.as_json:
        print_json({
            kind: {"group": registry.group, "parts": [asdict(each) for each in parts]}
            for kind, (registry, parts) in found.items()
        })  # fmt: skip
        return
    for kind, (registry, parts) in found.items():
        _show(kind, registry, parts)


def _registry(kind: str) -> Registry:
    module, _, attribute = KINDS[kind].partition(":")
    registry: Registry = getattr(importlib.import_module(module), attribute)
    return registry


def _parts(kind: str) -> list[RegisteredPart]:
    if kind == "metrics":
        from chunkwise.metrics.registry import listed_metrics

        return listed_metrics()
    return _registry(kind).listed()


def _show(kind: str, registry: Registry, parts: list[RegisteredPart]) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    console = stdout_console()
    console.print(f"[bold]{kind}[/]  [dim]entry points in {registry.group}[/]")
    own = [each.name for each in parts if each.package == "chunkwise"]
    told = ", ".join([*own, *(form for form in registry.forms if form not in own)])
    console.print(Padding(escape(told), (0, 0, 0, 2)))
    for each in (each for each in parts if each.package != "chunkwise"):
        line = f"[bold cyan]{escape(each.name)}[/]  {escape(each.package)}, {escape(each.target)}"
        console.print(Padding(line, (0, 0, 0, 2)))
        if each.problem:
            console.print(Padding(f"[red]{escape(each.problem)}[/]", (0, 0, 0, 4)))

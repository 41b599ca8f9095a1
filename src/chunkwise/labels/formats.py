"""Labels in files: JSON lines that keep every event, BEIR qrels, Argilla records, Label Studio tasks; and back.

Only the JSON lines hold all there is. The others have the passages as they stand now, one grade a person (BEIR: one in
all), and what they have no room for is told.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.labels.question_labels import question_labels
from chunkwise.labels.store import (
    GRADES,
    LabelEvent,
    LabelProblem,
    LabelStore,
    check_event,
    standing,
)
from chunkwise.records.read import read_json, read_json_lines
from chunkwise.records.write import text_file, write_json, write_json_lines
from chunkwise.tracking.run import utc_now

LabelFormat = Literal["jsonl", "beir", "argilla", "label-studio"]
FORMATS: tuple[LabelFormat, ...] = get_args(LabelFormat)
_PLACE = re.compile(r"(?P<doc_id>.+)#(?P<start>[0-9]{1,15})-(?P<end>[0-9]{1,15})", re.DOTALL)


def format_of(path: Path, named: str | None = None) -> LabelFormat:
    """By name, else by what the path looks like: a folder is BEIR, .json Argilla or Label Studio, else JSON lines."""
    if named:
        result = next((item for item in FORMATS if item == named), None)
        if result is None:
            raise InvalidParameter(f"format is {named!r}; allowed: {', '.join(FORMATS)}")
        return result
    if path.is_dir() or not path.suffix:
        return "beir"
    if path.suffix.lower() != ".json":
        return "jsonl"
    if not path.is_file():
        raise InvalidParameter(
            f"{path} may be in Argilla or Label Studio format; choose with --format"
        )
    rows = read_json(str(path))
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    return "label-studio" if "data" in first or "annotations" in first else "argilla"


def export_labels(store: LabelStore, path: Path, format: LabelFormat) -> tuple[int, list[str]]:
    """How many labels were written, and what the format has no room for, a line each."""
    events = store.events()
    if format == "jsonl":
        write_json_lines(path, map(asdict, events))
        return len(events), []
    if format == "beir":
        return _write_beir(store, path)
    now = standing(events)
    placed = [
        label_event for label_event in now if label_event.kind in ("grade", "gold", "adjudicate")
    ]
    record = _argilla if format == "argilla" else _label_studio
    groups: dict[tuple[object, ...], list[LabelEvent]] = {}
    for event in placed:
        groups.setdefault((event.query_id, *event.place), []).append(event)
    write_json(
        path,
        [record(number, label_events) for number, label_events in enumerate(groups.values(), 1)],
    )
    return len(placed), _lost(format, events, placed)


def import_labels(store: LabelStore, path: Path, format: LabelFormat) -> tuple[int, int]:
    """How many labels were new, and how many the file has; taken in twice they are there once."""
    read: Callable[[Path], Iterator[LabelEvent]] = {
        "jsonl": _read_jsonl, "beir": _read_beir, "argilla": _read_argilla, "label-studio": _read_label_studio
    }[format]  # fmt: skip
    events = list(read(path))
    for number, event in enumerate(events, 1):
        try:
            check_event(event)
        except ChunkwiseError as error:
            raise LabelProblem(f"{path}, label {number}: {error}") from None
    return store.add(events), len(events)


def _lost(format: str, events: list[LabelEvent], written: list[LabelEvent]) -> list[str]:
    lines = []
    gone = len(events) - len(written)
    if gone:
        lines.append(
            f"{format} can't represent {counted(gone, 'event')}: undone labels, skips, "
            "unanswerable questions"
        )
    return lines


def _write_beir(store: LabelStore, path: Path) -> tuple[int, list[str]]:
    labels = question_labels(store.events(), store.pools())
    texts: dict[str, str] = {}
    lines: list[tuple[str, str, int]] = []
    open_ones = 0
    for label in labels:
        for passage in label.passages:
            if passage.grade is None:
                open_ones += 1
                continue
            name = "{}#{}-{}".format(*passage.place)
            texts[name] = passage.text
            lines.append((label.query_id, name, passage.grade))
    (path / "qrels").mkdir(parents=True, exist_ok=True)
    asked = [label for label in labels if any(line[0] == label.query_id for line in lines)]
    write_json_lines(
        path / "corpus.jsonl",
        ({"_id": id, "title": "", "text": text} for id, text in texts.items()),
    )
    write_json_lines(
        path / "queries.jsonl", ({"_id": item.query_id, "text": item.query} for item in asked)
    )
    with text_file(path / "qrels" / "test.tsv") as handle:
        handle.write("query-id\tcorpus-id\tscore\n")
        for query_id, name, grade in lines:
            handle.write(f"{_cell(query_id)}\t{_cell(name)}\t{grade}\n")
    lost = ["beir stores one grade per passage, without labelers, times, gold spans or skips"]
    if open_ones:
        lost.append(
            f"skipped {counted(open_ones, 'disputed passage')}; decide: chunkwise testset labels "
            "adjudicate"
        )
    return len(lines), lost


def _cell(text: str) -> str:
    return re.sub(r"[\t\r\n]", " ", text)


def _argilla(number: int, events: list[LabelEvent]) -> dict[str, Any]:
    first = events[0]
    return {
        "id": f"{first.query_id}/{first.doc_id}#{first.start}-{first.end}",
        "fields": {"query": first.query, "passage": first.text},
        "metadata": _about(first),
        "suggestions": {},
        "responses": {
            name: [{"value": _value(event), "user_id": event.who} for event in events if _question(event) == name]
            for name in dict.fromkeys(map(_question, events))
        },
        "status": "completed",
    }  # fmt: skip


def _question(event: LabelEvent) -> str:
    return {"adjudicate": "adjudicated", "gold": "gold"}.get(event.kind, "grade")


def _value(event: LabelEvent) -> Any:
    return "gold" if event.kind == "gold" else str(event.grade)


def _about(event: LabelEvent) -> dict[str, Any]:
    return {
        "query_id": event.query_id, "doc_id": event.doc_id, "start": event.start, "end": event.end,
        "pool": event.pool,
    }  # fmt: skip


def _label_studio(number: int, events: list[LabelEvent]) -> dict[str, Any]:
    first = events[0]
    return {
        "id": number,
        "data": {"query": first.query, "passage": first.text, **_about(first)},
        "annotations": [
            {
                "id": at, "completed_by": event.who, "created_at": event.when, "lead_time": event.seconds,
                "was_cancelled": False,
                "result": [
                    {"from_name": _question(event), "to_name": "passage", "type": "choices",
                     "value": {"choices": [_value(event)]}}
                ],
            }
            for at, event in enumerate(events, 1)
        ],
    }  # fmt: skip


def _read_jsonl(path: Path) -> Iterator[LabelEvent]:
    for row in read_json_lines(str(path)):
        if row.problem:
            raise LabelProblem(f"{path}, {row.where}: {row.problem}")
        try:
            yield msgspec.convert(row.value, LabelEvent)
        except msgspec.ValidationError as error:
            raise LabelProblem(
                f"{path}, {row.where}: {error}; `chunkwise testset labels export` writes such lines"
            ) from None


def _read_beir(path: Path) -> Iterator[LabelEvent]:
    queries = {
        str(row.get("_id")): str(row.get("text", "")) for row in _records(path / "queries.jsonl")
    }
    corpus = path / "corpus.jsonl"
    texts = (
        {str(row.get("_id")): str(row.get("text", "")) for row in _records(corpus)}
        if corpus.is_file()
        else {}
    )
    files = sorted((path / "qrels").glob("*.tsv"))
    if not files:
        raise LabelProblem(f"{path} has no qrels/*.tsv; expected a BEIR folder")
    for file in files:
        for number, cells in enumerate(_tsv(file), 1):
            if len(cells) < 3 or not re.fullmatch(r"-?[0-9]{1,9}", cells[-1]):
                if number == 1:
                    continue  # the header
                raise LabelProblem(
                    f"{file}, line {number}: expected query, passage and grade, separated by tabs"
                )
            query_id, name, grade = cells[0], cells[1], int(cells[-1])
            place, text = _PLACE.fullmatch(name), texts.get(name, "")
            doc_id, start, end = (
                (place["doc_id"], int(place["start"]), int(place["end"]))
                if place
                else (name, 0, len(text))
            )
            if end <= start:
                raise LabelProblem(
                    f"{file}, line {number}: {name!r:.80} isn't a passage of corpus.jsonl"
                )
            yield _made(
                "beir", kind="grade", query_id=query_id, query=queries.get(query_id, ""), who="qrels",
                doc_id=doc_id, start=start, end=end, text=text, grade=min(max(grade, 0), max(GRADES)),
            )  # fmt: skip


def _tsv(file: Path) -> Iterator[list[str]]:
    for line in file.read_text("utf-8").splitlines():
        if line.strip():
            yield line.split("\t")


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.is_file():
        raise LabelProblem(f"{path} is missing; expected a BEIR folder")
    for row in read_json_lines(str(path)):
        if row.problem or not isinstance(row.value, dict):
            raise LabelProblem(f"{path}, {row.where}: {row.problem or 'no record'}")
        yield row.value


def _read_argilla(path: Path) -> Iterator[LabelEvent]:
    for number, row in enumerate(_listed(path), 1):
        where = f"{path}, record {number}"
        about, fields = _record(row, "metadata", where), _record(row, "fields", where)
        for name, answers in _record(row, "responses", where).items():
            for answer in answers if isinstance(answers, list) else ():
                yield _answer(
                    "argilla",
                    where,
                    name,
                    answer.get("value"),
                    answer.get("user_id"),
                    about,
                    fields,
                )


def _read_label_studio(path: Path) -> Iterator[LabelEvent]:
    for number, row in enumerate(_listed(path), 1):
        where = f"{path}, task {number}"
        data = _record(row, "data", where)
        for each in row.get("annotations") or ():
            if each.get("was_cancelled"):
                continue
            who = each.get("completed_by")
            person = who.get("email") or who.get("id") if isinstance(who, dict) else who
            for result in each.get("result") or ():
                value = result.get("value") or {}
                said = (
                    (value.get("choices") or [None])[0]
                    if "choices" in value
                    else value.get("rating")
                )
                made = _answer(
                    "label-studio", where, result.get("from_name"), said, person, data, data
                )
                seconds, when = each.get("lead_time"), each.get("created_at")
                yield replace(
                    made, seconds=float(seconds) if isinstance(seconds, int | float) else None,
                    when=when if isinstance(when, str) and when else made.when,
                )  # fmt: skip


def _listed(path: Path) -> list[dict[str, Any]]:
    rows = read_json(str(path))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise LabelProblem(f"{path} has no list of records")
    return rows


def _record(row: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    value = row.get(name)
    if not isinstance(value, dict):
        raise LabelProblem(
            f"{where} has no {name}; expected the format of `chunkwise testset labels export`"
        )
    return value


def _answer(
    format: str, where: str, name: object, value: object, who: object, about: Mapping[str, Any], text: Mapping[str, Any]
) -> LabelEvent:  # fmt: skip
    kind = {"adjudicated": "adjudicate", "gold": "gold"}.get(str(name), "grade")
    grade = re.fullmatch("[0-3]", str(value).strip())
    start, end = about.get("start"), about.get("end")
    if (kind != "gold" and not grade) or type(start) is not int or type(end) is not int:
        raise LabelProblem(
            f"{where}: {name} is {value!r:.60} at {start!r:.20} to {end!r:.20}; expected a "
            "grade from 0 to 3 and a span"
        )
    return _made(
        format, kind=kind, query_id=str(about.get("query_id", "")), query=str(text.get("query", "")),
        who=str(who if who is not None else "unknown"), doc_id=str(about.get("doc_id", "")), start=start, end=end,
        text=str(text.get("passage", "")), grade=None if kind == "gold" or not grade else int(grade[0]),
        pool=str(about.get("pool") or ""),
    )  # fmt: skip


def _made(format: str, **values: Any) -> LabelEvent:
    """With a key that follows from what it says, so that it is taken in once."""
    text = "\n".join(f"{name}={value}" for name, value in sorted(values.items()))
    key = hashlib.sha256(f"{format}\n{text}".encode("utf-8", "replace")).hexdigest()[:24]
    return LabelEvent(key=key, when=utc_now(), **values)

"""What is known of judges: one JSON file; of each on each set of questions the largest calibration, or the latest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.metrics.judges.calibration import (
    FEWEST_VERDICTS,
    Against,
    Calibration,
    Confusion,
    Cost,
)
from chunkwise.models.home import home
from chunkwise.stats.intervals import Interval

_VERSION = 1
_FIGURES = ("accuracy", "kappa", "missed", "false_alarms")


def calibrations_file() -> Path:
    return home() / "calibrations.json"


def known_calibration(judge_identity: str, question_set: str = "") -> Calibration | None:
    """The one on these questions if it has verdicts enough, else the one with the most, of equals the latest; None:
    this judge was never measured here."""

    def worth(each: Calibration) -> tuple[bool, int, str]:
        is_own = each.question_set == question_set and each.confusion.scored >= FEWEST_VERDICTS
        return is_own, each.confusion.scored, each.when

    known = (each for each in _read(calibrations_file()) if each.judge == judge_identity)
    return max(known, key=worth, default=None)


def same_calibration(judge: str, against: Against, question_set: str) -> Calibration | None:
    """What was measured before of this judge on these very questions."""
    key = (judge, against, question_set)
    return next((each for each in _read(calibrations_file()) if _key(each) == key), None)


def keep_calibration(calibration: Calibration) -> bool:
    """Writes it down, unless a larger one of the same judge on the same questions is there; whether it did."""
    path = calibrations_file()
    known = {_key(each): each for each in _read(path)}
    before = known.get(_key(calibration))
    if before is not None and before.confusion.scored > calibration.confusion.scored:
        return False
    now = datetime.now(UTC).isoformat(timespec="seconds")
    known[_key(calibration)] = replace(calibration, when=calibration.when or now)
    rows = [_row(known[key]) for key in sorted(known)]
    text = json.dumps({"version": _VERSION, "calibrations": rows}, indent=1)
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text(text + "\n", encoding="utf-8")
    return True


def _key(calibration: Calibration) -> tuple[str, str, str]:
    return calibration.judge, calibration.against, calibration.question_set


def _row(calibration: Calibration) -> dict[str, Any]:
    row = asdict(calibration)
    return row | {name: row[name] and row[name]._asdict() for name in (*_FIGURES, "confusion")}


def _read(path: Path) -> list[Calibration]:
    """Whatever of the file can be read: a damaged entry is no reason to lose the others."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(told, dict) or told.get("version") != _VERSION:
        return []
    rows = told.get("calibrations")
    found = [_calibration(row) for row in rows] if isinstance(rows, list) else []
    return [each for each in found if each is not None]


def _calibration(row: object) -> Calibration | None:
    if not isinstance(row, dict):
        return None
    try:
        figures = {name: _interval(row[name]) for name in _FIGURES}
        counts = [_whole(row["confusion"][name]) for name in Confusion._fields]
        return Calibration(
            judge=_text(row["judge"]), name=_text(row["name"]),
            against="labels" if row["against"] == "labels" else "spans",
            question_set=_text(row["question_set"]), questions=_whole(row["questions"]),
            confusion=Confusion(*counts), when=_text(row["when"]), cost=_cost(row["cost"]),
            unscored={_text(why): _whole(count) for why, count in row["unscored"].items()}, **figures,
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


def _interval(row: Mapping[str, object] | None) -> Interval | None:
    return None if row is None else Interval(*(_number(row[name]) for name in Interval._fields))


def _cost(row: Mapping[str, object] | None) -> Cost | None:
    if row is None:
        return None
    money, minutes = row["money"], row["minutes"]
    return Cost(
        _number(row["calls"]), _number(row["prompt_tokens"]), _number(row["output_tokens"]),
        None if money is None else _number(money), None if minutes is None else _number(minutes),
    )  # fmt: skip


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value

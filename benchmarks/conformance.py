"""The inputs of tests/conformance through the installed peers: which property holds how often."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from benchmarks.isolated import TooSlow, isolated  # noqa: E402
from benchmarks.peer_spans import SPLITTERS  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from benchmarks.verdicts import PROPERTIES, judge  # noqa: E402
from conformance.independent_check import counter  # noqa: E402
from conformance.splitter_inputs import INPUTS, Input  # noqa: E402

SECONDS = 20.0


def run_one(make: Callable[[int, int, str], Any], given: Input) -> dict[str, bool] | str:
    """The verdicts on one input, or why there are none; a splitter that cannot be asked is left out."""
    try:
        spans = make(given.limit, given.overlap, given.tokenizer)
    except (NotImplementedError, ImportError):
        raise
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    count = counter(given.tokenizer)
    try:
        found = isolated(lambda: spans(given.text), SECONDS)
    except TooSlow as error:
        return str(error)
    except RuntimeError as error:
        return str(error)
    return judge(given.text, found, given.limit, count)


def run() -> str:
    """Table and list of failures as Markdown."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    rows: list[list[str]] = []
    details: list[str] = []
    for name, make in SPLITTERS.items():
        asked, passed, failures, missing = _all_inputs(make)
        if missing:
            details.append(f"- **{name}**: left out, {missing}")
            continue
        rows.append([name, *(f"{passed[key]}/{asked}" for key in PROPERTIES)])
        print(rows[-1], failures, file=sys.stderr, flush=True)
    return "\n".join([
        "On how many of 32 difficult inputs a property holds. Splitters are tested only with sizes they support. A"
        " splitter without offsets has no exact offsets.\n",
        table(["", *PROPERTIES], rows),
        "",
        *details,
    ])  # fmt: skip


def _all_inputs(
    make: Callable[[int, int, str], Any],
) -> tuple[int, dict[str, int], dict[str, list[str]], str]:
    asked, passed = 0, dict.fromkeys(PROPERTIES, 0)
    failures: dict[str, list[str]] = {}
    for given in INPUTS:
        try:
            told = run_one(make, given)
        except NotImplementedError:
            continue
        except ImportError as error:
            return 0, passed, {}, f"not installed: {error}"
        asked += 1
        if isinstance(told, str):
            failures.setdefault(PROPERTIES[-1], []).append(f"{given.name} ({told})")
            continue
        passed[PROPERTIES[-1]] += 1
        for key, holds in told.items():
            passed[key] += holds
            if not holds:
                failures.setdefault(key, []).append(given.name)
    return asked, passed, failures, ""

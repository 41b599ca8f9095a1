"""Make the golden set anew: all snapshots, or those named; `make golden` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # helpers that all tests share

from normalize import EXPECTED, dump
from snapshots import SNAPSHOTS

for name in sys.argv[1:] or SNAPSHOTS:
    snapshot = SNAPSHOTS[name]
    text = dump(snapshot.layout, snapshot.rows())
    EXPECTED.mkdir(exist_ok=True)
    (EXPECTED / f"{name}.jsonl").write_text(text, "utf-8")
    print(f"{name}: {text.count(chr(10)) - 1} rows, {len(text.encode()) / 1000:.0f} kB")

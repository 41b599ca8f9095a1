"""Renew the golden set: all snapshots, or those that are named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["CHUNKWISE_CACHE"] = "off"  # stored answers would hide a model that gives others
sys.path.append(str(Path(__file__).resolve().parents[1]))  # helpers that all tests share

from normalize import EXPECTED, dump
from snapshots import SNAPSHOTS

for name in sys.argv[1:] or SNAPSHOTS:
    snapshot = SNAPSHOTS[name]
    if snapshot.is_missing_weights():
        print(f"{name}: not renewed, no weights: chunkwise models get {snapshot.weights}")
        continue
    text = dump(snapshot.layout, snapshot.rows())
    EXPECTED.mkdir(exist_ok=True)
    (EXPECTED / f"{name}.jsonl").write_text(text, "utf-8", newline="\n")
    print(f"{name}: {len(text.splitlines()) - 1} rows, {len(text.encode()) / 1000:.0f} kB")

"""The file of a sweep: JSON, the same bytes for the same sweep but for `timing`."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from chunkwise.atomic import replacing, says_what_it_writes
from chunkwise.evaluation.files.json_values import json_text
from chunkwise.experiments.tuning import Tuning

FORMAT = "chunkwise sweep"
VERSION = 1


def write_tuning(tuning: Tuning, path: Path) -> None:
    """Whole or not at all; outcomes stand one a line, `timing` last."""
    parts = [f'"format": {json_text(FORMAT)}', f'"version": {VERSION}']
    for field in fields(tuning):
        value = getattr(tuning, field.name)
        if field.name == "outcomes":
            # How long each took is no result.
            lines = ",\n".join(json_text(replace(each, seconds=0.0)) for each in value)
            parts.append(f'"outcomes": [\n{lines}\n]')
        else:
            parts.append(f"{json_text(field.name)}: {json_text(value, 2)}")
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8", newline="\n")

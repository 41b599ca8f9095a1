"""The example of docs/how-to/scale.md is what Kubernetes takes: run by `make test-scale`, which has its schemas."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from chunkwise.cli.main import group
from tables import cases

EXAMPLE = Path(__file__).parents[1] / "docs" / "kubernetes.yaml"
PARTS = list(yaml.safe_load_all(EXAMPLE.read_text()))


@cases("part", PARTS)  # fmt: skip
def test_every_part_fits_its_schema(part: dict[str, object]) -> None:
    schemas = pytest.importorskip("kubernetes_validate", reason="make test-scale")
    schemas.validate(part, schemas.latest_version(), strict=True)


def test_a_wrong_part_does_not_fit() -> None:
    schemas = pytest.importorskip("kubernetes_validate", reason="make test-scale")
    wrong = {**PARTS[0], "spec": {**PARTS[0]["spec"], "ports": "6379"}}
    with pytest.raises(schemas.ValidationError):
        schemas.validate(wrong, schemas.latest_version(), strict=True)


def test_its_command_is_one_of_ours() -> None:
    (script,) = PARTS[-1]["spec"]["template"]["spec"]["containers"][0]["args"]
    _, _, words = script.partition("chunkwise ")
    name, *given = shlex.split(words)
    command = group.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    command.make_context(name, given)

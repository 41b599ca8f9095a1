"""A type checker on a user's file sees the types of names that are imported when first used."""

from pathlib import Path

import pytest
from mypy import api

USER_FILE = """\
import chunkwise
from chunkwise.ext import Metric
from chunkwise.options import SearchOptions

index = chunkwise.index("handbook/")
reveal_type(index.search("x", options=SearchOptions(k=3)))
reveal_type(index.search(["x", "y"]))
reveal_type(chunkwise.evaluate(index, "queries.json"))
reveal_type(chunkwise.read_results)
reveal_type(chunkwise.options.SearchOptions().k)
reveal_type(Metric("mine", "Mine.", score=lambda evidence: [0.0]).name)
chunkwise.no_such_name
"""


@pytest.mark.thorough
def test_types_of_lazy_names_are_known_outside_the_source_tree(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text(USER_FILE, encoding="utf-8")
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\n", encoding="utf-8")
    out, _, _ = api.run(
        [
            "--strict",
            "--config-file",
            str(settings),
            "--cache-dir",
            str(tmp_path / "cache"),
            str(file),
        ]
    )
    revealed = [line.partition('Revealed type is "')[2].rstrip('"') for line in out.splitlines()]
    assert [text for text in revealed if text] == [
        "list[chunkwise.core.hit.Hit]",
        "list[list[chunkwise.core.hit.Hit]]",
        "chunkwise.evaluation.results.Results",
        "def (path: str | pathlib.Path) -> chunkwise.evaluation.results.Results",
        "int | None",
        "str",
    ]
    assert 'Module has no attribute "no_such_name"' in out

"""The files of `documents` import one another one way, imports inside functions counted."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

from chunkwise import documents


def test_no_file_imports_one_that_imports_it() -> None:
    imported: dict[str, set[str]] = {}
    for path in Path(documents.__file__).parent.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        imported[f"chunkwise.documents.{path.stem}"] = modules
    assert "chunkwise.documents.corpus" in imported["chunkwise.documents.json"]
    list(TopologicalSorter(imported).static_order())  # raises on a cycle, which it names

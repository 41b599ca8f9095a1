"""Questions with references: read from any format, located in the documents, checked, written."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chunkwise.testsets.check import OnProblem, Problem, check_testset
    from chunkwise.testsets.reading import read_questions, read_testset
    from chunkwise.testsets.testset import TestSet

__all__ = ["OnProblem", "Problem", "TestSet", "check_testset", "read_questions", "read_testset"]

_MODULES = {
    "OnProblem": "check",
    "Problem": "check",
    "TestSet": "testset",
    "check_testset": "check",
    "read_questions": "reading",
    "read_testset": "reading",
}


def __getattr__(name: str) -> Any:
    # Formats and the search for passages are imported by those who read test sets.
    if name not in _MODULES:
        raise AttributeError(f"module 'chunkwise.testsets' has no attribute {name!r}")
    return getattr(importlib.import_module(f"chunkwise.testsets.{_MODULES[name]}"), name)

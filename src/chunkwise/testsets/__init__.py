"""Questions with references: read from any format, located in the documents, checked, written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from chunkwise.testsets.check import OnProblem as OnProblem
    from chunkwise.testsets.check import Problem as Problem
    from chunkwise.testsets.check import check_testset as check_testset
    from chunkwise.testsets.reading import read_questions as read_questions
    from chunkwise.testsets.reading import read_testset as read_testset
    from chunkwise.testsets.testset import TestSet as TestSet
else:
    # Formats and the search for passages are imported by those who read test sets.
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "chunkwise.testsets.check": "OnProblem Problem check_testset",
            "chunkwise.testsets.reading": "read_questions read_testset",
            "chunkwise.testsets.testset": "TestSet",
        },
    )

"""The questions of a file, and a line for each that cannot be used or had to be mended."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Document
from chunkwise.evaluation.left_out import LeftOut
from chunkwise.testsets.reading import read_testset
from chunkwise.testsets.testset import Problem, TestSet


def questions_read(path: str, documents: Sequence[Document], left_out: LeftOut) -> TestSet:
    """Those that can be used; the others are told to `left_out`."""
    problems: list[Problem] = []
    testset = read_testset(path, documents, problems.append)
    dropped = {problem.where for problem in problems if problem.dropped}
    for problem in problems:
        # That another passage of a question could be mended is of no use when the question is dropped.
        if not (problem.repaired and problem.where in dropped):
            left_out.question(problem, documents)
    return testset

"""Who listens while an evaluation or a sweep goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.progress import Stages, unwatched
from chunkwise.core import Document, Query
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.records.read import OnBadRow

OnDocuments = Callable[[Sequence[Document]], None]
OnQuestions = Callable[[Sequence[Query]], None]
OnEstimate = Callable[[LlmEstimate], None]


@dataclass(frozen=True, slots=True)
class Listeners:
    """Functions that are told how the work goes on; what is not given is told to nobody."""

    on_documents: OnDocuments | None = None
    """Gets the documents that the result's places are in, before any question is asked."""
    on_questions: OnQuestions | None = None
    """Gets the questions, before any is asked; what it raises stops the evaluation."""
    on_mended: OnBadRow | None = None
    """Gets a line for each question whose passage was found elsewhere than it says."""
    on_estimate: OnEstimate | None = None
    """Gets what asking a judge that is a language model will take, before anything is sent; what it raises stops it."""
    stages: Stages = unwatched
    """Gets the name of each stage and the number of its steps; gives a context manager of a function for progress."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not callable(value) and (value is not None or field.name == "stages"):
                raise InvalidParameter(
                    f"{field.name} is {value!r}; a function is needed, or leave it out"
                )

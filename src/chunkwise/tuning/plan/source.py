"""From what a user names to a sweep: documents, a plan (`sweep.toml`), or the folder of a sweep to continue."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.documents import Inputs, each_input
from chunkwise.documents.walk import SWEEP_FILES
from chunkwise.evaluation.evaluate import TestQueries, testset_in_memory
from chunkwise.models.embed.embedder import Embedder
from chunkwise.testsets.reading import carries_documents
from chunkwise.testsets.testset import TestSet
from chunkwise.tuning.plan.default_sweep import default_retrieval, default_sweep
from chunkwise.tuning.plan.sweep_budget import parse_time
from chunkwise.tuning.plan.sweep_file import read_sweep
from chunkwise.tuning.sweep import Sweep

_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class SweepSource:
    """A sweep, and the parts of it that exist in memory only."""

    sweep: Sweep
    plan: Path | None = None
    """The file it was read from, which is no document."""
    documents: tuple[Document, ...] = ()
    queries: TestSet | None = None
    embedder: Embedder | None = None

    @property
    def is_resumable(self) -> bool:
        """Whether another process can continue it from its plan alone."""
        return not self.documents and self.queries is None and self.embedder is None


def sweep_from_source(
    source: Inputs = (),
    test_queries: TestQueries | None = None,
    *,
    embedder: str | Embedder | None = None,
    objective: str | None = None,
    k: int | None = None,
    seed: int | None = None,
    exact: bool | None = None,
    time: str | None = None,
    tokenizer: str | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> SweepSource:
    """The sweep of a plan, of the folder to `resume`, or the usual one for these documents.

    What is given beside a plan wins; None: as the plan has it. An empty `embedder`: words alone.
    """
    paths, documents = _paths_and_documents(source)
    plan = _plan_path(paths, len(paths) + len(documents), resume)
    sweep = read_sweep(plan) if plan else default_sweep(paths, None, has_headings=True)
    if test_queries is None and plan is None and not documents and len(paths) == 1:
        # A test set that holds its documents brings its questions, too.
        test_queries = paths[0] if carries_documents(paths[0]) else None
    file, queries = _file_or_queries(test_queries)
    model = embedder if embedder is None or isinstance(embedder, str) else embedder.identity
    overrides = {
        "test_queries": file,
        "objective": objective,
        "k": k,
        "seed": seed,
        "exact": exact,
        "seconds": parse_time(time) if time else None,
        "tokenizer": tokenizer,
    }
    sweep = _overridden(sweep, model, overrides)
    if queries is not None:
        sweep = replace(sweep, test_queries=None)
    return SweepSource(
        sweep, plan, tuple(documents), queries, None if isinstance(embedder, str) else embedder
    )


def _paths_and_documents(source: Inputs) -> tuple[list[str], list[Document]]:
    paths: list[str] = []
    documents: list[Document] = []
    for one in each_input(source):
        if isinstance(one, Document):
            documents.append(one)
        else:
            paths.append(os.fspath(one))
    return paths, documents


def _plan_path(paths: list[str], inputs: int, resume: str | os.PathLike[str] | None) -> Path | None:
    """None: these are documents."""
    if resume is not None:
        if inputs:
            raise InvalidParameter(
                "a sweep is continued with what is in its folder: name no documents beside it"
            )
        path = Path(resume) / SWEEP_FILES[0]
        if not path.is_file():
            raise InvalidParameter(
                f"{os.fspath(resume)} holds no sweep to go on with; name another folder: -o FOLDER"
            )
        return path
    if not inputs:
        raise InvalidParameter(
            "there is no document to tune for: name files or folders, or a plan: sweep.toml"
        )
    plans = [path for path in paths if path.lower().endswith(_SUFFIX)]
    if plans and inputs > 1:
        raise InvalidParameter(
            f"{plans[0]} is a plan, which names its documents itself: give the plan alone, or documents alone"
        )
    return Path(plans[0]) if plans else None


def _overridden(sweep: Sweep, model: str | None, overrides: Mapping[str, object]) -> Sweep:
    """Where the plan searches as usual, it does so with the model that is named beside it."""
    changes = {name: value for name, value in overrides.items() if value is not None}
    if model is not None:
        changes["embedder"] = model
        if sweep.retrieval in (default_retrieval(sweep.embedder), default_retrieval("")):
            changes["retrieval"] = default_retrieval(model)
    return replace(sweep, **changes)  # type: ignore[arg-type]


def _file_or_queries(test_queries: TestQueries | None) -> tuple[str | None, TestSet | None]:
    """The path of a file, or the queries that are in memory already."""
    if test_queries is None:
        return None, None
    if isinstance(test_queries, str | os.PathLike):
        return os.fspath(test_queries), None
    if isinstance(test_queries, TestSet):
        return None, test_queries
    return None, testset_in_memory(test_queries)

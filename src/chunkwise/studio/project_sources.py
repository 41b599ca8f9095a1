"""What was named on the command line of a server, sorted by what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.own_files import is_index_folder, is_results_file

if TYPE_CHECKING:
    from chunkwise.documents import LoadOptions
    from chunkwise.models.llm.client import LlmClient


@dataclass(frozen=True, kw_only=True)
class ProjectSources:
    """What was named on the command line, sorted by what it is."""

    documents: tuple[str, ...] = ()
    index: str = ""
    runs: tuple[str, ...] = ()
    questions: str = ""
    embedder: str = ""
    """For an index that is made of documents; empty: words alone."""
    demo: bool = False
    history: str | None = None
    labels: str | None = None
    """The file of labels; None: that of the project around the working folder."""
    loading: Callable[[], LoadOptions] | None = None
    """Says how files are read, when they are; None: as usual."""
    into: str = "kb"
    """The index that a recommendation is applied to."""
    llm: LlmClient | None = None
    """The language model that answers and drafts questions; None: answers are quoted."""
    llm_name: str = ""
    counts_issues: bool = True
    """Whether sections and issues are counted for the list of documents."""

    @property
    def title(self) -> str:
        if self.demo:
            return "sample corpus"
        return ", ".join(Path(name).name or name for name in (self.index, *self.documents) if name)


def sort_sources(names: Iterable[str]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Documents, the index and the runs among what was named; two indexes, or one beside documents, are refused."""
    documents, indexes, runs = [], [], []
    for name in names:
        if "://" in name or is_index_folder(name):
            indexes.append(name)
        elif is_results_file(name):
            runs.append(name)
        else:
            documents.append(name)
    if len(indexes) > 1:
        raise InvalidParameter(
            f"{indexes[0]} and {indexes[1]} are both indexes; a studio shows one. Start another studio for the other"
        )
    if indexes and documents:
        raise InvalidParameter(
            f"{indexes[0]} is an index with its own documents; remove {documents[0]} or the index"
        )
    return tuple(documents), indexes[0] if indexes else "", tuple(runs)

"""What a format of test sets is: it reads drafts, and writes what it can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final, Protocol, runtime_checkable

from chunkwise.core import Document
from chunkwise.testsets.testset import Draft, TestSet, Unreadable

WHOLE: Final = -1
"""The end of a reference to a whole document whose length the file does not say."""


class Format(Protocol):
    """One way of writing questions down."""

    name: ClassVar[str]
    about: ClassVar[str]
    """What it is, for whom does not know the name: one line."""

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this is of the format, by name and first bytes; those of a folder are empty."""
        ...

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        """The questions in their order; an entry that is none goes by, a file that is none is an error."""
        ...

    def write(
        self, testset: TestSet, documents: Sequence[Document] | None, path: Path
    ) -> list[str]:
        """Writes what the format can hold; a line for each thing that it cannot."""
        ...


@runtime_checkable
class CarriesDocuments(Protocol):
    """A format whose files hold the texts that are asked about."""

    def documents(self, path: Path) -> Iterator[Document | Unreadable]: ...

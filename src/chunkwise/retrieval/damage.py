"""An index whose bytes are not those that were written: said in one line, with the file where it is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.refusals import REBUILD

REMEDY = f"the index is damaged; {REBUILD}"

_SIGNS = (ValueError, TypeError, LookupError, ArithmeticError, MemoryError)
"""What wrong numbers do to the code that reads them."""


class Damaged(ChunkwiseError):
    """Something in an index cannot have been written so."""

    def __init__(self, what: str, why: object) -> None:
        super().__init__(what, why)  # as they came, so that it can leave its process
        self.what = what
        self.why = why

    def __str__(self) -> str:
        return f"{self.what} in the index cannot be read ({self.why}): {REMEDY}"


@runtime_checkable
class Sealed(Protocol):
    """An index that knows which bytes were written."""

    def check_bytes(self) -> None:
        """Reads them all; an error names the first file that differs."""


@contextmanager
def told_if_damaged(source: object) -> Iterator[None]:
    """Where reading an index fails in any odd way, its bytes are compared before the failure is shown as it is."""
    try:
        yield
    except (Damaged, *_SIGNS) as error:
        is_ours = isinstance(error, ChunkwiseError) and not isinstance(error, Damaged)
        if not is_ours and isinstance(source, Sealed):
            try:
                source.check_bytes()
            except ChunkwiseError as found:
                raise found from error
        raise

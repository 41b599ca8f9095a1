"""What every engine refuses in the same words, and what is said of an index with damaged bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import thousands
from chunkwise.models.embed.embedder import accelerator_of, same_model

REBUILD = "rebuild the index: chunkwise index --rebuild (rebuild=True in Python)"


def no_vectors_error() -> InvalidParameter:
    return InvalidParameter(
        "the index has no vectors (vectors='none'); use bm25, or rebuild it with vectors "
        "('late', 'own' or 'both')"
    )


def no_token_vectors_error() -> InvalidParameter:
    return InvalidParameter(
        "maxsim needs token vectors; leave it out, or add them: chunkwise index DOCUMENTS "
        "--into PLACE --maxsim colbert-small (index(…, maxsim='colbert-small'))"
    )


_WITH_NAMES = "add them: chunkwise index DOCUMENTS --into PLACE --graph (index(…, graph=True))"


def no_graph_error() -> InvalidParameter:
    """Of a search; `no_names_error` is for who only looks at names."""
    return InvalidParameter(
        f"the index has no graph of names; choose another retriever, or {_WITH_NAMES}"
    )


def no_names_error() -> InvalidParameter:
    return InvalidParameter(f"the index has no graph of names; {_WITH_NAMES}")


def wrong_dimensions_error(shape: tuple[int, ...], dimensions: int) -> InvalidParameter:
    return InvalidParameter(
        f"the question vectors have shape {shape}, but the index has {dimensions} dimensions; "
        f"pass one row per question, from the index's model"
    )


def wrong_model_error(expected: str, name: str, actual: str) -> InvalidParameter:
    if same_model(expected, actual):
        before, now = (accelerator_of(item) or "the CPU" for item in (expected, actual))
        return InvalidParameter(
            f"the index was embedded on {before}, but {name!r} would run on {now}, with "
            f"slightly different vectors: update it on {before}, or {REBUILD}"
        )
    return InvalidParameter(
        f"the index was built with the model {expected!r}, but {name!r} is {actual!r}; use the "
        f"first, keyword search (bm25), or {REBUILD}"
    )


REMEDY = f"the index is damaged; {REBUILD}"

_SIGNS = (ValueError, TypeError, LookupError, ArithmeticError, MemoryError)
"""What wrong numbers do to the code that reads them."""


class ChangedMeanwhile(ChunkwiseError):
    """What was found is gone, or its place is: asked again, the question is answered by what is there now."""


class DamagedIndex(ChunkwiseError):
    """Something in an index cannot have been written so."""

    def __init__(self, what: str, why: object) -> None:
        super().__init__(what, why)  # as they came, so that it can leave its process
        self.what = what
        self.why = why

    def __str__(self) -> str:
        return f"{self.what} in the index cannot be read ({_in_words(self.why)}): {REMEDY}"


def _in_words(why: object) -> str:
    """Without the names Python has for what went wrong."""
    if isinstance(why, UnicodeDecodeError):
        return f"invalid UTF-8 at byte {thousands(why.start)}"
    if isinstance(why, KeyError):
        return f"{why.args[0]} is missing" if why.args else "data is missing"
    if isinstance(why, TypeError | AttributeError):
        return "a value has the wrong type"
    return str(why)


@runtime_checkable
class Checksummed(Protocol):
    """An index that knows which bytes were written."""

    def check_bytes(self) -> None:
        """Reads them all; an error names the first file that differs."""


@contextmanager
def reporting_damage(source: object) -> Iterator[None]:
    """Where reading an index fails in any odd way, its bytes are compared before the failure is shown as it is."""
    try:
        yield
    except (DamagedIndex, *_SIGNS) as error:
        is_ours = isinstance(error, ChunkwiseError) and not isinstance(error, DamagedIndex)
        if not is_ours and isinstance(source, Checksummed):
            try:
                source.check_bytes()
            except ChunkwiseError as damage:
                raise damage from error
        raise

"""What every engine refuses in the same words, and what is said of an index with damaged bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import thousands
from chunkwise.models.embed.embedder import accelerator_of, same_model

REBUILD = "make the index again: chunkwise index --rebuild (rebuild=True in Python)"


def no_vectors_error() -> InvalidParameter:
    return InvalidParameter(
        "the index was made without vectors (vectors='none'): search it by words (bm25), or make it again with "
        "vectors ('late', 'own' or 'both')"
    )


def no_token_vectors_error() -> InvalidParameter:
    return InvalidParameter(
        "maxsim needs token vectors, and the index was made without them; leave maxsim out, or add them: "
        "chunkwise index DOCUMENTS --into PLACE --maxsim colbert-small (index(…, maxsim='colbert-small'))"
    )


_WITH_NAMES = "add them: chunkwise index DOCUMENTS --into PLACE --graph (index(…, graph=True))"


def no_graph_error() -> InvalidParameter:
    """Of a search; `no_names_error` is for who only looks at names."""
    return InvalidParameter(
        "graph needs the names of the documents, and the index was made without them; choose another retriever, or "
        f"{_WITH_NAMES}"
    )


def no_names_error() -> InvalidParameter:
    return InvalidParameter(
        f"the index was made without the names of its documents, so there is nothing to look up; {_WITH_NAMES}"
    )


def wrong_dimensions_error(shape: tuple[int, ...], dimensions: int) -> InvalidParameter:
    return InvalidParameter(
        f"the questions' vectors have the shape {shape}, the index has {dimensions} dimensions; give one row a "
        "question, made by the model the index was made with"
    )


def wrong_model_error(expected: str, name: str, actual: str) -> InvalidParameter:
    if same_model(expected, actual):
        before, now = (accelerator_of(each) or "the CPU" for each in (expected, actual))
        return InvalidParameter(
            f"the vectors of the index were made on {before}, and {name!r} would run on {now}, whose vectors differ in "
            f"the last digits: update it on {before}, or {REBUILD}"
        )
    return InvalidParameter(
        f"the index was made with the model {expected!r}, and {name!r} is {actual!r}: vectors of two models cannot be "
        f"compared; use the first, keyword search (bm25), or {REBUILD}"
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
        return f"byte {thousands(why.start)} of it is no UTF-8"
    if isinstance(why, KeyError):
        return f"{why.args[0]} is missing" if why.args else "something is missing"
    if isinstance(why, TypeError | AttributeError):
        return "a value in it is of another kind"
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

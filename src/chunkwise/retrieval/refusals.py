"""What every engine refuses, in the same words."""

from __future__ import annotations

from chunkwise.errors import InvalidParameter

REBUILD = "make the index again: rebuild=True (chunkwise index --rebuild)"


def no_vectors() -> InvalidParameter:
    return InvalidParameter(
        "the index was made without vectors (vectors='none'): search it by words (bm25), or make it again with "
        "vectors ('late', 'own' or 'both')"
    )


def wrong_size(shape: tuple[int, ...], dimensions: int) -> InvalidParameter:
    return InvalidParameter(
        f"the questions' vectors have the shape {shape}, the index has {dimensions} dimensions; give one row a "
        "question, made by the model the index was made with"
    )


def wrong_model(expected: str, name: str, found: str) -> InvalidParameter:
    return InvalidParameter(
        f"the index was made with the model {expected!r}, and {name!r} is {found!r}: vectors of two models cannot be "
        f"compared; use the first, search by words (bm25), or {REBUILD}"
    )

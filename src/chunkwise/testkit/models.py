"""What every embedder, reranker, language model and name finder keeps to, however good it is."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import BrokenContract, ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.models import get_embedder, get_language_model, get_name_finder, get_reranker
from chunkwise.models.embed.embedder import Embedder, Kind
from chunkwise.models.llm.language_model import Completion, LanguageModel, Request
from chunkwise.models.name_finder import NameFinder, names_found
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.testkit.hostile import HOSTILE_TEXTS


def check_embedder(
    embedder: str | Embedder, texts: Iterable[str] = (), *, tolerance: float = 1e-5
) -> None:
    """Hold an embedder to the contract on hostile texts and on yours; raise `BrokenContract` at the first breach.

    `tolerance` is how far a number may move when a text is read among others: the rounding of a sum, no more.
    """
    model = get_embedder(embedder, cache=False)
    identity, dimensions = _identity(model), model.dimensions
    if type(dimensions) is not int or dimensions < 1:
        raise BrokenContract(
            f"{identity}: dimensions is {dimensions!r}; expected an integer above 0"
        )
    every = [*HOSTILE_TEXTS, *texts]
    kinds: tuple[Kind, ...] = ("passage", "query")
    for kind in kinds:
        rows = _rows(model, every, kind)
        _check_lengths(identity, every, rows)
        _check_neighbors(model, every, kind, rows, tolerance)
    _check_copy(model, every[0], tolerance)
    if model.identity != identity or model.dimensions != dimensions:
        raise BrokenContract(
            f"{identity}: identity or dimensions changed after use: {model.identity}, "
            f"{model.dimensions}"
        )


def _identity(model: Embedder | NameFinder | LanguageModel) -> str:
    identity = model.identity
    if not isinstance(identity, str) or not identity:
        raise BrokenContract(
            f"the identity of {type(model).__name__} is {identity!r}; expected a name"
        )
    return identity


Copied = TypeVar("Copied", Embedder, NameFinder)


def _copy(model: Copied) -> Copied:
    """Other processes get it as a pickle."""
    try:
        copy: Copied = pickle.loads(pickle.dumps(model))
    except Exception as error:  # somebody else's code: whatever it does, it is no copy
        raise BrokenContract(
            f"{model.identity}: cannot be pickled ({type(error).__name__}: {error}); define "
            "__reduce__, or load large parts on first use"
        ) from error
    return copy


def _rows(model: Embedder, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
    """Its vectors of the texts, if they are an array of the right shape."""
    rows = model.embed(texts, kind)
    wanted = (len(texts), model.dimensions)
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float32 or rows.shape != wanted:
        given = f"{getattr(rows, 'dtype', type(rows).__name__)} {getattr(rows, 'shape', '')}"
        raise BrokenContract(f"{model.identity}: returned {given}; expected float32 {wanted}")
    return rows


def _check_lengths(identity: str, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
    for text, length in zip(texts, np.linalg.norm(rows.astype(np.float64), axis=1), strict=True):
        # Signs without a word may be read or not.
        allowed = {1.0} if any(map(str.isalnum, text)) else {0.0, 1.0} if text.strip() else {0.0}
        if not any(abs(length - value) <= 1e-3 for value in allowed):
            wanted = " or ".join(f"{value:g}" for value in sorted(allowed))
            raise BrokenContract(
                f"{identity}: the vector of {text[:60]!r} has length {length:g}, expected {wanted}"
            )


def _check_neighbors(
    model: Embedder, texts: Sequence[str], kind: Kind, rows: NDArray[np.float32], tolerance: float
) -> None:
    """A text's vector is the same alone, the other way round and among fewer."""
    backwards = _rows(model, texts[::-1], kind)[::-1]
    alone = np.concatenate([_rows(model, [text], kind) for text in texts])
    third = np.concatenate([_rows(model, texts[at::3], kind) for at in range(3)])
    order = np.concatenate([np.arange(len(texts))[at::3] for at in range(3)])
    for how, others in (
        ("in the opposite order", backwards),
        ("alone", alone),
        ("in a smaller batch", third[order.argsort()]),
    ):
        moved = np.abs(rows - others).max(axis=1)
        worst = int(moved.argmax())
        if moved[worst] > tolerance:
            raise BrokenContract(
                f"{model.identity}: {texts[worst][:60]!r} has another vector {how}, by up to "
                f"{moved[worst]:g}"
            )
    _rows(model, [], kind)


def _check_copy(model: Embedder, text: str, tolerance: float) -> None:
    """Other processes get the model as a pickle."""
    copy = _copy(model)
    if copy.identity != model.identity:
        raise BrokenContract(f"{model.identity}: its pickle has the identity {copy.identity}")
    if np.abs(_rows(copy, [text]) - _rows(model, [text])).max() > tolerance:
        raise BrokenContract(
            f"{model.identity}: its pickle returns another vector for {text[:60]!r}"
        )


def check_reranker(
    reranker: str | Reranker, texts: Iterable[str] = (), *, tolerance: float = 1e-4
) -> None:
    """Hold a reranker to the contract: a finite score a text, the same in any batch and order."""
    model = get_reranker(reranker)
    every = [*HOSTILE_TEXTS, *texts]
    question = every[0]

    def scores(some: list[str]) -> NDArray[np.float32]:
        given = model.scores(question, some)
        if given.dtype != np.float32 or not np.isfinite(given).all():
            raise BrokenContract(
                f"{model.identity}: returned {given.dtype}; expected scores: {given[:5]}"
            )
        if given.shape != (len(some),):
            raise BrokenContract(
                f"{model.identity}: returned {given.shape} scores for {counted(len(some), 'text')}"
            )
        return given

    together, backwards = scores(every), scores(every[::-1])[::-1]
    alone = np.concatenate([scores([text]) for text in every])
    if np.ptp([together, backwards, alone], axis=0).max() > tolerance or len(scores([])):
        raise BrokenContract(f"{model.identity}: a text's score depends on the other texts")


def check_name_finder(finder: str | NameFinder, texts: Iterable[str] = ()) -> None:
    """Hold a name finder to the contract: places inside of the text, the same ones every time and in a copy."""
    name_finder = get_name_finder(finder)
    identity = _identity(name_finder)
    every = [*HOSTILE_TEXTS, *texts]
    first = [_name_places(name_finder, text) for text in every]
    for name, other in (("the second time", name_finder), ("in a copy", _copy(name_finder))):
        for text, places in zip(every[::-1], first[::-1], strict=True):
            if _name_places(other, text) != places:
                raise BrokenContract(f"{identity}: finds other names {name} in {text[:60]!r}")
    if name_finder.identity != identity:
        raise BrokenContract(f"{identity}: its identity changed after use: {name_finder.identity}")


def _name_places(finder: NameFinder, text: str) -> set[tuple[int, int]]:
    try:
        return set(names_found(finder, text))
    except InvalidParameter as error:
        raise BrokenContract(str(error)) from error
    except Exception as error:  # somebody else's code: whatever it raises stops a run of hours
        raise BrokenContract(
            f"{finder.identity}: raised {type(error).__name__} for {text[:60]!r}: {error}"
        ) from error


def check_language_model(model: str | LanguageModel, texts: Iterable[str] = ()) -> None:
    """Hold a language model to the contract on hostile questions and on yours: a completion, or a `ChunkwiseError`.

    What it writes is not looked at. Every text is sent once, with few tokens for the answer.
    """
    language_model = get_language_model(model)
    identity = _identity(language_model)
    if not isinstance(language_model.price_name, str) or not language_model.price_name:
        raise BrokenContract(
            f"{identity}: price_name is {language_model.price_name!r}; expected a name ('local' is free)"
        )
    for name, value in (
        ("window", language_model.window),
        ("concurrency", language_model.concurrency),
    ):
        if name == "window" and value is None:
            continue
        if type(value) is not int or value < 1:
            raise BrokenContract(f"{identity}: {name} is {value!r}; expected an integer above 0")
    for text in (*HOSTILE_TEXTS, *texts):
        try:
            _check_completion(identity, language_model.complete(Request("", text, max_tokens=8)))
        except (ChunkwiseError, BrokenContract) as error:
            if isinstance(error, BrokenContract):
                raise
        except Exception as error:  # somebody else's code: whatever it raises stops a run of hours
            raise BrokenContract(
                f"{identity}: raised {type(error).__name__} for {text[:60]!r}; expected a "
                f"ChunkwiseError: {error}"
            ) from error
    if language_model.identity != identity:
        raise BrokenContract(
            f"{identity}: its identity changed after use: {language_model.identity}"
        )


def _check_completion(identity: str, given: object) -> None:
    if not isinstance(given, Completion) or not isinstance(given.text, str):
        raise BrokenContract(f"{identity}: returned {type(given).__name__}; expected a Completion")
    for name in ("prompt_tokens", "output_tokens"):
        count = getattr(given, name)
        if type(count) is not int or count < 0:
            raise BrokenContract(f"{identity}: {name} is {count!r}; expected an integer, 0 or more")

"""The folder and PostgreSQL keep the contract of engines, and what breaks it is found."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chunkwise.base.errors import BrokenContract
from chunkwise.core import Document
from chunkwise.retrieval import Index, index, open_index
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.local import engine, folder, update
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.ranking import Ranking
from chunkwise.testkit import check_engine
from chunkwise.testkit.engines import Interrupted
from retrieval.postgres_server import new_url


@pytest.fixture
def new_folder(tmp_path: Path) -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: str(tmp_path / f"kb{next(numbers)}")


def test_a_folder_keeps_it(new_folder: Callable[[], str]) -> None:
    check_engine(new_folder)


@pytest.mark.smoke
@pytest.mark.usefixtures("postgres")
def test_postgresql_keeps_it() -> None:
    check_engine(new_url)


@pytest.mark.usefixtures("large_inputs")
def test_an_engine_that_we_do_not_know_runs_it_with_its_own_verbs(tmp_path: Path) -> None:
    """One whose places are called otherwise, as that of another package would be."""
    numbers, asked = itertools.count(), set[str]()

    def folder_of(place: str) -> Path:
        asked.add(place.partition("://")[0])
        return tmp_path / place.removeprefix("third://")

    def make(documents: Any, strategy: str, *, into: str, **more: Any) -> Index:
        return index(documents, strategy, into=folder_of(into), **more)

    def opened(place: str, **more: Any) -> Index:
        return open_index(folder_of(place), **more)

    check_engine(lambda: f"third://kb{next(numbers)}", make=make, opened=opened)
    assert asked == {"third"}


class _ForgetsConditions(LocalIndex):
    def words(self, queries: Sequence[str], depth: int, only: Filter, **more: Any) -> list[Ranking]:
        return super().words(queries, depth, EVERYTHING if only.where else only, **more)


class _MissesTheBest(LocalIndex):
    def nearest(self, vectors: Any, depth: int, only: Filter) -> list[Ranking]:
        found = super().nearest(vectors, depth, only)
        return [
            Ranking(each.numbers[1:], each.scores[1:]) if len(each.numbers) > 3 else each
            for each in found
        ]


class _ForgetsMetadata(LocalIndex):
    def document(self, number: int) -> Document:
        return replace(super().document(number), metadata={})


_into = update.into_folder


def _removes_nothing(place: Path, reading: Any, *given: Any, **more: Any) -> Any:
    return _into(place, replace(reading, keep_others=True), *given, **more)


def _hides_faults(place: Path, reading: Any, requested: Any, **more: Any) -> Any:
    try:
        return _into(place, reading, requested, **more)
    except Interrupted:
        known = reading.source[:1]
        return _into(place, replace(reading, source=known, keep_others=True), requested, **more)


@contextmanager
def _no_lock(place: Path, *_: object) -> Iterator[None]:
    place.mkdir(parents=True, exist_ok=True)
    yield


@pytest.mark.parametrize("broken", [_ForgetsConditions, _MissesTheBest, _ForgetsMetadata])
def test_an_index_that_finds_something_else_is_told(
    new_folder: Callable[[], str], monkeypatch: pytest.MonkeyPatch, broken: type[LocalIndex]
) -> None:
    opened = engine.open_local_index

    def open_broken(place: Path) -> LocalIndex:
        found = opened(place)
        found.__class__ = broken
        return found

    monkeypatch.setattr(engine, "open_local_index", open_broken)
    with pytest.raises(BrokenContract, match="opened again"):
        check_engine(new_folder)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ((update, "into_folder", _removes_nothing), "added, changed and removed"),
        (
            (update, "into_folder", _hides_faults),
            "an update succeeded although its embedder failed",
        ),
        ((folder, "locked", _no_lock), "at the same time|two writers"),
    ],
)
def test_an_update_that_does_something_else_is_told(
    new_folder: Callable[[], str], monkeypatch: pytest.MonkeyPatch, broken: Any, said: str
) -> None:
    monkeypatch.setattr(*broken)
    with pytest.raises(BrokenContract, match=said):
        check_engine(new_folder)


@pytest.mark.usefixtures("large_inputs")
def test_an_engine_of_its_own_arithmetic_is_held_to_recall(
    new_folder: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = engine.open_local_index

    def open_broken(place: Path) -> LocalIndex:
        found = opened(place)
        found.__class__ = _MissesTheBest
        return found

    monkeypatch.setattr(engine, "open_local_index", open_broken)
    check_engine(new_folder, least_recall=0.3)
    with pytest.raises(BrokenContract, match="dense finds"):
        check_engine(new_folder, least_recall=0.95)

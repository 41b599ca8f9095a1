"""Visibility by membership, whatever the database: who is interrupted, late or killed changes nothing that counts."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.databases import Store, StoredDocument, StoreProblem
from chunkwise.retrieval.databases.store import CALLS, State, Writer, parse_state, runs_of
from chunkwise.retrieval.databases.update import Reservation
from chunkwise.retrieval.engine import engine_at
from chunkwise.testkit.sample_run import HashedWords
from retrieval.databases.test_lancedb import documents, found, made

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(params=["opensearch", "qdrant", "lancedb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param != "opensearch":
        pytest.importorskip({"qdrant": "qdrant_client"}.get(request.param, request.param))
        yield f"{request.param}://{tmp_path}/kb"
        return
    pytest.importorskip("opensearchpy")
    from retrieval.databases.opensearch_endpoint import opensearch_endpoint

    with opensearch_endpoint() as (address, _):
        yield f"{address}/kb"


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """Of an index of two documents."""
    made(place, documents(2))
    engine: Any = engine_at(place)
    opened: Store = engine.store(place)
    opened.use(_state(opened).rows)
    yield opened
    opened.close()


def _state(store: Store) -> State:
    return parse_state(store.read_state(), store.shown)


def _late(number: int) -> StoredDocument:
    row = {
        "doc_id": "late.md", "title": "", "source": "", "metadata": {}, "position": 0, "start": 0, "end": 4,
        "tokens": 1, "section": "", "page": None, "text": "late", "context": "",
    }  # fmt: skip
    vectors = np.eye(1, HashedWords.dimensions, dtype=np.float32)
    parts: Any = dict.fromkeys(("about", "outline", "chunks", "atoms", "text"), b"late")
    return StoredDocument(number, parts, [number << 32], [row], vectors)


class _Stops(ChunkwiseError):
    pass


def _stopping(kind: type[Store], at: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The store is interrupted before its call of this number, and for good; gives how many there were."""
    calls = 0

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls >= at:
                raise _Stops
            return method(*given, **named)

        return call

    for name in CALLS:
        monkeypatch.setattr(kind, name, counted(getattr(kind, name)))
    return lambda: calls


def test_wherever_an_update_stops_the_index_is_the_old_or_the_new_one(
    place: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.update.LOOK_AGAIN", 0.01)
    made(place, documents(4))
    old = found(place)
    changed = [*documents(3), *documents(8, "bell")[5:]]
    made(f"{place}2", changed)
    new = found(f"{place}2")
    for at in itertools.count(1, 7):
        for rebuild in (False, True):
            with monkeypatch.context() as patched:
                patched.setattr("chunkwise.retrieval.databases.update.SECONDS", 0.3)
                calls = _stopping(type(store), at, patched)
                is_done = True
                try:
                    made(place, changed, rebuild=rebuild)
                except (ChunkwiseError, UserWarning):
                    is_done = calls() < at
            assert found(place) in (old, new), at
            made(place, documents(4))
            assert found(place) == old
        if is_done:
            break
    assert at > 10


def test_rows_that_a_writer_sends_late_never_count(place: str, store: Store) -> None:
    """Numbers that are not live, and those of a writer that was taken over."""
    before = found(place)
    store.put([_late(number) for number in (900, 901)])
    assert found(place) == before
    made(place, documents(3))
    store.put([_late(902)])
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert index.source.ids() == ["0.md", "1.md", "2.md"]
    assert "late" not in found(place)


def test_a_writer_that_was_taken_over_neither_writes_nor_publishes(
    place: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _state(store)
    first = Reservation(store)
    with first.held(0.0):
        first.begin(anew=False)
        number = first.number()
        state, text = _state(store), store.read_state()
        other = Writer("another", time.time() - 1, state.next_number, state.rows)
        store.swap_state(text, replace(state, writer=other).to_json())
        for act in (lambda: first.publish(before), lambda: first.begin(anew=False)):
            with pytest.raises(ChunkwiseError, match=r"another writer took over.*run it again"):
                act()
        first._held_until = 0.0
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            first.check()
    made(place, documents(3))
    assert _state(store).next_number > number
    assert len(chunkwise.open_index(place, embedder=HashedWords())) == 3


def test_numbers_are_never_used_again(store: Store) -> None:
    given: list[int] = []
    for _ in range(3):
        reservation = Reservation(store)
        with reservation.held(0.0):
            given += [reservation.number() for _ in range(3)]
            store.swap_state(store.read_state(), replace(_state(store), writer=None).to_json())
    assert len({*given}) == 9


def test_of_many_that_reserve_at_once_one_writes(place: str, store: Store) -> None:
    engine: Any = engine_at(place)
    holders: list[int] = []
    problems: list[str] = []
    together, over = threading.Barrier(4), threading.Event()

    def take(number: int) -> None:
        opened = engine.store(place)
        together.wait()
        try:
            with Reservation(opened).held(0.0):
                holders.append(number)
                over.wait(60)
        except ChunkwiseError as error:
            problems.append(str(error))
            holders.append(-1)
        finally:
            if len(holders) == 4:
                over.set()
            opened.close()

    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while len(holders) < 4:
        time.sleep(0.01)
    over.set()
    for thread in threads:
        thread.join()
    assert sorted(holders)[:3] == [-1, -1, -1]
    assert sorted(holders)[3] >= 0
    assert all("written by process" in each or "conflict" in each for each in problems), problems


def test_a_state_whose_answer_was_lost_counts(
    place: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = type(store).swap_state

    def unheard(self: Any, old: str | None, new: str) -> None:
        whole(self, old, new)
        raise StoreProblem("the connection dropped")

    monkeypatch.setattr(type(store), "swap_state", unheard)
    assert len(made(place, documents(3))) == 3


def test_a_reader_of_the_state_before_looks_again(place: str, store: Store) -> None:
    """Rows that were replaced go with the second update at the latest."""
    reader = chunkwise.open_index(place, embedder=HashedWords())
    source: Any = reader.source
    with source.snapshot():
        made(place, documents(2, "bell"))
        made(place, documents(2, "buoy"))
        store.use(_state(store).rows)
        for number in range(1, _state(store).next_number):
            if number not in _state(store).numbers:
                store.delete(number, number)
    hits = reader.search("the lamp of pier 1", retriever="hybrid", k=5)
    assert hits
    assert all("buoy" in hit.text or "lit" in hit.text or "Pier" in hit.text for hit in hits)


def test_what_is_replaced_goes_with_the_next_update(place: str, store: Store) -> None:
    for word in ("bell", "buoy", "horn"):
        made(place, documents(2, word))
    made(place, documents(3, "horn"))
    live = {*_state(store).numbers.tolist()}
    store.use(_state(store).rows)
    there = store.get("text", list(range(1, _state(store).next_number)))
    assert live <= {*there}
    assert not [number for number in there if number not in live]
    made(place, documents(3), rebuild=True)
    rows = store.rows
    made(place, documents(4))
    assert _state(store).rows != rows
    with pytest.raises((StoreProblem, KeyError)):
        store.vectors([next(iter(live)) << 32])


def test_a_value_that_is_not_ours_is_told(place: str, store: Store) -> None:
    store.swap_state(store.read_state(), '{"other": 1}')
    for attempt in (found, lambda at: made(at, documents(3))):
        with pytest.raises(ChunkwiseError, match=r"not a chunkwise index.*nothing was changed"):
            attempt(place)


def test_runs_of_numbers() -> None:
    assert runs_of([]) == ()
    assert runs_of([3]) == ((3, 3),)
    assert runs_of([1, 2, 3, 7, 9, 10]) == ((1, 3), (7, 7), (9, 10))
    assert State(live=runs_of([1, 2, 5])).numbers.tolist() == [1, 2, 5]


_WRITER = """
import sys
sys.path[:0] = {path!r}
from retrieval.databases import test_lancedb as tests
tests.made({place!r}, tests.documents({count}, {word!r}))
"""


@pytest.mark.thorough
def test_two_hundred_kills_leave_the_old_or_the_new_index(tmp_path: Path) -> None:
    """kill -9 at random moments: every document is whole, and the next writer need not wait."""
    place, choose = f"lancedb://{tmp_path}/kb", random.Random(1)
    made(place, documents(5))
    states, whole = {tuple(found(place))}, 60.0
    for number in range(200):
        count, word = 3 + number % 5, f"word{number}"
        program = _WRITER.format(path=sys.path, place=place, count=count, word=word)
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ})
        try:
            process.wait(choose.uniform(0.6, 1.2) * whole)
            whole = time.monotonic() - began  # a busy machine needs more
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        hits = tuple(found(place))
        words = {word for hit in hits for word in hit.split() if word.startswith(("word", "lamp"))}
        assert len(words) == 1, words
        states.add(hits)
    assert len(states) > 5

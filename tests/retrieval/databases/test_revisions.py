"""Rows that say in which revisions they count: what a writer sends late, or could not finish, changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.databases import StoredDocument, StoredIndex, StoreProblem
from chunkwise.retrieval.databases.revisions import (
    LIVE,
    ListedPiece,
    RevisionStore,
    fetched_together,
    joined_pieces,
)
from chunkwise.testkit.sample_run import HashedWords
from retrieval.databases.test_lancedb import documents, found, made


@pytest.fixture(params=["opensearch", "elasticsearch", "qdrant"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "qdrant":
        pytest.importorskip("qdrant_client")
        yield f"qdrant+local://{tmp_path}/kb"
        return
    pytest.importorskip("opensearchpy")
    from retrieval.databases.opensearch_endpoint import opensearch_endpoint

    with opensearch_endpoint(request.param) as (address, _):
        yield f"{address}/kb"


def _store(place: str) -> Any:
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert isinstance(index.source, StoredIndex)
    assert isinstance(index.source.store, RevisionStore)
    store: Any = index.source.store
    store.opened_by = (
        index  # one that nobody holds any more closes its store, whenever it is collected
    )
    return store


def _late_row(number: int) -> StoredDocument:
    row = {
        "doc_id": "late.md", "title": "", "source": "", "metadata": {}, "position": 0, "start": 0, "end": 4,
        "tokens": 1, "section": "", "page": None, "text": "late", "context": "",
    }  # fmt: skip
    vectors = np.eye(1, HashedWords.dimensions, dtype=np.float32)
    parts: Any = dict.fromkeys(("about", "chunks", "atoms", "text"), b"late")
    return StoredDocument(number, parts, [number << 32], [row], vectors)


def _begun(place: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A writer that began, was not heard for long, and of whose requests some are still under way."""
    store = _store(place)
    held = store.locked(0.0)
    held.__enter__()
    store.begin(HashedWords.dimensions, anew=False)
    writing = store._writing
    held.__exit__(None, None, None)
    store._writing = writing
    monkeypatch.setattr(store._lease, "check", lambda: None)
    return store


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    "comes", ["before the next begins", "while it writes", "after it published"]
)
def test_what_a_writer_sends_late_never_counts(
    place: str, comes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It adds under the numbers that the next writer has, and removes what that one keeps, and has removed."""
    made(place, documents(4))
    late = _begun(place, monkeypatch)
    changed = [*documents(3), *documents(6, "bell")[4:]]

    def send() -> None:
        late.add([_late_row(number) for number in (5, 6, 77)])
        late.remove([1, 4])

    if comes == "before the next begins":
        send()
    elif comes == "while it writes":
        whole = type(late)._settle

        def settled(self: Any, published: Any) -> None:
            with monkeypatch.context() as patch:
                patch.setattr(type(late), "_settle", whole)
                send()
                whole(self, published)

        monkeypatch.setattr(type(late), "_settle", settled)
    made(place, changed)
    if comes == "after it published":
        send()
    monkeypatch.undo()
    made(f"{place}2", changed)
    expected = found(f"{place}2")
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert sorted(index.source.ids()) == sorted(each.id for each in changed)
    assert found(place) == expected
    store = _store(place)
    assert _numbers(store) == sorted(_numbers(_store(f"{place}2")))
    made(place, changed[1:])  # the next writer takes away what is left of it
    assert sorted(chunkwise.open_index(place, embedder=HashedWords()).source.ids()) == sorted(
        each.id for each in changed[1:]
    )


def _numbers(store: Any) -> list[int]:
    """Of the chunks that the engine finds, by their places in their documents."""
    ranked = store.nearest(HashedWords().embed(["the lamp"])[0], 100, None, True)
    return sorted((ranked.numbers & 0xFFFFFFFF).tolist())


@pytest.mark.usefixtures("database")
def test_each_writer_has_a_number_of_its_own(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made(place, documents(2))
    numbers = []
    for _ in range(3):
        store = _begun(place, monkeypatch)
        numbers.append(store._writing.revision)
    assert len({*numbers}) == 3
    made(place, documents(3))
    last = _store(place)._now()
    assert last.revision > max(numbers)
    assert last.lost == ((min(numbers), max(numbers)),)


@pytest.mark.usefixtures("database")
def test_a_removal_of_many_goes_in_small_requests(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "qdrant" if place.startswith("qdrant") else "opensearch"
    name = "_CHANGED" if module == "qdrant" else "_WINDOW"
    monkeypatch.setattr(f"chunkwise.retrieval.databases.{module}.{name}", 3)
    made(place, documents(9))
    made(place, documents(2))
    index = made(place, documents(1))
    assert index.source.ids() == ["0.md"]
    assert found(place)


@pytest.mark.usefixtures("database")
def test_a_writer_that_lost_its_lease_stops_in_the_middle_of_a_removal(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "qdrant" if place.startswith("qdrant") else "opensearch"
    name = "_CHANGED" if module == "qdrant" else "_WINDOW"
    monkeypatch.setattr(f"chunkwise.retrieval.databases.{module}.{name}", 2)
    made(place, documents(6))
    before = found(place)
    store = _store(place)
    with store.locked(0.0):
        store.begin(HashedWords.dimensions, anew=False)
        whole: Callable[[], Any] = store._written
        calls = 0

        def written() -> Any:
            nonlocal calls
            calls += 1
            if calls == 2:
                store._lease._held_until = 0.0
            return whole()

        monkeypatch.setattr(store, "_written", written)
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.remove([1, 2, 3, 4, 5, 6])
        assert calls == 2
    assert found(place) == before


@pytest.mark.usefixtures("database")
def test_a_name_that_could_not_be_set_is_told_and_set_by_the_next_update(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(place, documents(2))
    kind = type(_store(place))

    def failing(self: Any, published: Any) -> None:
        raise StoreProblem("it is away")

    with monkeypatch.context() as patch:
        patch.setattr(kind, "_name_chunks", failing)
        with pytest.warns(UserWarning, match=r"up to date, but the name .*it is away.*next update"):
            made(place, documents(4), rebuild=True)
    store = _store(place)
    assert len(chunkwise.open_index(place, embedder=HashedWords())) == 4
    assert not store._is_named(store._now())
    made(place, documents(4))  # nothing has changed
    assert store._is_named(store._now())


@pytest.mark.usefixtures("database")
def test_a_state_whose_answer_was_lost_counts(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made(place, documents(2))
    kind = type(_store(place))
    whole = kind._put

    def unheard(self: Any, name: str, values: Any, before: Any) -> None:
        whole(self, name, values, before)
        if name == "state":
            raise StoreProblem("the connection dropped")

    monkeypatch.setattr(kind, "_put", unheard)
    assert len(made(place, documents(3))) == 3


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", ["lock", "state", "number"])
def test_rows_that_are_not_ours_are_told(place: str, name: str) -> None:
    made(place, documents(2))
    store = _store(place)
    store._put(name, {"other": 1}, store._row(name))
    with pytest.raises(ChunkwiseError, match=r"(kb|chunkwise)__about' is not chunkwise's"):
        made(place, documents(3))


@pytest.mark.usefixtures("database")
def test_parts_come_by_their_bytes(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones together: a request each would take minutes where documents are many."""
    made(place, documents(9))
    store = _store(place)
    calls = 0
    whole = store._explained

    def counted() -> Any:
        nonlocal calls
        calls += 1
        return whole()

    monkeypatch.setattr(store, "_explained", counted)
    assert len(list(store.parts("about"))) == 9
    assert calls == 2  # a list, and what is on it
    monkeypatch.setattr("chunkwise.retrieval.databases.revisions._FETCHED_BYTES", 1)
    assert len(list(store.parts("about"))) == 9
    assert calls == 2 + 1 + 9


@pytest.mark.usefixtures("database")
def test_groups_hold_everything_once_and_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.revisions._FETCHED_BYTES", 10)
    monkeypatch.setattr("chunkwise.retrieval.databases.revisions._FETCHED", 3)
    sizes = [4, 4, 4, 40, 1, 1, 1, 1, 0]
    listed = [ListedPiece(at, 0, size, at) for at, size in enumerate(sizes)]
    groups = list(fetched_together(listed))
    assert [each for group in groups for each in group] == listed
    assert [[each.size for each in group] for group in groups] == [[4, 4], [4], [40], [1, 1, 1], [1, 0]]  # fmt: skip
    pieces = [(1, b"a"), (1, b"b"), (2, b""), (5, b"c")]
    assert list(joined_pieces(pieces)) == [(1, b"ab"), (2, b""), (5, b"c")]
    assert list(joined_pieces([])) == []
    assert LIVE > 1 << 40

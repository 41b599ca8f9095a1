"""Eight bits a number say which vectors may be the nearest; what is found is what a comparison of all finds."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import chunkwise
from chunkwise import ChunkwiseError, Document
from chunkwise.retrieval.local import nearest_vectors
from chunkwise.retrieval.local.columns import CODES
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.local.manifest import MANIFEST_NAME
from chunkwise.retrieval.local.nearest_vectors import VectorCodes, nearest
from retrieval.tiny_embedder import Tiny
from tables import cases

NUMBERS = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0, 1, -1, 1e-30, -1e-42, 3e-39])
MATRICES = st.tuples(st.integers(0, 40), st.integers(1, 9)).flatmap(
    lambda shape: st.tuples(
        arrays.arrays(np.float32, shape, elements=NUMBERS),
        arrays.arrays(np.float32, (3, shape[1]), elements=NUMBERS),
    )
)


@given(MATRICES)
def test_codes_are_no_further_off_than_they_say(
    given: tuple[np.ndarray, np.ndarray],
) -> None:
    vectors, queries = given
    codes = VectorCodes.of(vectors)
    about = codes.numbers.astype(np.float32) * codes.scale[:, None]
    exact = vectors.astype(np.float64) @ queries.T.astype(np.float64)
    off = np.abs(about.astype(np.float64) @ queries.T.astype(np.float64) - exact)
    lengths = np.linalg.norm(queries.astype(np.float64), axis=1)
    assert (off <= codes.error[:, None].astype(np.float64) * lengths).all()


@given(MATRICES, st.integers(0, 50), st.booleans())
def test_codes_change_no_result(
    given: tuple[np.ndarray, np.ndarray], depth: int, some: bool
) -> None:
    vectors, queries = given
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    lengths = np.linalg.norm(queries.astype(np.float64), axis=1, keepdims=True)
    queries = (queries / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    allowed = np.arange(len(vectors)) % 3 != 1 if some else None
    _assert_same(vectors, queries, depth, allowed)


def _assert_same(
    vectors: np.ndarray, queries: np.ndarray, depth: int, allowed: np.ndarray | None
) -> None:
    wanted = nearest(vectors, queries, depth, allowed)
    found = nearest(vectors, queries, depth, allowed, VectorCodes.of(vectors))
    assert [each.numbers.tolist() for each in found] == [each.numbers.tolist() for each in wanted]
    assert [each.scores.tolist() for each in found] == [each.scores.tolist() for each in wanted]


@cases("depth", [1, 7, 400, 9_000])
@cases("share", [1.0, 0.3])
def test_several_blocks_and_vectors_that_are_nearly_equal(depth: int, share: float) -> None:
    rng = np.random.default_rng(depth)
    centres = rng.standard_normal((20, 32))
    vectors = centres[rng.integers(0, 20, 30_000)] + 0.003 * rng.standard_normal((30_000, 32))
    vectors[::7, 3] = 9  # one number dwarfs the others, which eight bits then tell little of
    vectors[20_000:21_000] = vectors[:1_000]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = np.vstack((vectors[[5, 700, 25_000]], np.zeros((1, 32)), -vectors[9:10]))
    allowed = None if share == 1 else rng.random(len(vectors)) < share
    _assert_same(vectors.astype(np.float32), queries.astype(np.float32), depth, allowed)


def test_few_rows_are_left_in_question() -> None:
    """The look at the codes is of use only where it leaves next to nothing to be read from the vectors."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((50_000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = VectorCodes.of(vectors)
    (left,) = nearest_vectors._near_by_codes(codes, vectors[7:8], 10, None, len(vectors))
    assert 10 <= len(left) < 500


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="maps are not listed here")
def test_codes_in_a_file_are_no_memory_of_the_process(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((40_000, 101)).astype(np.float32)
    codes = VectorCodes.of(vectors)
    codes.numbers.tofile(tmp_path / "codes")
    mapped = np.memmap(tmp_path / "codes", np.int8, "r", shape=codes.numbers.shape)
    in_file = codes._replace(numbers=mapped.view(np.ndarray))
    for _ in range(2):
        found = nearest(vectors, vectors[:2], 20, None, in_file)
        wanted = nearest(vectors, vectors[:2], 20)
        assert [each.numbers.tolist() for each in found] == [
            each.numbers.tolist() for each in wanted
        ]
        assert _held(tmp_path / "codes") < mapped.nbytes / 10


def _held(file: Path) -> int:
    """Bytes of a mapped file that this process has in memory."""
    told = Path("/proc/self/smaps").read_text().split(str(file))[1]
    return 1024 * int(
        next(line for line in told.splitlines() if line.startswith("Rss:")).split()[1]
    )


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="maps are not listed here")
def test_vectors_that_codes_are_made_of_are_no_memory_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest_vectors, "LARGE", 1)
    vectors = np.random.default_rng(3).standard_normal((120_000, 101), np.float32)
    vectors.tofile(tmp_path / "vectors")
    mapped = np.memmap(tmp_path / "vectors", np.float32, "r", shape=vectors.shape)
    held, made = [], []
    for each in nearest_vectors.code_columns({"chunk.vector": mapped.view(np.ndarray)}):
        made.append(each[CODES[0]])
        held.append(_held(tmp_path / "vectors"))
    assert (np.concatenate(made) == VectorCodes.of(vectors).numbers).all()
    assert max(held) < mapped.nbytes / 4


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(nearest_vectors, "LARGE", 1)
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    return tmp_path / "kb"


DOCUMENTS = [
    Document(f"{word}.md", f"# {word}\n\n" + f"The {word} is here. " * 9, format="markdown")
    for word in ("heron", "otter", "badger", "falcon", "crane", "stoat")
]


def _codes(index: chunkwise.Index) -> list[bytes]:
    assert isinstance(index.source, LocalIndex)
    return [index.source.arrays[name].tobytes() for name in CODES]


def _make(folder: Path | None, documents: list[Document]) -> chunkwise.Index:
    return chunkwise.index(documents, "sentences(max_tokens=20)", into=folder, embedder=Tiny())


def _hits(index: chunkwise.Index) -> list[tuple[str, int, float]]:
    hits = index.search("Where is the otter?", k=20, retriever="dense")
    return [(hit.document.id, hit.start, hit.score) for hit in hits]


def test_a_large_index_in_a_folder_has_codes_and_finds_what_one_in_memory_does(large: Path) -> None:
    _make(large, DOCUMENTS)
    opened = chunkwise.open_index(large, embedder=Tiny())
    assert all(_codes(opened))
    in_memory = _make(None, DOCUMENTS)
    assert isinstance(in_memory.source, LocalIndex)
    assert CODES[0] not in in_memory.source.arrays
    assert _hits(opened) == _hits(in_memory) != []


def test_codes_go_with_the_documents(large: Path, tmp_path: Path) -> None:
    _make(large, DOCUMENTS)
    updated = _make(large, [*DOCUMENTS[2:], Document("new.md", "A marten.")])
    fresh = _make(tmp_path / "fresh", [*DOCUMENTS[2:], Document("new.md", "A marten.")])
    assert _codes(updated) == _codes(fresh)


def test_an_index_from_before_there_were_codes_gets_them_though_nothing_changed(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(nearest_vectors, "LARGE", 1 << 30)
        _make(large, DOCUMENTS)
    updated = _make(large, DOCUMENTS)
    assert updated.changes.unchanged == len(DOCUMENTS)
    assert _codes(updated) == _codes(_make(tmp_path / "fresh", DOCUMENTS))
    (written,) = large.rglob(CODES[0])
    _make(large, DOCUMENTS)
    assert list(large.rglob(CODES[0])) == [written]  # and once


def test_an_index_that_has_shrunk_has_none(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make(large, DOCUMENTS)
    monkeypatch.setattr(nearest_vectors, "LARGE", 1 << 30)
    index = _make(large, DOCUMENTS[:3])
    assert isinstance(index.source, LocalIndex)
    assert CODES[0] not in index.source.arrays
    assert not list(large.rglob("chunk.code*"))


def _falsified(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    change(manifest)
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("shape", "told"),
    [([3], "its codes are not those of its vectors"), ([], "has fewer rows than none")],
    ids=["few", "none"],
)
def test_codes_of_other_vectors_are_told(large: Path, shape: list[int], told: str) -> None:
    _make(large, DOCUMENTS)
    _falsified(large, lambda manifest: manifest["codes"][CODES[1]].update(shape=shape))
    with pytest.raises(ChunkwiseError, match=told):
        chunkwise.open_index(large)


def test_codes_without_vectors_are_told(large: Path, tmp_path: Path) -> None:
    _make(large, DOCUMENTS)
    codes = json.loads((large / MANIFEST_NAME).read_text())["codes"]
    words = tmp_path / "words"
    chunkwise.index(DOCUMENTS, into=words, vectors="none")
    _falsified(words, lambda manifest: manifest.update(codes=codes))
    with pytest.raises(ChunkwiseError, match="its codes are not those of its vectors"):
        chunkwise.open_index(words)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wrong", [np.nan, -1.0, np.inf])
def test_codes_that_say_nothing_hide_nothing(wrong: float) -> None:
    vectors = np.eye(9, dtype=np.float32)
    codes = VectorCodes.of(vectors)
    codes = codes._replace(error=np.full_like(codes.error, wrong), scale=codes.scale * wrong)
    (expected,) = nearest(vectors, vectors[4:5], 3)
    (found,) = nearest(vectors, vectors[4:5], 3, codes=codes)
    assert found.numbers.tolist() == expected.numbers.tolist()


@pytest.mark.parametrize("page", [4 << 10, 16 << 10, 64 << 10])
def test_pages_are_let_go_whatever_their_size(
    tmp_path: Path, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    class Mapped(mmap.mmap):
        def madvise(self, option: int, start: int = 0, length: int | None = None) -> None:
            assert start < len(self)
            assert length
            asked.append((start, length))

    (tmp_path / "codes").write_bytes(bytes(8_202 * 301))
    with (tmp_path / "codes").open("rb") as file:
        mapped = Mapped(file.fileno(), 0, access=mmap.ACCESS_READ)
    rows = np.ndarray((8_202, 301), np.int8, buffer=mapped)
    monkeypatch.setattr(mmap, "PAGESIZE", page)
    for low in range(0, len(rows), 8_192):
        nearest_vectors._let_go(rows, low, min(low + 8_192, len(rows)))
    assert asked[0] == (0, 8_192 * 301)


def test_changed_codes_are_found_on_demand(large: Path) -> None:
    index = _make(large, DOCUMENTS)
    (path,) = large.rglob(CODES[0])
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    with pytest.raises(ChunkwiseError, match=r"chunk\.code has other bytes"):
        index.verify()

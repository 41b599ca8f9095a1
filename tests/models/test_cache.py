"""The cache: nothing computed twice, nothing lost to a kill, and no run stopped by a bad disk."""

import os
import pickle
import re
import signal
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models import cache as cache_module
from chunkwise.models.cache import (
    CachedEmbedder,
    CachedTexts,
    CachedTokenEmbedder,
    ModelCache,
    cached,
    key_of,
)
from chunkwise.models.embed.embedder import Embedder, TokenEmbedder
from chunkwise.models.embed.pretrained import minilm
from interrupting import interrupt_at, lines_since
from untimed import HANG

WORKER = """
import sys, time
import numpy as np
from contextlib import closing
from functools import partial
from pathlib import Path
from chunkwise.models.cache import CachedEmbedder
from chunkwise.models.cache import ModelCache

class Slow:
    identity, dimensions, slice_size = "slow", 4, 1
    def embed(self, texts, kind="passage"):
        time.sleep(float(sys.argv[3]) * len(texts))
        return np.array([[float(t)] * 4 for t in texts], dtype=np.float32)

first, last = map(int, sys.argv[2].split("-"))
cache = ModelCache(Path(sys.argv[1]))
embedder = CachedEmbedder(Slow(), cache)
for start in range(first, last, 20):
    vectors = embedder.embed([str(n) for n in range(start, min(start + 20, last))])
    assert vectors[:, 0].tolist() == list(range(start, min(start + 20, last)))
    print(start, flush=True)
"""
FORK = """
import os, sys
from contextlib import closing
from functools import partial
from pathlib import Path
from chunkwise.models.cache import ModelCache

cache = ModelCache(Path(sys.argv[1]))
cache.put("m", {b"1": b"parent"})
child = os.fork()
if not child:
    cache.put("m", {b"2": b"child"})
    os._exit(cache.get([b"1", b"2"]) != {b"1": b"parent", b"2": b"child"})
assert os.waitpid(child, 0)[1] == 0
assert cache.get([b"2"]) == {b"2": b"child"}
"""
CLOSED = """
import sys, threading, time, warnings
from contextlib import closing
from functools import partial
from pathlib import Path
from chunkwise.models.cache import ModelCache

warnings.simplefilter("ignore")
cache = ModelCache(Path(sys.argv[1]))

def work():
    for number in range(600):
        cache.put("m", {str(number).encode(): b"v"})
        assert cache.get([str(number).encode()])

failed = []
threading.excepthook = failed.append
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    cache.close()
    time.sleep(0.001)
assert not failed, failed[0]
"""


class Counting:
    """Vectors from lengths, and a list of everything it was asked."""

    def __init__(self, identity: str = "counting") -> None:
        self.identity = identity
        self.dimensions = 2
        self.asked: list[str] = []

    def embed(self, texts: list[str], kind: str = "passage") -> NDArray[np.float32]:
        self.asked.extend(texts)
        rows = [[len(text), kind == "query"] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "vectors.sqlite"


def worker(path: Path, numbers: str, pause: float) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path), numbers, str(pause)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_text_is_embedded_once(path: Path) -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner, ModelCache(path))
    first = embedder.embed(["aa", "b", "aa", "ccc", "b"])
    assert inner.asked == ["aa", "b", "ccc"]
    assert first[:, 0].tolist() == [2, 1, 2, 3, 1]
    later = CachedEmbedder(inner, ModelCache(path)).embed(["ccc", "new", "b"])
    assert inner.asked == ["aa", "b", "ccc", "new"]
    assert later[:, 0].tolist() == [3, 3, 1]
    assert embedder.embed(["aa"], "query").tolist() == [[2, 1]]
    assert embedder.embed([]).shape == (0, 2)


def test_texts_come_back_as_they_were(path: Path) -> None:
    texts = CachedTexts(ModelCache(path), "m", "answer")
    given = {texts.key(text, {"n": 1}): text for text in ("", "plain", "灯 \ud83d", "\0")}
    texts.put(given)
    assert CachedTexts(ModelCache(path), "m", "answer").get(given) == given
    assert CachedTexts(ModelCache(path), "m", "context").key("plain", {"n": 1}) not in given


def test_models_do_not_share_vectors(path: Path) -> None:
    for identity in ("one", "two"):
        inner = Counting(identity)
        CachedEmbedder(inner, ModelCache(path)).embed(["a"])
        assert inner.asked == ["a"]


@given(st.lists(st.text(max_size=6), min_size=4, max_size=4), st.data())
def test_keys_differ_where_any_part_does(parts: list[str], data: st.DataObject) -> None:
    identity, kind, text, more = parts
    key = key_of(identity, kind, text, more.encode())
    assert key == key_of(identity, kind, text, more.encode())
    assert key != key_of(identity + "x", kind, text, more.encode())
    if kind:  # what moves over the border between two parts is seen
        assert key != key_of(identity + kind[0], kind[1:], text, more.encode())
    assert key_of(identity, kind, "\ud800") != key_of(identity, kind, "\ufffd")


def test_fresh_and_kept_vectors_are_the_same_to_the_bit(path: Path) -> None:
    texts = ["The lamp is lit.", "Nobody rows alone.", ""]
    model = minilm()
    plain = model.embed(texts)
    for _ in range(2):
        assert np.array_equal(cached(model, ModelCache(path)).embed(texts), plain)


def test_wrapping_keeps_the_kind_of_embedder(path: Path) -> None:
    cache = ModelCache(path)
    whole, inner = cached(minilm(), cache), cached(Counting(), cache)
    assert isinstance(whole, TokenEmbedder)
    assert isinstance(whole, CachedTokenEmbedder)
    assert isinstance(inner, Embedder)
    assert not isinstance(inner, TokenEmbedder)
    assert whole.window == 256
    assert len(whole.token_starts("two words")) == 2
    assert whole.token_vectors(["two words"])[0].vectors.shape == (2, 384)


def test_the_number_of_dimensions_is_asked_once(path: Path) -> None:
    class Asked(Counting):
        questions = 0

        @property
        def dimensions(self) -> int:
            Asked.questions += 1
            return 2

        @dimensions.setter
        def dimensions(self, value: int) -> None: ...

    cached(Asked(), ModelCache(path)).embed(["a"])
    for _ in range(3):
        assert cached(Asked(), ModelCache(path)).dimensions == 2
    assert Asked.questions == 1


@pytest.mark.usefixtures("processes")
def test_a_killed_run_goes_on_where_it_was(path: Path) -> None:
    process = worker(path, "0-2000", 0.002)
    assert process.stdout
    for _ in range(3):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    (kept,) = ModelCache(path).stats()
    assert kept.entries >= 60
    with closing(sqlite3.connect(path)) as check, check:
        assert check.execute("pragma integrity_check").fetchone() == ("ok",)
    check.close()
    inner = Counting("slow")
    inner.dimensions = 4
    vectors = CachedEmbedder(inner, ModelCache(path)).embed([str(n) for n in range(60)])
    assert inner.asked == []
    assert vectors[:, 0].tolist() == list(range(60))


@pytest.mark.usefixtures("processes")
def test_two_processes_at_once(path: Path) -> None:
    both = [worker(path, numbers, 0.0) for numbers in ("0-300", "200-500")]
    for process in both:
        process.communicate(timeout=HANG)
        assert process.returncode == 0
    (kept,) = ModelCache(path).stats()
    assert kept.entries == 501  # and the number of dimensions


@pytest.mark.parametrize("damage", ["header", "middle"])
def test_a_damaged_file_is_set_aside(path: Path, damage: str) -> None:
    cache = ModelCache(path)
    cache.put("m", {str(n).encode(): b"v" * 500 for n in range(2000)})
    cache.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(0 if damage == "header" else 4096)
        file.write(b"\xff" * (100 if damage == "header" else size - 4096))
    again = ModelCache(path)
    with pytest.warns(UserWarning, match=r"\.damaged-"):
        assert again.get([b"1"]) == {}
    again.put("m", {b"1": b"new"})
    assert again.get([b"1"]) == {b"1": b"new"}
    assert len(list(path.parent.glob("*.damaged-*"))) >= 1


def test_two_that_find_the_damage_set_it_aside_once(path: Path) -> None:
    both = [ModelCache(path), ModelCache(path)]
    for cache in both:
        cache.put("m", {b"1": b"v"})
    for cache in both:
        cache.close()
    path.write_bytes(b"not a database" * 1000)
    second = sqlite3.connect(path, isolation_level=None)
    both[1]._connection, both[1]._process = second, os.getpid()
    both[1]._file = path.stat().st_ino
    with pytest.warns(UserWarning, match="was damaged"):
        both[0].put("m", {b"2": b"new"})
    assert both[1].get([b"1", b"2"]) == {b"2": b"new"}
    assert len(list(path.parent.glob("*.damaged-*"))) == 1


def test_travels_to_another_process(path: Path) -> None:
    cache = ModelCache(path)
    cache.put("m", {b"1": b"v"})
    there = pickle.loads(pickle.dumps(CachedEmbedder(minilm(), cache)))
    assert there.cache.get([b"1"]) == {b"1": b"v"}
    assert there.identity == minilm().identity


def test_a_home_that_cannot_be_written_to_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    inner = Counting()
    embedder = CachedEmbedder(inner, ModelCache(tmp_path / "file" / "v.sqlite"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        embedder.embed(["a"])
        assert embedder.embed(["a", "bb"])[:, 0].tolist() == [1, 2]
    (warning,) = told
    assert "continuing without" in str(warning.message)
    assert "CHUNKWISE_HOME" in str(warning.message)


def test_a_full_disk_is_one_warning(path: Path) -> None:
    cache = ModelCache(path)
    cache.put("m", {b"1": b"kept"})
    assert cache._connection is not None
    cache._connection.execute("pragma max_page_count = 8")
    with pytest.warns(UserWarning, match="full"):
        cache.put("m", {str(n).encode(): b"v" * 5000 for n in range(50)})
    cache.put("m", {b"2": b"not kept"})
    assert ModelCache(path).get([b"1", b"2"]) == {b"1": b"kept"}


def test_stats_and_clear(path: Path) -> None:
    cache = ModelCache(path)
    assert cache.stats() == []
    assert cache.clear() == 0
    assert not path.exists()
    cache.put("minilm:1", {b"a": b"1234", b"b": b"1"})
    cache.put("mini%_", {b"c": b"1"})
    assert [(each.model, each.entries, each.bytes) for each in cache.stats()] == [
        ("minilm:1", 2, 5),
        ("mini%_", 1, 1),
    ]
    assert cache.clear("mini%") == 1
    assert cache.get([b"a", b"c"]) == {b"a": b"1234"}
    assert cache.clear() == 2
    assert cache.stats() == []
    assert cache.size() > 0


def test_a_question_about_an_unreadable_cache_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").mkdir()
    with pytest.raises(ChunkwiseError, match="cannot use the cache"):
        ModelCache(tmp_path / "v.sqlite").stats()


def test_many_keys_at_once(path: Path) -> None:
    cache = ModelCache(path)
    values = {n.to_bytes(4, "little"): n.to_bytes(4, "big") for n in range(1700)}
    cache.put("m", values)
    assert cache.get(list(values)) == values


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_connection_does_not_cross_a_fork(path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK, str(path)], timeout=HANG)
    assert done.returncode == 0


@pytest.mark.usefixtures("processes")
def test_closing_waits_for_what_other_threads_do(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CLOSED, str(path)], timeout=HANG)
    assert done.returncode == 0


def test_one_that_is_in_use_is_passed_over_this_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_BUSY_SECONDS", 0.05)
    cache = ModelCache(path)
    cache.put("m", {b"1": b"kept"})
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.warns(UserWarning, match="locked for more than .* continuing without it"):
        cache.put("m", {b"2": b"not kept"})
    other.execute("rollback")
    other.close()
    assert cache.get([b"1", b"2"]) == {b"1": b"kept"}
    cache.put("m", {b"2": b"kept now"})
    assert cache.get([b"2"]) == {b"2": b"kept now"}


def test_one_that_is_in_use_when_it_is_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_BUSY_SECONDS", 0.05)
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    cache = ModelCache(path)
    with pytest.warns(UserWarning, match="continuing without"):
        assert cache.get([b"1"]) == {}
    other.execute("rollback")
    other.close()
    cache.put("m", {b"1": b"kept"})
    assert cache.get([b"1"]) == {b"1": b"kept"}


def test_an_error_of_python_itself_is_one_warning(path: Path) -> None:
    cache = ModelCache(path)
    cache.put("m", {b"1": b"v"})
    assert cache._connection is not None
    cache._connection.close()
    with pytest.warns(UserWarning, match="closed database"):
        assert cache.get([b"1"]) == {}


def test_clearing_a_model_without_a_name_clears_nothing(path: Path) -> None:
    cache = ModelCache(path)
    cache.put("m", {b"1": b"v"})
    with pytest.raises(InvalidParameter, match="model is ''"):
        cache.clear("")
    assert cache.get([b"1"]) == {b"1": b"v"}


class Batches(Counting):
    """Hands out batches of two as they come, the last first, and refuses texts that say so."""

    def embed_each(
        self, texts: list[str], kind: str = "passage"
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        refused = None
        for at in reversed(range(0, len(texts), 2)):
            some = texts[at : at + 2]
            if "refused" in some:
                refused = ChunkwiseError("too long for the model")
            else:
                yield at, self.embed(some, kind)
        if refused:
            raise refused


def test_what_was_paid_for_is_kept_when_one_text_is_refused(path: Path) -> None:
    inner = Batches()
    embedder = CachedEmbedder(inner, ModelCache(path))
    texts = ["a", "bb", "refused", "ccc", "dddd", "eeeee"]
    with pytest.raises(ChunkwiseError, match="too long for the model"):
        embedder.embed(texts)
    assert inner.asked == ["dddd", "eeeee", "a", "bb"]
    others = [text for text in texts if text != "refused"]
    assert embedder.embed(others)[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert inner.asked == ["dddd", "eeeee", "a", "bb", "ccc"]
    assert embedder.embed([]).shape == (0, 2)


def test_rows_that_never_come_are_told(path: Path) -> None:
    class Silent(Counting):
        def embed_each(
            self, texts: list[str], kind: str
        ) -> Iterator[tuple[int, NDArray[np.float32]]]:
            yield 1, self.embed(texts[1:2])

    with pytest.raises(ChunkwiseError, match="no vector for 2 of 3 texts"):
        CachedEmbedder(Silent(), ModelCache(path)).embed(["a", "b", "c"])


def test_a_model_that_changed_under_its_name_is_told(path: Path) -> None:
    class Wider(Counting):
        def embed(self, texts: list[str], kind: str = "passage") -> NDArray[np.float32]:
            return np.ones((len(texts), 5), dtype=np.float32)

    CachedEmbedder(Counting("a model"), ModelCache(path)).embed(["a"])
    changed = CachedEmbedder(Wider("a model"), ModelCache(path))
    for texts in (["a", "b"], ["b"]):
        with pytest.raises(ChunkwiseError) as told:
            changed.embed(texts)
        assert re.search(r"\b5 dimensions.*\b2\b", str(told.value))
        assert "chunkwise models cache clear --model 'a model'" in str(told.value)
    assert changed.embed(["a"]).shape == (1, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_not_kept(tmp_path: Path, bad: float) -> None:
    class Broken:
        identity, dimensions = "broken", 2

        def embed(self, texts: list[str], kind: str = "passage") -> NDArray[np.float32]:
            return np.full((len(texts), 2), bad, np.float32)

    cache = ModelCache(tmp_path / "vectors.sqlite")
    assert not np.isfinite(CachedEmbedder(Broken(), cache).embed(["a"])).any()
    assert not cache.get([key_of("broken", "passage", "a")])


def _flipped(path: Path, column: str) -> int:
    """Changes one bit of every value, or of every seal, behind SQLite's back; how many."""
    with closing(sqlite3.connect(path)) as file:
        rows = file.execute(f"select rowid, {column} from vectors").fetchall()
        for row, value in rows:
            changed = bytes([value[0] ^ 1]) + value[1:]
            file.execute(f"update vectors set {column} = ? where rowid = ?", [changed, row])
        file.commit()
    return len(rows)


@pytest.mark.parametrize("column", ["value", "seal"])
def test_a_changed_byte_is_never_handed_out(path: Path, column: str) -> None:
    inner = Counting()
    texts = ["aa", "b"]
    sound = CachedEmbedder(inner, ModelCache(path)).embed(texts)
    answers = CachedTexts(ModelCache(path), "m", "answer")
    key = answers.key("x", 1)
    answers.put({key: "yes"})
    assert _flipped(path, column) == 4  # with the number of dimensions
    later = CachedEmbedder(inner, ModelCache(path))
    with pytest.warns(UserWarning, match="2 .* of 2 "):
        assert later.embed(texts).tolist() == sound.tolist()
    assert inner.asked == [*texts, *texts]
    with pytest.warns(UserWarning, match="1 .* of 1 "):
        assert CachedTexts(ModelCache(path), "m", "answer").get([key]) == {}
    # What came instead is kept, and is sound.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = CachedEmbedder(inner, ModelCache(path)).embed(texts)
    assert again.tolist() == sound.tolist()
    assert inner.asked == [*texts, *texts]


def test_a_value_of_another_key_is_a_changed_one(path: Path) -> None:
    cache = ModelCache(path)
    cache.put("m", {b"a": b"1", b"b": b"2"})
    with closing(sqlite3.connect(path)) as file:
        file.execute("update vectors set value = x'32', seal = (select seal from vectors where key = x'62')"
                     " where key = x'61'")  # fmt: skip
        file.commit()
    with pytest.warns(UserWarning, match="1 .* of 2 "):
        assert cache.get([b"a", b"b"]) == {b"b": b"2"}


def test_an_interrupt_at_any_line_leaves_a_cache_that_works(path: Path) -> None:
    """An open transaction would refuse whatever comes next, and keep every other process out."""
    cache = ModelCache(path)
    work = partial(cache.put, "m", {b"a": b"1"})
    for line in lines_since(ModelCache.put, work):
        cache.clear()
        interrupt_at(line, ModelCache.put, work)
        assert cache.get([b"a"]) in ({}, {b"a": b"1"})
        work()
        assert ModelCache(path).get([b"a"]) == {b"a": b"1"}
        other = ModelCache(path)
        other.put("n", {b"b": b"2"})
        assert cache.get([b"b"]) == {b"b": b"2"}


def test_a_cache_that_is_off_keeps_and_finds_nothing_and_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    ModelCache().put("model", {b"before": b"kept"})
    monkeypatch.setenv("CHUNKWISE_CACHE", "off")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cache in (ModelCache(), pickle.loads(pickle.dumps(ModelCache()))):
            cache.put("model", {b"key": b"value"})
            assert cache.get([b"key", b"before"]) == {}
    monkeypatch.setenv("CHUNKWISE_CACHE", "on")
    assert ModelCache().get([b"key", b"before"]) == {b"before": b"kept"}
    assert [each.entries for each in ModelCache().stats()] == [
        1
    ]  # `chunkwise models cache` tells what is there
    monkeypatch.setenv("CHUNKWISE_CACHE", "0")
    with pytest.raises(InvalidParameter, match="CHUNKWISE_CACHE is '0'; allowed: on, off"):
        ModelCache()

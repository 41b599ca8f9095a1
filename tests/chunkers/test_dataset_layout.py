"""A table of Lance has the rows of the data set of Parquet, changes from one moment to the next, and is made once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install lancedb")

import lancedb

import chunkwise
from chunkers.test_chunk_dataset import _expected, _rows, _write, docs  # noqa: F401
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.chunkers import chunk_dataset
from chunkwise.chunkers.chunk_dataset import PartWork
from chunkwise.chunkers.dataset_layout import DatasetFolder
from chunkwise.documents.source import Source
from chunkwise.records.lance import LanceFolder

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_dataset, "_BATCHES", 1)


def _table(output: Path) -> Any:
    return lancedb.connect(output.parent).open_table(output.stem)


def _lance_rows(output: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _table(output).to_arrow().to_pylist()
    return rows


def _data_files(output: Path) -> list[str]:
    return sorted(each.name for each in (output / "data").iterdir())


def test_rows_and_columns_are_those_of_parquet(docs: Path, tmp_path: Path) -> None:  # noqa: F811
    _write(docs, tmp_path / "parquet")
    made, _, problems = _write(docs, tmp_path / "out.lance")
    assert (made.documents, made.chunks, made.parts, len(problems)) == (200, 200, 4, 1)
    assert _lance_rows(tmp_path / "out.lance") == _rows(tmp_path / "parquet") == _expected(docs)
    names = {each.name for each in (tmp_path / "out.lance").iterdir()}
    assert {"_chunkwise.json", "_parts", "data"} <= names
    assert "_staged" not in names
    assert len(_table(tmp_path / "out.lance").list_versions()) == 1


def test_what_is_there_is_not_cut_again(docs: Path, tmp_path: Path) -> None:  # noqa: F811
    output = tmp_path / "out.lance"
    _write(docs, output)
    before = _data_files(output), _table(output).version
    made, workers, _ = _write(docs, output)
    assert (made.reused, workers.made) == (4, [])
    assert (_data_files(output), _table(output).version) == before
    (docs / "150.md").write_text("Another text.")
    made, workers, _ = _write(docs, output)
    assert (made.reused, len(workers.made)) == (3, 1)
    assert _lance_rows(output) == _expected(docs)
    assert len(_data_files(output)) == len(_table(output).list_versions()) == 1
    (docs / "001.md").unlink()  # every part is another
    _write(docs, output)
    assert _lance_rows(output) == _expected(docs)


def test_a_table_that_somebody_changed_is_made_again(docs: Path, tmp_path: Path) -> None:  # noqa: F811
    output = tmp_path / "out.lance"
    _write(docs, output)
    _table(output).delete("index = 0")
    assert _lance_rows(output) == []
    made, workers, _ = _write(docs, output)
    assert (made.reused, len(workers.made)) == (0, 4)
    assert _lance_rows(output) == _expected(docs)


@pytest.mark.parametrize("stop", ["replace", "move", "clear"])
def test_stopped_at_its_commit_it_goes_on(
    docs: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stop: str,
) -> None:
    output = tmp_path / "out.lance"
    _write(docs, output)
    old = _lance_rows(output)
    (docs / "150.md").write_text("Another text.")

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        where = {"replace": LanceFolder, "move": DatasetFolder, "clear": chunk_dataset.LanceParts}
        patched.setattr(where[stop], stop, stopped)
        with pytest.raises(KeyboardInterrupt):
            _write(docs, output)
    assert _lance_rows(output) == (old if stop == "replace" else _expected(docs))
    made, workers, _ = _write(docs, output)
    assert (made.reused, workers.made) == (4, [])
    assert _lance_rows(output) == _expected(docs)
    assert not (output / "_staged").exists()


def test_a_worker_that_dies_leaves_nothing_behind(docs: Path, tmp_path: Path) -> None:  # noqa: F811
    def dies(work: PartWork) -> bool:
        units = (unit for batch in work.batches for unit in batch)
        return any(isinstance(unit, Source) and unit.origin.endswith("007.md") for unit in units)

    made, _, problems = _write(docs, tmp_path / "out.lance", dies)
    assert (made.documents, made.skipped) == (199, 2)
    assert any("007.md" in each for each in problems)
    assert len(_lance_rows(tmp_path / "out.lance")) == 199


def test_what_is_not_ours_is_left_alone(docs: Path, tmp_path: Path) -> None:  # noqa: F811
    lancedb.connect(tmp_path).create_table("mine", [{"a": 1}])
    with pytest.raises(ChunkwiseError, match="is no data set of chunks and is not empty"):
        _write(docs, tmp_path / "mine.lance")
    assert _lance_rows(tmp_path / "mine.lance") == [{"a": 1}]


@pytest.mark.parametrize(
    ("name", "said"),
    [("my chunks.lance", "made of A-Z"), ("memory://bucket/chunks.lance", "s3://, gs://, az://")],
)
def test_what_lance_cannot_is_refused_before_the_work(
    docs: Path,  # noqa: F811
    tmp_path: Path,
    name: str,
    said: str,
) -> None:
    output = Path(name) if "://" in name else tmp_path / name
    with pytest.raises(ChunkwiseError, match=said):
        _write(docs, output)
    assert not (tmp_path / name).exists()


def test_it_is_no_corpus_of_documents(docs: Path, tmp_path: Path) -> None:  # noqa: F811
    _write(docs, tmp_path / "out.lance")
    with pytest.raises(UnreadableDocument, match="a chunk file written by chunkwise"):
        list(chunkwise.read(tmp_path / "out.lance"))


def test_the_command_writes_it_and_goes_on_after_a_kill(docs: Path, tmp_path: Path) -> None:  # noqa: F811
    for number in range(200, 3_000):
        (docs / f"{number:04}.md").write_text(f"# Title {number}\n\n" + "Some words. " * 200)
    output = tmp_path / "out.lance"
    command = [sys.executable, "-m", "chunkwise", "chunk", str(docs), "-o", str(output), "-j", "1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    staged = output / "_staged"
    until = time.monotonic() + 120
    while not list(staged.glob("part-*.json")) and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (output / "data").exists()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr  # the empty file
    assert "reused)" in done.stderr
    assert "Warning" not in done.stderr
    assert "WARN" not in done.stderr
    assert _lance_rows(output) == _expected(docs)

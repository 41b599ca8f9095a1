"""A data set of chunks is the same whoever makes its parts, made once, and whole or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as arrow_dataset
import pytest

pytest.importorskip("fsspec")

import chunkwise
from chunkwise import Document
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.base.runner import WorkerDied
from chunkwise.chunkers import chunk_dataset
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.chunk_dataset import (
    ChunkDataset,
    PartRecipe,
    PartRecord,
    PartWork,
    write_dataset,
)
from chunkwise.chunkers.chunk_long_texts import SegmentSizes, in_segments
from chunkwise.chunkers.write_chunks import row_of
from chunkwise.documents import LoadOptions, source


class Here:
    """A cluster of this process alone, in which work dies as a test wants."""

    at_once = 2
    cores = 1

    def __init__(self, dies: Callable[[PartWork], bool] = lambda work: False) -> None:
        self._dies = dies
        self.made: list[str] = []

    def workers(self, function: Any, stage: str, *, accelerated: bool = False) -> Any:
        self._function = function
        return self

    def submit(self, part: PartWork) -> Callable[[], Iterator[PartRecord]]:
        if self._dies(part):
            return self._dead
        self.made.append(part.name)
        found = list(self._function(part))
        return lambda: iter(found)

    def _dead(self) -> Iterator[PartRecord]:
        raise WorkerDied("a worker process died (SIGKILL)")

    def stop(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_dataset, "_BATCHES", 1)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number:03}.md").write_text(f"# Title {number}\n\nText of number {number}.\n")
    (folder / "empty.txt").write_text("")
    return folder


def _recipe(output: Path, strategy: str = "structure") -> PartRecipe:
    return PartRecipe(strategy, LoadOptions(), "none", output)


def _write(
    docs: Any, output: Path, dies: Callable[[PartWork], bool] = lambda work: False, **more: Any
) -> tuple[ChunkDataset, Here, list[str]]:
    workers = Here(dies)
    problems: list[str] = []
    recipe = _recipe(output, **more)
    made = write_dataset(docs, recipe, workers, lambda each: problems.append(str(each)))
    return made, workers, problems


def _rows(output: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        arrow_dataset.dataset(output, format="parquet").to_table().to_pylist()
    )
    return rows


def _expected(docs: Any) -> list[dict[str, Any]]:
    return [
        dict(row_of(each))
        for each in chunkwise.chunk(docs, options=LoadOptions(on_unreadable="ignore"))
    ]


def _files(output: Path) -> dict[str, bytes]:
    found = (each for each in output.rglob("*") if each.is_file())
    return {each.relative_to(output).as_posix(): each.read_bytes() for each in found}


def test_its_rows_are_those_of_one_file_in_the_same_order(docs: Path, tmp_path: Path) -> None:
    made, workers, problems = _write(docs, tmp_path / "out")
    assert (made.documents, made.chunks, made.skipped, made.parts) == (200, 200, 1, 4)
    assert len(workers.made) == 4
    assert problems == [f"{docs}/empty.txt: empty"]
    assert _rows(tmp_path / "out") == _expected(docs)
    assert not (tmp_path / "out/_staged").exists()


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_make_the_same_files(docs: Path, tmp_path: Path, jobs: int) -> None:
    _write(docs, tmp_path / "one")
    write_dataset(docs, _recipe(tmp_path / "two"), jobs, lambda each: None)
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


@pytest.mark.usefixtures("processes")
def test_what_is_there_is_not_made_again(docs: Path, tmp_path: Path) -> None:
    _write(docs, tmp_path / "out")
    before = _files(tmp_path / "out")
    made, workers, problems = _write(docs, tmp_path / "out")
    assert workers.made == []
    assert (made.reused, len(problems)) == (4, 1)
    assert _files(tmp_path / "out") == before
    (docs / "150.md").write_text("Another text.")
    made, workers, _ = _write(docs, tmp_path / "out")
    assert (made.reused, len(workers.made)) == (3, 1)
    assert _rows(tmp_path / "out") == _expected(docs)
    _, workers, _ = _write(docs, tmp_path / "out", strategy="sentences(max_tokens=50)")
    assert len(workers.made) == 4
    mine = tmp_path / "mine.py"
    for limit in (40, 60):  # a strategy of one's own, and the same with other code
        mine.write_text(
            "from chunkwise.chunkers.sentences import SentenceChunker\n"
            f"class Mine(SentenceChunker):\n    LIMIT = {limit}\n"
        )
        _, workers, _ = _write(docs, tmp_path / "out", strategy=f"{mine}:Mine")
        assert len(workers.made) == 4


@pytest.mark.usefixtures("large_inputs")
def test_what_a_strategy_of_ones_own_imports_from_beside_it_is_part_of_it(
    docs: Path, tmp_path: Path
) -> None:
    mine, limits = tmp_path / "mine.py", tmp_path / "limits_of_mine.py"
    mine.write_text(
        "from chunkwise.chunkers.sentences import SentenceChunker\nimport limits_of_mine\n"
        "class Mine(SentenceChunker):\n    pass\n"
    )
    for limit in ("40", "60 + 3"):
        limits.write_text(f"LIMIT = {limit}\n")
        assert len(_write(docs, tmp_path / "out", strategy=f"{mine}:Mine")[1].made) == 4
        assert _write(docs, tmp_path / "out", strategy=f"{mine}:Mine")[1].made == []


@pytest.mark.usefixtures("large_inputs")
def test_a_run_that_was_stopped_goes_on_and_shows_nothing_before_its_end(
    docs: Path, tmp_path: Path
) -> None:
    class Stopped(Exception):
        pass

    def stop(work: PartWork) -> bool:
        if work.name.startswith("part-000002"):
            raise Stopped
        return False

    with pytest.raises(Stopped):
        _write(docs, tmp_path / "out", stop)
    assert not list((tmp_path / "out").glob("*.parquet"))
    made, workers, _ = _write(docs, tmp_path / "out")
    assert (made.reused, len(workers.made)) == (2, 2)
    assert _rows(tmp_path / "out") == _expected(docs)


@pytest.mark.usefixtures("processes")
def test_a_commit_that_was_interrupted_is_made_by_the_next_run(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = 0
    real = chunk_dataset.DatasetFolder.move
    for last in (0, 3, 7, 8):
        output = tmp_path / f"out{last}"
        moves = 0

        def move(folder: Any, name: str, to: str, last: int = last) -> None:
            nonlocal moves
            moves += 1
            if moves > last:
                raise KeyboardInterrupt
            real(folder, name, to)

        monkeypatch.setattr(chunk_dataset.DatasetFolder, "move", move)
        if last < 8:
            with pytest.raises(KeyboardInterrupt):
                _write(docs, output)
            assert not (output / "_chunkwise.json").exists()
        monkeypatch.setattr(chunk_dataset.DatasetFolder, "move", real)
        _write(docs, output)
        assert _rows(output) == _expected(docs)


@pytest.mark.usefixtures("large_inputs")
def test_a_store_without_empty_folders_is_written_on_where_the_manifest_was_not(
    docs: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    _write(docs, output)
    (output / "_chunkwise.json").unlink()  # all parts had moved, and `_staged` was gone with them
    assert not (output / "_staged").exists()
    _write(docs, output)
    assert (output / "_chunkwise.json").exists()
    assert _rows(output) == _expected(docs)


def _has(work: PartWork, name: str) -> bool:
    return any(getattr(unit, "id", "") == name for unit in work.units)


@pytest.mark.usefixtures("large_inputs")
def test_a_document_that_ends_its_process_is_set_aside_by_its_name(
    docs: Path, tmp_path: Path
) -> None:
    made, _, problems = _write(docs, tmp_path / "out", lambda work: _has(work, "070.md"))
    assert (made.documents, made.skipped) == (199, 2)
    why = "a worker process died (SIGKILL) during chunking, perhaps for lack of memory"
    assert problems == [f"{docs}/070.md: {why}", f"{docs}/empty.txt: empty"]
    manifest = json.loads((tmp_path / "out/_chunkwise.json").read_text())
    names = [each["name"] for each in manifest["parts"]]
    assert [row["doc_id"] for name in names for row in _rows(tmp_path / "out" / name)] == [
        f"{number:03}.md" for number in range(200) if number != 70
    ]


@pytest.mark.usefixtures("large_inputs")
def test_a_process_that_was_ended_once_costs_no_document(docs: Path, tmp_path: Path) -> None:
    died: list[str] = []

    def once(work: PartWork) -> bool:
        is_first = work.name.startswith("part-000001") and not died
        died.extend([work.name] * is_first)
        return is_first

    made, _, problems = _write(docs, tmp_path / "out", once)
    assert (made.documents, len(problems)) == (200, 1)
    _write(docs, tmp_path / "other")
    assert _files(tmp_path / "out") == _files(tmp_path / "other")


def test_ids_are_those_of_the_whole(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a", "b"):
        lines = (
            f'{{"id": "{number}", "text": "Record {number} of {name}."}}\n' for number in range(70)
        )
        (folder / f"{name}.jsonl").write_text("".join(lines))
    made, _, problems = _write(folder, tmp_path / "out")
    assert (made.documents, problems) == (140, [])
    assert _rows(tmp_path / "out") == _expected(folder)
    ids = [row["doc_id"] for row in _rows(tmp_path / "out")]
    assert len(set(ids)) == 140
    assert not (tmp_path / "out/_staged").exists()
    made, workers, _ = _write(folder, tmp_path / "out")
    assert workers.made == []
    assert made.reused == made.parts


def test_a_folder_of_something_else_is_left_alone(docs: Path, tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=r"isn't empty \('000.md'"):
        _write(docs, docs)
    assert len(list(docs.iterdir())) == 201


def test_nothing_is_written_where_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    made, _, problems = _write(tmp_path / "empty.txt", tmp_path / "out")
    assert (made.documents, len(problems)) == (0, 1)
    assert not (tmp_path / "out/_chunkwise.json").exists()


@pytest.mark.usefixtures("large_inputs")
def test_a_data_set_in_a_store_is_the_same(docs: Path, tmp_path: Path) -> None:
    import fsspec

    files = fsspec.filesystem("memory")
    for path in docs.iterdir():
        files.pipe_file(f"/docs/{path.name}", path.read_bytes())
    made, _, _ = _write("memory://docs", Path("memory://out"))
    assert made.parts == 4
    names = sorted(files.ls("/out", detail=False))
    parts = [name for name in names if name.endswith(".parquet")]
    assert len(parts) == 4
    assert "/out/_chunkwise.json" in names
    assert "/out/_staged" not in names
    made, workers, _ = _write("memory://docs", Path("memory://out"))
    assert (made.reused, workers.made) == (4, [])
    assert sorted(files.ls("/out", detail=False)) == names
    for number, damaged in enumerate(("null", "7", "[7]")):  # made again, as every damaged record
        record = sorted(files.find("/out/_parts"))[number]
        told = json.loads(files.cat_file(record))
        files.pipe_file(record, json.dumps({**told, "files": json.loads(damaged)}).encode())
    made, workers, _ = _write("memory://docs", Path("memory://out"))
    assert (made.parts, made.reused) == (4, 1)
    files.store.clear()


@pytest.mark.usefixtures("large_inputs")
def test_a_problem_may_end_the_run(docs: Path, tmp_path: Path) -> None:
    def refuse(problem: UnreadableDocument) -> None:
        raise problem

    with pytest.raises(UnreadableDocument):
        write_dataset(docs, _recipe(tmp_path / "out"), Here(), refuse)


@pytest.mark.usefixtures("large_inputs")
def test_what_could_not_be_read_is_there_once_it_can_be(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = source._without_blocking

    def by_rights(path: str, flags: int) -> int:  # who may read everything, too
        if not os.stat(path).st_mode & 0o400:
            raise PermissionError(13, "Permission denied")
        return real(path, flags)

    monkeypatch.setattr(source, "_without_blocking", by_rights)
    (docs / "070.md").chmod(0o000)
    made, _, problems = _write(docs, tmp_path / "out")
    assert (made.documents, problems[0]) == (199, f"{docs}/070.md: permission denied")
    (docs / "070.md").chmod(0o644)
    made, _, problems = _write(docs, tmp_path / "out")
    assert (made.documents, made.reused, len(problems)) == (200, 3, 1)
    assert _rows(tmp_path / "out") == _expected(docs)
    _write(docs, tmp_path / "other")
    assert _files(tmp_path / "out") == _files(tmp_path / "other")


@pytest.mark.usefixtures("large_inputs")
def test_a_document_that_ended_its_process_is_tried_again_by_the_next_run(
    docs: Path, tmp_path: Path
) -> None:
    _write(docs, tmp_path / "out", lambda work: _has(work, "070.md"))
    made, _, _ = _write(docs, tmp_path / "out")
    assert made.documents == 200
    assert _rows(tmp_path / "out") == _expected(docs)


@pytest.mark.usefixtures("large_inputs")
def test_a_second_run_into_the_same_folder_is_refused_and_the_first_goes_on(
    docs: Path, tmp_path: Path
) -> None:
    refused: list[str] = []

    def another(work: PartWork) -> bool:
        with pytest.raises(ChunkwiseError, match="another run is writing to") as told:
            _write(docs, tmp_path / "out")
        refused.append(str(told.value))
        return False

    made, _, _ = _write(docs, tmp_path / "out", another)
    assert (made.documents, len(refused)) == (200, 4)
    assert _rows(tmp_path / "out") == _expected(docs)
    _write(docs, tmp_path / "out")


@pytest.mark.usefixtures("large_inputs")
def test_in_a_store_what_another_run_has_begun_stays(docs: Path) -> None:
    import fsspec

    files = fsspec.filesystem("memory")
    other = "/out/_staged/part-000007-0123456789abcdef0123.parquet"

    def begins(work: PartWork) -> bool:
        files.pipe_file(other, b"of another run")
        return False

    _write(docs, Path("memory://out"), begins)
    assert files.find("/out/_staged") == [other]
    files.store.clear()


@pytest.mark.usefixtures("large_inputs")
def test_only_files_of_its_own_names_are_removed(docs: Path, tmp_path: Path) -> None:
    _write(docs, tmp_path / "out")
    kept = [
        "part-time/notes.txt", "part-0.parquet", "_staged/notes.txt", "_parts/notes.json",
        "part-000009-0123456789abcdef0123.txt",
    ]  # fmt: skip
    old = [
        "part-000009-0123456789abcdef0123.parquet", "_parts/part-000009-0123456789abcdef0123.json",
        "_staged/.part-000009-0123456789abcdef0123.parquet.0123456789abcdef",
    ]  # fmt: skip
    for name in (*kept, *old):
        (tmp_path / "out" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "out" / name).write_text("x")
    _write(docs, tmp_path / "out")
    there = _files(tmp_path / "out")
    assert [name for name in kept if name not in there] == []
    assert [name for name in old if name in there] == []


def _long_file(docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A long one among the others, and what is long made short."""
    monkeypatch.setattr("chunkwise.chunkers.chunk.SMALL", 50_000)
    monkeypatch.setattr("chunkwise.documents.long_texts.SMALL", 50_000)
    sizes = SegmentSizes(12_000, tail=1_200)
    monkeypatch.setattr(
        "chunkwise.chunkers.chunk_long_texts.in_segments",
        lambda *given: in_segments(*given, sizes),
    )
    path = docs / "100-long.md"
    lines = [
        f"# Part {number}\n\nA line about {number}, and more of it.\n" for number in range(1_500)
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("context", ["none", "headings"])
def test_a_long_document_has_the_rows_that_it_has_as_a_whole(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: Any
) -> None:
    long = _long_file(docs, monkeypatch)
    seen: list[Chunked] = []
    cut = chunk_dataset.segments_of
    monkeypatch.setattr(chunk_dataset, "segments_of", lambda *given: _noted(cut(*given), seen))
    recipe = PartRecipe("structure", LoadOptions(), context, tmp_path / "out")
    made = write_dataset(docs, recipe, 1, lambda each: None)
    assert made.documents == 201
    assert len(seen) > 4
    monkeypatch.setattr("chunkwise.chunkers.chunk.SMALL", 1 << 30)
    recipe = PartRecipe("structure", LoadOptions(), context, tmp_path / "whole")
    write_dataset(docs, recipe, 1, lambda each: None)
    found, wanted = _table(tmp_path / "out"), _table(tmp_path / "whole")
    assert found == wanted
    assert long.name in {row["doc_id"] for row in found}


def _noted(segments: Any, seen: list[Chunked]) -> Any:
    for each in segments:
        seen.append(each)
        yield each


def _table(output: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        arrow_dataset.dataset(output, format="parquet").to_table().to_pylist()
    )
    return rows


@pytest.mark.usefixtures("large_inputs")
def test_a_long_document_of_a_taken_id_is_given_another(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = _long_file(docs, monkeypatch)
    made, _, _ = _write([Document(long.name, "A text."), docs], tmp_path / "out")
    assert made.documents == 202
    ids = {row["doc_id"] for row in _table(tmp_path / "out") if row["source"] == str(long)}
    assert len(ids) == 1
    assert ids != {long.name}


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("text", ["\n" * 60_000, "---\ntitle: x\n---\n" + "\n" * 60_000])
def test_a_long_document_without_text_is_told(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    long = _long_file(docs, monkeypatch)
    long.write_text(text)
    made, _, problems = _write(docs, tmp_path / "out")
    assert made.documents == 200
    assert any(each.startswith(f"{long}: empty") for each in problems)

"""What is written as it comes is what is cut as a whole: the same rows, by one process and by several."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import chunkwise
from chunkwise import LoadOptions
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.chunkers.long_text_segments import SegmentSizes, TextSegment, in_segments
from chunkwise.chunkers.streamed_chunks import chunk_segments
from chunkwise.chunkers.write_chunks import chunk_lines, row_of

WORDS = "the keeper of lamp writes down hour and wind over water near old stone pier".split()


def _text(size: int, seed: int = 1) -> str:
    chance, parts, length = random.Random(seed), [], 0
    while length < size:
        title = " ".join(chance.choices(WORDS, k=3)).title()
        body = ". ".join(
            " ".join(chance.choices(WORDS, k=chance.randrange(4, 20))).capitalize()
            for _ in range(12)
        )
        parts.append(f"# {title}\n\n{body}.\n\n")
        length += len(parts[-1])
    return "".join(parts)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nA short one.\n")
    (folder / "b.md").write_text(_text(100_000))
    (folder / "c.md").write_text("# C\n\nAnother short one.\n")
    (folder / "d.md").write_text("   \n" * 20_000)
    return folder


@pytest.fixture
def _small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.chunkers.cut_in_segments.SMALL", 50_000)
    monkeypatch.setattr("chunkwise.documents.long_texts.SMALL", 50_000)
    sizes = SegmentSizes(12_000, tail=1_200)
    monkeypatch.setattr(
        "chunkwise.chunkers.cut_in_segments.in_segments",
        lambda *given: in_segments(*given, sizes),
    )


def _rows(found: Iterator[Any]) -> tuple[list[Any], list[str], int]:
    rows, problems, segments = [], [], 0
    for each in found:
        if isinstance(each, UnreadableDocument):
            problems.append(str(each))
        else:
            assert isinstance(each, TextSegment)
            segments += 1
            rows += [row_of(chunk, each.place) for chunk in each.chunked.chunks]
    return rows, problems, segments


@pytest.mark.usefixtures("_small_segments")
@pytest.mark.parametrize("strategy", ["words(max_words=40)", "structure(max_tokens=60)"])
@pytest.mark.parametrize("context", ["none", "headings"])
def test_rows_are_those_of_the_whole(docs: Path, strategy: str, context: Any) -> None:
    rows, problems, segments = _rows(
        chunk_segments(docs, strategy, options=LoadOptions(), context=context)
    )
    told: list[str] = []
    whole = list(chunkwise.chunk(docs, strategy, on_unreadable=lambda each: told.append(str(each))))
    expected = [row_of(chunk) for chunk in whole]
    if context == "none":
        assert rows == expected
    else:
        assert [row["id"] for row in rows] == [row["id"] for row in expected]
        assert all(row["context"] for row in rows if row["doc_id"] == "b.md")
    assert problems == told
    assert problems == [f"{docs}/d.md: empty: no text in it"]
    assert segments > 8


@pytest.mark.usefixtures("_small_segments")
def test_lines_of_a_segment_count_from_the_beginning_of_the_text(docs: Path) -> None:
    found = chunk_segments(docs / "b.md", "words(max_words=40)", options=LoadOptions())
    lines = [
        json.loads(line)
        for each in found
        if isinstance(each, TextSegment)
        for line in chunk_lines(each.chunked.chunks, each.place)
    ]
    text = (docs / "b.md").read_text()
    assert [line["index"] for line in lines] == list(range(len(lines)))
    assert all(text[line["start"] : line["end"]] == line["text"] for line in lines)
    assert [line["id"] for line in lines][-1] == f"b.md::{len(lines) - 1}"


@pytest.mark.usefixtures("_small_segments")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_text_with_a_blank_beginning_is_one_document(docs: Path, jobs: int) -> None:
    (docs / "b.md").write_text("\n" * 300_000 + _text(300_000))
    found = chunk_segments(docs, "words(max_words=40)", options=LoadOptions(), jobs=jobs)
    begun = [
        each.chunked.document.id
        for each in found
        if isinstance(each, TextSegment) and each.is_first
    ]
    assert begun == sorted(set(begun))
    assert "b.md" in begun


@pytest.mark.usefixtures("_small_segments")
def test_a_text_lost_halfway_ends_the_run(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chunkwise.documents import long_texts

    def broken(file: Any, encoding: str) -> Iterator[str]:
        yield file.read(400_000).decode(encoding)
        raise OSError(5, os.strerror(5))

    (docs / "b.md").write_text(_text(600_000))
    monkeypatch.setattr(long_texts, "decoded", broken)
    with pytest.raises(ChunkwiseError, match=r"b\.md: .*had been written; run again"):
        _rows(chunk_segments(docs / "b.md", "words(max_words=40)", options=LoadOptions()))


def test_processes_lay_long_texts_down_and_write_the_same_file(docs: Path, tmp_path: Path) -> None:
    """With the sizes in use, by the command: both segments of the long text are there, and nothing else is left."""
    (docs / "b.md").write_text(_text(17 << 20))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {**os.environ, "TMPDIR": str(scratch)}
    for jobs in ("1", "2"):
        for ending in ("parquet", "jsonl"):
            command = [
                sys.executable,
                "-m",
                "chunkwise",
                "chunk",
                str(docs),
                "-s",
                "words(max_words=300)",
            ]
            command += ["-o", str(tmp_path / f"{jobs}.{ending}"), "-j", jobs]
            done = subprocess.run(command, env=env, capture_output=True, text=True)
            assert done.returncode == 3, done.stderr
            assert "3 documents, " in done.stderr
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    rows = pyarrow.parquet.read_table(tmp_path / "1.parquet").to_pylist()
    lines = [json.loads(line) for line in (tmp_path / "1.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [line["id"] for line in lines]
    assert [(row["start"], row["text"]) for row in rows] == [
        (line["start"], line["text"]) for line in lines
    ]
    text = (docs / "b.md").read_text()
    long = [row for row in rows if row["doc_id"] == "b.md"]
    assert all(text[row["start"] : row["end"]] == row["text"] for row in long)
    assert list(scratch.iterdir()) == []

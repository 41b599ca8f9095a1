"""Long texts cut segment by segment: the chunks of the whole, as they come, by one process or several."""

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
from chunkwise import Document
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.chunkers import get_strategy, strategies
from chunkwise.chunkers.chunk import Chunked, chunk_each
from chunkwise.chunkers.chunk_long_texts import SegmentSizes, in_segments, segments_of
from chunkwise.chunkers.write_chunks import chunk_lines, row_of
from chunkwise.documents.loader import LoadOptions
from tables import cases

STRATEGIES = [
    "words(max_words=30, overlap=5)",
    "words(max_words=25)",
    "characters(max_chars=120, overlap=20)",
    "characters(max_chars=100)",
    "tokens(max_tokens=40, overlap=8)",
    "tokens(max_tokens=30)",
    "sentences(max_tokens=50)",
    "sentences(max_tokens=60, overlap_sentences=1, min_tokens=20)",
    "paragraphs(max_tokens=40)",
    "paragraphs(max_tokens=60, merge=true, overlap=10)",
    "recursive(max_tokens=40)",
    "recursive(max_tokens=50, overlap=10, min_tokens=10)",
    "sections(max_tokens=60)",
    "sections(max_tokens=40, overlap_sentences=2, min_tokens=15)",
    "structure(max_tokens=50)",
    "structure(max_tokens=80, overlap=10, min_tokens=20)",
    "parent_child(max_tokens=20, parent_size=80)",
    'parent_child(max_tokens=25, parent="section", parent_size=120)',
]
WORDS = (
    "the keeper of lamp writes down hour wind and height water Every night his father did before him nobody has read "
    "it Ships pass far out none stops here e.g. Dr. Fog (see below) 3.5 km naïve Straße 灯台 📚 l'heure"
).split()


def _sentence(chance: random.Random) -> str:
    words = chance.choices(WORDS, k=chance.randint(3, 25))
    return " ".join(words).capitalize() + chance.choice([".", ".", "?", "!", ":", "。"])


def _paragraph(chance: random.Random) -> str:
    return chance.choice([" ", "\n"]).join(_sentence(chance) for _ in range(chance.randint(1, 6)))


def _block(chance: random.Random) -> str:
    """A block of Markdown."""
    kind = chance.randrange(12)
    if kind < 3:
        return f"{'#' * chance.randint(1, 4)} {' '.join(chance.choices(WORDS, k=3))}"
    if kind == 3:
        marks = [f"{number}. " for number in range(1, 12)] if chance.random() < 0.5 else ["- "] * 11
        return "\n".join(mark + _sentence(chance) for mark in marks[: chance.randint(2, 11)])
    if kind == 4:
        rows = [[chance.choice(WORDS), chance.choice(WORDS)] for _ in range(chance.randint(2, 20))]
        head = "| name | what |\n|---|---|\n"
        return head + "\n".join(f"| {one} | {other} |" for one, other in rows)
    if kind == 5:
        lines = [f"    x{number} = {number}  # a line" for number in range(chance.randint(1, 12))]
        return "\n".join(["```python", *lines, "", "# no heading", "```"])
    if kind == 6:
        return f"{' '.join(chance.choices(WORDS, k=3))}\n-----"
    return _paragraph(chance)


def _markdown(seed: int, blocks: int) -> str:
    chance = random.Random(seed)
    return "\n\n".join(_block(chance) for _ in range(blocks)) + "\n"


def _prose(seed: int, blocks: int) -> str:
    chance = random.Random(seed)
    return "\n\n".join(_paragraph(chance) for _ in range(blocks)) + "\n"


def _segments(document: Document, strategy: str, sizes: SegmentSizes) -> list[Chunked]:
    text, parts = document.text, iter(range(0, len(document.text), 777))
    head = Document(document.id, "", title=document.title, format=document.format)
    return list(
        in_segments(head, (text[at : at + 777] for at in parts), get_strategy(strategy), sizes)
    )


def _rows(segments: list[Chunked]) -> list[dict[str, Any]]:
    return [row_of(chunk, each.place) for each in segments for chunk in each.chunks]


def test_every_strategy_that_says_so_is_among_those_tested() -> None:
    tested = {each.partition("(")[0] for each in STRATEGIES}
    assert tested == {name for name in strategies.builtin if get_strategy(name).in_segments}


@pytest.mark.usefixtures("large_inputs")
@cases("strategy", STRATEGIES)
def test_segments_have_the_chunks_of_the_whole(strategy: str) -> None:
    """Chunks that fill up whatever stands there are others behind a seam; nothing is lost or told wrong there."""
    follows_blocks = strategy.partition("(")[0] in {
        "sentences",
        "sections",
        "structure",
        "parent_child",
    }
    for document in (
        Document("d", _markdown(5, 160), format="markdown"), Document("d", _prose(5, 80))
    ):  # fmt: skip
        made = _segments(document, strategy, SegmentSizes(8_000, tail=800))
        assert len(made) > 2
        rows, text = _rows(made), document.text
        whole = [row_of(chunk) for chunk in get_strategy(strategy).chunks(document)]
        if follows_blocks:
            assert rows == whole
        assert [row["index"] for row in rows] == list(range(len(rows)))
        assert all(row["text"] == text[row["start"] : row["end"]] for row in rows)
        assert _covered(rows, text) == _covered(whole, text)


def _covered(rows: list[dict[str, Any]], text: str) -> set[int]:
    """Places of all that is no white space and stands in a chunk."""
    places = {at for row in rows for at in range(row["start"], row["end"])}
    return {at for at in places if not text[at].isspace()}


def test_headings_of_earlier_segments_stand_above_later_ones() -> None:
    text = "# Handbook\n\n## Leave\n\n" + _prose(3, 100)
    document = Document("d", text, format="markdown")
    made = _segments(document, "words(max_words=30)", SegmentSizes(4_000, tail=400))
    assert len(made) > 4
    assert {row["section"] for row in _rows(made)[1:]} == {"Handbook > Leave"}


def test_a_text_that_offers_no_place_to_part_it_is_parted_all_the_same() -> None:
    # One table, whose header stands beside all its rows: no row begins it anew.
    rows = "".join(f"| name {number} | what it is |\n" for number in range(2_500))
    text = f"# Names\n\n| name | what |\n|---|---|\n{rows}"
    document = Document("d", text, format="markdown")
    sizes = SegmentSizes(10_000, tail=1_000)
    made = _segments(document, "structure(max_tokens=50)", sizes)
    assert max(len(each.document.text) for each in made) <= 20_000
    found = _rows(made)
    assert [row["index"] for row in found] == list(range(len(found)))
    assert all(row["text"] == text[row["start"] : row["end"]] for row in found)
    said = "".join(row["text"] for row in found)
    assert "".join(said.split()) == "".join(text.split())  # nothing is lost but white space


def test_a_chunk_longer_than_a_segment_makes_it_longer() -> None:
    document = Document("d", _prose(4, 150))
    sizes = SegmentSizes(2_000, tail=100)
    made = _segments(document, "words(max_words=120)", sizes)
    assert len(made) > 1


@cases("text", ["", " \n" * 5_000])
def test_a_text_without_a_word_has_no_chunk(text: str) -> None:
    assert _rows(_segments(Document("d", text), "words", SegmentSizes(1_000, tail=50))) == []


STREAMED_WORDS = (
    "the keeper of lamp writes down hour and wind over water near old stone pier".split()
)


def _text(size: int, seed: int = 1) -> str:
    chance, parts, length = random.Random(seed), [], 0
    while length < size:
        title = " ".join(chance.choices(STREAMED_WORDS, k=3)).title()
        body = ". ".join(
            " ".join(chance.choices(STREAMED_WORDS, k=chance.randrange(4, 20))).capitalize()
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
    monkeypatch.setattr("chunkwise.chunkers.chunk.SMALL", 50_000)
    monkeypatch.setattr("chunkwise.documents.long_texts.SMALL", 50_000)
    sizes = SegmentSizes(12_000, tail=1_200)
    monkeypatch.setattr(
        "chunkwise.chunkers.chunk_long_texts.in_segments",
        lambda *given: in_segments(*given, sizes),
    )


def _streamed_rows(found: Iterator[Any]) -> tuple[list[Any], list[str], int]:
    rows, problems, segments = [], [], 0
    for each in found:
        if isinstance(each, UnreadableDocument):
            problems.append(str(each))
        else:
            assert isinstance(each, Chunked)
            segments += 1
            rows += [row_of(chunk, each.place) for chunk in each.chunks]
    return rows, problems, segments


@pytest.mark.usefixtures("_small_segments")
@pytest.mark.parametrize("strategy", ["words(max_words=40)", "structure(max_tokens=60)"])
@pytest.mark.parametrize("context", ["none", "headings"])
def test_rows_are_those_of_the_whole(docs: Path, strategy: str, context: Any) -> None:
    rows, problems, segments = _streamed_rows(
        chunk_each(docs, strategy, options=LoadOptions(), cut_long=segments_of, context=context)
    )
    told: list[str] = []
    whole = list(
        chunkwise.chunk(
            docs, strategy, options=LoadOptions(on_unreadable=lambda each: told.append(str(each)))
        )
    )
    expected = [row_of(chunk) for chunk in whole]
    if context == "none":
        assert rows == expected
    else:
        assert [row["id"] for row in rows] == [row["id"] for row in expected]
        assert all(row["context"] for row in rows if row["doc_id"] == "b.md")
    assert problems == told
    assert problems == [f"{docs}/d.md: empty"]
    assert segments > 8


@pytest.mark.usefixtures("_small_segments")
def test_lines_of_a_segment_count_from_the_beginning_of_the_text(docs: Path) -> None:
    found = chunk_each(
        docs / "b.md", "words(max_words=40)", options=LoadOptions(), cut_long=segments_of
    )
    lines = [
        json.loads(line)
        for each in found
        if isinstance(each, Chunked)
        for line in chunk_lines(each.chunks, each.place)
    ]
    text = (docs / "b.md").read_text()
    assert [line["index"] for line in lines] == list(range(len(lines)))
    assert all(text[line["start"] : line["end"]] == line["text"] for line in lines)
    assert [line["id"] for line in lines][-1] == f"b.md::{len(lines) - 1}"


@pytest.mark.usefixtures("processes")
@pytest.mark.usefixtures("_small_segments")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_text_with_a_blank_beginning_is_one_document(docs: Path, jobs: int) -> None:
    (docs / "b.md").write_text("\n" * 300_000 + _text(300_000))
    found = chunk_each(
        docs, "words(max_words=40)", options=LoadOptions(), cut_long=segments_of, jobs=jobs
    )
    begun = [each.document.id for each in found if isinstance(each, Chunked) and each.is_first]
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
    with pytest.raises(ChunkwiseError, match=r"b\.md: .*run again"):
        _streamed_rows(
            chunk_each(
                docs / "b.md", "words(max_words=40)", options=LoadOptions(), cut_long=segments_of
            )
        )


@pytest.mark.usefixtures("processes")
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

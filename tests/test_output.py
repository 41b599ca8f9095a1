"""The columns of a chunk's row that are counted, and those a chunk may lack."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from chunkwise import Document
from chunkwise.chunkers.context_from_headings import with_headings
from chunkwise.chunkers.read_chunks import read_chunks
from chunkwise.chunkers.write_chunks import chunk_file, row_of
from chunkwise.core import Span
from chunkwise.ext import chunk_document, get_strategy
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import get_tokenizer
from tables import cases

DOCUMENT = Document(
    "x", "# Alpha beta\n\nSome words are here.", "Internationalisation", format="markdown"
)


def row(strategy: object) -> dict[str, object]:
    analyzed = Analyzed(DOCUMENT)
    chunks = list(get_strategy(strategy).chunks(analyzed))  # type: ignore[arg-type]
    return dict(row_of(with_headings(chunks, analyzed)[-1]))


@cases(
    "strategy, tokenizer",
    [
        ("sentences(max_tokens=100)", "o200k_base"),
        ("sentences(max_tokens=100, tokenizer=cl100k_base)", "cl100k_base"),
        ("sentences(max_tokens=100, tokenizer=characters)", "characters"),
        ("characters(max_chars=100)", "characters"),
        ("words(max_words=50)", "words"),
    ],
)
def test_text_and_context_are_counted_alike(strategy: str, tokenizer: str) -> None:
    found = row(strategy)
    count = get_tokenizer(tokenizer).count
    assert (found["token_count"], found["context_token_count"]) == (
        count(str(found["text"])), count(str(found["context"])),
    )  # fmt: skip
    assert found["context"]


def test_a_label_runs_nobodys_code(tmp_path: Path) -> None:
    """Rows are written of chunks that were read from a file, too: what it calls its strategy is text."""
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    analyzed = Analyzed(DOCUMENT)
    for label in (
        f"{tmp_path}/own.py:Own",
        "sentences(tokenizer=my_count)",
        "no(",
        "",
        "raptor(llm='x:y')",
    ):
        [chunk, *_] = with_headings(list(get_strategy("sentences").chunks(analyzed)), analyzed)
        object.__setattr__(chunk, "strategy", label)
        assert row_of(chunk)["context_token_count"] == get_tokenizer("o200k_base").count(
            chunk.context
        )
    assert not (tmp_path / "ran").exists()


def read_back(file: Path) -> list[dict[str, object]]:
    if file.suffix == ".parquet":
        return list(pq.read_table(file).to_pylist())
    if file.suffix == ".csv":
        with file.open(newline="") as lines:
            return [dict(record) for record in csv.DictReader(lines)]
    return [json.loads(line) for line in file.read_text().splitlines()]


def parents_in(file: Path) -> list[Span | None]:
    pairs = [(record["parent_start"], record["parent_end"]) for record in read_back(file)]
    return [
        None if start in (None, "") else Span(int(str(start)), int(str(end)))
        for start, end in pairs
    ]


@cases("name", ["c.jsonl", "c.parquet", "c.csv"])
def test_every_file_has_the_parents_where_there_are_any(tmp_path: Path, name: str) -> None:
    document = Document("d", "A lamp is lit at dusk. It burns till dawn. " * 20)
    for strategy in ("parent_child(max_tokens=20, parent_size=60)", "sentences(max_tokens=20)"):
        chunks = chunk_document(document, strategy)
        with chunk_file(tmp_path / name) as write:
            write(chunks)
        expected = [chunk.parent for chunk in chunks]
        assert any(expected) == strategy.startswith("parent_child")
        assert parents_in(tmp_path / name) == expected
        again = read_chunks(str(tmp_path / name), [document], pytest.fail)
        assert [chunk.place for chunk in again.chunks] == [chunk.span for chunk in chunks]


def test_a_row_has_the_values_that_a_chunk_tells_of_itself() -> None:
    text = "# Lamps\n\nThe keeper lights the lamps. " * 9
    document = Document("lamps.md", text, format="markdown", metadata={"by": "Ada"}, pages=(0, 90))
    for chunk in chunk_document(document, "parent_child(max_tokens=12)"):
        row, told = row_of(chunk), chunk.to_dict()
        assert {*row} == {*told}
        names = ("spans", "boxes", "metadata")
        packed = {name: json.loads(row[name]) for name in names}  # type: ignore[literal-required]
        assert {name: {**row, **packed}[name] for name in told} == told  # type: ignore[literal-required]

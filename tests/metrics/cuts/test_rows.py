"""A file of rows is cut between them, and a cell larger than a chunk between its sentences: neither is an issue."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import chunkwise
from chunkwise.core import Document, Span
from chunkwise.documents import read
from chunkwise.metrics.cuts.boundary_issues import find_issues
from chunkwise.text.analyzed import Analyzed
from tables import cases

LONG = ", ".join(["the lamp was lit and the boat left the quay"] * 6)
SENTENCES = [f"On day {number} at 8 a.m. sharp Mr. Hale wrote that {LONG}." for number in range(20)]
CUTTERS = ["structure", "recursive", "paragraphs", "sections(overlap=0)", "sentences(overlap=0)"]


def table(*rows: tuple[object, ...]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("id", "name", "remark"), *rows])
    return out.getvalue()


def kinds(folder: Path, content: str, strategy: str) -> tuple[set[str], list[chunkwise.Chunk]]:
    file = folder / "log.csv"
    file.write_text(content, encoding="utf-8", newline="")
    (document,) = read(file)
    chunks = list(chunkwise.chunk(document, strategy))
    assert len(chunks) > 3
    return {issue.kind for issue in find_issues(Analyzed(document), chunks)}, chunks


@cases("cutter", CUTTERS)
def test_a_cut_between_whole_rows_is_a_good_one(cutter: str, tmp_path: Path) -> None:
    rows = [(number, "Hale, Anna", "The lamp was lit. She left.") for number in range(200)]
    found, _ = kinds(tmp_path, table(*rows), cutter)
    assert found == set()


@cases("cutter", CUTTERS)
def test_a_huge_cell_is_cut_between_its_sentences(cutter: str, tmp_path: Path) -> None:
    content = table((1, "short", "A remark."), (2, "long", " ".join(SENTENCES)), (3, "x", "y"))
    found, chunks = kinds(tmp_path, content, cutter)
    assert found == set()
    inside = [chunk.text for chunk in chunks if "wrote" in chunk.text]
    assert all(sum(each in text for text in inside) == 1 for each in SENTENCES)


@cases("marked, expected", [
    ("a,b\n1,One boat left.\n¦2,Two boats left.\n", set()),
    ("a,b\n1,One boat left.\n2,¦Two boats left.\n", {"split_table"}),
    ("a,b\n1,One boat left.\n2,Two ¦boats left.\n", {"split_table", "mid_sentence_end", "mid_sentence_start"}),
    ("a,b\n1,x\n2,One boat left the quay at noon. ¦Two more boats left the quay at night.\n", set()),
])  # fmt: skip
def test_what_is_wrong_inside_a_row_is_told(
    marked: str, expected: set[str], tmp_path: Path
) -> None:
    before, _, after = marked.partition("¦")
    (tmp_path / "t.csv").write_text(before + after, encoding="utf-8", newline="")
    (document,) = read(tmp_path / "t.csv")
    spans = [Span(0, len(before)), Span(len(before), len(document.text))]
    assert {issue.kind for issue in find_issues(Analyzed(document), spans)} == expected


def test_a_table_in_a_text_is_still_to_be_whole() -> None:
    text = "Sizes.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    document = Analyzed(Document("d", text, format="markdown"))
    at = text.index("| 3")
    found = find_issues(document, [Span(0, at), Span(at, len(text))])
    assert {issue.kind for issue in found} == {"split_table"}

"""Rows of a CSV stay whole while they fit; one that does not is cut between its cells."""

from collections.abc import Iterator
from pathlib import Path

import chunkwise
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import cell_starts
from tables import cases
from untimed import is_linear

CUTTERS = ["structure", "sentences", "recursive", "sections", "paragraphs"]
HEADER = "id,name,remark\n"
ROWS = [
    f'{number},"Hale, Anna","She said: ""yes"".\n\nThen she left; nobody knew why.\nEnd {number}"\n'
    for number in range(9)
]


def chunks_of(folder: Path, content: str, strategy: str) -> list[chunkwise.Chunk]:
    file = folder / "people.csv"
    file.write_text(content, encoding="utf-8", newline="")
    return list(chunkwise.chunk(file, strategy))


@cases("cutter", CUTTERS)
@cases("limit", [45, 60, 90])
def test_a_quoted_cell_with_line_breaks_is_one_row(cutter: str, limit: int, tmp_path: Path) -> None:
    content = HEADER + "".join(ROWS)
    chunks = chunks_of(tmp_path, content, f"{cutter}(max_tokens={limit}, overlap=0)")
    assert len(chunks) > 2
    starts = {0, *(content.index(row) for row in ROWS)}
    assert {chunk.start for chunk in chunks} <= starts


@cases("cutter", CUTTERS)
@cases("delimiter", [",", ";", "\t"])
def test_a_row_longer_than_the_limit_is_cut_between_cells(
    cutter: str, delimiter: str, tmp_path: Path
) -> None:
    cells = [f'"cell {number}, one; two: three\nfour"' for number in range(12)]
    names = [f"n{number}" for number in range(12)]
    content = f"{delimiter.join(names)}\n{delimiter.join(cells)}\n"
    chunks = chunks_of(tmp_path, content, f"{cutter}(max_tokens=40, overlap=0)")
    parts = [chunk.text for chunk in chunks if '"' in chunk.text]
    assert len(parts) > 2
    assert all(part.count('"') % 2 == 0 for part in parts)


def test_cells_of_markdown_are_parted_by_bars_that_are_not_escaped() -> None:
    text = "| a | b |\n|---|---|\n| x \\| y | z |\n"
    document = Analyzed(Document("x", text, format="markdown"))
    rows = [text[at:].split(" ")[1] for at in document.cells.tolist()]
    assert rows[-1] == "z"
    assert "y" not in rows


def test_cells_are_found_in_linear_time() -> None:
    def work(size: int) -> None:
        text = '"' + '""' * size + "," * size
        document = Analyzed(Document("x", text, format="markdown"))
        cell_starts(text, document.blocks, verbatim=True)

    is_linear(work, 500)


WORDS = "the pump is read twice a day and its figures are kept for seven years".split()


def sentences(count: int) -> str:
    """Prose of about as many words, without commas."""
    return " ".join(
        " ".join(WORDS[n % 14] for n in range(at, at + 11)) + "." for at in range(0, count, 11)
    )


def groupings(sizes: list[int]) -> Iterator[list[list[int]]]:
    """All ways to part cells in their order."""
    if not sizes:
        yield []
    for count in range(1, len(sizes) + 1):
        for rest in groupings(sizes[count:]):
            yield [sizes[:count], *rest]

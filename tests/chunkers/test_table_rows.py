"""Rows of a CSV stay whole while they fit; one that does not is cut between its cells."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise.chunkers.packing.cell_cuts import cells_of_like_size
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import cell_starts
from how_many import examples
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


@cases("cutter", CUTTERS)
@cases("overlap", [0, 10])
@cases(
    "cells",
    [
        ["1", "Hale", sentences(400), sentences(40), "Ulm", "7"],
        ["1", sentences(130)],
        [sentences(130), "1", "Ulm"],
        ["1", sentences(150), "Ulm", sentences(150), "7"],
        [sentences(30)] * 7,
        [sentences(90)] * 2 + ["1", "2", "3"],
    ],
)
def test_a_row_larger_than_the_limit_leaves_no_crumbs(
    cutter: str, overlap: int, cells: list[str], tmp_path: Path
) -> None:
    names = ",".join(f"n{number}" for number in range(len(cells)))
    content = f"{names}\n{','.join(cells)}\n"
    chunks = chunks_of(tmp_path, content, f"{cutter}(max_tokens=100, overlap={overlap})")
    sizes = [chunk.token_count for chunk in chunks if chunk.end > len(names)]
    assert len(sizes) > 1
    assert min(sizes) >= 25
    if not overlap:  # cells that fit are whole
        cuts = {0, *(at + 1 for at, sign in enumerate(content) if sign in ",\n")}
        torn = [chunk.start for chunk in chunks if chunk.start not in cuts]
        large = [cell for cell in cells if len(cell) > 450]
        spans = [(content.find(cell), content.rfind(cell) + len(cell)) for cell in large]
        assert all(any(low < at < high for low, high in spans) for at in torn)


def groupings(sizes: list[int]) -> Iterator[list[list[int]]]:
    """All ways to part cells in their order."""
    if not sizes:
        yield []
    for count in range(1, len(sizes) + 1):
        for rest in groupings(sizes[count:]):
            yield [sizes[:count], *rest]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(1, 24), min_size=2, max_size=8), st.integers(18, 50))
def test_cells_that_fit_are_grouped_as_few_and_as_alike_as_can_be(
    sizes: list[int], limit: int
) -> None:
    text = f"|{' a |' * len(sizes)}\n|{'---|' * len(sizes)}\n|"
    start = len(text) - 1
    text += "".join(f" {'x' * size} |" for size in sizes) + "\n"
    document = Analyzed(Document("x", text, format="markdown"))
    measure = document.measure("characters")
    cuts = cells_of_like_size(document, measure, limit, None).positions.tolist()
    cuts = [cut for cut in cuts if cut > start]
    if len(text) - 1 - start <= limit:
        assert not cuts
        return
    cells = [at for at in document.cells.tolist() if at > start]
    bounds = [start, *cells, len(text) - 1]
    widths = [end - begin for begin, end in pairwise(bounds)]
    room = limit - 2  # a piece by itself may have more
    if max(widths) > room:
        return
    assert set(cuts) <= set(cells)
    made = [end - begin for begin, end in pairwise([start, *cuts, len(text) - 1])]
    fitting = [parts for parts in groupings(widths) if all(sum(part) <= room for part in parts)]
    fewest = min(map(len, fitting))
    assert len(made) == fewest
    assert max(made) == min(max(map(sum, each)) for each in fitting if len(each) == fewest)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from([1, 3, 9, 25, 90, 170]), min_size=2, max_size=7), st.booleans())
def test_a_cell_too_large_takes_in_the_crumbs_beside_it(sizes: list[int], spaced: bool) -> None:
    text = f"|{' a |' * len(sizes)}\n|{'---|' * len(sizes)}\n|"
    start = len(text) - 1
    fill = ("xxxx xxx. Xxx " * 20) if spaced else "x" * 200
    text += "".join(f" {fill[: size - 1]}x |" for size in sizes) + "\n"
    document = Analyzed(Document("x", text, format="markdown"))
    measure, room = document.measure("characters"), 38
    cuts = cells_of_like_size(document, measure, room + 2, None).positions.tolist()
    cuts = [cut for cut in cuts if cut > start]
    end = len(text) - 1
    if end - start <= room + 2:
        return
    made = [after - before for before, after in pairwise([start, *cuts, end])]
    assert cuts == sorted(set(cuts))
    assert max(made) <= room
    # Two that stand side by side are no two crumbs, and few parts are much smaller than what had room.
    assert not [pair for pair in pairwise(made) if sum(pair) < room / 4]

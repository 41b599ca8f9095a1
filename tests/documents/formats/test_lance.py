"""Tables of Lance as inputs: their rows are documents, as those of other tables are."""

from __future__ import annotations

from pathlib import Path

import pytest

import chunkwise
from chunkwise import LoadOptions, UnreadableDocument

pytestmark = pytest.mark.usefixtures("database")

lancedb = pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install lancedb")

ROWS = [
    {"id": f"d{number}", "title": f"Title {number}", "text": f"A text of {number}."}
    for number in range(3_000)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("lance")
    database = lancedb.connect(made)
    database.create_table("docs", ROWS)
    database.create_table("odd", [{"nummer": "7", "body": "Only this is text, and it is long."}])
    return made


def test_rows_are_documents_in_their_order(folder: Path) -> None:
    found = list(chunkwise.read(folder / "docs.lance"))
    assert [(each.id, each.title, each.text) for each in found] == [
        (row["id"], row["title"], row["text"]) for row in ROWS
    ]
    assert found[0].source == f"{folder}/docs.lance"


def test_columns_can_be_named(folder: Path) -> None:
    options = LoadOptions(text_field="body", id_field="nummer")
    (found,) = chunkwise.read(f"{folder}/odd.lance/", options)
    assert (found.id, found.text) == ("7", "Only this is text, and it is long.")


def test_a_folder_of_that_name_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "none.lance").mkdir()
    (tmp_path / "a.md").write_text("A text.")
    problems: list[UnreadableDocument] = []
    read = chunkwise.read(
        [tmp_path / "none.lance", tmp_path / "a.md"], on_unreadable=problems.append
    )
    assert [each.text for each in read] == ["A text."]
    (problem,) = problems
    assert problem.source == str(tmp_path / "none.lance")
    assert problem.reason.startswith("no table of Lance: ")


def test_the_same_table_is_read_once(folder: Path) -> None:
    named = [folder / "odd.lance", f"{folder}/odd.lance"]
    assert len(list(chunkwise.read(named, LoadOptions(text_field="body")))) == 1


def test_a_data_set_of_chunks_becomes_a_table(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    dataset = pytest.importorskip("pyarrow.dataset")
    from chunkwise.base.workers import begin_workers
    from chunkwise.chunkers.chunk_dataset import PartRecipe, write_dataset

    recipe = PartRecipe("words", LoadOptions(), "none", tmp_path / "chunks")
    workers = begin_workers(1, recipe, "cut")
    try:
        made = write_dataset(folder / "docs.lance", recipe, workers, 2, print)
    finally:
        workers.stop()
    assert made.documents == made.chunks == len(ROWS)
    chunks = dataset.dataset(tmp_path / "chunks").scanner().to_reader()
    table = lancedb.connect(tmp_path).create_table("chunks", chunks)
    assert table.count_rows() == len(ROWS)

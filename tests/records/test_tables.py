"""Results, chunks, hits and runs become tables of pandas and Arrow by one mechanism."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import MissingExtra
from made_results import results

DOCUMENTS = [
    chunkwise.Document("a.md", "# Lamps\n\nThe keeper lights them.", metadata={"year": 2024}),
    chunkwise.Document("b.md", "Bread is baked at dawn."),
]


def test_chunks_and_hits_are_rows() -> None:
    chunks = list(chunkwise.chunk(DOCUMENTS, "sentences(max_tokens=8)"))
    table = chunkwise.to_arrow(chunks)
    assert table.num_rows == len(chunks)
    assert table["text"].to_pylist() == [chunk.text for chunk in chunks]
    assert table["metadata"][0].as_py() == '{"year": 2024}'
    frame = chunkwise.to_pandas(iter(chunks))
    assert list(frame.columns) == table.column_names
    hits = chunkwise.index(DOCUMENTS, vectors="none").search("who lights the lamps?")
    assert chunkwise.to_pandas(hits)["score"].tolist() == [hit.score for hit in hits]
    assert chunkwise.to_arrow(hits)["doc_id"].to_pylist() == [hit.doc_id for hit in hits]


def test_results_comparisons_issues_sweeps_and_runs_are_tables(tmp_path: Path) -> None:
    first, second = results(1), results(2, lift=0.3)
    frame = first.to_pandas()
    assert frame["id"].tolist() == [question.id for question in first.questions]
    assert frame["recall@5"].tolist() == first.to_arrow()["recall@5"].to_pylist()
    compared = chunkwise.compare([first, second]).to_pandas()
    assert set(compared["run"]) == {"b"}
    issues = chunkwise.lint(DOCUMENTS, "tokens(max_tokens=4, overlap=0)")
    assert issues.to_arrow().num_rows == len(issues.issues)
    history = chunkwise.history(tmp_path / "runs.db")
    assert history.to_arrow().num_rows == 0
    history.keep(first)
    assert history.to_pandas()["mean"].tolist() == history.to_arrow()["mean"].to_pylist()
    tried = chunkwise.tune(DOCUMENTS, embedder="").to_pandas()
    assert tried["configuration"].is_unique


@pytest.mark.parametrize(
    ("package", "convert"), [("pandas", chunkwise.to_pandas), ("pyarrow", chunkwise.to_arrow)]
)
def test_a_missing_package_is_named_with_its_extra(
    package: str, convert: Callable[[object], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match="pip install 'chunkwise"):
        convert([])

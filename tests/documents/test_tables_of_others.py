"""Tables as pandas, polars, DuckDB, Hugging Face, Ray and Spark hold them. Run by `make test-scale`."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.options import LoadOptions

ROWS = {
    "doc_id": ["a", "b"],
    "text": ["Thirty days of leave.", "The house opens at ten."],
    "year": [2023, 2024],
}


def _check(table: Any) -> None:
    found = list(chunkwise.read(table, options=LoadOptions(on_unreadable=pytest.fail)))
    named = [(each.id, each.text, dict(each.metadata)) for each in found]
    assert named == [
        ("a", "Thirty days of leave.", {"year": 2023}),
        ("b", "The house opens at ten.", {"year": 2024}),
    ]
    assert [each.document.id for each in chunkwise.chunk(table)] == ["a", "b"]
    assert len(chunkwise.index(table, vectors="none")) == 2


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    _check(frame)
    _check(frame.set_index("doc_id"))
    _check(frame[frame.year > 0].iloc[::-1].iloc[::-1])


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    _check(polars.DataFrame(ROWS))
    _check(polars.LazyFrame(ROWS).collect())


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    _check(
        duckdb.sql(
            "select * from (values ('a', 'Thirty days of leave.', 2023), ('b', 'The house opens at ten.', 2024)) "
            "as t(doc_id, text, year)"
        )
    )


def test_hugging_face_in_memory_and_on_disk(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    made = datasets.Dataset.from_dict(ROWS)
    _check(made)
    made.save_to_disk(str(tmp_path / "set"))
    _check(str(tmp_path / "set"))


@pytest.mark.usefixtures("processes")
@pytest.mark.filterwarnings("default::DeprecationWarning")  # of its own settings
def test_ray_data() -> None:
    ray = pytest.importorskip("ray")
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    try:
        _check(ray.data.from_items(rows))
    finally:
        ray.shutdown()


def _recipe() -> tuple[str, str]:
    """What docs/how-to/scale.md shows for `DataFrame.mapInArrow`: the function, and the line that calls it."""
    page = (Path(__file__).parents[2] / "docs/how-to/scale.md").read_text()
    (block,) = (
        each
        for each in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        if "mapInArrow" in each
    )
    function, _, call = block.strip().rpartition("\n\n")
    return function, call


@pytest.mark.usefixtures("processes")
def test_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    import sys

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    spark = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()  # fmt: skip
    try:
        frame = spark.createDataFrame(list(zip(*ROWS.values(), strict=True)), list(ROWS))
        if hasattr(frame, "toArrow"):
            _check(frame)
        function, call = _recipe()
        names: dict[str, Any] = {"__name__": "__main__", "frame": frame}  # as if it were typed
        exec(function, names)
        found = eval(call, names).collect()
        assert sorted(each["id"] for each in found) == ["a::0", "b::0"]
        assert all(each["text"] and each["start"] < each["end"] for each in found)
    finally:
        spark.stop()

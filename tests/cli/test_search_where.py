"""`chunkwise search --where` on documents of JSON lines, CSV and Parquet, and what is exported of them."""

import csv
import json
from pathlib import Path

import pytest

import chunkwise
from cli.in_process import Run, here
from tables import cases

__all__ = ["here"]  # a fixture

ROWS = [
    {"id": "a", "text": "Leave is paid.", "year": 2024, "lang": "de", "price": 9.5},
    {"id": "b", "text": "Leave is asked for.", "year": 2023, "lang": "en", "price": 10.0},
    {"id": "c", "text": "Leave of the board.", "year": 2024, "lang": "fr", "price": 20.0},
]


@pytest.fixture(params=["jsonl", "csv", "parquet"])
def kb(request: pytest.FixtureRequest, tmp_path: Path, here: Run) -> Path:
    file = tmp_path / f"corpus.{request.param}"
    if request.param == "jsonl":
        file.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    elif request.param == "csv":
        with file.open("w", newline="") as out:
            writer = csv.DictWriter(out, list(ROWS[0]))
            writer.writeheader()
            writer.writerows(ROWS)
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(ROWS), file)
    done = here("index", file, "--into", "kb", "--vectors", "none", "-q")
    assert done.returncode == 0, done.stderr
    return tmp_path / "kb"


@cases(
    "words, ids",
    [
        (("--where", "year=2024"), "ac"),
        (("--where", "lang in de,en"), "ab"),
        (("--where", "price>=10"), "bc"),
        (("--where", "price>=10", "--where", "year!=2023"), "c"),
        (("--where", "lang=it"), ""),
    ],
)
def test_only_documents_that_meet_the_conditions_are_found(
    kb: Path, here: Run, words: tuple[str, ...], ids: str
) -> None:
    done = here("search", kb, "leave", *words, "--json")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(row["doc_id"] for row in found) == sorted(ids)
    assert all(set(row["metadata"]) == {"year", "lang", "price"} for row in found)


def test_an_unknown_key_is_one_line_with_those_there_are(kb: Path, here: Run) -> None:
    done = here("search", kb, "leave", "--where", "yaer=2024")
    assert done.returncode == 2
    assert done.stderr == (
        "error: no document has the metadata 'yaer'; did you mean year? known: lang, price, year\n"
    )
    done = here("search", kb, "leave", "--where", "2024")
    assert done.returncode == 2
    assert "where is '2024'; expected a key, a comparison and a value" in done.stderr


def test_exported_chunks_have_the_metadata(kb: Path, here: Run) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    opened = chunkwise.open_index(kb)
    opened.export(kb.parent / "chunks.parquet", with_vectors=False)
    opened.export(kb.parent / "chunks.jsonl", with_vectors=False)
    told = [
        json.loads(row["metadata"])
        for row in pq.read_table(kb.parent / "chunks.parquet").to_pylist()
    ]
    lines = [json.loads(line) for line in (kb.parent / "chunks.jsonl").read_text().splitlines()]
    assert told == [row["metadata"] for row in lines]
    assert [(each["lang"], float(each["price"])) for each in told] == [
        ("de", 9.5), ("en", 10), ("fr", 20),
    ]  # fmt: skip


def test_an_evaluation_searches_where_the_conditions_hold(
    kb: Path, here: Run, tmp_path: Path
) -> None:
    asked = [
        {"id": id, "query": "leave", "references": [{"doc_id": id, "start": 0, "end": 5}]}
        for id in "abc"
    ]
    (tmp_path / "queries.json").write_text(json.dumps(asked))
    words = ("evaluate", "kb", "--test-queries", "queries.json", "--metrics", "recall@5", "--json")
    done = here(*words, "--where", "year=2024", "--where", "lang!=fr")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert [each["scores"]["recall@5"] for each in results["questions"]] == [1.0, 0.0, 0.0]
    assert results["configuration"]["where"] == ["year=2024", "lang!=fr"]
    assert "where" not in json.loads(here(*words).stdout)["configuration"]
    wrong = here(*words, "--where", "yaer=2024")
    assert wrong.returncode == 2
    assert "did you mean year" in wrong.stderr

"""Ragas, RAGChecker and AutoRAG: passages by their text or their id."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Passage, Query, Reference
from chunkwise.testsets.formats import WHOLE
from chunkwise.testsets.formats.autorag import AutoragFormat
from tables import cases
from testsets.formats.format_files import queries, read, write

SAMPLE = {
    "user_input": "When?",
    "reference": "At dusk.",
    "reference_contexts": ["Lit at dusk.", "Lit at dusk.", " "],
    "retrieved_contexts": ["Noise."],
    "synthesizer_name": "single_hop",
}


@cases("form", ["list", "samples", "lines", "python csv"])
def test_ragas_samples(tmp_path: Path, form: str) -> None:
    path = tmp_path / {"lines": "s.jsonl", "python csv": "s.csv"}.get(form, "s.json")
    if form == "python csv":  # a list in a cell is written as Python shows it
        cell = str(SAMPLE["reference_contexts"])
        path.write_text(f'user_input,reference,reference_contexts\nWhen?,At dusk.,"{cell}"\n')
    else:
        values = {"list": [SAMPLE], "samples": {"samples": [SAMPLE]}}.get(form, SAMPLE)
        path.write_text(json.dumps(values) + "\n")
    drafts, bad = read("ragas", path)
    assert not bad
    types = () if form == "python csv" else ("single_hop",)
    assert drafts[0].query == Query("1", "When?", answer="At dusk.", types=types)
    assert [passage.text for passage in drafts[0].passages] == ["Lit at dusk."]


def test_contexts_of_a_run_are_no_references(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    old = {
        "question": "When?",
        "contexts": ["Lit at dusk."],
        "ground_truths": ["At dusk.", "Dusk."],
    }
    path.write_text(json.dumps([old, old | {"answer": "At dawn."}]))
    made, ran = read("ragas", path)[0]
    assert [passage.text for passage in made.passages] == ["Lit at dusk."]
    assert not ran.passages
    assert ran.query.answer == "At dusk."


@cases(
    "change, reason",
    [
        (
            {"user_input": [{"content": "hi", "type": "human"}]},
            "a multi-turn conversation; only single questions are supported",
        ),
        ({"user_input": 3}, "not text"),
        ({"user_input": None}, "no 'user_input' or 'question'"),
        ({"reference_contexts": "lambda: 1"}, "expected a list"),
        ({"reference_contexts": "{'a': 1}"}, "a record, not a list"),
        ({"reference_contexts": [3]}, "a number, not text"),
        ({"reference_contexts": "(" * 5000}, "expected a list"),
    ],
)
def test_bad_samples_are_told(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    path = tmp_path / "s.jsonl"
    lines = [json.dumps(SAMPLE | change), "{", json.dumps(SAMPLE)]
    path.write_text("\n".join(lines))
    drafts, bad = read("ragas", path)
    assert [draft.query.id for draft in drafts] == ["3"]
    assert reason in bad[0].reason
    assert [each.where.rpartition(" ")[2] for each in bad] == ["1", "2"]


def test_ragas_says_what_is_lost(tmp_path: Path) -> None:
    texts = [Document("a", "One two. One two.")]
    same, other = (Passage("a", 9, 17),), (Passage("a", 4, 8),)
    asked = [
        Query("1", "?", (Reference("a", 0, 8, same),)),
        Query("2", "?", (Reference("a", 0, 8, other), Reference("gone", 0, 1))),
    ]
    assert write("ragas", tmp_path / "s.json", asked, texts) == [
        "Ragas can't represent references as they are: 2 questions ('1', '2')"
    ]


def test_ragchecker_reads_answers_and_no_passages(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    good = {"query_id": 7, "query": "When?", "gt_answer": "At dusk.", "response": "At dawn.",
            "retrieved_context": [{"doc_id": "d", "text": "Noise."}]}  # fmt: skip
    path.write_text(json.dumps({"results": [good, {"query_id": {}, "query": "?"}, 3]}))
    drafts, bad = read("ragchecker", path)
    assert [draft.query for draft in drafts] == [Query("7", "When?", answer="At dusk.")]
    assert not drafts[0].passages
    assert len(bad) == 2
    lines = write("ragchecker", path, [Query("1", "?", (Reference("d", 0, 1),))], None)
    assert lines == [
        "RAGChecker can't represent references as they are: question '1'",
        "no documents given, so no texts are written; give the documents",
    ]


def autorag(folder: Path, qa: list[dict[str, object]], corpus: list[dict[str, object]]) -> Path:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(qa), folder / "qa.parquet")
    if corpus:
        pq.write_table(pa.Table.from_pylist(corpus), folder / "corpus.parquet")
    return folder


CORPUS: list[dict[str, object]] = [
    {"doc_id": "p1", "contents": "Lit at dusk.", "path": "lamps.txt", "start_end_idx": [5, 16]},
    {"doc_id": "p2", "contents": "Paid.", "path": "leave.txt", "start_end_idx": [0, 0]},
    {"doc_id": "p3", "contents": "Ask.", "path": "leave.txt", "start_end_idx": [6, 9]},
]


def test_autorag_outer_lists_are_all_inner_ones_any(tmp_path: Path) -> None:
    gold = [["p1", "p2"], ["p3"], []]
    qa: list[dict[str, object]] = [
        {"qid": "a", "query": "When?", "retrieval_gt": gold, "generation_gt": ["At dusk.", "Dusk."]}
    ]
    (query,) = queries("autorag", autorag(tmp_path, qa, CORPUS))
    first = Reference("p1", 0, 12, (Passage("p2", 0, 5),))
    assert query == Query("a", "When?", (first, Reference("p3", 0, 4)), answer="At dusk.")
    assert queries("autorag", tmp_path / "qa.parquet") == [query]


@pytest.mark.parametrize("gold", [["p1", "p3"], "p1"])
def test_autorag_flat_lists_mean_all(tmp_path: Path, gold: object) -> None:
    qa: list[dict[str, object]] = [
        {"qid": "a", "query": "?", "retrieval_gt": gold, "generation_gt": "x"}
    ]
    (query,) = queries("autorag", autorag(tmp_path, qa, []))
    ids = gold if isinstance(gold, list) else [gold]
    assert query.references == tuple(Reference(id, 0, WHOLE) for id in ids)
    assert query.answer == "x"


def test_autorag_documents_know_where_they_come_from(tmp_path: Path) -> None:
    folder = autorag(tmp_path, [{"qid": "a", "query": "?"}], CORPUS)
    first, second, _ = (each for each in AutoragFormat().documents(folder))
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.id, first.source, first.metadata) == ("p1", "lamps.txt", {"start": 5})
    assert second.metadata == {}


def test_autorag_bad_rows_and_files(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"qid": "a", "query": None}, {"qid": "b", "query": "?"}]
    drafts, bad = read("autorag", autorag(tmp_path, rows, []))
    assert [draft.query.id for draft in drafts] == ["b"]
    assert bad[0].where.endswith("qa.parquet, row 1")
    (tmp_path / "qa.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ChunkwiseError, match=r"qa\.parquet is not a readable Parquet"):
        read("autorag", tmp_path)
    pq.write_table(pa.Table.from_pylist([{"other": 1}]), tmp_path / "qa.parquet")
    with pytest.raises(ChunkwiseError, match="no column 'query'"):
        read("autorag", tmp_path)
    (tmp_path / "qa.parquet").unlink()
    with pytest.raises(ChunkwiseError, match=r"no qa\.parquet"):
        read("autorag", tmp_path)


def test_autorag_written_twice_is_the_same(tmp_path: Path) -> None:
    asked = [Query("1", "?", (Reference("d", 0, 4, (Passage("e", 0, 4),)),), answer="x")]
    texts = [Document("d", "Text"), Document("e", "Text")]
    write("autorag", tmp_path / "a", asked, texts)
    write("autorag", tmp_path / "b", asked, texts)
    for name in ("qa.parquet", "corpus.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    row = pq.read_table(tmp_path / "a/corpus.parquet").to_pylist()[0]
    assert row["start_end_idx"] == [0, 3]
    assert queries("autorag", tmp_path / "a") == asked

"""Hits of other systems become places in documents, or one line that says why not."""

import json
from pathlib import Path

import pytest

import chunkwise
from chunkwise.core import Document, Hit, Query
from chunkwise.errors import ChunkwiseError
from chunkwise.evaluation.files.hits_file import read_hits
from chunkwise.output.hit_row import hit_row

LAMP = Document(
    "kb/lamp.md", "The lamp is lit. Write to us. The lamp is out. Write to us. Good night."
)
FISH = Document("kb/fish.md", "Salt the fish. Leave it for a day. “Wash” the salt off.")
DOCUMENTS = [LAMP, FISH]
QUERIES = [Query("q1", "Is the lamp lit?"), Query("q2", "How long is fish salted?")]


def read(folder: Path, *rows: object, bad: list[str] | None = None) -> list[list[Hit]]:
    path = folder / "hits.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def on_bad(line: str) -> None:
        assert bad is not None, line
        bad.append(line.removeprefix(f"{path}, "))

    return read_hits(str(path), QUERIES, DOCUMENTS, on_bad)


def shown(hits: list[Hit]) -> list[tuple[str, int, int, int]]:
    return [(hit.doc_id, hit.start, hit.end, hit.rank) for hit in hits]


def test_our_own_search_comes_back_as_it_was(tmp_path: Path) -> None:
    index = chunkwise.index(DOCUMENTS, "sentences(max_tokens=8)", vectors="none")
    found = index.search(QUERIES, retriever="bm25", k=3)
    rows = [hit_row(query, hit) for query, own in zip(QUERIES, found, strict=True) for hit in own]
    again = read(tmp_path, *rows)
    assert [shown(own) for own in again] == [shown(own) for own in found]
    assert [[h.token_count for h in own] for own in again] == [
        [h.token_count for h in own] for own in found
    ]


def test_offsets_or_text_and_document_by_any_name(tmp_path: Path) -> None:
    hits = read(
        tmp_path,
        {"query_id": "q1", "doc_id": "lamp.md", "start": 0, "end": 16},
        {"query_id": "q1", "source": "/data/kb/lamp.md", "text": "The lamp is out."},
        {"query": "How long is  fish salted?", "text": "Leave it for a day."},
        {"query_id": "q2", "doc_id": "fish", "text": '"Wash"  the salt off.'},
    )
    assert shown(hits[0]) == [(LAMP.id, 0, 16, 1), (LAMP.id, 30, 46, 2)]
    assert [hit.text for hit in hits[1]] == ["Leave it for a day.", "“Wash” the salt off."]


def test_a_repeated_text_is_taken_nearest_to_its_offset(tmp_path: Path) -> None:
    repeated = {"query_id": "q1", "doc_id": "lamp", "text": "Write to us."}
    hits = read(tmp_path, repeated, {**repeated, "start": 50, "end": 62}, {**repeated, "start": -1},
                {**repeated, "start": 47})[0]  # fmt: skip
    assert [hit.start for hit in hits] == [17, 47, 17, 47]


def test_ranks_decide_then_scores_then_the_order_of_the_file(tmp_path: Path) -> None:
    texts = ["The lamp is lit.", "The lamp is out.", "Good night."]
    rows = [{"query_id": "q1", "text": text} for text in texts]
    assert [h.text for h in read(tmp_path, *rows)[0]] == texts
    scored = [{**row, "score": score} for row, score in zip(rows, (0.1, 0.9, 0.5), strict=True)]
    found = read(tmp_path, *scored)[0]
    assert [(h.text, h.score, h.rank) for h in found] == [
        (texts[1], 0.9, 1), (texts[2], 0.5, 2), (texts[0], 0.1, 3),
    ]  # fmt: skip
    ranked = [{**row, "rank": rank} for row, rank in zip(scored, (20, 30, 10), strict=True)]
    assert [h.text for h in read(tmp_path, *ranked)[0]] == [texts[2], texts[0], texts[1]]


def test_hits_may_stand_inside_their_question(tmp_path: Path) -> None:
    ragas = {
        "user_input": "Is the lamp lit?",
        "retrieved_contexts": ["Good night.", "The lamp is lit."],
    }
    assert [hit.text for hit in read(tmp_path, ragas)[0]] == ["Good night.", "The lamp is lit."]
    own = {"id": "q2", "hits": [{"doc_id": "fish.md", "start": 0, "end": 4}]}
    assert shown(read(tmp_path, own)[1]) == [(FISH.id, 0, 4, 1)]
    packed = {"results": [{"query_id": "q2", "text": "Salt the fish."}]}
    assert [hit.text for hit in read(tmp_path, packed)[1]] == ["Salt the fish."]
    path = tmp_path / "by_question.json"
    path.write_text(json.dumps({"q1": [{"text": "Good night."}], "q2": ["Salt the fish."]}))
    found = read_hits(str(path), QUERIES, DOCUMENTS, lambda line: pytest.fail(line))
    assert [[hit.text for hit in own] for own in found] == [["Good night."], ["Salt the fish."]]


def test_a_trec_run_is_whole_documents_by_score(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(
        "q1 Q0 fish.md 1 1.5 tag\nq1 Q0 lamp.md 2 2.5 tag\nq9 Q0 lamp.md 1 1 tag\nq2 Q0 lamp.md\n"
    )
    bad: list[str] = []
    found = read_hits(str(path), QUERIES, DOCUMENTS, bad.append)
    assert shown(found[0]) == [(LAMP.id, 0, len(LAMP.text), 1), (FISH.id, 0, len(FISH.text), 2)]
    assert found[1] == []
    assert [line.removeprefix(f"{path}, ") for line in bad] == [
        "line 3: no question with the id 'q9' among the test questions",
        "line 4: a TREC run has 6 columns, this line 3",
    ]


def test_what_cannot_be_used_is_one_line_each(tmp_path: Path) -> None:
    bad: list[str] = []
    hits = read(
        tmp_path,
        {"query_id": "q7", "text": "Good night."},
        {"text": "Good night."},
        {"query_id": "q1", "doc_id": "gone.md", "start": 0, "end": 5},
        {"query_id": "q1", "doc_id": "lamp.md", "start": 60, "end": 500},
        {"query_id": "q1", "doc_id": "lamp.md", "start": 5, "end": 5},
        {"query_id": "q1", "doc_id": "fish.md", "text": "Good night."},
        {"query_id": "q1"},
        {"query_id": "q1", "contexts": [7]},
        {"query_id": "q1", "text": "Good night."},
        bad=bad,
    )
    assert [hit.text for hit in hits[0]] == ["Good night."]
    assert sorted(line.split(":")[0] for line in bad) == [
        *(f"line {n}" for n in range(1, 8)), "line 8, hit 1",
    ]  # fmt: skip
    of = dict(line.split(": ", 1) for line in bad)
    assert "'q7'" in of["line 1"]
    assert "query_id" in of["line 2"]
    assert "'gone.md'" in of["line 3"]
    assert "71 characters" in of["line 4"]
    assert "stands nowhere in kb/fish.md" in of["line 6"]


def test_a_file_with_no_hit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="no hit in"):
        read(tmp_path)
    with pytest.raises(ChunkwiseError, match="no hit in"):
        read(tmp_path, {"query_id": "other", "text": "x"}, bad=[])


def test_a_text_is_sought_in_the_document_it_names_before_it_is_found_in_another(
    tmp_path: Path,
) -> None:
    other = Document("kb/other.md", "Salt  the fish.")
    path = tmp_path / "hits.jsonl"
    path.write_text(json.dumps({"query_id": "q1", "doc_id": "other.md", "text": "Salt the fish."}))
    found = read_hits(str(path), QUERIES, [*DOCUMENTS, other], lambda line: pytest.fail(line))
    assert shown(found[0]) == [("kb/other.md", 0, 15, 1)]


def test_without_documents_every_hit_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "hits.jsonl"
    path.write_text(
        json.dumps({"query_id": "q1", "doc_id": "a", "start": 0, "end": 2})
        + '\n{"query_id": "q1", "text": "x"}'
    )
    bad: list[str] = []
    assert read_hits(str(path), QUERIES, [], bad.append) == [[], []]
    assert len(bad) == 2

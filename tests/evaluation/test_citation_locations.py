"""A start alone, a chunk id alone and a quote alone are each enough to say what is cited, or what was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chunkwise
from chunkwise.chunkers.chunk import chunk
from chunkwise.core import Chunk, Document, Query, Reference
from chunkwise.evaluation.scoring import Listeners
from chunkwise.options import ScoreOptions
from tables import cases

RULES = Document(
    "rules.txt",
    "The trial period lasts six months. It ends without notice.\n\nFees are paid in March. The "
    "fee is $150 for adults.\n\nLockers are emptied on Fridays. Keys are kept at the desk.",
)
OTHER = Document("other.txt", "Bread is baked on Mondays. Milk comes from the valley.")
DOCUMENTS = [RULES, OTHER]
FEE = RULES.text.index("The fee is")
QUESTION = Query("q1", "What is the fee?", (Reference("rules.txt", FEE, FEE + 27),))
ANSWER = "The fee is $150 for adults."


def chunks_of() -> list[Chunk]:
    return [each for document in DOCUMENTS for each in chunk(document, "paragraphs(max_tokens=20)")]


def written(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def attribution(folder: Path, citation: object, **given: object) -> tuple[float | None, list[str]]:
    row = {"query_id": "q1", "answer": ANSWER, "citations": [citation]}
    lines: list[str] = []
    settings: dict[str, object] = {"strategy": "paragraphs(max_tokens=20)", "retriever": "bm25"}
    results = chunkwise.evaluate(
        DOCUMENTS,
        [QUESTION],
        metrics="citation_accuracy.attribution,citation_accuracy.support",
        **given or settings,
        score=ScoreOptions(answers=written(folder / "answers.jsonl", row)),
        listeners=Listeners(on_bad=lines.append),
    )
    found = results.summary["citation_accuracy.attribution"].mean
    assert results.summary["citation_accuracy.support"].mean == found
    return found, [line.partition("citation 1: ")[2] for line in lines]


HELD = next(each for each in chunks_of() if each.start <= FEE < each.end)


@cases("citation", [
    {"doc_id": "rules.txt", "chunk_id": HELD.id, "start_index": HELD.start},
    {"doc_id": "rules.txt", "start_index": HELD.start},
    {"doc_id": "rules.txt", "start": FEE},
    {"chunk_id": HELD.id},
    {"id": HELD.id},
    HELD.id,
    f"rules.txt::chunk_{HELD.index}",
    {"doc_id": "rules.txt", "chunk_id": f"rules::chunk_{HELD.index}"},
    {"doc_id": "rules.txt", "chunk_id": HELD.index},
    {"doc_id": "rules.txt", "chunk_id": "f3-9a", "start": FEE, "end": FEE + 27},
    {"doc_id": "rules.txt", "id": "rules.txt::0", "start": FEE, "end": FEE + 27},
    {"chunk_id": f"rules.txt@{FEE}-{FEE + 27}"},
    {"metadata": {"source": "rules.txt", "start_index": HELD.start}},
    {"quote": "the fee is $150 for adults"},
    {"quote": "The **fee** is `$150` for adults."},
    {"url": "rules.txt", "start": FEE, "end": FEE + 27},
    {"url": "https://example.org/kb/rules.txt?raw=1#fees", "start": FEE},
])  # fmt: skip
def test_a_right_citation_is_right_however_it_is_named(tmp_path: Path, citation: object) -> None:
    assert attribution(tmp_path, citation) == (1.0, [])


@cases("citation", [
    {"doc_id": "rules.txt", "start_index": 0},
    {"doc_id": "other.txt", "start": 3},
    {"chunk_id": "rules.txt::0"},
    {"chunk_id": "other.txt::0"},
    {"quote": "Bread is baked on Mondays."},
])  # fmt: skip
def test_a_wrong_one_is_wrong(tmp_path: Path, citation: object) -> None:
    assert attribution(tmp_path, citation) == (0.0, [])


UNKNOWN = [
    ({"chunk_id": "f3-9a"}, "unknown chunk id 'f3-9a'"),
    ({"doc_id": "rules.txt", "chunk_id": "f3-9a"}, "unknown chunk id 'f3-9a'"),
    ({"chunk_id": "rules.txt::99"}, "'rules.txt' has no chunk 99"),
    ("rules.txt::99", "'rules.txt' has no chunk 99"),
    ("rules.txt::chunk_99", "'rules.txt' has no chunk 99"),
    ({"id": "rules.txt::99"}, "'rules.txt' has no chunk 99"),
    ({"doc_id": "rules.txt::99"}, "'rules.txt' has no chunk 99"),
    ("gone.txt::3", "unknown chunk id 'gone.txt::3'"),
    ("f3-9a", "unknown chunk id 'f3-9a'"),
]  # fmt: skip


@cases("citation", [each for each, _ in UNKNOWN] + [{"claim": "The fee is $150."}])
def test_what_cannot_be_told_is_unscored_with_a_line(tmp_path: Path, citation: object) -> None:
    hits = written(tmp_path / "hits.jsonl", {"query_id": "q1", "doc_id": "other.txt"})
    found, lines = attribution(tmp_path, citation, hits=hits)
    assert found is None
    assert len(lines) == 1
    assert lines[0].endswith("it isn't scored")


@cases("citation, why", [
    *UNKNOWN,
    ({"doc_id": "rules.txt", "chunk_id": HELD.id, "start": 0}, "its chunk and offsets contradict each other"),
    ({"doc_id": "rules.txt", "chunk_id": "rules.txt::0", "start": FEE, "end": FEE + 9}, "its chunk and"),
    ({"doc_id": "rules.txt", "chunk_id": "rules.txt::99", "start": FEE, "end": FEE + 9}, "'rules.txt' has no chunk"),
    ({"doc_id": "other.txt", "chunk_id": HELD.id}, "its chunk and offsets contradict each other"),
    ({"doc_id": "gone.txt", "start": 0, "end": 5}, "unknown document 'gone.txt'"),
    ("gone.txt", "unknown document 'gone.txt'"),
    ({"url": "https://example.org/gone.txt"}, "unknown document 'https://example.org/gone.txt'"),
    ({"doc_id": "rules.txt", "start": 9000}, "9,000 is beyond the end of rules.txt"),
    ({"quote": "nobody ever wrote this"}, "its quote is in no document"),
])  # fmt: skip
def test_what_leads_nowhere_is_wrong_and_told(tmp_path: Path, citation: object, why: str) -> None:
    found, lines = attribution(tmp_path, citation)
    assert found == 0.0
    assert len(lines) == 1
    assert lines[0].startswith(why)
    assert lines[0].endswith("it counts as wrong")


def test_chunks_of_a_file_go_by_their_own_ids(tmp_path: Path) -> None:
    rows = [
        {"id": f"node-{number}", "doc_id": each.doc_id, "text": each.text}
        for number, each in enumerate(chunks_of())
    ]
    file = written(tmp_path / "chunks.jsonl", *rows)
    number = next(n for n, row in enumerate(rows) if ANSWER in row["text"])
    right = attribution(tmp_path, {"chunk_id": f"node-{number}"}, chunks=file, retriever="bm25")
    assert right == (1.0, [])
    assert attribution(tmp_path, {"id": "node-0"}, chunks=file, retriever="bm25") == (0.0, [])


def test_citations_of_hits_from_a_file_go_by_the_ids_of_the_hits(tmp_path: Path) -> None:
    hit = {"query_id": "q1", "chunk_id": "n7", "text": HELD.text, "doc_id": "rules.txt"}
    hits = written(tmp_path / "hits.jsonl", hit)
    assert attribution(tmp_path, {"chunk_id": "n7"}, hits=hits) == (1.0, [])
    # Inside the hit, though the sentence there is another one.
    at = {"doc_id": "rules.txt", "start": HELD.start + 2}
    assert attribution(tmp_path, at, hits=hits) == (1.0, [])


def test_without_chunks_a_start_is_the_sentence_at_it(tmp_path: Path) -> None:
    hits = written(tmp_path / "hits.jsonl", {"query_id": "q1", "doc_id": "other.txt"})
    inside = {"doc_id": "rules.txt", "start": FEE + 4}
    assert attribution(tmp_path, inside, hits=hits) == (1.0, [])
    before = {"doc_id": "rules.txt", "start": FEE - 4}
    assert attribution(tmp_path, before, hits=hits) == (0.0, [])


@cases("hit", [
    {"chunk_id": "n1"}, {"doc_id": "rules.txt", "chunk_id": "n1"}, {"doc_id": "rules.txt", "start": FEE},
    {"chunk_id": HELD.id}, {"id": HELD.id}, {"doc_id": HELD.id},
])  # fmt: skip
def test_hits_may_be_ids_or_starts_of_the_chunks_of_a_file(
    tmp_path: Path, hit: dict[str, object]
) -> None:
    chunks = chunks_of()
    at = chunks.index(HELD)
    rows = [
        {"id": "n1" if n == at else f"x{n}", "doc_id": c.doc_id, "start": c.start, "end": c.end, "text": c.text}
        for n, c in enumerate(chunks)
    ]  # fmt: skip
    hits = written(tmp_path / "hits.jsonl", {"query_id": "q1", **hit})
    lines: list[str] = []
    results = chunkwise.evaluate(
        DOCUMENTS,
        [QUESTION],
        hits=hits,
        chunks=written(tmp_path / "chunks.jsonl", *rows),
        metrics="ndcg@1,precision@1",
        listeners=Listeners(on_bad=lines.append),
    )
    assert lines == []
    assert results.summary["ndcg@1"].mean == 1.0
    assert results.summary["precision@1"].mean == pytest.approx(27 / len(HELD.text))


def test_a_trec_run_may_rank_chunks(tmp_path: Path) -> None:
    chunks = tmp_path / "chunks.jsonl"
    written(chunks, *({"doc_id": c.doc_id, "start": c.start, "end": c.end} for c in chunks_of()))
    run = tmp_path / "run.txt"
    run.write_text(f"q1 Q0 {HELD.id} 1 3.5 mine\n", encoding="utf-8")
    results = chunkwise.evaluate(
        DOCUMENTS, [QUESTION], hits=run, chunks=str(chunks), metrics="ndcg@1"
    )
    assert results.summary["ndcg@1"].mean == 1.0


def test_a_hit_whose_chunk_is_unknown_says_what_would_tell_it(tmp_path: Path) -> None:
    lines: list[str] = []
    for hit in ({"chunk_id": "n1"}, {"doc_id": "rules.txt", "start": FEE}):
        hits = written(tmp_path / "hits.jsonl", {"query_id": "q1", **hit})
        chunkwise.evaluate(
            DOCUMENTS,
            [QUESTION],
            hits=hits,
            metrics="recall@1",
            listeners=Listeners(on_bad=lines.append),
        )
    assert all("--chunks" in line for line in lines)
    assert len(lines) == 2


def referenced(reference: object, **given: object) -> tuple[str, list[str]]:
    """What a question's one reference is taken for, and what is said about it."""
    lines: list[str] = []
    kept: list[Query] = []
    settings: dict[str, object] = {"strategy": "paragraphs(max_tokens=20)", "retriever": "bm25"}
    other = {"query": "When is bread baked?", "relevant_text": "Bread is baked on Mondays."}
    chunkwise.evaluate(
        DOCUMENTS,
        [{"query": "What is the fee?", "references": [reference]}, other],
        metrics="recall",
        **given or settings,
        listeners=chunkwise.options.Listeners(on_questions=kept.extend, on_bad=lines.append),
    )
    texts = {each.id: each.text for each in DOCUMENTS}
    places = [place for query in kept[:-1] for each in query.references for place in each.places]
    return "|".join(texts[each.doc_id][each.start : each.end] for each in places), lines


@cases("reference", [
    {"doc_id": "rules.txt", "chunk_id": HELD.id, "start_index": HELD.start},
    {"doc_id": "rules.txt", "start_index": HELD.start},
    {"metadata": {"source": "rules.txt", "start_index": HELD.start}},
    {"doc_id": "rules.txt", "start": FEE},
    {"chunk_id": HELD.id},
    {"id": HELD.id},
    {"doc_id": "rules.txt", "chunk_id": HELD.index},
])  # fmt: skip
def test_a_reference_may_be_a_start_or_a_chunk_alone(reference: object) -> None:
    text, lines = referenced(reference)
    assert lines == []
    assert text == HELD.text


@cases("reference", [
    {"chunk_id": f"rules.txt@{FEE}-{FEE + 27}"},
    {"quote": ANSWER},
    {"page_content": ANSWER, "metadata": {"source": "rules.txt"}},
    ANSWER,
])  # fmt: skip
def test_a_reference_may_be_a_quote_or_an_id_with_a_place(reference: object) -> None:
    assert referenced(reference) == (ANSWER, [])


def test_a_start_alone_is_a_sentence_where_no_chunks_are_known(tmp_path: Path) -> None:
    hits = written(
        tmp_path / "hits.jsonl", {"query_id": "2", "doc_id": "other.txt", "start": 0, "end": 9}
    )
    text, lines = referenced({"doc_id": "rules.txt", "start": FEE + 4}, hits=hits)
    assert text.strip() == ANSWER
    assert lines == []


@cases("reference, told", [
    ({"chunk_id": "rules.txt::99"}, "rules.txt' has no chunk 99; it has "),
    ({"doc_id": "rules.txt", "start_index": 9_999}, "begins at 9,999 of 'rules.txt', which has "),
    ({"start_index": 3}, "but has no document"),
])  # fmt: skip
def test_a_reference_that_leads_nowhere_is_told(reference: object, told: str) -> None:
    text, lines = referenced(reference)
    assert text == ""
    assert len(lines) == 1
    assert told in lines[0]

"""Hits of other systems become places in documents, or one line that says why not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.chunkers.write_chunks import hit_row
from chunkwise.core import Document, Hit, Query, Reference
from chunkwise.evaluation.run_file import locate_records, read_hits
from chunkwise.metrics.evidence import is_nowhere
from chunkwise.text.analyzed import Analyzed
from tables import cases

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


@pytest.mark.parametrize("strategy", ["sentences(max_tokens=20)", "parent_child(max_tokens=12)"])
def test_hits_of_our_own_file_have_the_scores_of_the_search(tmp_path: Path, strategy: str) -> None:
    queries = [replace(query, references=(Reference(DOCUMENTS[0].id, 0, 40),)) for query in QUERIES]
    index = chunkwise.index(DOCUMENTS, strategy, vectors="none")
    found = index.search(queries, k=3)
    rows = [hit_row(query, hit) for query, own in zip(queries, found, strict=True) for hit in own]
    assert all(row["matched_id"] for row in rows)
    assert any(row["parent"] for row in rows) == strategy.startswith("parent")
    file = tmp_path / "hits.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = chunkwise.evaluate(
        DOCUMENTS, queries, hits=file, chunks=list(index.chunks()), k=3, metrics="retrieval"
    )
    first = chunkwise.evaluate(index, queries, k=3, retriever="bm25", metrics="retrieval")
    assert [each.scores for each in again.questions] == [each.scores for each in first.questions]
    counts = [[hit.token_count for hit in each.hits] for each in again.questions]
    assert counts == [
        [row["token_count"] for row in rows if row["query_id"] == q.id] for q in queries
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


def test_a_text_is_found_but_for_case_and_markdown_as_that_of_a_question_is(tmp_path: Path) -> None:
    path = tmp_path / "hits.jsonl"
    marked = Document(
        "kb/marked.md", "Read this. The **relief keeper** arrives [by boat](boats.md) at `noon`."
    )
    texts = ["The relief keeper arrives by boat at noon.", "READ THIS."]
    rows = [{"query_id": "q1", "text": text} for text in texts]
    rows += [{**row, "doc_id": "marked"} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_hits(str(path), QUERIES, [*DOCUMENTS, marked], lambda line: pytest.fail(line))[0]
    assert [(hit.start, hit.end) for hit in found] == [(11, len(marked.text)), (0, 10)] * 2


def test_an_address_of_a_hit_that_is_no_document_is_no_reason_to_lose_it(tmp_path: Path) -> None:
    row = {"query_id": "q1", "text": "Good night.", "url": "https://example.org/elsewhere"}
    assert [hit.doc_id for hit in read(tmp_path, row)[0]] == [LAMP.id]
    twice = {"query_id": "q1", "start": 0, "end": 5, "url": "https://example.org/kb/lamp.md#top"}
    assert [hit.doc_id for hit in read(tmp_path, twice)[0]] == [LAMP.id]


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
    unknown, short = (line.removeprefix(f"{path}, ") for line in bad)
    assert unknown.startswith("line 3: ")
    assert "'q9'" in unknown
    assert short.startswith("line 4: ")
    assert "6 columns" in short


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
    assert [hit.text for hit in hits[0] if not is_nowhere(hit)] == ["Good night."]
    assert [hit.rank for hit in hits[0]] == list(range(1, 8))
    assert sorted(line.split(":")[0] for line in bad) == [
        *(f"line {n}" for n in range(1, 8)), "line 8, hit 1",
    ]  # fmt: skip
    of = dict(line.split(": ", 1) for line in bad)
    assert "'q7'" in of["line 1"]
    assert "query_id" in of["line 2"]
    assert "'gone.md'" in of["line 3"]
    assert "71 characters" in of["line 4"]
    assert "isn't in kb/fish.md" in of["line 6"]


def test_a_file_with_no_hit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="expected query_id, doc_id, start and end, or a text"):
        read(tmp_path)
    with pytest.raises(ChunkwiseError, match="expected query_id, doc_id, start and end, or a text"):
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
    found = read_hits(str(path), QUERIES, [], bad.append)
    assert [len(own) for own in found] == [2, 0]
    assert all(map(is_nowhere, found[0]))
    assert len(bad) == 2


def test_a_hit_that_is_nowhere_keeps_its_rank_its_text_and_its_cost(tmp_path: Path) -> None:
    bad: list[str] = []
    rows = [
        {"query_id": "q1", "rank": 3, "text": "The lamp is lit."},
        {"query_id": "q1", "rank": 1, "text": "Nobody wrote these five words."},
        {"query_id": "q1", "rank": 2, "doc_id": "gone.md", "start": 100, "end": 140},
        {"query_id": "q2", "hits": ["Half a \ud83d character", 7, "Salt the fish."]},
    ]
    first, second = read(tmp_path, *rows, bad=bad)
    assert [(hit.rank, is_nowhere(hit)) for hit in first] == [(1, True), (2, True), (3, False)]
    assert first[0].text == "Nobody wrote these five words."
    assert first[0].token_count == Analyzed(Document("x", first[0].text)).measure().count(0, 30)
    assert first[1].end - first[1].start == 40
    assert [is_nowhere(hit) for hit in second] == [True, True, False]
    second[0].text.encode("utf-8")
    assert len({hit.doc_id for own in (first, second) for hit in own if is_nowhere(hit)}) == 4
    assert len(bad) == 4
    assert all(line.endswith("; it counts as an irrelevant hit") for line in bad)


def test_the_document_of_a_lost_hit_is_none_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "hits.jsonl"
    path.write_text('{"query_id": "q1", "text": "Not there."}')
    taken = Document(f"nowhere: {path}, entry 1", "Something else.")
    (hit,) = read_hits(str(path), QUERIES, [taken], lambda _: None)[0]
    assert is_nowhere(hit)
    assert hit.doc_id != taken.id


def test_a_text_in_several_documents_is_in_none_unless_its_offset_tells(tmp_path: Path) -> None:
    twin = Document("kb/twin.md", "Yes. Salt the fish. The end.")
    rows = [
        {"query_id": "q1", "text": "Salt the fish."},
        {"query_id": "q1", "text": "Salt the fish.", "start": 5},
        {"query_id": "q1", "text": "Salt the fish.", "start": 3},
        {"query_id": "q1", "text": "Salt the fish.", "doc_id": "twin"},
        {"query_id": "q1", "text": "Write to us."},
    ]
    path = tmp_path / "hits.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    bad: list[str] = []
    found = read_hits(str(path), QUERIES, [*DOCUMENTS, twin], bad.append)[0]
    assert [None if is_nowhere(hit) else hit.doc_id for hit in found] == [
        None, twin.id, None, twin.id, LAMP.id,
    ]  # fmt: skip
    assert len(bad) == 2
    for line in bad:
        assert "is in 2 documents, such as 'kb/fish.md' and 'kb/twin.md'" in line


@cases(
    "start, told",
    [
        ("NaN", "its start is NaN; expected an integer"),
        ("5.5", "its start is 5.5; expected an integer"),
        ('"first"', 'its start is "first"; expected an integer'),
        ("9" * 4000, "its start is a huge number; expected an integer"),
        ("9" * 200, "a huge number–9 isn't a span of kb/lamp.md, which has 71 characters"),
        ("-3", "-3–9 isn't a span of kb/lamp.md"),
        ("null", "nothing–9 isn't a span of kb/lamp.md"),
    ],
)
def test_offsets_that_are_none_are_told_in_our_words(tmp_path: Path, start: str, told: str) -> None:
    path = tmp_path / "hits.jsonl"
    good = '{"query_id": "q1", "doc_id": "lamp", "start": 0, "end": 5}'
    path.write_text(f'{good}\n{{"query_id": "q1", "doc_id": "lamp", "start": {start}, "end": 9}}\n')
    bad: list[str] = []
    found = read_hits(str(path), QUERIES, DOCUMENTS, bad.append)[0]
    assert [is_nowhere(hit) for hit in found] == [False, True]
    assert len(bad) == 1
    assert bad[0].startswith(f"{path}, line 2: {told}")
    assert len(bad[0]) < 300 + len(str(path))


def test_a_line_that_is_no_json_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "hits.jsonl"
    good = '{"query_id": "q1", "doc_id": "lamp", "start": 0, "end": 5}'
    path.write_text(good + '\n{"query_id": "q1", "start": ' + "9" * 5000 + '}\n{"query_id": \n')
    bad: list[str] = []
    assert len(read_hits(str(path), QUERIES, DOCUMENTS, bad.append)[0]) == 1
    assert [line.split(":")[0] for line in bad] == [f"{path}, line {number}" for number in (2, 3)]


@cases("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_is_followed(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    row = json.dumps({"query_id": "q2", "text": "“Wash” the salt off."}, ensure_ascii=False)
    path = tmp_path / "hits.jsonl"
    path.write_bytes((mark + row + "\n").encode(encoding))
    (hit,) = read_hits(str(path), QUERIES, DOCUMENTS, lambda line: pytest.fail(line))[1]
    assert (hit.doc_id, hit.text) == (FISH.id, "“Wash” the salt off.")
    path.write_bytes(b"\xff\xfe\x00\xd8\x00")
    with pytest.raises(
        ChunkwiseError, match="not valid UTF-16-LE at byte 2, despite its byte order mark"
    ):
        read_hits(str(path), QUERIES, DOCUMENTS, lambda _: None)


FRONT = "---\nyear: 2024\ntags:\n  # the harbour\n  - port\n---\n"
BODY = "# Harbour\n\nThe gate opens at six. It is shut at ten.\n\n# Fees\n\nA berth costs four crowns.\n"


def _loaded(folder: Path, name: str, text: str) -> list[Document]:
    (folder / name).write_bytes(text.encode())
    return list(chunkwise.read(str(folder / name)))


@cases("newline", ["\n", "\r\n"])
@cases(
    "name, head, body",
    [
        ("harbour.md", FRONT, BODY),
        ("harbour.md", FRONT, "The gate opens at six, the whole year. " * 20),
        ("harbour.org", "#+TITLE: Harbour\n#+AUTHOR: M. Kerr\n\n", "* Gate\n\nIt opens at six.\n"),
        ("harbour.tex", "\\documentclass{article}\n\\usepackage{url}\n\\begin{document}\n",
         "The gate opens at six.\n\n\\end{document}\n"),
    ],
)  # fmt: skip
def test_a_text_that_begins_with_what_is_left_white_is_found_by_the_rest(
    tmp_path: Path, name: str, head: str, body: str, newline: str
) -> None:
    documents = _loaded(tmp_path, name, (head + body).replace("\n", newline))
    text = documents[0].text
    first = text.index(body[:8].strip().split()[0])
    assert text[:first].isspace()
    size = min(60, len(body.split("\n\n\\end")[0]))
    for aside in (0, head.index("\n") + 1):  # the whole of it, and what another chunk leaves of it
        raw = (head[aside:] + body[:size]).strip()
        for named in ({}, {"source": f"/data/{name}"}, {"source": name, "start_index": aside}):
            said = [[{"page_content": raw, "metadata": named}]]
            hit = locate_records(said, QUERIES[:1], documents, pytest.fail)[0][0]
            assert (hit.doc_id, hit.start) == (documents[0].id, first)
            assert hit.text.split() == body[:size].split()


def test_a_hit_that_is_all_front_matter_says_so_and_text_before_none_is_no_head(
    tmp_path: Path,
) -> None:
    documents = _loaded(tmp_path, "harbour.md", FRONT + BODY)
    bad: list[str] = []
    tags = {"text": "tags:\n  # the harbour", "source": "harbour.md", "start": FRONT.index("tags")}
    said = [[tags, {"text": f"Another preface.\n\n{'It is long. ' * 9}\n\n{BODY}"}]]
    found = locate_records(said, QUERIES[:1], documents, bad.append)[0]
    assert [is_nowhere(hit) for hit in found] == [True, True]
    assert "it is front matter of harbour.md, not text" in bad[0]
    assert "its text isn't in any document" in bad[1]
    plain = [Document("plain.md", BODY)]
    assert is_nowhere(
        locate_records([[{"text": FRONT + BODY}]], QUERIES[:1], plain, bad.append)[0][0]
    )


def test_of_an_extracted_text_it_is_said_that_it_is_one(tmp_path: Path) -> None:
    documents = _loaded(tmp_path, "gate.html", "<h1>Gate</h1><p>Open <b>at</b> six.</p>")
    bad: list[str] = []
    said = [[{"text": "<p>Open <b>at</b> six.</p>", "source": "gate.html"}]]
    assert is_nowhere(locate_records(said, QUERIES[:1], documents, bad.append)[0][0])
    assert "its text isn't in gate.html, whose text is extracted from html;" in bad[0]

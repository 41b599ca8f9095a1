"""Chunks of other tools: where they say they are, where they are, and how they are searched."""

import csv
import json
import pickle
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.chunkers.chunk_offsets import stated_id, stated_place, summary, wrong_offset
from chunkwise.chunkers.read_chunks import ExistingChunks, read_chunks
from chunkwise.chunkers.write_chunks import chunk_file
from chunkwise.core import Chunk, Document
from chunkwise.testkit.hostile import hostile_documents
from tables import cases

FIXTURES = Path(__file__).parent / "fixtures"
LEAVE = Document("kb/leave.md", (FIXTURES / "leave.md").read_text(), format="markdown")
LAMPS = Document("kb/lamps.txt", (FIXTURES / "lamps.txt").read_text())
DOCUMENTS = [LEAVE, LAMPS]


def never(problem: str) -> None:
    raise AssertionError(problem)


def read(path: Path, documents: list[Document] | None = None) -> ExistingChunks:
    return read_chunks(str(path), documents or DOCUMENTS, never)


def written(folder: Path, *rows: object) -> Path:
    path = folder / "chunks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def placed_texts(given: ExistingChunks) -> list[str]:
    texts = {document.id: document.text for document in DOCUMENTS}
    return [texts[c.doc_id][c.place.start : c.place.end] for c in given.chunks if c.place]


def test_langchain_loses_offsets_and_takes_another_occurrence() -> None:
    given = read(FIXTURES / "langchain.jsonl")
    kinds = [verdict.kind for verdict in given.position]
    assert kinds == [
        "exact", "exact", "misplaced", "negative", "exact", "negative",
        "exact", "exact", "misplaced", "negative", "exact",
    ]  # fmt: skip
    found = summary(given.position)
    assert found.score.value == 6 / 11
    rows = [json.loads(line) for line in (FIXTURES / "langchain.jsonl").read_text().splitlines()]
    assert placed_texts(given) == [row["page_content"] for row in rows]
    starts = [chunk.place.start for chunk in given.chunks if chunk.place]
    assert starts == sorted(starts), "in their right places the chunks follow each other"


def test_llamaindex_offsets_hold_the_text_and_yet_leave_half_the_document_out() -> None:
    given = read(FIXTURES / "llamaindex.json")
    assert {verdict.kind for verdict in given.position} == {"exact"}
    assert {chunk.doc_id for chunk in given.chunks} == {LAMPS.id}
    assert max(chunk.place.end for chunk in given.chunks if chunk.place) < len(LAMPS.text) / 2


def test_chonkie_names_no_document_and_its_chunks_are_found_by_their_text() -> None:
    given = read(FIXTURES / "chonkie.jsonl")
    assert {verdict.kind for verdict in given.position} == {"exact"}
    assert {chunk.doc_id for chunk in given.chunks} == {LEAVE.id}
    assert summary(given.position).score.value == 1.0


@cases("suffix", ["jsonl", "csv", "parquet"])
def test_our_own_files_are_exact_in_every_format(suffix: str, tmp_path: Path) -> None:
    strategy = chunkwise.ext.get_strategy("sentences(max_tokens=20, overlap=8)")
    documents = [
        *DOCUMENTS,
        Document("nasty", 'One, "two".\r\n\r\nÜ 😀 e\u0301. \u2028 Line; end.'),
    ]
    chunks: list[Chunk] = [each for d in documents for each in strategy.chunks(d)]
    path = tmp_path / f"ours.{suffix}"
    with chunk_file(path) as write:
        write(chunks)
    given = read(path, documents)
    assert {verdict.kind for verdict in given.position} == {"exact"}
    assert [(c.doc_id, c.place) for c in given.chunks] == [(c.doc_id, c.span) for c in chunks]
    again = [
        each.span for d in documents for each in chunkwise.ext.chunk_document(d, given.strategy())
    ]
    assert again == [each.span for each in chunks]


def test_text_with_other_white_space_is_changed_but_still_searched(tmp_path: Path) -> None:
    text = "Requests are approved by the director.  Write to  the office."
    given = read(written(tmp_path, {"text": text, "doc_id": "leave.md", "start": 0, "end": 59}))
    assert given.position[0].kind == "changed"
    assert placed_texts(given) == ["Requests are approved by the director. Write to the office."]


def test_text_without_its_markdown_is_found_and_marked_as_such(tmp_path: Path) -> None:
    document = Document("m.md", "The **relief keeper** arrives.\n\nWrite to us.")
    rows = [{"text": "The relief keeper arrives."}, {"text": "write to us."}]
    given = read(written(tmp_path, *rows), [document])
    assert [chunk.place and chunk.place.start for chunk in given.chunks] == [0, 32]
    assert [verdict.kind for verdict in given.position] == ["changed", "changed"]


def test_a_bad_row_is_one_line_and_the_others_go_on(tmp_path: Path) -> None:
    path = tmp_path / "theirs.jsonl"
    good = json.dumps({"text": "Call before nine.", "doc_id": "leave.md"})
    bad = ['{"text": "cut', "[1]", '{"doc_id": "leave.md"}', '{"text": "gone", "doc_id": "leave.md"}',
           '{"text": "Call before nine.", "doc_id": "nowhere.md"}', '{"text": "nowhere to be found"}',
           '{"doc_id": "leave.md", "start": 5, "end": 90000}']  # fmt: skip
    path.write_text("\n".join([good, *bad, "", good]), encoding="utf-8")
    lines: list[str] = []
    given = read_chunks(str(path), DOCUMENTS, lines.append)
    reasons = dict(line.removeprefix(f"{path}, ").split(": ", 1) for line in lines)
    assert list(reasons) == [f"line {n}" for n in (2, 3, 4, 5, 6, 7, 8)]
    assert reasons["line 2"].startswith("not valid JSON")
    assert "list" in reasons["line 3"]
    assert "neither a text nor offsets" in reasons["line 4"]
    assert "isn't in the document" in reasons["line 5"]
    assert "'nowhere.md'" in reasons["line 6"]
    assert "it has no document, and no document has its text" in reasons["line 7"]
    assert "5–90,000" in reasons["line 8"]
    assert [c.where for c in given.chunks if c.place] == [f"{path}, line 1", f"{path}, line 10"]


@cases("content", ["", "\n\n", "[]", "{}\n"])
def test_a_file_without_a_chunk_is_an_error(content: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(content)
    with pytest.raises(ChunkwiseError, match=r"no chunk in .*empty\.jsonl"):
        read_chunks(str(path), DOCUMENTS, lambda line: None)


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    latin, broken = tmp_path / "latin.jsonl", tmp_path / "broken.json"
    latin.write_bytes('{"text": "café"}'.encode("latin-1"))
    broken.write_text('[{"text": "x"}')
    fake = tmp_path / "fake.parquet"
    fake.write_text("no parquet")
    for path, why in ((latin, "no chunk in"), (broken, "JSON list"), (fake, "not a readable Parquet file"),
                      (tmp_path / "gone.jsonl", "No such file")):  # fmt: skip
        with pytest.raises(ChunkwiseError, match=why):
            read_chunks(str(path), DOCUMENTS, lambda line: None)


def test_a_document_is_known_by_its_path_name_or_stem(tmp_path: Path) -> None:
    names = ["kb/leave.md", "/srv/data/kb/leave.md", "leave.md", "leave", "C:\\kb\\leave.md"]
    given = read(written(tmp_path, *({"text": "# Leave", "source": name} for name in names)))
    assert {chunk.doc_id for chunk in given.chunks} == {LEAVE.id}


def test_langchains_own_dump_is_read_too(tmp_path: Path) -> None:
    kwargs = {"page_content": "# Leave", "metadata": {"source": "leave.md", "start_index": 0}}
    given = read(written(tmp_path, {"lc": 1, "type": "constructor", "kwargs": kwargs}))
    assert given.position[0].kind == "exact"


def test_long_texts_in_csv_and_numbers_written_as_fractions(tmp_path: Path) -> None:
    document = Document("long", "word " * 40_000)
    path = tmp_path / "theirs.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerows(
            [["text", "start", "end", "doc_id"], [document.text, "0.0", 200_000, "long"]]
        )
    assert read(path, [document]).position[0].kind == "exact"


def test_other_tools_chunks_are_indexed_and_searched(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (FIXTURES / "langchain.jsonl").read_text().splitlines()]
    given = read(written(tmp_path, *rows, rows[0], *reversed(rows)))
    strategy = given.strategy()
    index = chunkwise.index(DOCUMENTS, strategy=strategy, vectors="none")
    found = index.search("the director", retriever="bm25", k=1)
    assert [hit.text for hit in found] == [rows[7]["page_content"]]
    assert index.stats().chunks == 11, "each place once"
    assert "chunks.jsonl" in index.settings.strategy


def test_other_places_in_a_file_of_the_same_name_are_another_strategy(tmp_path: Path) -> None:
    first = chunkwise.ext.get_strategy(
        read(written(tmp_path, {"text": "# Leave"})).strategy()
    ).label
    second = chunkwise.ext.get_strategy(
        read(written(tmp_path, {"text": "Call before"})).strategy()
    ).label
    assert first != second


def test_without_documents_every_chunk_is_a_line(tmp_path: Path) -> None:
    lines: list[str] = []
    path = written(tmp_path, {"text": "# Leave"}, {"text": "# Leave", "doc_id": "a"})
    given = read_chunks(str(path), [], lines.append)
    assert len(lines) == 2
    assert {verdict.kind for verdict in given.position} == {"unknown_document"}


def test_a_place_may_be_given_without_its_text(tmp_path: Path) -> None:
    given = read(written(tmp_path, {"doc_id": "leave.md", "start": 2, "end": 7}))
    assert given.position[0].kind == "no_text"
    assert placed_texts(given) == ["Leave"]


def test_hostile_documents_come_back_exact_and_can_be_sent_to_another_process(
    tmp_path: Path,
) -> None:
    documents = hostile_documents()
    strategy = chunkwise.ext.get_strategy("characters(max_chars=90, overlap=20)")
    chunks = [each for document in documents for each in strategy.chunks(document)]
    path = tmp_path / "ours.jsonl"
    with chunk_file(path) as write:
        write(chunks)
    given = read(path, documents)
    assert {verdict.kind for verdict in given.position} == {"exact"}
    sent = pickle.loads(pickle.dumps(given.strategy()))
    assert [each.span for d in documents for each in chunkwise.ext.chunk_document(d, sent)] == [
        each.span for each in chunks
    ]


def test_texts_alone_are_placed_in_order_in_a_document_too_long_to_search_anew_for_each(
    tmp_path: Path,
) -> None:
    parts = [f"Line {n % 7000} of the log.\n" for n in range(14_000)]
    document = Document("log", "".join(parts))
    rows = [{"doc_id": "log", "text": parts[n]} for n in (0, 6999, 7000, 13_999, 3, 3)]
    given = read(
        written(tmp_path, *rows, {"doc_id": "log", "text": "Line 5 of  the log."}), [document]
    )
    starts = [sum(map(len, parts[:n])) for n in (0, 6999, 7000, 13_999, 3, 7003, 7005)]
    assert [chunk.place.start for chunk in given.chunks if chunk.place] == starts
    assert [verdict.kind for verdict in given.position][-2:] == ["no_offsets", "changed"]


def test_records_in_records_without_end() -> None:
    fields: dict[str, object] = {"text": "far inside"}
    for _ in range(3000):
        fields = {"node": fields}
    assert stated_place(fields).text is None
    assert stated_id(fields).id is None
    assert wrong_offset(fields) == ""
    assert stated_place({"node": {"metadata": {"document": {"text": "a"}}}}).text == "a"

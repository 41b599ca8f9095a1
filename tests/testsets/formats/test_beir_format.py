"""BEIR folders: what is relevant is a whole document."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Query, Reference
from chunkwise.testsets.formats import WHOLE, detect
from chunkwise.testsets.formats.beir import BeirFormat
from chunkwise.testsets.testset import Unreadable
from testsets.formats.format_files import queries, read, write

CORPUS = '{"_id": "d1", "title": "T", "text": "Lit at dusk."}\n{"_id": 2, "text": "Paid."}\n'
QUERIES = (
    '{"_id": "q1", "text": "When?"}\r\n{"_id": "q2", "text": "What?"}\n{"_id": "q3", "text": "-"}\n'
)
HEADER = "query-id\tcorpus-id\tscore\n"


def beir(tmp_path: Path, **files: str) -> Path:
    given: Mapping[str, str] = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES} | {
        name.replace("__", "/").replace("_", "."): text for name, text in files.items()
    }
    for name, text in given.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if text:
            path.write_bytes(text.encode())
    return tmp_path


def test_relevant_documents_are_references_and_the_unjudged_are_left_out(tmp_path: Path) -> None:
    rows = HEADER + "q1\td1\t1\nq1\t2\t2\nq2\td1\t0\n"
    assert queries("beir", beir(tmp_path, qrels__test_tsv=rows)) == [
        Query("q1", "When?", (Reference("d1", 0, 12), Reference("2", 0, 5))),
        Query("q2", "What?"),
    ]


def test_one_file_of_qrels_is_no_split_several_are(tmp_path: Path) -> None:
    folder = beir(tmp_path, qrels__test_tsv=HEADER + "q1\td1\t1\n", qrels__dev_tsv="q2\td1\t1\n")
    assert [query.split for query in queries("beir", folder)] == ["test", "validation"]


def test_without_qrels_all_questions_are_read(tmp_path: Path) -> None:
    assert [query.id for query in queries("beir", beir(tmp_path))] == ["q1", "q2", "q3"]


def test_without_a_corpus_lengths_are_unknown(tmp_path: Path) -> None:
    folder = beir(tmp_path, corpus_jsonl="", qrels_tsv="q1\td1\t1\n")
    (tmp_path / "corpus.jsonl").unlink(missing_ok=True)
    assert queries("beir", folder)[0].references == (Reference("d1", 0, WHOLE),)
    with pytest.raises(ChunkwiseError, match=r"no corpus\.jsonl"):
        list(BeirFormat().documents(folder))


def test_bad_lines_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = beir(
        tmp_path,
        queries_jsonl='\ufeff{"_id": "q1", "text": "When?"}\n{"_id": "q2"}\n{broken\n[]\n{"text": "?"}\n',
        qrels__test_tsv=HEADER + "q1\td1\tone\nq1\td1\nq1\td1\t1\nq9\td1\t1\n",
    )
    drafts, bad = read("beir", folder)
    assert [draft.query.id for draft in drafts] == ["q1"]
    places = [each.where.removeprefix(f"{folder}/") for each in bad]
    assert places == [
        *("qrels/test.tsv, line 2", "qrels/test.tsv, line 3", "queries.jsonl, line 2"),
        *("queries.jsonl, line 3", "queries.jsonl, line 4", "queries.jsonl, line 5"),
        "qrels/test.tsv, line 5",
    ]
    assert "'q9'" in bad[-1].reason


def test_bad_documents_are_told(tmp_path: Path) -> None:
    lines = '{"_id": "d1", "text": 5}\n{"text": "x"}\n\xff\n{"_id": "d2", "text": "y"}\n'
    folder = beir(tmp_path)
    (folder / "corpus.jsonl").write_bytes(lines.encode("latin-1"))
    found = list(BeirFormat().documents(folder))
    assert [isinstance(each, Unreadable) for each in found] == [True, True, True, False]
    assert "not UTF-8" in found[2].reason if isinstance(found[2], Unreadable) else False


def test_a_folder_without_questions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=r"no queries\.jsonl"):
        read("beir", tmp_path)


def test_writing_says_what_is_lost(tmp_path: Path) -> None:
    asked = [
        Query("1", "?", (Reference("d", 0, 4),), split="validation"),
        Query("2", "?", (Reference("d", 0, 2),), answer="a", split="../../out"),
        Query("3", "What?"),
    ]
    lines = write("beir", tmp_path / "b", asked, [Document("d", "Text")])
    assert lines == [
        "BEIR can't represent answers: question '2'",
        "BEIR can't represent splits: question '2'",
        "BEIR can't represent references as they are: question '2'",
        "BEIR can't represent the questions themselves: question '3'",
    ]
    written = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert written == ["b/corpus.jsonl", "b/qrels/dev.tsv", "b/qrels/test.tsv", "b/queries.jsonl"]
    assert (tmp_path / "b/qrels/test.tsv").read_text() == HEADER + "2\td\t1\n"
    assert json.loads((tmp_path / "b/corpus.jsonl").read_text())["_id"] == "d"


def test_judgments_that_are_there_already_are_not_mixed_in(tmp_path: Path) -> None:
    beir(tmp_path, qrels__train_tsv=HEADER)
    with pytest.raises(ChunkwiseError, match=r"train\.tsv would become part"):
        write("beir", tmp_path, [Query("1", "?")], None)
    assert (tmp_path / "queries.jsonl").read_bytes() == QUERIES.encode()


def test_without_texts_there_is_no_corpus(tmp_path: Path) -> None:
    lines = write("beir", tmp_path / "b", [Query("1", "?", (Reference("d", 0, WHOLE),))], None)
    assert len(lines) == 1
    assert "no documents given, so no texts are written; give the documents" in lines[0]
    assert queries("beir", tmp_path / "b")[0].references == (Reference("d", 0, WHOLE),)


def test_questions_of_another_form_beside_a_corpus_are_not_beir(tmp_path: Path) -> None:
    assert BeirFormat().accepts(beir(tmp_path), b"")
    ours = '{"query_id": "1", "query": "When?", "relevant_text": "Lit at dusk."}\n'
    assert not BeirFormat().accepts(beir(tmp_path, queries_jsonl=ours), b"")
    for other in ("\n", "[]\n", "x\n"):  # reading says what is wrong with it
        assert BeirFormat().accepts(beir(tmp_path, queries_jsonl=other), b"")


def test_the_file_of_questions_stands_for_its_folder_where_it_has_judgments(
    tmp_path: Path,
) -> None:
    folder = beir(tmp_path, qrels__test_tsv=HEADER + "q1\td1\t1\n")
    file = folder / "queries.jsonl"
    assert detect(file).name == "beir"
    assert queries("beir", file) == queries("beir", folder)
    assert [each.id for each in BeirFormat().documents(file)] == ["d1", "2"]  # type: ignore[union-attr]
    file.write_text('{"id": "q1", "query": "When?", "relevant_text": "Lit at dusk."}\n')
    assert detect(file).name == "chunkwise"
    file.write_text(QUERIES)
    (folder / "qrels" / "test.tsv").unlink()
    assert detect(file).name == "chunkwise"

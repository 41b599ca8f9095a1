"""Questions and judgments of a test set beside its documents."""

import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents import read
from chunkwise.documents.walk import holds_judgments, holds_topics, may_be_of_testset
from chunkwise.options import LoadOptions

WORDS = ("anchor", "barrel", "causeway")
CORPUS = "".join(
    json.dumps({"_id": f"d{n}", "title": word, "text": f"The {word} opens at {n}."}) + "\n"
    for n, word in enumerate(WORDS)
)
QUERIES = "".join(
    json.dumps({"_id": f"q{n}", "text": f"When does the {word} open?"}) + "\n"
    for n, word in enumerate(WORDS)
)
QRELS = "query-id\tcorpus-id\tscore\n" + "".join(f"q{n}\td{n}\t1\n" for n in range(3))
BEIR = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def ids(source: object) -> list[str]:
    return [document.id for document in read(source, options=LoadOptions(on_unreadable="raise"))]  # type: ignore[arg-type]


@pytest.mark.parametrize("where", ["", "deep/scifact/"])
def test_a_beir_folder_gives_its_corpus_alone(tmp_path: Path, where: str) -> None:
    written(tmp_path, {f"{where}{name}": text for name, text in BEIR.items()})
    assert ids(tmp_path) == ["d0", "d1", "d2"]
    assert ids(f"{tmp_path}/**/*") == ["d0", "d1", "d2"]


def test_a_packed_beir_folder_does_too(tmp_path: Path) -> None:
    zipped, tarred = tmp_path / "scifact.zip", tmp_path / "scifact.tar.gz"
    with zipfile.ZipFile(zipped, "w") as archive:
        for name, text in BEIR.items():
            archive.writestr(f"scifact/{name}", text)
    with tarfile.open(tarred, "w:gz") as packed:
        for name, text in reversed(BEIR.items()):
            info = tarfile.TarInfo(f"scifact/{name}")
            info.size = len(text.encode())
            packed.addfile(info, io.BytesIO(text.encode()))
    assert ids(zipped) == ids(tarred) == ["d0", "d1", "d2"]


def test_queries_beside_nothing_of_a_test_set_are_a_corpus(tmp_path: Path) -> None:
    written(tmp_path, {"queries.jsonl": QUERIES, "notes.md": "# Notes\n"})
    assert ids(tmp_path) == ["notes.md", "q0", "q1", "q2"]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("queries.jsonl", QUERIES)
    assert ids(tmp_path / "a.zip") == ["q0", "q1", "q2"]


def test_a_folder_of_questions_alone_says_so(tmp_path: Path) -> None:
    written(tmp_path, {"queries.jsonl": QUERIES, "qrels/test.tsv": QRELS})
    with pytest.raises(UnreadableDocument, match="it contains only the questions of a test set"):
        ids(tmp_path)


@pytest.mark.parametrize(
    "topics", ["q1\tWhen is it open?\nq2\tWho has the key?\n", "<top>\n<num> 1\n<title> Open\n"]
)
def test_trec_judgments_and_topics_are_no_documents(tmp_path: Path, topics: str) -> None:
    files = {"qrels.txt": "q1 0 a.txt 1\nq2 0 b.txt 0\n", "topics.tsv": topics}
    written(tmp_path, {**files, "a.txt": "Open at nine.", "questions-we-hear.md": "# Who?\n"})
    assert ids(tmp_path) == ["a.txt", "questions-we-hear.md"]


def test_files_that_are_only_named_so_stay(tmp_path: Path) -> None:
    written(tmp_path, {"qrels-explained.md": "# Qrels\n", "topics.tsv": "a\tb\n1\t2\n"})
    assert ids(tmp_path) == ["qrels-explained.md", "topics.tsv"]


def test_a_squad_file_gives_its_articles(tmp_path: Path) -> None:
    asked = [{"id": "1", "question": "When?", "answers": [{"text": "nine", "answer_start": 8}]}]
    data = [
        {"title": "Gate", "paragraphs": [{"context": "Open at nine.", "qas": asked},
                                         {"context": "Shut at ten."}]},
        {"title": "Bad", "paragraphs": [{"qas": []}]},
    ]  # fmt: skip
    file = tmp_path / "squad.json"
    file.write_text(json.dumps({"version": "1.1", "data": data}))
    problems: list[UnreadableDocument] = []
    (document,) = read(file, options=LoadOptions(on_unreadable=problems.append))
    assert (document.id, document.title) == ("Gate", "Gate")
    assert document.text == "Open at nine.\n\nShut at ten."
    assert [document.text[b.start : b.end] for b in document.blocks or ()] == [
        "Open at nine.",
        "Shut at ten.",
    ]
    assert "article 2, paragraph 1" in str(problems[0])


def test_an_autorag_folder_gives_its_corpus(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    corpus = {"doc_id": ["a", "b"], "contents": ["Open at nine.", "Shut at ten."], "year": [1, 2]}
    pq.write_table(pa.table(corpus), tmp_path / "corpus.parquet")
    asked = {"qid": ["1"], "query": ["When?"], "retrieval_gt": [[["a"]]], "generation_gt": [["9"]]}
    pq.write_table(pa.table(asked), tmp_path / "qa.parquet")
    found = list(read(tmp_path, options=LoadOptions(on_unreadable="raise")))
    assert [(each.id, each.text, each.metadata) for each in found] == [
        ("a", "Open at nine.", {"year": 1}),
        ("b", "Shut at ten.", {"year": 2}),
    ]


def test_junk_is_neither_judgments_nor_topics() -> None:
    for junk in (b"", b"\0\0", b"\n\n", b"a", b"\xff\xfe\x00", b"q 0 d", b"\t\t\n"):
        assert not holds_judgments(junk)
        assert not holds_topics(junk)
    assert not may_be_of_testset("")
    assert not may_be_of_testset("/")


def test_a_folder_is_not_listed_for_each_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {f"question-{number}.md": "# Who?\n" for number in range(20)})
    listed: list[str] = []
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or [])
    assert len(ids(tmp_path)) == 20
    assert listed == []

"""Files in, chunks out, from Python."""

import json
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from weakref import ref

import numpy as np
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra, UnreadableDocument
from chunkwise.core import Document, Span
from chunkwise.documents.formats.json import JsonLinesLoader
from chunkwise.options import LoadOptions
from chunkwise.text.analyzed import Analyzed
from tables import cases


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b.md").write_text("# B\n\n## C\n\nText of c. More.\n")
    (tmp_path / "a.txt").write_text("\ufeffFirst line\r\nSecond line\r\n", newline="")
    return tmp_path


def test_paths_folders_and_globs(folder: Path) -> None:
    everything = [chunk.doc_id for chunk in chunkwise.chunk(folder)]
    assert everything == ["a.txt", "b.md"]
    assert [chunk.doc_id for chunk in chunkwise.chunk(str(folder / "*.md"))] == ["b.md"]
    assert [chunk.doc_id for chunk in chunkwise.chunk([folder / "b.md", folder / "a.txt"])] == [
        "b.md",
        "a.txt",
    ]


def test_text_is_kept_to_the_character(folder: Path) -> None:
    (chunk,) = chunkwise.chunk(folder / "a.txt", strategy="tokens")
    assert chunk.text == "\ufeffFirst line\r\nSecond line\r\n"


def test_what_cannot_be_read_is_told_raised_or_handed_over(folder: Path) -> None:
    (folder / "z.txt").write_bytes(b"")
    with pytest.warns(UserWarning, match=r"z\.txt: empty"):
        assert len(list(chunkwise.chunk(folder))) == 2
    with pytest.raises(UnreadableDocument, match=r"z\.txt: empty"):
        list(chunkwise.chunk(folder, options=LoadOptions(on_unreadable="raise")))
    skipped: list[UnreadableDocument] = []
    assert (
        len(list(chunkwise.chunk(folder, options=LoadOptions(on_unreadable=skipped.append)))) == 2
    )
    assert [problem.reason for problem in skipped] == ["empty"]


def test_a_wrong_parameter_is_an_error_before_any_file_is_read() -> None:
    with pytest.raises(InvalidParameter):
        chunkwise.chunk("nowhere", strategy="tokens(max_tokens=0)")


@cases("given", [5, b"a.txt", None])
def test_what_is_no_path_is_told_what_is_one(folder: Path, given: object) -> None:
    kind = type(given).__name__
    with pytest.raises(InvalidParameter, match=rf"source is {kind}; expected the path of a file"):
        chunkwise.chunk(given)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=f"one source is {kind}; expected the path"):
        list(chunkwise.chunk([folder, given]))  # type: ignore[list-item]


def test_what_is_no_document_is_told_who_takes_it() -> None:
    with pytest.raises(InvalidParameter, match="expected a Document"):
        chunkwise.ext.chunk_document("Text.")  # type: ignore[arg-type]


@pytest.mark.usefixtures("processes")
def test_chunks_travel_between_processes_with_their_section(folder: Path) -> None:
    one = list(chunkwise.chunk(folder))
    two = list(chunkwise.chunk(folder, jobs=2))
    assert one == two
    assert [chunk.section for chunk in two] == [chunk.section for chunk in one]
    assert two[1].section_path == "B > C"
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again[1].section == ("B", "C")


@pytest.mark.usefixtures("processes")
def test_records_of_two_files_with_one_id_are_both_kept(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text(json.dumps({"id": "same", "text": f"Text of {name}."}) + "\n")
    for jobs in (1, 2):
        chunks = list(chunkwise.chunk(tmp_path, jobs=jobs))
        assert [chunk.id for chunk in chunks] == ["same::0", "two.jsonl/same::0"]
        assert chunks[1].text == "Text of two.jsonl."


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ids_do_not_depend_on_how_a_path_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    for name in ("c/a.csv", "c/b/x.json", "d/a.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    for name in ("c/a.csv", "d/a.csv"):
        (tmp_path / name).write_text(f"id,text\n1,One of {name}\n")
    (tmp_path / "c/b/x.json").write_text(json.dumps([{"id": 1, "text": "One of b."}]))
    monkeypatch.chdir(tmp_path)
    # Processes are begun once: what they are told comes from where one process reads, too.
    alone = jobs == 1
    for given in ("c", "./c/", str(tmp_path / "c"), "c/../c", "c/**") if alone else ():
        documents = [document.id for document in chunkwise.read(given)]
        assert documents == [chunk.doc_id for chunk in chunkwise.chunk(given, jobs=jobs)]
        assert documents == ["1", "b/x.json/1"]
    monkeypatch.chdir(tmp_path / "c")
    assert [document.id for document in chunkwise.read(".")] == ["1", "b/x.json/1"]
    pairs: list[list[str | Path]] = [["../c", "../d"]]
    pairs.extend([[tmp_path / "c", tmp_path / "d"]] if alone else [])
    for both in pairs:
        documents = [document.id for document in chunkwise.read(both)]
        assert documents == [chunk.doc_id for chunk in chunkwise.chunk(both, jobs=jobs)]
        assert documents == ["1", "b/x.json/1", "d/a.csv/1"]


def test_a_stream_is_not_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(
        "".join(json.dumps({"id": n, "text": f"Text {n}."}) + "\n" for n in range(5000))
    )
    seen = 0

    def counting(lines: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal seen
        for line in lines:
            seen += 1
            yield line

    real = JsonLinesLoader.load

    def load(self: object, *arguments: object) -> Iterator[object]:
        return counting(real(self, *arguments))  # type: ignore[arg-type]

    monkeypatch.setattr(JsonLinesLoader, "load", load)
    chunks = chunkwise.chunk(file)
    for _ in range(10):
        next(chunks)
    assert seen <= 11


def test_parameters_can_be_keywords_and_functions() -> None:
    strategy = chunkwise.ext.get_strategy("sentences(overlap=0)", max_tokens=12, tokenizer=len)
    chunks = chunkwise.chunk_text("One two. Three four. Five.", strategy)
    assert [chunk.text for chunk in chunks] == ["One two.", "Three four.", "Five."]
    assert chunks[0].token_count == 8


def test_a_tokenizer_function_is_asked_whatever_its_name_and_answer() -> None:
    def characters(text: str) -> int:
        return (len(text) + 3) // 4

    text = "abcdefgh " * 20
    for count in (characters, lambda text: np.zeros((len(text) + 3) // 4)):
        strategy = chunkwise.ext.get_strategy("recursive", max_tokens=9, tokenizer=count)
        chunks = chunkwise.chunk_text(text, strategy)
        assert all(chunk.token_count == characters(chunk.text) <= 9 for chunk in chunks)
        assert max(len(chunk.text) for chunk in chunks) > 9


def test_chunks_do_not_keep_the_analysis_alive() -> None:
    analyzed = chunkwise.ext.Analyzed(chunkwise.Document("x", "# A\n\nText.\n", format="markdown"))
    chunks = list(chunkwise.ext.get_strategy("sections").chunks(analyzed))
    kept = ref(analyzed)
    del analyzed
    assert kept() is None
    assert chunks[0].section == ("A",)


def test_what_several_jobs_cannot_do_is_said() -> None:
    with pytest.raises(InvalidParameter, match="jobs is 0; the minimum is 1"):
        chunkwise.chunk("nowhere", jobs=0)
    strategy = chunkwise.ext.get_strategy("sentences", tokenizer=lambda text: len(text))
    with pytest.raises(InvalidParameter, match="can't be pickled for another process"):
        list(chunkwise.chunk([Document("a", "A."), Document("b", "B.")], strategy, jobs=2))
    error = MissingExtra("writing Parquet", "parquet")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_bytes_are_refused_with_the_reason() -> None:
    with pytest.raises(InvalidParameter, match="text is bytes; expected a str: decode it first"):
        chunkwise.chunk_text(b"bytes")  # type: ignore[arg-type]


def test_chunk_text_recognises_markdown_unless_told() -> None:
    text = "# Title\n\nText.\n\n## Sub\n\nMore text."
    assert chunkwise.chunk_text(text, strategy="sections")[1].section == ("Title", "Sub")
    assert chunkwise.chunk_text(text, strategy="sections", format="text")[0].section == ()


def test_names_other_splitters_use() -> None:
    (chunk,) = chunkwise.chunk_text(
        "Some text.", strategy="recursive(chunk_size=100, chunk_overlap=10)"
    )
    assert (chunk.start_index, chunk.end_index) == (0, 10)
    assert chunk.id == "text::0"


def test_the_public_names_exist() -> None:
    for name in chunkwise.__all__:
        assert getattr(chunkwise, name) is not None
    assert set(chunkwise.__all__) <= set(dir(chunkwise))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = chunkwise.nothing


@dataclass(frozen=True)
class Dying:
    """Ends its process at one document, as lack of memory does; here, since a process imports it by its name."""

    def split(self, document: Analyzed) -> list[Span]:
        if "die" in document.text:
            os._exit(1)
        return [Span(0, len(document.text))]


@pytest.mark.usefixtures("processes")
def test_a_worker_that_dies_costs_one_file_and_the_rest_goes_on(tmp_path: Path) -> None:
    for number in range(12):
        text = "To die." if number in (3, 7) else "To live."
        (tmp_path / f"{number:02}.txt").write_text(text)
    told: list[UnreadableDocument] = []
    chunks = list(
        chunkwise.chunk(tmp_path, Dying(), jobs=2, options=LoadOptions(on_unreadable=told.append))
    )
    assert len(chunks) == 10
    why = "a worker process died (status 1) during chunking, perhaps for lack of memory"
    assert [str(each) for each in told] == [
        f"{tmp_path}/{name}.txt: {why}" for name in ("03", "07")
    ]


@pytest.mark.usefixtures("processes")
def test_one_job_outlives_the_strategy_of_a_file(tmp_path: Path) -> None:
    code = "import os\nclass Dying:\n    def split(self, document):\n        os._exit(1)\n"
    (tmp_path / "mine.py").write_text(code)
    told: list[UnreadableDocument] = []
    options = LoadOptions(on_unreadable=told.append)
    documents = [Document("a", "Heron.", source="a"), Document("b", "Otter.", source="b")]
    assert not list(chunkwise.chunk(documents, f"{tmp_path}/mine.py:Dying", options=options))
    assert [each.source for each in told] == ["a", "b"]


@pytest.mark.usefixtures("processes")
def test_metadata_that_cannot_be_sent_to_another_process_are_told() -> None:
    documents = [Document(f"{n}", "A heron.", metadata={"lock": Lock()}) for n in range(9)]
    with pytest.raises(ChunkwiseError, match=r"can't be pickled for another process.*metadata"):
        list(chunkwise.chunk(documents, jobs=2))

"""Which format a file is of, by its name and how it begins."""

import json
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Query, Reference
from chunkwise.testsets.formats import FORMATS, CarriesDocuments, detect
from tables import cases
from testsets.formats.format_files import write

OTHERS = [name for name in FORMATS if name != "chunkwise"]
FILES = {"chroma": "q.csv", "ragas": "q.jsonl"}
DOCUMENT = Document("leave.md", 'Ask in "writing".\nIt is paid.')
ASKED = [Query("1", "Is it paid?", (Reference("leave.md", 18, 29),), answer="It is paid.")]


@pytest.mark.parametrize("name", OTHERS)
def test_each_knows_what_it_wrote_and_no_other_claims_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / FILES.get(name, "written")
    write(name, path, ASKED, [DOCUMENT])
    head = b"" if path.is_dir() else path.read_bytes()
    claimed = [other for other in OTHERS if FORMATS[other].accepts(path, head)]
    assert claimed == [name]
    assert detect(path).name == detect(str(path)).name == name


def test_words_of_other_formats_inside_texts_mean_nothing(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    quoted = 'He wrote "data": [{"paragraphs": 1}], "user_input": 2, "tests", "snippets": 3'
    path.write_text(json.dumps([{"query": quoted, "relevant_text": quoted}]))
    assert not any(FORMATS[name].accepts(path, path.read_bytes()) for name in OTHERS)


@cases(
    "text",
    [
        "What happened in 1984\nWho was there in 3\n",
        "",
        "\n\n",
        "a 0 b 1\nno judgment\n",
        "[",
        "{",
    ],
)
def test_plain_texts_are_of_no_foreign_format(text: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text(text)
    assert not any(FORMATS[name].accepts(path, path.read_bytes()) for name in OTHERS)


def test_an_unknown_folder_is_refused_with_the_names(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=r"unknown format \(.*beir.*squad") as error:
        detect(tmp_path)
    # Not every command has --from.
    assert "chunkwise testset convert FILE --from FORMAT" in str(error.value)


@cases(
    "rows, name",
    [
        ([{"question": "a?", "ground_truth": "b", "relevant_text": "c"}], "chunkwise"),
        ([{"user_input": "a?", "relevant_text": "c"}], "chunkwise"),
        ([{"user_input": "a?", "reference": "b", "labels": []}], "chunkwise"),
        ({"results": [{"query": "a?", "relevant_text": "c", "gt_answer": "b"}]}, "chunkwise"),
        ({"tests": [{"query": "a?", "snippets": [], "facts": ["b"]}]}, "chunkwise"),
        ([{"query": "a?", "note": {"question": "x", "ground_truth": "y"}}], "chunkwise"),
        ([{"query": "a?", "note": {"user_input": "x"}}], "chunkwise"),
        ([{"query": "a?", "data": 1, "note": {"paragraphs": 2}}], "chunkwise"),
        ({"queries": [{"query": "a?", "results": 1, "gt_answer": 2}]}, "chunkwise"),
        ([{"question": "a?", "ground_truth": "b", "contexts": ["c"]}], "ragas"),
        ({"samples": [{"user_input": "a?"}]}, "ragas"),
        ({"results": [{"query": "a?", "gt_answer": "b", "response": ""}]}, "ragchecker"),
        ({"tests": [{"query": "a?", "snippets": [], "tags": []}]}, "legalbench"),
        ({"version": "2", "data": [{"title": "a", "paragraphs": []}]}, "squad"),
    ],
)
def test_a_format_is_told_by_the_fields_of_its_records(
    rows: object, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps(rows))
    assert detect(path).name == name
    path.write_text(json.dumps(rows, indent=2))
    assert detect(path).name == name


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark_is_told(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_bytes('[{"query": "a?"}]'.encode(encoding))
    with pytest.raises(ChunkwiseError, match=rf"{encoding.upper()} without a byte order mark"):
        detect(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=r"cannot read .*gone\.json"):
        detect(tmp_path / "gone.json")
    with pytest.raises(ChunkwiseError, match="cannot read"):
        detect("a\0b")


def test_what_carries_documents_says_so() -> None:
    carry = [name for name in OTHERS if isinstance(FORMATS[name], CarriesDocuments)]
    assert carry == ["beir", "autorag", "squad"]

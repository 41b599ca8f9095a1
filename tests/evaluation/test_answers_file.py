import json
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Query
from chunkwise.evaluation.run_file import read_answers
from chunkwise.metrics.answers.citations import citation_support
from chunkwise.metrics.evidence import Answer, AnswerCitation

LAMP = Document("kb/lamp.md", "The lamp is lit at dusk. Write to us.")
QUERIES = [Query("q1", "When is the lamp lit?"), Query("q2", "Whom does one write to?")]


def read(folder: Path, *rows: object, bad: list[str] | None = None) -> dict[str, Answer]:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def on_bad(line: str) -> None:
        assert bad is not None, line
        bad.append(line.removeprefix(f"{path}, "))

    return read_answers(str(path), QUERIES, [LAMP], on_bad)


def test_answers_with_their_citations(tmp_path: Path) -> None:
    bad: list[str] = []
    found = read(
        tmp_path,
        {"query_id": "q1", "answer": "The lamp is lit at dusk.", "citations": [
            {"claim": "lit at dusk", "doc_id": "lamp.md", "start": 0, "end": 24},
            {"cited_text": "lit at dusk", "document_title": "lamp", "start_char_index": 12, "end_char_index": 23},
            "gone.md",
        ]},
        {"question": "Whom does one write to?", "response": "Us."},
        bad=bad,
    )  # fmt: skip
    assert len(bad) == 1
    assert "unknown document 'gone.md'" in bad[0]
    assert found["q1"].citations == (
        AnswerCitation("lit at dusk", LAMP.id, 0, 24), AnswerCitation("", LAMP.id, 12, 23, "lit at dusk"),
        AnswerCitation("", "gone.md"),
    )  # fmt: skip
    assert found["q2"] == Answer("Us.")
    score = citation_support(QUERIES, found, {LAMP.id: LAMP.text})[0]
    assert score.value == pytest.approx(1 / 3)


def test_what_cannot_be_used_is_one_line_and_an_empty_answer_is_an_answer(tmp_path: Path) -> None:
    bad: list[str] = []
    found = read(
        tmp_path,
        {"query_id": "q1", "answer": ""},
        {"query_id": "q1", "answer": "Again."},
        {"query_id": "q9", "answer": "Nobody asked."},
        {"query_id": "q2"},
        {"query_id": "q2", "answer": "Us.", "citations": "lamp.md"},
        bad=bad,
    )
    assert found == {"q1": Answer(""), "q2": Answer("Us.")}
    assert [line.split(":")[0] for line in bad] == [f"line {n}" for n in (2, 3, 4, 5)]


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="no answers in"):
        read(tmp_path)

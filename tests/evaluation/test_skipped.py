"""What an evaluation could not use, what it mended, and hits that stand nowhere."""

import json
import warnings
from pathlib import Path
from typing import Literal

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document, Query, Reference
from chunkwise.documents.document_hash import documents_hash
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import Results
from chunkwise.evaluation.scoring import Listeners
from chunkwise.evaluation.sources import Skipped
from chunkwise.options import IndexOptions, ScoreOptions
from chunkwise.testsets.check import Problem
from tables import cases

LEAVE = Document(
    "leave.md", "Ask in writing. The head approves it. No note is needed for three days."
)
HOURS = Document("hours.md", "The day shift begins at five. The night shift ends at nine.")
DOCUMENTS = [LEAVE, HOURS]


def place(document: Document, text: str) -> Reference:
    start = document.text.index(text)
    return Reference(document.id, start, start + len(text))


QUERIES = [
    Query("who", "Who approves leave?", (place(LEAVE, "The head approves it."),)),
    Query("when", "When does the day shift begin?", (place(HOURS, "begins at five"),)),
]


def of_hits(path: Path, *hits: dict[str, object], **more: object) -> tuple[Results, list[str]]:
    path.write_text("".join(json.dumps(hit) + "\n" for hit in hits))
    bad: list[str] = []
    settings: dict[str, object] = {"metrics": "recall,precision,mrr,hit,context_precision"}
    results = evaluate(
        DOCUMENTS, QUERIES, hits=path, **settings | more, listeners=Listeners(on_bad=bad.append)
    )  # type: ignore[arg-type]
    return results, bad


def test_of_many_rows_the_first_are_told_and_the_others_counted(tmp_path: Path) -> None:
    strange = [{"query_id": "who", "doc_id": f"unknown-{n}.md", "rank": n + 1} for n in range(1200)]
    results, bad = of_hits(tmp_path / "hits.jsonl", *strange)
    rows = results.data["left_out_rows"]
    assert isinstance(rows, list)
    assert len(rows) == 1200
    assert bad[:-1] == rows[:10]
    assert bad[-1] == (
        f"{tmp_path / 'hits.jsonl'}: and 1,190 more rows, listed in the results (left_out_rows)"
    )
    _, bad = of_hits(tmp_path / "hits.jsonl", *strange[:10])
    assert len(bad) == 10


RIGHT: dict[str, object] = {
    "query_id": "who",
    "doc_id": "leave.md",
    "text": "The head approves it.",
}
LOST: dict[str, object] = {"query_id": "who", "text": "The head approves nothing of this."}


def test_what_cannot_be_found_takes_a_rank(tmp_path: Path) -> None:
    below, bad = of_hits(tmp_path / "hits.jsonl", LOST, RIGHT)
    scores = below.questions[0].scores
    assert scores["mrr@5"] == 0.5
    assert scores["recall@5"] == 1.0
    assert scores["hit@5"] == 1.0
    right, lost = len(str(RIGHT["text"])), len(str(LOST["text"]))
    assert scores["precision@5"] == pytest.approx(right / (right + lost))
    assert [hit.relevant["spans"] for hit in below.questions[0].hits] == [False, True]
    assert bad == below.data["left_out_rows"]
    assert len(bad) == 1
    first, _ = of_hits(tmp_path / "hits.jsonl", LOST, RIGHT, k=1)
    assert first.questions[0].scores["recall@1"] == 0.0
    alone, _ = of_hits(tmp_path / "hits.jsonl", RIGHT, k=1)
    assert alone.questions[0].scores["recall@1"] == 1.0


@cases("unit", ["characters", "tokens"])
@cases("budget", [None, 6])
def test_every_metric_takes_such_hits(
    tmp_path: Path, unit: Literal["characters", "tokens"], budget: int | None
) -> None:
    nothing = {"query_id": "when", "doc_id": "gone.md"}
    rows = (LOST, nothing, RIGHT)
    results, bad = of_hits(tmp_path / "hits.jsonl", *rows, score=ScoreOptions(unit=unit), budget=budget,
                           metrics="retrieval,completeness,boundary_issues,chroma")  # fmt: skip
    assert len(bad) == 2
    assert results.data["documents"] == {
        "count": 2,
        "characters": len(LEAVE.text) + len(HOURS.text),
        "hash": documents_hash(DOCUMENTS),
    }
    if budget is None:
        assert results.cuts is not None
        assert results.cuts.chunks == 1  # where the others were cut is not known
    scores = results.questions[1].scores
    assert scores.get("failure@20", 1.0) == 1.0
    assert all(scores[name] in (0.0, None) for name in scores if name != "failure@20")
    assert results.questions[1].missed[0].passage.doc_id == "hours.md"


def asked(path: Path, *rows: dict[str, object]) -> tuple[Results, list[str], list[str]]:
    path.write_text(json.dumps(rows))
    bad: list[str] = []
    mended: list[str] = []
    results = evaluate(
        DOCUMENTS,
        path,
        metrics="recall",
        retriever="bm25",
        listeners=Listeners(on_note=mended.append, on_bad=bad.append),
        index=IndexOptions(vectors="none"),
    )
    return results, bad, [line.removeprefix("repaired ") for line in mended]


def span(document: Document, text: str, moved: int) -> dict[str, object]:
    start = document.text.index(text) + moved
    return {"doc_id": document.id, "start": start, "end": start + len(text), "text": text}


GOOD: dict[str, object] = {
    "id": "good", "query": "Who?", "references": [span(LEAVE, "The head approves it.", 0)],
}  # fmt: skip
MOVED: dict[str, object] = {
    "id": "moved", "query": "When?", "references": [span(HOURS, "begins at five", 4)],
}  # fmt: skip
GONE: dict[str, object] = {
    "id": "gone", "query": "Where?", "references": [span(HOURS, "begins at five", 4)],
    "relevant_text": "The night shift ends at seven and not before.",
}  # fmt: skip


def test_a_mended_question_is_used_and_told_as_mended(tmp_path: Path) -> None:
    results, bad, mended = asked(tmp_path / "asked.json", GOOD, MOVED)
    assert [question.id for question in results.questions] == ["good", "moved"]
    assert bad == []
    assert len(mended) == 1
    assert "entry 2" in mended[0]
    assert "it is at 14–28 of 'hours.md'" in mended[0]
    assert "nearest" not in mended[0]
    assert results.data["mended_questions"] == mended
    assert results.data["left_out_questions"] == []


def test_of_a_dropped_question_nothing_is_mended(tmp_path: Path) -> None:
    results, bad, mended = asked(tmp_path / "asked.json", GOOD, GONE)
    assert [question.id for question in results.questions] == ["good"]
    assert mended == results.data["mended_questions"] == []
    assert len(bad) == 1
    assert "; nearest is hours.md " in bad[0]
    assert results.data["left_out_questions"] == bad


def test_mending_is_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "asked.json"
    path.write_text(json.dumps([GOOD, MOVED]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(
            DOCUMENTS, path, metrics="recall", retriever="bm25", index=IndexOptions(vectors="none")
        )


@cases("seed", [-1, 1.5, True, "0"])
def test_a_seed_is_a_whole_number_and_looked_at_before_the_work(seed: object) -> None:
    with pytest.raises(InvalidParameter, match="seed is"):
        evaluate("there/is/no/such/folder", "nor.json", score=ScoreOptions(seed=seed))  # type: ignore[arg-type]


def test_a_question_that_loses_an_alternative_alone_is_kept_and_says_so() -> None:
    lines: list[str] = []
    left_out = Skipped(lines.append)
    left_out.question_problems([
        Problem("not_found", "q.json, line 1", "1", "alternative 1 is nowhere"),
        Problem("not_found", "q.json, line 2", "2", "passage 1 is nowhere", dropped=True),
    ])  # fmt: skip
    assert lines == [
        "q.json, line 1: alternative 1 is nowhere (question kept)",
        "q.json, line 2: passage 1 is nowhere",
    ]


def test_fields_that_nobody_reads_are_told_once_and_are_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "asked.json"
    cited = {"citations": [{"doc_id": "leave.md", "start_index": 0}], "level": 3}
    path.write_text(json.dumps([GOOD | cited, {"id": "other", "query": "When?", **cited}]))
    remarks: list[str] = []
    bad: list[str] = []
    results = evaluate(
        DOCUMENTS,
        path,
        metrics="recall",
        retriever="bm25",
        listeners=Listeners(on_note=remarks.append, on_bad=bad.append),
        index=IndexOptions(vectors="none"),
    )
    told = f"{path}: unknown fields: 'citations' (2 questions), 'level' (2 questions)"
    assert remarks == results.data["unread_fields"] == [told]
    assert bad == []
    assert results.summary["recall@5"].of_how_many == "1 of 2 questions"


def test_questions_left_out_are_counted_not_lines(tmp_path: Path) -> None:
    twice = GONE | {"relevant_text": ["This stands nowhere at all.", "Nor does this stand there."]}
    results, bad, _ = asked(tmp_path / "asked.json", GOOD, twice)
    assert len(bad) == 1
    assert results.data["questions"]["left_out"] == 1  # type: ignore[index,call-overload]


def test_many_questions_are_one_line_that_names_the_file_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    path = tmp_path / "asked.json"
    gone = [GONE | {"id": f"gone-{number}"} for number in range(30)]
    results, bad, _ = asked(path, GOOD, *gone)
    (line,) = bad
    (details,) = (tmp_path / "home" / "skipped").iterdir()
    assert line.startswith(f"30 questions, listed in {details}; the first: {path}, entry 2: ")
    assert details.read_text(encoding="utf-8").splitlines() == results.data["left_out_questions"]
    assert results.data["questions"]["left_out"] == 30  # type: ignore[index,call-overload]

"""A test set named as the source: its documents are read, and its questions never are."""

import json
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.tuning.plan.prepare import sweep_from_source
from cli.in_process import Run, here
from documents.test_testset_files import BEIR, CORPUS, QUERIES, written
from tables import cases

__all__ = ["here"]  # a fixture

FAST = ("--retriever", "bm25", "--metrics", "mrr", "--json")
SQUAD = {
    "data": [
        {"title": word, "paragraphs": [{"context": f"The {word} opens at nine.", "qas": [
            {"id": word, "question": f"When does the {word} open?",
             "answers": [{"text": "nine", "answer_start": len(f"The {word} opens at ")}]}]}]}
        for word in ("anchor", "barrel", "causeway")
    ]
}  # fmt: skip


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    return written(tmp_path / "bc" / "beir", BEIR)


def figures(text: str) -> tuple[int, int, float]:
    """Documents, questions, mrr@5."""
    found = json.loads(text)
    mrr = found["summary"]["mrr@5"]["mean"]
    data = found["data"]
    return data["documents"]["count"], data["questions"]["count"], mrr


@cases(
    "words", [("bc/beir", "--test-queries", "bc/beir"), ("bc/beir",), ("--test-queries", "bc/beir")]
)
def test_a_beir_folder_is_evaluated_on_its_corpus(
    beir: Path, here: Run, words: tuple[str, ...]
) -> None:
    done = here("evaluate", *words, *FAST)
    assert done.returncode == 0, done.stderr
    assert figures(done.stdout) == (3, 3, 1.0)


@pytest.mark.parametrize("words", [("squad.json",), ("squad.json", "--queries", "squad.json")])
def test_a_squad_file_is_evaluated_on_its_articles(
    tmp_path: Path, here: Run, words: tuple[str, ...]
) -> None:
    (tmp_path / "squad.json").write_text(json.dumps(SQUAD))
    done = here("evaluate", *words, *FAST)
    assert done.returncode == 0, done.stderr
    assert figures(done.stdout) == (3, 3, 1.0)


def test_a_squad_file_in_the_folder_of_the_texts_is_the_questions_alone(
    tmp_path: Path, here: Run
) -> None:
    files = {
        "texts/gates.txt": "The anchor opens at nine. The barrel opens at nine. The causeway opens at nine."
    }
    written(tmp_path, {**files, "texts/squad.json": json.dumps(SQUAD)})
    done = here("evaluate", "texts", "--test-queries", "texts/squad.json", *FAST)
    assert json.loads(done.stdout)["data"]["documents"]["count"] == 1


def test_the_questions_in_the_folder_are_left_out_in_silence(tmp_path: Path, here: Run) -> None:
    asked = [{"query": "When does the anchor open?", "relevant_text": "The anchor opens at nine."}]
    written(tmp_path, {"t/a.txt": "The anchor opens at nine.", "t/q.json": json.dumps(asked)})
    done = here("evaluate", "t", "--test-queries", "t/q.json", *FAST)
    assert (done.returncode, done.stderr) == (0, "")
    assert figures(done.stdout)[:2] == (1, 1)


def test_questions_as_the_source_are_one_clear_line(beir: Path, here: Run) -> None:
    done = here("evaluate", "bc/beir/queries.jsonl", "--test-queries", "bc/beir", *FAST)
    assert done.returncode == 1
    assert "skipped 3 questions" in done.stderr


def test_an_autorag_folder_is_evaluated(tmp_path: Path, beir: Path, here: Run) -> None:
    pytest.importorskip("pyarrow")
    made = here(
        "testset", "convert", "bc/beir", "--to", "autorag", "--documents", "bc/beir", "-o", "ar"
    )
    assert made.returncode == 0, made.stderr
    done = here("evaluate", "ar", *FAST)
    assert done.returncode == 0, done.stderr
    assert figures(done.stdout) == (3, 3, 1.0)


def test_index_and_tune_take_the_corpus_alone(beir: Path, here: Run) -> None:
    done = here("index", "bc/beir", "--into", "kb", "--vectors", "none", "--json")
    assert (done.returncode, json.loads(done.stdout)["documents"]) == (0, 3)
    done = here("evaluate", "kb", "--test-queries", "bc/beir", *FAST)
    assert figures(done.stdout) == (3, 3, 1.0)
    found = sweep_from_source(str(beir))
    assert found.sweep.test_queries == str(beir)
    tuned = here("tune", "bc/beir", "--embedder", "none", "--dry-run")
    assert tuned.returncode == 0, tuned.stderr
    assert "3 documents" in tuned.stdout + tuned.stderr


def test_in_python_a_test_set_brings_its_questions(tmp_path: Path, beir: Path) -> None:
    for source in (beir, [str(beir)], iter([beir])):
        results = chunkwise.evaluate(source, retriever="bm25", metrics="mrr")
        assert results.summary["mrr@5"].mean == 1.0
    written(tmp_path, {"plain/corpus.jsonl": CORPUS, "q/queries.jsonl": QUERIES})
    with pytest.raises(InvalidParameter, match="queries=…, or --queries FILE on the command line"):
        chunkwise.evaluate(tmp_path / "plain", retriever="bm25")

"""The same thing ends every command with the same status."""

import json
from pathlib import Path

import pytest

from chunkwise.cli.exit_status import status_of
from cli.in_process import Run, here
from cli.small_corpus import write_corpus, write_questions
from tables import cases

__all__ = ["here"]

DOCS = Path(__file__).parents[2] / "docs"
ASKED = ("--test-queries", "queries.json")
READING = {
    "chunk": ("chunk", "DOCS"),
    "profile": ("profile", "DOCS"),
    "lint": ("lint", "DOCS"),
    "index": ("index", "DOCS", "--into", "kb", "--vectors", "none"),
    "evaluate": ("evaluate", "DOCS", *ASKED, "--retriever", "bm25"),
    "tune": ("tune", "DOCS", *ASKED, "--embedder", "none", "-o", "out"),
    "ask": ("ask", "DOCS", "who?", "--llm", "https://127.0.0.1:1/v1#m"),
    "testset check": ("testset", "check", "queries.json", "DOCS"),
    "testset convert": ("testset", "convert", "queries.json", "--to", "chunkwise", "--documents", "DOCS", "-o", "c"),
    "testset generate": ("testset", "generate", "DOCS", "-o", "made.json", "--llm", "https://127.0.0.1:1/v1#m"),
    "testset calibrate": ("testset", "calibrate", "DOCS", *ASKED, "--judge", "similarity"),
    "monitor ab": ("monitor", "ab", "DOCS", "--a", "r.toml", "--b", "r.toml", "--queries", "queries.json"),
}  # fmt: skip
MODELS = {
    "index": ("index", "docs", "--into", "kb", "--embedder", "MODEL"),
    "evaluate": ("evaluate", "docs", *ASKED, "--embedder", "MODEL"),
    "evaluate by a reranker": ("evaluate", "docs", *ASKED, "--retriever", "bm25", "--reranker", "MODEL"),
    "evaluate by a judge": ("evaluate", "docs", *ASKED, "--retriever", "bm25", "--judge", "llm", "--llm", "MODEL"),
    "tune": ("tune", "docs", *ASKED, "--embedder", "MODEL", "-o", "out"),
    "ask": ("ask", "docs", "who?", "--llm", "MODEL"),
    "demo": ("demo", "--embedder", "MODEL"),
    "testset generate": ("testset", "generate", "docs", "-o", "made.json", "--llm", "MODEL"),
    "testset calibrate": ("testset", "calibrate", "docs", *ASKED, "--judge", "llm", "--llm", "MODEL"),
    "testset import-queries": ("testset", "import-queries", "log.txt", "--into", "live.json", "--embedder", "MODEL"),
    "models get": ("models", "get", "MODEL"),
}  # fmt: skip
ASKING = {
    "evaluate": ("evaluate", "docs", "--test-queries", "FILE", "--retriever", "bm25"),
    "tune": ("tune", "docs", "--test-queries", "FILE", "--embedder", "none", "-o", "out"),
    "testset check": ("testset", "check", "FILE", "docs"),
    "testset convert": ("testset", "convert", "FILE", "--to", "chunkwise", "-o", "c.json"),
    "testset review": ("testset", "review", "FILE"),
    "testset calibrate": ("testset", "calibrate", "docs", "--test-queries", "FILE", "--judge", "similarity"),
    "testset import-queries": ("testset", "import-queries", "FILE", "--into", "live.json"),
    "monitor ab": ("monitor", "ab", "docs", "--a", "r.toml", "--b", "r.toml", "--queries", "FILE"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path) -> None:
    write_corpus(tmp_path / "docs", passages=2)
    write_questions(tmp_path / "queries.json", count=6, passages=2)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "a.docx").write_bytes(b"PK\x03\x04 broken")
    (tmp_path / "none.json").write_text("[]")
    (tmp_path / "log.txt").write_text("who approves leave?\n")
    (tmp_path / "r.toml").write_text(
        'strategy = "structure"\nretriever = "bm25"\nvectors = "none"\n'
    )


def with_(words: tuple[str, ...], **named: str) -> list[str]:
    return [named.get(word, word) for word in words]


@cases("command", READING)
def test_no_document_at_all_is_an_error(here: Run, command: str) -> None:
    for folder in ("empty", "broken", "nowhere"):
        done = here(*with_(READING[command], DOCS=folder))
        assert done.returncode == 1, (folder, done.stderr)
        assert folder in done.stderr


@cases("command", MODELS)
def test_a_model_that_is_none_is_a_wrong_value(here: Run, command: str) -> None:
    names = ["nobody"]
    if command != "models get":
        names += ["gone.gguf" if "--llm" in MODELS[command] else "gone.onnx"]
    for name in names:
        done = here(*with_(MODELS[command], MODEL=name))
        assert done.returncode == 2, (name, done.stderr)
        assert name in done.stderr


@cases("command", ASKING)
def test_no_question_at_all_is_an_error(here: Run, command: str) -> None:
    for file in ("none.json", "gone.json"):
        done = here(*with_(ASKING[command], FILE=file))
        assert done.returncode == 1, (file, done.stderr)


PARTLY = [
    name
    for name in READING
    if name not in ("ask", "testset generate", "testset calibrate", "monitor ab")
]


@pytest.mark.usefixtures("large_inputs")
@cases("command", PARTLY)
def test_what_is_done_in_part_is_told_apart(here: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "docs" / "broken.docx").write_bytes(b"PK\x03\x04 broken")
    done = here(
        *with_(READING[command], DOCS="docs"), *(("-q",) if command != "testset check" else ())
    )
    assert done.returncode == 3, done.stderr
    assert "broken.docx" in done.stderr


def test_a_limit_that_does_not_hold_comes_before_what_was_skipped(
    here: Run, tmp_path: Path
) -> None:
    (tmp_path / "docs" / "broken.docx").write_bytes(b"PK\x03\x04 broken")
    limits = ("--fail-under", "recall@5=1", "--fail-over", "recall@5=0")
    assert here(*with_(READING["evaluate"], DOCS="docs"), *limits, "-q").returncode == 4
    assert (
        here("lint", "docs", "-s", "tokens(max_tokens=5)", "--fail-over", "0", "-q").returncode == 4
    )


def test_files_of_results_that_are_all_none_are_an_error(here: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"a": 1}))
    none = here("runs", "import", "x.json", "gone.json")
    assert none.returncode == 1
    made = here("evaluate", "docs", *ASKED, "--retriever", "bm25", "-qo", "results.json")
    assert made.returncode == 0, made.stderr
    assert here("runs", "import", "x.json", "results.json").returncode == 3
    assert here("runs", "import", "results.json").returncode == 0


def test_where_several_are_true_the_first_of_the_page_counts() -> None:
    page = (DOCS / "reference" / "exit-statuses.md").read_text(encoding="utf-8")
    order = [
        int(each)
        for each in page.partition("the order of precedence is ")[2].partition(".")[0].split(", ")
    ]
    names = {1: "failed", 2: "wrong_usage", 3: "skipped", 4: "not_reached", 5: "not_comparable"}
    assert sorted(order) == sorted(names)
    while order:
        assert status_of(**{names[each]: True for each in order}) == order.pop(0)
    assert status_of() == 0

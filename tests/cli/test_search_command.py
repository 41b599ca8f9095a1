"""`chunkwise search` as a user runs it, on an index with the real model."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from in_process import Run, here

import chunkwise
from chunkwise.text.tokenizers import get_tokenizer

__all__ = ["here"]  # a fixture

CORPUS = Path(chunkwise.__path__[0]) / "corpus"
NAMES = ("glossary.md", "tide-clock-changelog.md", "verses-of-the-causeway.txt")


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of three short documents."""
    folder = tmp_path_factory.mktemp("index") / "kb"
    paths = [str(CORPUS / name) for name in NAMES]
    words = [sys.executable, "-m", "chunkwise", "index", *paths, "--into", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "3 documents (3 added)" in done.stderr
    assert "try: chunkwise search" in done.stderr
    assert done.stdout == ""
    return folder


def rows(done: "CompletedProcess[str]") -> list[dict[str, object]]:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_one_question_in_the_terminal(run: Run, kb: Path) -> None:
    done = run("search", kb, "which versions of the tide clock are supported?", "-k", "2")
    assert done.returncode == 0
    assert done.stderr == ""
    assert " 1  ████████ " in done.stdout
    assert "Supported versions" in done.stdout
    assert "tide-clock-changelog.md · " in done.stdout
    assert "2 hits · " in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_json_lines_are_exact_places(run: Run, kb: Path) -> None:
    found = rows(run("search", kb, "what", "is", "datum", "--json", "-k", "4"))
    assert [row["rank"] for row in found] == [1, 2, 3, 4]
    assert {row["query"] for row in found} == {"what is datum"}
    count = get_tokenizer("o200k_base").count
    for row in found:
        text = (CORPUS / str(row["doc_id"])).read_text()
        assert row["text"] == text[int(str(row["start"])) : int(str(row["end"]))]
        assert row["tokens"] == count(str(row["text"]))
    assert found == rows(run("search", kb, "what is datum", "--json", "-k", "4"))


def test_a_budget_is_filled_with_sentences_and_never_passed(here: Run, kb: Path) -> None:
    for words in ([], ["--retriever", "hybrid"], ["--retriever", "bm25", "--neighbours", "1"]):
        found = rows(
            here("search", kb, "chart datum and tide", "--budget", "250", "--json", *words)
        )
        tokens = sum(int(str(row["tokens"])) for row in found)
        assert 150 < tokens <= 250
        places = sorted((str(r["doc_id"]), int(str(r["start"])), int(str(r["end"]))) for r in found)
        for one, other in pairwise(places):
            assert one[0] != other[0] or one[2] <= other[1]


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid", "multiscale"])
def test_every_retriever_and_the_filters(here: Run, kb: Path, retriever: str) -> None:
    words = ["--retriever", retriever, "--json", "-k", "3"]
    found = rows(here("search", kb, "chart datum: the zero below mean sea level", *words))
    assert found[0]["doc_id"] == "glossary.md"
    assert len(found) <= 3
    only = rows(here("search", kb, "tide clock", *words, "--only-document", "verses*"))
    assert {row["doc_id"] for row in only} <= {"verses-of-the-causeway.txt"}
    inside = rows(here("search", kb, "security fixes", *words, "--section", "supported versions"))
    assert inside
    assert all("Supported versions" in str(row["section"]) for row in inside)
    assert rows(here("search", kb, "tide", *words, "--pages", "1-3")) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.jsonl", '{"query_id": "a", "question": "datum"}\n\n{"_id": 7, "text": "causeway"}\n'),
        ("q.json", '[{"id": "a", "query": "datum"}, {"id": 7, "Question": "causeway"}]'),
        ("q.txt", "datum\ncauseway\n"),
    ],
)
def test_many_questions_from_a_file_or_a_pipe(
    here: Run, kb: Path, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    words = ["search", kb, "--json", "-k", "1", "--retriever", "bm25", "--queries"]
    found = rows(here(*words, name))
    assert [row["query"] for row in found] == ["datum", "causeway"]
    assert [row["query_id"] for row in found] == (["1", "2"] if name == "q.txt" else ["a", "7"])
    assert rows(here(*words, "-", stdin=text)) == found
    shown = here("search", kb, "-k", "1", "--retriever", "bm25", "--queries", name)
    assert shown.stdout.count("1 hit · ") == 2
    assert "causeway" in shown.stdout


def test_bad_lines_are_named_and_the_rest_is_asked(here: Run, kb: Path, tmp_path: Path) -> None:
    lines = ['{"query": "datum"}', "{broken", '{"other": 1}', '{"query": ""}', '{"query": ["x"]}']
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    done = here("search", kb, "--queries", "q.jsonl", "--json", "-k", "1", "--retriever", "bm25")
    assert done.returncode == 3
    assert [json.loads(line)["query_id"] for line in done.stdout.splitlines()] == ["1"]
    said = done.stderr.splitlines()
    assert len(said) == 3
    for line, number in zip(said, (2, 3, 5), strict=True):
        assert line.startswith(f"chunkwise: skipped q.jsonl, line {number}: ")


@pytest.mark.parametrize(
    "question",
    ["'; DROP TABLE x; --", "\x1b[31mred\x07", "%s %d {}", "מתי הגאות? \u202e", "🐟", "?", "x" * 100_000],
)  # fmt: skip
def test_any_question_is_answered(here: Run, kb: Path, question: str) -> None:
    done = here("search", kb, "--", question)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "hit" in done.stdout or "nothing found" in done.stdout


def test_hostile_documents_cannot_draw_on_the_terminal(here: Run, tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text(
        "# \x1b[31mRed [bold]x[/]\n\nlamp \x1b]0;owned\x07 \u202e lamp\n"
    )
    assert here("index", "evil.md", "--into", "kb", "--vectors", "none").returncode == 0
    shown = here("search", "kb", "lamp")
    assert shown.returncode == 0
    assert "[bold]x[/]" in shown.stdout
    for sign in ("\x1b", "\x07", "\u202e", "owned"):
        assert sign not in shown.stdout


@pytest.mark.parametrize(
    ("words", "message", "status"),
    [
        (["KB"], "nothing to ask", 2),
        (["KB", " "], "the question is empty", 2),
        (["KB", "x", "--queries", "-"], "give one of them", 2),
        (["KB", "--queries", "missing.txt"], "cannot read the questions in missing.txt", 1),
        (["nowhere", "x"], "nowhere holds no index", 1),
        (["KB", "x", "--retriever", "hybird"], "did you mean hybrid?", 2),
        (["KB", "x", "--retriever", "hybrid(dense"], "cannot read the retriever 'hybrid(dense'", 2),
        (["KB", "x", "-k", "0"], "k is 0", 2),
        (["KB", "x", "--mmr", "7"], "mmr is 7.0", 2),
        (["KB", "x", "--pages", "5-3"], "pages is '5-3'", 2),
        (["KB", "x", "--rerank", "best"], "no reranker is named 'best'", 2),
        (["KB", "x", "--retriever", "multiscale", "--mmr", "0.5"], "mmr works on chunks", 2),
    ],
)
def test_errors_are_clear(here: Run, kb: Path, words: list[str], message: str, status: int) -> None:
    done = here("search", *[str(kb) if word == "KB" else word for word in words])
    assert done.returncode == status
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith(("Usage:", "Try "))]
    assert len([line for line in said if line]) == 1

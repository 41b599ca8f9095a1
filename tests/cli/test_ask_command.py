"""`chunkwise ask` as a user runs it, against a server that answers by rule."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from answering.shared_words import SharedWords
from chunkwise.answering.cited_answer import NOT_FOUND, UNSHOWN
from cli.in_process import Run, here
from cli.small_corpus import passage, write_corpus, write_questions
from models.chat_server import ChatServer, asked, chat_server
from tables import cases

__all__ = ["here"]  # a fixture

_PASSAGE = re.compile(r"<passage (\d+) (\w+)>\n(.*?)\n</passage \1 \2>", re.DOTALL)
_THING = re.compile(r"numbered (\d+)\?")


def rule(payload: dict[str, Any]) -> "str | tuple[int, str]":
    """Reads as a careful model would: the sentence on the thing that is asked for, from the passage that has it."""
    said = asked(payload)
    thing = _THING.search(said)
    if thing is None:
        return json.dumps({"found": False, "claims": []})
    if thing[1] == "13":
        return 400, "not this one"
    sentence = passage(int(thing[1]))
    made = [
        {"passage": int(number), "quote": sentence, "claim": sentence}
        for number, _, text in _PASSAGE.findall(said)
        if sentence in text
    ]
    return json.dumps({"found": bool(made), "claims": made[:1]})


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(rule) as made:
        yield made


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "docs")
    return tmp_path / "docs"


def test_an_answer_in_the_terminal(here: Run, docs: Path, server: ChatServer) -> None:
    words = (
        "ask",
        "docs",
        "Who keeps the rope numbered 4?",
        "--retriever",
        "bm25",
        "--llm",
        server.name(),
    )
    done = here(*words)
    assert (done.returncode, done.stderr) == (0, "")
    question, head, *lines = done.stdout.splitlines()
    assert (question, head) == (words[2], f"{passage(4)} [1]")
    assert any(line.startswith("Next  chunkwise index docs --into kb") for line in lines)
    shown = " ".join(" ".join(lines).split())
    assert "duties-0.md::" in shown
    assert "Duty 4 · line " in shown
    start = (docs / "duties-0.md").read_text().index(passage(4))
    assert f"characters {start:,}–{start + len(passage(4)):,}" in shown
    assert f"“{passage(4)}”" in shown
    assert re.search(r"Read: [2-5] passages", shown)
    assert all(line == line.rstrip() for line in lines)
    again = here(*words)
    assert "· cached answer" in again.stdout
    assert len(server.requests) == 1


def test_not_in_these_documents_is_an_answer(here: Run, docs: Path, server: ChatServer) -> None:
    done = here(
        "ask", "docs", "Where is the harbour office?", "--retriever", "bm25", "--llm", server.name()
    )
    assert done.returncode == 0
    assert done.stdout.splitlines()[1] == UNSHOWN
    done = here("ask", "docs", "zzzz", "--retriever", "bm25", "--llm", server.name(), "--json")
    row = json.loads(done.stdout)
    assert (done.returncode, row["found"], row["answer"]) == (0, False, NOT_FOUND)
    assert row["note"] == "no passages were found for the question"
    assert len(server.requests) == 1


def test_an_index_without_documents_asks_nobody(
    here: Run, tmp_path: Path, server: ChatServer
) -> None:
    chunkwise.index([], into=tmp_path / "kb", vectors="none")
    done = here("ask", "kb", "who?", "--llm", server.name())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == NOT_FOUND
    assert server.requests == []


@pytest.mark.usefixtures("large_inputs")
def test_many_questions_are_lines_that_evaluate_reads(
    here: Run, tmp_path: Path, docs: Path, server: ChatServer
) -> None:
    write_questions(tmp_path / "queries.json", count=15)
    chunkwise.index(docs, into=tmp_path / "kb", vectors="none")
    words = (
        "ask",
        "kb",
        "--test-queries",
        "queries.json",
        "--llm",
        server.name(),
        "--price",
        "1/2",
    )
    estimate = here(*words, "--dry-run")
    assert estimate.returncode == 0
    assert estimate.stdout.startswith("15 calls; about ")
    assert json.loads(here(*words, "--dry-run", "--json").stdout)["calls"] == 15
    assert server.requests == []
    done = here(*words)
    assert done.returncode == 3
    assert "skipped question q13: " in done.stderr
    assert "language model: 14 calls; " in done.stderr
    rows = {row["query_id"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert len(rows) == 14
    for id, row in rows.items():
        (cited,) = row["citations"]
        text = (docs / cited["doc_id"]).read_text()
        assert text[cited["start"] : cited["end"]] == cited["quote"] == passage(int(id[1:]))
        assert cited["state"] == "supported"
    before = len(server.requests)
    again = here(*words)
    assert len(server.requests) == before + 1  # the one that failed
    (tmp_path / "answers.jsonl").write_text(again.stdout, encoding="utf-8")
    figures = here(
        "evaluate", "kb", "--test-queries", "queries.json", "--answers", "answers.jsonl", "--metrics",
        "citation_accuracy,answers", "--json",
    )  # fmt: skip
    assert figures.returncode == 0, figures.stderr
    summary = json.loads(figures.stdout)["summary"]
    assert summary["citation_accuracy.support"]["mean"] == 1


def test_a_limit_of_cost_is_kept(here: Run, tmp_path: Path, docs: Path, server: ChatServer) -> None:
    write_questions(tmp_path / "queries.json", count=3)
    done = here("ask", "docs", "--test-queries", "queries.json", "--retriever", "bm25", "--llm", server.name(),
                "--price", "1/2", "--max-cost", "0")  # fmt: skip
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.count("the limit of $0") == 3
    assert server.requests == []


def test_without_a_model_the_sentences_that_answer_are_quoted(
    here: Run, tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)
    monkeypatch.setattr("chunkwise.answering.ask.get_reranker", lambda name: SharedWords())
    chunkwise.index(docs, into=tmp_path / "kb", vectors="none")
    done = here("ask", "kb", "Who keeps the rope numbered 4?")
    assert done.returncode == 0
    assert done.stderr.startswith("chunkwise: Answer quoted from the documents")
    assert done.stdout.splitlines()[1] == f"{passage(4)} [1]"
    assert "“" not in done.stdout  # said once is enough
    row = json.loads(here("ask", "kb", "Who keeps the rope numbered 4?", "--json", "-q").stdout)
    assert row["answer"] == row["citations"][0]["quote"] == passage(4)
    assert (row["llm"], row["quoted_by"]) == ("", "shared-words:1")
    for option in (("--dry-run",), ("--max-cost", "1"), ("--form", "plain")):
        refused = here("ask", "kb", "who?", *option)
        assert refused.returncode == 2
        assert "no language model given: add --llm NAME, or leave it out" in refused.stderr


def test_quoted_answers_of_a_test_set_are_scored(
    here: Run, tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)
    monkeypatch.setattr("chunkwise.answering.ask.get_reranker", lambda name: SharedWords())
    write_questions(tmp_path / "queries.json", count=3)
    chunkwise.index(docs, into=tmp_path / "kb", vectors="none")
    done = here("ask", "kb", "--test-queries", "queries.json")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3), done.stderr
    (tmp_path / "answers.jsonl").write_text(done.stdout, encoding="utf-8")
    figures = here(
        "evaluate", "kb", "--test-queries", "queries.json", "--answers", "answers.jsonl", "--metrics",
        "citation_accuracy", "--json",
    )  # fmt: skip
    assert figures.returncode == 0, figures.stderr
    assert json.loads(figures.stdout)["summary"]["citation_accuracy.support"]["mean"] == 1


def test_without_a_name_and_without_weights_it_says_what_to_do(
    here: Run, tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)
    monkeypatch.setenv("CHUNKWISE_CACHE", "off")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(
        "CHUNKWISE_HOME", str(tmp_path / "file" / "home")
    )  # nothing can be put there
    monkeypatch.delenv("CHUNKWISE_MODELS", raising=False)
    done = here("ask", "docs", "who", "keeps", "it?")
    assert done.returncode == 1
    assert "without a model: --retriever bm25" in done.stderr


@pytest.mark.unwatched
def test_half_a_character_from_a_model_is_written_as_json_spells_it(
    here: Run, tmp_path: Path
) -> None:
    (tmp_path / "lamp.md").write_text("# Lamps\n\nThe lamp is red at night.\n")
    made = [{"passage": 1, "quote": "lamp is red", "claim": "The lamp is \ud800 red."}]
    (tmp_path / "q.txt").write_text("what is the lamp?\n")
    with chat_server(lambda _: json.dumps({"found": True, "claims": made})) as server:
        for words in (("what is the lamp?", "--json"), ("--test-queries", "q.txt")):
            done = here("ask", "lamp.md", *words, "--retriever", "bm25", "--llm", server.name())
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["answer"] == "The lamp is \ufffd red."


def test_the_help_says_how_far_supported_goes(here: Run) -> None:
    said = " ".join(here("ask", "--help-all").stdout.split())
    assert "who did what to whom" in said


@cases(
    "words, said",
    [
        (("ask", "docs"), "no question given"),
        (("ask", "docs", " "), "the question is empty"),
        (("ask", "docs", "who?", "--test-queries", "queries.json"), "not both"),
        (("ask", "nowhere", "who?"), "nowhere"),
    ],
)
def test_wrong_usage_is_told(
    here: Run, docs: Path, server: ChatServer, words: tuple[str, ...], said: str
) -> None:
    done = here(*words, "--retriever", "bm25", "--llm", server.name())
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_that_gives_no_answer_is_an_error(
    here: Run, docs: Path, server: ChatServer
) -> None:
    done = here(
        "ask",
        "docs",
        "Who keeps the thing numbered 13?",
        "--retriever",
        "bm25",
        "--llm",
        server.name(),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the model returned no answer: ")


def test_text_of_documents_and_models_cannot_steer_the_terminal(here: Run, tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text(
        "# Lamps\n\nThe lamp is \x1b[31mred\x1b]0;title\x07 and [bold]old[/bold].\n"
    )
    made = [
        {
            "passage": 1,
            "quote": "red\x1b]0;title\x07 and [bold]old",
            "claim": "The lamp is \x1b[2Jred.",
        },
        {"passage": 1, "quote": "nowhere", "claim": "The lamp is \x9b2Jblue [red]."},
    ]
    with chat_server(lambda _: json.dumps({"found": True, "claims": made})) as server:
        words = (
            "ask",
            "evil.md",
            "what is the lamp?",
            "--retriever",
            "bm25",
            "--llm",
            server.name(),
        )
        done = here(*words)
        rows = json.loads(here(*words, "--json").stdout)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\x9b" not in done.stdout
    assert "The lamp is red. [1" in done.stdout
    assert "[bold]old" in done.stdout
    assert "! The lamp is blue [red]." in done.stdout
    assert [each["state"] for each in rows["claims"]][1] == "unsupported"
    assert "blue" not in rows["answer"]
    assert "[unsupported]" in rows["marked"]

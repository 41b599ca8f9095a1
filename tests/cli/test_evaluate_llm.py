"""`chunkwise evaluate --judge llm` as a user runs it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chunkwise.core import Score
from chunkwise.evaluation.judge_calibrations import Verdict, calibration, keep_calibration
from chunkwise.evaluation.results import read_results, short_name
from chunkwise.models import home_folder as home_module
from cli.in_process import Run, here
from cli.small_corpus import passage, write_corpus, write_questions
from metrics.judges.rule_model import by_rule_over_http
from models.chat_server import ChatServer, chat_server

__all__ = ["here"]  # a fixture

KEY = "sk-very-secret-0123456789"
ASK = ("evaluate", "docs", "--test-queries", "queries.json", "--retriever", "bm25", "-k", "3")
FEW = (*ASK, "--metrics", "recall,retrieval_precision,faithfulness,context_recall.llm")


@pytest.fixture(autouse=True)
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(home_module.HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)
    monkeypatch.setenv("CHUNKWISE_API_KEY", KEY)
    write_corpus(tmp_path / "docs", passages=2)
    write_questions(tmp_path / "queries.json", count=4, passages=2)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(by_rule_over_http) as found:
        yield found


def test_without_a_name_the_local_model_is_asked(here: Run) -> None:
    done = here(*FEW, "--judge", "llm", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert (
        "no language model given (--llm, CHUNKWISE_LLM): using the small local one" in done.stderr
    )
    assert "8 calls" in done.stdout


def test_a_model_needs_a_judge(here: Run, server: ChatServer) -> None:
    for words in (("--llm", server.name()), ("--dry-run",), ("--max-cost", "1")):
        done = here(*ASK, *words)
        assert done.returncode == 2
        assert words[0] in done.stderr
        assert "--judge llm" in done.stderr
    done = here(*ASK, "--metrics", "faithfulness.llm")
    assert done.returncode == 2
    assert "--judge llm" in done.stderr
    assert server.requests == []


@pytest.mark.unwatched
def test_a_model_of_the_environment_is_not_asked_unless_it_judges(
    here: Run, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_LLM", server.name())
    assert here(*FEW[:-2], "--metrics", "recall").returncode == 0
    assert server.requests == []
    assert here(*FEW, "--judge", "llm").returncode == 0
    assert server.requests


@pytest.mark.unwatched
def test_figures_who_judged_and_what_it_cost(here: Run, server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text(
        json.dumps([{"query_id": f"q{n}", "answer": passage(n)} for n in range(4)])
    )
    words = (*FEW, "--judge", "llm", "--llm", server.name(), "--answers", "answers.json")
    words += ("--price", "1/2", "-o", "results.json", "--html", "page.html")
    done = here(*words)
    assert done.returncode == 0, done.stderr
    results = read_results(tmp_path / "results.json")
    assert results.summary["retrieval_precision.llm"].mean is not None
    assert results.summary["faithfulness.llm"].scored == 4
    shown = " ".join(done.stdout.split())
    page = (tmp_path / "page.html").read_text()
    assert "not measured: chunkwise testset calibrate" in page
    assert f"judged by {short_name(str(results.configuration['llm']))};" in page
    assert str(results.configuration["llm"]).partition("#")[0] in page
    assert "spans and llm" in page
    assert f"language model: {len(server.requests)} calls" in shown
    assert "paid" in shown
    everything = done.stdout + done.stderr + page + (tmp_path / "results.json").read_text()
    assert KEY not in everything
    assert f"Bearer {KEY}" in {seen.headers.get("authorization") for seen in server.seen}
    sent = len(server.requests)
    again = here(*words)
    assert len(server.requests) == sent
    assert "language model: 0 calls" in " ".join(again.stdout.split())


@pytest.mark.unwatched
def test_a_calibration_stands_beside_the_figures(
    here: Run, server: ChatServer, tmp_path: Path
) -> None:
    words = (*FEW, "--judge", "llm", "--llm", server.name(), "-o", "results.json")
    assert here(*words).returncode == 0
    judges = read_results(tmp_path / "results.json").data["judges"]
    assert isinstance(judges, dict)
    assert isinstance(judges["llm"], dict)
    verdicts = [Verdict(str(n), n % 2 == 0, Score(float(n % 2 == 0 and n != 2))) for n in range(20)]
    keep_calibration(
        calibration(verdicts, judge=str(judges["llm"]["identity"]), name="llm", against="labels")
    )
    done = here(*words, "--html", "page.html")
    told = "against human labels: accuracy 0.95, κ 0.9 (measured elsewhere, 20 verdicts)"
    assert done.returncode == 0
    assert told in (tmp_path / "page.html").read_text().replace("&#x27;", "'").replace("&#39;", "'")


@pytest.mark.unwatched
def test_a_dry_run_counts_and_sends_nothing(here: Run, server: ChatServer, tmp_path: Path) -> None:
    words = (*FEW, "--judge", "llm", "--llm", server.name(), "--price", "1/2", "-o", "results.json")
    done = here(*words, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert server.requests == []
    assert not (tmp_path / "results.json").exists()
    assert "8 calls" in done.stdout
    told = json.loads(here(*words, "--dry-run", "--json").stdout)
    assert told["calls"] == 8
    assert told["money"] > 0
    assert here(*words).returncode == 0
    assert len(server.requests) == 8
    assert "no calls needed" in here(*words, "--dry-run").stdout


def test_money_ends_it_and_the_rest_is_unscored(
    here: Run, server: ChatServer, tmp_path: Path
) -> None:
    words = (*FEW, "--judge", "llm", "--llm", server.name(), "--concurrency", "1")
    done = here(*words, "--max-cost", "0.001")
    assert done.returncode == 2
    assert "--price" in done.stderr
    done = here(*words, "--price", "1/2", "--max-cost", "0.0025", "-o", "results.json")
    assert done.returncode == 3, done.stderr
    assert "limit of $0.0025" in done.stderr
    results = read_results(tmp_path / "results.json")
    assert len(server.requests) > 0
    told = " ".join(results.summary["context_recall.llm"].unscored)
    assert "limit of $0.0025" in told
    assert results.summary["recall@3"].mean is not None


def test_a_dead_endpoint_is_a_reason_not_the_end(here: Run, tmp_path: Path) -> None:
    with chat_server(lambda payload: (403, {"error": {"message": "not for you"}})) as refusing:
        done = here(*FEW, "--judge", "llm", "--llm", refusing.name(), "-o", "results.json")
    assert done.returncode == 3
    assert "not for you" in done.stderr
    assert "recall@3" in done.stdout
    results = read_results(tmp_path / "results.json")
    assert results.summary["recall@3"].mean is not None
    assert results.summary["retrieval_precision.llm"].mean is None
    assert results.summary["retrieval_precision.spans"].mean is not None


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((429, {"error": {"message": "slow down"}}), "slow down"),
        ("It depends on what you call relevant.", "not of the form asked for"),
    ],
    ids=["always too many", "prose"],
)
def test_what_a_judge_never_answers_is_told_and_is_no_success(
    here: Run, tmp_path: Path, answer: object, said: str
) -> None:
    with chat_server(lambda payload: answer) as useless:
        done = here(
            *FEW, "--judge", "llm", "--llm", f"{useless.name()}(tries=1)", "-o", "results.json"
        )
    assert done.returncode == 3, done.stderr
    assert said in done.stderr
    assert read_results(tmp_path / "results.json").summary["recall@3"].mean is not None


def test_a_mean_of_some_questions_says_of_how_many(here: Run, server: ChatServer) -> None:
    words = (*FEW, "--judge", "llm", "--llm", server.name(), "--concurrency", "1")
    done = here(*words, "--price", "1/2", "--max-cost", "0.0022")
    assert done.returncode == 3, done.stderr
    assert re.search(r"[1-9]\d* of 4 questions", done.stdout), done.stdout

"""`--llm` and what goes with it: clients, prices, limits, and strategies that ask a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zlib import crc32

import click
import pytest
from click.testing import CliRunner

from chunkwise.base.errors import InvalidOption, InvalidParameter, UnknownName
from chunkwise.chunkers import get_strategy
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.llm import (
    LlmClients,
    asking_strategy,
    llm_client,
    show_estimate,
    show_spent,
    spent_words,
)
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.models.llm.cost import LlmEstimate, LlmUsage
from chunkwise.options import LlmOptions
from cli.in_process import Run, here
from cli.small_corpus import write_corpus, write_questions
from models.chat_server import asked, chat_server

__all__ = ["here"]

SPEC = "raptor(max_tokens=30, levels=3, branching=3)"
PRICE = ("--price", "1000/1000")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)


@pytest.fixture(autouse=True)
def hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks belong together by their letters: no weights are needed."""
    from hash_embedder import HashEmbedder

    monkeypatch.setattr("chunkwise.chunkers.raptor.named_embedder", lambda _: HashEmbedder())


@pytest.fixture
def pier(tmp_path: Path) -> Path:
    file = tmp_path / "pier.txt"
    lines = (f"Lamp {n} is lit at {n} by keeper {n} of the north pier." for n in range(24))
    file.write_text("\n\n".join(lines))
    return file


def about(payload: dict[str, Any]) -> str:
    return f"It tells of lamp {crc32(asked(payload).encode())}."


def billed(server: Any) -> float:
    """Dollars by the server's own count: a thousandth a word."""
    words = (len(asked(each).split()) + len(about(each).split()) for each in server.requests)
    return sum(words) / 1000


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("command", [("chunk",), ("index", "--into", "kb", "--vectors", "none")])
def test_summaries_and_contexts_share_one_limit(
    here: Run, pier: Path, command: tuple[str, ...]
) -> None:
    out = ("-o", "out.jsonl") if command == ("chunk",) else ()
    with chat_server(about) as server:
        words = (
            *command,
            pier,
            *out,
            "-s",
            SPEC,
            "--context",
            "neighbors",
            "--llm",
            server.name(),
            *PRICE,
        )
        done = here(*words, "--max-cost", "2.5")
        assert 0 < billed(server) <= 2.5
        assert done.returncode == 3, done.stderr
        assert "limit of cost" in done.stderr
        assert done.stderr.count("language model: ") == 1
        # Without a limit the rest is asked for, and nothing is left out.
        more = ("--rebuild",) if command[0] == "index" else ()
        assert here(*words, *more).returncode == 0


def test_two_models_share_one_limit(here: Run, pier: Path) -> None:
    with chat_server(about) as server:
        spec = f"raptor(max_tokens=30, branching=3, llm={server.name('other')!r})"
        words = (
            "chunk",
            pier,
            "-s",
            spec,
            "--context",
            "neighbors",
            "--llm",
            server.name(),
            *PRICE,
        )
        assert here(*words, "-o", "out.jsonl", "--max-cost", "2.5").returncode == 3
        assert 0 < billed(server) <= 2.5


def test_a_client_is_made_once_a_name() -> None:
    clients = LlmClients(LlmOptions(max_cost=1.0, price="1/1"))
    one, two = clients.of("http://localhost:1/v1#a"), clients.of("http://localhost:1/v1#b")
    assert clients.of("http://localhost:1/v1#a") is one
    assert one._budget is two._budget
    assert clients.used == [one, two]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("command", [("chunk",), ("index", "--into", "kb", "--vectors", "none")])
def test_what_is_foreseen_is_what_is_asked(here: Run, pier: Path, command: tuple[str, ...]) -> None:
    """Cold, with the first level known, and warm; summaries and contexts together."""
    out = ("-o", "out.jsonl") if command == ("chunk",) else ()
    with chat_server(about) as server:
        words = (*command, pier, *out, "--llm", server.name(), "--context", "neighbors", "-s")

        def foreseen() -> int:
            told = here(*words, SPEC, "--dry-run", "--json")
            assert told.returncode == 0, told.stderr
            calls: int = json.loads(told.stdout)["calls"]
            return calls

        cold = foreseen()
        assert server.requests == []
        first = SPEC.replace("levels=3", "levels=1")
        assert here("chunk", pier, "--llm", server.name(), "-s", first, "-o", "x.jsonl").returncode == 0  # fmt: skip
        level_one = len(server.requests)
        assert foreseen() == cold - level_one > 0
        assert here(*words, SPEC).returncode == 0
        assert len(server.requests) == cold
        assert foreseen() == 0


@pytest.mark.filterwarnings("always:.*failed:UserWarning")
def test_an_evaluation_keeps_to_the_limit_too(here: Run, tmp_path: Path) -> None:
    write_corpus(tmp_path / "docs", passages=6)
    write_questions(tmp_path / "queries.json", count=4, passages=6)
    words = ("evaluate", "docs", "--test-queries", "queries.json", "--retriever", "bm25", "--metrics", "recall@5",
             "--vectors", "none", "-s", SPEC)  # fmt: skip
    with chat_server(about) as server:
        llm = ("--llm", server.name(), *PRICE)
        told = here(*words, *llm, "--dry-run", "--json")
        assert told.returncode == 0, told.stderr
        calls = json.loads(told.stdout)["calls"]
        assert calls > 3
        assert server.requests == []
        done = here(*words, *llm, "--max-cost", "1")
        assert "another request could exceed the limit of" in done.stderr
        assert done.returncode == 3, done.stderr
        assert 0 < billed(server) <= 1
        assert here(*words, *llm, "-q").returncode == 0
        told = here(*words, *llm, "--dry-run", "--json")
        assert json.loads(told.stdout)["calls"] == 0


def test_a_sweep_asks_nobody_who_may_cost_money(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "docs", passages=2)
    write_questions(tmp_path / "queries.json", count=4, passages=2)
    (tmp_path / "prices.toml").write_text('[prices]\n"tester" = [0, 0]\n')
    with chat_server(about) as server:
        plan = (
            '[sweep]\nsource = ["docs"]\nqueries = "queries.json"\nembedder = "none"\n'
            f'[[sweep.chunkers]]\nstrategy = ["raptor"]\nllm = ["{server.name()}"]\n'
            '[sweep.retrieval]\nretriever = ["bm25"]\n'
        )
        (tmp_path / "sweep.toml").write_text(plan)
        done = here("tune", "sweep.toml", "-o", "out", "--dry-run")
        assert done.returncode == 2, done.stderr
        assert "may cost money" in done.stderr
        assert server.requests == []
        monkeypatch.setenv("CHUNKWISE_PRICES", str(tmp_path / "prices.toml"))
        assert here("tune", "sweep.toml", "-o", "out", "--dry-run").returncode == 0


def test_a_weak_model_that_summarizes_is_told_of(
    here: Run, pier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rule_summarizer import FirstSentences

    monkeypatch.setattr("chunkwise.models.get_language_model", lambda name: FirstSentences())
    done = here("chunk", pier, "-s", SPEC, "-o", "out.jsonl")
    assert "the local model is small: measure its results" in done.stderr


def test_the_time_of_summaries_is_that_of_one_document_after_the_other(pier: Path) -> None:
    from chunkwise.core import Document
    from chunkwise.text.analyzed import Analyzed

    options = LlmOptions(llm="http://localhost:1/v1#a", concurrency=64)
    clients = LlmClients(options)
    own = asking_strategy(SPEC, options, clients)
    assert own.client is not None
    told = own.estimate(Analyzed(Document("pier", pier.read_text())))
    together = own.client.estimate_of(told.calls, told.prompt_tokens, told.output_tokens)
    assert told.seconds is not None
    assert together.seconds is not None
    assert told.seconds > 2 * together.seconds  # a level waits for the one below
    chunks = get_strategy(SPEC).chunker.without_summaries()  # type: ignore[attr-defined]
    assert len(chunks.split(Analyzed(Document("pier", pier.read_text())))) > 9


@dataclass_command("try", LlmOptions)
def command(options: LlmOptions) -> None:
    client = llm_client(options)
    if client is None:
        click.echo("none")
        return
    told = [client.model.price_name, client.price, client.max_cost, client.concurrency]
    click.echo(json.dumps([*told, options.dry_run]))


def run(*words: str, **more: Any) -> Any:
    return CliRunner(catch_exceptions=False).invoke(command, words, **more)


def test_a_model_is_chosen_by_option_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)
    assert run().output == "none\n"
    told = json.loads(run("--llm", "openai:gpt-4o-mini", "--max-cost", "2.5").output)
    assert told == ["gpt-4o-mini", [0.15, 0.6], 2.5, 4, False]
    words = ("--price", "1/2", "--concurrency", "9", "--dry-run")
    told = json.loads(run(*words, env={"CHUNKWISE_LLM": "http://localhost:1/v1#m"}).output)
    assert told == ["m", [1.0, 2.0], None, 9, True]


def test_wrong_values_are_told() -> None:
    with pytest.raises(InvalidParameter, match="price is '3'"):
        run("--llm", "openai:x", "--price", "3")
    with pytest.raises(InvalidParameter, match="--price"):
        run("--llm", "openai:x", "--max-cost", "1")
    with pytest.raises(UnknownName, match="did you mean local\\?"):
        run("--llm", "lokal")
    for field, value in (("max_cost", "-1"), ("concurrency", "0")):
        with pytest.raises(InvalidOption) as caught:
            run("--llm", "openai:x", f"--{field.replace('_', '-')}", value)
        assert caught.value.field == field


def test_an_estimate_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    show_estimate(LlmEstimate(1, 0, 10, 20, 0.0, 0.2), as_json=True)
    assert json.loads(capsys.readouterr().out)["calls"] == 1


def test_what_was_spent_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_spent(LlmUsage())
    assert capsys.readouterr() == ("", "")
    show_spent(LlmUsage(2, 1, 1, 1000, 50, 0.25, 3.0, is_estimated=True))
    told = capsys.readouterr()
    assert not told.out
    assert told.err == (
        "language model: 2 calls; 1 from the cache; about 1,000 tokens read, 50 written; "
        "about $0.25; 1 failed\n"
    )
    assert "unknown price" in spent_words(LlmUsage(1, 0, 0, 5, 5, None))
    assert spent_words(LlmUsage(kept=2)) == "language model: 0 calls; 2 from the cache"

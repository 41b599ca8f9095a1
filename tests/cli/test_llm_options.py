"""`--llm` and what goes with it, on a command that does nothing else."""

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.cli.llm_options import (
    estimate_words,
    llm_client,
    llm_options,
    show_estimate,
    show_spent,
    spent_words,
)
from chunkwise.models.llm.cost import LlmEstimate, LlmUsage


@click.command()
@llm_options
def command(**options: Any) -> None:
    client = llm_client(options)
    if client is None:
        click.echo("none")
        return
    told = [client.model.price_name, client.price, client.max_cost, client.concurrency]
    click.echo(json.dumps([*told, options["dry_run"]]))


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
    with pytest.raises(UnknownName, match=r"PATH/model\.gguf"):
        run("--llm", "lokal")
    assert run("--llm", "openai:x", "--max-cost", "-1").exit_code == 2
    assert run("--llm", "openai:x", "--concurrency", "0").exit_code == 2


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (LlmEstimate(0, 0, 0, 0, 0.0, 0.0), "nothing is to be asked"),
        (LlmEstimate(0, 3, 0, 0, 0.0, 0.0), "nothing is to be asked; every answer (3) is kept from earlier runs"),
        (LlmEstimate(1, 0, 10, 20, 0.0, 0.2),
         "1 call; about 10 tokens to read; at most 20 to write; no money; about 1 second"),
        (LlmEstimate(2000, 5, 1_000_000, 20_000, 2.345, 600.0),
         "2,000 calls (5 more are kept from earlier runs); about 1,000,000 tokens to read; "
         "at most 20,000 to write; about $2.35; about 10 minutes"),
        (LlmEstimate(2, 0, 10, 20, None, None),
         "2 calls; about 10 tokens to read; at most 20 to write; the price is not known (--price IN/OUT)"),
        (LlmEstimate(2, 0, 10, 20, 0.000123, 9000.0),
         "2 calls; about 10 tokens to read; at most 20 to write; under $0.01; about 2.5 hours"),
    ],
)  # fmt: skip
def test_an_estimate_in_words(
    estimate: LlmEstimate, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert estimate_words(estimate) == words
    show_estimate(estimate)
    assert capsys.readouterr().out == f"{words}\n"
    show_estimate(estimate, as_json=True)
    assert json.loads(capsys.readouterr().out)["calls"] == estimate.calls


def test_what_was_spent_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_spent(LlmUsage())
    assert capsys.readouterr() == ("", "")
    show_spent(LlmUsage(2, 1, 1, 1000, 50, 0.25, 3.0, is_estimated=True))
    told = capsys.readouterr()
    assert not told.out
    assert told.err == (
        "language model: 2 calls; 1 answered from earlier runs; about 1,000 tokens read, 50 written; "
        "about $0.25; 1 without a usable answer\n"
    )
    assert "price that is not known" in spent_words(LlmUsage(1, 0, 0, 5, 5, None))
    assert spent_words(LlmUsage(kept=2)) == "language model: 0 calls; 2 answered from earlier runs"

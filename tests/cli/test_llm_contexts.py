"""Contexts of chunks by a language model: written by a server, told when nobody writes, counted beforehand."""

import json
from pathlib import Path
from typing import Any

import pytest

from chunkwise.chunkers.context_writer import ContextTally
from chunkwise.cli.llm import kept_when_stopped
from chunkwise.models.home_folder import HOME_VARIABLE
from cli.in_process import Run, here
from models.chat_server import asked, chat_server
from tables import cases

__all__ = ["here"]

SPEC = "paragraphs"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text(
        "# Leave\n\nAsk in writing.\n\n## Sick\n\nNo note is needed.\n"
    )
    (folder / "hours.md").write_text("# Hours\n\nFive to one.\n\n## Nights\n\nOne to nine.\n")
    return folder


def about(payload: dict[str, Any]) -> str:
    passage = asked(payload).rpartition("<passage ")[2].split("\n")
    return f"Here is the context: It says {passage[-4] if len(passage) > 4 else passage[1]}"


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@cases("value", ["neighbors", "document"])
def test_a_server_writes_beside_every_chunk(here: Run, handbook: Path, value: str) -> None:
    plain = rows_of(here("chunk", handbook, "-s", SPEC, "--json", "-q").stdout)
    with chat_server(lambda payload: "It is a rule of the yard.") as server:
        words = ("chunk", handbook, "-s", SPEC, "--context", value, "--llm", server.name())
        done = here(*words, "-o", "chunks.jsonl")
        assert done.returncode == 0
        assert len(server.requests) == len(plain) == 4
        first = asked(server.requests[0])
        assert ("<document " in first) == (value == "document")
    found = rows_of(Path("chunks.jsonl").read_text())
    for row, before in zip(found, plain, strict=True):
        assert row["context"] == "It is a rule of the yard."
        assert row["context_token_count"] == 8
        assert before["context_token_count"] == 0
        same = row.keys() - {"context", "context_token_count"}
        assert {name: row[name] for name in same} == {name: before[name] for name in same}
    assert "language model: 4 calls" in done.stderr


def test_the_same_command_again_asks_nobody_and_writes_the_same(here: Run, handbook: Path) -> None:
    with chat_server(lambda payload: f"Note {len(asked(payload))}.") as server:
        words = (
            "chunk",
            handbook,
            "-s",
            SPEC,
            "--context",
            "neighbors",
            "--llm",
            server.name(),
            "--json",
        )
        first, second = here(*words), here(*words)
        assert first.stdout == second.stdout
        assert len(server.requests) == 4
    assert "language model: 0 calls; 4 from the cache" in second.stderr


@cases("ending", ["jsonl", "csv", "parquet"])
def test_every_format_counts_both(here: Run, handbook: Path, ending: str) -> None:
    out = f"chunks.{ending}"
    assert here("chunk", handbook, "-s", SPEC, "--context", "neighbors", "-o", out).returncode == 0
    if ending == "jsonl":
        rows = rows_of(Path(out).read_text())
    elif ending == "csv":
        import csv

        with Path(out).open(newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        import pyarrow.parquet as pq

        rows = pq.read_table(out).to_pylist()
    for row in rows:
        assert row["context"]
        assert int(row["context_token_count"]) > 0
        assert int(row["token_count"]) > 0


def test_without_a_model_the_headings_are_taken_and_that_is_said(here: Run, handbook: Path) -> None:
    words = ("chunk", handbook, "-s", SPEC, "--json")
    done = here(*words, "--context", "neighbors")
    assert done.returncode == 0
    assert done.stdout == here(*words, "--context", "headings").stdout
    assert "--context headings" in done.stderr
    assert here(*words, "--context", "neighbors", "-q").stderr == ""


def test_the_environment_names_the_model(
    here: Run, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chat_server(lambda payload: "A rule.") as server:
        monkeypatch.setenv("CHUNKWISE_LLM", server.name())
        assert here("chunk", handbook, "-s", SPEC, "-o", "plain.jsonl").returncode == 0
        assert server.requests == []
        assert (
            here(
                "chunk", handbook, "-s", SPEC, "--context", "neighbors", "-o", "x.jsonl"
            ).returncode
            == 0
        )
        assert len(server.requests) == 4


@pytest.mark.parametrize("command", [("chunk",), ("index", "--into", "kb", "--vectors", "none")])
def test_a_dry_run_sends_nothing_and_writes_nothing(
    here: Run, handbook: Path, command: tuple[str, ...]
) -> None:
    out = ("-o", "out.jsonl") if command == ("chunk",) else ()
    with chat_server(lambda payload: "A rule.") as server:
        llm = ("--context", "neighbors", "--llm", server.name(), "--price", "1/2", *out)
        done = here(*command, handbook, "-s", SPEC, *llm, "--dry-run", "--json")
        assert done.returncode == 0
        told = json.loads(done.stdout)
        assert (told["calls"], told["kept"]) == (4, 0)
        assert told["prompt_tokens"] > 100
        assert told["money"] == pytest.approx(
            (told["prompt_tokens"] + 2 * told["output_tokens"]) / 1e6
        )
        assert server.requests == []
        assert not Path("out.jsonl").exists()
        assert not Path("kb").exists()
        assert here(*command, handbook, "-s", SPEC, *llm).returncode == 0
        again = here(*command, handbook, "-s", SPEC, *llm, "--dry-run")
        assert "no calls needed" in again.stdout
        assert len(server.requests) == 4


def test_chunks_without_an_answer_are_counted_at_the_end(here: Run, handbook: Path) -> None:
    def answer(payload: dict[str, Any]) -> Any:
        return (400, "no such luck\x1b[31m") if "nine" in about(payload) else "A rule."

    with chat_server(answer) as server:
        words = ("chunk", handbook, "-s", SPEC, "--context", "neighbors", "--llm", server.name())
        done = here(*words, "-o", "chunks.jsonl")
    assert done.returncode == 3
    assert "1 of 4 chunks has no context from the model" in done.stderr
    assert "\x1b" not in done.stderr
    contexts = [row["context"] for row in rows_of(Path("chunks.jsonl").read_text())]
    assert sorted(contexts) == ["A rule.", "A rule.", "A rule.", "Hours > Nights"]


@cases(
    "words, told",
    [
        (("--dry-run",), "--dry-run"),
        (("--llm", "local"), "--llm"),
        (("--context", "sideways"), "'sideways' is not one of"),
        (("--context", "neighbors", "--llm", "nobody"), "'nobody'"),
        (
            ("--context", "neighbors", "--llm", "http://127.0.0.1:1/v1#x", "--max-cost", "1"),
            "--price",
        ),
    ],
)
@cases("command", [("chunk",), ("index", "--into", "kb", "--vectors", "none")])
def test_what_makes_no_sense_is_refused(
    here: Run, handbook: Path, words: tuple[str, ...], told: str, command: tuple[str, ...]
) -> None:
    done = here(*command, handbook, *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert not Path("kb").exists() or not list(Path("kb").glob("*.json"))


@pytest.mark.unwatched
def test_answers_that_say_nothing_are_told_and_the_status_says_so(
    here: Run, handbook: Path
) -> None:
    with chat_server(lambda _: "```\n…\n```") as server:
        words = ("index", handbook, "--into", "kb", "--vectors", "none", "-s", SPEC)
        done = here(*words, "--context", "neighbors", "--llm", server.name())
        assert done.returncode == 3
        assert "4 of 4 chunks have no context from the model" in done.stderr
        assert "s answer is empty, repetitive or truncated" in done.stderr
        quiet = here(
            *words, "--rebuild", "--context", "neighbors", "--llm", server.name(), "-q", "--json"
        )
    assert quiet.returncode == 3
    assert json.loads(quiet.stdout)["without_context"] == 4


def test_a_server_that_is_gone_does_not_stop_an_update(here: Run, handbook: Path) -> None:
    words = ("index", handbook, "--into", "kb")
    refused = False
    with chat_server(lambda _: (401, "no") if refused else "A rule.") as server:
        first = (
            *words,
            "--vectors",
            "none",
            "-s",
            SPEC,
            "--context",
            "neighbors",
            "--llm",
            server.name(),
        )
        assert here(*first).returncode == 0
        (handbook / "new.md").write_text("# New\n\nNobody wrote about it.\n")
        refused = True
        allow = ("--allow", server.server.url)
        done = here(*words, *allow)
        assert done.returncode == 3, done.stderr
        assert "1 added" in done.stderr
        assert "1 of 1 chunk has no context from the model" in done.stderr
        assert "new.md" in here("search", "kb", "nobody wrote", "--json").stdout
        refused = False
        done = here(*words, *allow)
        assert done.returncode == 0, done.stderr
        assert "1 changed" in done.stderr
    rows = rows_of(here("search", "kb", "rule", "--json").stdout)
    assert len(rows) == 5


def test_an_index_keeps_its_contexts_and_its_model(here: Run, handbook: Path) -> None:
    words = ("index", handbook, "--into", "kb", "--vectors", "none", "-s", SPEC)
    with chat_server(lambda payload: "It is about the zeppelin.") as server:
        made = here(*words, "--context", "neighbors", "--llm", server.name(), "--json")
        assert made.returncode == 0
        told = json.loads(made.stdout)
        assert (told["context"], told["llm"]) == ("neighbors", server.name())
        assert len(server.requests) == 4
        (handbook / "leave.md").write_text(
            "# Leave\n\nAsk in writing.\n\n## Sick\n\nA note is due.\n"
        )
        # Named by the index alone it is not asked.
        again = here("index", handbook, "--into", "kb")
        assert again.returncode == 2
        assert len(server.requests) == 4
        again = here("index", handbook, "--into", "kb", "--allow", server.server.url)
        assert again.returncode == 0
        assert "language model: 1 call" in again.stderr
        assert len(server.requests) == 5
    # Nobody listens any more: searching needs nobody.
    found = here("search", "kb", "zeppelin", "--json")
    assert found.returncode == 0
    assert len(rows_of(found.stdout)) == 4


def test_an_index_of_another_model_is_refused(here: Run, handbook: Path) -> None:
    words = ("index", handbook, "--into", "kb", "--vectors", "none", "-s", SPEC)
    with chat_server(lambda payload: "A rule.") as server:
        assert here(*words, "--context", "neighbors", "--llm", server.name()).returncode == 0
        for other in (("--llm", server.name("other")), ("--context", "document")):
            done = here(*words, *other)
            assert done.returncode == 2
            assert "the index was built with" in done.stderr
            assert "--rebuild" in done.stderr
        assert here(*words, "--context", "neighbors", "--llm", server.name()).returncode == 0
        assert len(server.requests) == 4


def test_an_index_without_a_model_falls_back_again_and_again(here: Run, handbook: Path) -> None:
    words = (
        "index",
        handbook,
        "--into",
        "kb",
        "--vectors",
        "none",
        "-s",
        SPEC,
        "--context",
        "neighbors",
    )
    for _ in range(2):
        done = here(*words, "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout)["context"] == "headings"
        assert "for LLM contexts: llm=…, chunkwise index --llm NAME" in done.stderr


def test_a_strategy_that_asks_is_limited_and_counted_too(here: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(
        "\n\n".join(f"Lamp {n} is lit at {n} by keeper {n} of the north pier." for n in range(24))
    )
    spec = "raptor(max_tokens=30, levels=1, branching=4)"
    with chat_server(lambda payload: "Lamps of the pier.") as server:
        llm = ("--llm", server.name(), "--price", "1000/1000")
        told = here("chunk", "long.txt", "-s", spec, *llm, "--dry-run", "--json")
        assert told.returncode == 0
        assert server.requests == []
        calls = json.loads(told.stdout)["calls"]
        assert calls > 1
        done = here("chunk", "long.txt", "-s", spec, *llm, "-o", "all.jsonl")
        assert done.returncode == 0
        assert len(server.requests) == calls
        assert f"language model: {calls} calls" in done.stderr
        into = ("index", "long.txt", "--into", "kb", "--vectors", "none", "-s", spec, *llm)
        assert "no calls needed" in here(*into, "--dry-run").stdout
        assert here(*into).returncode == 0
        allow = ("--allow", server.server.url)
        assert here("index", "long.txt", "--into", "kb", *allow).returncode == 0
        assert len(server.requests) == calls


def test_who_stops_it_is_told_that_nothing_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    for is_asking in (True, False):
        with pytest.raises(KeyboardInterrupt), kept_when_stopped(is_asking):
            raise KeyboardInterrupt
        assert ("run the same command to resume" in capsys.readouterr().err) == is_asking


def test_one_context_is_one() -> None:
    tally = ContextTally()
    tally.written = 1
    assert tally.note == "1 context written"

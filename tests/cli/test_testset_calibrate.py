"""`chunkwise testset calibrate` as a user runs it, with judges that are real of their kind."""

import json
from pathlib import Path
from typing import Any

import pytest

from chunkwise.evaluation.judge_calibrations import calibrations_file, known_calibration
from chunkwise.models.home_folder import HOME_VARIABLE
from cli.in_process import Run, here
from cli.small_corpus import passage, write_corpus, write_questions
from models.chat_server import ChatServer, asked, chat_server
from tables import cases

__all__ = ["here"]

BASE = ("testset", "calibrate", "docs", "--test-queries", "queries.json")


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)
    write_corpus(tmp_path / "docs")
    write_questions(tmp_path / "queries.json", count=12)


def verdicts(payload: dict[str, Any], right: bool = True) -> str:
    """Relevant is a passage that names the keeper of the very number asked for."""
    said = asked(payload)
    question = said[said.index("numbered ") + 9 :]
    number = int(question[: question.index("?")])
    parts = said.split("<passage ")[1:]
    labels = {
        str(at): "relevant" if (passage(number) in part) == right else "irrelevant"
        for at, part in enumerate(parts, 1)
    }
    return json.dumps(labels)


def judges(printed: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(printed)["judges"]
    return found


def with_llm(server: ChatServer, *more: object) -> tuple[object, ...]:
    return (
        *BASE,
        "--judge",
        "llm",
        "--llm",
        server.name(),
        "--price",
        "1/2",
        "--count",
        "20",
        *more,
    )


def test_a_model_that_knows_is_measured_shown_and_remembered(here: Run) -> None:
    with chat_server(verdicts) as server:
        ran = here(*with_llm(server))
        assert ran.returncode == 0, ran.stderr
        assert len(server.requests) == 10
        for words in (
            "Compared with gold spans: 10 relevant passages and 10 irrelevant, from 10",
            "Presumed irrelevant", "llm: Cohen’s κ 1.00", "100% (", "1,000 verdicts take 500 calls",
        ):  # fmt: skip
            assert words in ran.stdout
        assert "too weak" not in ran.stdout
        told = judges(here(*with_llm(server, "--json")).stdout)[0]
        assert len(server.requests) == 10  # all was kept
        assert told["kept"] == 20
        assert told["kappa"]["mean"] == 1.0
        assert told["cost"]["calls"] == 500
        known = known_calibration(told["judge"])
        assert known is not None
        assert known.confusion.scored == 20


@pytest.mark.unwatched
def test_a_model_that_is_always_wrong_is_called_weak_with_examples(here: Run) -> None:
    with chat_server(lambda payload: verdicts(payload, right=False)) as server:
        ran = here(*with_llm(server, "--show", "2"))
    assert ran.returncode == 0
    assert "this judge is too weak for these questions" in " ".join(ran.stdout.split())
    assert "Where llm is wrong, 2 of 20" in ran.stdout
    assert "relevant, called irrelevant" in ran.stdout
    assert "is kept by the" in ran.stdout


@pytest.mark.unwatched
def test_answers_of_another_form_are_unscored_with_a_reason(here: Run) -> None:
    with chat_server(lambda payload: "I would rather not say.") as server:
        ran = here(*with_llm(server, "--json"))
    assert ran.returncode == 0
    (told,) = judges(ran.stdout)
    (reason,) = told["unscored"]
    assert "had the wrong format" in reason
    assert told["unscored"][reason] == 20
    assert told["kappa"] is None
    assert "20 of 20 verdicts" in told["warning"]
    assert "too weak" in ran.stderr
    assert not calibrations_file().exists()  # it would say nothing


@pytest.mark.unwatched
def test_a_dry_run_sends_nothing(here: Run) -> None:
    with chat_server(verdicts) as server:
        words = here(*with_llm(server, "--dry-run"))
        told = json.loads(here(*with_llm(server, "--dry-run", "--json")).stdout)
        assert server.requests == []
    assert words.returncode == 0
    assert words.stdout.startswith("10 calls; about ")
    assert told["calls"] == 10
    assert told["money"] > 0
    assert not calibrations_file().exists()


def test_it_stops_before_the_limit_is_passed(here: Run) -> None:
    with chat_server(verdicts) as server:
        told = judges(here(*with_llm(server, "--json", "--max-cost", "0.0000001")).stdout)[0]
        assert server.requests == []
    assert sum(told["unscored"].values()) == 20
    assert any("limit" in reason for reason in told["unscored"])


@pytest.mark.unwatched
def test_the_key_appears_nowhere(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_API_KEY", "sk-very-secret-0123456789")
    with chat_server(verdicts) as server:
        ran = here(*with_llm(server, "--json"))
    assert ran.returncode == 0
    written = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert len(written) > 1
    for said in (
        ran.stdout.encode(),
        ran.stderr.encode(),
        *(path.read_bytes() for path in written),
    ):
        assert b"very-secret" not in said


def test_several_judges_stand_beside_each_other(here: Run) -> None:
    with chat_server(verdicts) as server:
        named = ("--judge", "similarity,llm", "--llm", server.name(), "--count", "12")
        ran = here(*BASE, *named)
    assert ran.returncode == 0, ran.stderr
    assert "llm agrees best" in ran.stdout
    assert ran.stdout.index("\nllm ") < ran.stdout.index("\nsimilarity ")  # the better one first
    assert "best threshold here" in ran.stdout


def test_the_threshold_of_similarity_is_told_and_nothing_is_changed(here: Run) -> None:
    (told,) = judges(here(*BASE, "--json", "--count", "12").stdout)
    assert told["name"] == "similarity"
    assert told["judge"].endswith(":0.7")
    assert set(told["best_threshold"]) == {"value", "kappa", "kappa_elsewhere"}
    other = ("--similarity-threshold", str(told["best_threshold"]["value"]))
    (better,) = judges(here(*BASE, "--json", "--count", "12", *other).stdout)
    assert better["kappa"]["mean"] == pytest.approx(told["best_threshold"]["kappa"])
    assert known_calibration(told["judge"]) is not None
    assert known_calibration(better["judge"]) is not None


def test_labels_are_the_truth_where_there_are_any(here: Run, tmp_path: Path) -> None:
    text = (tmp_path / "docs" / "duties-0.md").read_text()
    rows = json.loads((tmp_path / "queries.json").read_text())[:10]
    for number, row in enumerate(rows):
        wrong = passage((number + 1) % 10)
        row["labels"] = [
            {
                "doc_id": "duties-0.md",
                "start": text.index(said),
                "end": text.index(said) + len(said),
                "relevant": said != wrong,
            }
            for said in (passage(number), wrong)
        ]
    (tmp_path / "queries.json").write_text(json.dumps(rows))
    ran = here(*BASE, "--judge", "spans", "--json", "--count", "20")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["against"], told["relevant"], told["irrelevant"]) == ("labels", 10, 10)
    assert told["judges"][0]["kappa"]["mean"] == 1.0
    refused = here(*BASE, "--judge", "labels")
    assert refused.returncode == 2
    assert "always be right" in refused.stderr


def test_without_a_name_the_local_model_is_meant(here: Run) -> None:
    ran = here(*BASE, "--judge", "llm", "--count", "4", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert "using the small local one" in ran.stderr
    assert "calls" in ran.stdout + ran.stderr


@cases(
    "words, said",
    [
        (("--judge", "oracle"), "oracle"),
        (("--judge", "similarity(threshold=0.5)"), "use --judge similarity"),
        (("--judge", ""), "judges is ''"),
        (("--judge", "similarity", "--dry-run"), "add --judge llm"),
        (("--judge", "similarity", "--max-cost", "1"), "--max-cost is given"),
        (("--judge", "spans"), "always be right; add --against labels"),
        (("--against", "moon"), "moon"),
        (("--count", "1"), "1"),
        (("--similarity-threshold", "7"), "7"),
        (("--judge", "llm", "--llm", "nobody"), "nobody"),
        (("--judge", "spans", "--relevance-threshold", "0"), "0"),
    ],
)  # fmt: skip
def test_wrong_words_are_told_and_nothing_is_written(
    here: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    ran = here(*BASE, *words)
    assert ran.returncode == 2, ran.stderr
    assert said in " ".join(ran.stderr.split())
    assert ran.stdout == ""
    assert not (tmp_path / "home" / "calibrations.json").exists()


def test_labels_that_are_not_there_and_files_that_are_not_there_are_errors(here: Run) -> None:
    ran = here(*BASE, "--against", "labels")
    assert ran.returncode == 1
    assert "no question has a labeled passage" in ran.stderr
    missing = here("testset", "calibrate", "docs", "--test-queries", "none.json")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "none.json does not exist" in missing.stderr


def test_a_home_that_cannot_be_written_does_not_cost_the_figures(here: Run, tmp_path: Path) -> None:
    calibrations_file().mkdir(parents=True)
    with chat_server(verdicts) as server:
        ran = here(*with_llm(server))
    assert ran.returncode == 0
    assert "Cohen’s κ" in ran.stdout
    assert "cannot write" in ran.stderr


@pytest.mark.unwatched
def test_a_model_of_the_environment_is_not_asked_unless_it_is_wanted(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chat_server(verdicts) as server:
        monkeypatch.setenv("CHUNKWISE_LLM", server.name())
        (told,) = judges(here(*BASE, "--json", "--count", "4").stdout)
        assert told["name"] == "similarity"
        assert server.requests == []
        (told,) = judges(here(*BASE, "--json", "--count", "4", "--judge", "llm").stdout)
        assert told["name"] == "llm"
        assert len(server.requests) == 2


@pytest.mark.unwatched
def test_a_judge_that_could_not_be_asked_is_not_called_weak(here: Run) -> None:
    refused = {"error": {"message": "no such key"}}
    with chat_server(lambda payload: (401, refused)) as server:
        shown = here(*with_llm(server))
        ran = here(*with_llm(server, "--json"))
    assert shown.returncode == ran.returncode == 3
    for said in (shown.stdout, shown.stderr, ran.stderr):
        assert "this judge failed" in " ".join(said.split())
        assert "no such key" in " ".join(said.split())
    (told,) = judges(ran.stdout)
    assert "no such key" in told["error"]
    assert "too weak" not in shown.stdout + shown.stderr + ran.stdout + ran.stderr
    assert not calibrations_file().exists()


@pytest.mark.unwatched
def test_a_limit_that_lets_nothing_pass_is_told_as_such(here: Run) -> None:
    with chat_server(verdicts) as server:
        ran = here(*with_llm(server, "--json", "--max-cost", "0.0000001"))
    assert ran.returncode == 3
    assert "limit" in judges(ran.stdout)[0]["error"]
    assert "too weak" not in ran.stdout + ran.stderr

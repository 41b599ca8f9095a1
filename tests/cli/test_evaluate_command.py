"""`chunkwise evaluate` as a user runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

import chunkwise
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import read_results
from cli.in_process import Run, here
from tables import cases
from untimed import HANG

__all__ = ["here"]  # a fixture

SCRIPT = Path(__file__).parents[2] / "scripts" / "evaluate_chunking.py"
LEAVE = (
    "# Leave\n\nAsk in writing, two weeks before. The harbour master approves it.\n\n"
    "## Sick leave\n\nNo note is needed for three days. It is paid in full.\n"
)
HOURS = (
    "The day shift begins at five. The night shift ends at nine. Nobody works on the longest night."
)
FAST = ("--retriever", "bm25", "--metrics", "retrieval,boundary_issues,completeness")


def reference(doc_id: str, text: str, passage: str) -> dict[str, Any]:
    start = text.index(passage)
    return {"doc_id": doc_id, "start": start, "end": start + len(passage)}


ASKED = [
    {"id": "who", "question": "Who approves leave?", "answer": "The harbour master approves it.",
     "references": [reference("leave.md", LEAVE, "The harbour master approves it.")], "type": "who"},
    {"id": "when", "question": "When does the day shift begin?", "facts": ["five"],
     "references": [reference("hours.txt", HOURS, "The day shift begins at five.")], "type": "when"},
    {"id": "note", "question": "Is a doctor's note needed?",
     "references": [reference("leave.md", LEAVE, "No note is needed for three days.")], "type": "who"},
]  # fmt: skip


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE)
    (folder / "hours.txt").write_text(HOURS)
    write(tmp_path / "queries.json", ASKED)
    return folder


def write(path: Path, rows: object) -> None:
    path.write_text(json.dumps(rows, indent=1))


@pytest.mark.unwatched
def test_groups_are_shown_by_the_metric_that_was_typed_first(here: Run, texts: Path) -> None:
    asked = (
        "evaluate",
        "texts",
        "--test-queries",
        "queries.json",
        "--retriever",
        "bm25",
        "--metrics",
    )
    for typed, first in (
        ("all_found@2,recall@5", "all_found@2"), ("recall@5,all_found@2", "recall@5"),
        ("boundary_issues,mrr,recall", "mrr@5"), ("retrieval", "recall@5"),
    ):  # fmt: skip
        done = here(*asked, typed)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[2].startswith(first), typed


def test_the_shortest_command_answers_the_four_questions(here: Run, texts: Path) -> None:
    done = here("evaluate", "texts", "--test-queries", "queries.json")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 25
    for name in (
        "retrieval_precision",
        "completeness",
        "boundary_issues",
        "citation_accuracy",
        "recall@5",
    ):
        assert name in done.stdout, name
    assert "not computed: " in done.stdout
    assert "3 questions · 2 documents" in done.stdout
    assert len(here("evaluate", "texts", "-Q", "queries.json", "-v").stdout) > 3 * len(done.stdout)


@pytest.mark.unwatched
def test_results_page_and_what_is_said(here: Run, texts: Path, tmp_path: Path) -> None:
    words = ("evaluate", "texts", "--test-queries", "queries.json", *FAST)
    done = here(*words, "--output", "results.json", "--html", "page.html")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-2:] == ["written: results.json", "written: page.html"]
    results = read_results(tmp_path / "results.json")
    assert [question.id for question in results.questions] == ["who", "when", "note"]
    known = evaluate("texts", "queries.json", retriever="bm25",
                     metrics="retrieval,boundary_issues,completeness")  # fmt: skip
    assert results == known
    page = (tmp_path / "page.html").read_text()
    assert "Who approves leave?" in page
    again = here(*words, "-o", "again.json", "--quiet")
    assert (again.stdout, again.stderr) == ("", "")
    one, two = (
        json.loads((tmp_path / name).read_text()) for name in ("results.json", "again.json")
    )
    del one["timing"], two["timing"]
    assert one == two


def test_json_is_all_there_is_on_stdout(here: Run, texts: Path) -> None:
    done = here(
        "evaluate", "texts", "--test-queries", "queries.json", *FAST, "--json", "-o", "x.json"
    )
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["summary"]["recall@5"]["mean"] == 1.0
    assert "written: x.json" in done.stderr


def test_metrics_by_name_and_names_that_are_none(here: Run, texts: Path) -> None:
    words = ("evaluate", "texts", "--test-queries", "queries.json", "--retriever", "bm25", "--json")
    done = here(*words, "--metrics", "hit@2, recall@100t,boundary_issues")
    assert list(json.loads(done.stdout)["summary"])[:3] == [
        "recall@100t",
        "hit@2",
        "boundary_issues",
    ]
    for wrong, near in (
        ("recal@5", "recall"),
        ("completness", "completeness"),
        ("boundry_issues", "boundary_issues"),
    ):
        done = here(*words, "--metrics", wrong)
        assert done.returncode == 2
        assert done.stdout == ""
        assert f"unknown metric '{wrong}'; did you mean" in done.stderr
        assert near in done.stderr
    assert "known: all, retrieval" in here(*words, "--metrics", "zzz").stderr
    assert (
        "expected a number of hits after @, as in" in here(*words, "--metrics", "recall@x").stderr
    )


@cases(
    "words, told",
    [
        (["--k5"], "no such option"),
        (["-k", "0"], "k is 0"),
        (["--budget", "0"], "budget is 0"),
        (["--unit", "words"], "invalid value for '--unit'"),
        (["--retriever", "bm52"], "bm25"),
        (["-s", "sentenses"], "sentences"),
        (["-s", "sentences(max_tokens=0)"], "max_tokens"),
        (["--mmr", "2", "--retriever", "bm25"], "mmr is 2"),
        (["--relevance-threshold", "7"], "relevance_threshold is 7"),
        (["--fail-under", "recall"], "t a limit; expected METRIC=VALUE, such as recall@5=0"),
        (["--fail-under", "recall@7=0.8"], "recall@7 isn't measured here; measured: recall@5"),
        (["--fail-over", "nonsense=1"], "unknown metric"),
        (["--html", "page.txt"], "expected an ending of .html"),
        (["--output", "queries.json"], "queries.json is an input and would be overwritten"),
        (["--output", "texts/leave.md", "--documents", "texts/leave.md"], "would be overwritten"),
        (["--html", "hits.html", "--hits", "hits.html"], "would be overwritten"),
    ],
)  # fmt: skip
def test_wrong_words_are_told_in_a_line(
    here: Run, texts: Path, words: list[str], told: str
) -> None:
    before = {path: path.read_bytes() for path in texts.parent.rglob("*") if path.is_file()}
    done = here("evaluate", "texts", "--test-queries", "queries.json", "--vectors", "none", *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""
    assert before == {path: path.read_bytes() for path in texts.parent.rglob("*") if path.is_file()}


def test_a_number_of_hits_within_a_budget_is_refused(here: Run, texts: Path) -> None:
    words = (
        "evaluate",
        "texts",
        "--test-queries",
        "queries.json",
        "--metrics",
        "retrieval",
        "-k",
        3,
    )
    done = here(*words, "--budget", 80)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a budget of 80 tokens" in done.stderr
    assert "leave out -k or --budget" in done.stderr
    done = here(*words, "--retriever", "multiscale")
    assert done.returncode == 2
    assert "leave out -k or --budget" in done.stderr
    advised = here(*words[:-3], "all_found@3", "--retriever", "multiscale")
    assert advised.returncode == 0, advised.stderr
    assert "all_found@3" in advised.stdout
    recommended = 'strategy = "sentences"\nretriever = "bm25"\nvectors = "none"\nbudget = 90\n'
    (texts.parent / "recommended.toml").write_text(recommended)
    done = here(*words, "--config", "recommended.toml", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["configuration"]["budget"] is None
    assert "recall@3" in json.loads(done.stdout)["summary"]
    assert here(*words, "--config", "recommended.toml", "--budget", 80).returncode == 2
    assert here(*words[:-2], "--config", "recommended.toml").returncode == 0


def test_questions_without_any_reference_are_wrong_usage(here: Run, texts: Path) -> None:
    write(texts.parent / "bare.json", [{"query": "Who approves leave?"}])
    words = ("evaluate", "texts", "--test-queries", "bare.json", "--retriever", "bm25", "--metrics")
    for metrics in ("all", "recall,mrr"):
        done = here(*words, metrics)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "no question of bare.json has a reference" in done.stderr
    assert here(*words, "boundary_issues").returncode == 0
    done = here("tune", "texts", "--test-queries", "bare.json", "--embedder", "none")
    assert done.returncode == 2


def test_a_generated_test_set_is_marked_in_every_result(here: Run, texts: Path) -> None:
    folder = texts.parent
    rows = [{**row, "generated": {"by": "rules"}} for row in ASKED]
    write(folder / "made.json", rows)
    words = ("--test-queries", "made.json", "--retriever", "bm25", "--metrics", "recall")
    note = "questions were generated"
    assert note in here("evaluate", "texts", *words, "-o", "r.json", "--html", "r.html").stdout
    here("evaluate", "texts", *words, "-s", "sentences(max_tokens=20)", "-o", "s.json")
    assert read_results(folder / "r.json").data["questions"]["generated"] == len(rows)  # type: ignore[index,call-overload]
    assert note in (folder / "r.html").read_text(encoding="utf-8")
    assert note in " ".join(here("compare", "r.json", "s.json").stdout.split())
    tuned = here("tune", "texts", "--test-queries", "made.json", "--embedder", "none")
    assert note in " ".join(tuned.stdout.split())
    write(folder / "made.json", ASKED)
    here("evaluate", "texts", *words, "-o", "r.json")
    assert "generated" not in read_results(folder / "r.json").data["questions"]  # type: ignore[operator]


def test_questions_have_to_be_named(here: Run, texts: Path) -> None:
    done = here("evaluate", "texts")
    assert done.returncode == 2
    assert "--queries" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["texts", "--test-queries", "nowhere.json"], "nowhere.json does not exist"),
        (["texts", "--test-queries", "queries.json", "--hits", "none.jsonl"], "none.jsonl does not exist"),
        (["texts", "--test-queries", "empty.json"], "empty.json"),
        (["texts", "--test-queries", "empty-list.json"], "no usable questions in empty-list.json"),
        (["nothing", "--test-queries", "queries.json"], "no readable documents (1 skipped)"),
        (["hollow", "--test-queries", "queries.json"], "no readable documents (1 skipped)"),
        (["texts", "--test-queries", "queries.json", "--split", "test"], "it is not split"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_in_a_line(
    here: Run, texts: Path, tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "empty-list.json").write_text("[]")
    (tmp_path / "hollow").mkdir()
    done = here("evaluate", *words, *(() if "--hits" in words else ("--vectors", "none")))
    assert done.returncode == 1, done.stderr
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_bad_questions_are_named_with_their_line_and_the_rest_is_evaluated(
    here: Run, texts: Path, tmp_path: Path
) -> None:
    rows = [
        ASKED[0],
        {"id": "unknown", "question": "Which?", "references": [{"doc_id": "lost.md", "start": 0, "end": 5}]},
        {"id": "outside", "question": "Where?", "references": [{"doc_id": "hours.txt", "start": 5, "end": 9999}]},
        {"id": "quoted", "question": "What?", "references": [{"doc_id": "hours.txt", "text": "Nobody sleeps at all"}]},
        {"id": "who", "question": "Who approves it?"},
        {"id": "blank", "question": " "},
        ASKED[1],
    ]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in rows) + "{broken\n"
    (tmp_path / "queries.jsonl").write_text(lines)
    (texts / "broken.md").write_bytes(b"\xff\xfe\x00\xd8\x00")
    done = here("evaluate", "texts", "--test-queries", "queries.jsonl", *FAST, "-o", "results.json")
    assert done.returncode == 3, done.stderr
    (told,) = [line for line in done.stderr.splitlines() if "skipped 6 questions" in line]
    skipped = Path(told.partition("listed in ")[2].partition(";")[0]).read_text().splitlines()
    for number, words in (
        (2, "lost.md"),
        (3, "9,999|9999"),
        (4, "Nobody sleeps"),
        (5, "'who'"),
        (6, "empty"),
        (8, ""),
    ):
        of_line = [line for line in skipped if f"queries.jsonl, line {number}" in line]
        assert len(of_line) >= 1, (number, skipped)
        assert re.search(words, of_line[0]), of_line
    results = read_results(tmp_path / "results.json")
    assert [question.id for question in results.questions] == ["who", "when"]
    assert results.data["left_out_questions"] == skipped
    strict = here("evaluate", "texts", "--test-queries", "queries.jsonl", *FAST, "--strict")
    assert strict.returncode == 1
    assert len(strict.stderr.splitlines()) == 1
    assert strict.stdout == ""


def test_a_document_of_another_encoding_is_left_out_or_read_as_told(
    here: Run, texts: Path, tmp_path: Path
) -> None:
    (texts / "latin.txt").write_bytes("Der Pförtner öffnet um fünf.".encode("latin-1") * 3)
    words = ("evaluate", "texts", "--test-queries", "queries.json", *FAST)
    done = here(*words, "-o", "results.json")
    told = here(*words, "--encoding", "latin-1", "-o", "told.json")
    assert told.returncode == 0
    counts = [
        read_results(tmp_path / name).data["documents"]["count"]
        for name in ("results.json", "told.json")
    ]  # type: ignore[index,call-overload]
    assert counts[1] == 3
    assert (done.returncode, counts[0]) in {(3, 2), (0, 3)}
    if done.returncode == 3:
        assert "latin.txt" in done.stderr


def test_limits_for_a_pipeline(here: Run, texts: Path, tmp_path: Path) -> None:
    words = ("evaluate", "texts", "--test-queries", "queries.json", *FAST, "--quiet")
    assert (
        here(*words, "--fail-under", "recall@5=1", "--fail-over", "failure@20=0%").returncode == 0
    )
    assert (
        here(*words, "--fail-under", "recall=.9", "--fail-over", "boundary_issues=1").returncode
        == 0
    )
    done = here(
        *words,
        "--fail-under",
        "precision@5=99%",
        "--fail-over",
        "recall@5=0.5",
        "-o",
        "results.json",
    )
    assert done.returncode == 4
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r"chunkwise: precision@5 is \d+%, [\d.]+ pts under .*99%.*", lines[0])
    assert lines[1].startswith("chunkwise: recall@5 is 100%, 50.0 pts over")
    assert (tmp_path / "results.json").exists(), "what was measured is kept"
    bare = [{"id": "x", "question": "Who approves leave?"}]
    write(tmp_path / "bare.json", bare)
    done = here(
        "evaluate", "texts", "--test-queries", "bare.json", *FAST, "--fail-under", "recall@5=0"
    )
    assert done.returncode == 4
    assert "recall@5 is unscored" in done.stderr


def test_documents_beside_the_questions_are_taken_and_nothing_else(
    here: Run, texts: Path, tmp_path: Path
) -> None:
    write(texts / "queries.json", ASKED)
    hits = [{"query_id": "who", "doc_id": "leave.md", "start": 9, "end": 80}]
    write(texts / "hits.json", hits)
    write(texts / "answers.json", [{"query_id": "who", "answer": "The harbour master."}])
    words = ("evaluate", "--test-queries", "texts/queries.json", "--answers", "texts/answers.json")
    outputs = ("-o", "texts/results.json", "--html", "texts/page.html")
    done = here(*words, "--hits", "texts/hits.json", "--metrics", "recall", *outputs)
    assert done.returncode == 0, done.stderr
    assert "no documents given: using those in texts/" in done.stderr
    results = read_results(texts / "results.json")
    assert results.data["documents"]["count"] == 2  # type: ignore[index,call-overload]
    assert results.summary["recall@5"].mean == pytest.approx(1 / 3)
    (texts / "hits.json").unlink()
    done = here(*words, "--retriever", "bm25", "--metrics", "recall", *outputs)
    assert done.returncode == 0, done.stderr
    assert read_results(texts / "results.json").data["documents"]["count"] == 2  # type: ignore[index,call-overload]


def test_what_counts_is_not_said_to_be_skipped(here: Run, texts: Path) -> None:
    write(texts.parent / "hits.json", [{"query_id": "who", "text": "Nobody wrote this."}])
    words = ("evaluate", "texts", "--test-queries", "queries.json")
    done = here(*words, "--hits", "hits.json", "--metrics", "recall")
    assert done.returncode == 3
    (told,) = (line for line in done.stderr.splitlines() if "hits.json" in line)
    assert told.startswith("chunkwise: hits.json, entry 1")
    assert told.endswith("it counts as an irrelevant hit")


def test_hits_and_chunks_of_others(here: Run, texts: Path, tmp_path: Path) -> None:
    write(tmp_path / "hits.json", [{"query_id": "who", "doc_id": "leave.md", "text": "The harbour master approves it."},
                                   {"query_id": "who", "doc_id": "lost.md", "text": "x"}])  # fmt: skip
    words = ("evaluate", "--documents", "texts", "--test-queries", "queries.json")
    done = here(*words, "--hits", "hits.json", "--json", "--metrics", "recall,precision")
    assert done.returncode == 3
    assert "hits.json" in done.stderr
    assert "lost.md" in done.stderr
    first = json.loads(done.stdout)["questions"][0]["scores"]
    # What is found nowhere was handed out all the same: one character of it is known.
    assert first == {"recall@5": 1.0, "precision@5": pytest.approx(31 / 32)}
    done = here(*words, "--hits", "hits.json", "--retriever", "bm25")
    assert done.returncode == 2
    assert "apply to hits from a file" in done.stderr


@pytest.mark.unwatched
def test_an_index_is_asked_as_it_is(here: Run, texts: Path) -> None:
    assert here("index", "texts", "--into", "kb", "--vectors", "none", "-q").returncode == 0
    words = ("--test-queries", "queries.json", "--metrics", "recall,mrr", "--json")
    made, fresh = (
        here("evaluate", "kb", *words),
        here("evaluate", "texts", "--vectors", "none", *words),
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["summary"] == json.loads(fresh.stdout)["summary"]
    done = here("evaluate", "kb", *words, "-s", "sentences")
    assert done.returncode == 2
    assert "strategy is 'sentences'; the index was built with 'structure" in done.stderr


def test_a_narrow_terminal(
    here: Run, texts: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    many = [
        {**ASKED[number % 3], "id": f"q{number}", "type": f"type {number % 4} " + "x" * 50}
        for number in range(8)
    ]
    write(tmp_path / "many.json", many)
    done = here("evaluate", "texts", "--test-queries", "many.json", "--vectors", "none", "-k", "1")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert "recall@1" in done.stdout


EVIL = "\x1b[2J\x1b]0;owned\x07[bold red]x[/] \u202e\x9b31m\r"


def test_hostile_text_cannot_move_the_cursor(here: Run, tmp_path: Path) -> None:
    text = (
        f"The {EVIL} gate opens at dawn. "
        + "Nothing else happens here at all. " * 40
        + f"Then {EVIL} it closes."
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gate.txt").write_text(text, newline="")
    read = next(iter(chunkwise.read(str(tmp_path / "docs"))))
    rows = [
        {"id": f"q{EVIL}{number}", "question": f"When {EVIL} does it close?", "type": f"{EVIL}{number}",
         "references": [{"doc_id": read.id, "start": len(read.text) - 12, "end": len(read.text)}]}
        for number in range(2)
    ]  # fmt: skip
    rows.append(
        {
            "id": EVIL,
            "question": EVIL,
            "references": [{"doc_id": f"lost{EVIL}", "start": 0, "end": 3}],
        }
    )
    write(tmp_path / "queries.json", rows)
    done = here("evaluate", "docs", "--test-queries", "queries.json", *FAST, "-k", "1",
                "-s", "sentences(max_tokens=20)", "--html", "page.html")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    for stream in (done.stdout, done.stderr):
        assert not set(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", stream))
    assert "[bold red]x[/]" in done.stdout, "markup is shown, not obeyed"
    strict = here("evaluate", "docs", "--test-queries", "queries.json", *FAST, "--strict")
    assert strict.returncode == 1
    assert "\x1b" not in strict.stderr
    assert "\x1b" not in (tmp_path / "page.html").read_text()


@pytest.mark.usefixtures("processes")
def test_the_script_is_the_same_command(here: Run, texts: Path, tmp_path: Path) -> None:
    words = ["texts", "--test-queries", "queries.json", *FAST, "-o", "script.json"]
    done = here(*words, start=lambda: run_path(str(SCRIPT), run_name="__main__"))
    assert done.returncode == 0, done.stderr
    assert "recall@5" in done.stdout
    assert read_results(tmp_path / "script.json").summary["recall@5"].mean == 1.0
    assert SCRIPT.read_text().startswith("#!/usr/bin/env python3\n")
    assert os.access(SCRIPT, os.X_OK)
    alone = subprocess.run([sys.executable, "-S", "-E", SCRIPT], cwd=tmp_path, capture_output=True, text=True,
                           timeout=HANG)  # fmt: skip
    assert alone.returncode == 1
    assert "chunkwise is not installed here" in alone.stderr
    assert len(alone.stderr.splitlines()) == 1


def test_two_types_are_held_against_each_other(here: Run, texts: Path) -> None:
    words = ("evaluate", "texts", "--test-queries", "queries.json", *FAST)
    named = here(*words, "--types", "when, who")
    assert named.returncode == 0
    assert "From when to who questions recall@5 drops by" in " ".join(named.stdout.split())
    wrong = here(*words, "--types", "when,why", "-o", "kept.json")
    assert wrong.returncode == 2
    assert "--types: " in wrong.stderr
    assert (texts.parent / "kept.json").exists()
    assert here(*words, "--types", "when").returncode == 2


def test_budgets_are_counted_by_the_tokenizer_that_is_named(here: Run, texts: Path) -> None:
    words = ("evaluate", "texts", "--test-queries", "queries.json", "--retriever", "bm25")
    words += ("--metrics", "recall@12t", "--json")
    usual, named, letters = (
        json.loads(here(*words, *more).stdout)
        for more in (
            (),
            ("--tokenizer", "text-embedding-3-large"),
            ("--tokenizer", "characters", "--budget", "12"),
        )
    )
    assert usual["configuration"]["tokenizer"] == "o200k_base"
    assert named["configuration"]["tokenizer"] == "cl100k_base"
    assert all(each["context_tokens"] <= 12 for each in letters["questions"])
    # Twelve characters hold no passage that answers, twelve tokens do.
    recall = [run["summary"]["recall@12t"]["mean"] for run in (usual, letters)]
    assert recall[1] < recall[0]
    wrong = here(*words, "--tokenizer", "cl100k")
    assert wrong.returncode == 2
    assert "unknown tokenizer 'cl100k'; did you mean cl100k_base?" in wrong.stderr


def test_hits_of_another_system_are_counted_by_it_too_and_compare_says_when_runs_differ(
    here: Run, texts: Path, tmp_path: Path
) -> None:
    hit = {"query_id": "who", "doc_id": "leave.md", "start": 0, "end": 70, "rank": 1}
    (tmp_path / "theirs.jsonl").write_text(json.dumps(hit) + "\n")
    words = (
        "evaluate",
        "--hits",
        "theirs.jsonl",
        "--documents",
        "texts",
        "-q",
        "--metrics",
        "recall@20t",
    )
    words += ("--test-queries", "queries.json")
    for name, more in (("a", ()), ("b", ("--tokenizer", "characters"))):
        assert here(*words, *more, "-o", f"{name}.json").returncode == 0
    a, b = (read_results(tmp_path / f"{name}.json") for name in "ab")
    assert (a.configuration["tokenizer"], b.configuration["tokenizer"]) == (
        "o200k_base",
        "characters",
    )
    assert b.questions[0].context_tokens == 70
    told = here("compare", "a.json", "b.json").stdout
    assert "tokenizer differs" in " ".join(told.split())


@pytest.mark.usefixtures("texts")
def test_quiet_results_that_no_file_takes_are_shown(here: Run) -> None:
    words = ("evaluate", "texts", "--test-queries", "queries.json", *FAST, "-q")
    shown = here(*words)
    assert "recall" in shown.stdout
    assert shown.stderr == ""
    assert here(*words, "-o", "run.json").stdout == ""


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-k", "9" * 20), "k is 9"),
        (("--budget", "9" * 20), "budget is 9"),
        (("--where", "year>>3"), "where is 'year>>3'"),
        (("--tokenizer", ""), "unknown tokenizer ''"),
        (("--tokenizer", " "), "unknown tokenizer ' '"),
    ],
)
def test_impossible_options_are_one_clear_line(
    here: Run, words: tuple[str, ...], told: str
) -> None:
    done = here("evaluate", "texts", "--test-queries", "queries.json", *words)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_an_address_whose_package_is_missing_is_told_what_to_install(here: Run) -> None:
    done = here("chunk", "gs://bucket/docs")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == (
        "chunkwise: skipped gs://bucket/docs: gs:// needs a package: pip install 'chunkwise[remote]' gcsfs"
    )

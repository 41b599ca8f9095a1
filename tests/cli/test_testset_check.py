"""`chunkwise testset check`: questions against documents, as a user runs it."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here
from tables import cases

__all__ = ["here"]  # a fixture

ASK = "Ask in writing."


def write(path: Path, *rows: object) -> Path:
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return path


def test_a_sound_file(here: Run, handbook: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "q.json", {"query": "How do I ask for leave?", "relevant_text": ASK})
    done = here("testset", "check", file, handbook)
    assert done.returncode == 0
    assert "▲ 1 question, no problems\n" in done.stdout
    assert done.stderr == ""


def test_every_problem_is_a_line_and_what_is_repaired_is_written(
    here: Run,
    handbook: Path,
    tmp_path: Path,
) -> None:
    write(
        tmp_path / "q.json",
        {"query": "How?", "references": [{"doc_id": "leave", "start": 0, "end": 9, "text": ASK}]},
        {"query": "Note?", "relevant_text": "No notes."},
        {"query": "how", "answer": "in writing"},
        {"query": "Nothing?"},
        {"query": "Where?", "references": [{"doc_id": "page.htm", "start": 0, "end": 3}]},
        7,
    )
    done = here("testset", "check", "q.json", "handbook", "-o", "repaired.json")
    assert done.returncode == 3
    said = " ".join(done.stdout.split())
    for expected in (
        "2 questions can be scored", "1: different text q.json, entry 1",
        "9–24 of 'leave.md' (repaired)", "2: not found q.json, entry 2", "(left out) nearest, leave.md ",
        "near: 'page.html'", "3: duplicate question q.json, entry 3", "no references 1 0 0",
    ):  # fmt: skip
        assert expected in said
    assert done.stderr == "written: repaired.json (3 questions)\n"
    written = json.loads((tmp_path / "repaired.json").read_text())
    assert written[0]["references"] == [{"doc_id": "leave.md", "start": 9, "end": 24, "text": ASK}]
    assert [row["query_id"] for row in written] == ["1", "3", "4"]
    again = here("testset", "check", "repaired.json", "handbook", "--json")
    told = json.loads(again.stdout)
    assert told["summary"] == {"duplicate_question": 1, "no_references": 1}
    assert (told["questions"], told["usable"]) == (3, 2)


def test_json_has_all_of_it(here: Run, handbook: Path, tmp_path: Path) -> None:
    write(
        tmp_path / "q.json",
        *[{"query": f"{n}?", "relevant_text": "It was paid."} for n in range(30)],
    )
    done = here("testset", "check", "q.json", handbook, "--json")
    assert done.returncode == 3
    told = json.loads(done.stdout)
    assert told["questions"] == 0
    assert told["summary"] == {"not_found": 30}
    assert len(told["problems"]) == 30
    assert told["problems"][0]["nearest"] == {
        "doc_id": "leave.md",
        "start": 25,
        "end": 36,
        "text": "It is paid.",
    }
    shown = here("testset", "check", "q.json", handbook, "--show", "3")
    assert shown.stdout.count("nearest, leave.md 25–36: It is paid.") == 3
    assert "not found 30 0 30" in " ".join(shown.stdout.split())


def test_remarks_are_problems_for_the_strict(here: Run, handbook: Path, tmp_path: Path) -> None:
    text = "Five to one. One to nine. Five to one. One to nine. Five"
    (handbook / "more.txt").write_text(text)
    file = write(
        tmp_path / "q.json",
        {"query": "Hours?", "references": [{"doc_id": "more.txt", "start": 0, "end": 2}]},
    )
    words = ["testset", "check", file, handbook / "more.txt"]
    assert here(*words).returncode == 0
    assert "short reference" in here(*words).stdout
    assert here(*words, "--strict").returncode == 3


def test_the_documents_of_an_index(here: Run, handbook: Path, tmp_path: Path) -> None:
    assert here("index", handbook, "--into", "kb", "--vectors", "none", "-q").returncode == 0
    file = write(tmp_path / "q.jsonl", {"query": "How?", "relevant_text": ASK})
    assert here("testset", "check", file, "kb").returncode == 0


def test_the_questions_may_lie_among_the_documents(here: Run, handbook: Path) -> None:
    write(handbook / "q.json", {"query": "How?", "relevant_text": "Lit at dusk."})
    done = here(
        "testset", "check", handbook / "q.json", handbook, "-o", handbook / "r.json", "--json"
    )
    assert done.returncode == 0
    again = here(
        "testset", "check", "-", handbook / "page.html", stdin=(handbook / "r.json").read_text()
    )
    assert again.returncode == 0


@cases(
    "words, status, said",
    [
        (
            ["q.json"],
            2,
            "no documents given; expected the files, folders or index the questions are about",
        ),
        (["q.json", "handbook", "-o", "q.json"], 2, "q.json is an input and would be overwritten"),
        (["none.json", "handbook"], 1, "cannot read the questions in none.json"),
        (["q.json", "nowhere"], 1, "no readable documents"),
        (["q.json", "handbook", "--from", "squid"], 2, "squid"),
        (["-", "-"], 2, "t both be read from standard input"),
        (["text.txt", "handbook"], 1, "has an unknown format"),
        (
            ["wide.json", "handbook"],
            1,
            "looks like UTF-16-LE without a byte order mark; save it as UTF-8",
        ),
        (["empty.json", "handbook"], 1, "no questions in empty.json; expected [{"),
        (["list.json", "handbook"], 1, "no questions in list.json"),
        (["-", "handbook"], 1, "no questions in standard input"),
    ],
)
def test_errors_are_one_line(
    here: Run,
    handbook: Path,
    tmp_path: Path,
    words: list[str],
    status: int,
    said: str,
) -> None:
    write(tmp_path / "q.json", {"query": "x", "relevant_text": ASK})
    (tmp_path / "text.txt").write_text("just a text")
    (tmp_path / "wide.json").write_bytes('[{"query": "ä"}]'.encode("utf-16-le"))
    (tmp_path / "empty.json").write_text(" \n")
    (tmp_path / "list.json").write_text("[]")
    done = here("testset", "check", *words, stdin="[]")
    assert done.returncode == status
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_fields_that_are_not_read_are_told(here: Run, handbook: Path, tmp_path: Path) -> None:
    write(tmp_path / "q.json", {"query": "How?", "relevant_text": ASK, "level": 3, "note": "x"})
    done = here("testset", "check", "q.json", handbook)
    assert done.returncode == 0
    assert "unknown fields: 'level' (1 question), 'note' (1 question)\n" in done.stdout
    assert here("testset", "check", "q.json", handbook, "--strict").returncode == 3
    write(tmp_path / "q.json", {"query": "How?", "relevent_text": ASK})
    done = here("testset", "check", "q.json", handbook)
    assert done.returncode == 3
    assert "unknown field" in done.stdout


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("quiet", [False, True])
def test_a_long_check_gives_signs_of_life(
    here: Run, handbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    from chunkwise.cli import progress

    monkeypatch.setenv(progress.VARIABLE, "-1.0")
    rows = ({"query": f"How {n}?", "relevant_text": ASK} for n in range(2001))
    write(tmp_path / "q.json", *rows)
    done = here("testset", "check", "q.json", handbook, *["-q"] * quiet)
    assert done.returncode == 0
    assert "2,001 questions, no problems\n" in done.stdout
    told = (
        "reading documents: 1 document read", "checking questions: 2,000 questions read",
        "looking for 2,001 passages", "2,001 questions and the documents are compared",
    )  # fmt: skip
    assert all(each in done.stderr for each in told) is not quiet
    assert bool(done.stderr) is not quiet


def test_hostile_text_is_harmless(here: Run, tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text(
        "The lamp \x1b[31mis lit\x07 at dusk and burns till dawn.\u202e"
    )
    evil = {
        "id": "a\x1b]0;owned\x07",
        "query": "[bold]x[/]",
        "relevant_text": "The lamp \x1b[31mis lid\x07 at\u202e dusk",
    }
    write(
        tmp_path / "q.json",
        evil,
        {"query": "y", "references": [{"doc_id": "\x1b[2J", "start": 0, "end": 1}]},
    )
    done = here("testset", "check", "q.json", "d.txt")
    assert done.returncode == 3
    assert "nearest, d.txt" in done.stdout
    for sign in ("\x1b", "\x07", "\u202e", "owned"):
        assert sign not in done.stdout


@cases(
    "testset",
    [[{"query": "where?", "relevant_text": "heron of gold", "document": "{}"}],
     [{"query": "where?", "references": [{"document": "{}", "start": 0, "end": 9}]}],
     {"tests": [{"query": "where?", "snippets": [{"file_path": "{}", "span": [0, 9], "answer": "The heron"}]}]},
     {"documents": "{}", "corpus": "{}", "queries": [{"query": "where?", "relevant_text": "heron of gold"}]}],
)  # fmt: skip
@cases("way", ["../outside.md", "absolute"])
def test_a_test_set_reads_no_document_that_it_names_outside(
    testset: object, way: str, here: Run, tmp_path: Path
) -> None:
    outside = tmp_path.parent / "outside.md"
    outside.write_text("The heron of gold stands by the secret door.")
    name = str(outside) if way == "absolute" else way
    (tmp_path / "a.md").write_text("An otter.")
    (tmp_path / "sent.json").write_text(json.dumps(testset).replace("{}", name))
    for words in (
        "testset check sent.json --documents a.md",
        "evaluate a.md --test-queries sent.json --vectors none",
    ):
        done = here(*words.split())
        assert done.returncode
        assert "secret door" not in done.stdout + done.stderr

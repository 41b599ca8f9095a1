"""`chunkwise testset review`: decisions of a person, each on disk at once; in a terminal as a user has it."""

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli.review_questions import ReviewCard, walk
from chunkwise.cli.testset.review import ReviewOptions
from chunkwise.cli.testset.review import _documents as review_documents
from chunkwise.core import Document
from chunkwise.testsets.review import Review
from cli.in_process import Run, here
from tables import cases
from untimed import HANG

__all__ = ["here"]  # a fixture

TEXT = "# Leave\n\nLeave is asked for in writing. It is paid in full.\n"
ROWS = [
    {
        "query_id": f"q{at}",
        "query": f"How is leave number {at} asked for?",
        "answer": "In writing.",
        "references": [{"doc_id": "leave.md", "start": 9, "end": 39, "text": TEXT[9:39]}],
        "types": ["single-concept"],
        "generated": {"by": "test"},
        "mine": {"kept": [at]},
    }
    for at in range(3)
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    (tmp_path / "leave.md").write_text(TEXT)
    path = tmp_path / "q.json"
    path.write_text(json.dumps(ROWS))
    return path


def rows(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(path.read_text())
    return found


def press(file: Path, keys: str, documents: tuple[Document, ...] = ()) -> Review:
    """Until the keys are used up, as if the person had gone away."""
    review = Review(file)
    pressed = iter(keys)

    def key() -> str:
        try:
            return next(pressed)
        except StopIteration:
            raise EOFError from None

    with suppress(EOFError, KeyboardInterrupt):
        walk(review, ReviewCard(str(file), documents), key)
    return review


def test_every_decision_is_written_and_other_fields_stay(file: Path) -> None:
    press(file, "ads")
    assert rows(file) == [{**ROWS[0], "review": "accepted"}, ROWS[2]]
    assert rows(file.with_name("q.dropped.json")) == [ROWS[1]]


def test_it_goes_on_where_it_stopped(file: Path) -> None:
    press(file, "aq")
    review = Review(file)
    assert review.at == 1
    assert review.counts() == {"accepted": 1, "edited": 0, "unreviewed": 2, "dropped": 0}
    assert len(Review(file, "unreviewed")) == 2
    assert len(Review(file, "accepted")) == 1


def test_back_undoes_a_drop(file: Path) -> None:
    press(file, "sdbq")
    assert rows(file) == ROWS
    assert rows(file.with_name("q.dropped.json")) == []
    press(file, "ddb")
    assert rows(file) == ROWS[1:]
    assert rows(file.with_name("q.dropped.json")) == [ROWS[0]]


def test_keys_that_mean_nothing_do_nothing(file: Path) -> None:
    press(file, "xyz\x1b[A9\rbbbq")
    assert rows(file) == ROWS


def test_ctrl_c_loses_nothing(file: Path) -> None:
    press(file, "a\x03aaa")
    assert [row.get("review") for row in rows(file)] == ["accepted", None, None]


@pytest.mark.usefixtures("processes")
def test_edited_by_an_editor(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "How do I ask\\nfor leave?" > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    press(file, "eawq")
    found = rows(file)
    assert found[0] == {**ROWS[0], "query": "How do I ask for leave?", "review": "edited"}
    assert found[1] == {**ROWS[1], "answer": "How do I ask for leave?", "review": "edited"}


@pytest.mark.parametrize("form", ["lines", "object"])
def test_the_form_of_the_file_stays(file: Path, form: str) -> None:
    if form == "lines":
        file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        file.write_text(json.dumps({"about": "ours", "queries": ROWS, "more": 1}))
    press(file, "ad")
    text = file.read_text()
    if form == "lines":
        assert [json.loads(line)["query_id"] for line in text.splitlines()] == ["q0", "q2"]
    else:
        value = json.loads(text)
        assert (value["about"], value["more"]) == ("ours", 1)
        assert [row["query_id"] for row in value["queries"]] == ["q0", "q2"]


def test_the_passage_is_shown_with_its_quote(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    press(file, "q", (Document("leave.md", TEXT, format="markdown"),))
    shown = capsys.readouterr().out
    assert "1 of 3 · single-concept · unreviewed" in shown
    assert "How is leave number 0 asked for?" in shown
    assert "→ In writing." in shown
    assert "leave.md 9–39 · Leave" in shown
    assert "»Leave is asked for in writing.« It is paid in full." in shown


def test_text_of_models_and_documents_does_nothing_to_a_terminal(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = {
        **ROWS[0],
        "query": "How\x1b]0;owned\x07 is \u202ethis?",
        "types": ["a\x1b[2J"],
        "references": ["\x1b[31mred"],
    }
    file.write_text(json.dumps([evil]))
    press(file, "q")
    shown = capsys.readouterr().out
    assert not any(
        each in shown.replace("\x1b[0m", "")
        for each in ("\x07", "\u202e", "\x1b]", "[2J", "\x1b[31m")
    )
    assert "»red«" in shown


def test_without_a_terminal_it_says_so(here: Run, file: Path) -> None:
    done = here("testset", "review", "q.json", stdin="aaa")
    assert done.returncode == 1
    assert "t one; to drop questions in a script, edit the JSON file" in done.stderr
    assert rows(file) == ROWS


@cases("text", ["", "[1, 2]", '"a"', "{broken", '[{"query": "a"}, 3]'])
def test_files_that_are_none(text: str, file: Path) -> None:
    file.write_text(text)
    if text == "":
        assert len(Review(file)) == 0
        return
    with pytest.raises(ChunkwiseError, match=r"q\.json"):
        Review(file)


@cases(
    "text",
    [
        '{"version": "1.1", "data": [{"title": "a", "paragraphs": []}]}',
        '[{"title": "a", "paragraphs": []}]',
        "{}",
    ],
)
def test_a_file_of_another_form_is_not_touched(text: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(ChunkwiseError, match="testset convert FILE --to chunkwise"):
        press(file, "a")
    assert file.read_text() == text


def test_one_question_alone_is_a_file(file: Path) -> None:
    file.write_text(json.dumps({"question": "Who keeps the lamp?"}))
    press(file, "a")
    assert json.loads(file.read_text()) == {"question": "Who keeps the lamp?", "review": "accepted"}


def test_questions_that_come_in_meanwhile_stay(file: Path) -> None:
    later = {**ROWS[0], "query_id": "q9"}
    review = Review(file)
    file.write_text(json.dumps([later, *ROWS]))  # another run adds one
    review.accept()
    assert rows(file) == [later, {**ROWS[0], "review": "accepted"}, *ROWS[1:]]
    review.drop()
    file.write_text(json.dumps([*rows(file), {**later, "query_id": "q10"}]))
    review.back()
    assert [row["query_id"] for row in rows(file)] == ["q9", "q0", "q1", "q2", "q10"]
    assert rows(file.with_name("q.dropped.json")) == []
    file.write_text(json.dumps([later]))
    with pytest.raises(
        ChunkwiseError, match="has changed, and the current question is gone; start again"
    ):
        review.accept()
    assert rows(file) == [later]


def test_questions_without_ids_are_known_by_what_they_say(file: Path) -> None:
    file.write_text('[{"query": "Who?"}, {"query": "When?"}]')
    press(file, "sda")
    assert rows(file) == [{"query": "Who?"}]
    assert rows(file.with_name("q.dropped.json")) == [{"query": "When?"}]


@pytest.mark.usefixtures("processes")
def test_in_a_real_terminal(file: Path) -> None:
    """With a pseudo-terminal: keys are read one by one, without Enter; the prompt takes a line."""
    lead, follow = pty.openpty()
    words = [
        sys.executable,
        "-m",
        "chunkwise",
        "testset",
        "review",
        str(file),
        str(file.with_name("leave.md")),
    ]
    env = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(words, stdin=follow, stdout=follow, stderr=follow, env=env) as run:
        os.close(follow)
        shown = _press(lead, b"e")
        _until(lead, b"> How is leave number 0 asked for?")  # the old text, to be changed
        os.write(lead, b"\x15How does one ask?\n")
        _press(lead, b"a")
        _press(lead, b"\x03")
        said = _until(lead, b"every decision is in")
        assert run.wait(HANG) == 0
    os.close(lead)
    assert "»Leave is asked for in writing.«".encode() in shown
    assert b"1 edited" in said
    found = rows(file)
    assert (found[0]["query"], found[0]["review"]) == ("How does one ask?", "edited")
    assert found[1:] == ROWS[1:]


def _press(descriptor: int, key: bytes) -> bytes:
    """Once the keys are asked for and the terminal hands them on one by one: what came before is thrown away."""
    shown = _until(descriptor, b"[q]uit ")
    began = time.monotonic()
    while termios.tcgetattr(descriptor)[3] & termios.ICANON:
        assert time.monotonic() - began < HANG
        time.sleep(0.01)
    os.write(descriptor, key)
    return shown


def _until(descriptor: int, words: bytes) -> bytes:
    shown, began = b"", time.monotonic()
    while words not in shown:
        assert time.monotonic() - began < HANG, shown
        if select.select([descriptor], [], [], 1.0)[0]:
            shown += os.read(descriptor, 4096)
    return shown


def test_an_edit_takes_with_it_what_is_no_longer_true(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        **ROWS[0],
        "answer": "2.1 days, in writing.",
        "facts": [{"fact": "2.1"}, {"fact": "in writing"}, {"fact": "asked for"}, {"fact": "nowhere"}],
        "types": ["numeric", "easy"],
    }  # fmt: skip
    file.write_text(json.dumps([row]))
    monkeypatch.setattr("builtins.input", lambda _: "Forty-eight, in writing.")
    press(file, "wq")
    (found,) = rows(file)
    # "asked for" stands in the reference, and was none of the old answer's words.
    assert found["facts"] == [{"fact": "in writing"}, {"fact": "asked for"}]
    assert found["types"] == ["numeric", "easy"]
    said = capsys.readouterr().out
    assert "no longer an expected fact: 2.1" in said
    assert "no longer an expected fact: nowhere" in said
    monkeypatch.setattr("builtins.input", lambda _: "How is it asked for?")
    press(file, "eq")
    assert rows(file)[0]["types"] == ["numeric"]
    assert "no longer tagged easy" in capsys.readouterr().out


def test_a_question_whose_number_is_gone_is_not_numeric(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        **ROWS[0],
        "query": "How many days?",
        "answer": "Five days.",
        "types": ["numeric", "own"],
    }
    for key, typed, kept in (
        ("w", "Six days, in writing.", ["numeric", "own"]),
        ("w", "As many as it takes.", ["own"]),
        ("e", "How many days are there?", ["numeric", "own"]),
    ):
        file.write_text(json.dumps([row]))
        monkeypatch.setattr("builtins.input", lambda _, typed=typed: typed)
        press(file, f"{key}q")
        assert rows(file)[0]["types"] == kept, typed
        said = capsys.readouterr().out
        assert ("no longer tagged numeric" in said) == (kept == ["own"])
    # A tag that was never true of the number was given for a reason of its own.
    file.write_text(json.dumps([{**row, "answer": "Many."}]))
    press(file, "eq")
    assert rows(file)[0]["types"] == ["numeric", "own"]


def test_what_is_not_touched_is_no_edit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(json.dumps([{**ROWS[0], "query": "How\x1b[31m is  it?"}]))
    before = rows(file)
    for typed in ("", "How is it?"):
        monkeypatch.setattr("builtins.input", lambda _, typed=typed: typed)
        press(file, "eq")
        assert rows(file) == before


def test_a_passage_is_wrapped_between_words_and_keeps_its_lines(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = (
        "# Leave\n\n- entry one\n- entry two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        + "wordily " * 40
    )
    start = text.index("wordily")
    place = {"doc_id": "leave.md", "start": start, "end": len(text) - 1}
    file.write_text(json.dumps([{**ROWS[0], "references": [place]}]))
    press(file, "q", (Document("leave.md", text, format="markdown"),))
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 60 for line in lines if "[a]ccept" not in line)
    shown = [line.strip() for line in lines]
    assert all(each in shown for each in ("# Leave", "- entry one", "- entry two", "| 1 | 2 |"))
    words = " ".join(lines).replace("»", "").replace("«", "").split()
    assert words.count("wordily") == 40


def test_documents_are_read_as_the_options_say(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body><nav>Home</nav><main><p>It is paid.</p></main></body></html>")
    options = ReviewOptions(
        file=tmp_path / "queries.json", source=(str(page),), keep_boilerplate=True
    )
    assert "Home" in review_documents(options)[0].text

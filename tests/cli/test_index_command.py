"""`chunkwise index` as a user runs it; words alone, which needs no model, but for one test."""

import json
import os
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from cli.in_process import Run, here
from tables import cases

__all__ = ["here"]  # a fixture

WORDS = ("--vectors", "none", "--into", "kb")


def summary(done: "CompletedProcess[str]") -> dict[str, object]:
    told: dict[str, object] = json.loads(done.stdout)
    return told


def test_a_new_index_says_what_it_holds_and_what_to_do_next(here: Run, handbook: Path) -> None:
    done = here("index", "handbook", *WORDS)
    assert done.returncode == 0
    assert done.stdout == ""
    first, second, third = done.stderr.splitlines()
    assert first == "kb: 3 documents (3 added)"
    assert re.fullmatch(
        r"\d chunks of \d{3} tokens by structure\(max_tokens=400, overlap=0\), BM25 only; .* [kM]B, .* m?s",
        second,
    )
    assert third == 'try: chunkwise search kb "your question"'
    assert "Ask in writing." in here("search", "kb", "writing").stdout


def test_only_what_has_changed_is_done_again(here: Run, handbook: Path) -> None:
    here("index", "handbook", *WORDS)
    (handbook / "leave.md").write_text("# Leave\n\nAsk the lighthouse keeper.\n")
    (handbook / "new.txt").write_text("A new rope.")
    (handbook / "page.html").unlink()
    told = summary(here("index", "handbook", *WORDS, "--json", "-q"))
    counts = {name: told[name] for name in ("added", "changed", "removed", "unchanged", "skipped")}
    assert counts == {"added": 1, "changed": 1, "removed": 1, "unchanged": 1, "skipped": 0}
    assert told["documents"] == 3
    assert told["strategy"] == "structure(max_tokens=400, overlap=0)"
    assert "lighthouse" in here("search", "kb", "keeper").stdout
    assert "Nothing found" in here("search", "kb", "dusk").stdout


@pytest.mark.unwatched
def test_settings_stay_unless_the_index_is_rebuilt(here: Run, handbook: Path) -> None:
    here("index", "handbook", *WORDS, "-s", "sentences(max_tokens=30)")
    kept = summary(here("index", "handbook", "--into", "kb", "--json", "-q"))
    assert kept["strategy"] == "sentences(max_tokens=30, overlap=7)"
    assert kept["unchanged"] == 3
    refused = here("index", "handbook", *WORDS, "-s", "words")
    assert refused.returncode == 2
    assert "--rebuild" in refused.stderr
    anew = summary(here("index", "handbook", *WORDS, "-s", "words", "--rebuild", "--json", "-q"))
    assert anew["strategy"] == "words(max_words=500, overlap=75)"


@pytest.mark.unwatched
def test_vectors_and_headings_beside_the_chunks(here: Run, handbook: Path) -> None:
    done = here("index", "handbook", "--into", "kb", "--context", "headings", "--json", "-q")
    told = summary(done)
    assert done.stderr == ""
    assert (told["embedder"], told["vectors"], told["context"]) == ("minilm", "late", "headings")
    hits = here("search", "kb", "illness", "--retriever", "dense", "--json", "-k", "1").stdout
    assert json.loads(hits)["doc_id"] == "leave.md"


def test_what_cannot_be_read_is_one_line_and_the_rest_goes_on(here: Run, handbook: Path) -> None:
    (handbook / "empty.txt").write_bytes(b"")
    done = here("index", "handbook", "missing.md", *WORDS)
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if "skipped " in line]
    assert sum("empty.txt" in line for line in lines) == 1
    assert sum("missing.md" in line for line in lines) == 1
    assert "3 documents (3 added, 2 skipped)" in done.stderr
    strict = here("index", "handbook", "--vectors", "none", "--into", "other", "--strict")
    assert strict.returncode == 1
    assert strict.stderr == "error: handbook/empty.txt: empty\n"
    assert here("search", "other", "x").returncode == 1


def test_an_index_of_nothing(here: Run) -> None:
    done = here("index", "missing", *WORDS)
    assert done.returncode == 1
    assert "no readable documents (1 skipped); no index was built" in done.stderr
    asked = here("search", "kb", "x")
    assert asked.returncode == 1
    assert "isn't an index" in asked.stderr


def test_quiet_is_quiet_and_a_pipe_is_read(here: Run, handbook: Path, tmp_path: Path) -> None:
    done = here("index", "handbook", *WORDS, "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    piped = here("index", "--into", "piped", "--vectors", "none", stdin="A lamp by the door.")
    assert piped.returncode == 0
    assert "lamp" in here("search", "piped", "door").stdout
    assert sorted(os.listdir(tmp_path)) == ["handbook", "kb", "piped"]


@cases(
    "words, message, status",
    [
        (["handbook"], "missing option '--into'", 2),
        (["handbook", "--into", "handbook"], "handbook isn't an index and isn't empty", 1),
        (["handbook", "--into", "kb", "-s", "sentence"], "did you mean sentences", 2),
        (["handbook", "--into", "kb", "--vectors", "many"], "'many' is not one of 'late'", 2),
        (["handbook", "--into", "kb", "--context", "all"], "'all' is not one of 'none'", 2),
        (["handbook", "--into", "kb", "--language", "xx"], "language is 'xx'", 2),
        (["handbook", "--into", "kb", "--embedder", "maxilm"], "unknown embedder 'maxilm'", 2),
        (["handbook", "--into", "handbook/leave.md"], "is a file; expected a folder", 1),
    ],
)
def test_errors_are_clear(
    here: Run, handbook: Path, words: list[str], message: str, status: int
) -> None:
    done = here("index", *words)
    assert done.returncode == status
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_document_that_cannot_be_read_once_stays_and_is_told(here: Run, handbook: Path) -> None:
    here("index", "handbook", *WORDS)
    (handbook / "leave.md").write_bytes(b"")
    done = here("index", "handbook", *WORDS)
    assert done.returncode == 3
    assert "skipped handbook/leave.md: empty" in done.stderr
    assert "1 document is kept unchanged" in done.stderr
    assert "3 documents (3 unchanged, 1 skipped)" in done.stderr
    assert "Ask in writing." in here("search", "kb", "writing").stdout


def test_another_kind_of_server_is_refused(here: Run, handbook: Path, tmp_path: Path) -> None:
    done = here("index", "handbook", "--into", "mysql://ada:s3cret@host/db", "--vectors", "none")
    assert done.returncode == 2
    assert "s3cret" not in done.stderr
    assert "postgresql://" in done.stderr
    assert os.listdir(tmp_path) == ["handbook"]


def test_documents_are_added_beside_the_others(here: Run, handbook: Path, tmp_path: Path) -> None:
    here("index", "handbook", *WORDS)
    (tmp_path / "new.md").write_text("# Ropes\n\nA new rope hangs by the door.\n")
    (handbook / "leave.md").write_text("# Leave\n\nAsk the keeper.\n")
    done = here("index", "new.md", "handbook/leave.md", "--into", "kb", "--add")
    assert done.returncode == 0
    assert "kb: 4 documents (1 added, 1 changed, 2 unchanged)" in done.stderr
    assert "new.md" in here("search", "kb", "rope").stdout
    assert "leave.md" in here("search", "kb", "keeper").stdout
    assert "page.html" in here("search", "kb", "dusk").stdout
    refused = here("index", "new.md", "--into", "kb", "--add", "--rebuild")
    assert refused.returncode == 2
    assert "rebuild and keep_others exclude each other" in refused.stderr


def test_an_index_is_verified(here: Run, handbook: Path, tmp_path: Path) -> None:
    here("index", "handbook", *WORDS)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kb").rglob("*")}
    sound = here("index", "--verify", "--into", "kb")
    assert (sound.returncode, sound.stderr) == (0, "")
    assert re.fullmatch(r"kb: sound \(3 documents, \d chunks, [\d.]+ kB read\)\n", sound.stdout)
    told = summary(here("index", "--verify", "--into", "kb", "--json"))
    assert told["sound"] is True
    assert (told["into"], told["documents"]) == ("kb", 3)
    assert here("index", "--verify", "--into", "kb", "-q").stdout == ""
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kb").rglob("*")} == before
    (text,) = (tmp_path / "kb").rglob("text.bytes")
    data = bytearray(text.read_bytes())
    data[0] ^= 1
    text.write_bytes(data)
    damaged = here("index", "--verify", "--into", "kb", "--json")
    assert (damaged.returncode, damaged.stdout) == (1, "")
    assert "text.bytes is damaged" in damaged.stderr
    text.write_bytes(data[:-1])
    assert "expected" in here("index", "--verify", "--into", "kb").stderr


@cases(
    "words, message, status",
    [
        (["--into", "kb"], "isn't an index", 1),
        ([], "missing option '--into'", 2),
    ],
)
def test_what_cannot_be_verified(
    here: Run, handbook: Path, tmp_path: Path, words: list[str], message: str, status: int
) -> None:
    done = here("index", "--verify", *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert "s3cret" not in done.stderr
    assert os.listdir(tmp_path) == ["handbook"]


@pytest.mark.unwatched
def test_what_stands_beside_the_chunks_is_counted(here: Run, handbook: Path) -> None:
    done = here("index", "handbook", *WORDS, "--context", "headings", "--json")
    told = summary(done)
    assert isinstance(told["context_tokens"], int)
    assert isinstance(told["indexed_tokens"], int)
    assert told["context_tokens"] > 0
    own = told["indexed_tokens"] - told["context_tokens"]
    assert f"{own:,} tokens ({told['context_tokens']} more of contexts) by" in done.stderr
    plain = here("index", "handbook", "--vectors", "none", "--into", "kb2", "--json")
    assert summary(plain)["context_tokens"] == 0
    assert summary(plain)["indexed_tokens"] == told["indexed_tokens"] - told["context_tokens"]
    assert "more of contexts" not in plain.stderr
    overlap = "-s", "sentences(max_tokens=30, overlap=10)", "--into", "kb3", "--json"
    twice = here("index", "handbook", "--vectors", "none", *overlap)
    told = summary(twice)
    assert isinstance(told["indexed_tokens"], int)
    assert told["indexed_tokens"] > told["tokens"]
    assert f"of {told['indexed_tokens']:,} tokens by" in twice.stderr


@pytest.mark.unwatched
def test_an_index_made_anew_keeps_its_settings(here: Run, handbook: Path) -> None:
    more = "-s", "sentences(max_tokens=30)", "--context", "headings", "--language", "en"
    first = summary(here("index", "handbook", *WORDS, *more, "--json", "-q"))
    anew = summary(here("index", "handbook", "--into", "kb", "--rebuild", "--json", "-q"))
    names = "strategy", "embedder", "vectors", "context", "language"
    assert [anew[name] for name in names] == [first[name] for name in names]
    assert anew["added"] == 3
    other = summary(
        here("index", "handbook", "--into", "kb", "--rebuild", "--context", "none", "--json", "-q")
    )
    assert (other["context"], other["language"]) == ("none", "en")


@pytest.mark.unwatched
def test_texts_longer_than_the_window_are_told(here: Run, handbook: Path) -> None:
    model = "minilm(window=8, long=truncate)"
    done = here(
        "index", "handbook", "--into", "kb", "--vectors", "own", "--embedder", model, "--json"
    )
    (note,) = summary(done)["notes"]  # type: ignore[misc]
    assert "longer than minilm's window of 8 tokens: truncated after 8 tokens" in note
    assert note in done.stderr


@pytest.mark.unwatched
def test_a_damaged_index_is_one_line(here: Run, handbook: Path, tmp_path: Path) -> None:
    here("index", "handbook", *WORDS)
    (titles,) = (tmp_path / "kb").glob(".generation-*/title.bytes")
    titles.write_bytes(bytes(titles.stat().st_size))
    for words in (("search", "kb", "leave"), ("search", "kb", "leave", "--budget", "50")):
        done = here(*words)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "title.bytes is damaged" in done.stderr


@pytest.mark.unwatched
def test_chunks_that_are_there_are_indexed_and_asked_for_again(
    here: Run, handbook: Path, tmp_path: Path
) -> None:
    here("chunk", "handbook", "-s", "sentences(max_tokens=12)", "-o", "theirs.jsonl", "-q")
    told = summary(here("index", "handbook", "--chunks", "theirs.jsonl", *WORDS, "--json", "-q"))
    lines = (tmp_path / "theirs.jsonl").read_text("utf-8").splitlines()
    assert told["chunks"] == len(lines)
    assert str(told["strategy"]).startswith("FileChunks(file='theirs.jsonl', hash='")
    refused = here("index", "handbook", "--into", "kb")
    assert refused.returncode == 2
    assert "built from existing chunks (theirs.jsonl); give them again" in refused.stderr
    assert "--chunks FILE" in refused.stderr
    again = summary(
        here("index", "handbook", "--chunks", "theirs.jsonl", "--into", "kb", "--json", "-q")
    )
    assert again["unchanged"] == 3
    both = here("index", "handbook", "--chunks", "theirs.jsonl", "-s", "words", *WORDS)
    assert both.returncode == 2
    assert "leave one out" in both.stderr


@pytest.mark.unwatched
def test_rows_without_a_place_are_told_and_the_rest_goes_on(
    here: Run, handbook: Path, tmp_path: Path
) -> None:
    rows = [{"document": "leave.md", "start": 0, "end": 7}, {"document": "nobody.md", "text": "x"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = here("index", "handbook", "--chunks", "rows.jsonl", *WORDS)
    assert done.returncode == 3
    assert "rows.jsonl, line 2: " in done.stderr
    assert "1 chunk of" in done.stderr


def test_no_embedder_needs_no_model(
    here: Run, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_MODELS", str(handbook))  # where there is none
    done = here("index", "handbook", "--embedder", "none", "--into", "kb")
    assert done.returncode == 0, done.stderr
    assert "by structure(max_tokens=400, overlap=0), BM25 only" in done.stderr
    done = here("index", "handbook", "--embedder", "none", "--vectors", "own", "--into", "other")
    assert "leave one out" in done.stderr

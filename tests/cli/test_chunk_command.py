"""`chunkwise chunk` as a user runs it."""

import csv
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.in_process import Run, here, with_streams
from tables import cases
from untimed import HANG

__all__ = ["here"]  # a fixture


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_shortest_command_shows_chunks(here: Run, handbook: Path) -> None:
    done = here("chunk", "handbook")
    assert done.returncode == 0
    assert "Ask in writing." in done.stdout
    assert "chunks of 3 documents" in done.stdout
    assert done.stderr == ""


def test_json_owns_stdout(here: Run, handbook: Path) -> None:
    done = here("chunk", "handbook", "--json", "-s", "sentences(max_tokens=30)")
    found = rows(done.stdout)
    assert {row["doc_id"] for row in found} == {"leave.md", "deep/hours.txt", "page.html"}
    text = (handbook / "deep" / "hours.txt").read_text()
    for row in found:
        if row["doc_id"] == "deep/hours.txt":
            assert row["text"] == text[int(str(row["start"])) : int(str(row["end"]))]
            assert int(str(row["token_count"])) <= 30
    assert "3 documents" in done.stderr


@cases("name", ["out.jsonl", "out.parquet", "out.csv"])
def test_every_output_has_the_same_rows(
    here: Run, handbook: Path, tmp_path: Path, name: str
) -> None:
    expected = rows(here("chunk", "handbook", "--json").stdout)
    done = here("chunk", "handbook", "-o", name)
    assert done.returncode == 0
    assert f"written: {name}" in done.stderr
    file = tmp_path / name
    if name.endswith("jsonl"):
        found = rows(file.read_text())
    elif name.endswith("csv"):
        with file.open(newline="") as lines:
            found = list(csv.DictReader(lines))
    else:
        found = pq.read_table(file).to_pylist()
    assert [row["id"] for row in found] == [row["id"] for row in expected]
    assert [row["text"] for row in found] == [row["text"] for row in expected]
    assert [int(str(row["start"])) for row in found] == [row["start"] for row in expected]
    assert found[0].keys() == expected[0].keys()
    assert not [left for left in os.listdir(tmp_path) if left.startswith(".out")]


def test_the_view_is_one_page_without_network(here: Run, handbook: Path, tmp_path: Path) -> None:
    done = here("chunk", "handbook", "--html", "cuts.html")
    assert done.returncode == 0
    page = (tmp_path / "cuts.html").read_text()
    assert "Ask in writing." in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


@pytest.mark.usefixtures("processes")
def test_several_processes_give_the_same_output_as_one(here: Run, tmp_path: Path) -> None:
    records = [{"id": f"d{n}", "text": f"Lamp {n} is lit. " * (n % 20 + 1)} for n in range(100)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "more.md").write_text("# More\n\nText.")
    words = ("chunk", "corpus.jsonl", "more.md", "--json", "-q", "-j")
    one, two = here(*words, 1), here(*words, 2)
    assert one.returncode == two.returncode == 0
    assert one.stdout == two.stdout
    assert one.stdout.count("\n") > 100


@pytest.mark.unwatched
def test_standard_input(here: Run) -> None:
    done = here("chunk", "-", "--json", stdin="# Title\n\nSome text.\n")
    assert rows(done.stdout)[0]["doc_id"] == "stdin"
    assert rows(here("chunk", "--json", stdin="Piped.").stdout)[0]["text"] == "Piped."


def test_what_cannot_be_read_is_one_line_and_the_rest_goes_on(here: Run, handbook: Path) -> None:
    (handbook / "empty.txt").write_bytes(b"")
    (handbook / "latin.txt").write_bytes("Gr\xf6\xdfe".encode("latin-1"))
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing")
    done = here("chunk", "handbook", "missing.md", "--json")
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if "skipped" in line]
    for name in ("empty.txt", "latin.txt", "broken.pdf", "missing.md"):
        assert sum(name in line for line in lines) == 1, done.stderr
    assert len({row["doc_id"] for row in rows(done.stdout)}) == 3
    assert "Traceback" not in done.stderr
    assert "--encoding" in done.stderr


def test_strict_makes_it_fatal_and_leaves_no_half_file(
    here: Run, handbook: Path, tmp_path: Path
) -> None:
    (handbook / "empty.txt").write_bytes(b"")
    done = here("chunk", "handbook", "--strict", "-o", "out.jsonl")
    assert done.returncode == 1
    assert done.stderr.strip() == "error: handbook/empty.txt: empty"
    assert not (tmp_path / "out.jsonl").exists()
    assert sorted(os.listdir(tmp_path)) == ["handbook"]


def test_archives_and_fields(here: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        archive.writestr("a.md", "# A\n\nInside.")
        archive.writestr("../evil.md", "# Evil")
    done = here("chunk", "docs.zip", "--json")
    assert [row["doc_id"] for row in rows(done.stdout)] == ["docs.zip/a.md"]
    assert done.returncode == 3
    (tmp_path / "c.jsonl").write_text('{"key": "k1", "words": "Some words.", "year": 1911}\n')
    named = here("chunk", "c.jsonl", "--json", "--text-field", "words", "--id-field", "key")
    (row,) = rows(named.stdout)
    assert row["doc_id"] == "k1"
    assert row["metadata"] == {"year": 1911}


def test_hostile_file_names_and_text(here: Run, handbook: Path, tmp_path: Path) -> None:
    (handbook / "a'b\"; DROP <b>.md").write_text(
        "# <script>alert(1)</script>\n\n\x1b[31m=cmd|'/c calc'!A1\n"
    )
    done = here("chunk", "handbook", "-o", "out.csv", "--html", "v.html")
    assert done.returncode == 0
    assert "<script>alert(1)" not in (tmp_path / "v.html").read_text()
    shown = here("chunk", "handbook", "--show", "50")
    assert "\x1b" not in shown.stdout


@cases(
    "words, message",
    [
        (
            ["chunk", "handbook", "-s", "sentence"],
            "unknown strategy 'sentence'; did you mean sentences",
        ),
        (
            ["chunk", "handbook", "-s", "sentences(max_tokens=0)"],
            "max_tokens is 0; the minimum is 1",
        ),
        (["chunk", "handbook", "-o", "out.xlsx"], "its name must end in .jsonl, .parquet, .csv"),
        (["chunk", "handbook", "-o", "/proc/none/out.csv"], "cannot write /proc/none/out.csv"),
        (["chunk", "handbook", "--loader", "word"], "unknown loader 'word'"),
        (["chunk", "handbook", "--encoding", "klingon"], "encoding 'klingon' is unknown"),
    ],
)
def test_errors_are_one_line(here: Run, handbook: Path, words: list[str], message: str) -> None:
    done = here(*words)
    assert done.returncode == (1 if "cannot write" in message else 2)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_wrong_usage(here: Run) -> None:
    slip = here("chunk", "x", "--stratgy", "a")
    assert slip.returncode == 2
    assert "hint: did you mean --strategy" in slip.stderr
    typo = here("chnk")
    assert typo.returncode == 2
    assert "did you mean chunk?" in typo.stderr


def test_an_empty_folder_is_said_to_be_empty(here: Run, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    done = here("chunk", "none")
    assert "none" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("name", ["chunks.jsonl", "chunks.csv", "chunks.parquet"])
def test_the_same_command_again_gives_the_same_file(
    here: Run, handbook: Path, tmp_path: Path, name: str
) -> None:
    words = ["chunk", "handbook", "-o", f"handbook/{name}", "--html", "handbook/cuts.html"]
    assert here(*words).returncode == 0
    before = (handbook / name).read_bytes()
    again = here(*words)
    assert again.returncode == 0, again.stderr
    assert (handbook / name).read_bytes() == before


def test_an_input_is_never_overwritten(here: Run, handbook: Path) -> None:
    before = (handbook / "leave.md").read_bytes()
    (handbook / "rows.csv").write_text("a,b\n1,2\n")
    done = here("chunk", "handbook/rows.csv", "-o", "handbook/rows.csv")
    assert done.returncode == 2
    assert "would be overwritten" in done.stderr
    assert (handbook / "rows.csv").read_text() == "a,b\n1,2\n"
    assert here("chunk", "handbook", "--html", "handbook/leave.md").returncode == 2
    assert (handbook / "leave.md").read_bytes() == before


def test_when_nothing_is_read_an_older_output_stays(here: Run, tmp_path: Path) -> None:
    (tmp_path / "lamps.md").write_text("The lamps are lit at dusk.")
    assert here("chunk", "lamps.md", "-o", "keep.jsonl").returncode == 0
    before = (tmp_path / "keep.jsonl").read_text()
    done = here("chunk", "nowhere.md", "-o", "keep.jsonl")
    assert done.returncode == 1
    assert "nothing was written" in done.stderr
    assert (tmp_path / "keep.jsonl").read_text() == before


def test_when_nothing_is_read_nothing_is_summed_up(here: Run) -> None:
    done = here("chunk", "nowhere.md")
    assert done.returncode == 1
    assert done.stdout == ""
    skipped, told = done.stderr.splitlines()
    assert "nowhere.md" in skipped
    assert told == "chunkwise: no readable documents; nothing to show"


@pytest.mark.usefixtures("processes")
def test_a_reader_that_has_seen_enough_is_no_error(handbook: Path) -> None:
    command = f"{sys.executable} -m chunkwise chunk - -s 'tokens(max_tokens=1)' --json -q"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"cat {handbook}/deep/hours.txt | {command} | head -1"],
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    (row,) = rows(done.stdout)
    assert (row["doc_id"], row["text"]) == ("stdin", "Five")
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.usefixtures("processes")
def test_a_terminated_run_clears_away_what_it_began(handbook: Path, tmp_path: Path) -> None:
    (handbook / "big.txt").write_text("Lamps are lit at dusk. " * 400_000)
    out = tmp_path / "out"
    out.mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "chunkwise",
            "chunk",
            handbook,
            "-o",
            out / "c.jsonl",
            "-j",
            "1",
            "-q",
        ]
    )
    while process.poll() is None and not list(out.iterdir()):
        time.sleep(0.02)
    assert list(out.iterdir())
    process.terminate()
    assert process.wait(timeout=HANG) == 143
    assert list(out.iterdir()) == []


@pytest.mark.usefixtures("processes")
def test_a_strategy_that_misbehaves_is_named(here: Run, handbook: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Far:\n    def split(self, document):\n        return [(0, 10**9)]\nclass Fails:\n "
        "   def split(self, document):\n        raise KeyError('x')\nclass Nothing:\n    pass\n"
    )
    for name, message in (
        ("Far", "returned (0, 1000000000) for"),
        ("Fails", "failed on deep/hours.txt: KeyError"),
        ("Nothing", "it has no `split`"),
    ):
        done = here("chunk", "handbook", "-s", f"./mine.py:{name}")
        assert done.returncode in (1, 2)
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_a_name_from_an_archive_cannot_command_the_terminal(here: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        archive.writestr("../\x1b]0;title\x07\nchunkwise: all is well.md", "x")
        archive.writestr("a.md", "# A\n\nText.")
    done = here("chunk", "docs.zip", "-q", "-o", "o.jsonl")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert "\x1b" not in done.stderr


def test_a_console_that_knows_little_unicode_is_no_error(
    handbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (handbook / "lamp.md").write_text(
        "# Lampe\n\nGr\u00fc\u00dfe \U0001f44d \u2013 ok.\n", encoding="utf-8"
    )
    # Not ASCII, which the library for commands takes for a mistake and replaces.
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    for words, encoding, thumb in (
        ([], "latin-1", "\\U0001f44d"),
        (["--json"], "utf-8", "\U0001f44d"),
    ):
        with (tmp_path / "shown").open("wb") as out, (tmp_path / "said").open("wb") as err:
            streams = {"out": out.fileno(), "err": err.fileno()}
            assert with_streams(tmp_path, "chunk", "handbook", "-q", *words, **streams) == 0
        assert f"Gr\u00fc\u00dfe {thumb}" in (tmp_path / "shown").read_text(encoding)
        assert (tmp_path / "said").read_text() == ""


def test_sizes_are_named_by_their_unit(here: Run, handbook: Path) -> None:
    done = here("chunk", "handbook", "-s", "characters(max_chars=50)")
    assert "6 to 50 characters" in done.stdout
    assert "tokens" not in done.stdout


def test_an_index_hands_its_chunks_out(here: Run, handbook: Path, tmp_path: Path) -> None:
    strategy = "sentences(max_tokens=12)"
    here("index", "handbook", "--into", "kb", "-s", strategy, "--vectors", "none", "-q")
    done = here("chunk", "kb", "--json")
    assert done.returncode == 0
    fresh = here("chunk", "handbook", "-s", strategy, "--json").stdout
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        json.loads(line) for line in fresh.splitlines()
    ]
    here("chunk", "kb", "-o", "kb.jsonl", "--html", "kb.html")
    assert (tmp_path / "kb.jsonl").read_text("utf-8").count("\n") == fresh.count("\n")
    assert "<html" in (tmp_path / "kb.html").read_text("utf-8")


@cases(
    "words, message",
    [
        (["kb", "-s", "words"], "which stores its chunks; leave out --strategy"),
        (
            ["kb", "handbook"],
            "is an index among other sources; give only the index, or only documents",
        ),
        (
            ["kb", "--with-vectors"],
            "--with-vectors needs an index and an output file: chunkwise chunk kb -o chunks",
        ),
        (
            ["kb", "--with-vectors", "-o", "x.jsonl", "--json"],
            "--with-vectors needs an index and an output file: chunkwise chunk kb -o chunks",
        ),
        (["kb", "--with-vectors", "-o", "x.jsonl"], "the index has no vectors"),
        (
            ["handbook", "--with-vectors", "-o", "x.jsonl"],
            "--with-vectors needs an index and an output file: chunkwise chunk kb -o chunks",
        ),
    ],
)
def test_what_an_index_cannot_do_is_told(
    here: Run, handbook: Path, words: list[str], message: str
) -> None:
    here("index", "handbook", "--into", "kb", "--vectors", "none", "-q")
    done = here("chunk", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_where_the_overlap_asked_for_cannot_be_is_told(here: Run, tmp_path: Path) -> None:
    parts = (f"# Part {number}\n\nThe lamp was lit, and nobody came.\n" for number in range(3))
    (tmp_path / "parts.md").write_text("\n".join(parts), "utf-8")
    told = "no overlap at 2 of 2 boundaries (2 at the start of a section)"
    strategy = "sections(max_tokens=40, overlap=5)"
    assert told in here("chunk", "parts.md", "-s", strategy).stdout
    assert told in here("chunk", "parts.md", "-s", strategy, "-o", "out.jsonl").stderr
    # The default is not asked for, and not missed.
    assert "no overlap" not in here("chunk", "parts.md", "-s", "sections(max_tokens=40)").stdout


def test_quiet_says_nothing_of_a_page_that_cannot_show_everything(
    here: Run, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.cli.cut_documents._CHARACTERS_AT_MOST", 1)
    words = ("chunk", "handbook", "--html", "page.html")
    assert "more would make it too large for a browser" in here(*words).stderr
    done = here(*words, "-q")
    assert (done.stdout, done.stderr) == ("", "")


def test_quiet_shows_chunks_without_a_summary(here: Run, handbook: Path) -> None:
    told, quiet = here("chunk", "handbook"), here("chunk", "handbook", "-q")
    assert "documents" in told.stdout
    assert "median" in told.stdout
    assert "median" not in quiet.stdout
    assert quiet.stdout
    assert told.stdout.endswith(quiet.stdout)
    assert quiet.stderr == ""


@pytest.mark.usefixtures("processes")
def test_every_command_reads_an_address_as_it_reads_the_folder(here: Run) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    text = "# Leave\n\nEvery employee has thirty days of leave.\n\n# Hours\n\nThe house opens at ten.\n"
    Path("docs").mkdir()
    Path("docs/a.md").write_text(text)
    files.pipe_file("/docs/a.md", text.encode())
    Path("q.json").write_text(
        '[{"query": "How many days?", "relevant_text": "thirty days of leave"}]'
    )
    asked = ("--test-queries", "q.json", "--retriever", "bm25")
    for words in (
        ("chunk", "{}", "--json"),
        ("profile", "{}", "--json"),
        ("lint", "{}", "--json"),
        ("evaluate", "{}", *asked, "--json"),
        ("tune", "{}", *asked[:2], "--embedder", "none", "-o", "{}.out", "-q"),
        ("index", "{}", "--into", "{}.kb", "--vectors", "none", "-q"),
    ):
        runs = []
        for place in ("docs", "memory://docs"):
            name = place.replace("memory://docs", "there")
            named = [word.replace("{}.", f"{name}.").replace("{}", place) for word in words]
            runs.append(here(*named))
        assert runs[0].returncode == runs[1].returncode == 0, (words, runs[1].stderr)
        if words[0] == "chunk":
            assert runs[1].stdout == runs[0].stdout.replace("docs/a.md", "memory://docs/a.md")
    # The plan that a sweep leaves names the address, and is read again.
    plan = Path("there.out/sweep.toml").read_text()
    assert '"memory://docs"' in plan
    again = here("tune", "there.out/sweep.toml", "-o", "again", "-q")
    assert again.returncode == 0, again.stderr
    # Whoever names a folder alone has not named what a file in it does.
    resumed = here("tune", "--resume", "-o", "there.out", "-q")
    assert "names a store that would be read with your credentials, memory://docs" in resumed.stderr
    resumed = here("tune", "--resume", "-o", "there.out", "-q", "--allow", "memory://docs")
    assert resumed.returncode == 0, resumed.stderr
    written = here("chunk", "memory://docs", "-o", "memory://out/chunks.jsonl")
    assert "written: memory://out/chunks.jsonl" in written.stderr
    refused = here("chunk", "memory://docs", "-o", "memory://docs/a.md.jsonl")
    assert refused.returncode == 0, refused.stderr
    files.pipe_file("/docs/b.jsonl", b'{"text": "Mine."}\n')
    refused = here("chunk", "memory://docs", "-o", "memory://docs/b.jsonl")
    assert refused.returncode == 2
    assert "would be overwritten" in refused.stderr
    files.store.clear()


def test_a_file_address_is_the_path_it_names(here: Run, handbook: Path, tmp_path: Path) -> None:
    done = here("chunk", handbook.as_uri(), "-o", (tmp_path / "uri.jsonl").as_uri())
    assert f"written: {tmp_path}/uri.jsonl" in done.stderr
    here("chunk", str(handbook), "-o", "path.jsonl")
    assert (tmp_path / "uri.jsonl").read_bytes() == (tmp_path / "path.jsonl").read_bytes()
    here("index", handbook.as_uri(), "--into", (tmp_path / "kb").as_uri(), "--vectors", "none")
    found = here("search", (tmp_path / "kb").as_uri(), "writing", "--json")
    assert "Ask in writing." in found.stdout

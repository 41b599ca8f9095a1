"""`chunkwise compare` as a user runs it."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here
from made_results import of_questions, question, results
from tables import cases

__all__ = ["here"]  # a fixture


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs on the same forty questions."""
    results(1).save(tmp_path / "a.json")
    results(2, lift=0.3).save(tmp_path / "b.json")
    results(3).save(tmp_path / "c.json")
    return tmp_path


def test_two_runs_in_the_terminal(here: Run, folder: Path) -> None:
    done = here("compare", "a.json", "b.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "b is better than a: recall@5 +" in done.stdout
    assert "a: sentences · hybrid · a.json" in done.stdout
    assert "inconclusive" in done.stdout
    assert "Next  chunkwise compare a.json b.json --html comparison.html" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.unwatched
def test_all_is_shown_on_request(here: Run, folder: Path) -> None:
    for name, lift in (("many.json", 0.0), ("more.json", 0.2)):
        rows = [
            question(n, {f"m{at}@5": (n * at % 7) / 10 + lift for at in range(12)})
            for n in range(12)
        ]
        of_questions(tuple(rows)).save(folder / name)
    first = here("compare", "many.json", "more.json").stdout
    assert "m11@5" not in first
    assert "Other metrics: 6 inconclusive" in first
    assert "m11@5" in here("compare", "many.json", "more.json", "-v").stdout


def test_json_alone_and_into_a_file(here: Run, folder: Path) -> None:
    done = here("compare", "a.json", "b.json", "c.json", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    value = json.loads(done.stdout)
    assert [run["source"] for run in value["runs"]] == ["a.json", "b.json", "c.json"]
    assert value["contrasts"][0]["metrics"]["recall@5"]["verdict"] == "b is better"
    assert value["best"]["recall@5"]["best"] == "b"
    done = here("compare", "a.json", "b.json", "c.json", "-o", "out/both.json")
    assert done.returncode == 0
    assert done.stderr == f"written: {Path('out/both.json')}\n"
    assert json.loads((folder / "out" / "both.json").read_text()) == value


def test_metrics_are_chosen_by_name(here: Run, folder: Path) -> None:
    done = here("compare", "a.json", "b.json", "--metrics", " mrr , recall@5,", "--json")
    assert list(json.loads(done.stdout)["contrasts"][0]["metrics"]) == ["mrr@5", "recall@5"]
    done = here("compare", "a.json", "b.json", "--metrics", "retrieval", "--json")
    assert set(json.loads(done.stdout)["contrasts"][0]["metrics"]) == {
        "recall@5",
        "precision@5",
        "mrr@5",
    }
    done = here("compare", "a.json", "b.json", "--metrics", "speed")
    assert done.returncode == 2
    assert "'speed' isn't a shared metric; known: recall@5, precision@5" in done.stderr


def test_a_page_of_all_of_it(here: Run, folder: Path) -> None:
    done = here("compare", "a.json", "b.json", "c.json", "--html", "page.html")
    assert done.returncode == 0
    assert done.stderr == "written: page.html\n"
    assert "b is the best by recall@5" in done.stdout
    page = (folder / "page.html").read_text()
    for told in ("b against a", "corrected interval", "95% alone", "better", "inconclusive",
                 "Holm", "exact sign test", "Best runs", "precision"):  # fmt: skip
        assert told in page
    assert "http://" not in page.replace("http-equiv", "")
    done = here("compare", "a.json", "b.json", "--html", "b.json")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_run_that_is_worse_fails_where_it_is_told_to(here: Run, folder: Path) -> None:
    done = here("compare", "b.json", "a.json", "--fail-if-worse", "recall@5", "-o", "out.json")
    assert done.returncode == 4
    assert (folder / "out.json").exists()
    line = done.stderr.splitlines()[-1]
    assert line.startswith("chunkwise: recall@5: b is significantly worse than a: −")
    assert line.endswith("p < 0.001")
    for words, status in (
        (("b.json", "a.json", "--fail-if-worse", "any"), 4),
        (
            ("b.json", "a.json", "--fail-if-worse", "precision", "--fail-if-worse", "mrr, failure"),
            4,
        ),
        (("b.json", "a.json", "--fail-if-worse", "precision@5"), 0),
        (("a.json", "b.json", "--fail-if-worse", "any"), 0),
        (("a.json", "b.json"), 0),
    ):
        assert here("compare", *words).returncode == status, words
    done = here("compare", "a.json", "b.json", "--fail-if-worse", "speed", "-o", "none.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'speed' isn't a shared metric; known: recall@5" in done.stderr
    assert not (folder / "none.json").exists()


@cases(
    "words, status, told",
    [
        ([], 2, "missing argument"),
        (["a.json"], 2, "given; a comparison needs at least two: compare"),
        (["a.json", "none.json"], 1, "cannot read none.json"),
        (["a.json", "."], 1, "cannot read ."),
        (["a.json", "empty.json"], 1, "empty.json, line 1, column 1: not valid JSON"),
        (["a.json", "other.json"], 1, "other.json is not a chunkwise results file"),
        (
            ["a.json", "strange.json"],
            1,
            "a (40 questions) and b (1 question) have no question in common",
        ),
        (["a.json", "b.json", "-o", "b.json"], 2, "b.json is an input and would be overwritten"),
        (["a.json", "b.json", "-o", "."], 2, "is a directory"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    here: Run, folder: Path, words: list[str], status: int, told: str
) -> None:
    (folder / "empty.json").write_bytes(b"")
    (folder / "other.json").write_text('[{"query": "who?"}]')
    of_questions((question(77, {"recall@5": 1.0}),)).save(folder / "strange.json")
    before = (folder / "b.json").read_bytes()
    done = here("compare", *words)
    assert done.returncode == status
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert (folder / "b.json").read_bytes() == before


def test_nothing_that_a_file_of_results_names_is_run_or_read(here: Run, folder: Path) -> None:
    (folder / "evil.py").write_text("open('ran', 'w').close()\nclass M:\n    pass\n")
    for name in ("a.json", "b.json"):
        text = (folder / name).read_text()
        for ours in ("recall@5", "sentences", "hybrid", "minilm"):
            text = text.replace(json.dumps(ours), json.dumps("evil.py:M"))
        value = json.loads(text)
        value["configuration"] |= {"page_template": "/etc/passwd", "embedder": "evil.py:M"}
        (folder / name).write_text(json.dumps(value))
    for words in ((), ("--json",), ("-v",), ("--html", "page.html"), ("-o", "both.json")):
        done = here("compare", "a.json", "b.json", *words)
        assert "Traceback" not in done.stderr
        assert "root:" not in done.stdout
    assert "evil.py:M" in (folder / "page.html").read_text()
    assert not (folder / "ran").exists()

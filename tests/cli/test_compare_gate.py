"""`chunkwise compare` as a gate: statuses, files, and what GitHub reads."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.in_process import Run, here, run_without_reader
from made_results import of_questions, question, results
from tables import cases

__all__ = ["here"]  # a fixture


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    high = results(2, lift=0.15)
    results(1).save(tmp_path / "low.json")
    high.save(tmp_path / "high.json")
    other = replace(high, data={**high.data, "documents": {"count": 1, "hash": "d2"}})
    other.save(tmp_path / "other.json")
    rows = [question(n, {"recall@5": 1.0}, text="::error::mine\n|x|") for n in range(200)]
    of_questions(tuple(rows)).save(tmp_path / "same.json")
    rows[7] = question(7, {"recall@5": 0.0}, text="::error::mine\n|x|")
    of_questions(tuple(rows)).save(tmp_path / "broken.json")
    crashed = [
        rows[0],
        *(question(n, {"recall@5": None}, text=rows[0].text) for n in range(1, 200)),
    ]
    of_questions(tuple(crashed)).save(tmp_path / "crashed.json")
    uncited = [replace(row, scores={**row.scores, "citation_recall": None}) for row in rows]
    of_questions(tuple(uncited)).save(tmp_path / "uncited.json")
    of_questions(tuple(uncited), strategy="words").save(tmp_path / "uncited_too.json")
    return tmp_path


@cases(
    "words, status, told",
    [
        ("high.json low.json --fail-if-worse recall@5 --min-effect 0.02", 4, "is significantly worse"),
        ("high.json low.json --fail-if-worse recall@5 --min-effect 0.5", 0, "is as good as a, within 0.5"),
        ("low.json high.json --fail-if-worse recall@5,mrr --min-effect 0.02", 0, "is significantly better"),
        ("low.json other.json --fail-if-worse recall@5", 5, "not comparable: a and b have different documents"),
        ("low.json other.json --fail-if-worse recall@5 --accept documents", 0, "better"),
        ("low.json same.json --fail-if-worse recall@5 --accept questions", 5, "not comparable"),
        ("same.json broken.json --fail-if-worse recall --min-effect 0.05", 0, "is as good as a"),
        ("same.json broken.json --fail-if-worse recall --no-new-zero", 4, "q07 fell from 100% to 0%"),
        ("same.json broken.json --no-new-zero", 4, "q07 fell from 100% to 0%"),
        ("high.json low.json --no-new-zero", 0, ""),
        ("same.json crashed.json --fail-if-worse recall --min-effect 0.02", 5, "199 of the 200 questions with a score"),
        ("same.json crashed.json --fail-if-worse recall --accept questions", 0, "199 questions"),
        ("uncited.json uncited_too.json --fail-if-worse recall,citation", 0, "citation_recall: skipped, no question"),
        ("uncited.json uncited_too.json --fail-if-worse citation", 5, "no run has a score for citation_recall"),
        ("low.json high.json --min-effect 0.1", 0, "is significantly better"),
        ("low.json high.json --fail-if-worse recall --min-effect nan", 2, "min_effect is"),
        ("low.json high.json --fail-if-worse recall --junit low.json", 2, "would be overwritten"),
    ],
)  # fmt: skip
def test_a_gate_ends_with_its_own_status(here: Run, words: str, status: int, told: str) -> None:
    done = here("compare", *words.split())
    assert done.returncode == status, done.stderr
    assert told in done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    assert [line for line in lines if line.lstrip().startswith("::")] == []


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("form", [(), ("--json",), ("--annotations",)])
def test_a_reader_who_leaves_opens_no_gate(folder: Path, form: tuple[str, ...]) -> None:
    words = ("high.json", "low.json", "--fail-if-worse", "recall@5", "--junit", "gate.xml", *form)
    done = run_without_reader(folder, "compare", *words)
    assert done.returncode == 4, done.stderr
    assert (folder / "gate.xml").exists()


def test_a_whole_run_without_any_question_in_common_still_writes_its_files(
    here: Run, folder: Path
) -> None:
    of_questions((question(777, {"recall@5": 1.0}),)).save(folder / "strange.json")
    done = here(
        "compare", "same.json", "strange.json", "--fail-if-worse", "recall", "--junit", "g.xml"
    )
    assert done.returncode == 5
    assert ElementTree.parse(folder / "g.xml").getroot()[0].get("errors") == "1"
    assert here("compare", "same.json", "strange.json").returncode == 1


def test_every_file_is_written_whatever_comes_out(here: Run, folder: Path) -> None:
    files = ("--junit", "g.xml", "--comment", "c.md", "--summary", "s.md", "--annotations")
    done = here("compare", "same.json", "broken.json", "--no-new-zero", *files)
    assert done.returncode == 4
    assert ElementTree.parse(folder / "g.xml").getroot()[0].get("failures") == "1"
    comment = (folder / "c.md").read_text()
    assert "1 new zero" in comment
    assert (folder / "s.md").read_text() == comment + "\n"
    assert "::error title=chunkwise%3A recall@5%3A 1 new zero::100%25 → 0%25" in done.stdout
    assert "stop-commands" not in done.stdout


def test_github_is_told_by_itself_and_obeys_no_question(
    here: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "s.md"))
    (folder / "s.md").write_text("before\n")
    done = here("compare", "same.json", "broken.json", "--no-new-zero")
    assert done.returncode == 4
    assert (folder / "s.md").read_text().startswith("before\n# chunkwise compare\n\n**▼ Failed")
    head, _, rest = done.stdout.partition("\n")
    token = head.removeprefix("::stop-commands::")
    shown, _, behind = rest.partition(f"::{token}::\n")
    assert "q07" in shown
    assert "q07 fell" in done.stderr
    assert "mine" not in done.stderr
    assert [line for line in behind.splitlines() if line.startswith("::")] == behind.splitlines()
    # Nothing is said where nothing is checked, and JSON stays alone.
    (folder / "s.md").unlink()
    assert here("compare", "same.json", "broken.json").returncode == 0
    assert not (folder / "s.md").exists()
    done = here("compare", "same.json", "broken.json", "--no-new-zero", "--json")
    assert json.loads(done.stdout)["gate"]["outcome"] == "failed"
    assert "::error title" in done.stderr

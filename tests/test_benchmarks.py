"""The benchmarks: every module can be imported without its peers, and a page keeps the parts that are not measured."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the source archive has no benchmarks", allow_module_level=True)
sys.path.append(str(ROOT))

from benchmarks import late_projection, machine, staleness  # noqa: E402
from benchmarks.page import renewed, write_page  # noqa: E402
from benchmarks.regressions import FASTER, SLOWER, compare  # noqa: E402

from chunkwise.models.embed import colbert  # noqa: E402
from tables import cases  # noqa: E402

IMPORT_ALL = """
import importlib, pathlib, sys
for path in sorted(pathlib.Path("benchmarks").glob("*.py")):
    try:
        importlib.import_module(f"benchmarks.{path.stem}")
    except Exception as error:
        print(f"{path.name}: {type(error).__name__}: {error}")
"""


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_every_module_can_be_imported_without_the_peers() -> None:
    found = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (found.stdout, found.returncode) == ("", 0), found.stderr


PAGE = """# Speed

Written by `make bench`.

- yesterday, another machine
- Python 3.10

## Reading

read slowly

### Detail

12 pages

## Cutting

cut slowly
"""
TITLES = ("Reading", "Cutting", "Searching")


def test_a_part_that_is_measured_again_is_the_only_one_that_changes() -> None:
    page = renewed(PAGE, "Speed", TITLES, {"Cutting": "- today\n\ncut fast\n"})
    assert page.count("# Speed\n") == 1
    assert "read slowly\n\n### Detail\n\n12 pages" in page
    assert "cut fast" in page
    assert "cut slowly" not in page


def test_a_part_that_is_kept_says_where_it_was_measured() -> None:
    page = renewed(PAGE, "Speed", TITLES, {"Cutting": "- today\n\ncut fast\n"})
    reading, cutting = page.split("## Cutting")
    assert "- yesterday, another machine\n- Python 3.10\n\nread slowly" in reading
    assert "- yesterday" not in cutting
    assert renewed(page, "Speed", TITLES, {}) == page


def test_parts_stand_in_the_order_of_the_benchmark_whichever_came_first() -> None:
    page = renewed("", "Speed", TITLES, {"Searching": "found\n"})
    page = renewed(page, "Speed", TITLES, {"Reading": "read\n"})
    assert [line for line in page.splitlines() if line.startswith("#")] == [
        "# Speed", "## Reading", "## Searching",
    ]  # fmt: skip


def test_what_others_wrote_under_a_title_of_their_own_is_kept() -> None:
    page = renewed(f"{PAGE}\n## Notes\n\nby hand\n", "Speed", TITLES, {"Reading": "read\n"})
    assert page.rstrip().endswith("## Notes\n\nby hand")


@pytest.mark.usefixtures("processes")
def test_measuring_one_part_leaves_the_others_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "speed.md"
    page.write_text(PAGE, "utf-8")
    parts = {"read": ("Reading", lambda: "read"), "cut": ("Cutting", lambda: "cut fast")}
    monkeypatch.setattr(sys, "argv", ["speed", "cut", "--output", str(page)])
    write_page("Speed", "speed.md", parts, None)
    assert "read slowly" in page.read_text("utf-8")
    assert "cut fast" in page.read_text("utf-8")


def test_the_packaged_projection_is_the_one_that_was_learned() -> None:
    learned = late_projection.packaged(Path(late_projection.__file__).with_suffix(".npz"))
    kept = np.load(Path(colbert.__file__).with_name("colbert_small.npy"))
    assert np.array_equal(kept, learned)


def test_a_change_of_more_than_15_percent_is_reported() -> None:
    before = {"cut": 1.0, "index": 1.0, "search": 1.0, "tune": 1.0, "gone": 1.0}
    now = {"cut": 1.16, "index": 1.14, "search": 0.84, "tune": 0.86, "added": 1.0}
    assert {each.name: each.verdict for each in compare(before, now)} == {
        "cut": SLOWER, "index": "", "search": FASTER, "tune": "", "gone": "not measured", "added": "new",
    }  # fmt: skip


def _commit(root: Path, file: str, text: str) -> str:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    machine.git(root, "add", file)
    machine.git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-m", file)
    return machine.commit(root)


@pytest.mark.usefixtures("processes")
def test_a_part_is_stale_once_a_later_commit_touches_what_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staleness, "MEASURED", {"p.md": {"": "text", "Search": "retrieval"}})
    machine.git(tmp_path, "init")
    _commit(tmp_path, "src/chunkwise/retrieval/a.py", "1")
    measured = _commit(tmp_path, "src/chunkwise/text/a.py", "1")
    page = (
        "# Title\n\n- 2026-11-18 09:00 UTC, commit {0}, x86_64\n\n"
        "## Search\n\n- 2026-11-18 09:00 UTC, commit {0}+changes, x86_64\n\n"
        "## Old\n\n- 2026-11-17 09:00 UTC, x86_64\n"
    )
    _commit(tmp_path, "docs/benchmarks/p.md", page.format(measured))
    assert staleness.verdicts(tmp_path, "p.md") == {
        "Title": "", "Search": "", "Old": staleness.UNKNOWN,
    }  # fmt: skip
    _commit(tmp_path, "src/chunkwise/retrieval/a.py", "2")
    assert staleness.verdicts(tmp_path, "p.md")["Search"] == staleness.STALE
    assert staleness.verdicts(tmp_path, "p.md")["Title"] == ""
    (tmp_path / "src/chunkwise/text/a.py").write_text("2", "utf-8")
    assert machine.commit(tmp_path).endswith("+changes")


@pytest.mark.usefixtures("processes")
def test_without_history_nothing_is_compared(tmp_path: Path) -> None:
    assert len(staleness.report(tmp_path)) == 1


def test_every_page_declares_packages_that_exist() -> None:
    assert {path.name for path in (ROOT / "docs/benchmarks").glob("*.md")} == {
        "index.md",
        *staleness.MEASURED,
    }
    declared = {
        each for parts in staleness.MEASURED.values() for each in " ".join(parts.values()).split()
    }
    assert [each for each in sorted(declared) if not (ROOT / "src/chunkwise" / each).exists()] == []


@cases(
    "speed",
    ["12 MB/s", "2,500 tokens a second", "2.5k tokens/s", "3× faster", "ten times as long", "9 ms a question",
     "listed in 29 seconds", "8 seconds for a book"],
)  # fmt: skip
def test_a_stated_speed_is_found(speed: str) -> None:
    assert [line for line, _ in staleness.speeds(f"First.\n\nIt is {speed}, mostly.\n")] == [3]


def test_limits_and_outputs_of_commands_are_no_stated_speeds() -> None:
    assert not staleness.speeds(
        "Under a minute. It waits 30 seconds, within 3 seconds, for a second copy of 300 s.\n"
        "```text\n12 MB/s\n```\n"
    )

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

from benchmarks import full_stops, late_projection  # noqa: E402
from benchmarks.page import renewed, write_page  # noqa: E402

from chunkwise.models.embed import colbert  # noqa: E402

IMPORT_ALL = """
import importlib, pathlib, sys
for path in sorted(pathlib.Path("benchmarks").glob("*.py")):
    try:
        importlib.import_module(f"benchmarks.{path.stem}")
    except Exception as error:
        print(f"{path.name}: {type(error).__name__}: {error}")
"""


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


def test_a_rule_for_full_stops_is_taken_out_and_put_back() -> None:
    text = "The pier is open Sat. 9 a.m. to noon. It rose as in 4.2. Nobody knew."
    kinds = full_stops._kinds()
    for _ in range(2):
        found = {kind.name: full_stops.counted(kind, iter([("x", text)])) for kind in kinds}
        weekday, *_, decimal, _ = found.values()
        assert weekday == full_stops.Counted(1, 0, 1, 0)
        assert decimal == full_stops.Counted(1, 1, 1, 0)

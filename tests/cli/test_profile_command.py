"""`chunkwise profile` as a user runs it."""

import json
from pathlib import Path

from cli.in_process import Run, here
from tables import cases

__all__ = ["here"]  # a fixture


def test_profile_in_the_terminal_as_json_and_as_a_page(
    here: Run, handbook: Path, tmp_path: Path
) -> None:
    shown = here("profile", "handbook")
    assert shown.returncode == 0
    assert "3 documents" in shown.stdout
    assert "of the sections fit into 400 tokens" in shown.stdout
    assert "Sizes in tokens" in shown.stdout
    told = json.loads(here("profile", "handbook", "--json").stdout)
    assert told["total"]["documents"] == 3
    done = here("profile", "handbook", "--html", "p.html")
    assert "written: p.html" in done.stderr
    assert "https://" not in (tmp_path / "p.html").read_text()


def test_profile_skips_like_chunk(here: Run, handbook: Path) -> None:
    (handbook / "empty.txt").write_bytes(b"")
    assert here("profile", "handbook", "--json").returncode == 3
    strict = here("profile", "handbook", "--strict")
    assert strict.returncode == 1
    assert "empty.txt: empty" in strict.stderr


@cases("words", [[], ["--json"], ["--html", "p.html"]])
def test_a_profile_of_nothing_is_none(here: Run, tmp_path: Path, words: list[str]) -> None:
    done = here("profile", "nowhere.md", *words)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no readable documents; nothing to profile" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_profile_leaves_its_own_page_out(here: Run, handbook: Path) -> None:
    words = ["profile", "handbook", "--html", "handbook/p.html", "--json"]
    first, second = here(*words), here(*words)
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout

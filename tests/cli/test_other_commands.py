"""`chunkwise profile`, `chunkwise strategies`, and help."""

import json
import re
import sys
from pathlib import Path
from subprocess import run as call

import pytest

from chunkwise.chunkers import describe_all, registry
from chunkwise.cli.main import _COMMANDS
from cli.in_process import Run, here
from untimed import HANG

__all__ = ["here"]  # a fixture


def test_profile_in_the_terminal_as_json_and_as_a_page(
    here: Run, handbook: Path, tmp_path: Path
) -> None:
    shown = here("profile", "handbook")
    assert shown.returncode == 0
    assert "3 documents" in shown.stdout
    assert "Where to start" in shown.stdout
    told = json.loads(here("profile", "handbook", "--json").stdout)
    assert told["total"]["documents"] == 3
    done = here("profile", "handbook", "--page", "p.html")
    assert "written: p.html" in done.stderr
    assert "https://" not in (tmp_path / "p.html").read_text()


def test_profile_skips_like_chunk(here: Run, handbook: Path) -> None:
    (handbook / "empty.txt").write_bytes(b"")
    assert here("profile", "handbook", "--json").returncode == 3
    strict = here("profile", "handbook", "--strict")
    assert strict.returncode == 1
    assert "empty.txt: empty" in strict.stderr


@pytest.mark.parametrize("words", [[], ["--json"], ["--page", "p.html"]])
def test_a_profile_of_nothing_is_none(here: Run, tmp_path: Path, words: list[str]) -> None:
    done = here("profile", "nowhere.md", *words)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "no document was read; there is nothing to profile" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_profile_leaves_its_own_page_out(here: Run, handbook: Path) -> None:
    words = ["profile", "handbook", "--page", "handbook/p.html", "--json"]
    first, second = here(*words), here(*words)
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout


def test_strategies_lists_all_and_one(here: Run) -> None:
    everything = here("strategies").stdout
    for name in (
        "characters",
        "words",
        "tokens",
        "sentences",
        "paragraphs",
        "recursive",
        "sections",
        "structure",
        "code",
    ):
        assert f"{name}  " in everything
    (one,) = json.loads(here("strategies", "sections", "--json").stdout)
    assert {p["name"]: p["default"] for p in one["parameters"]}["max_tokens"] == 800
    assert {p["name"]: p["default"] for p in one["parameters"]}["overlap_sentences"] == 2


@pytest.mark.parametrize("width", ["80", "140"])
def test_every_value_a_parameter_may_have_can_be_read(
    here: Run, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    shown = here("strategies").stdout
    assert shown.count("…") == 1  # of the line that says how a strategy is written
    words = set(re.findall(r"\w+", shown))
    for strategy in describe_all():
        for parameter in strategy["parameters"]:
            assert words.issuperset(parameter["choices"]), parameter
            assert parameter["name"] in words


def test_strategies_in_brief(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    lines = here("strategies", "--brief").stdout.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == registry.names()
    assert "max_tokens" not in "".join(lines)
    assert here("strategies", "--brief", "--json").returncode == 2


@pytest.mark.parametrize("name", list(_COMMANDS))
def test_every_command_has_examples(here: Run, name: str) -> None:
    shown = here(name, "--help")
    assert shown.returncode == 0
    assert "Examples:" in shown.stdout
    assert f"chunkwise {name}" in shown.stdout


def test_help_and_import_load_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "import chunkwise\n"
        "assert 'numpy' not in sys.modules\n"
        "from chunkwise.cli.main import group\n"
        "group(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'rich', 'regex', 'lxml', 'pyarrow', 'chunkwise.chunkers.chunk'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = call([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr


def test_the_shell_learns_that_something_does_not_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # That the status is 0 where all is well, test_doctor_command.py sees.
    monkeypatch.delenv("CHUNKWISE_MODELS")
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "nothing here"))
    done = run("doctor", "--json")
    assert done.returncode == 1
    assert "chunkwise models get minilm" in done.stdout

"""The code of a part of one's own: a change of anything it is made of is seen, and nothing else is."""

import sys
from pathlib import Path

import pytest

from chunkwise.base.user_code import (
    code_fingerprint,
    file_fingerprint,
    modules_run,
    run_file,
    stands_in_files,
    version_of,
)
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import chunk_text

MINE = """
from helper import size
{own}
class Mine:
    LIMITS = [1, 2]
    def split(self, document):
        return [(0, size())]
"""
HELPER = "from deeper.sizes import SIZE\n\ndef size():\n    return SIZE\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # its stamps know no parts of a second
    (tmp_path / "mine.py").write_text(MINE.format(own=""))
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "__init__.py").write_text("")
    (tmp_path / "deeper" / "sizes.py").write_text("from .unit import UNIT\nSIZE = 3 * UNIT\n")
    (tmp_path / "deeper" / "unit.py").write_text("UNIT = 1\n")
    (tmp_path / "unused.py").write_text("NOTHING = 0\n")
    return tmp_path


def _code(folder: Path) -> str:
    return get_strategy(f"{folder}/mine.py:Mine").code


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("mine.py", MINE.format(own="SIZE = 7\n")),
        ("helper.py", HELPER.replace("return SIZE", "return SIZE + 1")),
        ("deeper/sizes.py", "SIZE = 2\n"),
        ("deeper/unit.py", "UNIT = 2\n"),
        ("deeper/__init__.py", "import os\n"),
    ],
)
def test_a_change_of_the_file_or_of_one_beside_it_is_another_fingerprint(
    folder: Path, file: str, text: str
) -> None:
    before, of_file = _code(folder), file_fingerprint(folder / "mine.py")
    assert before
    assert _code(folder) == before
    (folder / file).write_text(text)
    assert _code(folder) != before
    assert file_fingerprint(folder / "mine.py") != of_file


def test_what_is_not_imported_or_installed_elsewhere_says_nothing(folder: Path) -> None:
    (folder / "mine.py").write_text("import json, numpy\n" + MINE.format(own=""))
    before = _code(folder)
    (folder / "unused.py").write_text("NOTHING = 1\n")
    (folder / "json.py").write_text("Python has its own\n")
    assert _code(folder) == before


def test_the_code_that_is_told_is_the_code_that_runs(folder: Path) -> None:
    """A neighbor that changes is run again, as the file itself is."""
    name = f"{folder}/mine.py:Mine"
    assert chunk_text("abcdef", strategy=name)[0].end == 3
    (folder / "deeper" / "unit.py").write_text("UNIT = 2\n")
    assert chunk_text("abcdef", strategy=name)[0].end == 6
    (folder / "helper.py").write_text("def size():\n    return 1\n")
    assert chunk_text("abcdef", strategy=name)[0].end == 1


def test_objects_of_a_file_that_another_file_runs_can_be_sent_after_a_neighbor_changed(
    folder: Path,
) -> None:
    runs = "from chunkwise.base.user_code import run_file\nfrom pathlib import Path\nfrom helper import size\n"
    (folder / "own.py").write_text("class Own:\n    pass\n")
    (folder / "runs.py").write_text(
        f"{runs}Own = run_file(Path({str(folder)!r}, 'own.py'), 1).Own\n"
    )
    before = run_file(folder / "runs.py", 1).Own
    (folder / "helper.py").write_text("def size():\n    return 1\n")
    after = run_file(folder / "runs.py", 2).Own
    assert after is before
    assert sys.modules[after.__module__].Own is after  # as pickle looks it up


def test_a_module_that_was_removed_is_none_of_those_that_are_sent(folder: Path) -> None:
    module = run_file(folder / "mine.py", 1)
    assert module in modules_run()
    del sys.modules[module.__name__]
    assert module not in modules_run()


def test_files_that_import_each_other_or_are_no_python_end(folder: Path) -> None:
    (folder / "helper.py").write_text("import mine\n" + HELPER)
    before = file_fingerprint(folder / "mine.py")
    (folder / "deeper" / "sizes.py").write_text("this is no Python")
    assert file_fingerprint(folder / "mine.py") != before
    assert file_fingerprint(folder / "gone.py") == ""


def test_ours_change_with_the_version_alone(folder: Path) -> None:
    assert get_strategy("sentences(max_tokens=9)").code == ""
    (folder / "own.py").write_text(
        "from chunkwise.chunkers.sentences import SentenceChunker\n\n\nclass Own(SentenceChunker):\n    pass\n"
    )
    assert get_strategy(f"{folder}/own.py:Own").code.startswith("Own ")


def test_a_value_that_is_not_plain_is_told_by_its_file(folder: Path) -> None:
    before = _code(folder)
    (folder / "mine.py").write_text(MINE.format(own="").replace("[1, 2]", "[1, 3]"))
    assert _code(folder) != before


def test_a_class_without_a_file_is_known_to_stand_in_none(folder: Path) -> None:
    made: dict[str, type] = {}
    exec("class Typed:\n    def split(self, document):\n        return []\n", made)
    made["Typed"].__module__ = "nowhere"
    assert not stands_in_files(made["Typed"])
    assert code_fingerprint(made["Typed"]).startswith("Typed ")
    module = run_file(folder / "mine.py", version_of(folder / "mine.py"))
    assert stands_in_files(module.Mine)


def test_code_without_a_file_is_told_apart_by_what_it_does() -> None:
    def typed(number: int) -> str:
        made: dict[str, type] = {}
        text = f"class Typed:\n    def split(self, document):\n        return [lambda: {number}]\n"
        exec(text, made)
        made["Typed"].__module__ = "nowhere"
        return code_fingerprint(made["Typed"])

    assert typed(1000) == typed(1000) != typed(2000)


def test_a_module_of_a_package_is_told_with_those_of_its_package(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = folder / "plug_in"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "cut.py").write_text("from plug_in.sizes import SIZE\nfrom . import words\n")
    (package / "sizes.py").write_text("SIZE = 1\n")
    (package / "words.py").write_text("WORDS = 1\n")
    for file, text in (("sizes.py", "SIZE = 2\n"), ("words.py", "WORDS = 2\n")):
        before = file_fingerprint(package / "cut.py")
        (package / file).write_text(text)
        assert file_fingerprint(package / "cut.py") != before

"""How the house is built: names that are used once, and tests that stand where the code does."""

import ast
import re
from collections import Counter
from pathlib import Path

import chunkwise
from tables import cases

PACKAGE = Path(chunkwise.__file__).parent
TESTS = Path(__file__).parent
BESIDE = {"conformance", "golden", "torture"}
"""Folders of tests about the whole, not about one room."""
ADAPTERS = {"dspy.py", "haystack.py", "langchain.py", "llamaindex.py"}
"""Modules that are imported one at a time, with classes named alike: what changes is the framework."""


def test_no_public_class_name_is_used_twice() -> None:
    names = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).as_posix() not in ADAPTERS
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert len(names) > 200
    assert [name for name, count in names.items() if count > 1] == []


def test_tests_stand_in_the_rooms_of_what_they_test() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    rooms = {folder for folder in folders if not BESIDE & {*folder.parts}}
    assert len(rooms) > 20
    assert [
        str(room)
        for room in sorted(rooms)
        if not (PACKAGE / room).is_dir() and not (PACKAGE / room).with_suffix(".py").is_file()
    ] == []


def test_no_two_test_files_share_a_name() -> None:
    """They are imported by their bare names."""
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_module_says_in_its_first_line_what_it_holds() -> None:
    silent = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path.name != "__main__.py" and not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


@cases("page", ["docs/explanation/architecture.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_about_the_house_names_is_there(page: str) -> None:
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)", (TESTS.parent / page).read_text("utf-8")))
    assert len(named) > 5
    assert [
        file
        for file in sorted(named)
        if not (PACKAGE / file).is_file() and not (TESTS.parent / file).is_file()
    ] == []

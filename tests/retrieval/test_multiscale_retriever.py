"""The search at several sizes, run on a real index: budgets, filters, sections, one preparation."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_index import TinyIndex, documents

import chunkwise
from chunkwise.core import Document
from chunkwise.errors import InvalidParameter
from chunkwise.retrieval import Index, index
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.multiscale import Multiscale
from chunkwise.retrieval.searching.search import search
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokenizers import get_tokenizer


@pytest.fixture(scope="module")
def corpus() -> Index:
    """All documents of the package, by words alone."""
    return index(f"{chunkwise.__path__[0]}/corpus", vectors="none")


COUNT = get_tokenizer("o200k_base").count
QUESTIONS = [
    "who approves leave?",
    "salt per tonne",
    "Wie viele Kinder hat die Schule?",
    "tide",
    "?",
    "ferry crew",
]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(QUESTIONS), st.integers(1, 900), st.sampled_from([None, 1, 4]))
def test_budget_and_count_hold_by_the_real_count(
    corpus: Index, question: str, budget: int, k: int | None
) -> None:
    hits = corpus.search(question, budget=budget, k=k)
    assert sum(COUNT(hit.text) for hit in hits) <= budget
    assert k is None or len(hits) <= k
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
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


def test_an_index_without_atoms_says_so() -> None:
    with pytest.raises(InvalidParameter, match="choose hybrid"):
        search(TinyIndex(documents("A lamp.")), "lamp", retriever="multiscale")

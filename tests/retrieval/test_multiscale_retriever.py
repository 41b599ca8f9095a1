"""The search at several sizes, run on a real index: budgets, filters, sections, one preparation."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Block, Document
from chunkwise.options import SearchOptions
from chunkwise.retrieval import Index, index
from chunkwise.retrieval import retrievers as retriever
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.multiscale import Multiscale
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import get_tokenizer
from how_many import examples
from retrieval.tiny_embedder import Tiny
from retrieval.tiny_index import documents
from tables import cases


@pytest.fixture(scope="module")
def corpus() -> Index:
    """All documents of the package, by words alone."""
    return index(f"{chunkwise.__path__[0]}/corpus", vectors="none")


@pytest.fixture(scope="module")
def lamps() -> Index:
    """Thirty documents, by words and by vectors."""
    texts = [f"Sentence {n} on lamps number{n}. Another line on tables{n}. " for n in range(30)]
    return index(documents(*texts), "sentences(max_tokens=20, overlap=0)", embedder=Tiny())


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


def test_it_is_what_a_budget_is_filled_by_where_no_summary_would_be_passed_by(
    lamps: Index,
) -> None:
    question = "Who lights the lamp?"
    assert lamps.search(question, budget=60) == lamps.search(
        question, budget=60, retriever="multiscale"
    )
    assert lamps.search(question, budget=60) != lamps.search(
        question, budget=60, retriever="hybrid"
    )


def test_no_hit_is_a_brace_or_a_rule_alone_or_ends_in_white_space() -> None:
    lines = ["def lamp():", "{", "}", "* * *", "    light the lamp", "---", "}", ""]
    code = [Document(f"{n}.py", "\n".join(lines * 4), format="code") for n in range(3)]
    made = index(code, vectors="none")
    for budget in range(4, 60, 3):
        for hit in made.search("light the lamp", budget=budget):
            assert hit.text == hit.text.rstrip()
            assert any(map(str.isalnum, hit.text))


def test_a_hit_has_a_section_it_lies_in(corpus: Index) -> None:
    crossing = 0
    for hit in corpus.search("leave book notice decides, salt, crew, tide", budget=2000):
        if hit.document.format == "markdown":
            analyzed = Analyzed(hit.document)
            within = set(analyzed.sections.at(np.arange(hit.start, hit.end)).tolist())
            assert hit.section in [analyzed.sections.paths[section] for section in within]
            assert hit.section
            crossing += len(within) > 1
    assert crossing


WARRANTY = """# Warranty and returns

## Warranty

The lamp is guaranteed for five years from the day of purchase, the power supply for two. The guarantee does not cover
broken glass, water, or lamps opened by anyone but our workshop.

## Returns

You may send a lamp back within 45 days, no reason needed. We pay the postage inside the country. The refund arrives
within ten working days of the parcel reaching us.

## Repairs

| Fault | Cost after warranty | Time |
|---|---|---|
| Touch ring dead | €24 | 5 days |
| Arm loose | €12 | 2 days |

Write to the workshop with the serial number, which is under the base.
"""


@pytest.mark.unwatched
@pytest.mark.parametrize(("name", "enough"), [("multiscale", 13), ("bm25", 22)])
def test_no_hit_ends_with_a_heading_or_a_header_of_a_table(name: str, enough: int) -> None:
    """Unless there is nothing else: below `enough` tokens no text fits, but a heading may."""
    texts = [Document(f"{n}.md", WARRANTY, format="markdown") for n in range(2)]
    made = index(texts, "sentences(max_tokens=60)", vectors="none")
    leads = ("#", "|--", "| Fault")
    questions = ["touch ring repair cost", "refund", "returns", "warranty repairs fault"]
    for budget in range(1, 130):
        for hits in made.search(questions, budget=budget, retriever=name):
            assert sum(COUNT(hit.text) for hit in hits) <= budget
            shown = [list(filter(str.strip, hit.text.splitlines())) for hit in hits]
            if budget < enough and all(line.startswith(leads) for lines in shown for line in lines):
                continue
            assert not [lines for lines in shown if lines[-1].startswith(leads)], budget


def test_rows_come_where_their_header_does_not_fit() -> None:
    made = index([Document("w.md", WARRANTY, format="markdown")], vectors="none")
    for budget in (20, 30, 40, 60):
        hits = made.search("touch ring repair cost", budget=budget)
        assert any("| Touch ring dead | €24 | 5 days |" in hit.text for hit in hits)
        (row,) = (hit for hit in hits if "Touch ring" in hit.text)
        assert row.section == ("Warranty and returns", "Repairs")


def test_declared_headers_of_tables_count_as_well() -> None:
    lines = ["fault,cost", "touch ring,24", "arm,12"]
    text = "\n".join(lines)
    starts = [text.index(line) for line in lines]
    blocks = tuple(
        Block("row" if number else "header", start, start + len(line), 0, 1)
        for number, (start, line) in enumerate(zip(starts, lines, strict=True))
    )
    made = index([Document("f.csv", text, format="table", blocks=blocks)], vectors="none")
    shown = [[hit.text for hit in made.search("fault", budget=budget)] for budget in (5, 9, 30)]
    assert shown == [["arm,12"], ["fault,cost\ntouch ring,24"], [text]]


def test_filters(corpus: Index) -> None:
    for only in (Filter(documents=("ferry*",)), Filter(sections=("leave",))):
        hits = corpus.search("leave the ferry", budget=400, options=SearchOptions(**only.changed()))
        assert hits
        for hit in hits:
            assert only.takes_document(hit.doc_id)
            assert not only.sections or "leave" in hit.section_path.lower()
    assert corpus.search("leave", budget=400, options=SearchOptions(pages=(1, 9))) == []


def test_a_name_is_sought_in_parts_where_no_allowed_document_has_it_whole() -> None:
    made = index(
        documents("The DiffExecutor keeps lamps.", "Each executor of a diff runs."), vectors="none"
    )
    question = "Where does the DiffExecutor keep old lamps lit?"
    for only, expected in ((Filter(), "d0"), (Filter(documents=("d1",)), "d1")):
        found = made.search(
            question,
            budget=50,
            retriever="multiscale(dense=0)",
            options=SearchOptions(**only.changed()),
        )
        assert [hit.doc_id for hit in found] == [expected]


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
    changed = index(documents("A lamp. A table."), embedder=Tiny()).source.atom_table()
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


@cases("vectors", ["none", "own"])
def test_vectors_alone_where_there_are_none_of_sentences(vectors: str) -> None:
    made = index(
        documents("A lamp."), vectors=vectors, embedder=Tiny() if vectors == "own" else None
    )  # type: ignore[arg-type]
    assert made.search("lamp", budget=20, retriever="multiscale")
    with pytest.raises(
        InvalidParameter,
        match=r"words is 0, but the index has no sentence vectors; set words=1, or rebuild the index with vectors",
    ):
        made.search("lamp", budget=20, retriever="multiscale(words=0)")

"""A graph of names in an index: kept beside the words, walked along by the retriever graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chunkwise
from chunkwise import Document
from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.graph import Walk, name_graph
from chunkwise.retrieval.retrievers import GraphRetriever, QueryBatch
from chunkwise.text.names import names_in_question
from chunkwise.text.terms import query_terms

FILM = Document(
    "film", "Silent Harbour is a film. It was directed by Anna Orme.", title="Silent Harbour"
)
DIRECTOR = Document(
    "orme", "Anna Orme painted boats. She lies in Ghent since 1931.", title="Anna Orme"
)
OTHERS = [
    Document(
        f"other{number}",
        f"Report {number} says when the council of Vane{number} died out in winter.",
    )
    for number in range(30)
]
QUESTION = "When did the director of Silent Harbour die?"


def make(documents: list[Document], into: Path | None = None, **given: object) -> chunkwise.Index:
    return chunkwise.index(documents, into=into, vectors="none", graph=True, **given)  # type: ignore[arg-type]


def test_the_second_passage_is_found_by_the_name_in_the_first() -> None:
    index = make([FILM, *OTHERS, DIRECTOR])
    hits = index.search(QUESTION, retriever="graph", k=2)
    assert {hit.doc_id for hit in hits} == {"film", "orme"}
    without = index.search(QUESTION, retriever="multiscale", budget=40)
    assert "orme" not in {hit.doc_id for hit in without}


def test_the_chain_says_by_which_name() -> None:
    index = make([FILM, *OTHERS, DIRECTOR])
    source = index.source
    number = source.ids().index("orme")
    batch = QueryBatch([QUESTION], source.settings)
    (links,) = GraphRetriever().chains_for(source, batch, [(number, 0, len(DIRECTOR.text))])  # type: ignore[arg-type]
    (link,) = links
    text = source.document(link.before.document).text
    assert source.document(link.before.document).id == "film"
    assert text[link.before.start : link.before.end] == "Anna Orme"
    assert "directed by" in text[slice(*link.before.sentence)]
    assert source.document(link.after.document).id == "orme"


def test_an_index_without_names_says_so() -> None:
    index = chunkwise.index([FILM], vectors="none")
    for retriever in ("graph", "multiscale(graph=0.5)"):
        with pytest.raises(InvalidParameter, match="--graph"):
            index.search(QUESTION, retriever=retriever, budget=100)


def test_updating_gives_what_making_anew_gives(tmp_path: Path) -> None:
    index = make([FILM, *OTHERS], tmp_path / "kb")
    index.update([DIRECTOR, *OTHERS[:5], FILM])
    anew = make([DIRECTOR, *OTHERS[:5], FILM], tmp_path / "anew")
    for each in (index, chunkwise.open_index(tmp_path / "kb")):
        one, other = (one.source.atom_table().mentions for one in (each, anew))  # type: ignore[union-attr]
        assert one is not None
        assert other is not None
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    index.verify()


def test_asked_for_later_it_needs_a_rebuild(tmp_path: Path) -> None:
    chunkwise.index([FILM], into=tmp_path / "kb", vectors="none")
    with pytest.raises(InvalidParameter, match="graph"):
        make([FILM], tmp_path / "kb")
    assert make([FILM], tmp_path / "kb", rebuild=True).settings.graph == "names"


def test_a_filter_bars_the_way_too() -> None:
    index = make([FILM, *OTHERS, DIRECTOR])
    only = chunkwise.Filter(("orme", "other*"))
    found = index.search(QUESTION, retriever="graph", k=3, only=only)
    assert "film" not in {hit.doc_id for hit in found}


def test_the_work_of_a_walk_is_bounded() -> None:
    """One name in every document, and a document of a thousand names."""
    many = " ".join(f"Name{number} met Orme." for number in range(1000))
    index = make(
        [Document("many", many)] + [Document(f"d{n}", f"Orme saw Vale{n}.") for n in range(600)]
    )
    atoms = index.source.atom_table()  # type: ignore[union-attr]
    graph = name_graph(atoms)
    asked = "What did Name7 see?"
    terms = query_terms(asked, ["en"])
    points = np.ones(len(atoms))
    walked = Walk().scores(graph, atoms, points, terms, names_in_question(asked), keep_steps=True)
    orme = graph.names.searchsorted(np.unique(names_in_question("Orme"))[0])
    assert all(step.name != orme for step in walked.steps.values())
    assert len(graph.of_name.other) <= len(atoms.mentions.name)  # type: ignore[union-attr]


def test_the_names_take_at_most_half_of_the_text() -> None:
    text = (
        "Silent Harbour is a film that was shot in the winter of 1931 by Anna Orme, who had painted boats before. "
        "It was shown in Ghent first, where the people of the town liked it more than the critics did later on. "
    )
    index = make([Document(f"d{number}", text * 5) for number in range(4)])
    mentions = index.source.atom_table().mentions  # type: ignore[union-attr]
    assert mentions is not None
    assert sum(each.nbytes for each in mentions) <= 0.5 * len(text) * 20

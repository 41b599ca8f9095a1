"""Names of an index looked up: which link most, where one stands, what stands beside it."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document
from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.graph.names_and_neighbors import LINKED, NameLookup
from chunkwise.retrieval.graph.walk_along_names import Walk
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.retrievers import get_retriever
from tables import cases

DOCUMENTS = [
    Document("kitchen", "# Salt Kitchen\n\nThe Salt Kitchen feeds Port Ansel. Anna Orme runs it.\n", format="markdown"),
    Document("port", "Port Ansel lies in the north. Its mayor met Anna Orme at the Salt Kitchen's door."),
    Document("orme", "She was born far away.", title="Anna Orme"),
    Document("other", "It rained."),
]  # fmt: skip


def lookup(documents: list[Document]) -> NameLookup:
    return NameLookup(chunkwise.index(documents, vectors="none", graph=True).source)


def text_of(doc_id: str) -> str:
    return next(each.text for each in DOCUMENTS if each.id == doc_id)


@cases("name", ["Salt Kitchen", "salt kitchen", "the Salt Kitchen's"])
def test_a_name_has_its_mentions_neighbors_and_passages(name: str) -> None:
    found = lookup(DOCUMENTS).details(name)
    assert found.counts.name == "Salt Kitchen"
    assert (found.counts.mentions, found.counts.documents) == (3, 2)
    for each in found.mentions:
        assert "Salt Kitchen" in text_of(each.doc_id)[each.start : each.end]
        assert each.text == text_of(each.doc_id)[slice(*each.sentence)]
    assert {each.name for each in found.neighbors} == {"Port Ansel", "Anna Orme"}
    for near in found.neighbors:
        place = near.evidence
        assert text_of(place.doc_id)[place.start : place.end] == near.name
    about = [(each.doc_id, each.is_about) for each in found.passages]
    assert about == [("kitchen", True), ("port", False)]


def test_a_title_alone_is_a_mention_without_length() -> None:
    found = lookup(DOCUMENTS).details("Anna Orme")
    (title,) = [each for each in found.mentions if each.doc_id == "orme"]
    assert (title.start, title.end, title.kind) == (0, 0, "title")
    alone = lookup(DOCUMENTS[2:]).details("Anna Orme")
    assert alone.counts.name == "Anna Orme"


@pytest.mark.usefixtures("large_inputs")
def test_links_of_many_names_take_little_memory() -> None:
    """Those of the first are counted, some passages at a time, and rightly."""
    said = [f"Vale{at}" for at in range(1200)]
    documents = [
        Document(f"d{at}", f"{said[at]} met {said[at // 2]}. Orme saw {said[at % 7]}.")
        for at in range(1200)
    ]
    looked = lookup(documents)
    tracemalloc.start()
    found = looked.overview(2000)
    links = looked.links([each.name for each in found.most_linked])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.most_linked) > 1000
    assert links == found.links
    assert max(each.other for each in links) < LINKED
    assert peak < 25_000_000
    names = [each.name for each in found.most_linked]
    for link in [*links[:20], *links[-20:]]:
        pair = {names[link.one], names[link.other]}
        together = [each for each in documents if pair <= set(re.findall(r"\w+", each.text))]
        assert link.shared == len(together)


def test_a_name_is_common_by_the_measure_of_who_asks() -> None:
    source = chunkwise.index(DOCUMENTS, vectors="none", graph=True).source
    assert not NameLookup(source).details("Salt Kitchen").counts.is_common
    strict = NameLookup(source, common=1)
    assert strict.details("Salt Kitchen").counts.is_common
    assert strict.overview().common > 0 == NameLookup(source).overview().common


def test_a_walk_without_parameters_is_that_of_the_retriever() -> None:
    assert get_retriever("graph")._walk() == Walk()  # type: ignore[attr-defined]


def test_the_overview_counts_and_links() -> None:
    found = lookup(DOCUMENTS).overview()
    assert found.documents == 4
    names = [each.name for each in found.most_linked]
    assert set(names[:3]) == {"Salt Kitchen", "Anna Orme", "Port Ansel"}
    assert found.linking >= 3
    shared = {frozenset((names[each.one], names[each.other])): each.shared for each in found.links}
    assert shared[frozenset(("Salt Kitchen", "Port Ansel"))] == 2
    assert lookup(DOCUMENTS).links(["Salt Kitchen", "nobody", "Port Ansel"])[0].other == 2


def test_what_nobody_names_is_refused_with_what_is_known() -> None:
    with pytest.raises(InvalidParameter, match="known is 'Salt Kitchen'"):
        lookup(DOCUMENTS).details("Salt Kitchen Company")
    with pytest.raises(InvalidParameter, match="omit the name to list the most linked ones"):
        lookup(DOCUMENTS).details("Nobody")
    with pytest.raises(InvalidParameter, match="--graph"):
        NameLookup(chunkwise.index(DOCUMENTS, vectors="none").source)


def test_documents_without_a_name_have_an_empty_overview() -> None:
    for documents in ([Document("d", "it rained")], [Document("d", "")]):
        found = lookup(documents).overview()
        assert (found.names, found.most_linked, found.links) == (0, (), ())


@pytest.mark.usefixtures("large_inputs")
def test_only_documents_that_are_shown_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A name in every document, a name a line, and a thousand documents: what is read is what is shown."""
    lines = "\n".join(f"Name{number}" for number in range(5_000))
    many = [Document(f"d{number}", f"Orme saw Vale{number} in Ghent.") for number in range(1000)]
    documents = [Document("lines", lines), *many]
    index = chunkwise.index(documents, into=tmp_path / "kb", vectors="none", graph=True)
    looked, read = NameLookup(index.source), list[int]()
    whole = LocalIndex._read_document

    def counted(index: LocalIndex, number: int) -> Document:
        read.append(number)
        return whole(index, number)

    monkeypatch.setattr(LocalIndex, "_read_document", counted)
    found = looked.overview(10)
    assert found.common == 2
    assert found.names > 6_000
    assert len(found.most_linked) == 10
    assert len(read) < 200
    del read[:]
    orme = looked.details("Orme", 5)
    assert orme.counts.is_common
    assert (orme.counts.mentions, len(orme.mentions), len(orme.neighbors)) == (1000, 5, 5)
    assert len(read) < 200


@given(st.lists(st.text(max_size=120), min_size=1, max_size=4))
def test_every_place_is_what_it_says(texts: list[str]) -> None:
    documents = [Document(f"d{at}", text, title=text[:9]) for at, text in enumerate(texts)]
    looked = lookup(documents)
    for each in looked.overview(5).most_linked:
        found = looked.details(each.name, 5)
        assert found.counts == each
        for mention in (*found.mentions, *(near.evidence for near in found.neighbors)):
            text = texts[int(mention.doc_id[1:])]
            assert mention.text == text[slice(*mention.sentence)]
            assert mention.sentence[0] <= mention.start <= mention.end <= len(text)

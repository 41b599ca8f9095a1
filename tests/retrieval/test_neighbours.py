"""Chunks around a hit."""

from hypothesis import given
from hypothesis import strategies as st
from tiny_index import TinyIndex, documents

from chunkwise.retrieval.place import Place, chunk_places
from chunkwise.retrieval.ranking import NOTHING
from chunkwise.retrieval.searching.neighbours import merged, widened
from chunkwise.retrieval.searching.search import search

TEXT = "One lamp. Two ropes. Three gulls. Four nets. Five bells. Six oars. Seven tides."
INDEX = TinyIndex(
    documents(TEXT, "Another one. Quite short."), "sentences(max_tokens=4, overlap=0)"
)


def place_of(number: int) -> Place:
    document, chunk = INDEX.found[number]
    return Place(document, chunk.start, chunk.end, 1.0, (), number, number, chunk.index)


def test_it_stays_in_its_document() -> None:
    first, last = INDEX.chunk_range(0)
    assert last - first == 7
    whole = widened(INDEX, place_of(3), 100)
    assert (whole.start, whole.end, whole.first, whole.last) == (0, len(TEXT), first, last - 1)
    one = widened(INDEX, place_of(0), 1)
    assert TEXT[one.start : one.end].split() == "One lamp. Two ropes.".split()
    assert one.chunk is None
    assert widened(INDEX, place_of(3), 0) == place_of(3)


def test_hits_whose_neighbours_touch_become_one_with_the_better_score() -> None:
    hits = search(INDEX, "nets gulls lamp", k=3, retriever="bm25", neighbours=1)[0]
    assert [hit.text.split() for hit in hits] == [TEXT.split()[:10]]
    (far, near) = search(INDEX, "tides tides lamp", k=2, retriever="bm25", neighbours=1)[0]
    assert "Seven tides." in far.text + near.text
    assert "One lamp. Two ropes." in far.text + near.text


SPANS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(1, 15)), max_size=12)


@given(SPANS)
def test_merged_places_are_apart_and_cover_the_same_text(spans: list[tuple[int, int, int]]) -> None:
    texts = ["x" * 80, "x   x " * 15]
    places = [
        Place(document, start, start + size, float(-rank))
        for rank, (document, start, size) in enumerate(spans)
    ]
    found = merged(places, texts.__getitem__)
    inked = {
        (place.document, at)
        for place in places
        for at in range(place.start, place.end)
        if texts[place.document][at] != " "
    }
    seen: set[tuple[int, int]] = set()
    for place in found:
        covered = {(place.document, at) for at in range(place.start, place.end)}
        assert not covered & seen
        seen |= covered
    assert inked == {(number, at) for number, at in seen if texts[number][at] != " "}
    assert [place.score for place in found] == sorted((p.score for p in found), reverse=True)
    for place in found:
        mine = [p for p in places if p.document == place.document]
        assert place.score == max(p.score for p in mine if place.start <= p.start < place.end)
    for one in found:
        for other in found:
            if one.document == other.document and one.end <= other.start:
                assert texts[one.document][one.end : other.start].strip()


def test_an_empty_ranking_has_no_places() -> None:
    assert list(chunk_places(INDEX, NOTHING)) == []

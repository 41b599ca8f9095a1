"""More than the chunk that was found: its parent, and the chunks around it."""

from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.core import Document
from chunkwise.options import SearchOptions
from chunkwise.retrieval import index
from chunkwise.retrieval.ranking import NOTHING
from chunkwise.retrieval.search.index_reader import IndexReader
from chunkwise.retrieval.search.parents_and_neighbors import (
    MergedSpans,
    in_parents,
    with_neighbors,
)
from chunkwise.retrieval.search.search import search
from chunkwise.retrieval.searchable import CandidateSpan
from retrieval.tiny_index import TinyIndex, documents
from tables import cases


def place(start: int, end: int, score: float, document: int = 0) -> CandidateSpan:
    return CandidateSpan(document, start, end, score, ("S",), 1, 1, 4)


def test_a_parent_comes_once_where_its_best_chunk_is() -> None:
    found = [
        (place(10, 20, 0.9), (0, 50)),
        (place(60, 70, 0.8), (60, 70)),
        (place(30, 40, 0.7), (0, 50)),
        (place(10, 20, 0.6, document=1), (0, 50)),
    ]
    made = list(in_parents(found))
    assert [(p.document, p.start, p.end, p.score) for p in made] == [
        (0, 0, 50, 0.9),
        (0, 60, 70, 0.8),
        (1, 0, 50, 0.6),
    ]
    assert [p.chunk for p in made] == [None, 4, None]


def test_a_chunk_that_is_the_whole_parent_counts_as_it() -> None:
    """Whichever of them ranks higher, the text comes once."""
    whole, part = (place(0, 50, 0.9), (0, 50)), (place(10, 20, 0.8), (0, 50))
    for found in ([whole, part], [part, whole], [whole, whole]):
        (made,) = in_parents(found)
        assert (made.start, made.end, made.score) == (0, 50, found[0][0].score)


def test_it_takes_no_more_than_is_wanted() -> None:
    taken = []

    def found():  # type: ignore[no-untyped-def]
        for number in range(100):
            taken.append(number)
            yield place(number, number + 1, 1.0), (0, 1000 + number)

    places = in_parents(found())
    assert next(places).end == 1000
    assert next(places).end == 1001
    assert taken == [0, 1]


def test_a_hit_names_its_chunk_the_child_that_was_found_and_its_parent() -> None:
    text = "Alpha beta gamma. Delta epsilon zeta. Eta theta iota. Kappa lambda mu. " * 4
    document = chunkwise.Document("d", text)
    strategy = "parent_child(max_tokens=6, parent_size=20)"
    index = chunkwise.index([document], strategy, vectors="none")
    for hit in index.search("epsilon zeta", k=3, retriever="bm25"):
        assert hit.parent == hit.span
        assert hit.chunk_id is None
        assert hit.matched is not None
        assert hit.start <= hit.matched.start < hit.matched.end <= hit.end
        assert "epsilon" in text[hit.matched.start : hit.matched.end]
        assert hit.matched_id == f"d::{hit.matched_chunk}"
    chunks = chunkwise.ext.chunk_document(document, "sentences(max_tokens=12)")
    plain = chunkwise.index([document], "sentences(max_tokens=12)", vectors="none")
    hit = plain.search("epsilon", k=1)[0]
    (own,) = [chunk for chunk in chunks if chunk.id == hit.chunk_id]
    assert (own.start, own.end) == (hit.start, hit.end) == hit.matched
    assert (hit.matched_id, hit.parent) == (hit.chunk_id, None)


TEXT = "One lamp. Two ropes. Three gulls. Four nets. Five bells. Six oars. Seven tides."
INDEX = TinyIndex(
    documents(TEXT, "Another one. Quite short."), "sentences(max_tokens=4, overlap=0)"
)


def place_of(number: int) -> CandidateSpan:
    document, chunk = INDEX.found[number]
    return CandidateSpan(document, chunk.start, chunk.end, 1.0, (), number, number, chunk.index)


def test_it_stays_in_its_document() -> None:
    first, last = INDEX.chunk_range(0)
    assert last - first == 7
    whole = with_neighbors(INDEX, place_of(3), 100)
    assert (whole.start, whole.end, whole.first, whole.last) == (0, len(TEXT), first, last - 1)
    one = with_neighbors(INDEX, place_of(0), 1)
    assert TEXT[one.start : one.end].split() == "One lamp. Two ropes.".split()
    assert one.chunk is None
    assert with_neighbors(INDEX, place_of(3), 0) == place_of(3)


def test_hits_whose_neighbors_touch_become_one_with_the_better_score() -> None:
    hits = search(INDEX, "nets gulls lamp", SearchOptions(k=3, retriever="bm25", neighbors=1))[0]
    assert [hit.text.split() for hit in hits] == [TEXT.split()[:10]]
    (far, near) = search(
        INDEX, "tides tides lamp", SearchOptions(k=2, retriever="bm25", neighbors=1)
    )[0]
    assert "Seven tides." in far.text + near.text
    assert "One lamp. Two ropes." in far.text + near.text


SPANS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(1, 15)), max_size=12)


TEXTS = ["x" * 80, "x   x " * 15]
CROSSES = TinyIndex(documents(*TEXTS))


@given(SPANS)
def test_merged_places_are_apart_and_cover_the_same_text(spans: list[tuple[int, int, int]]) -> None:
    texts = TEXTS
    places = [
        CandidateSpan(document, start, start + size, float(-rank))
        for rank, (document, start, size) in enumerate(spans)
    ]
    reader = IndexReader(CROSSES)
    together = MergedSpans(reader)
    for place in places:
        together.add(place)
    found = together.candidates()
    tokens = sum(reader.count(place.document, place.start, place.end) for place in found)
    assert together.reach(tokens)
    assert not together.reach(tokens + 1)
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
    assert list(IndexReader(INDEX).chunk_spans(NOTHING)) == []


LEAVE = "# Leave\n\nLeave is asked for in writing.\n\n## Pay\n\nIt is paid.\n\n# Secret\n\nSalaries are secret.\n"
PAGES = Document("p", "One lamp. Two ropes. Three gulls. Four nets.", pages=(0, 10, 21, 34))


@cases("place", ["memory", "tiny"])
def test_a_filter_holds_for_neighbors_too(place: str) -> None:
    document = Document("m", LEAVE, format="markdown")
    if place == "tiny":
        source = TinyIndex([document], "sections", "none")
        pages = TinyIndex([PAGES], "sentences(max_tokens=4, overlap=0)", "none")
    else:
        source = index([document], "sections", vectors="none").source
        pages = index([PAGES], "sentences(max_tokens=4, overlap=0)", vectors="none").source
    (free,) = search(source, "writing", SearchOptions(retriever="bm25", neighbors=2))
    assert "secret" in free[0].text
    (kept,) = search(
        source, "writing", SearchOptions(retriever="bm25", neighbors=2, sections=("leave",))
    )
    assert [hit.text.rstrip() for hit in kept] == [LEAVE[: LEAVE.index("# Secret")].rstrip()]
    (found,) = search(pages, "gulls", SearchOptions(retriever="bm25", neighbors=3, pages=(2, 3)))
    assert [hit.text.strip() for hit in found] == ["Two ropes. Three gulls."]


def test_a_large_budget_is_merged_without_counting_everything_again() -> None:
    """Every place used to be merged and counted with all before it."""
    source = TinyIndex(
        documents(*["A lamp is lit. " * 40] * 10), "sentences(max_tokens=6, overlap=0)", "none"
    )
    reader = IndexReader(source)
    counted = []
    count = reader.tokenizer.count

    class Counting:
        def count(self, text: str) -> int:
            counted.append(len(text))
            return count(text)

    reader.tokenizer = Counting()  # type: ignore[assignment]
    together = MergedSpans(reader)
    size = sum(len(source.document(number).text) for number in range(10))
    for number in range(len(source.found)):
        document, chunk = source.found[number * 37 % len(source.found)]
        place = CandidateSpan(document, chunk.start, chunk.end, 1.0, (), number, number)
        together.add(place)
        assert not together.reach(1_000_000)
    assert len(together.candidates()) == 10
    assert sum(counted) < 3 * size

"""A pool holds every character that a retriever found, once, in no order that tells who found it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Query
from chunkwise.labels.assignment_and_progress import shuffled
from chunkwise.labels.pool import LONGEST, pool_of, pooled
from labels.made_labels import document, hit

OWN = document(sentences=300)
PLACES = st.tuples(st.integers(0, 9_000), st.integers(1, 3_000)).map(
    lambda each: (each[0], each[0] + each[1])
)


@given(st.lists(PLACES, max_size=8), st.lists(PLACES, max_size=8))
def test_every_character_is_in_one_passage(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    hits = {
        name: [hit(OWN, *place, rank) for rank, place in enumerate(own, 1)]
        for name, own in (("bm25", first), ("dense", second))
    }
    made = pooled(Query("q", "what?"), hits, 8)
    covered = [at for each in made.passages for at in range(each.start, each.end)]
    assert len(covered) == len(set(covered))
    wanted = {
        at
        for own in hits.values()
        for each in own
        for at in range(each.start, min(each.end, len(OWN.text)))
    }
    assert {at for at in wanted if not OWN.text[at].isspace()} <= set(covered)
    assert all(not OWN.text[at].isspace() or at in wanted for at in covered)
    for each in made.passages:
        assert each.text == OWN.text[each.start : each.end] == each.text.strip()
        assert each.end - each.start <= LONGEST
        for name, rank in each.found_by.items():
            assert any(
                h.rank == rank and h.start < each.end and h.end > each.start for h in hits[name]
            )


def test_the_order_is_each_persons_own_and_stays() -> None:
    hits = {"bm25": [hit(OWN, 300 * at, 300 * at + 40, at + 1) for at in range(12)], "dense": []}
    made = pooled(Query("q", "what?"), hits, 12)
    ada, grace = shuffled(made, "ada"), shuffled(made, "grace")
    assert ada == shuffled(made, "ada") != grace
    assert sorted(ada, key=lambda each: each.start) == sorted(grace, key=lambda each: each.start)
    by_rank = sorted(made.passages, key=lambda each: min(each.found_by.values()))
    assert by_rank not in (ada, grace)


def test_one_retriever_alone_makes_no_pool() -> None:
    index = chunkwise.index([document()], vectors="none")
    with pytest.raises(InvalidParameter, match="two retrievers"):
        pool_of(index, Query("q", "number 7"), retrievers=["bm25"])
    made = pool_of(index, Query("q", "number 7 says"), depth=3)
    assert made.retrievers == ("bm25", "multiscale")
    assert made.depth == 3
    assert any("number 7 " in each.text for each in made.passages)
    assert made == pool_of(index, Query("q", "number 7 says"), depth=3)

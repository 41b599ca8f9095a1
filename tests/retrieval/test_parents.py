"""Small chunks found, larger spans handed out."""

from chunkwise.retrieval.place import Place
from chunkwise.retrieval.searching.parents import in_parents


def place(start: int, end: int, score: float, document: int = 0) -> Place:
    return Place(document, start, end, score, ("S",), 1, 1, 4)


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

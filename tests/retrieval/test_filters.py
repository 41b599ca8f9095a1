"""What a filter takes, however it is written down."""

import pytest

from chunkwise.base.errors import InvalidOption
from chunkwise.retrieval.filters import EVERYTHING, Filter
from tables import cases


def test_lists_are_tuples_so_that_a_filter_can_be_hashed() -> None:
    given = Filter(documents=["handbook/*"], sections=["leave"], pages=[1, 3])  # type: ignore[arg-type]
    same = Filter(documents=("handbook/*",), sections=("leave",), pages=(1, 3))
    assert given == same
    assert hash(given) == hash(same)
    assert given.takes_document("handbook/a.md")
    assert not given.takes_document("secret/b.md")
    assert not EVERYTHING


@cases(
    "given, field",
    [
        ({"documents": 3}, "documents"),
        ({"documents": "handbook/*"}, "documents"),
        ({"documents": (b"a",)}, "documents"),
        ({"sections": ["a", None]}, "sections"),
        ({"sections": ("leave", "")}, "sections"),
        ({"pages": 3}, "pages"),
        ({"pages": (5, 3)}, "pages"),
        ({"pages": (0, 3)}, "pages"),
        ({"pages": (1, True)}, "pages"),
        ({"pages": "last"}, "pages"),
        ({"pages": (1, 2, 3)}, "pages"),
        ({"level": -1}, "level"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        Filter(**given)  # type: ignore[arg-type]
    assert caught.value.field == field

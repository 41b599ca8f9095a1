"""What a filter takes, however it is written down."""

import numpy as np
import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval import index
from chunkwise.retrieval.filters import EVERYTHING, Filter
from tables import cases


def test_one_text_is_one_pattern_and_lists_are_tuples() -> None:
    one = Filter(documents="handbook/*", sections="leave")  # type: ignore[arg-type]
    several = Filter(documents=["handbook/*"], sections=["leave"], pages=[1, np.int64(3)])  # type: ignore[arg-type]
    assert one == Filter(("handbook/*",), ("leave",))
    assert several == Filter(("handbook/*",), ("leave",), (1, 3))
    assert hash(several) == hash(Filter(("handbook/*",), ("leave",), (1, 3)))
    assert type(several.pages and several.pages[1]) is int
    assert one.takes_document("handbook/a.md")
    assert not one.takes_document("secret/b.md")
    assert not EVERYTHING


def test_no_spelling_of_a_filter_lets_other_documents_through() -> None:
    made = index(
        [Document("open/a", "Leave is paid."), Document("secret/b", "Leave of the board.")],
        vectors="none",
    )
    for given in ("open/*", ["open/*"], ("open/*",), {"open/*"}, "open/a"):
        hits = made.search("leave", only=Filter(documents=given))  # type: ignore[arg-type]
        assert [hit.doc_id for hit in hits] == ["open/a"]


@cases(
    "given, said",
    [
        ({"documents": 3}, "documents is 3; a text or several"),
        ({"documents": (b"a",)}, "documents is (b'a',)"),
        ({"sections": ["a", None]}, "sections is ['a', None]"),
        ({"sections": ("leave", " ")}, "an empty text is in every path"),
        ({"pages": 3}, "pages is 3; a first and a last page from 1 are needed: (3, 5)"),
        ({"pages": (5, 3)}, "pages is (5, 3)"),
        ({"pages": (0, 3)}, "pages is (0, 3)"),
        ({"pages": (1, True)}, "pages is (1, True)"),
        ({"pages": (1, 2.0)}, "pages is (1, 2.0)"),
        ({"pages": "13"}, "pages is '13'"),
        ({"pages": (1, 2, 3)}, "pages is (1, 2, 3)"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Filter(**given)  # type: ignore[arg-type]
    assert said in str(caught.value)

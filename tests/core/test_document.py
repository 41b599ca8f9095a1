"""A document says at once what it cannot be made of."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import FORMATS, Block, Document, Label, Link, Query, Reference
from chunkwise.core.layout import Box, PageBoxes
from chunkwise.retrieval.indexed_document import document_of, record_of
from chunkwise.retrieval.indexing.fingerprint import document_fingerprint
from chunkwise.text.analyzed import Analyzed
from tables import cases


@cases("format", ["md", "Markdown", "", None, 3, ["text"]])
def test_a_format_nobody_reads_is_refused_with_those_that_are(format: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Document("notes", "# A", format=format)  # type: ignore[arg-type]
    told = str(caught.value)
    assert "'notes'" in told
    assert repr(format) in told
    assert all(each in told for each in ("text, markdown, code", "html, pdf", "blocks"))


@cases("format", FORMATS)
def test_every_format_that_is_named_is_taken(format: str) -> None:
    document = Document("d", "A line.\n\nAnother.", format=format)
    assert Analyzed(document).sentences.tolist()[0] == 0


def test_a_loader_that_declares_its_blocks_names_its_format_as_it_likes() -> None:
    blocks = (Block("paragraph", 0, 7),)
    assert Document("d", "A line.", format="acme", blocks=blocks).format == "acme"


def test_an_index_that_has_such_a_document_is_still_read() -> None:
    record = '{"title": "", "source": "", "format": "md", "language": "", "metadata": {}}'
    assert document_of("d", record, "A line.", ()).format == "text"


def test_links_travel_and_are_kept() -> None:
    """To other processes, and in the record that an index keeps; they are no part of the text."""
    links = (Link(0, 1, "a.html"), Link(0, 3, 'b "c" \ud800.html'))
    document = Document("d", "a b", format="html", blocks=(), links=links)
    again = pickle.loads(pickle.dumps(document))
    assert again == document
    assert {type(each) for each in again.links} == {Link}
    kept = document_of("d", record_of(document), "a b", ())
    assert kept == document
    assert {type(each) for each in kept.links} == {Link}
    assert document_fingerprint(kept) == document_fingerprint(document)
    assert document_fingerprint(replace(document, links=links[:1])) != document_fingerprint(
        document
    )


@cases("packed", ["%%", "AAAA", "eJwDAAAAAAE="])
def test_damaged_links_are_a_fault_of_the_value(packed: str) -> None:
    """So that an index says which of its documents is damaged."""
    record = f'{{"title": "", "source": "", "format": "text", "language": "", "links": "{packed}"}}'
    with pytest.raises(ValueError, match=r"damaged|Expecting"):
        document_of("d", record, "A line.", ())


def test_lines_below_each_other_in_one_column_are_one_rectangle() -> None:
    above = (1, 10.0, 700.0, 90.0, 712.0)
    for below, is_joined in [
        ((1, 20.0, 686.0, 95.0, 698.0), True),
        ((1, 20.0, 690.0, 80.0, 702.0), True),  # a little over it
        ((1, 20.0, 670.0, 80.0, 682.0), True),
        ((1, 20.0, 669.0, 80.0, 681.0), False),  # too far below
        ((2, 20.0, 686.0, 80.0, 698.0), False),
        ((1, 90.0, 686.0, 180.0, 698.0), False),  # columns beside it
        ((1, 1.0, 686.0, 10.0, 698.0), False),
        ((1, 20.0, 720.0, 80.0, 732.0), False),
    ]:
        boxes = PageBoxes.of([(0, 5, above), (6, 10, below)])
        assert list(boxes.lines(0, 10)) == [above, below]
        both = Box(1, 10.0, below[2], max(90.0, below[3]), 712.0)
        assert boxes.within(4, 7) == ((both,) if is_joined else (above, below))
        assert boxes.within(4, 6) == (above,)
        assert boxes.within(5, 6) == boxes.within(7, 7) == ()


def test_a_question_says_at_once_what_it_cannot_be_made_of() -> None:
    wrong: list[tuple[type, dict[str, Any]]] = [
        (Query, {"id": 1}), (Query, {"text": None}), (Query, {"types": "how"}), (Query, {"types": 5}),
        (Query, {"labels": {"d": 1}}), (Query, {"labels": [("d", 0, 1, True)]}),
        (Reference, {"doc_id": 1}), (Reference, {"start": "0"}), (Reference, {"end": 1.5}),
        (Reference, {"alternatives": "d"}), (Reference, {"alternatives": [("d", 0, 1)]}),
    ]  # fmt: skip
    right = {Query: {"id": "q", "text": "?"}, Reference: {"doc_id": "d", "start": 0, "end": 1}}
    for kind, values in wrong:
        with pytest.raises(InvalidParameter):
            kind(**(right[kind] | values))
    label = Label("d", 0, 1, True)
    assert Query("q", "?", types=["how"], labels=iter([label])) == Query(  # type: ignore[arg-type]
        "q", "?", types=("how",), labels=(label,)
    )
    assert type(Reference("d", np.int64(0), 1).start) is int  # type: ignore[arg-type]

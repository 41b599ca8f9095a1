"""A question may name a document in many ways; more than one fit, or none, is told."""

import pytest

from chunkwise.core import Document
from chunkwise.documents.document_names import DocumentNames

DOCUMENTS = [
    Document("handbook/leave.md", "", title="Leave and Hours", source="docs/handbook/leave.md"),
    Document("handbook/hours.txt", "", source="docs/handbook/hours.txt"),
    Document("old/hours.txt", "", title="Leave", source="docs/old/hours.txt"),
    Document("leave", "", source="corpus.jsonl"),
    Document("n7", "", title="Tide Clock", source="corpus.jsonl"),
    Document("7", ""),
]
NAMES = DocumentNames(DOCUMENTS)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("handbook/leave.md", 0),
        ("leave", 3),  # an id goes before a stem and a title
        ("leave.md", 0),
        ("./handbook/leave.md", 0),
        ("/home/somebody/docs/handbook/leave.md", 0),
        ("C:\\docs\\handbook\\leave.md", 0),
        ("HANDBOOK/LEAVE.MD", 0),
        ("Leave and Hours", 0),
        ("tide clock", 4),
        ("docs/old/hours.txt", 2),
        ("old/hours.txt", 2),
        ("7", 5),
    ],
)
def test_found(name: str, number: int) -> None:
    assert NAMES.find(name) == number


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hours.txt", "'hours.txt' fits 'handbook/hours.txt', 'old/hours.txt'; use the id of one"),
        ("hours", "'hours' fits 'handbook/hours.txt', 'old/hours.txt'; use the id of one"),
        ("corpus.jsonl", "'corpus.jsonl' fits 'leave', 'n7'; use the id of one"),
        ("handbook/leaf.md", "no document is 'handbook/leaf.md'; near: 'handbook/leave.md'"),
        ("zzz", "no document is 'zzz'; ids are as in 'handbook/leave.md'"),
        ("", "no document is named"),
        ("  ", "no document is named"),
        ("x" * 5000, "no document is 'xxx"),
        ("/" * 3000, "no document is '///"),
    ],
)
def test_told(name: str, said: str) -> None:
    found = NAMES.find(name)
    assert isinstance(found, str)
    assert found.startswith(said)
    assert len(found) < 300
    assert NAMES.find(name) == found


def test_one_document_needs_no_name() -> None:
    assert DocumentNames([Document("a", "")]).find("") == 0
    assert DocumentNames([]).find("a") == "no document is 'a'; there are no documents"


@pytest.mark.unwatched
def test_thousands_of_foreign_names_are_not_all_compared() -> None:
    names = DocumentNames([Document(f"h{n:05}", "") for n in range(10_000)])
    told = [
        names.find(f"i{n:05}") for n in range(5_000)
    ]  # comparing all takes a quarter of an hour
    assert "near: 'h00000'" in str(told[0])
    assert str(told[-1]).endswith("; ids are as in 'h00000'")

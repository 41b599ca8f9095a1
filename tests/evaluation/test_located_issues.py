"""Lines and columns as an editor counts them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document
from chunkwise.metrics.cuts.boundary_issues import Issue
from chunkwise.metrics.cuts.located import located
from chunkwise.text.analysis import Analyzed


def place(document: Document, offset: int) -> tuple[int | None, int | None, int | None]:
    (found,) = located(Analyzed(document), [Issue("mid_word", 0, offset, "", "")])
    return found.line, found.column, found.page


@given(st.text(st.sampled_from("ab\n\r\v\x85\u2028é🙂"), min_size=1, max_size=30), st.data())
def test_equal_to_a_naive_count(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    document = Document("d.txt", text, source="in/d.txt")
    before = [match for match in re.finditer("\r\n|\r|\n", text) if match.end() <= offset]
    start = before[-1].end() if before else 0
    assert place(document, offset) == (len(before) + 1, offset - start + 1, None)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (Document("d.md", "a\nbc", source="in/d.md", format="markdown"), (2, 2, None)),
        (Document("in/d.py", "a\nbc", source="/home/in/d.py", format="code"), (2, 2, None)),
        (Document("d.html", "a\nbc", source="in/d.html", format="html"), (None, None, None)),
        (Document("d.pdf", "a\nbc", source="d.pdf", format="pdf", pages=(0, 2)), (None, None, 2)),
        # A record: its text is no part of its file, as it stands there.
        (Document("d.md", "a\nbc", source="corpus.jsonl", format="markdown"), (None, None, None)),
        (Document("c.jsonl#1", "a\nbc", source="in/c.jsonl"), (None, None, None)),
    ],
)
def test_only_texts_that_are_their_file_have_lines(
    document: Document, expected: tuple[int | None, int | None, int | None]
) -> None:
    assert place(document, 3) == expected


def test_no_issue_is_no_work() -> None:
    assert located(Analyzed(Document("d.txt", "", source="d.txt")), []) == []

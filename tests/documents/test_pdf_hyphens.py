"""Words cut at the end of a line: whole where the document has them so, and in linear time."""

from __future__ import annotations

import time

import pytest

from chunkwise.documents.pdf_hyphens import without_hyphens


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("hyphen\x02ated, hyphenated", "hyphenated, hyphenated"),
        ("well\x02known, well-known", "well-known, well-known"),
        ("in\x02for\x02mal, infor, formal", "informal, infor, formal"),
        ("1\x02a b\x022 Über\x02maß übermaß", "1-a b-2 Übermaß übermaß"),
    ],
)
def test_the_document_tells_which_hyphens_stay(page: str, expected: str) -> None:
    assert without_hyphens([page]) == [expected]


@pytest.mark.unwatched
@pytest.mark.parametrize("behind", ["x" * 100_000, "x\x02" * 50_000, "\x02" * 100_000])
def test_long_runs_take_linear_time(behind: str) -> None:
    started = time.process_time()
    (page,) = without_hyphens([f"a\x02b {behind}"])
    assert time.process_time() - started < 5  # each start of a run tried anew takes minutes
    assert page == f"a-b {behind}".replace("\x02", "-")

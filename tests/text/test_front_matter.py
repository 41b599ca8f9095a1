"""Tables of contents and preambles in capitals: beside the numbered parts behind them, not above."""

import pytest
from test_plain_blocks import headings


def levels(*titles: str) -> list[int]:
    """Of headings with a paragraph each."""
    found = headings("".join(f"{title}\n\nText of it, short.\n\n" for title in titles))
    assert [title for _, title in found] == list(titles)
    return [level for level, _ in found]


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["AGREEMENT", "TABLE OF\u00a0CONTENTS", "BACKGROUND", "1. Terms", "2. Fees", "SCHEDULE"], [2, 3, 3, 3, 3, 2]),
        (["ABSTRACT", "1 Introduction", "1.1 Scope", "2 Methods"], [3, 3, 4, 3]),
        (["Exhibit 4", "HOSTING AGREEMENT", "BETWEEN", "1. Terms", "2. Fees"], [3, 2, 3, 3, 3]),
        (["CONTENTS", "1. Terms", "2. Fees", "SCHEDULE", "1. Prices"], [3, 3, 3, 2, 3]),
    ],
)  # fmt: skip
def test_no_numbered_part_is_below_what_stands_in_front_of_it(
    titles: list[str], expected: list[int]
) -> None:
    assert levels(*titles) == expected


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["INTRODUCTION", "BACKGROUND", "METHODS"], [2, 2, 2]),
        (["METHODS", "1. Sample", "2. Tests", "SUMMARY", "1. Findings", "ANNEX"], [2, 3, 3, 2, 3, 2]),
        (["BACKGROUND", "1. History", "METHODS", "1. Sample"], [2, 3, 2, 3]),
    ],
)  # fmt: skip
def test_what_holds_numbers_like_others_stays_above_them(
    titles: list[str], expected: list[int]
) -> None:
    assert levels(*titles) == expected

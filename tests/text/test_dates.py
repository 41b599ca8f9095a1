"""Days of months are no headings, though they look like numbered ones."""

import pytest
from test_plain_blocks import headings

from chunkwise.text.dates import is_date, is_day


@pytest.mark.parametrize(
    "line",
    [
        "10. Mai 2020", "10. Mai", "5 January 2020", "5 January, 2020", "31 Dec. 2020", "5 MAI 1945", "3. MÄRZ ’45",
        "5 DE MAYO DE 2020", "5 ЯНВАРЯ 2020 Г.", "5 Ιανουαρίου 2020", "5 जनवरी 2020", "5 يناير 2020", "٥ يناير ٢٠٢٠",
        "5 มกราคม พ.ศ. 2563", "1 of April",
    ],
)  # fmt: skip
def test_a_day_of_a_month_is_no_heading(line: str) -> None:
    assert headings(f"Text before it.\n\n{line}\n\nText after it.\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "1 Introduction", "2 Methods", "3 Conclusion", "10. Termination", "12 Angry Men", "5 May Day",
        "32 December", "1.5 May", "0 March", "1 May 2020 Report", "6 August in the City", "4 Results", "7 Of",
    ],
)  # fmt: skip
def test_what_only_looks_like_one_is_a_heading(line: str) -> None:
    found = headings(f"Text before it.\n\n{line}\n\nText after it.\n")
    assert [title for _, title in found] == [line]


def test_a_month_without_a_name_is_none() -> None:
    assert not is_day("5", ",")
    assert not is_date("5", "2020")


def test_a_month_in_its_place_among_numbers_is_a_heading() -> None:
    planets = ["3. Earth", "4. Mars", "5. Jupiter"]
    text = "".join(f"{line}\n\nText of it.\n\n" for line in planets)
    assert [title for _, title in headings(text)] == planets
    assert headings("1. Earth\n\nText.\n\n4. Mars\n\nText.\n") == [(3, "1. Earth")]

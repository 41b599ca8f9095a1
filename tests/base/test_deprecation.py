"""Keywords that moved into a value: the old ones work for a release and say once how it is written now."""

import warnings
from dataclasses import dataclass

import pytest

from chunkwise.base.deprecation import grouped, renamed


@dataclass(frozen=True)
class Paper:
    size: str = "A4"
    grams: int = 80


@renamed(sheet="paper")
@grouped(paper=(Paper, ("size", "grams")))
def draw(name: str, *, paper: Paper = Paper(), copies: int = 1) -> tuple[str, Paper, int]:  # noqa: B008
    return name, paper, copies


def test_new_form_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw("a", paper=Paper("A3")) == ("a", Paper("A3"), 1)


def test_old_keywords_are_fields_of_the_value_and_one_warning_at_the_callers_line() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = draw("a", size="A3", copies=2, grams=90)  # type: ignore[call-arg]
    assert made == ("a", Paper("A3", 90), 2)
    assert [str(each.message) for each in seen] == [
        "draw(): size, grams: write paper=Paper(size=…, grams=…) now"
    ]
    assert seen[0].category is DeprecationWarning
    assert seen[0].filename == __file__


def test_an_old_keyword_is_added_to_the_value_that_is_given() -> None:
    with pytest.warns(DeprecationWarning, match="paper=Paper"):
        assert draw("a", paper=Paper("A3"), grams=90)[1] == Paper("A3", 90)  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match="grams: write"):
        assert draw("a", paper=None, grams=90)[1] == Paper("A4", 90)  # type: ignore[call-arg, arg-type]


def test_the_same_said_twice_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"got size and paper\.size, which are the same; give paper"
    ):
        draw("a", paper=Paper("A3"), size="A5")  # type: ignore[call-arg]

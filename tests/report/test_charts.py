"""Charts: the same bytes for the same numbers, only shapes and words, in the page's colors, a table where none is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.report.charts import (
    DASHES,
    MOST_SERIES,
    SHAPES,
    Chart,
    Drawing,
    Panel,
    chart,
    drawn,
    scale_of,
    series_look,
    span,
)
from chunkwise.report.sanitize import one_line
from report.reading_pages import EVIL, Page

NAMES = (
    "</svg><script>document.title = 'owned'</script>",
    EVIL,
    "",
    "plain & simple",
    "\x0b\ufffe\uffff\u2028 odd",
    "👩‍🚒" * 70,
)


def draw(drawing: Drawing) -> None:
    """A sign per name, with its text everywhere a text may stand."""
    panel = Panel(drawing, 40, 30, drawing.width - 40, 100, span(0, len(NAMES)), scale_of(range(6)))
    panel.y_axis(EVIL)
    panel.x_axis([(at, name) for at, name in enumerate(NAMES)], EVIL, grid=True)
    for at, name in enumerate(NAMES):
        drawing.sign(panel.x(at), panel.y(at), series_look(at), name)
        drawing.text(panel.x(at), panel.y(at), name)
    drawing.legend([(name, series_look(at)) for at, name in enumerate(NAMES)])


def made(caption: str = "") -> Chart:
    return chart(draw, caption, ("name", "number"), [(name, "1") for name in NAMES])


@pytest.fixture(scope="module")
def html() -> str:
    return drawn(made(NAMES[0]))


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_what_anybody_wrote_stays_text(html: str) -> None:
    page = Page(html)
    shapes = {"svg", "g", "path", "line", "text", "tspan", "title"}
    assert {tag for tag, _ in page.tags} <= {"figure", *shapes}
    assert html.count("<svg") == html.count("</svg>") == 2
    told = [attributes["aria-label"] for tag, attributes in page.tags if tag == "svg"]
    assert told == [NAMES[0]] * 2
    for name in NAMES[:4]:
        # A hint of the wide one, a text of both.
        assert page.text.count(one_line(name)) >= 3
    for _, attributes in page.tags:
        assert not [
            name for name in attributes if name.startswith(("on", "href", "xlink", "style"))
        ]
        assert "id" not in attributes
        assert "url(" not in "".join(value or "" for value in attributes.values())


def test_every_sign_says_its_values_to_who_points_at_it(html: str) -> None:
    wide, narrow = re.findall("<svg.*?</svg>", html)
    assert wide.count("<title>") == sum(map(bool, NAMES))
    assert "<title>plain &amp; simple</title>" in wide
    assert "<title>" not in narrow  # nobody points at a telephone


def test_colours_are_those_of_the_page_and_letters_in_its_font(html: str) -> None:
    colors = set(re.findall('(?:fill|stroke)="([^"]*)"', html))
    assert {each for each in colors if not each.startswith("var(--")} <= {"none"}
    assert "font-family" not in html


def test_series_are_told_apart_by_shape_or_dash() -> None:
    looks = set(zip(SHAPES, DASHES, strict=True))
    assert len(looks) == len(SHAPES) == MOST_SERIES == 8


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_a_scale_reaches_around_its_values(values: list[float]) -> None:
    scale = scale_of(values)
    slack = 1e-6 + 1e-9 * (scale.high - scale.low)
    assert scale.low - slack <= min(values) <= max(values) <= scale.high + slack
    labels = [label for _, label in scale.labels()]
    assert len(set(labels)) == len(labels)

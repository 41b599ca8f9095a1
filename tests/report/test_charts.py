"""Charts: the same bytes for the same numbers, only shapes and words, in the page's colours, a table where none is."""

from __future__ import annotations

import re
import sys

import pytest

from chunkwise.core import Document
from chunkwise.profiling import profile
from chunkwise.report import charts
from chunkwise.report.charts import (
    DASHES,
    MOST_SERIES,
    SHAPES,
    Chart,
    ChartSize,
    Spec,
    chart,
    drawn,
    lines_and_signs,
    look,
    missing_library,
    series_key,
)
from chunkwise.report.page import page as page_of
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.profile import profile_view
from chunkwise.report.views.questions import counted_by_range
from report.reading_pages import EVIL, Page

NAMES = (
    "</svg><script>document.title = 'owned'</script>",
    EVIL,
    "",
    "plain & simple",
    "\x0b\ufffe\uffff\u2028 odd",
    "👩‍🚒" * 70,
)


def curves(room: ChartSize) -> Spec:
    """A curve a name, the text of each everywhere a text may stand."""
    keys = [series_key(at, name, 30) for at, name in enumerate(NAMES)]
    rows = [
        {"series": key, "x": one_line(name, 20), "y": at, "description": one_line(name), **look(at)}
        for at, (key, name) in enumerate(zip(keys, NAMES, strict=True))
    ]
    y = {"field": "y", "type": "quantitative", "axis": {"title": one_line(EVIL, 30)}}
    x = {"x": {"field": "x", "type": "ordinal"}}
    text = {"mark": "text", "encoding": {"text": {"field": "description"}}}
    return {
        "width": room.width,
        "title": one_line(EVIL),
        "data": {"values": rows},
        "encoding": x,
        "layer": [*lines_and_signs(keys, y, room), text],
    }


def made(caption: str = "") -> Chart:
    return chart(curves, caption, ("name", "number"), [(name, "1") for name in NAMES])


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
    assert wide.count("<title>") == 6 + 5  # the signs, and the texts that are not empty
    assert "<title>plain &amp; simple</title>" in wide
    assert "<title>" not in narrow  # nobody points at a telephone


def test_colours_are_those_of_the_page_and_letters_in_its_font(html: str) -> None:
    colours = set(re.findall('(?:fill|stroke)="([^"]*)"', html))
    assert {each for each in colours if not each.startswith("var(--")} <= {"none"}
    assert "font-family" not in html


@pytest.mark.unwatched
def test_the_same_numbers_give_the_same_bytes(html: str) -> None:
    charts._svg.cache_clear()
    assert drawn(made(NAMES[0])) == html


def test_series_are_told_apart_by_shape_or_dash() -> None:
    looks = {(shape, tuple(dash)) for shape, dash in zip(SHAPES, DASHES, strict=True)}
    assert len(looks) == len(set(SHAPES)) == MOST_SERIES == 8
    # What is cut to the same words is not the same series.
    assert series_key(0, "a" * 200, 20) != series_key(1, "a" * 200, 20)
    assert series_key(0, "word " * 90, 20).count("\n") == 3


@pytest.mark.unwatched
def test_without_the_library_tables_stand_open_in_the_place_of_charts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "# Lamps\n\nThe lamp burns all night.\n\n## Posts\n\nFew."
    found = profile([Document(f"{n}.md", text, format="markdown") for n in range(3)])
    whole = page_of(profile_view(found, "Lamps"))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bare = page_of(profile_view(found, "Lamps"))
    assert "<figure" in whole
    assert "<figure" not in bare
    assert "pip install" not in whole
    assert bare.count("pip install &#39;chunkwise[charts]&#39;") == 1
    assert missing_library().startswith("Drawing charts needs")
    assert whole.count('<details class="numbers">') == 3
    assert bare.count('<details class="numbers" open>') == 3
    assert drawn(made()) == ""


def test_a_chart_that_cannot_be_drawn_is_said_to_be_so() -> None:
    odd = chart(lambda room: {"mark": "no such mark"}, "", (), ())
    assert drawn(odd).startswith('<p class="none">')


def test_scores_are_counted_by_range() -> None:
    scores = [-0.5, 0.0, 1e-9, 0.19, 0.2, 0.5, 0.8, 0.99, 1.0, 1.5]
    assert counted_by_range(scores) == [2, 2, 1, 1, 0, 2, 2]

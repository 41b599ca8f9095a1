"""The page of names: a picture without names over each other, read by the keyboard, in the light and in the dark."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

import chunkwise
from chunkwise import Document
from chunkwise.report.page import page
from chunkwise.report.views.graph import GraphPicture, GraphView, name_view, overview_view
from chunkwise.retrieval.graph.names_and_neighbors import NameLookup
from real_browser import needs_browser, opened_browser
from report.reading_pages import Page

CORPUS = Path(chunkwise.__path__[0]) / "corpus"


@pytest.fixture(scope="module")
def lookup() -> NameLookup:
    return NameLookup(chunkwise.index(CORPUS, vectors="none", graph=True).source)


def views(lookup: NameLookup) -> list[GraphView]:
    every = lookup.overview(60)
    one = lookup.details("Velsay", 40)
    details = [lookup.details(each.name, 4) for each in every.most_linked[:30]]
    links = lookup.links([each.name for each in one.neighbors])
    return [overview_view(every, details, "kb"), name_view(one, links, "kb")]


def overlaps(picture: GraphPicture) -> int:
    return sum(
        abs(one.x - other.x) < (one.width + other.width) / 2
        and abs(one.y - other.y) < (one.height + other.height) / 2
        for one, other in combinations(picture.names, 2)
    )


@pytest.mark.usefixtures("large_inputs")
def test_no_name_lies_over_another_or_outside(lookup: NameLookup) -> None:
    for view in views(lookup):
        for picture in (view.wide, view.narrow):
            assert picture.names
            assert not overlaps(picture)
            for each in picture.names:
                assert each.width / 2 <= each.x <= picture.width - each.width / 2
                assert each.height / 2 <= each.y <= picture.height - each.height / 2


def test_a_name_that_is_drawn_has_a_line_where_it_shares_a_passage(lookup: NameLookup) -> None:
    for view in views(lookup):
        for picture in (view.wide, view.narrow):
            ends = {end for each in picture.links for end in (each.one, each.other)}
            alone = [
                name.told.partition(":")[0]
                for at, name in enumerate(picture.names)
                if at not in ends
            ]
            everyone = [name.told.partition(":")[0] for name in picture.names]
            shared = lookup.links(everyone)
            linked = {everyone[end] for each in shared for end in (each.one, each.other)}
            assert not linked & set(alone)


def test_who_has_a_line_is_drawn_before_who_has_none() -> None:
    """Names in many passages, each alone, leave the room to pairs in fewer."""
    alone = [
        Document(f"alone{n}-{at}", f"We saw Lone{'abcdefghij'[n]} there.")
        for n in range(10)
        for at in range(5)
    ]
    pairs = [
        Document(f"pair{n}-{at}", f"There Left{'abcdefghij'[n]} met Right{'abcdefghij'[n]}.")
        for n in range(10)
        for at in range(3)
    ]
    looked = NameLookup(chunkwise.index([*alone, *pairs], vectors="none", graph=True).source)
    drawn = overview_view(looked.overview(60), []).narrow
    assert len(drawn.names) == 18
    assert len({end for each in drawn.links for end in (each.one, each.other)}) == 18


@pytest.mark.usefixtures("large_inputs")
def test_a_picture_is_the_same_every_time(lookup: NameLookup) -> None:
    assert views(lookup) == views(lookup)


def test_hostile_names_are_drawn_within_bounds() -> None:
    """Very long ones, one script after the other, all in one passage."""
    text = " ".join(
        f"We met {'W' * 60}{number} and Москва{number} and «塩の台所の長い名前{number}»."
        for number in range(60)
    )
    looked = NameLookup(
        chunkwise.index(
            [Document(f"d{n}", text) for n in range(2)], vectors="none", graph=True
        ).source
    )
    every = looked.overview(60)
    view = overview_view(every, [looked.details(each.name, 2) for each in every.most_linked[:9]])
    for picture in (view.wide, view.narrow):
        assert not overlaps(picture)
        assert max(each.x + each.width / 2 for each in picture.names) <= picture.width
        assert picture.height < 6_000


def test_every_name_of_the_picture_leads_to_what_is_said_of_it(lookup: NameLookup) -> None:
    for view in views(lookup):
        tags = Page(page(view)).tags
        ids = {attributes.get("id") for _, attributes in tags}
        leads = [
            attributes["href"]
            for tag, attributes in tags
            if tag == "a" and "node" in (attributes.get("class") or "")
        ]
        assert leads
        assert {str(each).removeprefix("#") for each in leads} <= ids


@pytest.mark.usefixtures("browser")
@needs_browser
def test_in_a_browser(lookup: NameLookup, tmp_path: Path) -> None:
    with opened_browser() as browser:
        for number, view in enumerate(views(lookup)):
            file = tmp_path / f"names{number}.html"
            file.write_text(page(view), encoding="utf-8")
            for width in (1280, 360):
                for scheme in ("light", "dark"):
                    browser.size(width)
                    browser.scheme(scheme)
                    browser.open(file.as_uri())
                    assert browser.run("document.documentElement.scrollWidth") <= width
                    every = "[...document.querySelectorAll('figure.names svg')]"
                    shown = f"{every}.filter((e) => e.getBoundingClientRect().width)"
                    assert browser.run(f"{shown}.map((e) => e.getAttribute('class')).join()") == (
                        "wide" if width > 640 else "narrow"
                    )
                    assert browser.run(
                        f"[...{shown}[0].querySelectorAll('.node')].every((n) => n"
                        ".querySelector('text').getComputedTextLength() <= n.querySelector('rect').width.baseVal.value)"
                    )
                    assert browser.axe_findings() == []
            browser.run("document.querySelector('figure.names svg.narrow a.node').focus()")
            assert (
                browser.run("document.querySelectorAll('figure.names svg.looked .near').length") > 1
            )
        assert browser.faults == []
        assert all(each.startswith("file:") for each in browser.requests)

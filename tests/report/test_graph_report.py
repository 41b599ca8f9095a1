"""The report of names: counts as they are, each name with its sentences, and no name drawn over another."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document
from chunkwise.report.draw_network import groups_of, lay_out, strongest_edges
from chunkwise.report.graph_report import name_report, names_report
from chunkwise.report.report import Chart, Excerpt, ValueTable, all_parts
from chunkwise.report.to_html import report_page
from chunkwise.report.to_terminal import terminal_text
from chunkwise.retrieval.graph.names_and_neighbors import NameLookup

TEXTS = (
    "# Salt Kitchen\n\nThe Salt Kitchen feeds Port Ansel. Anna Orme runs it.\n",
    "Port Ansel lies in the north. Its mayor met Anna Orme at the Salt Kitchen.\n",
)


@pytest.fixture(scope="module")
def lookup() -> NameLookup:
    documents = [Document(f"{at}.md", text, format="markdown") for at, text in enumerate(TEXTS)]
    return NameLookup(chunkwise.index(documents, vectors="none", graph=True).source)


def test_all_names_with_what_is_said_of_them(lookup: NameLookup) -> None:
    overview = lookup.overview()
    details = [lookup.details(each.name) for each in overview.most_linked]
    report = names_report(overview, details, "kb", next_command="chunkwise list names kb Orme")
    table = next(part for part in report.parts if isinstance(part, ValueTable))
    names = {row[0]: row[1:] for row in table.rows}
    counts = {each.name: each for each in overview.most_linked}
    kitchen = counts["Salt Kitchen"]
    assert names["Salt Kitchen"] == (kitchen.passages, kitchen.mentions, kitchen.documents)
    assert len(table.details) == len(table.rows)
    excerpts = [part for part in all_parts(table.details[0]) if isinstance(part, Excerpt)]
    marked = [run.text for excerpt in excerpts for run in excerpt.runs if run.mark]
    assert set(marked) <= {"Salt Kitchen", "Port Ansel", "Anna Orme"}
    chart = next(part for part in all_parts(report.parts) if isinstance(part, Chart))
    drawn = {str(point.x) for point in chart.series[0].points}
    assert {link.one for link in chart.links} | {link.other for link in chart.links} == drawn
    shown = terminal_text(report, 80)
    assert len(shown.splitlines()) <= 25
    assert shown.splitlines()[-1] == "Next  chunkwise list names kb Orme"
    assert "lead from one passage to another" in shown
    assert "Anna Orme</text>" in report_page(report)


def test_one_name_with_its_mentions_and_neighbors(lookup: NameLookup) -> None:
    found = lookup.details("salt kitchen")
    links = lookup.links([each.name for each in found.neighbors])
    report = name_report(found, links, "kb")
    assert report.title == "Salt Kitchen"
    assert "3 mentions in 2 documents, 2 passages." in terminal_text(report)
    rows = [
        row for part in all_parts(report.parts) if isinstance(part, ValueTable) for row in part.rows
    ]
    assert ("Anna Orme", 2, 2) in rows
    assert "0.md" in terminal_text(report, verbose=True)
    few = lookup.details("salt kitchen", 1)
    assert "… 2 more mentions" in terminal_text(name_report(few), verbose=True)


def test_groups_are_what_hangs_together() -> None:
    edges = [(0, 1, 5.0), (1, 2, 4.0), (0, 2, 4.0), (3, 4, 3.0), (2, 3, 0.5)]
    first, *_, last = groups = groups_of(5, edges)
    assert groups[:3] == [first] * 3
    assert groups[3:] == [last] * 2
    assert first != last


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=60), st.integers(1, 20))
def test_no_name_lies_over_another_or_outside(pairs: list[tuple[int, int]], names: int) -> None:
    edges = [(one, other, 1.0) for one, other in dict.fromkeys(pairs) if one < other < names]
    kept = strongest_edges(edges)
    assert {end for edge in edges for end in edge[:2]} == {end for edge in kept for end in edge[:2]}
    size = np.array([(40.0 + 12 * at, 30.0) for at in range(names)])
    places, height = lay_out(size, kept, 340.0)
    again, _ = lay_out(size, kept, 340.0)
    assert (places == again).all()
    for one, other in combinations(range(names), 2):
        apart = np.abs(places[one] - places[other]) * 2 >= size[one] + size[other] - 1e-6
        assert apart.any()
    assert (places[:, 0] - size[:, 0] / 2 >= -1e-6).all()
    assert (places[:, 0] + size[:, 0] / 2 <= 340 + 1e-6).all()
    assert places[:, 1].max() < height

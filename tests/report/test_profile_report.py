"""The report of a corpus: where to start, and every figure that this rests on."""

from __future__ import annotations

from chunkwise.base.wording import percent
from chunkwise.core import Document
from chunkwise.profiling import Profile, profile
from chunkwise.profiling.results import SizeBin
from chunkwise.report.profile_report import _columns, profile_report
from chunkwise.report.report import Chart, Excerpt, Headline, ValueTable, all_parts
from chunkwise.report.to_html import report_page
from chunkwise.report.to_terminal import terminal_text
from chunkwise.testkit.hostile import hostile_documents
from tables import cases


def _usual() -> Profile:
    text = (
        "# Lamps\n\n"
        + "The lamp of pier {0} burns all night, says keeper {0}. " * 12
        + "\n\n## Posts\n\nFew."
    )
    return profile(
        Document(f"{'ab'[n % 2]}/{n}.md", text.format(n // 2), format="markdown") for n in range(8)
    )


def test_the_report_has_the_figures_of_the_profile() -> None:
    found = _usual()
    report = profile_report(found, "Lamps of the island", "chunkwise lint x")
    parts = list(all_parts(report.parts))
    headline = next(part for part in parts if isinstance(part, Headline))
    assert percent(found.total.fits[400]) in headline.text
    rows = {row[0]: row for part in parts if isinstance(part, ValueTable) for row in part.rows}
    total = found.total
    assert rows["sections"][1:4] == (
        total.sections.count,
        total.sections.mean,
        total.sections.median,
    )
    assert rows["100 tokens"][1] == total.fits[100]
    assert rows["a"][1] == 4
    for chart in (part for part in parts if isinstance(part, Chart)):
        counts = [point.y.value or 0 for point in chart.series[0].points]
        assert sum(counts) in (total.sections.count, total.documents)
    repeated = [part.title for part in parts if isinstance(part, Excerpt)]
    assert f"{total.repeats.examples[0].count} ×" in repeated


@cases("found", [_usual(), profile(hostile_documents()), profile([])])
def test_a_terminal_shows_it_at_a_glance(found: Profile) -> None:
    report = profile_report(found, "docs", "chunkwise lint docs")
    shown = terminal_text(report, 80).splitlines()
    assert len(shown) <= 25
    assert shown[-1] == "Next  chunkwise lint docs"
    assert max(map(len, shown)) <= 80
    assert "<!doctype html>" in report_page(report)


def test_a_corpus_without_text_says_so() -> None:
    assert "No text to chunk" in terminal_text(profile_report(profile([])))


def test_columns_are_named_by_their_upper_ends() -> None:
    bins = (
        SizeBin(25, 50, 0),
        SizeBin(300, 400, 2),
        SizeBin(1200, 1600, 1),
        SizeBin(12800, None, 3),
    )
    named = _columns(bins)
    assert named[0] == ("≤400", 2)
    assert ("≤1,600", 1) in named
    assert named[-1] == ("more", 3)
    assert _columns(()) == []

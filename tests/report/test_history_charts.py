"""A metric over runs: drawn with every run, its interval and the baseline; small charts go up where values do."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.report.charts import drawn
from chunkwise.report.terminal.history import sparkline
from chunkwise.report.views.history import metric_history_view
from chunkwise.tracking.history import History
from tracking.made_runs import kept_run


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_a_small_chart_has_a_column_a_value_in_the_order_of_their_sizes(
    values: list[float],
) -> None:
    shown = sparkline(values)
    assert len(shown) == len(values)
    pairs = sorted(zip(values, shown, strict=True))
    assert [column for _, column in pairs] == sorted(column for _, column in pairs)


def test_every_run_is_drawn_and_says_what_changed(tmp_path: Path) -> None:
    history = History(tmp_path / "runs.db")
    for k in (5, 5, 9):
        history.add(kept_run({"q1": k / 10, "q2": 0.5}, settings={"k": k}))
    history.set_baseline(1)
    view = metric_history_view(history, "recall@5")
    assert view.chart is not None
    svg = drawn(view.chart)
    assert svg.count("<title>") == 3
    assert "k 5 → 9" in svg
    assert "stroke-dasharray" in svg
    assert [row[0] for row in view.chart.rows] == ["1", "2", "3"]
    one = metric_history_view(history, "recall@5", last=1)
    assert one.chart is None
    assert len(one.points) == 1

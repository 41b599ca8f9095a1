"""The summary of all benchmark pages, with a chart: docs/benchmarks/index.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks.page import PAGES  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.report.draw_chart import draw_chart  # noqa: E402
from chunkwise.report.report import Axis, Chart, Estimate, Level, Point, Series  # noqa: E402

PICTURE = PAGES.parent / "pictures" / "recall.svg"
BUDGET = "1,000"
_STYLE = (
    "<style>svg { --card: #fff; --ink: #1d2126; --soft: #5a636e; --line: #e3e1dc; --grid: #eceae5; --accent: #0b6e75;"
    " --s0: #0b6e75; --s1: #b4500f; --bar: #2a8f96; font-family: system-ui, sans-serif; background: #fff; }</style>"
)


def _sections(page: str, heading: str) -> Iterator[tuple[str, str]]:
    """The titles at one level of a page, each with its text."""
    text = (PAGES / page).read_text(encoding="utf-8")
    for part in re.split(rf"^{heading} ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        yield title, body


def _cells(body: str, first: str) -> list[str]:
    """The cells of the row that starts with `first`."""
    rows = (line.strip("| ").split("|") for line in body.splitlines() if line.startswith("|"))
    return next([cell.strip() for cell in row] for row in rows if row[0].strip() == first)


def recall() -> list[tuple[str, float, float, str]]:
    """By dataset: hybrid recall of the default and of multi-scale retrieval, and the difference."""
    found = []
    for title, body in _sections("retrieval.md", "###"):
        if ", " in title and title.endswith("questions"):
            row = _cells(body, f"hybrid, {BUDGET}")
            found.append((title.split(",")[0], float(row[1]), float(row[-3]), row[-2]))
    return found


def draw(rows: list[tuple[str, float, float, str]]) -> str:
    """The differences with their intervals, a standalone picture."""
    points = []
    for name, _, _, gain in rows:
        mean, low, high = (float(value) / 100 for value in re.findall(r"[+-][\d.]+", gain))
        level: Level = "good" if low > 0 else "bad" if high < 0 else "tie"
        points.append(Point(name, Estimate(mean, low, high), level=level))
    title = f"Recall within {BUDGET} tokens: multi-scale − recursive 1000/200, points"
    chart = Chart(
        title, "rows", Axis("dataset"), Axis(title, "change"), (Series("", tuple(points)),)
    )
    svg = re.search(r"<svg.*?</svg>", draw_chart(chart), re.DOTALL)
    assert svg is not None
    opening, rest = svg[0].split(">", 1)
    return f'{opening} xmlns="http://www.w3.org/2000/svg">{_STYLE}{rest}\n'


def speeds() -> list[list[str]]:
    """Each strategy compared with the fastest peer."""
    ratio = re.compile(r"^- chunkwise (.+?) / (.+?) \(fastest peer\): ([\d.]+)×", re.MULTILINE)
    return [
        [title, match[2], f"{match[3]}×"]
        for title, body in _sections("chunking.md", "###")
        if (match := ratio.search(body))
    ]


def page() -> str:
    rows = recall()
    wins = re.findall(r"^- Of .*$", (PAGES / "retrieval.md").read_text(encoding="utf-8"), re.M)
    tuning = dict(_sections("tuning.md", "##"))["Few questions"]
    head = _cells(tuning, "questions of people")[1:]
    choices = (
        "the choice of `tune`",
        "the best mean",
        "`recursive` 1000/200 with its best retriever",
    )
    return "\n".join([
        "# Benchmarks\n",
        "The main results, taken from the pages below by `python -m benchmarks.summary`; every part of those pages"
        " names its date, commit and machine, and `make bench` renews them.\n",
        "## Retrieval\n",
        f"![{PICTURE.stem}](../pictures/{PICTURE.name})\n",
        table(
            ["hybrid, 1,000 tokens", "recursive 1000/200", "multi-scale", "difference (95% interval)"],
            [[name, f"{first:.1f}", f"{second:.1f}", gain] for name, first, second, gain in rows],
        ),
        "",
        *wins,
        "",
        "[All datasets, budgets and signals](retrieval.md) · [models](models.md) · [multi-hop questions](graph.md) ·"
        " [contextual retrieval](contextual.md)\n",
        "## Tuning\n",
        "Points of recall below the best configuration on questions not used, mean / worst draw, by the number of"
        " questions people wrote:\n",
        table(["", *head], [[name, *_cells(tuning, name)[1:]] for name in choices]),
        "",
        "[Details](tuning.md)\n",
        "## Chunking speed\n",
        table(["", "fastest peer", "speed of chunkwise, peer = 1"], speeds()),
        "",
        "[Throughput, hostile inputs, memory](chunking.md) · [search](search.md) · [scale](scale.md) ·"
        " [databases](engines.md) · [studio](studio.md)\n",
        "## Correctness\n",
        "[Reading documents and segmenting sentences](accuracy.md) · [metrics and intervals](evaluation.md) ·"
        " [monitoring](watch.md) · [robustness](torture.md)\n",
    ])  # fmt: skip


if __name__ == "__main__":
    PICTURE.write_text(draw(recall()), encoding="utf-8")
    (PAGES / "index.md").write_text(page(), encoding="utf-8")

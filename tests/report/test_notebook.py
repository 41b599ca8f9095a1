"""What a notebook draws of results, comparisons and profiles: short, escaped, in one element."""

import json

import chunkwise
from chunkwise import CitedAnswer, Document
from chunkwise.evaluation.comparison_result import Comparison
from chunkwise.evaluation.results import Results
from made_results import results
from report.reading_pages import Page
from tables import cases

HOSTILE = "</style><script>alert(1)</script>"
TEXTS = [
    Document(f"{n}{HOSTILE}.md", f"# {HOSTILE}\n\nA lamp is lit. " * 40, format="markdown")
    for n in range(3)
]
VALUES = {
    "results": lambda: results(strategy=HOSTILE),
    "comparison": lambda: chunkwise.compare(
        [results(strategy=HOSTILE), results(1, 0.2)], sources=[HOSTILE, "b.json"]
    ),
    "three": lambda: chunkwise.compare([results(), results(1, 0.2), results(2, 0.1)]),
    "profile": lambda: chunkwise.profile(TEXTS),
    "answer": lambda: CitedAnswer(HOSTILE, note=HOSTILE, llm=HOSTILE),
    "lint": lambda: chunkwise.lint(TEXTS, "tokens(max_tokens=9, overlap=0)"),
}


@cases("name", VALUES)
def test_it_is_one_element_that_runs_nothing(name: str) -> None:
    html = VALUES[name]()._repr_html_()
    assert Page(html).tags[0][0] == "div"
    assert html.strip().startswith("<div")
    assert html.strip().endswith("</div>")
    assert "<script" not in html
    assert html.count("</style>") == 1


@cases("name", VALUES)
def test_plain_values_are_json_and_the_repr_is_short(name: str) -> None:
    value = VALUES[name]()
    plain = value.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert len(repr(value)) < 300
    assert "\n" not in repr(value)


def test_figures_are_in_what_is_drawn() -> None:
    found: Results = results()
    assert f"{100 * found.summary['recall@5'].mean:.0f}%" in found._repr_html_()
    compared: Comparison = chunkwise.compare([results(), results(1, 0.3)])
    assert "b is better" in compared._repr_html_()
    assert "b is better by" in repr(compared)
    profile = chunkwise.profile(TEXTS)
    assert "of the sections fit into 400 tokens" in profile._repr_html_()
    assert repr(profile).startswith("<Profile 3 documents, ")

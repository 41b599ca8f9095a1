"""An evaluation on a screen: true words for what is not there, and nothing said twice."""

import dataclasses
import io

from rich.console import Console

from chunkwise.evaluation.results import Agreement, Figure, Results
from chunkwise.evaluation.verdicts_and_advice import advice
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.metric import CutCounts
from chunkwise.report.terminal.evaluation import render_evaluation
from chunkwise.report.terminal.widgets import _drawn
from chunkwise.report.views.evaluation import evaluation_view
from made_results import results
from tables import cases


def drawn(run: Results, width: int = 100) -> str:
    out = io.StringIO()
    render_evaluation(evaluation_view(run), Console(file=out, width=width))
    return out.getvalue()


def changed(**parts: object) -> str:
    """On one line, as a reader takes it in."""
    return " ".join(drawn(dataclasses.replace(results(), **parts)).split())  # type: ignore[arg-type]


def test_advice_names_its_figures_once() -> None:
    below = {"retrieval_precision.spans": Figure(0.195)}
    shown = changed(advice=advice(below))
    assert "What to try retrieval_precision.spans 0.195: good is over 0.70." in shown
    assert shown.count("retrieval_precision.spans") == 1


def test_what_no_ranking_can_reach_is_no_fault() -> None:
    name = "retrieval_precision.spans"
    figures = {name: Figure(0.2, 0.1, 0.3, 40, verdict="below")}
    shown = changed(summary=figures, data={"reachable": {name: 0.258}})
    assert "0.200 out of reach 0.100–0.300 at most 0.258" in shown
    shown = changed(summary=figures, data={"reachable": {name: 0.2 + 1e-12}})
    assert "0.200 at its ceiling 0.100–0.300 at most 0.200" in shown
    guessed = {**figures, "retrieval_precision.similarity": Figure(0.1, 0.0, 0.2, verdict="below")}
    shown = changed(summary=guessed, data={"reachable": {name: 0.2}})
    assert "similarity 0.100 out of reach 0.000–0.200" in shown
    told = "0.200 below 0.100–0.300"
    for data in ({"reachable": {name: 0.9}}, {"reachable": {}}, {}):
        shown = changed(summary=figures, data=data)
        assert told in shown
        assert "at most" not in shown


def test_every_step_of_the_search_is_in_the_name() -> None:
    asked = {"strategy": "words", "retriever": "dense", "k": 3, "budget": None, "seed": 0}
    steps = {"reranker": "maxsim:minilm:ab:cd first=1", "mmr": 0.5, "neighbours": 2}
    assert "words(max_words=500) · dense · k=3" in changed(configuration=asked)
    told = changed(configuration=asked | steps)
    assert "words(max_words=500) · dense · rerank maxsim · mmr 0.5 · neighbours 2 · k=3" in told
    none = {"reranker": None, "mmr": None, "neighbours": 0}
    assert "words(max_words=500) · dense · k=3" in changed(configuration=asked | none)
    assert "mmr 0.0" in changed(configuration=asked | {"mmr": 0.0})


def test_a_mean_over_some_questions_says_why_not_over_all() -> None:
    figures = {
        "ndcg@5": Figure(1.0, 0.3, 1.0, 3, {"hits are no chunks": 11}),
        "map@5": Figure(0.9, 0.3, 1.0, 3, {"hits are no chunks": 11}),
        "hit@5": Figure(0.5, 0.3, 1.0, 14),
    }
    told = "unscored in part: ndcg@5, map@5 (11 of 14: hits are no chunks)"
    assert told in changed(summary=figures)


def test_an_interval_below_zero_is_told_in_words() -> None:
    figures = {"answer_relevancy.similarity": Figure(0.05, -0.1, 0.2, 9)}
    assert "-0.100 to 0.200" in changed(summary=figures)


def test_generated_questions_are_told_first() -> None:
    told = "generated: 3 of 9 questions were made by a program"
    assert told not in changed()
    assert told in changed(data={"questions": {"count": 9, "generated": 3}})


def test_what_the_offsets_of_a_file_are_worth_kind_by_kind() -> None:
    figures = {"citation_accuracy.position": Figure(0.984, scored=183, verdict="excellent")}
    counts = {"exact": 1180, "no_offsets": 0, "shifted": 2, "unknown_document": 1}
    shown = changed(summary=figures, data={"positions": counts})
    assert "offsets: 1,180 exact, 2 shifted, 1 unknown document" in shown
    assert "shifted: The text stands in the document, at another place." in shown
    assert "no offsets" not in shown
    assert "offsets:" not in changed(summary=figures)


@cases(
    "pair, told",
    [
        (Agreement("labels", "spans", None, None, 0), "no hit has a verdict of both"),
        (
            Agreement("labels", "spans", None, 1.0, 8),
            "no κ, both say one and the same of all 8 hits",
        ),
        (Agreement("labels", "spans", 0.5, 0.75, 1), "κ 0.50, the same on 75 % of 1 hit"),
    ],
)
def test_why_judges_have_no_kappa(pair: Agreement, told: str) -> None:
    assert f"labels and spans: {told}" in changed(agreement=(pair,))


@cases(
    "size, told",
    [(999, "999 bytes"), (41_234, "41.2 kB"), (3_000_000, "3.0 MB"), (7.25e9, "7.2 GB")],
)
def test_small_indexes_have_a_size(size: float, told: str) -> None:
    assert f"storage {told}" in changed(cost={"index_bytes": size})
    stored = {"chunks": 8, "storage": 1.25, "indexed_tokens": 4321, "index_bytes": size}
    assert f"storage 4,321 tokens (1.25×), {told}" in changed(cost=stored)


def test_what_each_metric_spent_is_told_for_100_questions() -> None:
    timing = {
        "llm_calls": 50, "llm_money": 0.6, "llm_money_per_100_questions": 1.5,
        "llm_calls.context_recall.llm": 40, "llm_tokens.context_recall.llm": 9000,
        "llm_money.context_recall.llm": 0.4, "llm_calls.faithfulness.llm": 10,
        "llm_tokens.faithfulness.llm": 12_000, "llm_money.faithfulness.llm": 0.2,
    }  # fmt: skip
    shown = changed(timing=timing)
    assert "50 calls · $0.60 paid · $1.50 for 100 questions" in shown
    dear = "faithfulness.llm: 10 calls, 12,000 tokens, $0.20 ($0.50 for 100 questions)"
    cheap = "context_recall.llm: 40 calls, 9,000 tokens, $0.40 ($1.00 for 100 questions)"
    assert f"{dear} {cheap}" in shown
    tiles = evaluation_view(dataclasses.replace(results(), timing=timing)).cost_tiles
    assert "language model, faithfulness.llm" in [tile.name for tile in tiles]


def test_what_is_not_shown_is_none_worse() -> None:
    groups = {
        f"t{number:02}": {"recall@5": Figure(number // 6 / 9, 0.0, 1.0, 3)} for number in range(13)
    }
    shown = changed(by_type=groups)
    assert "and 3 more, none worse" in shown
    assert "t00" in shown
    assert "t12 " not in shown.split("and 3 more")[0]


def test_nothing_is_not_below_nothing() -> None:
    shown = changed(summary={"contrast": Figure(-0.0001, scored=1)})
    assert "contrast 0.000" in shown


@cases("width", [60, 80, 120])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    assert max(map(len, drawn(results(), width).splitlines())) <= width


def test_figures_of_the_chunks_say_which_way_is_good_and_why() -> None:
    shown = changed(summary={"coherence": Figure(0.6, scored=9), "contrast": Figure(0.1, scored=9)})
    assert "coherence ↓ 0.600" in shown
    assert "contrast 0.100" in shown
    assert "↓ lower is better" in shown
    assert "coherence: How alike neighbouring chunks are: lower is better, as each" in shown


def test_chunks_and_cuts_are_counted_apart_and_named() -> None:
    cuts = CutCounts(120, 70, dict.fromkeys(KINDS, 0) | {"mid_word": 30, "split_list": 25}, (), 48)
    shown = changed(cuts=cuts)
    assert "70 of 120 chunks (58 %) begin or end badly, at 48 cuts" in shown
    assert "By kind, in cuts: where a chunk ends and the next begins is one cut" in shown
    page = evaluation_view(dataclasses.replace(results(), cuts=cuts)).cuts
    assert page is not None
    assert page.words in shown
    told = changed(cuts=dataclasses.replace(cuts, cuts_with_issues=None))  # of an older file
    assert "70 of 120 chunks (58 %) begin or end badly By kind" in told


@cases("value", [1e308, -1e308, 7.0, float("inf")])
def test_an_interval_beyond_the_line_is_drawn_at_its_end(value: float) -> None:
    """A metric of somebody else's may have any value."""
    drawn = _drawn(Figure(value, min(value, 0.5), max(value, 0.5)), 10).plain
    assert len(drawn) == 10
    assert drawn.index("●") == (9 if value > 0 else 0)


@cases("width", [80, 100])
def test_no_count_is_cut_on_a_narrow_screen(width: int) -> None:
    spans = "retrieval_precision.spans"
    figure = Figure(0.5, 0.012, 0.988, 1_204, {"the question has no references": 12_345})
    run = dataclasses.replace(
        results(),
        summary={spans: figure, "recall@5": figure, "context_precision_of_somebody@5": figure},
        data={"reachable": {spans: 0.5}},
    )
    shown = drawn(run, width)
    assert max(map(len, shown.splitlines())) <= width
    assert "at most 0.500" in shown
    assert "1,204 of 13,549 questions" in " ".join(shown.split())
    rows = [each for each in shown.splitlines() if "1,204 of 13,549" in each and "─" in each]
    assert [row.split()[0][:12] for row in rows] == ["recall@5", "context_prec"]


def test_questions_left_out_are_told_beside_those_that_are_asked() -> None:
    data = {"questions": {"count": 4, "left_out": 1_002}}
    assert "questions (1,002 more left out) · " in changed(data=data)


def test_every_reason_why_questions_are_unscored_is_told() -> None:
    """Of figures of the four questions as well, whether some of the questions have a score or none."""
    reasons = {"no citations": 3, "no chunk is known by the id 'x'": 1}
    figures = {
        "citation_accuracy.support": Figure(1.0, 0.3, 1.0, 2, reasons),
        "citation_accuracy.attribution": Figure(None, unscored=reasons),
    }
    shown = changed(summary=figures)
    told = "no citations (3); no chunk is known by the id 'x' (1)"
    assert f"attribution unscored: {told}" in shown
    assert f"support unscored for 4 of 6: {told}" in shown
    alone = changed(summary={"citation_accuracy.support": Figure(None, unscored={"no answer": 9})})
    assert "support unscored: no answer" in alone
    assert "(9)" not in alone

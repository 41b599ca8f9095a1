from itertools import groupby

import pytest
from hypothesis import given

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.retrieval.retrievers import get_retriever
from chunkwise.tuning.plan.grid import default_sweep, not_tried_by_default
from chunkwise.tuning.plan.plan import plan_sweep
from chunkwise.tuning.plan.sweep_file import read_sweep
from chunkwise.tuning.sweep import Grid, Sweep
from tables import cases
from tuning.plan.example_sweeps import ISSUE, sweeps

BASELINES = {
    "recursive 1000/200 characters": "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "sentences 1024/200": "sentences(max_tokens=1024, overlap=200)",
}


BM25 = (Grid(("bm25",)),)


def _sweep(chunkers=(), retrieval=BM25, **others):
    return Sweep(("documents",), None, tuple(chunkers), tuple(retrieval), **others)


def _grid(*names, **values):
    return Grid(names, tuple((key, tuple(each)) for key, each in values.items()))


def _asked(made):
    return [each for each in made.configurations if each.strategy and not each.baseline]


def _chunkings(made):
    return {(each.strategy, each.context) for each in made.configurations if each.strategy}


def _why(made, what):
    return next(line.why for line in made.left_out if line.what == what)


@given(sweeps)
def test_whatever_is_asked_for_the_plan_can_be_run_and_is_whole(sweep):
    made = plan_sweep(sweep)
    _can_be_run(made, sweep)
    _all_searches_of_a_chunking_stand_together(made)
    _common_defaults_are_in_with_every_chunk_retriever(made)
    _everything_written_is_tried_or_named_as_left_out(made, sweep)


def _can_be_run(made, sweep):
    keys = [each.key for each in made.configurations]
    assert len(set(keys)) == len(keys)
    for each in made.configurations:
        retriever = get_retriever(each.retriever)
        assert each.context in ("none", "headings")
        if each.strategy:
            assert get_strategy(each.strategy).label == each.strategy
            assert hasattr(retriever, "rank")
        else:
            assert hasattr(retriever, "spans")
            assert (each.context, each.neighbors) == ("none", 0)
        assert (each.vectors == "none") == (
            each.retriever == "bm25" or (getattr(retriever, "dense", 1) == 0 and not each.strategy)
        )
        assert sweep.embedder or each.vectors == "none"


def _all_searches_of_a_chunking_stand_together(made):
    runs = [
        key for key, _ in groupby(made.configurations, lambda each: (each.strategy, each.context))
    ]
    assert len(set(runs)) == len(runs)
    strategies = [key for key, _ in groupby(runs, lambda run: run[0])]
    assert len(set(strategies)) == len(strategies)


def _common_defaults_are_in_with_every_chunk_retriever(made):
    chunk_retrievers = {each.retriever for each in made.configurations if each.strategy}
    for name, label in BASELINES.items():
        own = [each for each in made.configurations if each.baseline == name]
        assert {each.retriever for each in own} == chunk_retrievers
        assert {(each.strategy, each.context, each.neighbors) for each in own} == {
            (label, "none", 0)
        }
    marked = [each for each in made.configurations if each.strategy in BASELINES.values()]
    assert all(each.baseline for each in marked if not each.neighbors and each.context == "none")


def _everything_written_is_tried_or_named_as_left_out(made, sweep):
    lines = " ".join(line.what for line in made.left_out)
    tried = {each.levers["boundaries"] for each in made.configurations if each.strategy}
    for grid in sweep.chunkers:
        for name in grid.names:
            known = name.partition("(")[0] in tried
            assert known or name in lines
    for grid in sweep.retrieval:
        for name in grid.names:
            used = any(
                each.retriever.startswith(name.partition("(")[0]) for each in made.configurations
            )
            assert used or name.partition("(")[0] in lines
    assert all(line.what and line.why for line in made.left_out)


def test_plan_of_the_documentation(tmp_path):
    (tmp_path / "sweep.toml").write_text(ISSUE)
    made = plan_sweep(read_sweep(tmp_path / "sweep.toml"))
    # 7 strategies × 5 sizes × 3 overlaps, less parent_child(1000); two contexts; two common defaults.
    assert len(_chunkings(made)) == (7 * 5 * 3 - 3) * 2 + 2
    parents = 4 * 3 * 2 * 3  # no neighbors
    assert len(made.configurations) == 6 * 15 * 2 * 6 + parents + 2 * 3 + 6
    assert [line.what for line in made.left_out] == [
        "parent_child(max_tokens=1000, overlap=0)",
        "parent_child(max_tokens=1000, overlap='10%')",
        "parent_child(max_tokens=1000, overlap='25%')",
    ]
    assert [each.label for each in made.configurations[6:12]] == [
        "multiscale(dense=0)", "multiscale(dense=0.25)", "multiscale", "multiscale(dense=1)",
        "multiscale(dense=2)", "multiscale(words=0)",
    ]  # fmt: skip
    boundaries = [each.levers.get("boundaries") for each in made.configurations]
    # A sweep that runs out of time has seen every strategy.
    assert set(boundaries[12:100]) >= {
        "sentences",
        "recursive",
        "sections",
        "structure",
        "semantic",
        "cluster",
        "parent_child",
    }


def test_the_same_overlap_written_twice_is_tried_once():
    made = plan_sweep(
        _sweep([_grid("sentences", max_tokens=[100], overlap=[10, "10%", "10.5%", 20])])
    )
    assert [each.strategy for each in _asked(made)] == [
        "sentences(max_tokens=100, overlap=10)",
        "sentences(max_tokens=100, overlap=20)",
    ]
    assert not made.left_out


@cases(
    "first, second",
    [
        ("sentences", "sentences(overlap=50)"),
        ("recursive", "recursive(overlap=0)"),
        ("recursive(overlap_sentences=0)", "recursive(overlap_words=0)"),
        ("tokens(overlap='25%')", "tokens(overlap=100)"),
        ("sections", "sections(overlap_sentences=2)"),
    ],
)
def test_a_default_is_the_same_as_what_it_stands_for(first, second):
    made = plan_sweep(_sweep([_grid(first, second)]))
    assert [each.strategy for each in _asked(made)] == [get_strategy(first).label]


def test_different_overlaps_are_no_duplicates():
    names = [
        "sections",
        "sections(overlap=0)",
        "sections(overlap_sentences=1)",
        "sentences(overlap_words=50)",
        "sentences",
    ]
    made = plan_sweep(_sweep([_grid(*names)]))
    assert {each.strategy for each in _asked(made)} == {get_strategy(name).label for name in names}
    assert not made.left_out


def test_an_overlap_that_leaves_no_room_is_left_out_and_the_rest_goes_on():
    made = plan_sweep(_sweep([_grid("sentences", max_tokens=[100, 200], overlap=[0, 150])]))
    assert len(_asked(made)) == 3
    assert "must be smaller than" in _why(made, "sentences(max_tokens=100, overlap=150)")


def test_a_parameter_that_a_strategy_lacks_costs_it_no_place():
    made = plan_sweep(_sweep([_grid("sentences", "characters", max_tokens=[100, 200])]))
    assert [
        each.strategy for each in _asked(made) if each.levers["boundaries"] == "characters"
    ] == ["characters(max_chars=1000, overlap=0)"]
    why = _why(made, "max_tokens = 100, 200 of characters")
    assert "max_chars" in why
    assert "max_chars" in why


def test_what_a_name_says_itself_holds():
    made = plan_sweep(
        _sweep([_grid("sentences(max_tokens=300)", max_tokens=[100, 200], overlap=[0])])
    )
    assert [each.strategy for each in _asked(made)] == ["sentences(max_tokens=300, overlap=0)"]
    assert "from the plan" in _why(made, "max_tokens = 100, 200 of sentences(max_tokens=300)")


def test_a_default_that_is_asked_for_is_there_once_with_all_that_was_asked():
    grid = _grid("sentences", max_tokens=[1024], overlap=[200], context=["none", "headings"])
    made = plan_sweep(_sweep([grid], [_grid("bm25", "hybrid", neighbors=[1])]))
    own = [each for each in made.configurations if each.strategy == BASELINES["sentences 1024/200"]]
    assert sorted(
        (each.context, each.retriever, each.neighbors, bool(each.baseline)) for each in own
    ) == [
        ("headings", "bm25", 1, False),
        ("headings", "hybrid", 1, False),
        ("none", "bm25", 0, True),
        ("none", "bm25", 1, False),
        ("none", "hybrid", 0, True),
        ("none", "hybrid", 1, False),
    ]
    assert not made.left_out


def test_several_sizes_alone_are_held_against_hybrid():
    made = plan_sweep(_sweep(retrieval=[_grid("multiscale")]))
    assert {each.retriever for each in made.configurations if each.baseline} == {"hybrid"}
    assert {
        each.retriever for each in plan_sweep(_sweep(retrieval=[], embedder="")).configurations
    } == {"bm25"}


def test_weights_of_ones_own_are_the_only_ones():
    made = plan_sweep(
        _sweep(retrieval=[_grid("multiscale", "hybrid", "bm25", dense=[0.5, 1.0, 1])])
    )
    several = [each.retriever for each in made.configurations if not each.strategy]
    assert several == ["multiscale", "multiscale(dense=1)"]
    assert {each.retriever for each in made.configurations if each.strategy} == {
        "hybrid",
        "hybrid(dense=1)",
        "bm25",
    }
    assert "has no parameter 'dense'" in _why(made, "dense = 0.5, 1.0, 1 of bm25")


def test_without_a_model_words_are_left():
    made = plan_sweep(
        _sweep(
            [_grid("semantic", "sentences")], [_grid("bm25", "dense", "multiscale")], embedder=""
        )
    )
    assert {each.retriever for each in made.configurations} == {"bm25", "multiscale(dense=0)"}
    assert {each.vectors for each in made.configurations} == {"none"}
    assert _why(made, "semantic") == "semantic needs an embedding model"
    assert _why(made, "dense") == "needs an embedding model"


def test_exact_has_vectors_of_its_own():
    made = plan_sweep(_sweep([], [_grid("bm25", "dense", "multiscale(dense=1)")], exact=True))
    kinds = {each.retriever: each.vectors for each in made.configurations}
    assert kinds == {"bm25": "none", "dense": "own", "multiscale(dense=1)": "late"}


def test_strategies_that_cut_by_meaning_use_the_model_of_the_sweep():
    made = plan_sweep(
        _sweep([_grid("semantic", "cluster(model='minilm')")], embedder="fastembed:small")
    )
    assert {each.strategy for each in _asked(made)} == {
        "semantic(max_tokens=800, overlap=0, model='fastembed:small')",
        "cluster(max_tokens=400, overlap=0)",
    }


def test_a_broken_strategy_of_ones_own_does_not_stop_the_others(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n    def __init__(self, size=3):\n        self.size = 10 // size\n    def "
        "split(self, document):\n        return []\n"
    )
    made = plan_sweep(_sweep([_grid(f"{file}:Mine", size=[0]), _grid(f"{file}:Mine", "sentences")]))
    assert [each.strategy for each in _asked(made)] == [
        f"{file}:Mine",
        "sentences(max_tokens=400, overlap=50)",
    ]
    assert "ZeroDivisionError" in _why(made, f"{file}:Mine(size=0)")
    assert "size" not in _asked(made)[0].levers


def test_a_slip_that_makes_millions_is_an_error():
    grid = _grid("sentences", max_tokens=range(1, 1000), min_tokens=range(1000))
    with pytest.raises(InvalidParameter, match="999,000 combinations; the maximum is 100,000"):
        plan_sweep(_sweep([grid]))


def test_chunkings_that_nothing_searches_are_named():
    made = plan_sweep(_sweep([_grid("sentences", "structure")], [_grid("multiscale")]))
    assert not _asked(made)
    assert "no retriever searches chunks; add bm25, dense or hybrid" in _why(
        made, "strategy = sentences, structure"
    )


def test_levers_are_words_for_tables():
    grid = _grid(
        "sentences", "parent_child", max_tokens=[200], overlap=["25%"], context=["headings"]
    )
    made = plan_sweep(
        _sweep([grid], [_grid("hybrid(dense=1)", "multiscale(dense=2)", neighbors=[0, 2])])
    )
    by_label = {each.label: each.levers for each in made.configurations}
    assert by_label["sentences(max_tokens=200, overlap=50) · headings · hybrid(dense=1) · neighbors 2"] == {
        "boundaries": "sentences", "size": "200 tokens", "overlap": "25 %", "context": "headings",
        "neighbors": "2", "one size or multi-scale": "one", "retriever": "hybrid", "weights": "dense 1",
    }  # fmt: skip
    parent = by_label["parent_child(max_tokens=200, overlap=50) · headings · hybrid(dense=1)"]
    assert (parent["size"], parent["neighbors"]) == ("200 words", "parent")
    assert by_label["multiscale(dense=2)"] == {
        "one size or multi-scale": "several",
        "retriever": "multiscale",
        "weights": "dense 2",
    }
    baseline = by_label[
        "recursive(max_tokens=1000, overlap=200, tokenizer='characters') · hybrid(dense=1)"
    ]
    assert (baseline["size"], baseline["overlap"]) == ("1000 characters", "200 characters")


@cases("model", ["minilm", ""])
@cases("has_headings", [True, False])
def test_usual_sweep_is_small_and_leaves_out_nothing_it_asks_for(has_headings, model):
    sweep = default_sweep(
        ["documents"], "queries.json", has_headings=has_headings, embedder=model, k=7
    )
    made = plan_sweep(sweep)
    assert 20 <= len(_chunkings(made)) <= 40
    assert [line for line in made.left_out if "multi-scale" not in line.what] == []
    boundaries = {each.levers["boundaries"] for each in made.configurations if each.strategy}
    assert ("sections" in boundaries) == has_headings
    assert any(each.context == "headings" for each in made.configurations) == has_headings
    assert boundaries >= {"sentences", "recursive", "structure", "parent_child"}
    assert sweep.k == 7
    told = " ".join(line.what for line in not_tried_by_default(has_headings))
    assert "semantic" in told
    assert ("headings" in told) != has_headings

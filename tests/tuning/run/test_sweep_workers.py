"""A sweep's figures are those an evaluation gives; what fails fails alone; what is known is not run again."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.core import Document, Query
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.metrics.registry import parse
from chunkwise.metrics.token_budget import TokenCut
from chunkwise.models.embed.embedder import Kind as TextKind
from chunkwise.models.embed.embedder import TokenVectors
from chunkwise.models.llm.client import LlmClient
from chunkwise.options import SearchOptions
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.text.analyzed import Analyzed
from chunkwise.tuning.run import sweep_workers as run_module
from chunkwise.tuning.run.score_configurations import groups_of, outcomes_of
from chunkwise.tuning.run.shared_corpus import CachedTokenCut, SharedCorpus
from chunkwise.tuning.run.sweep_folder import TIME_UP, SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep import Configuration, VectorKind
from chunkwise.tuning.sweep_result import Outcome
from hash_embedder import HashEmbedder, PlainHashEmbedder
from rule_summarizer import FirstSentences
from tables import cases
from tuning.run.small_sweep import WORDS, inputs, plan_of, sweep

DOCUMENTS, QUERIES = inputs()


def outcomes(
    folder: Path, *configurations: Configuration, queries: Sequence[Query] = QUERIES, **more: Any
) -> list[Outcome]:
    more.setdefault("embedder", HashEmbedder())
    return run_plan(
        plan_of(*configurations), DOCUMENTS, queries, sweep(), SweepRecord(folder), **more
    )


@cache
def indexed(strategy: str, vectors: VectorKind, context: str) -> chunkwise.Index:
    """By the public way in; evaluations only read it."""
    return chunkwise.index(
        DOCUMENTS,
        strategy or None,
        embedder=None if vectors == "none" else HashEmbedder(),
        vectors=vectors,
        context=context,
    )


def evaluated(
    configuration: Configuration, metric: str, budget: int | None = None, k: int | None = None
) -> chunkwise.Results:
    return chunkwise.evaluate(
        indexed(configuration.strategy, configuration.vectors, configuration.context),
        QUERIES,
        retriever=configuration.retriever,
        search=SearchOptions(neighbors=configuration.neighbors),
        metrics=metric,
        budget=budget,
        **({} if k is None else {"k": k}),
    )


def same(outcome: Outcome, results: chunkwise.Results, metric: str) -> None:
    theirs = [question.scores[metric] for question in results.questions]
    assert outcome.scores[metric] == pytest.approx(theirs, abs=1e-12)


def read_within(configuration: Configuration, budget: int) -> float:
    """Tokens a question that are read of its hits, as deep as there are any, where no more than these may be."""
    deep = evaluated(configuration, "recall", k=10_000)
    read = [min(question.context_tokens, budget) for question in deep.questions]
    return sum(read) / len(read)


CONFIGURATIONS = [
    Configuration("sentences(max_tokens=60)", "bm25", "none", 0, "none"),
    Configuration("sentences(max_tokens=60)", "dense", "none", 0, "late"),
    Configuration("sentences(max_tokens=60)", "hybrid", "none", 0, "late"),
    Configuration("sentences(max_tokens=60)", "hybrid(fusion='rrf', depth=7)", "none", 0, "late"),
    Configuration("sentences(max_tokens=60)", "hybrid", "none", 1, "late"),
    Configuration("structure(max_tokens=120)", "bm25", "headings", 0, "none"),
    Configuration("structure(max_tokens=120)", "hybrid", "headings", 0, "late"),
    Configuration("recursive(max_tokens=400, overlap=80, tokenizer='characters')", "dense"),
    Configuration("recursive(max_tokens=400, overlap=80, tokenizer='characters')", "bm25", "none", 2, "none"),
    Configuration("parent_child(max_tokens=20, parent_size=120)", "hybrid", "none", 0, "late"),
    Configuration("tokens(max_tokens=3)", "bm25", "none", 0, "none"),
    Configuration("sentences(max_tokens=60)", "dense", "none", 0, "own"),
]  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    made = outcomes(tmp_path_factory.mktemp("sweep"), *CONFIGURATIONS)
    return {outcome.configuration.key: outcome for outcome in made}


@pytest.fixture(scope="module")
def words_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Outcome]]:
    folder = tmp_path_factory.mktemp("words")
    return folder, outcomes(folder, *WORDS.configurations, embedder=None)


@pytest.fixture
def words(words_once: tuple[Path, list[Outcome]], tmp_path: Path) -> list[Outcome]:
    """What all that needs no model gave, and in `tmp_path` the record of it."""
    shutil.copytree(words_once[0], tmp_path, dirs_exist_ok=True)
    return words_once[1]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda each: each.label)
def test_figures_are_those_of_an_evaluation(
    configuration: Configuration, found: dict[str, Outcome]
) -> None:
    outcome = found[configuration.key]
    assert outcome.error == ""
    assert any(outcome.scores["recall@1000t"])
    at_k = "recall@5,ndcg@5,hit@5,context_recall@5,precision@5"
    within = "recall@250t,recall@1000t,recall@2000t"
    results = evaluated(configuration, f"{at_k},{within},boundary_issues")
    for name in f"{at_k},{within}".split(","):
        same(outcome, results, name)
    theirs = {**results.cost, "context_tokens": read_within(configuration, 1000)}
    del theirs["index_bytes"]
    assert dict(outcome.cost) == pytest.approx(theirs)
    cuts = results.cuts
    assert cuts is not None
    assert outcome.boundary_issues == {
        **cuts.counts,
        "chunks_with_issues": cuts.with_issues,
        "cuts_with_issues": cuts.cuts_with_issues,
    }


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("retriever", ["multiscale(dense=0)", "multiscale"])
def test_several_sizes_are_those_of_an_evaluation(retriever: str, tmp_path: Path) -> None:
    vectors: VectorKind = "none" if "dense=0" in retriever else "late"
    configuration = Configuration("", retriever, "none", 0, vectors)
    (outcome,) = outcomes(tmp_path, configuration)
    for budget in (250, 500, 1000, 2000):
        name = f"recall@{budget}t"
        same(outcome, evaluated(configuration, "recall", budget), name)
    results = evaluated(configuration, "recall@5,hit@5")
    same(outcome, results, "recall@5")
    assert outcome.cost["context_tokens"] == pytest.approx(results.cost["context_tokens"])
    assert outcome.cost["chunks"] > 100  # its sentences
    assert outcome.cost["storage"] == 1.0
    assert set(outcome.scores["ndcg@5"]) == {None}, "there are no chunks to hold it against"
    assert outcome.boundary_issues == {}


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("budget", [None, 60])
@pytest.mark.parametrize(
    "configuration",
    [CONFIGURATIONS[0], CONFIGURATIONS[8], CONFIGURATIONS[9], Configuration("", "multiscale(dense=0)", vectors="none")],
    ids=lambda each: each.label,
)  # fmt: skip
def test_the_context_is_what_is_read_for_the_objective(
    configuration: Configuration, budget: int | None, tmp_path: Path
) -> None:
    asked = sweep("recall@5" if budget is None else f"recall@{budget}t")
    (outcome,) = run_plan(
        plan_of(configuration),
        DOCUMENTS,
        QUERIES,
        asked,
        SweepRecord(tmp_path),
        embedder=HashEmbedder(),
    )
    if budget is None:
        theirs = evaluated(configuration, "recall").cost["context_tokens"]
    elif configuration.strategy:
        theirs = read_within(configuration, budget)
    else:
        theirs = evaluated(configuration, "recall", budget).cost["context_tokens"]
        assert 0 < theirs <= budget
    assert outcome.cost["context_tokens"] == pytest.approx(theirs)


def test_outcomes_come_in_the_order_of_the_plan_and_every_score_has_a_question(
    found: dict[str, Outcome],
) -> None:
    assert list(found) == [each.key for each in CONFIGURATIONS]
    for outcome in found.values():
        assert list(outcome.scores)[:5] == [
            "recall@1000t", "recall@250t", "recall@500t", "recall@2000t", "recall@5",
        ]  # fmt: skip
        assert {len(scores) for scores in outcome.scores.values()} == {len(QUERIES)}


def test_without_questions_the_chunks_are_told_about(tmp_path: Path) -> None:
    first, several = outcomes(
        tmp_path, CONFIGURATIONS[1], Configuration("", "multiscale"), queries=()
    )
    assert first.scores == several.scores == {}
    assert first.error == several.error == ""
    assert first.cost["chunks"]
    assert first.cost["context_tokens"] is None
    assert first.boundary_issues["mid_word"] == 0


def test_questions_without_references_or_words_are_unscored_or_find_nothing(tmp_path: Path) -> None:
    queries = [Query("blank", "  ", QUERIES[0].references), Query("none", "What?"), *QUERIES[:3]]
    for outcome in outcomes(tmp_path, *CONFIGURATIONS[:3], queries=queries):
        assert outcome.scores["recall@1000t"][0] == 0.0
        assert outcome.scores["recall@1000t"][1] is None


@pytest.mark.unwatched
def test_what_is_known_is_not_run_again(words: list[Outcome], tmp_path: Path) -> None:
    model = HashEmbedder()
    told: list[Outcome] = []
    more = [*WORDS.configurations, CONFIGURATIONS[1]]
    again = outcomes(tmp_path, *more, embedder=model, on_outcome=told.append)
    assert again[:-1] == words
    assert [each.seconds for each in again[:-1]] == [each.seconds for each in words]
    assert again[-1].error == ""
    assert told == again
    untouched = HashEmbedder()
    assert outcomes(tmp_path, *more, embedder=untouched) == again
    assert untouched.asked == []


class Refusing(HashEmbedder):
    """A model that does not answer."""

    identity = "refusing"
    asked_for = 0

    def token_vectors(self, texts: Sequence[str]) -> Any:
        self.asked_for += 1
        raise ConnectionError("nobody there")

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> NDArray[np.float32]:
        raise ConnectionError("nobody there")


def test_a_model_that_refuses_leaves_the_words(tmp_path: Path) -> None:
    model = Refusing()
    every = outcomes(tmp_path, *CONFIGURATIONS, embedder=model)
    for outcome in every:
        assert outcome.error == (
            "" if outcome.configuration.vectors == "none" else "ConnectionError: nobody there"
        )
    assert model.asked_for == 1, "it is not asked again for every chunking"
    healed = outcomes(tmp_path, *CONFIGURATIONS)
    assert [each.error for each in healed] == [""] * len(CONFIGURATIONS)
    words = [at for at, each in enumerate(CONFIGURATIONS) if each.vectors == "none"]
    assert [healed[at] for at in words] == [every[at] for at in words]


def test_a_model_without_vectors_of_tokens_reads_the_documents_once(tmp_path: Path) -> None:
    model = PlainHashEmbedder()
    late = [each for each in CONFIGURATIONS if each.vectors == "late"]
    assert [each.error for each in outcomes(tmp_path, *late, embedder=model)] == [""] * len(late)
    assert len(set(model.asked)) == len(model.asked)


def test_a_strategy_that_raises_fails_alone(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    def split(self, document):\n        raise KeyError('why')\n")
    bad = Configuration(f"{file}:Mine", "bm25", "none", 0, "none")
    unknown = Configuration("nonsense", "bm25", "none", 0, "none")
    wrong = replace(CONFIGURATIONS[0], retriever="nonsense")
    folder = tmp_path / "sweep"
    found = outcomes(folder, bad, unknown, wrong, CONFIGURATIONS[0], embedder=None)
    assert "KeyError" in found[0].error
    assert "nonsense" in found[1].error
    assert "nonsense" in found[2].error
    assert found[3].error == ""


def test_an_unmeasurable_objective_is_refused_before_any_work(tmp_path: Path) -> None:
    for objective, why in (
        ("citation_recall", "needs answers"),
        ("boundary_issues", "has one score per chunking"),
        ("retrieval_precision.llm", "asks llm"),
    ):
        with pytest.raises(InvalidParameter, match=f"objective is '{objective}', which {why}"):
            run_plan(WORDS, DOCUMENTS, QUERIES, sweep(objective), SweepRecord(tmp_path / "sweep"))
    with pytest.raises(InvalidParameter, match="jobs is 0"):
        run_plan(WORDS, DOCUMENTS, QUERIES, sweep(), SweepRecord(tmp_path / "sweep"), jobs=0)
    assert not (tmp_path / "sweep").exists()


def test_a_deadline_leaves_the_rest_undone_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(run_module.time, "time", lambda: now[0])

    def slowly(outcome: Outcome) -> None:
        now[0] += 10

    found = outcomes(tmp_path, *WORDS.configurations, on_outcome=slowly, deadline=25, embedder=None)
    assert [bool(each.error) for each in found] == [False] * 3 + [True] * (len(found) - 3)
    assert found[3].error == ("not run before the time limit; run the same command to resume")
    assert len(SweepRecord(tmp_path).known()) == 3
    monkeypatch.undo()
    assert not any(each.error for each in outcomes(tmp_path, *WORDS.configurations, embedder=None))


def test_a_model_that_reads_for_too_long_leaves_time_for_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(run_module.time, "time", lambda: now[0])

    class Slow(HashEmbedder):
        identity = "slow"

        def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
            now[0] += 15
            return super().token_vectors(texts)

    found = outcomes(tmp_path, *CONFIGURATIONS, deadline=20, embedder=Slow())
    ran = {each.configuration.vectors for each in found if not each.error}
    assert ran == {"none"}
    assert {each.error for each in found if each.configuration.vectors == "late"} == {TIME_UP}


def test_what_was_done_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    told: list[Outcome] = []

    def stop(outcome: Outcome) -> None:
        told.append(outcome)
        if len(told) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outcomes(tmp_path, *WORDS.configurations, on_outcome=stop, embedder=None)
    assert SweepRecord(tmp_path).known() == {each.configuration.key: each for each in told}


@pytest.mark.usefixtures("processes")
def test_several_processes_change_nothing_and_one_that_dies_loses_only_what_it_ran(
    words: list[Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "_WORTH", 0.0)
    file = tmp_path / "deadly.py"
    file.write_text(
        "import os\nclass Deadly:\n    def split(self, document):\n        os._exit(9)\n"
    )
    deadly = Configuration(f"{file}:Deadly", "bm25", "none", 0, "none")
    told: list[Outcome] = []
    plan = [*WORDS.configurations[:4], deadly, *WORDS.configurations[4:]]
    found = outcomes(tmp_path / "one", *plan, embedder="", jobs=2, on_outcome=told.append)
    assert "died" in found.pop(4).error
    assert found == words
    assert sorted(each.configuration.key for each in told) == sorted(each.key for each in plan)


@pytest.mark.usefixtures("processes")
def test_several_processes_stop_at_a_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "_WORTH", 0.0)
    found = outcomes(tmp_path, *WORDS.configurations, embedder="", jobs=2, deadline=1e-9)
    assert all(each.error.startswith("not run") for each in found)


def test_configurations_of_one_chunking_are_brought_together() -> None:
    one, two, three, four = (
        Configuration(strategy, retriever)
        for strategy, retriever in (("a", "bm25"), ("b", "bm25"), ("a", "dense"), ("b", "dense"))
    )
    assert groups_of([one, two, three, four]) == [(one, three), (two, four)]
    assert groups_of([]) == []


@given(st.lists(st.text("ab .,é\n1漢", max_size=40), min_size=1, max_size=3), st.integers(0, 2**30))
def test_the_known_cut_is_the_token_cut(texts: list[str], seed: int) -> None:
    documents = [Document(str(at), text) for at, text in enumerate(texts)]
    rng = np.random.default_rng(seed)
    document = rng.integers(0, len(texts), 20)
    sizes = np.array([len(text) for text in texts])[document]
    start, end = np.sort(rng.integers(0, sizes + 1, (2, 20)), axis=0)
    some = start < end  # an empty place is never cut, nor is one for which no token is left
    document, start, end = document[some], start[some], end[some]
    tokens = rng.integers(1, 12, len(start))
    known = CachedTokenCut([Analyzed(each).measure() for each in documents])
    expected = TokenCut(documents).ends(document, start, end, tokens)
    assert known.ends(document, start, end, tokens).tolist() == expected.tolist()


SPEC = "raptor(max_tokens=60, branching=4, summary_tokens=60)"
METRICS = ("recall@5", "precision@5", "context_precision@5", "ndcg@5", "recall@300t")


@pytest.fixture(autouse=True)
def _by_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of the models stand for ones that need no weights."""
    here = "chunkwise.chunkers.raptor"
    client = LlmClient(FirstSentences())
    monkeypatch.setattr(f"{here}._named_client", lambda name: client)
    monkeypatch.setattr(f"{here}.named_embedder", lambda name: HashEmbedder())


def test_it_is_the_same_index() -> None:
    corpus = SharedCorpus(DOCUMENTS, QUERIES, LazyEmbedder(HashEmbedder()))
    made = corpus.index_of(get_strategy(SPEC), "headings", "late")
    whole = chunkwise.index(
        DOCUMENTS, SPEC, embedder=HashEmbedder(), vectors="late", context="headings"
    ).source
    assert isinstance(whole, LocalIndex)
    assert whole.has_summaries
    assert made.arrays.keys() == whole.arrays.keys()
    for name, array in whole.arrays.items():
        assert made.arrays[name].tolist() == array.tolist(), name


@cases("neighbors", [0, 1])
def test_it_has_the_scores_of_an_evaluation(neighbors: int) -> None:
    corpus = SharedCorpus(DOCUMENTS, QUERIES, None)
    configuration = Configuration(SPEC, "bm25", "none", neighbors, "none")
    (outcome,) = outcomes_of(corpus, (configuration,), [parse(name) for name in METRICS], 5)
    assert not outcome.error
    whole = chunkwise.index(DOCUMENTS, SPEC, vectors="none")
    levels = {hit.level for own in whole.search(QUERIES, k=5) for hit in own}
    assert {0, 1} <= levels
    results = evaluate(
        whole,
        QUERIES,
        retriever="bm25",
        metrics=METRICS,
        search=SearchOptions(neighbors=neighbors),
    )
    for name in METRICS:
        told = [question.scores[name] for question in results.questions]
        assert list(outcome.scores[name]) == pytest.approx(told, nan_ok=True), name


def test_a_walk_along_names_has_the_scores_of_an_evaluation() -> None:
    """Beside one that follows none, over the same sentences."""
    corpus = SharedCorpus(DOCUMENTS, QUERIES, None)
    group = tuple(
        Configuration("", name, "none", 0, "none")
        for name in ("multiscale(dense=0)", "graph(dense=0)")
    )
    wanted = [parse("recall@1000t"), parse("all_found@1000t")]
    for outcome in outcomes_of(corpus, group, wanted, 5):
        assert not outcome.error
    whole = chunkwise.index(DOCUMENTS, vectors="none", graph=True)
    direct = chunkwise.evaluate(
        whole, QUERIES, retriever="graph(dense=0)", budget=1000, metrics=["recall@1000t"]
    )
    (told,) = outcomes_of(corpus, group[1:], wanted, 5)
    mean = sum(value for value in told.scores["recall@1000t"] if value is not None) / len(QUERIES)
    assert mean == pytest.approx(direct.summary["recall@1000t"].mean)

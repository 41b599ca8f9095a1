from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.amounts import Money
from chunkwise.base.wording import format_number
from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.models.cache import ModelCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.text.tokens.tokenizers import get_tokenizer
from chunkwise.tuning.plan.grid import default_sweep
from chunkwise.tuning.plan.plan import Plan, plan_sweep
from chunkwise.tuning.plan.sweep_budget import (
    TOKENS_PER_SECOND,
    CorpusSize,
    estimate_sweep,
    expected_chunks,
)
from chunkwise.tuning.sweep import Grid, Sweep
from tables import cases
from tuning.plan.example_sweeps import sweeps

USUAL = default_sweep(["documents"], "queries.json", has_headings=True)
CORPUS = CorpusSize(5, 1_444_328, 325_380, 472)
UNASKED = CORPUS._replace(questions=0)
PRICED = replace(USUAL, price=Money(0.02, "USD"))


def _plan(*names, retrieval=("dense",), baselines=False, **others):
    """Without the common defaults, so that sums can be done in the head."""
    made = plan_sweep(Sweep(("d",), None, (Grid(names),), (Grid(retrieval),), **others))
    return (
        made
        if baselines
        else Plan(tuple(each for each in made.configurations if not each.baseline))
    )


@given(sweeps, st.integers(0, 10**7), st.integers(0, 2000))
def test_parts_are_no_less_than_nothing_and_what_is_known_costs_nothing(sweep, tokens, questions):
    made = plan_sweep(sweep)
    size = CorpusSize(5, 4 * tokens, tokens, questions)
    priced = replace(sweep, price=Money(1.0, "USD"))
    whole = estimate_sweep(made, priced, size)
    assert min(whole.seconds.values()) >= 0
    assert whole.money.amount == pytest.approx(whole.tokens / 1e6)
    assert whole.configurations == len(made.configurations)
    keys = [each.key for each in made.configurations]
    rest = estimate_sweep(made, sweep, size, known=keys[: len(keys) // 2])
    assert rest.total <= whole.total
    done = estimate_sweep(made, priced, size, known=keys)
    assert (done.total, done.tokens, done.money.amount, done.configurations) == (0, 0, 0, 0)
    assert done.words == ("everything is already done",)


class _Model:
    identity = price_name = "local"
    window = None
    concurrency = 1
    speed = (100.0, 10.0)


def test_a_language_model_is_in_the_time(tmp_path):
    plan = plan_sweep(USUAL)
    plain = estimate_sweep(plan, USUAL, CORPUS)
    client, named = (
        LlmClient(_Model(), cache=ModelCache(tmp_path / "kept")),
        replace(USUAL, llm="local"),
    )
    asked = estimate_sweep(plan, named, CORPUS, client=client)
    assert asked.llm.calls > 2 * 325_380 / 800  # two contexts a chunk
    assert asked.total == pytest.approx(plain.total + asked.llm.seconds)
    answered = estimate_sweep(plan, named, CORPUS._replace(answered=472), client=client)
    assert answered.llm.calls == asked.llm.calls + 6 * 472
    expected = CORPUS._replace(questions=0, expected=CORPUS.questions)
    writing = estimate_sweep(plan, named, expected, client=client)
    assert writing.llm.calls == answered.llm.calls + 472
    assert named.time / 3 < writing.seconds["questions"] < named.time / 2


def test_rerankers_and_other_embedders_are_in_the_time():
    plan = plan_sweep(USUAL)
    plain, one, two, read_once_more = (
        estimate_sweep(plan, replace(USUAL, **others), CORPUS)
        for others in (
            {},
            {"rerankers": ("local",)},
            {"rerankers": ("local", "x"), "embedders": ("x",)},
            {"maxsim": "colbert-small"},
        )
    )
    assert plain.seconds["variations"] == 0
    assert one.total - plain.total == pytest.approx(one.seconds["variations"])
    assert two.seconds["variations"] > 2 * one.seconds["variations"]
    # A cross-encoder reads a hundred chunks of 472 questions, of five configurations: an evening's part.
    assert 3600 < one.seconds["variations"] < 4 * 3600
    assert "variations" in " ".join(one.words)
    # Token vectors: one more pass over the documents, by a model twice as slow.
    assert read_once_more.seconds["variations"] == pytest.approx(
        2 * CORPUS.tokens / TOKENS_PER_SECOND
    )


def test_late_vectors_read_the_corpus_once_however_many_chunkings():
    one = estimate_sweep(_plan("sentences"), USUAL, UNASKED)
    names = ("sentences", "recursive", "structure", "tokens")
    made = _plan(*names, retrieval=("dense", "hybrid", "multiscale"))
    many = estimate_sweep(made, USUAL, UNASKED)
    assert one.tokens == many.tokens == CORPUS.tokens
    assert one.seconds["embedding"] == pytest.approx(CORPUS.tokens / TOKENS_PER_SECOND)
    assert many.seconds["indexing"] > 3 * one.seconds["indexing"]


def test_vectors_of_their_own_are_paid_for_by_every_chunking_with_its_overlap():
    names = ("tokens(overlap=0)", "tokens(overlap=100)", "tokens(overlap=200)")
    found = estimate_sweep(_plan(*names, exact=True), replace(USUAL, exact=True), UNASKED)
    assert found.tokens == pytest.approx(CORPUS.tokens * (1 + 1 / 0.75 + 1 / 0.5), rel=0.001)


def test_words_alone_need_no_model():
    made = _plan("sentences", retrieval=("bm25", "multiscale(dense=0)"), baselines=True)
    found = estimate_sweep(made, USUAL, CORPUS)
    assert (found.tokens, found.seconds["embedding"]) == (0, 0)
    assert len(found.words) == 2


def test_cutting_by_meaning_is_a_pass_of_its_own():
    without = estimate_sweep(_plan("sentences"), USUAL, UNASKED)
    made = _plan("sentences", "semantic", "semantic(threshold=0.4)", "cluster")
    both = estimate_sweep(made, USUAL, UNASKED)
    assert both.tokens == without.tokens + CORPUS.tokens


def test_several_processes_share_what_can_be_shared():
    one, two = (
        estimate_sweep(plan_sweep(USUAL), USUAL, CORPUS, jobs=jobs).seconds for jobs in (1, 2)
    )
    assert two["searching"] == pytest.approx(one["searching"] / 2)
    assert two["embedding"] == one["embedding"]


def test_words_and_budget():
    found = estimate_sweep(plan_sweep(USUAL), PRICED, CORPUS)
    first, second, third = found.words
    assert first == f"{found.configurations} configurations of {found.chunkings} chunkings"
    assert second.startswith("about ")
    assert " (reading " in second
    assert third.endswith("000 tokens to embed, about 0.0067 USD")
    assert found.over(None, None) == found.over(10_000, 1.0) == ""
    assert (
        found.over(60, None)
        == f"about {format_number(found.total, 'seconds')} needed, but the budget is 60 s"
    )
    assert found.over(None, 0.005) == "about 0.0067 USD needed, but the budget is 0.0050 USD"
    assert found.over(10_000, None) == ""


def test_the_usual_sweep_of_a_small_corpus_takes_minutes():
    small = CorpusSize(13, 110_000, 25_000, 132)
    assert estimate_sweep(plan_sweep(USUAL), USUAL, small).total < 300


@cases(
    "label",
    [
        "sentences(max_tokens=100, overlap=25)",
        "sentences(max_tokens=400, overlap=0)",
        "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
        "tokens(max_tokens=50, overlap=10)",
        "sections(max_tokens=200)",
        "words(max_words=150)",
        "parent_child",
    ],
)
def test_guessed_sizes_are_near_what_is_cut(label):
    line = "The keeper of the tide clock winds it at dawn, and notes the height of the water in a book. "
    text = "".join(f"{line[: 40 + 13 * (at % 5)].rstrip()}. " for at in range(2500))
    strategy = get_strategy(label)
    chunks = list(strategy.chunks(Document("clock", text)))
    count = get_tokenizer("o200k_base").count
    guessed = expected_chunks(strategy, "none", count(text))
    assert guessed.chunks == pytest.approx(len(chunks), rel=0.35)
    assert guessed.tokens == pytest.approx(sum(count(chunk.text) for chunk in chunks), rel=0.25)


def test_headings_are_embedded_too():
    strategy = get_strategy("sentences")
    plain, headed = (
        expected_chunks(strategy, context, 100_000) for context in ("none", "headings")
    )
    assert headed.chunks == plain.chunks
    assert headed.tokens == plain.tokens + 12 * plain.chunks
    assert expected_chunks(strategy, "none", 0) == (0, 0)

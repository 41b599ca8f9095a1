"""Who cannot win any more is dropped: early where it is far behind, never for a test question, never a winner."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.evaluation.evaluate import evaluate
from chunkwise.options import IndexOptions
from chunkwise.tuning.run import score_configurations
from chunkwise.tuning.run.race import Race
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import Outcome
from tuning.run.small_sweep import inputs, plan_of, sweep

DOCUMENTS, QUERIES = inputs()
BASE = Configuration("sentences(max_tokens=50)", "bm25", vectors="none")
RERANKED = Configuration("sentences(max_tokens=50)", "bm25", vectors="none", reranker="backwards")


class Counting:
    """Puts the best last, or leaves all as they are; knows how often it was asked."""

    identity = "counting"

    def __init__(self, sign: float) -> None:
        self.sign, self.asked = sign, 0

    def scores(self, query: str, texts: list[str]) -> np.ndarray:
        self.asked += 1
        return self.sign * np.arange(len(texts), 0, -1, dtype=np.float32)


@given(st.integers(0, 300), st.integers(0, 300))
def test_blocks_ask_every_question_once(questions: int, ahead: int) -> None:
    race = Race(tuple([0.5, None][at % 2] for at in range(min(ahead, questions))))
    asked = [at for block in race.blocks(questions) for at in block]
    assert sorted(asked) == list(range(questions))
    # Those that choose come first.
    chooses = [at < len(race.ahead) and at % 2 == 0 for at in asked]
    assert chooses == sorted(chooses, reverse=True)


def test_a_clear_loser_is_dropped_and_a_winner_never() -> None:
    ahead = (0.9,) * 100
    scores = np.full(100, np.nan)
    scores[:16] = 0.1
    assert (
        Race(ahead, "the best")
        .lost(scores)
        .startswith("dropped after 16 questions: 80.0 pts behind the best")
    )
    scores[:16] = 0.9
    assert Race(ahead).lost(scores) == ""
    scores[:16] = 0.1
    assert Race(tuple(1 - each for each in ahead), lower=True).lost(1 - scores) != ""
    assert Race(ahead, lower=True).lost(scores) == ""


def test_too_few_questions_or_nobody_ahead_drop_nobody() -> None:
    scores = np.full(100, np.nan)
    scores[:15] = 0.0
    assert Race((1.0,) * 100).lost(scores) == ""
    scores[:50] = 0.0
    assert Race().lost(scores) == ""
    assert Race((1.0,) * 50).lost(scores) == "", "all that choose were asked"
    assert Race((None,) * 100).lost(scores) == "", "test questions drop nobody"


@pytest.mark.usefixtures("large_inputs")
def test_of_equals_hardly_one_is_dropped() -> None:
    rng = np.random.default_rng(0)
    dropped = 0
    for _ in range(400):
        ahead, own = rng.integers(0, 2, (2, 120)).astype(float)
        race, scores = Race(tuple(ahead.tolist())), np.full(120, np.nan)
        for block in race.blocks(120):
            scores[block] = own[block]
            dropped += bool(race.lost(scores))
    assert dropped <= 8


def run(folder: Path, race: Race | None, counting: Counting, monkeypatch) -> Outcome:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(score_configurations, "resolve_reranker", lambda name: counting)
    return run_plan(
        plan_of(RERANKED), DOCUMENTS, QUERIES, sweep(model=""), SweepRecord(folder), race=race
    )[0]


def test_reranked_figures_are_those_of_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(tmp_path, None, Counting(-1.0), monkeypatch)
    assert (found.error, found.dropped) == ("", "")
    wanted = evaluate(
        DOCUMENTS,
        QUERIES,
        strategy=BASE.strategy,
        retriever="bm25",
        reranker=Counting(-1.0),
        k=5,
        metrics="recall@5",
        index=IndexOptions(vectors="none"),
    )
    assert list(found.scores["recall@5"]) == pytest.approx(
        [each.scores["recall@5"] for each in wanted.questions]
    )


@pytest.mark.usefixtures("large_inputs")
def test_what_is_dropped_is_not_asked_everything_and_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if there were many questions, all of which somebody else answers.
    several = tuple(QUERIES) * (1 + 64 // len(QUERIES))
    queries = [type(each)(f"{at}", each.text, each.references) for at, each in enumerate(several)]
    race = Race((5.0,) * len(queries), "the best")
    whole, early = Counting(-1.0), Counting(-1.0)

    def outcome(folder: str, race: Race | None, counting: Counting) -> Outcome:
        monkeypatch.setattr(score_configurations, "resolve_reranker", lambda name: counting)
        record = SweepRecord(tmp_path / folder)
        return run_plan(plan_of(RERANKED), DOCUMENTS, queries, sweep(model=""), record, race=race)[
            0
        ]

    assert not outcome("whole", None, whole).dropped
    found = outcome("early", race, early)
    assert found.dropped.startswith("dropped after ")
    assert early.asked < whole.asked / 2
    assert None in found.scores["recall@1000t"]
    before = early.asked
    again = outcome("early", race, early)
    assert (again.dropped, early.asked) == (found.dropped, before)


def test_the_keys_of_before_are_kept() -> None:
    """Records of earlier versions are gone on with."""
    assert BASE.key == "73bfab2f1404f8c5"
    assert len({BASE.key, RERANKED.key}) == 2

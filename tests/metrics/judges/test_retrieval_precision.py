import pytest

from chunkwise.core import Score
from chunkwise.metrics.judges.retrieval_precision import (
    UnjudgedHits,
    agreements,
    retrieval_precision,
    unjudged_hits,
)

YES, NO = Score(1.0), Score(0.0)


def none(reason: str) -> Score:
    return Score(None, reason)


def test_the_share_is_of_the_judged_hits() -> None:
    verdicts = [[YES, NO, none("not labeled")], [YES, YES], [NO]]
    assert [score.value for score in retrieval_precision(verdicts)] == [0.5, 1.0, 0.0]


def test_zero_verdicts_are_unscored_and_say_why() -> None:
    verdicts = [[], [none("not labeled")] * 2, [none("a"), none("b"), none("b")]]
    scores = retrieval_precision(verdicts)
    assert [score.value for score in scores] == [None, None, None]
    assert [score.reason for score in scores] == ["nothing was retrieved", "not labeled", "b"]


def test_nothing_retrieved_is_nothing_found_where_something_is_there() -> None:
    verdicts = [[YES], [], []]
    scores = retrieval_precision(verdicts, [True, True, False])
    assert scores == [YES, Score(0.0), none("nothing was retrieved")]
    # Hits that no one judged are no proof of anything.
    assert retrieval_precision([[none("no references")]], [True]) == [none("no references")]


def test_hits_without_a_verdict_are_counted_by_reason() -> None:
    verdicts = [[YES, none("b"), none("a")], [], [none("a")] * 3, [NO]]
    found = unjudged_hits(verdicts)
    assert found == UnjudgedHits(7, 2, {"a": 4, "b": 1})
    assert list(found.reasons) == ["a", "b"]
    assert unjudged_hits([]) == UnjudgedHits(0, 0, {})


def test_judges_are_compared_on_what_both_judged() -> None:
    verdicts = {
        "labels": [[YES, YES, NO], [NO, none("not labeled")]],
        "spans": [[YES, NO, NO], [NO, YES]],
        "similarity": [[none("no words")] * 3, [none("no words")] * 2],
    }
    first, second, third = agreements(verdicts)
    # By hand: both say yes with 2/4 and 1/4, so that chance agrees in 1/8 + 3/8.
    kappa = pytest.approx((0.75 - 0.5) / (1 - 0.5))
    assert first == ("labels", "spans", kappa, 0.75, 4)
    assert second == ("labels", "similarity", None, None, 0)
    assert third == ("spans", "similarity", None, None, 0)


def test_one_judge_agrees_with_nobody() -> None:
    assert agreements({"spans": [[YES]]}) == []

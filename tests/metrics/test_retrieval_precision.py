import pytest

from chunkwise.core import Score
from chunkwise.metrics.retrieval_precision import agreements, retrieval_precision

YES, NO = Score(1.0), Score(0.0)


def none(reason: str) -> Score:
    return Score(None, reason)


def test_the_share_is_of_the_judged_hits() -> None:
    verdicts = [[YES, NO, none("not labelled")], [YES, YES], [NO]]
    assert [score.value for score in retrieval_precision(verdicts)] == [0.5, 1.0, 0.0]


def test_zero_verdicts_are_unscored_and_say_why() -> None:
    verdicts = [[], [none("not labelled")] * 2, [none("a"), none("b"), none("b")]]
    scores = retrieval_precision(verdicts)
    assert [score.value for score in scores] == [None, None, None]
    assert [score.reason for score in scores] == ["nothing was retrieved", "not labelled", "b"]


def test_judges_are_compared_on_what_both_judged() -> None:
    verdicts = {
        "labels": [[YES, YES, NO], [NO, none("not labelled")]],
        "spans": [[YES, NO, NO], [NO, YES]],
        "similarity": [[none("no words")] * 3, [none("no words")] * 2],
    }
    first, second, third = agreements(verdicts)
    assert (first.first, first.second, first.hits) == ("labels", "spans", 4)
    assert first.same == 0.75
    # By hand: both say yes with 2/4 and 1/4, so that chance agrees in 1/8 + 3/8.
    assert first.kappa == pytest.approx((0.75 - 0.5) / (1 - 0.5))
    assert (second.hits, second.kappa, second.same) == (0, None, None)
    assert (third.first, third.second) == ("spans", "similarity")


def test_one_judge_agrees_with_nobody() -> None:
    assert agreements({"spans": [[YES]]}) == []

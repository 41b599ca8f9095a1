"""Who judged, in a person's words, and no more trust in a judge than was measured."""

import dataclasses
from typing import Any

from chunkwise.evaluation.judge_calibrations import NOT_MEASURED, judged_by
from chunkwise.evaluation.results import Figure, KnownJudge, Results, short_name
from chunkwise.evaluation.verdicts_and_advice import WEAK, four_questions
from made_results import results
from tables import cases

METRIC = "retrieval_precision.similarity"
MINILM = "minilm:afdb6f1a0e45:be50c3628f2b:mean:256:windows"


def judged(**known: Any) -> Results:
    """By minilm, of which this is known."""
    about: dict[str, Any] = {
        "against": "spans",
        "accuracy": 0.8,
        "kappa": 0.6,
        "same_questions": False,
    }
    return dataclasses.replace(
        results(),
        summary={METRIC: Figure(0.5, 0.4, 0.6, 40, verdict="below")},
        data={"judges": {"similarity": {"model": MINILM, "identity": f"similarity:{MINILM}:0.7"}}},
        calibrations={"similarity": KnownJudge(**(about | known))} if known else {},
    )


def test_a_judge_goes_by_its_name_and_what_was_measured_elsewhere_is_said_to_be() -> None:
    assert judged_by(judged(), METRIC) == f"judged by minilm; {NOT_MEASURED}"
    other = judged_by(judged(verdicts=20, same_questions=False), METRIC)
    assert other.endswith("gold spans: accuracy 0.8, κ 0.6 (measured elsewhere, 20 verdicts)")
    own = judged_by(judged(verdicts=1200, same_questions=True), METRIC)
    assert own.endswith("(on these questions, 1,200 verdicts)")


def test_a_handful_of_verdicts_is_not_quoted_and_condemns_nobody() -> None:
    few = judged(verdicts=19, same_questions=False, weakness="κ is 0.10, under 0.2")
    assert judged_by(few, METRIC) == f"judged by minilm; {NOT_MEASURED}"
    assert four_questions(few)[0].figures["similarity"].verdict == "below"
    own = judged_by(judged(verdicts=3, same_questions=True), METRIC)
    assert (
        own == "judged by minilm; measured with fewer than 20 verdicts: chunkwise testset calibrate"
    )
    many = judged(verdicts=20, weakness="κ is 0.10, under 0.2")
    assert four_questions(many)[0].figures["similarity"].verdict == WEAK


@cases(
    "identity, name",
    [
        (MINILM, "minilm"),
        (f"maxsim:{MINILM} first=1", "maxsim"),
        ("endpoint:127.0.0.1:8701/v1/chat/completions#'big-1'", "big-1"),
        ("fastembed:BAAI/bge-small@0.7.1:abc", "BAAI/bge-small"),
        ("sentence-transformers-reranker:cross/encoder@ab12 window=512", "cross/encoder"),
        ("gguf:b179c9523d0e6a0f:4096", "gguf:b179c9523d0e6a0f:4096"),
        ("rule", "rule"),
        (" odd", " odd"),
        ("", ""),
    ],
)
def test_short_names(identity: str, name: str) -> None:
    assert short_name(identity) == name

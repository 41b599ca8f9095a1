"""The figures of a judge: against hand-counted tables and a second way of counting."""

import math
import os
import random
import re
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Score
from chunkwise.evaluation.judge_calibrations import (
    Calibration,
    Confusion,
    Cost,
    Verdict,
    best_threshold,
    calibration,
    calibrations_file,
    kappa_of,
    keep_calibration,
    known_calibration,
    same_calibration,
)
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.stats.agreement import agreement

VALUES = st.sampled_from([Score(1.0), Score(0.0), Score(None, "no answer"), Score(None, "limit")])
VERDICTS = st.lists(st.builds(Verdict, st.sampled_from("abcdefgh"), st.booleans(), VALUES))


def figures(verdicts: list[Verdict]) -> Calibration:
    return calibration(verdicts, judge="rule:1", name="rule", against="labels")


def table(yes_yes: int, yes_no: int, no_yes: int, no_no: int) -> list[Verdict]:
    """So many verdicts of each kind, a question each."""
    kinds = ((True, 1.0, yes_yes), (True, 0.0, yes_no), (False, 1.0, no_yes), (False, 0.0, no_no))
    rows = [(truth, said) for truth, said, count in kinds for _ in range(count)]
    return [Verdict(str(at), truth, Score(said)) for at, (truth, said) in enumerate(rows)]


def test_a_table_counted_by_hand() -> None:
    """40 + 35 of 100 right; by chance 0.5 × 0.55 + 0.5 × 0.45 = 0.5: κ = (0.75 - 0.5) / 0.5."""
    found = figures(table(40, 10, 15, 35))
    assert found.confusion == Confusion(40, 10, 15, 35)
    assert (found.confusion.relevant, found.confusion.irrelevant, found.confusion.scored) == (50, 50, 100)  # fmt: skip
    for figure, value in (
        (found.accuracy, 0.75), (found.kappa, 0.5), (found.missed, 0.2), (found.false_alarms, 0.3),
    ):  # fmt: skip
        assert figure is not None
        assert figure.mean == pytest.approx(value)
        assert figure.low < value < figure.high
    assert (found.questions, found.verdicts, found.weakness) == (100, 100, "")


def test_errors_of_the_two_classes_are_not_mixed_up() -> None:
    found = figures(table(1, 3, 0, 4))
    assert found.missed is not None
    assert found.false_alarms is not None
    assert (found.missed.mean, found.false_alarms.mean) == (0.75, 0.0)
    assert found.confusion.relevant_as_irrelevant == 3


def test_a_judge_that_says_one_thing_of_all_is_weak_however_often_it_is_right() -> None:
    found = figures(table(90, 0, 10, 0))
    assert found.accuracy is not None
    assert found.kappa is not None
    assert (found.accuracy.mean, found.kappa.mean) == (0.9, 0.0)
    assert found.weakness == "κ is 0.00, under 0.2; it calls every passage relevant"
    assert "every passage irrelevant" in figures(table(0, 5, 0, 5)).weakness


def test_unscored_is_counted_by_reason_and_in_no_figure() -> None:
    missing = [Verdict("z", True, Score(None, "no answer"))] * 3
    found, without = figures([*table(4, 1, 1, 4), *missing]), figures(table(4, 1, 1, 4))
    assert found.unscored == {"no answer": 3}
    assert (found.accuracy, found.kappa) == (without.accuracy, without.kappa)
    assert (found.verdicts, found.confusion.scored, found.questions) == (13, 10, 11)
    assert found.unscored_share == 3 / 13
    assert not found.weakness


def test_mostly_unscored_is_weak_whatever_the_rest_says() -> None:
    missing = [Verdict("z", False, Score(None, "no answer"))] * 11
    found = figures([*table(5, 0, 0, 5), *missing])
    assert "11 of 21 verdicts" in found.weakness
    assert not figures([*table(5, 0, 0, 5), *missing[:10]]).weakness


def test_without_any_verdict_there_are_no_figures() -> None:
    found = figures([])
    assert (found.accuracy, found.kappa, found.missed, found.false_alarms) == (None,) * 4
    assert (found.verdicts, found.unscored_share, found.weakness) == (0, 0.0, "")


def test_one_class_has_no_kappa_and_no_error_of_the_other() -> None:
    found = figures(table(8, 0, 0, 0))
    assert found.kappa is None
    assert found.false_alarms is None
    assert found.accuracy is not None
    assert found.accuracy.mean == 1.0 > found.accuracy.low


@given(VERDICTS)
def test_figures_agree_with_a_plain_count(verdicts: list[Verdict]) -> None:
    found = figures(verdicts)
    scored = [(each.is_relevant, each.said.value == 1) for each in verdicts if each.said.value is not None]  # fmt: skip
    assert found.verdicts == len(verdicts)
    assert sum(found.unscored.values()) == len(verdicts) - len(scored)
    for figure, rows in (
        (found.accuracy, [truth == said for truth, said in scored]),
        (found.missed, [not said for truth, said in scored if truth]),
        (found.false_alarms, [said for truth, said in scored if not truth]),
    ):
        assert (figure is None) == (not rows)
        if figure is not None:
            assert figure.mean == pytest.approx(sum(rows) / len(rows))
            assert 0 <= figure.low <= figure.mean <= figure.high <= 1
    known = agreement([truth for truth, _ in scored], [said for _, said in scored]).kappa
    assert (found.kappa is None) == (known is None)
    if found.kappa is not None:
        assert found.kappa.mean == known
        assert -1 <= found.kappa.low <= found.kappa.mean <= found.kappa.high <= 1


@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_kappa_does_not_care_which_of_the_two_is_the_truth(
    counts: tuple[int, int, int, int],
) -> None:
    both, missed, false, neither = np.array([counts], dtype=float).T
    one, other = kappa_of(both, missed, false, neither)[0], kappa_of(both, false, missed, neither)[0]  # fmt: skip
    assert math.isnan(one) == math.isnan(other)
    if math.isnan(one):
        assert both == sum(counts) or neither == sum(counts)
    else:
        assert one == pytest.approx(other)
        assert -1 <= one <= 1
        # Both classes called by each other's name: the same.
        assert one == pytest.approx(kappa_of(neither, false, missed, both)[0])
        if not missed + false:
            assert one == 1


ROWS = st.lists(
    st.tuples(st.sampled_from([-0.5, 0.0, 0.1, 0.2, 0.5, 0.9]), st.booleans(), st.sampled_from("abcde"))
)  # fmt: skip


def test_it_lies_half_way_between_the_two_it_parts() -> None:
    found = best_threshold([0.9, 0.8, 0.4, 0.2], [True, True, False, False], list("abcd"))
    assert found is not None
    assert found.value == pytest.approx(0.6)
    assert (found.kappa, found.kappa_elsewhere) == (1.0, 1.0)


def test_chance_looks_worse_where_it_was_not_chosen() -> None:
    chance = random.Random(4)
    here, elsewhere = [], []
    for _ in range(60):
        cosines = [chance.random() for _ in range(40)]
        truths = [chance.random() < 0.5 for _ in cosines]
        found = best_threshold(cosines, truths, [str(at // 2) for at in range(40)])
        assert found is not None
        assert found.kappa_elsewhere is not None
        here.append(found.kappa)
        elsewhere.append(found.kappa_elsewhere)
    assert min(here) >= 0  # calling everything relevant gives as much
    assert mean(here) > 0.1
    assert abs(mean(elsewhere)) < 0.1


def test_one_class_or_no_vector_has_no_line() -> None:
    assert best_threshold([0.1, 0.2], [True, True], list("ab")) is None
    assert best_threshold([], [], []) is None
    assert best_threshold([float("nan"), 0.2], [True, False], list("ab")) is None


@given(ROWS)
def test_no_other_line_is_better(rows: list[tuple[float, bool, str]]) -> None:
    cosines, truths, questions = ([row[at] for row in rows] for at in range(3))
    found = best_threshold(cosines, truths, questions)  # type: ignore[arg-type]
    assert (found is None) == (len(set(truths)) < 2)
    if found is not None:
        lines = [-1.0, -0.2, 0.05, 0.15, 0.3, 0.7, found.value]
        values = [agreement(truths, [each >= line for each in cosines]).kappa for line in lines]  # type: ignore[operator]
        assert found.kappa == pytest.approx(max(value for value in values if value is not None))
        assert values[-1] == pytest.approx(found.kappa)


@given(ROWS.filter(bool))
def test_written_down_it_draws_the_same_line(rows: list[tuple[float, bool, str]]) -> None:
    cosines, truths, questions = ([row[at] for row in rows] for at in range(3))
    found = best_threshold([0.7 + 0.004 * each for each in cosines], truths, questions)  # type: ignore[arg-type,operator]
    if found is not None:
        assert len(repr(found.value)) <= 7
        called = [0.7 + 0.004 * each >= found.value for each in cosines]  # type: ignore[operator]
        assert agreement(truths, called).kappa == pytest.approx(found.kappa)  # type: ignore[arg-type]


def test_where_all_are_best_called_relevant_it_is_not_over_the_last() -> None:
    found = best_threshold([0.2001, 0.3, 0.9, 0.9], [True, False, False, True], list("abcd"))
    assert found is not None
    called = [each >= found.value for each in (0.2001, 0.3, 0.9, 0.9)]
    assert agreement([True, False, False, True], called).kappa == pytest.approx(found.kappa)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


def made(
    count: int, judge: str = "llm:x:1", *, questions: str = "abc", when: str = ""
) -> Calibration:
    verdicts = [Verdict(str(at), at % 2 == 0, Score(float(at % 3 == 0))) for at in range(count)]
    unscored = [Verdict("z", True, Score(None, "no “answer”"))]
    found = calibration(
        [*verdicts, *unscored], judge=judge, name="llm", against="spans", question_set=questions,
        cost=Cost(500, 1e5, 2e3, None, 3.5),
    )  # fmt: skip
    return replace(found, when=when)


def test_what_is_kept_is_known_to_the_last_digit() -> None:
    given = made(20, when="2024-05-01T10:00:00+00:00")
    assert known_calibration("llm:x:1") is None
    assert keep_calibration(given)
    assert known_calibration("llm:x:1") == given
    assert same_calibration("llm:x:1", "spans", "abc") == given
    assert known_calibration("llm:x:2") is None
    assert same_calibration("llm:x:1", "labels", "abc") is None


def test_of_two_the_one_on_these_questions_if_it_says_enough() -> None:
    own, few, large = made(20), made(19, questions="few"), made(40, questions="other")
    for each in (own, few, large):
        keep_calibration(each)
    for asked, scored in (("abc", 20), ("few", 40), ("", 40)):
        known = known_calibration("llm:x:1", asked)
        assert known is not None
        assert known.confusion.scored == scored


def test_the_day_is_noted() -> None:
    keep_calibration(made(4))
    known = known_calibration("llm:x:1")
    assert known is not None
    assert re.fullmatch(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", known.when)


def test_a_smaller_one_does_not_take_the_place_of_a_larger_one() -> None:
    large, small = made(20, when="2024-01-01"), made(10, when="2024-02-01")
    again = made(20, when="2024-03-01")
    keep_calibration(large)
    assert not keep_calibration(small)
    assert known_calibration("llm:x:1") == large
    assert keep_calibration(again)
    assert known_calibration("llm:x:1") == again


def test_of_several_sets_of_questions_the_largest_is_told_then_the_latest() -> None:
    early, late = made(12, questions="a", when="2024-01-01"), made(12, questions="b", when="2024-02-01")  # fmt: skip
    larger = made(14, questions="c", when="2023-01-01")
    for each in (late, early):
        keep_calibration(each)
    assert known_calibration("llm:x:1") == late
    keep_calibration(larger)
    assert known_calibration("llm:x:1") == larger
    assert same_calibration("llm:x:1", "spans", "a") == early


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"version": 9}', "[" * 100_000, '{"version": 1, "calibrations": 3}']
)  # fmt: skip
def test_a_damaged_file_is_no_file(home: Path, text: str) -> None:
    home.mkdir()
    calibrations_file().write_text(text)
    assert known_calibration("llm:x:1") is None
    keep_calibration(made(4))
    assert known_calibration("llm:x:1") is not None


def test_bytes_that_are_no_text_are_no_file(home: Path) -> None:
    home.mkdir()
    calibrations_file().write_bytes(b"\xff\xfe\x00")
    assert known_calibration("llm:x:1") is None


def test_nothing_half_written_is_left_behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_calibration(made(6))
    before = calibrations_file().read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ChunkwiseError, match=r"cannot write .*calibrations\.json"):
        keep_calibration(made(8))
    assert calibrations_file().read_bytes() == before
    assert [each.name for each in home.iterdir()] == ["calibrations.json"]

"""What is known of judges: the largest, then the latest; whole or not there, and never a reason to fail."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Score
from chunkwise.metrics.judges.calibration import Calibration, Cost, Verdict, calibration
from chunkwise.metrics.judges.calibration_store import (
    calibrations_file,
    keep_calibration,
    known_calibration,
    same_calibration,
)
from chunkwise.models.home import HOME_VARIABLE


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


_GOOD_AND_BAD = (made(6, "good"), made(6, "bad"))


@given(st.data())
def test_a_damaged_entry_does_not_take_the_others_with_it(data: st.DataObject) -> None:
    for each in _GOOD_AND_BAD:
        keep_calibration(each)
    told = json.loads(calibrations_file().read_text())
    row = next(each for each in told["calibrations"] if each["judge"] == "bad")
    name = data.draw(st.sampled_from(sorted(row)))
    if data.draw(st.booleans()):
        del row[name]
    else:
        row[name] = data.draw(st.sampled_from([[], 3, {"mean": "x"}, True, "y"]))
    calibrations_file().write_text(json.dumps(told))
    assert known_calibration("good") is not None
    known_calibration("bad")


def test_nothing_half_written_is_left_behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_calibration(made(6))
    before = calibrations_file().read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(ChunkwiseError, match=r"cannot write .*calibrations\.json"):
        keep_calibration(made(8))
    assert calibrations_file().read_bytes() == before
    assert [each.name for each in home.iterdir()] == ["calibrations.json"]

"""Labels are events: added by many at once, never changed, undone by another event, whole after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.labels.question_labels import question_labels
from chunkwise.labels.store import LabelProblem, LabelStore, standing
from chunkwise.tracking.history import History
from labels.made_labels import event, pool
from tables import cases
from untimed import HANG


def test_what_is_said_later_counts_and_what_was_said_before_stays(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.db")
    first, second = event(grade=1), event(grade=3)
    store.add([first, second])
    assert store.standing() == [second]
    store.add(event("undo", undoes=second.key))
    assert store.standing() == [first]
    assert len(store.events()) == 3


def test_a_label_that_is_sent_twice_is_kept_once(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.db")
    one = event()
    assert [store.add(one), store.add(one), store.add([one, one])] == [1, 0, 0]
    assert store.events() == [one]


@cases(
    "wrong",
    [
        {"grade": 4}, {"grade": None}, {"who": " "}, {"who": "a\nb"}, {"who": "x" * 81}, {"start": 5, "end": 5},
        {"start": -1}, {"doc_id": ""}, {"seconds": float("nan")}, {"kind": "grades"}, {"undoes": "k"}, {"key": ""},
        {"kind": "skip"}, {"query_id": ""},
    ],
)  # fmt: skip
def test_what_no_label_can_say_is_refused_and_nothing_of_it_is_kept(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    store = LabelStore(tmp_path / "labels.db")
    with pytest.raises(InvalidParameter):
        store.add([event(), replace(event(), **wrong)])
    assert store.events() == []


def test_one_takes_back_what_one_said_and_only_once(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.db")
    one = event()
    store.add(one)
    with pytest.raises(InvalidParameter, match="can't undo a label by ada"):
        store.add(event("undo", who="grace", undoes=one.key))
    with pytest.raises(UnknownName):
        store.add(event("undo", undoes="nothing"))
    undo = event("undo", undoes=one.key)
    store.add(undo)
    with pytest.raises(InvalidParameter, match="already"):
        store.add(event("undo", undoes=one.key))
    with pytest.raises(UnknownName):
        store.add(event("undo", undoes=undo.key))


def test_many_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    begin = threading.Barrier(4)

    def label(who: str) -> None:
        begin.wait(HANG)
        for number in range(8):
            LabelStore(path, wait=HANG).add(event(who=who, start=number, end=number + 5))

    threads = [threading.Thread(target=label, args=(f"person {at}",)) for at in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(HANG)
    assert len(LabelStore(path).standing()) == 32


_WRITER = """
import sys
sys.path[:0] = sys.argv[2:]
from labels.made_labels import event
from chunkwise.labels.store import LabelStore
store = LabelStore(sys.argv[1])
for number in range(10_000):
    store.add(event(start=number, end=number + 1, key=str(number)))
    print(number, flush=True)
"""


@pytest.mark.usefixtures("processes")
def test_kill_9_loses_no_label_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), *sys.path], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    told = [next(writer.stdout) for _ in range(5)]
    os.kill(writer.pid, signal.SIGKILL)
    told += list(writer.stdout)
    writer.stdout.close()
    writer.wait(HANG)
    keys = [each.key for each in LabelStore(path).events()]
    # One more may have been kept before it could be told.
    assert keys[: len(told)] == [line.strip() for line in told]
    assert len(keys) <= len(told) + 1
    assert LabelStore(path).add(event()) == 1


def test_another_programs_file_and_a_history_are_left_alone(tmp_path: Path) -> None:
    from tracking.made_runs import kept_run

    History(tmp_path / "history.db").add(kept_run({"q1": 0.5}))
    with pytest.raises(LabelProblem, match="another program"):
        LabelStore(tmp_path / "history.db").add(event())
    (tmp_path / "text.db").write_text("no database at all, but a text that is long enough " * 40)
    with pytest.raises(LabelProblem, match="damaged"):
        LabelStore(tmp_path / "text.db").events()


def test_hostile_texts_are_kept_to_the_letter(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.db")
    one = event(
        text="<script>\u202e'; drop table events; -- 👍🏽", who="Ðorđe O'Neil", doc_id="a/ä 'b.md"
    )
    store.add(one)
    assert store.events() == [one]


def test_nothing_answers_is_a_grade_of_0_for_the_whole_pool_and_unjudged_is_a_state() -> None:
    own = pool()
    (labels,) = question_labels([event(start=0, end=39, grade=2)], [own])
    assert len(labels.unjudged) == 2  # what was graded is no passage of the pool
    first = own.passages[0]
    grade = event(doc_id=first.doc_id, start=first.start, end=first.end, grade=1, pool=own.key)
    (labels,) = question_labels([grade], [own])
    assert [place.start for place in labels.unjudged] == [own.passages[1].start]
    assert not labels.is_done_by("ada")
    (labels,) = question_labels([grade, event("nothing", pool=own.key)], [own])
    assert labels.unjudged == ()
    assert [dict(each.grades) for each in labels.passages] == [{"ada": 1}, {"ada": 0}]
    assert labels.is_done_by("ada")
    assert not labels.is_done_by("grace")


def test_a_skip_is_no_label_and_can_be_undone() -> None:
    skip = event("skip")
    (labels,) = question_labels([skip], [pool()])
    assert labels.people == ()
    assert labels.is_done_by("ada")
    assert standing([skip, event("undo", undoes=skip.key)]) == []

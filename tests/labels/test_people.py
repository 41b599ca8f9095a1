"""Agreement with intervals, what is disputed, who is given what next."""

from __future__ import annotations

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Passage, Query
from chunkwise.labels.annotator_agreement import disputed_passages, label_agreement
from chunkwise.labels.assignment_and_progress import next_questions, people_needed, tells_apart
from chunkwise.labels.question_labels import question_labels
from chunkwise.labels.store import LabelEvent
from chunkwise.stats.agreement import agreement
from labels.made_labels import event, pool


def _two(grades: list[tuple[int, int]]) -> list[LabelEvent]:
    return [
        event(who=who, query=f"q{number}", grade=grade)
        for number, pair in enumerate(grades)
        for who, grade in zip(("ada", "grace"), pair, strict=True)
    ]


def test_agreement_is_that_of_stats_with_an_interval_around_it() -> None:
    grades = [(3, 3), (0, 0), (2, 3), (0, 1), (3, 0), (1, 1), (0, 0), (3, 2)]
    found = label_agreement(question_labels(_two(grades)))
    assert (found.questions, found.passages) == (8, 8)
    assert found.disputed == 4
    assert found.relevance_disputed == 1
    (pair,) = found.pairs
    wanted = agreement([one >= 2 for one, _ in grades], [two >= 2 for _, two in grades])
    assert pair.kappa is not None
    assert pair.kappa.mean == pytest.approx(wanted.kappa)
    assert pair.kappa.low < pair.kappa.mean < pair.kappa.high <= 1
    assert found.alpha is not None
    assert found.alpha.low < found.alpha.mean < found.alpha.high <= 1


def test_without_shared_passages_nothing_is_said_of_agreement() -> None:
    found = label_agreement(question_labels([event(), event(who="grace", query="q2")]))
    assert found.alpha is None
    assert found.pairs == ()
    assert found.passages == 0


def test_relevance_is_disputed_before_how_well_and_a_decision_ends_it() -> None:
    events = _two([(2, 3), (0, 3), (1, 1)])
    disputed = disputed_passages(question_labels(events))
    assert [own.query_id for own, _ in disputed] == ["q1", "q0"]
    assert [each.grade for _, each in disputed] == [None, 2]
    decided = [*events, event("adjudicate", who="eve", query="q1", grade=0)]
    labels = question_labels(decided)
    assert [own.query_id for own, _ in disputed_passages(labels)] == ["q0"]
    assert labels[1].passages[0].grade == 0


def test_a_share_of_the_questions_goes_to_two_the_same_for_everybody() -> None:
    ids = [f"question {number}" for number in range(2_000)]
    twice = [id for id in ids if people_needed(id) == 2]
    assert 330 < len(twice) < 470
    assert all(people_needed(id, 0.5) == 2 for id in twice)
    assert {people_needed(id, 0) for id in ids} == {1}
    assert {people_needed(id, 1) for id in ids} == {2}
    with pytest.raises(InvalidParameter):
        people_needed("q", 1.2)


def test_what_tells_two_configurations_apart_comes_first_and_what_others_are_at_last() -> None:
    queries = [Query(f"q{at}", "?") for at in range(4)]
    order = next_questions(queries, {}, "ada", share=0, informative={"q2": 0.9, "q1": 0.4})
    assert order == ["q2", "q1", "q0", "q3"]
    order = next_questions(queries, {}, "ada", share=0, opened={"grace": "q0", "ada": "q1"})
    assert order == ["q1", "q2", "q3", "q0"]


def test_a_question_is_given_out_until_enough_people_have_done_it() -> None:
    queries = [Query("q1", "?")]
    own = pool()
    done = {"q1": question_labels([event("nothing", pool=own.key)], [own])[0]}
    assert next_questions(queries, done, "ada", share=1) == []
    assert next_questions(queries, done, "grace", share=1) == ["q1"]
    assert next_questions(queries, done, "grace", share=0) == []
    begun = {"q1": question_labels([event(start=1, end=4)], [own])[0]}
    assert next_questions(queries, begun, "grace", share=0) == ["q1"]


def test_labels_tell_nothing_where_both_find_the_same_or_all_is_judged() -> None:
    one, other = Passage("a", 0, 320), Passage("b", 0, 320)
    assert tells_apart([one], [one]) == 0
    assert tells_apart([one], [other]) == 1
    assert tells_apart([one], [other], [one]) == 0.5
    assert tells_apart([one, other], [one]) == 0.5
    assert tells_apart([], []) == 0

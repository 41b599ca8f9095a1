"""Labels go out and come back: all of them as JSON lines, what stands in the forms of other tools, and as questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunkwise.labels.formats import (
    FORMATS,
    LabelFormat,
    export_labels,
    format_of,
    import_labels,
)
from chunkwise.labels.question_labels import labels_of
from chunkwise.labels.store import LabelProblem, LabelStore
from chunkwise.labels.to_testset import questions_from_labels, write_questions
from chunkwise.testsets.reading import read_testset
from labels.made_labels import document, event, pool
from tables import cases

NAMES = {"jsonl": "l.jsonl", "beir": "folder", "argilla": "a.json", "label-studio": "s.json"}


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    made = LabelStore(tmp_path / "labels.db")
    made.add_pool(pool())
    first = event(grade=1, seconds=2.5)
    made.add(
        [first, event("undo", undoes=first.key), event(grade=3, seconds=1.25, text="tab\there 👍")]
    )
    made.add(
        [
            event(who="grace", grade=2),
            event("gold", start=5, end=20, text="gold"),
            event("skip", query="q2"),
        ]
    )
    made.add(
        [event(query="q3", grade=0, doc_id="b\u202e.md"), event("adjudicate", who="eve", grade=3)]
    )
    return made


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_exported_comes_back_once(
    store: LabelStore, tmp_path: Path, format: LabelFormat
) -> None:
    path = tmp_path / NAMES[format]
    count, lost = export_labels(store, path, format)
    assert format_of(path) == format
    assert bool(lost) == (format != "jsonl")
    back = LabelStore(tmp_path / "back.db")
    assert import_labels(back, path, format) == (count, count)
    assert import_labels(back, path, format) == (0, count)
    if format == "jsonl":
        assert back.events() == store.events()
    ours = {
        (own.query_id, each.place): each.grade for own in labels_of(store) for each in own.passages
    }
    theirs = {
        (own.query_id, each.place): each.grade for own in labels_of(back) for each in own.passages
    }
    assert theirs == ours
    if format in ("argilla", "label-studio"):
        assert labels_of(back)[0].gold == labels_of(store)[0].gold
        (judged,) = [each for each in labels_of(back)[0].passages if each.place.start == 0]
        assert dict(judged.grades) == {"ada": 3, "grace": 2}


@cases(
    "name, content",
    [
        ("l.jsonl", '{"key": "a"}'), ("l.jsonl", "no json"), ("a.json", '[{"fields": {}}]'), ("a.json", '{"a": 1}'),
        ("s.json", '[{"data": {}, "annotations": [{"completed_by": 1, "result": [{"value": {"choices": ["9"]}}]}]}]'),
    ],
)  # fmt: skip
def test_what_is_no_label_is_told_with_its_place_and_nothing_is_kept(
    tmp_path: Path, name: str, content: str
) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    back = LabelStore(tmp_path / "back.db")
    with pytest.raises(LabelProblem, match=str(name)):
        import_labels(back, path, format_of(path))
    assert not back.exists()


def test_labels_become_questions_that_evaluation_reads(store: LabelStore, tmp_path: Path) -> None:
    labels = labels_of(store)
    made = questions_from_labels(labels)
    first, third = made.queries
    assert [(each.start, each.end) for each in first.references] == [
        (5, 20)
    ]  # the gold, not the passage around it
    assert [(each.grade, each.relevant) for each in first.labels] == [(3, True)]
    assert third.references == ()
    assert third.labels[0].grade == 0
    assert made.pools["q1"]["unjudged"] == 2
    assert made.unjudged == 2
    path = tmp_path / "questions.json"
    own = document()
    write_questions(made, path, [own], labels)
    rows = json.loads(path.read_text("utf-8"))
    assert rows[0]["references"][0]["text"] == own.text[5:20]
    assert rows[0]["pool"]["depth"] == 10
    assert len(rows[0]["pool"]["left"]) == 2
    problems: list[object] = []
    read = read_testset(str(path), [own], problems.append)
    assert read.queries[0].labels == first.labels
    assert read.queries[0].references == first.references
    assert not any("pool" in str(each) or "grade" in str(each) for each in problems)


def test_nothing_answers_it_makes_a_question_without_an_answer(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.db")
    own = store.add_pool(pool())
    store.add(event("nothing", pool=own.key))
    (query,) = questions_from_labels(labels_of(store)).queries
    assert query.types == ("unanswerable",)
    assert query.references == ()
    assert [each.grade for each in query.labels] == [0, 0]


def test_what_as_many_call_relevant_as_not_is_left_out_and_counted(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.db")
    store.add([event(grade=3), event(who="grace", grade=0), event(start=50, end=60, grade=2)])
    made = questions_from_labels(labels_of(store))
    assert made.disputed == 1
    assert [(each.start, each.end) for each in made.queries[0].references] == [(50, 60)]

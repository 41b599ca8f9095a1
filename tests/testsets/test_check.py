"""What is worth knowing about a test set whose references stand where they should."""

import json
from dataclasses import replace
from pathlib import Path

from chunkwise.core import Document, Fact, Label, Passage, Query, Reference
from chunkwise.testsets import Problem, TestSet, check_testset
from chunkwise.testsets.check import REMARKS
from chunkwise.testsets.reading import read_testset
from chunkwise.testsets.testset import hash_of
from tables import cases

SENTENCE = "The head of the station approves all leave in writing."
A = Document("a", f"Leave. {SENTENCE} {'x ' * 3000}End. 天地 {SENTENCE}")
B = Document("b", f"Other. {SENTENCE} It is said thus.")
FIRST = Reference("a", 7, 7 + len(SENTENCE))
AGAIN = Passage("a", A.text.rindex(SENTENCE), len(A.text))
OTHER = Passage("b", 7, 7 + len(SENTENCE))


def kinds(*queries: Query) -> list[tuple[str, str]]:
    testset = TestSet(queries)
    return [(each.query_id, each.kind) for each in check_testset(testset, [A, B])[1]]


def test_a_sound_set_is_left_as_it_is() -> None:
    whole = Reference(*FIRST.places[0], (AGAIN, OTHER))
    testset = TestSet((Query("1", "Who approves leave?", (whole,)),), "t", "h")
    repaired, problems = check_testset(testset, [A, B])
    assert problems == []
    assert repaired.queries == testset.queries
    assert repaired.hash == hash_of(testset.queries)


def test_the_same_text_elsewhere_is_offered() -> None:
    query = Query("1", "Who approves leave?", (FIRST,))
    repaired, problems = check_testset(TestSet((query,), where={"1": "q.json, line 1"}), [A, B])
    (problem,) = problems
    assert (problem.kind, problem.where, problem.repaired) == (
        "same_text_elsewhere",
        "q.json, line 1",
        True,
    )
    assert "also occurs in" in problem.text
    assert repaired.queries[0].references == (Reference(*FIRST.places[0], (AGAIN, OTHER)),)
    assert check_testset(repaired, [A, B])[1] == []


def test_what_another_reference_of_the_question_covers_is_not_offered() -> None:
    query = Query("1", "x", (FIRST, Reference(*AGAIN), Reference(*OTHER)))
    assert kinds(query) == []


def test_short_texts_say_nothing_elsewhere() -> None:
    assert kinds(Query("1", "x", (Reference("a", 7, 30),))) == []


@cases(
    "query, is_told",
    [
        (Query("1", "x"), True),
        (Query("1", "x", types=("unanswerable",)), True),
        (Query("1", "x", answer="yes"), False),
        (Query("1", "x", facts=(Fact("yes"),)), False),
        (Query("1", "x", labels=(Label("a", 0, 3, True),)), False),
    ],
)
def test_questions_nothing_answers(query: Query, is_told: bool) -> None:
    assert kinds(query) == [("1", "no_references")] * is_told


def test_long_and_short_references() -> None:
    long, short = Reference("a", 100, 4101), Reference("a", 0, 2)
    han = Reference("a", A.text.index("天地"), A.text.index("天地") + 2)
    assert kinds(Query("1", "x", (long,)), Query("2", "y", (short,)), Query("3", "z", (han,))) == [
        ("1", "long_reference"),
        ("2", "short_reference"),
    ]
    assert kinds(Query("1", "x", (Reference("a", 100, 4100),))) == []


def test_references_that_overlap() -> None:
    def references(*spans: tuple[int, int]) -> tuple[Reference, ...]:
        return tuple(Reference("b", *span) for span in spans)

    assert kinds(Query("1", "x", references((0, 5), (5, 9)))) == []
    assert kinds(Query("1", "x", (Reference("a", 0, 5), Reference("b", 0, 5)))) == []
    assert kinds(Query("1", "x", references((0, 6), (5, 9)))) == [("1", "overlapping")]
    assert kinds(Query("1", "x", references((20, 25), (0, 40), (30, 35)))) == [
        ("1", "overlapping"),
        ("1", "overlapping"),
    ]


def test_questions_asked_twice() -> None:
    one = Query("1", "Who approves the leave?", answer="a")
    same = Query("2", "  who APPROVES\nthe leave", answer="a")
    turned = Query("3", "The leave: who approves?", answer="a")
    other = Query("4", "Who approves the leaves?", answer="a")
    testset = TestSet((one, same, turned, other))
    _, problems = check_testset(replace(testset, where={"1": "q.json, line 4"}), [A])
    assert [(each.query_id, each.kind) for each in problems] == [
        ("2", "duplicate_question"),
        ("3", "similar_question"),
    ]
    assert "duplicate of q.json, line 4, with the same references" in problems[0].text
    assert [each.kind in REMARKS for each in problems] == [False, True]
    # Questions of signs alone are told apart by them.
    assert kinds(Query("1", "?", answer="a"), Query("2", "!", answer="a")) == []


def test_reading_and_checking_know_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = [{"query": "a"}, {"query": "lost", "relevant_text": "not there"}, {"query": "A"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    problems: list[Problem] = []
    read = read_testset(str(path), [A, B], problems.append)
    assert [each.kind for each in problems] == ["not_found"]
    assert read.where == {"1": f"{path}, line 1", "3": f"{path}, line 3"}
    _, more = check_testset(read, [A, B])
    assert [(each.kind, each.where) for each in more] == [
        ("no_references", f"{path}, line 1"),
        ("no_references", f"{path}, line 3"),
        ("duplicate_question", f"{path}, line 3"),
    ]

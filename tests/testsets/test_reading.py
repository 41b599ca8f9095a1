"""A file of questions becomes places in documents; what is wrong is told, what is beyond doubt mended."""

import json
import os
from pathlib import Path
from threading import Thread

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Label, Passage, Query, Reference
from chunkwise.testsets import Problem, TestSet, read_questions, read_testset
from chunkwise.testsets.formats.chunkwise import ChunkwiseFormat
from tables import cases

LEAVE = Document(
    "leave.md",
    "# Leave\n\nAsk the head in writing. It is paid in full.\n\n“Night shifts” count twice.",
)
HOURS = Document("hours.txt", "From nine to five. Ask the head in writing. " + "Yes. " * 1001)
DOCUMENTS = [LEAVE, HOURS]


def read(path: Path, *rows: object) -> tuple[TestSet, list[Problem]]:
    path.write_text(json.dumps(list(rows)))
    problems: list[Problem] = []
    return read_testset(str(path), DOCUMENTS, problems.append), problems


def only(path: Path, row: object) -> tuple[Query | None, list[Problem]]:
    testset, problems = read(path, row)
    return (testset.queries[0] if testset.queries else None), problems


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "q.json"


def test_quoted_passages_become_references(path: Path) -> None:
    query, problems = only(
        path,
        {"query": "Who?", "relevant_text": ["Ask the head in writing.", '"Night shifts"\ncount']},
    )
    assert problems == []
    assert query == Query(
        "1", "Who?",
        (Reference("leave.md", 9, 33, (Passage("hours.txt", 19, 43),)), Reference("leave.md", 55, 75)),
    )  # fmt: skip
    named, _ = only(
        path, {"query": "Who?", "relevant_text": "Ask the head in writing.", "file": "hours"}
    )
    assert named is not None
    assert named.references[0].doc_id == "hours.txt"


def test_places_are_verified(path: Path) -> None:
    good = {"doc_id": "leave", "start": 9, "end": 33, "text": "Ask the head\nin writing."}
    assert only(path, {"query": "x", "references": [good]}) == (
        Query("1", "x", (Reference("leave.md", 9, 33),)),
        [],
    )


@cases(
    "reference, kind, said",
    [
        ({"doc_id": "leave.md", "start": 0, "end": 900}, "outside", "which has 82 characters"),
        ({"doc_id": "leave.md", "start": -3, "end": 9}, "outside", "-3–9 of 'leave.md'"),
        ({"doc_id": "leave.md", "start": 5, "end": 5}, "outside", "which is empty"),
        ({"doc_id": "leave.md", "start": 9, "end": 2}, "outside", "which is empty"),
        ({"doc_id": "leave.md", "start": 0, "end": 10**99}, "outside", "a huge number"),
        ({"doc_id": "levae.md", "start": 0, "end": 9}, "unknown_document", "near: 'leave.md'"),
        ({"start": 0, "end": 9}, "unknown_document", "doc_id"),
        ({"text": "It is payed in full."}, "not_found", "isn't in any document"),
        ({"text": "It is paid", "doc_id": "hours.txt"}, "not_found", "'hours.txt' but in 'leave.md'"),
        ({"text": "Yes."}, "ambiguous", 'reference 2, "Yes.", is in more than 1,000 places; give its document, or'),
        ({"text": "Yes.", "doc_id": "hours"}, "ambiguous", "more than 1,000 places; use a longer quote"),
        ({"text": "Yes", "doc_id": "none"}, "ambiguous", "unknown document 'none'"),
        (
            {"doc_id": "leave.md", "start": 0, "end": 9, "text": "It is payed in full."},
            "different_text",
            '"It is payed in full.", but 0–9 of \'leave.md\' is "# Leave"',
        ),
    ],
)  # fmt: skip
def test_a_question_without_its_place_is_left_out_and_told(
    path: Path, reference: dict[str, object], kind: str, said: str
) -> None:
    good = {"text": "It is paid in full."}
    testset, problems = read(
        path, {"query": "x", "references": [good, reference]}, {"query": "y", "references": [good]}
    )
    assert [query.text for query in testset.queries] == ["y"]
    (problem,) = problems
    assert problem.kind == kind
    assert said in problem.text
    assert problem.dropped
    assert not problem.repaired
    assert problem.where == f"{path}, entry 1"
    assert problem.query_id == "1"
    if "payed" in str(reference):
        assert problem.nearest == Passage("leave.md", 34, 53)


@cases(
    "reference, kind",
    [
        ({"doc_id": "leave.md", "start": 0, "end": 19, "text": "It is paid in full."}, "different_text"),
        ({"doc_id": "leave.md", "start": 500, "end": 519, "text": "It is paid in full."}, "outside"),
        ({"doc_id": "gone.md", "start": 0, "end": 19, "text": "It is paid in full."}, "unknown_document"),
    ],
)  # fmt: skip
def test_what_moved_is_found_again(path: Path, reference: dict[str, object], kind: str) -> None:
    query, problems = only(path, {"query": "x", "references": [reference]})
    assert query is not None
    assert query.references == (Reference("leave.md", 34, 53),)
    (problem,) = problems
    assert (problem.kind, problem.repaired, problem.dropped) == (kind, True, False)
    assert problem.text.endswith("; it is at 34–53 of 'leave.md'")


def test_an_unknown_document_is_not_guessed_from_a_repeated_text(path: Path) -> None:
    reference = {"doc_id": "gone.md", "start": 0, "end": 24, "text": "Ask the head in writing."}
    query, problems = only(path, {"query": "x", "references": [reference]})
    assert query is None
    assert problems[0].kind == "ambiguous"
    assert "unknown document 'gone.md'" in problems[0].text


def test_a_bad_alternative_or_label_is_left_out_and_the_question_stays(path: Path) -> None:
    query, problems = only(
        path,
        {
            "query": "x",
            "references": [
                {"doc_id": "leave.md", "start": 9, "end": 33,
                 "alternatives": [{"doc_id": "hours.txt", "start": 0, "end": 50_000},
                                  {"doc_id": "hours.txt", "start": 0, "end": 24, "text": "Ask the head in writing."}]}
            ],
            "labels": [{"doc_id": "nowhere", "start": 0, "end": 3, "relevant": 1},
                       {"doc_id": "leave.md", "start": 0, "end": 7, "relevant": 0},
                       {"text": "Ask the head in writing.", "relevant": 1}],
        },
    )  # fmt: skip
    assert query is not None
    (reference,) = query.references
    assert reference.alternatives == (Passage("hours.txt", 19, 43),)
    assert query.labels == (
        Label("leave.md", 0, 7, False),
        Label("leave.md", 9, 33, True),
        Label("hours.txt", 19, 43, True),
    )
    assert [(each.kind, each.repaired, each.dropped) for each in problems] == [
        ("outside", False, False),
        ("different_text", True, False),
        ("unknown_document", False, False),
    ]


def test_a_quote_alone_is_enough_for_an_alternative(path: Path) -> None:
    elsewhere = "Ask the head in writing."
    everywhere = [Passage("leave.md", 9, 33), Passage("hours.txt", 19, 43)]
    for reference, others in (
        ({"doc_id": "leave.md", "start": 34, "end": 53, "alternatives": ["not there", elsewhere]}, everywhere),
        ({"text": "It is paid in full.", "alternatives": ["not there", {"text": elsewhere}]}, everywhere),
        ({"text": "It is paid in full.", "alternatives": ["not there", {"doc_id": "hours.txt", "start": 19}]},
         [Passage("hours.txt", 19, 44)]),
    ):  # fmt: skip
        query, problems = only(path, {"query": "x", "references": [reference]})
        assert query is not None
        (found,) = query.references
        assert found.places == (Passage("leave.md", 34, 53), *others)
        assert [(each.kind, each.dropped) for each in problems] == [("not_found", False)]
        assert problems[0].text.startswith(
            'reference 1, alternative 1, "not there", isn\'t in any document'
        )


def test_alternatives_keep_their_numbers_where_some_are_quoted(path: Path) -> None:
    others = ["nowhere one", {"start": 900, "end": 950}, "nowhere three"]
    reference = {"doc_id": "leave.md", "start": 34, "end": 53, "alternatives": others}
    _, problems = only(path, {"query": "x", "references": [reference]})
    told = sorted(each.text.partition(", alternative ")[2][0] for each in problems)
    assert told == ["1", "2", "3"]


def test_ids_and_empty_questions(path: Path) -> None:
    testset, problems = read(path, {"query": "a"}, {"id": 1, "query": "b"}, {"query": " "}, 3)
    assert [query.text for query in testset.queries] == ["a"]
    assert [each.kind for each in problems] == ["duplicate_id", "empty_question", "unreadable"]
    assert all(each.dropped for each in problems)
    assert problems[0].text == f"duplicate id '1', used by {path}, entry 1; ids must be unique"


def test_problems_come_in_the_order_of_the_file(path: Path) -> None:
    lost = {"query": "x", "relevant_text": "nowhere at all"}
    _, problems = read(path, lost, 3, lost, {"query": ""}, lost)
    assert [each.where.rpartition(" ")[2] for each in problems] == ["1", "2", "3", "4", "5"]


def test_without_documents_nothing_is_looked_for(path: Path) -> None:
    rows = [{"query": "x", "references": [{"doc_id": "nowhere", "start": 1, "end": 2}]}, "y"]
    path.write_text(json.dumps(rows))
    problems: list[Problem] = []
    testset = read_testset(str(path), None, problems.append)
    assert testset.queries == (
        Query("1", "x", (Reference("nowhere", 1, 2),)),
        Query("2", "y"),
    )
    assert problems == []


def test_the_hash_is_that_of_the_questions_not_of_the_file(path: Path, tmp_path: Path) -> None:
    quote = {"query": "x", "relevant_text": "It is paid in full.", "expected": ["full"]}
    place = {"references": [{"end": 53, "start": 34, "doc_id": "leave"}], "query": "x",
             "facts": [{"fact": "full"}], "id": "1", "note": "unknown to us"}  # fmt: skip
    one, other = read(path, quote)[0], read(path, place)[0]
    assert len(one.hash) == 64
    assert one.hash == other.hash
    path.write_text(json.dumps(place) + "\n")
    lines = read_testset(str(path), DOCUMENTS, lambda problem: None)
    assert lines.hash == one.hash
    written = tmp_path / "written.json"
    ChunkwiseFormat().write(one, DOCUMENTS, written)
    assert read_testset(str(written), DOCUMENTS, lambda problem: None).hash == one.hash
    assert read(path, {**place, "query": "y"})[0].hash != one.hash
    assert read(path, {**place, "facts": ["half"]})[0].hash != one.hash


def test_a_file_written_for_older_documents_is_repaired(tmp_path: Path, path: Path) -> None:
    testset, _ = read(
        path,
        {
            "query": "x",
            "relevant_text": ["It is paid in full.", "“Night shifts”"],
            "labels": [{"text": "Ask the head", "doc_id": "leave.md", "relevant": 1}],
        },
    )
    ChunkwiseFormat().write(testset, DOCUMENTS, tmp_path / "old.json")
    newer = [Document("leave.md", f"A new beginning.\n\n{LEAVE.text}"), HOURS]
    problems: list[Problem] = []
    moved = read_testset(str(tmp_path / "old.json"), newer, problems.append)
    assert [each.repaired for each in problems] == [True] * 3
    (query,) = moved.queries
    assert [newer[0].text[each.start : each.end] for each in query.references] == [
        "It is paid in full.",
        "“Night shifts”",
    ]
    assert [(each.doc_id, each.start, each.relevant) for each in query.labels] == [
        ("leave.md", 27, True),
        ("hours.txt", 19, True),
    ]


def test_questions_are_asked_whatever_is_said_of_their_answers(path: Path) -> None:
    path.write_text(json.dumps([{"query": "a", "references": 7}, {"query": "b", "expected": [[]]}]))
    bad: list[str] = []
    assert read_questions(str(path), bad.append) == [Query("1", "a"), Query("2", "b")]
    assert bad == []
    path.write_bytes(b"what is datum\nca\xfcseway\ntide\n")
    assert [query.text for query in read_questions(str(path), bad.append)] == [
        "what is datum",
        "tide",
    ]
    assert bad[0].startswith(f"{path}, line 2: not UTF-8")


def test_a_pipe_is_read_from_its_beginning(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = json.dumps([{"query": "x", "relevant_text": "It is paid in full."}, "y"])
    for read_pipe in (
        lambda: read_questions(str(pipe), lambda problem: None),
        lambda: read_testset(str(pipe), DOCUMENTS, lambda problem: None).queries,
    ):
        writer = Thread(target=pipe.write_text, args=(text,))
        writer.start()
        assert [query.text for query in read_pipe()] == ["x", "y"]
        writer.join()


def test_no_file_and_no_questions(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="cannot read the questions in"):
        read_testset(str(tmp_path / "none.json"), DOCUMENTS, lambda problem: None)
    (tmp_path / "empty.json").write_text("")
    assert len(read_testset(str(tmp_path / "empty.json"), DOCUMENTS, lambda problem: None)) == 0


def remarks(path: Path, documents: list[Document], *rows: object) -> tuple[TestSet, list[Problem]]:
    path.write_text(json.dumps(list(rows)))
    told: list[Problem] = []

    def wrong(problem: Problem) -> None:
        raise AssertionError(problem)

    return read_testset(str(path), documents, wrong, on_remark=told.append), told


def test_a_repeated_passage_is_kept_however_often_it_stands_there(path: Path) -> None:
    notice = "Contact the office before ten in the morning."
    pages = [Document(f"p{n}", f"Page {n}. {notice}") for n in range(30)]
    testset, told = remarks(path, pages, {"query": "When?", "relevant_text": notice})
    assert len(testset.queries[0].references[0].places) == 30
    (remark,) = told
    assert (remark.kind, remark.query_id, remark.dropped) == ("several_places", "1", False)
    assert "30 times in 30 documents" in remark.text
    assert remarks(path, pages[:20], {"query": "When?", "relevant_text": notice})[1] == []


@cases(
    "quote, count",
    [
        ({"text": "leave"}, 2),
        ({"text": "leave", "doc_id": "a"}, 2),
        ({"text": "head of the department here"}, 0),
        ({"text": "a_long_name_without_any_space_in_it"}, 2),
        ({"text": "休假"}, 2),
        ({"text": "部门主管批准所有的休假"}, 0),
        ({"text": "only once"}, 0),
    ],
)
def test_short_quotes_in_several_places_are_worth_a_remark(
    path: Path, quote: dict[str, str], count: int
) -> None:
    text = "leave; head of the department here; a_long_name_without_any_space_in_it; 部门主管批准所有的休假。"
    documents = [Document("a", f"only once {text}"), Document("b", text)]
    _, told = remarks(path, documents, {"query": "?", "references": [quote]})
    assert [each.kind for each in told] == ["several_places"] * (count > 0)
    if count:
        assert f"occurs {count} times in 2 documents" in told[0].text
        assert ("give its document, or a longer quote" in told[0].text) is ("doc_id" not in quote)


def test_references_come_in_the_order_of_the_file(path: Path) -> None:
    place = {"doc_id": "leave.md", "start": 9, "end": 33}
    query, _ = only(path, {"query": "x", "references": ["It is paid in full.", place]})
    assert query is not None
    assert query.references == (Reference("leave.md", 34, 53), Reference("leave.md", 9, 33))
    labels = [{"text": "nowhere", "relevant": 1}, {**place, "relevant": 0, "end": 99},
              {"text": "It is paid in full.", "relevant": 1}, {**place, "relevant": 0}]  # fmt: skip
    query, problems = only(path, {"query": "x", "labels": labels})
    assert query is not None
    assert query.labels == (Label("leave.md", 34, 53, True), Label("leave.md", 9, 33, False))
    assert [each.text.partition(" is")[0].partition(",")[0] for each in problems] == [
        "label 1",
        "label 2",
    ]


def test_unread_fields_are_counted_over_the_file(path: Path) -> None:
    rows = [
        {"query": f"{n}?", "answer": "x", "level": n + 1, "note": "y" * (n % 2)} for n in range(4)
    ]
    _, told = remarks(path, DOCUMENTS, *rows)
    (remark,) = told
    assert (remark.kind, remark.where) == ("unread_fields", str(path))
    assert remark.text == "unknown fields: 'level' (4 questions), 'note' (2 questions)"
    _, problems = read(path, {"query": "x", "relevent_text": "y"}, {"query": "z", "color": "y"})
    assert [(each.kind, each.dropped) for each in problems] == [("misspelled_field", False)]


def test_a_wrong_answer_start_of_squad_is_mended(path: Path) -> None:
    qas = [{"id": "a", "question": "?", "answers": [{"text": "in full", "answer_start": 3}] * 2}]
    article = {"title": "leave.md", "paragraphs": [{"context": LEAVE.text, "qas": qas}]}
    path.write_text(json.dumps({"data": [article]}))
    problems: list[Problem] = []
    testset = read_testset(str(path), [LEAVE], problems.append)
    assert testset.queries[0].references == (Reference("leave.md", 45, 52),)
    assert not problems

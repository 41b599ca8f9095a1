"""Our own form and the short ones people write; what cannot be read is a line, the rest goes on."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Fact, Label, Passage, Query, Reference, Span
from chunkwise.testsets.formats.chunkwise import ChunkwiseFormat, read_drafts
from chunkwise.testsets.question_record import draft_of
from chunkwise.testsets.testset import (
    Draft,
    GivenPassage,
    TestSet,
    Unreadable,
)
from how_many import examples
from tables import cases


def draft(value: object) -> Draft:
    found = draft_of(value, 7, "q.json, entry 7")
    assert isinstance(found, Draft), found
    return found


def quote(number: int, text: str, document: str = "") -> GivenPassage:
    return GivenPassage("reference", f"passage {number}", document, text=text)


def texts(made: Draft) -> list[str]:
    return [passage.text for passage in made.passages]


def reason(value: object) -> str:
    found = draft_of(value, 7, "q.json, entry 7")
    assert isinstance(found, Unreadable), found
    assert found.where == "q.json, entry 7"
    return found.reason


def read(path: Path, text: str | bytes) -> list[Draft | Unreadable]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_drafts(str(path)))


def test_the_simplest_question() -> None:
    assert draft({"query": "Who?", "relevant_text": "The head."}) == Draft(
        "q.json, entry 7", Query("7", "Who?"), (quote(1, "The head."),)
    )
    several = draft({"Question": "Who?", "relevant_text": ["a", "b"], "document": "leave.md"})
    assert several.passages == (quote(1, "a", "leave.md"), quote(2, "b", "leave.md"))


@cases("field", ["query_id", "id", "_id", "qid", "question_id", "QID "])
def test_ids_have_many_names(field: str) -> None:
    assert draft({field: "a", "query": "Who?"}).query.id == "a"
    assert draft({field: 4, "question": "Who?"}).query.id == "4"
    assert draft({field: None, "text": "Who?"}).query.id == "7"


def test_answers_and_expected_facts() -> None:
    facts = ["nine", ["five", "5"], {"fact": "noon", "aliases": ["12"]}, 8]
    query = draft({"id": "a", "query": "When?", "answer": "At nine", "expected": facts}).query
    assert query.answer == "At nine"
    assert query.facts == (Fact("nine"), Fact("five", ("5",)), Fact("noon", ("12",)), Fact("8"))
    assert draft({"query": "When?", "expected": "nine"}).query.facts == (Fact("nine"),)


def test_the_whole_form() -> None:
    found = draft(
        {
            "query_id": 3,
            "query": "Who?",
            "references": [
                {"doc_id": "a", "start": 1, "end": 5, "text": "head",
                 "alternatives": [{"doc_id": "b", "start": 2, "end": 6, "text": "head"}]},
                {"text": "to be found", "doc_id": "c"},
                {"span": [4, 9], "file": "d"},
            ],
            "same_text_elsewhere": [{"of": 1, "doc_id": "e", "start": 0, "end": 5}],
            "type": "list",
            "labels": [{"doc_id": "a", "start": 0, "end": 9, "relevant": 1}, {"text": "no", "relevant": 0}],
            "split": "test",
            "paragraph": {"doc_id": "a", "start": 0, "end": 742},
        }
    )  # fmt: skip
    assert found.query == Query(
        "3", "Who?",
        (Reference("a", 1, 5, (Passage("b", 2, 6),)), Reference("d", 4, 9, (Passage("e", 0, 5),))),
        None, (), ("list",), (Label("a", 0, 9, True),), "test",
    )  # fmt: skip
    assert texts(found) == ["head", "head", "to be found", "", "", "", "no"]
    assert found.passages[2] == GivenPassage("reference", "reference 2", "c", text="to be found")
    assert found.passages[-1] == GivenPassage("label", "label 2", text="no")


def test_answers_of_other_people_are_alternatives_of_a_single_reference() -> None:
    one = {"doc_id": "a", "start": 0, "end": 3}
    other = {"doc_id": "a", "start": 0, "end": 9}
    single = draft({"query": "x", "references": [one], "alt_references": [other, one, other]})
    assert single.query.references == (Reference("a", 0, 3, (Passage("a", 0, 9),)),)
    two = draft({"query": "x", "references": [one, other], "alt_references": [one]})
    assert [each.alternatives for each in two.query.references] == [(), ()]


def test_an_alternative_may_be_a_quote_and_may_stand_beside_one() -> None:
    placed = {"doc_id": "a", "start": 0, "end": 3}
    found = draft(
        {
            "query": "x",
            "references": [
                {**placed, "alternatives": ["said elsewhere", {"start": 7, "end": 9}]},
                {"text": "found", "doc_id": "b", "alternatives": [{"start": 4}, {**placed, "text": "abc"}]},
            ],
        }
    )  # fmt: skip
    assert found.query.references == (Reference("a", 0, 3, (Passage("a", 7, 9),)),)
    names = [
        "reference 1, alternative 1",
        "reference 2, alternative 1",
        "reference 2, alternative 2",
    ]
    assert [found.passages[at] for at in (1, 4, 5)] == [
        GivenPassage("alternative", names[0], text="said elsewhere"),
        GivenPassage("alternative", names[1], "b", start=4),
        GivenPassage("alternative", names[2], "a", Span(0, 3), "abc"),
    ]
    other = draft({"query": "x", "relevant_text": "found", "alt_references": ["found", "or this"]})
    assert texts(other) == ["found", "or this"]


def test_what_is_marked_as_unanswerable() -> None:
    assert draft({"query": "x", "is_impossible": True}).query.types == ("unanswerable",)
    assert draft({"query": "x", "answerable": False, "tags": ["a"]}).query.types == (
        "a",
        "unanswerable",
    )
    assert draft({"query": "x", "is_impossible": False}).query.types == ()


@cases(
    "value, said",
    [
        (7, "neither a question nor a record"),
        (None, "neither a question nor a record"),
        ([], "neither a question nor a record"),
        ({}, "no question text among nothing"),
        ({"query": 7}, "no question text among 'query'"),
        ({"query": "x", "id": [1]}, "its id is a list of 1"),
        ({"query": "x", "references": [3]}, "reference 1 is 3; expected text"),
        (
            {"query": "x", "references": [{}]},
            "reference 1 has no text, start or chunk id",
        ),
        ({"query": "x", "references": [{"end": 1}]}, "reference 1: start is missing"),
        ({"query": "x", "references": [{"start": "1", "end": 2}]}, "reference 1: start is '1'"),
        ({"query": "x", "references": [{"start": True, "end": 2}]}, "reference 1: start is True"),
        ({"query": "x", "references": [{"start": 1.5, "end": 2}]}, "reference 1: start is 1.5"),
        ({"query": "x", "relevant_text": " "}, "passage 1 is empty"),
        ({"query": "x", "relevant_text": {"a": 1}}, "passage 1 has no text"),
        ({"query": "x", "expected": [{}]}, "its expected fact is missing"),
        ({"query": "x", "expected": [""]}, "an expected fact is empty"),
        ({"query": "x", "expected": [[]]}, "its expected fact is missing"),
        ({"query": "x", "answer": {"a": {}}}, None),
        ({"query": "x", "answer": True}, "its answer is True"),
        ({"query": "x", "type": [{}]}, "its type is a record of 0"),
        ({"query": "x", "labels": ["x"]}, "label 1 is 'x'"),
        (
            {"query": "x", "labels": [{"text": "a"}]},
            "label 1: relevant is missing; expected 0 or 1",
        ),
        ({"query": "x", "same_text_elsewhere": [{"of": 0}]}, "`of` is 0; expected"),
        (
            {"query": "x", "references": [{"start": 0, "end": 1, "alternatives": [" "]}]},
            "reference 1, alternative 1 is empty",
        ),
        (
            {"query": "x", "references": [{"text": "a", "alternatives": [{"page": 3}]}]},
            "reference 1, alternative 1 has no text, start or chunk id",
        ),
    ],
)
def test_wrong_types_are_told(value: object, said: str | None) -> None:
    if said is None:
        assert draft(value).query.answer is None
    else:
        assert said in reason(value)
    if isinstance(value, dict) and isinstance(value.get("query"), str) and "id" not in value:
        # Whoever only asks the question does not care.
        assert isinstance(draft_of(value, 1, "", question_alone=True), Draft)


def test_huge_numbers_and_halves_of_characters() -> None:
    huge = draft({"query": "x", "references": [{"doc_id": "a", "start": 0, "end": 10**300}]})
    assert huge.query.references[0].end == 10**300
    assert "a number with more than 40 digits" in reason({"query": "x", "references": [10**300]})
    assert draft({"query": "a\ud83d", "relevant_text": "\ud83d b"}) == Draft(
        "q.json, entry 7", Query("7", "a\ufffd"), (quote(1, "\ufffd b"),)
    )


ROWS = [{"query": "a?"}, {"query": "b?", "id": "x"}]


@cases(
    "text",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\ufeff" + json.dumps(ROWS),
        "\n\n".join(map(json.dumps, ROWS)) + "\n",
        "\r\n".join(map(json.dumps, ROWS)),
        json.dumps({"version": 1, "queries": ROWS}),
        json.dumps({"Questions": ROWS}, indent=1),
        '{"queries": [\n' + ",\n".join(map(json.dumps, ROWS)) + "\n]}\n",
        json.dumps({"tests": ROWS}),
        json.dumps({"queries": {"1": "a?", "x": {"query": "b?"}}}),
        json.dumps(ROWS).encode("utf-16"),
        "\n".join(map(json.dumps, ROWS)).encode("utf-16"),
        "\n".join(map(json.dumps, ROWS)).encode("utf-32"),
    ],
)
def test_a_list_lines_or_an_object(tmp_path: Path, text: str | bytes) -> None:
    found = read(tmp_path / "q.json", text)
    queries = [each.query for each in found if isinstance(each, Draft)]
    assert [query.text for query in queries] == ["a?", "b?"]
    assert queries[1].id == "x"
    assert queries[0].id in ("1", "3")
    assert ChunkwiseFormat().accepts(tmp_path / "q.json", (tmp_path / "q.json").read_bytes())


def test_one_question_is_a_file_too(tmp_path: Path) -> None:
    for text in ('{"query": "a?"}', '{\n "query": "a?"\n}\n', '["a?"]'):
        (only,) = read(tmp_path / "q.json", text)
        assert isinstance(only, Draft)
        assert only.query.text == "a?"


@cases("text", ["", " \n\n", "[]", "[ ]\n", "\ufeff"])
def test_an_empty_file_has_no_questions(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "q.json", text) == []


def test_a_broken_line_does_not_break_the_others(tmp_path: Path) -> None:
    deep = '{"query": ' + "[" * 100_000
    digits = '{"query": "x", "id": ' + "9" * 5000 + "}"
    lines = [b'{"query": "a?"}', b"{broken", "{\"query\": \"ü\"}".encode("latin-1"), b"", deep.encode(),
             digits.encode(), b'{"query": "n?", "answer": NaN, "id": NaN}', b"[1]", b'{"query": "z?"} x',
             b'{"query": "e?"}']  # fmt: skip
    found = read(tmp_path / "q.jsonl", b"\n".join(lines))
    bad = {
        each.where.rpartition(" ")[2]: each.reason for each in found if isinstance(each, Unreadable)
    }
    assert list(bad) == ["2", "3", "5", "6", "8", "9"]
    assert "not UTF-8 (byte 11 of the line)" in bad["3"]
    assert "nested too deeply" in bad["5"]
    assert [each.query for each in found if isinstance(each, Draft)] == [
        Query("1", "a?"),
        Query("7", "n?"),
        Query("10", "e?"),
    ]


def test_the_first_line_may_be_the_broken_one(tmp_path: Path) -> None:
    for first in ('{"query": "a?"', '{"query": '):
        found = read(tmp_path / "q.jsonl", f'{first}\n{{"query": "b?"}}\nx\n{{"query": "c?"}}')
        assert [type(each) for each in found] == [Unreadable, Draft, Unreadable, Draft]


@cases("end", ["", ",", ', {"query": ', ", nothing]", "] x", ", " + "[" * 100_000])
def test_a_list_that_breaks_off_keeps_what_was_read(tmp_path: Path, end: str) -> None:
    found = read(tmp_path / "q.json", '[{"query": "a?"},\n{"query": "b?"}' + end)
    assert [type(each) for each in found] == [Draft, Draft, Unreadable]
    assert isinstance(found[1], Draft)
    assert found[1].where.endswith("q.json, entry 2 (line 2)")
    assert isinstance(found[2], Unreadable)
    assert "fix it, or write one record per line" in found[2].reason
    assert "nested too deeply" in found[2].reason or "line 2 column" in found[2].reason


@cases(
    "data, said",
    [
        (b'["\xe4", "\0"]', "cannot be read: a binary file"),
        (b"%PDF-1.4", "neither a JSON list nor JSON lines"),
        (b'{"version": 1, "other": []}', "no list of questions among 'version', 'other'"),
        ('["a?"]'.encode("utf-16")[:-1], "cannot be read|are not UTF-8"),
    ],
)
def test_a_file_of_another_kind_is_an_error(tmp_path: Path, data: bytes, said: str) -> None:
    import re

    with pytest.raises(ChunkwiseError) as error:
        read(tmp_path / "q.json", data)
    assert any(part in str(error.value) for part in said.split("|")), error.value
    assert not re.search("Error|Traceback", str(error.value))


def test_no_file_at_all(tmp_path: Path) -> None:
    for name in (str(tmp_path), str(tmp_path / "none.json"), "a\0b"):
        with pytest.raises(ChunkwiseError, match=r"cannot read .*: "):
            list(read_drafts(name))


LATIN = ['{"query": "a?"}', '{"query": "f\xfcr?"}', '{"query": "b?"}']


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_characters_without_a_mark_are_told(tmp_path: Path, encoding: str) -> None:
    for text in (json.dumps(ROWS), '{"query": "a?"}\n', "plain\n"):
        with pytest.raises(ChunkwiseError, match=f"{encoding.upper()} without a byte order mark"):
            read(tmp_path / "q.json", text.encode(encoding))


def test_passages_under_the_names_of_other_tools() -> None:
    text = {"question": "a?", "context": "It is paid.", "answer": "yes"}
    assert draft(text).passages == (quote(1, "It is paid."),)
    assert texts(draft(text | {"context": ["b", "c"]})) == ["b", "c"]
    assert draft({"user_input": "a?", "reference_contexts": ["b"], "reference": "c"}) == Draft(
        "q.json, entry 7", Query("7", "a?", answer="c"), (quote(1, "b"),)
    )
    assert texts(draft({"query": "a?", "contexts": ["b"]})) == ["b"]
    # What a system was given, and what is no text, is left alone.
    for other in ({"contexts": ["b"], "answer": "c"}, {"context": {"title": ["b"]}}):
        found = draft({"query": "a?", **other})
        assert not found.passages
    both = draft({"query": "a?", "relevant_text": "b", "context": "c", "note": "", "x": None})
    assert texts(both) == ["b"]


@cases(
    "row, unread",
    [
        ({"query": "a?", "relevent_text": "b"}, "relevent_text"),
        ({"query": "a?", "Refrences": []}, None),
        ({"query": "a?", "Refrences": ["b"]}, "refrences"),
        ({"query": "a?", "color": "b"}, "color"),
        ({"query": "a?", "ids": 3}, "ids"),
    ],
)
def test_fields_that_nobody_reads(row: dict[str, object], unread: str | None) -> None:
    assert draft(row).unread == (() if unread is None else (unread,))


def test_passages_are_numbered_as_they_stand_in_the_file() -> None:
    place = {"doc_id": "a", "start": 0, "end": 3}
    found = draft({"query": "x", "references": ["b", place, "c"], "relevant_text": [place, "d"]})
    assert [each.name for each in found.passages] == [
        "reference 1", "reference 2", "reference 3", "passage 1", "passage 2",
    ]  # fmt: skip


def test_halves_of_characters_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    asked = TestSet((Query("a\ud800", "b\udc00?", (Reference("d", 0, 2),), answer="\ud83d"),))
    ChunkwiseFormat().write(asked, [Document("d", "\udfff x")], path)
    (found,) = read_drafts(str(path))
    assert isinstance(found, Draft)
    assert (found.query.id, found.query.text) == ("a\ufffd", "b\ufffd?")


PLACES = st.builds(Passage, st.sampled_from(["a", "b"]), st.integers(0, 5), st.integers(6, 9))
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
QUERIES = st.builds(
    Query,
    NAMES,
    NAMES,
    st.lists(
        st.builds(
            lambda place, others: Reference(*place, tuple(others)),
            PLACES,
            st.lists(PLACES, max_size=2, unique=True),
        ).filter(lambda reference: reference.places[0] not in reference.alternatives),
        max_size=2,
    ).map(tuple),
    st.none() | NAMES,
    st.lists(st.builds(Fact, NAMES.map(str.strip).filter(bool), st.lists(NAMES).map(tuple)), max_size=2).map(tuple),
    st.lists(NAMES, max_size=2, unique=True).map(tuple),
    st.lists(
        st.builds(lambda place, good: Label(*place, good), PLACES, st.booleans()), max_size=2, unique=True,
    ).map(tuple),
    st.sampled_from(["", "test", "validation"]),
)  # fmt: skip


@settings(max_examples=examples(20), deadline=None)
@given(queries=st.lists(QUERIES, max_size=3))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, queries: list[Query]
) -> None:
    path = tmp_path_factory.mktemp("written") / "q.json"
    documents = [Document("a", "0123456789"), Document("b", "abcdefghij")]
    ChunkwiseFormat().write(TestSet(tuple(queries)), documents, path)
    drafts = list(ChunkwiseFormat().read(path))
    assert [each.query for each in drafts if isinstance(each, Draft)] == queries
    for each in drafts:
        assert isinstance(each, Draft)
        for passage in each.passages:
            body = {"a": "0123456789", "b": "abcdefghij"}[passage.document]
            assert passage.span
            assert passage.text == body[passage.span.start : passage.span.end]

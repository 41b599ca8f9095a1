"""SQuAD: articles become documents, answers places in them."""

import json
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Passage, Query, Reference
from chunkwise.testsets.formats.squad import SquadFormat
from chunkwise.testsets.testset import Unreadable
from tables import cases
from testsets.formats.format_files import queries, read, write

FIRST = "Normandy is a region of France. France is a country."
SECOND = "The 😀 lamp is lit at dusk. At dusk, Émile eats."


def squad(tmp_path: Path, *questions: object, context: str = SECOND, **article: object) -> Path:
    path = tmp_path / "squad.json"
    paragraphs = [{"context": FIRST, "qas": []}, {"context": context, "qas": list(questions)}]
    data = [{"title": "Lamps", "paragraphs": paragraphs, **article}]
    path.write_text(json.dumps({"version": "v2.0", "data": data}), encoding="utf-8-sig")
    return path


def asks(*answers: tuple[str, object], **more: object) -> dict[str, object]:
    said = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": "q", "question": "When?", "answers": said, **more}


def texts(path: Path) -> dict[str, str]:
    found = list(SquadFormat().documents(path))
    assert not any(isinstance(each, Unreadable) for each in found)
    return {each.id: each.text for each in found if isinstance(each, Document)}


def test_an_answer_is_a_place_in_its_article(tmp_path: Path) -> None:
    path = squad(tmp_path, asks(("dusk", SECOND.index("dusk"))))
    (query,) = queries("squad", path)
    (reference,) = query.references
    assert texts(path) == {"Lamps": f"{FIRST}\n\n{SECOND}"}
    assert texts(path)["Lamps"][reference.start : reference.end] == "dusk" == query.answer
    assert reference.start == len(FIRST) + 2 + SECOND.index("dusk")


def test_several_answers_are_alternatives_and_equal_ones_are_one(tmp_path: Path) -> None:
    at = SECOND.index("dusk")
    path = squad(tmp_path, asks(("dusk", at), ("at dusk", at - 3), ("dusk", at)))
    (reference,) = queries("squad", path)[0].references
    start = len(FIRST) + 2 + at
    assert reference.alternatives == (Passage("Lamps", start - 3, start + 4),)


@pytest.mark.parametrize("unit", ["utf-8", "utf-16-le"])
def test_offsets_in_bytes_or_units_become_characters(tmp_path: Path, unit: str) -> None:
    at = SECOND.index("At dusk")
    counted = len(SECOND[:at].encode(unit)) // (2 if unit == "utf-16-le" else 1)
    assert counted != at
    path = squad(tmp_path, asks(("At dusk", counted)))
    (reference,) = queries("squad", path)[0].references
    assert texts(path)["Lamps"][reference.start : reference.end] == "At dusk"


def test_an_answer_elsewhere_is_found_if_it_is_there_once(tmp_path: Path) -> None:
    path = squad(tmp_path, asks(("Émile", 3)), asks(("dusk", 3)), asks(("dawn", 3)))
    drafts, bad = read("squad", path)
    assert [draft.passages[0].text for draft in drafts] == ["Émile"]
    assert [each.where.endswith(f"question {n}") for n, each in enumerate(bad, 2)] == [True, True]
    assert "several other offsets" in bad[0].reason
    assert "nor elsewhere" in bad[1].reason


def test_an_impossible_question_is_tagged(tmp_path: Path) -> None:
    path = squad(tmp_path, asks(("dusk", 1), is_impossible=True, plausible_answers=[]))
    assert queries("squad", path) == [Query("q", "When?", types=("unanswerable",))]


def test_articles_of_one_title_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "squad.json"
    article = {"title": "Same", "paragraphs": [{"context": "One.", "qas": [asks(("One", 0))]}]}
    path.write_text(json.dumps({"data": [article, article, {**article, "title": None}]}))
    assert [q.references[0].doc_id for q in queries("squad", path)] == [
        "Same",
        "Same~2",
        "article 3",
    ]
    assert list(texts(path)) == ["Same", "Same~2", "article 3"]


@cases(
    "question, reason",
    [
        (7, "a number, not a record"),
        ({"id": "q", "answers": []}, "no 'question'"),
        ({"id": ["q"], "question": "?"}, "not an id"),
        (asks(("dusk", -1)), "answer_start is -1"),
        (asks(("dusk", True)), "answer_start is True"),
        ({"question": "?", "answers": {"text": "x"}}, "a record, not a list"),
        ({"question": "?", "answers": ["x"]}, "a text, not a record"),
    ],
)
def test_a_bad_question_is_told_and_the_rest_goes_on(
    tmp_path: Path, question: object, reason: str
) -> None:
    drafts, bad = read("squad", squad(tmp_path, question, asks(("dusk", 22))))
    assert len(drafts) == 1
    assert reason in bad[0].reason
    assert "article 1, paragraph 2, question 1" in bad[0].where


def test_bad_paragraphs_do_not_move_the_others(tmp_path: Path) -> None:
    path = tmp_path / "squad.json"
    good = {"context": "Lit at dusk.", "qas": [asks(("dusk", 7))]}
    paragraphs = [3, {"qas": []}, good, {"context": "x", "qas": 3}, good]
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}, 5, {"paragraphs": 1}]}))
    drafts, bad = read("squad", path)
    assert len(bad) == 5
    text = texts(path)["article 1"]
    places = [draft.query.references[0] for draft in drafts]
    assert [text[each.start : each.end] for each in places] == ["dusk", "dusk"]


@cases("text", ['{"data": [', '{"data": 3}', "[]", '{"data": "\ud800"', "[" * 9999])
def test_a_broken_file_is_an_error_with_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "squad.json"
    path.write_bytes(text.encode("utf-8", "replace"))
    with pytest.raises(ChunkwiseError, match=r"squad\.json"):
        read("squad", path)


def test_what_squad_cannot_hold_is_said(tmp_path: Path) -> None:
    documents = [Document("a", "One two."), Document("b", "Three four.")]
    one, two, three = Reference("a", 0, 3), Reference("a", 4, 7), Reference("b", 0, 5)
    asked = [
        Query("1", "?", (one, two)),
        Query("2", "?", (one, three), answer="Both"),
        Query("3", "? Gone", (Reference("gone", 0, 1),)),
        Query("4", "?"),
        Query("5", "?", types=("unanswerable",)),
    ]
    lines = write("squad", tmp_path / "s.json", asked, documents)
    assert lines == [
        "SQuAD can't represent references as they are: 2 questions ('1', '2')",
        "SQuAD can't represent answers: question '2'",
        "SQuAD can't represent the questions themselves: question '3'",
    ]
    assert [query.id for query in queries("squad", tmp_path / "s.json")] == ["1", "2", "4", "5"]
    with pytest.raises(ChunkwiseError, match="--documents"):
        write("squad", tmp_path / "s.json", asked, None)

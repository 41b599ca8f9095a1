"""References into a file's own texts, found again in documents of the user."""

import json
from pathlib import Path

import pytest

from chunkwise.core import Block, Document, Passage, Query, Reference
from chunkwise.testsets.formats import FORMATS, WHOLE
from chunkwise.testsets.reading import drafts_in, with_user_places
from chunkwise.testsets.testset import Draft, Unreadable, given_references
from tables import cases

FIRST = "Normandy is a region of France."
SECOND = "France is a country. Its capital is Paris."
OWN = Document(
    "Normandy",
    f"{FIRST}\n\n{SECOND}",
    source="squad.json",
    blocks=(Block("paragraph", 0, 31), Block("paragraph", 33, 75)),
)


def place(document: Document, text: str, nth: int = 0) -> Passage:
    start = -1
    for _ in range(nth + 1):
        start = document.text.index(text, start + 1)
    return Passage(document.id, start, start + len(text))


def draft(*places: Passage, texts: tuple[str, ...] = ()) -> Draft:
    return Draft("f, entry 1", Query("q", "Where?"), (*given_references([places], texts),))


def texts(made: Draft) -> list[str]:
    return [passage.text for passage in made.passages if passage.role == "reference"]


def only(made: Draft, *documents: Document, own: Document = OWN) -> Draft:
    (found,) = with_user_places([made], [own], documents)
    assert isinstance(found, Draft)
    return found


def test_a_word_is_found_through_its_paragraph() -> None:
    page = Document("page.txt", f"France, France, France.\n{SECOND}\nFrance. {FIRST} France.")
    made = draft(place(OWN, "France"), texts=("France",))
    found = only(made, page)
    assert found.query.references == (Reference(*place(page, "France", 5)),)
    assert page.text[: found.query.references[0].start].endswith("a region of ")
    assert texts(found) == ["France"]


def test_a_paragraph_that_is_repeated_gives_alternatives() -> None:
    pages = [Document("a", FIRST), Document("b", f"x {FIRST}")]
    found = only(draft(place(OWN, "region")), *pages)
    assert found.query.references[0].places == (
        place(pages[0], "region"),
        place(pages[1], "region"),
    )


def test_that_of_the_file_it_comes_from_is_first() -> None:
    own = Document("p1", FIRST, source="data/b.txt")
    pages = [Document("a.txt", FIRST), Document("deep/b.txt", f"x {FIRST}")]
    found = only(draft(Passage("p1", 0, 31)), *pages, own=own)
    assert [each.doc_id for each in found.query.references[0].places] == ["deep/b.txt", "a.txt"]


def test_what_is_nowhere_becomes_a_quote() -> None:
    found = only(draft(place(OWN, "Paris")), Document("a", "Paris."))
    assert found.query.references == ()
    assert texts(found) == [SECOND]


def test_a_paragraph_that_is_spaced_otherwise_is_found_by_counting() -> None:
    own = Document("p", "He said: “no no”, and left. No no no.")
    page = Document("a", 'x no He said:  "no\nno", and left.\nNo no no.')
    found = only(draft(place(own, "no", 3)), page, own=own)
    (reference,) = found.query.references
    assert page.text[: reference.end].endswith("No no no")
    assert page.text[reference.start : reference.end] == "no"
    assert texts(only(draft(place(own, "no”")), page, own=own)) == [own.text]


def test_an_alternative_that_is_found_stands_in_for_the_first() -> None:
    page = Document("a", SECOND)
    made = draft(place(OWN, "region"), place(OWN, "Paris"), texts=("region",))
    found = only(made, page)
    assert found.query.references == (Reference(*place(page, "Paris")),)
    assert texts(found) == ["Paris"]


def test_a_document_of_the_same_name_and_text_is_left_alone() -> None:
    given = Document("Normandy", OWN.text + " More.")
    made = draft(place(OWN, "France"), place(OWN, "Paris"), texts=("France",))
    assert only(made, given, Document("copy", OWN.text)) == made


@cases("end", [WHOLE, 7])
def test_what_the_file_has_no_text_for_is_left_alone(end: int) -> None:
    made = draft(Passage("unknown", 0, end))
    assert only(made, Document("a", FIRST)) == made


def test_a_passage_that_is_everywhere_becomes_a_quote() -> None:
    own = Document("p", "x")
    found = only(draft(Passage("p", 0, 1)), Document("a", "x " * 1001), own=own)
    assert texts(found) == ["x"]
    often = only(draft(Passage("p", 0, 1)), Document("a", "x " * 50), own=own)
    assert len(often.query.references[0].places) == 50


def test_the_unreadable_goes_by() -> None:
    bad = Unreadable("f, entry 2", "no JSON")
    assert list(with_user_places([bad], [OWN], [])) == [bad]


def test_whole_documents_are_measured_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 gone 1\n2 0 b 0\n")
    (tmp_path / "topics.tsv").write_text("1\tWhere?\n2\tWhen?\n")
    drafts = drafts_in(
        FORMATS["trec"], tmp_path, [Document("deep/a.txt", FIRST), Document("b", "x")]
    )
    found = [each.query.references for each in drafts if isinstance(each, Draft)]
    assert found == [(Reference("deep/a.txt", 0, 31), Reference("gone", 0, WHOLE)), ()]


def test_without_documents_drafts_are_as_the_file_has_them(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "topics.tsv").write_text("1\tWhere?\n")
    trec = FORMATS["trec"]
    assert list(drafts_in(trec, tmp_path, None)) == list(trec.read(tmp_path))


@pytest.mark.parametrize("has_corpus", [True, False])
def test_a_corpus_of_other_names_is_found_by_its_texts(tmp_path: Path, has_corpus: bool) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "Where?"}\n')
    (tmp_path / "qrels.tsv").write_text("1\t77\t1\n")
    if has_corpus:
        (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "77", "text": FIRST}))
    page = Document("page.txt", f"A title.\n\n{FIRST}")
    (found,) = drafts_in(FORMATS["beir"], tmp_path, [page])
    assert isinstance(found, Draft)
    expected = Reference("page.txt", 10, 41) if has_corpus else Reference("77", 0, WHOLE)
    assert found.query.references == (expected,)

"""Passages are found where they stand, and nowhere else."""

import sys
import unicodedata
from collections.abc import Sequence
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document, Passage
from chunkwise.documents.loader import with_blank_head
from chunkwise.testsets.locate import (
    Ambiguous,
    Located,
    LocateResult,
    Missing,
    SoughtPassage,
    locate,
)
from chunkwise.text.find_passages import Tolerance, occurrences
from how_many import examples
from tables import cases

LEAVE = Document(
    "leave.md", "# Leave\n\nAsk the head in writing. It’s paid — in\nfull. Ask the head in writing."
)
HOURS = Document(
    "hours.txt", "From nine to five. Café at noon. Ask the head in writing. Often, ten."
)


def found(text: str, *documents: Document, named: int | None = None) -> LocateResult:
    return locate([SoughtPassage(text, named)], documents or (LEAVE, HOURS))[0]


def texts(outcome: LocateResult, *documents: Document) -> list[str]:
    assert isinstance(outcome, Located)
    known = {document.id: document.text for document in documents or (LEAVE, HOURS)}
    return [known[place.doc_id][place.start : place.end] for place in outcome.places]


def test_every_place_of_a_repeated_passage_in_document_order() -> None:
    outcome = found("Ask the head in writing.")
    assert outcome == Located(
        (
            Passage("leave.md", 9, 33),
            Passage("leave.md", 55, 79),
            Passage("hours.txt", 33, 57),
        ),
        "exact",
    )
    assert texts(outcome) == ["Ask the head in writing."] * 3


def test_the_document_that_is_named_comes_first() -> None:
    outcome = found("Ask the head in writing.", named=1)
    assert isinstance(outcome, Located)
    assert [place.doc_id for place in outcome.places] == ["hours.txt", "leave.md", "leave.md"]


@cases(
    "passage, stands_as, tolerance",
    [
        ("It's paid - in full.", "It’s paid — in\nfull.", "signs"),
        ("  paid\t—\n\nin  full ", "paid — in\nfull", "signs"),
        ("Cafe\u0301 at noon", "Café at noon", "signs"),
        ("CAFÉ AT NOON", "Café at noon", "case"),
        ("café at\u00a0noon", "Café at noon", "case"),
    ],
)
def test_signs_may_differ_and_case_last(passage: str, stands_as: str, tolerance: Tolerance) -> None:
    outcome = found(passage)
    assert texts(outcome) == [stands_as]
    assert isinstance(outcome, Located)
    assert outcome.tolerance == tolerance


@cases(
    "text, passage, stands_as",
    [
        ("die Straße hier", "STRASSE", "Straße"),
        ("an oﬃce here", "office", "oﬃce"),
        ("co\u00adopera\u200btion now", "cooperation", "co\u00adopera\u200btion"),
        ("Ｆｕｌｌ width", "Full width", "Ｆｕｌｌ width"),
        ("«Ja», sagte er", '"Ja", sagte', "«Ja», sagte"),
        ("한국어 문장", unicodedata.normalize("NFD", "한국어"), "한국어"),
    ],
)
def test_the_span_is_that_of_the_original(text: str, passage: str, stands_as: str) -> None:
    document = Document("d", text)
    assert texts(found(passage, document), document) == [stands_as]


@cases("text, passage", [("a café", "CAFE"), ("oﬃce", "OFF"), ("cafe\u0301", "CAFE")])
def test_no_character_is_cut_in_two(text: str, passage: str) -> None:
    assert isinstance(found(passage, Document("d", text)), Missing)


def test_a_word_is_meant_where_it_is_one() -> None:
    assert texts(found("ten")) == ["ten"]
    outcome = found("ten")
    assert isinstance(outcome, Located)
    assert outcome.places[0].start == len(HOURS.text) - 4
    # Where no word is, a part of one is what was quoted.
    assert texts(found("fte")) == ["fte"]
    han = Document("h", "天地玄黃宇宙洪荒")
    assert texts(found("玄黃", han), han) == ["玄黃"]


def test_too_many_places_say_nothing() -> None:
    outcome = found("yes", Document("d", "yes and no. " * 1001))
    assert isinstance(outcome, Ambiguous)
    assert not outcome.different
    document = Document("d", "yes and no. " * 1000)
    all_of_them = found("yes", document)
    assert isinstance(all_of_them, Located)
    assert [each.start for each in all_of_them.places] == list(range(0, 12_000, 12))
    other = Document("e", "yes")
    named = found("yes", document, other, named=1)
    assert named == Located((Passage("e", 0, 3),), "exact")


def test_places_with_different_texts_are_not_chosen_from() -> None:
    document = Document("d", "lamps and LAMPS")
    outcome = found("Lamps", document)
    assert isinstance(outcome, Ambiguous)
    assert outcome.different
    assert texts(found("LAMPS", document), document) == ["LAMPS"]
    # Another line break is no other text.
    spaced = Document("d", "the “lamp”\nis lit; the “lamp” is lit")
    assert len(texts(found('the "lamp" is lit', spaced), spaced)) == 2
    # The document that was named decides.
    other = Document("e", "lamps")
    named = found("Lamps", document, other, named=1)
    assert texts(named, document, other)[0] == "lamps"


def test_what_stands_elsewhere_is_not_taken_for_what_was_named() -> None:
    outcome = found("Café at noon", named=0)
    assert outcome == Missing((Passage("hours.txt", 19, 31),))


@cases(
    "passage, nearest",
    [
        ("Ask the hand in writing. It’s paid", "Ask the head in writing. It’s paid"),
        ("From nine till five.", "From nine to five."),
        ("Caffé at", "Café at"),
    ],
)
def test_the_nearest_text_is_there_to_be_pasted(passage: str, nearest: str) -> None:
    outcome = found(passage)
    assert isinstance(outcome, Missing)
    assert outcome.nearest is not None
    text = {"leave.md": LEAVE.text, "hours.txt": HOURS.text}[outcome.nearest.doc_id]
    assert text[outcome.nearest.start : outcome.nearest.end] == nearest


def test_of_two_places_alike_the_nearest_is_in_the_document_that_was_named() -> None:
    documents = [
        Document(str(number), "The lamp is lit at dusk by the keeper.") for number in range(3)
    ]
    for number in range(3):
        outcome = found("The lamp was lit at dusk by the keeper.", *documents, named=number)
        assert outcome == Missing((), Passage(str(number), 0, 38))


def test_the_nearest_place_is_in_the_document_that_shares_the_words() -> None:
    before, document = Document("a", "x"), Document("b", "The lamp is lit at dusk by the keeper.")
    outcome = found(
        "Nobody knows why, but the lamp is lit at dawn by the keeper.", before, document
    )
    assert isinstance(outcome, Missing)
    assert outcome.nearest == Passage("b", 0, 38)


def test_the_nearest_of_many_that_begin_alike() -> None:
    clauses = [f"In the agreement between the parties, clause {number}." for number in range(300)]
    document = Document("d", " ".join(clauses))
    lost = [clause.replace("parties", "partys") for clause in clauses[::37]]
    for outcome, clause in zip(
        locate([SoughtPassage(each) for each in lost], [document]), clauses[::37], strict=True
    ):
        assert isinstance(outcome, Missing)
        assert outcome.nearest is not None
        assert document.text[outcome.nearest.start : outcome.nearest.end] == clause


def test_nearest_in_a_script_without_spaces() -> None:
    document = Document("zh", "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。寒來暑往，秋收冬藏。")
    outcome = found("日月盈仄，辰宿列張", document)
    assert isinstance(outcome, Missing)
    assert outcome.nearest == Passage("zh", 10, 19)


@cases("passage", ["Zwölf Boxkämpfer jagen", "x", "!!!", " ", "", "\x00", "\ud800"])
def test_nothing_is_near_what_is_like_nothing(passage: str) -> None:
    assert found(passage) == Missing()
    assert found(passage, Document("empty", "")) == Missing()
    assert locate([SoughtPassage(passage)], []) == [Missing()]


def test_passages_of_all_sizes_are_found_at_each_of_their_places() -> None:
    text = "".join(f"sentence {number} ends here. " for number in range(30))
    documents = [Document("a", "short"), Document("b", text), Document("c", "ends")]
    spans = [
        (start, size) for start in range(0, len(text) - 90, 7) for size in (1, 5, 17, 64, 65, 90)
    ]
    passages = [text[start : start + size] for start, size in spans]
    at: dict[int, list[int]] = {number: [] for number in range(len(passages))}
    for each in occurrences(passages, documents, "exact"):
        at[each.passage] += each.start[each.document == 1].tolist()
    for number, passage in enumerate(passages):
        naive = [start for start in range(len(text)) if text.startswith(passage, start)]
        assert at[number] == (naive if passage.strip() else [])


WORDS = st.text(alphabet="ab .", max_size=40)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(st.text("ab .", min_size=1), max_size=6))
def test_exact_places_are_those_a_naive_search_finds(
    bodies: list[str], passages: list[str]
) -> None:
    documents = [Document(str(number), body) for number, body in enumerate(bodies)]
    places = {
        (each.passage, int(document), int(start), int(end))
        for each in occurrences(passages, documents, "exact")
        for document, start, end in zip(each.document, each.start, each.end, strict=True)
    }
    naive = {
        (number, at, start, start + len(passage))
        for number, passage in enumerate(passages)
        if passage.strip()
        for at, body in enumerate(bodies)
        for start in range(len(body))
        if body.startswith(passage, start)
    }
    assert places == naive


SIGNS = st.text(alphabet='aé"“”-–\n \u0301ﬁif', max_size=14)


def naive_fold(text: str) -> str:
    for one, other in (("“", '"'), ("”", '"'), ("–", "-")):
        text = text.replace(one, other)
    return " ".join(unicodedata.normalize("NFKD", text).split())


@settings(max_examples=examples(75), deadline=None)
@given(SIGNS, SIGNS)
def test_tolerant_places_are_those_a_naive_search_finds(body: str, passage: str) -> None:
    wanted = naive_fold(passage)
    places = {
        (int(start), int(end))
        for each in occurrences([passage], [Document("d", body)], "signs")
        for start, end in zip(each.start, each.end, strict=True)
    }
    naive = {
        (start, end)
        for start in range(len(body))
        for end in range(start + 1, len(body) + 1)
        if wanted
        and naive_fold(body[start:end]) == wanted
        and not body[start].isspace()
        and not body[end - 1].isspace()
        and not unicodedata.combining(body[end : end + 1] or " ")
    }
    assert places == naive


@settings(max_examples=examples(25), deadline=None)
@given(st.text(max_size=60), st.data())
def test_any_piece_of_any_text_is_found(body: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, len(body)))
    document = Document("d", body)
    for outcome in locate([SoughtPassage(body[start:end]), SoughtPassage(body[::-1])], [document]):
        if isinstance(outcome, Located):
            assert all(0 <= place.start < place.end <= len(body) for place in outcome.places)
    if body[start:end].strip():
        assert not isinstance(found(body[start:end], document), Missing)


def calls(passages: Sequence[str], documents: Sequence[Document]) -> int:
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    wanted = [SoughtPassage(passage) for passage in passages]
    sys.setprofile(note)
    try:
        outcomes = locate(wanted, documents)
    finally:
        sys.setprofile(None)
    assert sum(isinstance(outcome, Located) for outcome in outcomes) == len(passages) * 3 // 4
    return count


@pytest.mark.unwatched
def test_four_times_the_passages_and_documents_is_four_times_the_work() -> None:
    def inputs(size: int) -> tuple[list[str], list[Document]]:
        bodies = [
            " ".join(f"word{(number * 7919 + at * 104_729) % 99_991}" for at in range(60))
            for number in range(size)
        ]
        documents = [Document(str(number), body) for number, body in enumerate(bodies)]
        passages = [body[20 : 20 + 12 * (1 + number % 9)] for number, body in enumerate(bodies)]
        for number in range(
            0, size, 4
        ):  # a quarter is nowhere, and its nearest place is looked for
            passages[number] = passages[number][:9] + "## " + passages[number][9:]
        return passages, documents

    calls(*inputs(40))
    small, large = calls(*inputs(40)), calls(*inputs(160))
    assert large <= 4.4 * small + 400


@pytest.mark.unwatched
def test_a_passage_of_one_letter_in_a_document_of_nothing_else() -> None:
    document = Document("d", "a" * 60_000)
    wanted = [SoughtPassage("a" * size) for size in (1, 2, 31, 32, 33, 59, 20_000, 60_000, 60_001)]
    kinds = [type(outcome) for outcome in locate(wanted, [document])]
    assert kinds == [Ambiguous] * 6 + [Located] * 2 + [Missing]


def test_equal_passages_are_looked_for_once() -> None:
    wanted = [
        SoughtPassage("Ask"),
        SoughtPassage("ten", 1),
        SoughtPassage("Ask"),
        SoughtPassage("ten"),
        SoughtPassage("no such"),
    ] * 3
    outcomes = locate(wanted, [LEAVE, HOURS])
    assert outcomes == [locate([each], [LEAVE, HOURS])[0] for each in wanted]
    assert outcomes[0] is outcomes[2]


def test_a_passage_that_begins_with_front_matter_is_found_by_the_rest() -> None:
    front = "---\nyear: 2024\n---\n\n"
    harbour = Document("harbour.md", with_blank_head(front, len(front)) + "# Gate\n\nOpen at six.")
    other = Document("other.md", "# Gate\n\nOpen at seven.")
    outcome = found(f"{front}# Gate\n\nOpen at six.", other, harbour)
    assert isinstance(outcome, Located)
    assert outcome.places == (Passage("harbour.md", len(front), len(harbour.text)),)
    assert outcome.tolerance == "signs"
    assert isinstance(found(f"{front}# Gate\n\nOpen at eight.", other, harbour), Missing)
    named = found(f"{front}# Gate\n\nOpen at six.", other, harbour, named=0)
    assert isinstance(named, Missing)
    assert [place.doc_id for place in named.elsewhere] == ["harbour.md"]

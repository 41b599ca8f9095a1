"""Questions without a model: found in the texts, sensible, located, marked."""

import time
from collections import Counter
from pathlib import Path

import pytest

import chunkwise
from chunkwise import Document, generate_questions
from chunkwise.testsets import check_testset
from chunkwise.testsets.generate.filters import STRATEGIES, WordSearch
from chunkwise.testsets.generate.generate import GeneratedQuestions, GenerationRun
from chunkwise.testsets.generate.logged_questions import logged_questions
from chunkwise.testsets.generate.questions_in_text import KINDS, questions_in
from chunkwise.testsets.generate.source_passages import find_source_passages
from chunkwise.testsets.query_log import LiveQuery
from chunkwise.testsets.testset import TestSet
from tables import cases

CORPUS = Path(chunkwise.__file__).with_name("corpus")
DOCUMENTS = list(chunkwise.read(CORPUS))


def found(kind: str, *documents: Document) -> list[tuple[str, str, str]]:
    """Question, document and evidence of those of a kind."""
    texts = {each.id: each.text for each in documents}
    made = [
        query
        for query, _ in questions_in(find_source_passages(documents), 20)
        if query.types[1] == kind
    ]
    places = [query.references[0] for query in made]
    return [
        (query.text, place.doc_id, texts[place.doc_id][place.start : place.end])
        for query, place in zip(made, places, strict=True)
    ]


def markdown(text: str, name: str = "d.md") -> Document:
    return Document(name, text, format="markdown")


PROSE = "The keeper lights the lamp at dusk, trims its wick every third hour and puts it out when the sun is up."
OTHER = "Ferries leave the north pier on the hour while the causeway is under water, and wait for every islander."


def test_a_heading_that_asks_is_answered_below_it() -> None:
    text = f"# Lamp\n\n{OTHER}\n\n## Who lights the lamp?\n\n{PROSE}\n\n## Boats\n\n{OTHER}\n"
    assert found("asked", markdown(text)) == [("Who lights the lamp?", "d.md", PROSE)]


@cases(
    "target, name, evidence",
    [
        ("guide/lamp.md", "guide/lamp.md", PROSE),
        ("./guide/lamp.md#boats-and-piers", "guide/lamp.md", OTHER),
        ("guide/lamp.md#nowhere", "", ""),
        ("gone.md", "", ""),
        ("https://example.org/lamp.md", "", ""),
    ],
)
def test_the_text_of_a_link_asks_for_what_it_leads_to(
    target: str, name: str, evidence: str
) -> None:
    start = markdown(
        f"# Start\n\nThis handbook is for all keepers of the island. Read of [lighting the lamp]({target}) or"
        f" [here]({target}).\n",
        "index.md",
    )
    lamp = markdown(f"# Lamp\n\n{PROSE}\n\n## Boats and piers\n\n{OTHER}\n", "guide/lamp.md")
    expected = [("lighting the lamp", name, evidence)] if name else []
    assert found("link", start, lamp) == expected


@cases(
    "text, question",
    [
        ("Thick fog means visibility below 200 metres.", "What does “Thick fog” mean?"),
        ('"Fine Salt" means salt from the pans, milled;', "What does “Fine Salt” mean?"),
        ("Herring Week is the seven days in August.", "What is Herring Week?"),
        ("Die Flutglocke bedeutet das Ende der Pause.", "Was bedeutet „Flutglocke“?"),
    ],
)
def test_definitions(text: str, question: str) -> None:
    document = markdown(f"Words come first here.\n\n{text}\n\n{PROSE}\n")
    assert found("definition", document) == [(question, "d.md", text)]


@cases(
    "text",
    [
        "This means that nobody may leave the pier.",
        "It is the only lamp that is lit at night.",
        "Sound is the only thing a boat has to go by.",
        "The rule is the same for all of the crews.",
        "If the lamp is a red one, nobody may cross.",
        "Ferries are a means of crossing the water at night.",
    ],
)
def test_no_definitions(text: str) -> None:
    assert found("definition", markdown(f"{text}\n\n{PROSE}\n")) == []


def test_a_row_is_asked_for_by_a_column_and_its_first_cell() -> None:
    text = f"{PROSE}\n\n| Boat | Seats | Built |\n|---|---|---|\n| Petrel | 40 | 1998 |\n| 7 | 12 | 2003 |\n"
    assert found("row", markdown(text)) == [("Seats Petrel", "d.md", "| Petrel | 40 | 1998 |")]


def test_a_comment_asks_for_the_code_behind_it() -> None:
    code = (
        '"""Lamps of the island, and who lights them at dusk."""\n\nimport time\n\n\n'
        "# Wait until the sun is under the horizon.\ndef wait(lamp):\n    while lamp.sun:\n        time.sleep(1)\n\n\n"
        "# lit\nlamp.light()\n"
    )
    assert [
        (question, text)
        for question, _, text in found("comment", Document("a.py", code, format="code"))
    ] == [
        ("Lamps of the island, and who lights them at dusk", "import time"),
        (
            "Wait until the sun is under the horizon",
            "def wait(lamp):\n    while lamp.sun:\n        time.sleep(1)",
        ),
    ]


def test_a_sentence_is_asked_for_with_a_gap_at_its_rarest_words() -> None:
    many = "\n\n".join(
        f"The lamp burns at dusk, and the keeper of pier {n} trims its wick again."
        for n in range(30)
    )
    text = f"{many}\n\nThe keeper of the lamp trims its wick again at dusk, on every pier, with ivory tweezers.\n"
    [question] = [
        question
        for question, _, evidence in found("sentence", markdown(text))
        if "tweezers" in evidence
    ]
    assert question.startswith("The keeper of the lamp trims its wick again")
    assert "…" in question
    assert "ivory" not in question


@cases(
    "text, number",
    [
        ("The fee of the harbor is 250 crowns a year for each boat.", "250"),
        ("Yachts pay a share of 2.5% of their price to the harbor.", "2.5"),
        ("The harbor charges boats ($4,000) for the whole season.", "4,000"),
        ("The harbor clock of the boats reads its text as UTF-8 now.", ""),
        ("3.2 The harbor charges all boats for the whole season.", ""),
        ("The harbor charges boats 30 crowns or 40 after the season.", ""),
    ],
)
def test_a_number_is_asked_for_where_a_sentence_has_one(text: str, number: str) -> None:
    document = markdown(f"{text}\n\n{PROSE}\n")
    made = [
        (query.text, query.answer)
        for query, _ in questions_in(find_source_passages([document]), 20)
        if query.types[1] == "number"
    ]
    assert made == ([(text.replace(number, "…"), number)] if number else [])


@cases("text", [
    "灯塔看守人每天黄昏点燃灯火，每隔三小时修剪一次灯芯，日出时熄灭它，并把这一切记在桥边的日志里。",
    "Смотритель зажигает лампу в сумерках, каждые три часа подрезает фитиль и гасит её, когда встаёт солнце.",
])  # fmt: skip
def test_sentences_are_asked_for_in_any_language(text: str) -> None:
    [(question, _, evidence)] = found("sentence", markdown(text))
    assert question
    assert evidence == text
    assert len(question) < len(text)


def test_kinds_take_turns() -> None:
    made = [query for query, _ in questions_in(find_source_passages(DOCUMENTS), 30)][:30]
    counts = Counter(query.types[1] for query in made)
    assert set(counts) <= set(KINDS)
    assert len(counts) > 3
    assert max(counts.values()) <= 12


def test_no_kind_is_more_than_a_fifth(tmp_path: Path) -> None:
    for wanted in (25, 50):  # the second run goes on with the file of the first
        made = GenerationRun(DOCUMENTS, wanted, into=tmp_path / "questions.json").by_rules()
        counts = Counter(query.types[1] for query in made.queries)
        assert max(counts.values()) == wanted // 5


@pytest.fixture(scope="module")
def made() -> GeneratedQuestions:
    return generate_questions(DOCUMENTS, 40)


@pytest.mark.unwatched
def test_the_corpus_without_a_model(made: GeneratedQuestions) -> None:
    assert made.ending == "rules"  # more would be of kinds that have their fifth
    assert all(query.types[0] == "extracted" for query in made.queries)
    assert len({query.text for query in made.queries}) == len(made.queries) >= 30
    problems = check_testset(TestSet(made.queries), DOCUMENTS)[1]
    assert [each for each in problems if each.kind not in ("similar_question", "overlapping")] == []


def test_a_copy_of_a_document_is_asked_about_once() -> None:
    text = f"# Lamp\n\n## Who lights the lamp?\n\n{PROSE}\n"
    (query,) = [
        query
        for query in generate_questions([markdown(text, f"{n}.md") for n in range(3)], 10).queries
        if "asked" in query.types
    ]
    (reference,) = query.references
    assert {each.doc_id for each in reference.places} == {"0.md", "1.md", "2.md"}


@pytest.mark.unwatched
def test_easy_is_what_words_find_with_every_strategy(made: GeneratedQuestions) -> None:
    easy = [query for query in made.queries if "easy" in query.types]
    assert len(easy) > 5
    indexes = [chunkwise.index(DOCUMENTS, strategy, vectors="none") for strategy in STRATEGIES]
    for query in made.queries[:12]:
        reference = query.references[0]
        places = [(each.doc_id, range(each.start, each.end)) for each in reference.places]
        found = []
        for index in indexes:
            hits = index.search(query.text, k=5, retriever="bm25")
            held = {(hit.doc_id, at) for hit in hits for at in range(hit.start, hit.end)}
            shares = [sum((name, at) in held for at in span) / len(span) for name, span in places]
            found.append(max(shares) >= 0.95)
        assert all(found) == ("easy" in query.types), query


@cases(
    "text",
    ["", "\x00\ud800".encode("utf-8", "replace").decode(), "# \n\n" * 50, "a" * 5000, "?" * 300],
)
def test_hostile_documents_give_nothing_and_break_nothing(text: str) -> None:
    made = generate_questions([Document("d", text, format="markdown")], 3)
    assert made.queries == ()


def test_long_lines_take_linear_time() -> None:
    text = (
        "**" * 20_000 + "\n\n" + "A " * 20_000 + "\n\n" + '"' * 20_000 + "\n\n" + "The X " * 10_000
    )
    assert generate_questions([Document("d", text, format="markdown")], 3).wanted == 3


@cases(
    "text, format",
    [
        ("/* x " * 200_000, "code"),
        ('"""' + "x\n" * 200_000, "code"),
        ("A short sentence stands here. " * 60_000, "text"),
        (
            "".join(f"[to the section](#s{n})\n\n# Does s{n} stand?\n\n" for n in range(8_000)),
            "markdown",
        ),
    ],
)
def test_large_documents_take_linear_time(text: str, format: str) -> None:
    began = time.process_time()
    list(questions_in(find_source_passages([Document("d", text, format=format)]), 20))  # type: ignore[arg-type]
    assert time.process_time() - began < 30


def test_a_logged_question_gets_the_passage_that_all_cuts_find_first() -> None:
    documents = [
        Document("lamp.txt", f"{PROSE}\n\nNothing else is said of light."),
        Document("boats.txt", f"{OTHER}\n\nTickets are sold on board."),
    ]
    log = [LiveQuery("when does the keeper light the lamp", 9), LiveQuery("zeppelin prices", 3)]
    (made,) = logged_questions(log, documents, WordSearch(documents))
    (place,) = made.references
    assert (made.text, place.doc_id) == (log[0].text, "lamp.txt")
    assert "lights the lamp at dusk" in documents[0].text[place.start : place.end]
    assert made.types == ("extracted", "live")

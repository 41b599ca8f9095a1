"""Questions without a model: sensible, located, marked."""

from pathlib import Path

import pytest

import chunkwise
from chunkwise import Document, generate_questions
from chunkwise.testsets import check_testset
from chunkwise.testsets.generate.filters import STRATEGIES
from chunkwise.testsets.generate.generate import GeneratedQuestions
from chunkwise.testsets.generate.rule_based_questions import (
    amount_questions,
    definition_questions,
    heading_questions,
)
from chunkwise.testsets.generate.source_passages import find_source_passages
from chunkwise.testsets.testset import TestSet
from chunkwise.text.analyzed import Analyzed
from tables import cases

CORPUS = Path(chunkwise.__file__).with_name("corpus")
DOCUMENTS = list(chunkwise.read(CORPUS))


def markdown(text: str) -> Analyzed:
    return Analyzed(Document("d.md", text, format="markdown"))


@cases(
    "text, question, evidence",
    [
        (
            "Thick fog means visibility below 200 metres.",
            "What does “Thick fog” mean?",
            "Thick fog means",
        ),
        (
            "**Amber.** The state of the causeway at high water.",
            "What does “Amber” mean?",
            "**Amber.** The",
        ),
        (
            "- **Leave year** means the year from January on.",
            "What does “Leave year” mean?",
            "**Leave year**",
        ),
        (
            "**Curers, the.** The union that buys all the salt.",
            "What does “the Curers” mean?",
            "**Curers",
        ),
        (
            '"Fine Salt" means salt from the pans, milled;',
            "What does “Fine Salt” mean?",
            '"Fine Salt"',
        ),
        ("Herring Week is the seven days in August.", "What is Herring Week?", "Herring Week is"),
        (
            "Die Flutglocke bedeutet das Ende der Pause.",
            "Was bedeutet „Flutglocke“?",
            "Die Flutglocke",
        ),
    ],
)
def test_definitions(text: str, question: str, evidence: str) -> None:
    (found,) = definition_questions(markdown(f"Words come first here.\n\n{text}\n"))
    assert found.question == question
    assert f"Words come first here.\n\n{text}\n"[found.span.start : found.span.end].startswith(
        evidence
    )
    assert found.answer


@cases(
    "text",
    [
        "This means that nobody may leave the pier.",
        "It is the only lamp that is lit at night.",
        "Sound is the only thing a boat has to go by.",
        "The rule is the same for all of the crews.",
        "If the lamp is a red one, nobody may cross.",
        "**Note:** the ferry does not sail on Sundays at all.",
        "- **Added** a lamp to the north pier.\n- **Added** another one on the south pier.",
    ],
)
def test_no_definitions(text: str) -> None:
    assert not list(definition_questions(markdown(f"{text}\n")))


def test_amounts() -> None:
    text = "The Low Box holds 12 people.\n\nThe longest fog lasted 61 hours, in July.\n\nPetrel carries six cars.\n"
    assert [each.question for each in amount_questions(markdown(text))] == [
        "How many people does the Low Box hold?",
        "How many hours did the longest fog last?",
        "How many cars does Petrel carry?",
    ]


@cases(
    "text",
    [
        "It holds 12 people.",
        "The box that stands at post 15 holds 12 people.",
        "When the tide is high the ferry takes 20 minutes.",
        "The Low Box has 2 of the lamps.",
    ],
)
def test_amounts_that_could_go_wrong(text: str) -> None:
    assert not list(amount_questions(markdown(text)))


def test_headings() -> None:
    decides = (
        "The rota clerk decides requests for one to four days, and the committee all longer ones."
    )
    text = (
        "# Staff Handbook\n\nEdition twelve is in force from January on and replaces earlier ones.\n\n"
        "## 1 Introduction\n\nThe cooperative was founded in spring and employs forty people on three vessels.\n\n"
        "## 2 Asking for leave\n\nRequests are written in the leave book at the harbour office or on its form.\n\n"
        f"### 2.1 Who decides\n\n{decides}\n\n"
        "## How hours count\n\nAn hour on an island holiday counts twice, one after midnight one and a half.\n\n"
        "## Who pays for boots?\n\nThe stores hand out boots and oilskins every second winter, free of any charge.\n"
    )
    ground = find_source_passages(
        [Document("d.md", text, title="Staff Handbook", format="markdown")]
    )
    found = list(heading_questions(ground.passages))
    assert [each.question for each in found] == [
        "What does “Staff Handbook” say about “Asking for leave”?",
        "Asking for leave: who decides?",
        "What does “Staff Handbook” say about how hours count?",
        "Who pays for boots?",
    ]
    assert text[found[1].span.start : found[1].span.end] == decides


@cases("title, asked", [("Staff Handbook", ["Staff Handbook: who is covered?"]), ("", [])])
def test_a_heading_under_a_general_one_is_asked_for_with_its_document(
    title: str, asked: list[str]
) -> None:
    text = (
        "## Scope\n\n### Who is covered\n\n"
        "The handbook is for all members of the cooperative, on land and on all of its three vessels.\n"
    )
    ground = find_source_passages([Document("d.md", text, title=title, format="markdown")])
    assert [each.question for each in heading_questions(ground.passages)] == asked


@pytest.fixture(scope="module")
def made() -> GeneratedQuestions:
    return generate_questions(DOCUMENTS, 40)


@pytest.mark.unwatched
def test_the_corpus_without_a_model(made: GeneratedQuestions) -> None:
    assert made.is_complete
    assert len({query.references[0].doc_id for query in made.queries}) == len(DOCUMENTS)
    assert all(query.types[0] == "fallback" for query in made.queries)
    assert len({query.text for query in made.queries}) == 40
    assert made.made_by.startswith("rules")
    problems = check_testset(TestSet(made.queries), DOCUMENTS)[1]
    assert [each for each in problems if each.kind not in ("similar_question", "overlapping")] == []


@pytest.mark.unwatched
def test_easy_is_what_words_find_with_every_strategy(made: GeneratedQuestions) -> None:
    easy = [query for query in made.queries if "easy" in query.types]
    assert 5 < len(easy) < 40
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

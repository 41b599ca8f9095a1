"""Documents that questions name: which, with what share of the budget, and nothing changed if none is."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document, Index
from chunkwise.core import Hit
from chunkwise.options import SearchOptions
from chunkwise.retrieval.multiscale.naming import SHARE
from chunkwise.retrieval.search.named_documents import named_documents
from how_many import examples
from tables import cases
from untimed import lines_run

KINDS = ("Collaboration Agreement", "Outsourcing Contract", "Franchise Licence", "Supply Terms")
PARTIES = ("Capsugel and Cardax", "Redwater and Boxwood", "Nuveen and Kiosk", "Inmode and Flex")
BUDGET = 300
OPTIONS = SearchOptions(budget=BUDGET)


def contract(number: int) -> Document:
    kind, parties = KINDS[number % 4], f"{PARTIES[number % 4]} {chr(65 + number)}ville"
    filler = "\n".join(f"Section {each} repeats what both sides promise." for each in range(60))
    clauses = (
        f"The term is {number} years. Either side may end it. Payment is due in {number} days."
    )
    text = f"{kind}\n\nbetween {parties}\n\n{filler}\n\n{clauses}"
    return Document(f"contracts/file-{chr(97 + number)}x.txt", text, title=f"{kind} {number}")


def indexed(documents: list[Document]) -> Index:
    return chunkwise.index(documents, embedder="none", vectors="none")


INDEX = indexed([contract(number) for number in range(12)])


def search(question: str, naming: str = "on", **options: object) -> list[Hit]:
    return INDEX.search(question, options=replace(OPTIONS, naming=naming, **options))


@cases(
    "question, named",
    [
        (
            "In the Outsourcing Contract 5 between Redwater and Boxwood Fville: may a side end it?",
            {5},
        ),
        ("May either side end it? (Franchise Licence 2, Nuveen and Kiosk Cville)", {2}),
        ("file-hx.txt: when is payment due?", {7}),
        ("Which is longer, that of Supply Terms 3 or that of Collaboration Agreement 8?", {3, 8}),
        ("when is payment due", set()),
        ("In the Zorblax annual report: when is payment due?", set()),
        ("Outsourcing Contract 5", set()),  # nothing remains to be asked
        ("", set()),
        ("?!", set()),
    ],
)
def test_names(question: str, named: set[int]) -> None:
    found = named_documents(INDEX.source, question, OPTIONS)
    assert {each.doc_id for each in found} == {contract(number).id for number in named}
    assert all(each.phrase and each.phrase in question for each in found)


def test_the_named_document_gets_its_share() -> None:
    question = (
        "In the Outsourcing Contract 5 between Redwater and Boxwood Fville: when is payment due?"
    )
    named, before = search(question), search(question, "off")
    own = contract(5).id
    assert sum(hit.token_count for hit in named if hit.doc_id == own) > BUDGET * SHARE / 2
    assert any("due in 5 days" in hit.text for hit in named)
    assert sum(hit.token_count for hit in named) <= BUDGET
    assert all(0 < hit.score <= 1 for hit in [*named, *before])


@given(st.sampled_from(range(12)), st.sampled_from(range(12)))
@settings(max_examples=examples(10))
def test_a_wrong_name_costs_its_share_at_most(wrong: int, right: int) -> None:
    question = f"{KINDS[wrong % 4]} {wrong} {PARTIES[wrong % 4]}: what is due in {right} days?"
    named, before = search(question), search(question, "off")
    kept = sum(
        max(0, min(one.end, other.end) - max(one.start, other.start))
        for one in before for other in named if one.doc_id == other.doc_id
    )  # fmt: skip
    assert kept >= (1 - SHARE) / 2 * sum(hit.end - hit.start for hit in before)


def test_a_name_is_less_sure_if_another_document_has_the_rest_of_the_question() -> None:
    filler = "Nothing of note happens here. " * 60
    note = Document("note.txt", f"{filler} The zeppelin lands at noon near the quay.")
    index = indexed([*map(contract, range(12)), note])
    name = "In the Outsourcing Contract 5 between Redwater and Boxwood Fville"
    answered, unanswered = (
        named_documents(index.source, f"{name}: {asked}", OPTIONS)[0].probability
        for asked in ("when is payment due?", "when does the zeppelin land near the quay?")
    )
    assert unanswered < answered / 2


@given(
    st.lists(
        st.sampled_from("promise repeats payment due side may end it years what both".split()),
        min_size=1,
    )
)
@settings(max_examples=examples(10))
def test_without_a_name_nothing_changes(words: list[str]) -> None:
    question = " ".join(words)
    assert search(question) == search(question, "off")


def test_documents_that_a_filter_leaves_out_are_not_named() -> None:
    question = (
        "In the Outsourcing Contract 5 between Redwater and Boxwood Fville: when is payment due?"
    )
    only = (contract(1).id,)
    assert contract(5).id not in {
        each.doc_id
        for each in named_documents(INDEX.source, question, replace(OPTIONS, documents=only))
    }
    assert {hit.doc_id for hit in search(question, documents=only)} == set(only)


def test_the_number_of_documents_is_no_work_of_a_question() -> None:
    question = (
        "In the Outsourcing Contract 5 between Redwater and Boxwood Fville: when is payment due?"
    )

    def lines(documents: int) -> int:
        index = indexed(
            [
                *map(contract, range(12)),
                *(Document(f"{at}", f"Note {at}.") for at in range(documents)),
            ]
        )
        named_documents(index.source, question, OPTIONS)  # the names are read once
        return lines_run(lambda: named_documents(index.source, question, OPTIONS))

    assert lines(200) <= 1.1 * lines(20)

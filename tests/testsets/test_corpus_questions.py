"""The questions about the sample corpus say what stands in it."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.core import Document
from chunkwise.metrics.claims.text_normalization import holds, plain_form, readings
from chunkwise.text.terms import query_terms, read_as, text_terms

PACKAGE = Path(chunkwise.__file__).parent
ASKED: list[dict[str, Any]] = json.loads((PACKAGE / "corpus_questions.json").read_text("utf-8"))
LEAST = {
    "single-concept": 14,
    "cross-document": 14,
    "list": 12,
    "numeric": 14,
    "negation": 10,
    "paraphrase": 16,
}


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    return {document.id: document for document in chunkwise.read(PACKAGE / "corpus")}


def places(asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The references, each followed by its alternatives."""
    for reference in asked["references"]:
        yield reference
        yield from reference.get("alternatives", ())


def documents_of(asked: dict[str, Any]) -> set[str]:
    return {reference["doc_id"] for reference in asked["references"]}


def apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(
        one["doc_id"] != other["doc_id"]
        or one["end"] <= other["start"]
        or other["end"] <= one["start"]
    )


def test_entries_have_every_field_and_no_other() -> None:
    for asked in ASKED:
        assert set(asked) == {"query_id", "query", "references", "answer", "facts", "type", "split"}
        for name in asked:
            assert asked[name], (asked["query_id"], name)
        for place in places(asked):
            assert set(place) - {"alternatives"} == {"doc_id", "start", "end", "text"}


def test_references_are_what_stands_there(documents: dict[str, Document]) -> None:
    for asked in ASKED:
        for place in places(asked):
            stands = documents[place["doc_id"]].text[place["start"] : place["end"]]
            assert place["text"] == stands, asked["query_id"]


def test_references_begin_and_end_between_words(documents: dict[str, Document]) -> None:
    for asked in ASKED:
        for place in places(asked):
            start, end, said = place["start"], place["end"], place["text"]
            text = f"\n{documents[place['doc_id']].text}\n"
            before, behind = text[start], text[end + 1]
            assert said == said.strip() != "", asked["query_id"]
            assert before.isspace(), asked["query_id"]
            # A footnote's mark may follow a full stop.
            assert behind.isspace() or behind == "[", asked["query_id"]
            # A passage ends where a sentence does, a part of a long one, or a line.
            assert said[-1] in '.?!;:)"' or behind == "\n", asked["query_id"]


def test_references_of_a_question_do_not_overlap() -> None:
    for asked in ASKED:
        for one, other in combinations(asked["references"], 2):
            assert apart(one, other), asked["query_id"]
        for reference in asked["references"]:
            for one, other in combinations((reference, *reference.get("alternatives", ())), 2):
                assert apart(one, other), asked["query_id"]


def test_facts_are_named_by_the_references_and_by_the_answer() -> None:
    for asked in ASKED:
        texts = [plain_form(place["text"]) for place in places(asked)]
        answer = plain_form(asked["answer"])
        for fact in asked["facts"]:
            spelled = [fact] if isinstance(fact, str) else fact
            forms = [form for each in spelled for form in readings(each)]
            assert any(holds(text, form) for text in texts for form in forms), fact
            assert any(holds(answer, form) for form in forms), fact


def test_a_paraphrase_shares_no_term_with_its_references(documents: dict[str, Document]) -> None:
    for asked in ASKED:
        for place in places(asked) if asked["type"] == "paraphrase" else ():
            language = read_as(documents[place["doc_id"]])
            wanted = query_terms(asked["query"], [language])
            shared = set(wanted.tolist()) & set(text_terms(place["text"], language).hash.tolist())
            assert len(wanted), asked["query_id"]
            assert not shared, asked["query_id"]


def test_cross_document_questions_need_several_documents_and_others_one() -> None:
    for asked in ASKED:
        several = asked["type"] == "cross-document"
        assert (len(documents_of(asked)) > 1) == several, asked["query_id"]


def test_no_question_is_asked_twice() -> None:
    assert len({asked["query_id"] for asked in ASKED}) == len(ASKED)
    assert len({plain_form(asked["query"]) for asked in ASKED}) == len(ASKED)


def test_there_are_enough_of_every_type() -> None:
    counts = Counter(asked["type"] for asked in ASKED)
    assert len(ASKED) >= 80
    assert set(counts) == set(LEAST)
    assert all(counts[kind] >= least for kind, least in LEAST.items()), counts


def test_every_document_is_asked_about(documents: dict[str, Document]) -> None:
    counts = Counter(name for asked in ASKED for name in documents_of(asked))
    assert set(counts) == set(documents)
    assert min(counts.values()) >= 4, counts


def test_both_splits_hold_every_type_and_every_document(documents: dict[str, Document]) -> None:
    sizes = Counter(asked["split"] for asked in ASKED)
    assert set(sizes) == {"validation", "test"}
    assert 0.35 <= sizes["validation"] / len(ASKED) <= 0.45
    for split in sizes:
        here = [asked for asked in ASKED if asked["split"] == split]
        assert {asked["type"] for asked in here} == set(LEAST)
        assert set().union(*map(documents_of, here)) == set(documents)


def test_no_passage_is_asked_for_in_both_splits() -> None:
    split = {
        name: [place for asked in ASKED if asked["split"] == name for place in places(asked)]
        for name in ("validation", "test")
    }
    for one, other in product(split["validation"], split["test"]):
        assert apart(one, other), one["text"]

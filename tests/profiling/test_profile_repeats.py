"""Repeated passages against a plain count of the sentences the documents were made of."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document
from chunkwise.profiling import profile
from chunkwise.profiling.repeats import RepeatFinder, document_passages, fingerprints
from chunkwise.text.analyzed import Analyzed
from how_many import examples

LONG = [
    f"{name} went down to the harbour again that evening."
    for name in ("Ada", "Ben", "Cleo", "Dora")
]
SHORT = ["Few words here.", "It rained.", "Nobody came to see it."]
WORDS_IN_LONG = 9

paragraphs = st.lists(st.sampled_from(LONG + SHORT), min_size=1, max_size=4)
corpora = st.lists(st.lists(paragraphs, min_size=1, max_size=4), min_size=1, max_size=4)


def _words(text: str) -> int:
    return len(text.split())


def _expected(corpus: list[list[list[str]]]) -> tuple[int, int, int]:
    """Distinct passages, copies and their words."""
    inside = [(" ".join(paragraph), paragraph) for document in corpus for paragraph in document]
    met = Counter(whole for whole, _ in inside if _words(whole) >= 8)
    met.update(part for _, parts in inside if len(parts) > 1 for part in parts if _words(part) >= 8)
    told: list[str] = []
    for whole, parts in inside:
        if met[whole] > 1 and _words(whole) >= 8:
            told.append(whole)
        elif len(parts) > 1:
            told += [part for part in parts if _words(part) >= 8 and met[part] > 1]
    return len(set(told)), len(told), sum(map(_words, told))


@given(corpora)
@settings(max_examples=examples(20), deadline=None)
def test_repeats(corpus: list[list[list[str]]]) -> None:
    documents = [
        Document(str(number), "\n\n".join(" ".join(paragraph) for paragraph in document))
        for number, document in enumerate(corpus)
    ]
    total = profile(documents, "words").total
    found = total.repeats
    passages, copies, words = _expected(corpus)
    assert (found.passages, found.copies) == (passages, copies)
    assert round(found.token_share * total.tokens) == words
    by_id = {document.id: document.text for document in documents}
    for repeat in found.examples:
        assert repeat.count > 1
        for place in repeat.places:
            assert by_id[place.document][place.start :].startswith(repeat.text)


def test_copies_are_found_across_documents_whatever_the_white_space() -> None:
    first = Document("a/one", "The lamp of the old lighthouse\nhangs above the lawn.")
    second = Document("b/two", "Before.\n\nThe lamp of the old lighthouse hangs above the lawn.")
    found = profile([first, second]).total.repeats
    (repeat,) = found.examples
    assert (found.passages, found.copies, repeat.count) == (1, 2, 2)
    assert repeat.text == "The lamp of the old lighthouse hangs above the lawn."
    assert [(place.document, place.start) for place in repeat.places] == [
        ("a/one", 0),
        ("b/two", 9),
    ]


def test_lines_of_code_are_no_copies_of_their_paragraph() -> None:
    text = "# these are eight words and one line more\n\nx = 1\n\n# another line of more than eight words in all\n"
    assert profile([Document("x.py", text, format="code")]).total.repeats.passages == 0
    twice = profile(
        [Document(name, text, format="code") for name in ("x.py", "y.py")]
    ).total.repeats
    assert [(repeat.count, len(repeat.places)) for repeat in twice.examples] == [(2, 2), (2, 2)]


def test_eight_words_make_a_passage() -> None:
    seven, eight = "Only seven words are in this one.", "There are exactly eight words in this one."
    found = profile([Document(name, f"{seven}\n\n{eight}") for name in "ab"]).total.repeats
    assert [repeat.text for repeat in found.examples] == [eight]


def test_a_group_has_its_own_share() -> None:
    same = "The lamp of the old lighthouse hangs above the lawn."
    other = "Nothing of this sentence stands anywhere else in the corpus."
    found = profile([Document("a/1", same), Document("b/1", same), Document("c/1", other)])
    shares = {group.name: group.repeats.token_share for group in found.folders}
    assert shares == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_a_full_memory_is_told() -> None:
    passages = RepeatFinder(most=3)
    for number in range(5):
        analyzed = Analyzed(
            Document(str(number), "The lamp of the old lighthouse hangs above the lawn.")
        )
        found = document_passages(analyzed, analyzed.measure("words").starts)
        passages.add(analyzed.document, found, 0)
    repeats = passages.repeated().of([0], 50)
    assert (repeats.copies, repeats.complete) == (3, False)


@given(st.text(alphabet="abä \n天", max_size=40), st.data())
def test_fingerprints_are_equal_when_the_characters_are(text: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(text))
    spans = [sorted((data.draw(ends), data.draw(ends))) for _ in range(6)]
    found = fingerprints(text, np.array(spans)).tolist()
    plain = ["".join(text[start:end].split()) for start, end in spans]
    for one, left in zip(plain, found, strict=True):
        for two, right in zip(plain, found, strict=True):
            assert (one == two) == (left == right)

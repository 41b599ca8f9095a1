"""The terms of texts of all kinds, and their counts in any spans."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text import terms as terms_module
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import language_of_text
from chunkwise.text.terms import (
    LANGUAGES,
    TermCounts,
    Terms,
    add_counts,
    check_language,
    counts_in_spans,
    document_terms,
    folded,
    join_counts,
    query_terms,
    read_as,
    stemmer,
    stop_words,
    text_terms,
)
from tables import cases
from text.nasty_text import NASTY

ENGLISH = "The keepers of the lamps were counting what the harbour had lost, and they kept at it."
GERMAN = "Die Wärter der Lampen zählten, was der Hafen verloren hatte, und sie blieben dabei."

GOLDEN = {
    "harbour": 16295200358155746308,
    "天地": 6606657260431062887,
    "ελλαδα": 4541294410101405264,
}


def terms_of(text: str, language: str = "auto", format: str = "text") -> Terms:
    return document_terms(Analyzed(Document("d", text, format=format)), language)


def seen(text: str, language: str = "none", format: str = "text") -> list[str]:
    """The stretches of text that gave a term."""
    terms = terms_of(text, language, format)
    return [text[lo:hi] for lo, hi in zip(terms.start.tolist(), terms.end.tolist(), strict=True)]


def same(one: str, other: str, language: str = "none", format: str = "text") -> bool:
    first, second = terms_of(one, language, format), terms_of(other, language, format)
    return len(first.hash) > 0 and first.hash.tolist() == second.hash.tolist()


def test_hashes_are_the_same_everywhere() -> None:
    # Stored in indexes: another value here means that every index has to be built again.
    assert text_terms("harbour", "none").hash.tolist() == [GOLDEN["harbour"]]
    assert text_terms("Harbours", "en").hash.tolist() == [GOLDEN["harbour"]]
    assert text_terms("天地", "zh").hash.tolist() == [GOLDEN["天地"]]
    assert text_terms("Ελλάδα", "none").hash.tolist() == [GOLDEN["ελλαδα"]]


def test_stop_words_are_left_out_and_words_stemmed() -> None:
    terms = terms_of(ENGLISH)
    assert terms.language == "en"
    assert seen(ENGLISH, "auto") == ["keepers", "lamps", "counting", "harbour", "lost", "kept"]
    assert same("keepers counted lamps", "keeper counting lamp", "en")


@cases(
    "text, words",
    [
        ("don't l’homme O'Brien", ["don", "t", "l", "homme", "O", "Brien"]),
        ("well-known e\u0301t\u00e9 co\u00adoperate", ["well", "known", "e\u0301t\u00e9", "co\u00adoperate"]),
        ("§4.2.1: $1,000,000.50, v2.0 or 1,2,3.", ["4.2.1", "1,000,000.50", "v2.0", "or", "1", "2", "3"]),
        ("1,000", ["1,000"]),
        ("1,0000 12,34", ["1", "0000", "12", "34"]),
        ("天地玄黃，宇。", ["天地", "地玄", "玄黃", "宇"]),
        ("コンピューター2台", ["コン", "ンピ", "ピュ", "ュー", "ータ", "ター", "2", "台"]),
        ("ไทย", ["ไท", "ทย"]),
        ("한국어는 말", ["한국", "국어", "어는", "말"]),
        ("Tokyo東京Tower", ["Tokyo", "東京", "Tower"]),
        ("👍🏽 👨‍👩‍👧 \u0301 ___ \ufe0f", []),
        ("می\u200cآید", ["می\u200cآید"]),
        ("a" * 256 + " b", ["b"]),
    ],
)  # fmt: skip
def test_words_of_many_kinds(text: str, words: list[str]) -> None:
    assert seen(text) == words


@cases(
    "one, other",
    [
        ("STRASSE", "straße"),
        ("cafe\u0301", "CAFÉ"),
        ("Zürich naïve", "Zurich naive"),
        ("ｆｕｌｌ ﬁle", "full file"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("co\u00adoperate", "cooperate"),
        ("1,000,000", "1000000"),
        ("snake_case", "snakeCase"),
        ("宇。", "宇"),
        ("天地玄", "天地。地玄"),
    ],
)
def test_one_word_in_two_spellings(one: str, other: str) -> None:
    assert same(one, other)


def test_marks_tell_words_apart_where_they_are_letters() -> None:
    assert not same("får", "far", "sv")
    assert same("café", "cafe", "fr")
    assert not same("हिंदी", "हद", "en")  # vowel signs are no accents


def test_a_name_made_of_words_is_found_whole_and_in_parts() -> None:
    for name in ("DiffExecutor", "diff_executor", "__diffExecutor__"):
        found = set(terms_of(name, format="code").hash.tolist())
        for asked in ("diffexecutor", "diff", "executors", "DIFF_EXECUTOR", name):
            assert found & set(query_terms(asked, ["code"]).tolist()), (name, asked)
    assert seen("XMLHttpRequest = x", format="code") == ["XMLHttpRequest"] * 4 + ["x"]


def test_a_name_that_prose_holds_as_a_whole_is_one_word_of_a_question() -> None:
    held = terms_of("DiffExecutors run. Another executor differs from the lamp_post.").hash

    def holds(terms: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.isin(terms, held)

    known, unknown = (
        f"Where does the {name} keep old lamps lit?" for name in ("DiffExecutor", "DiffLamp")
    )
    assert len(query_terms(known, ["en"])) == len(query_terms(unknown, ["en"], holds)) == 7
    assert len(query_terms(known, ["en"], holds)) == 5
    assert set(query_terms("diffexecutor", ["en"]).tolist()) <= set(
        query_terms(known, ["en"], holds).tolist()
    )
    # Among code a name is whatever it is made of, and so it is where hardly anything else is asked for.
    assert len(query_terms(known, ["code", "en"], holds)) == 7
    assert len(query_terms("What is a DiffExecutor?", ["en"], holds)) == 3
    # A language whose documents do not have it as a whole asks for the parts: of another stem, here.
    asked = "Where do DiffExecutors keep old lamps lit?"
    in_english, in_none = (
        query_terms("executors", [language]).tolist() for language in ("en", "none")
    )
    assert not {*in_english} & {*query_terms(asked, ["en"], holds).tolist()}
    assert {*in_none} < {*query_terms(asked, ["en", "none"], holds).tolist()}


def test_code_keeps_its_small_words() -> None:
    assert seen("if not the_end: return is_on", format="code").count("not") == 1
    assert read_as(Document("a", "x", format="code", language="python"), "de") == "code"


def test_the_language_a_document_is_read_in() -> None:
    assert read_as(Document("a", ENGLISH)) == "en"
    assert read_as(Document("a", GERMAN)) == "de"
    assert read_as(Document("a", "7 8 9")) == "none"
    assert read_as(Document("a", ENGLISH), "none") == "none"
    with pytest.raises(
        InvalidParameter, match=r"language is 'english'; allowed: auto, none, am, ar"
    ):
        check_language("english")


def test_a_question_meets_the_documents_of_its_language_among_others() -> None:
    english, german = terms_of(ENGLISH), terms_of(GERMAN)
    languages = ["de", "en", "none", "code"]
    assert set(query_terms("counted lamp", languages).tolist()) & set(english.hash.tolist())
    assert set(query_terms("gezählte Lampe", languages).tolist()) & set(german.hash.tolist())


def test_a_word_counts_once_whatever_languages_find_it() -> None:
    assert len(query_terms("lamp", ["en", "de", "none", "code"])) == 1
    assert len(query_terms("lamp lamp", ["en", "none"])) == 2
    # A word whose stems differ is asked for in both forms.
    assert len(query_terms("lamps", ["en", "none"])) == 2


def test_small_words_of_the_question_are_asked_nowhere() -> None:
    question = "What is the purpose of the lamp?"
    assert len(query_terms(question, ["code"])) == 2
    assert len(query_terms(question, ["en", "none"])) == 3  # purpose, purpos, lamp
    assert len(query_terms(question, ["none"])) == 7
    # "die" is a small word in German alone.
    assert len(query_terms("die hard", ["en"])) == 2


@cases(
    "text",
    [
        "", " ", "?!", "the", "\x00\x01\x1b[2J", "\ud83d", "'; DROP TABLE chunks; --", "% _ \\ \" ` $$ $1 NULL",
        "مرحبا بالعالم", "\u202eabc\u202c שלום", "a" * 100_000, "lamp " * 20_000, "天" * 100_000, "a_" * 50_000,
        "\u0301" * 100_000, "🇩🇪" * 1000,
    ],
)  # fmt: skip
def test_any_question_has_terms_or_none(text: str) -> None:
    terms = query_terms(text, sorted([*LANGUAGES, "none", "code"]))
    assert terms.dtype == np.uint64


@given(NASTY, st.sampled_from(sorted([*LANGUAGES, "none", "code"])))
def test_a_text_finds_itself(text: str, language: str) -> None:
    told = language_of_text(text)
    asked = Counter(query_terms(text, [language]).tolist())
    found = Counter(text_terms(text, language).hash.tolist())
    assert asked <= found
    if language == "none" or (told != language and language != "code"):
        # A name of equal parts says its part twice in a document and once in a question.
        assert asked.keys() == found.keys()


def check_terms(terms: Terms, text: str) -> None:
    assert len(terms.hash) == len(terms.start) == len(terms.end)
    assert (terms.start < terms.end).all()
    assert (np.diff(terms.start) >= 0).all()
    assert (np.diff(terms.end) >= 0).all()
    assert (terms.start >= 0).all()
    assert (terms.end <= len(text)).all()


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("document", hostile_documents(), ids=lambda document: document.id)
def test_hostile_documents(document: Document) -> None:
    terms = document_terms(Analyzed(document))
    check_terms(terms, document.text)
    size = len(document.text)
    for step in (1, 7, 50):
        start = np.arange(0, max(size, 1), step)
        check_counts(counts_in_spans(terms, start, start + step), terms, start, start + step)


def check_counts(counts: TermCounts, terms: Terms, start: object, end: object) -> None:
    """Against a loop over all terms of the text for every span."""
    spans = list(zip(np.asarray(start).tolist(), np.asarray(end).tolist(), strict=True))
    occurrences = list(
        zip(terms.hash.tolist(), terms.start.tolist(), terms.end.tolist(), strict=True)
    )
    assert len(counts.first) == len(spans) + 1
    assert (counts.first[0], counts.first[-1]) == (0, len(counts.term))
    for number, (lo, hi) in enumerate(spans[:200]):
        expected = Counter(h for h, s, e in occurrences if s >= lo and e <= hi)
        entries = slice(counts.first[number], counts.first[number + 1])
        found = dict(
            zip(counts.term[entries].tolist(), counts.times[entries].tolist(), strict=True)
        )
        assert found == expected
        assert list(found) == sorted(found)


SPANS = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=8)


@given(NASTY, SPANS, st.sampled_from(["en", "none", "code", "zh"]))
def test_counts_of_any_spans(text: str, spans: list[tuple[int, int]], language: str) -> None:
    terms = text_terms(text, language)
    check_terms(terms, text)
    start = np.array([lo for lo, _ in spans], dtype=np.int64)
    end = np.array([hi for _, hi in spans], dtype=np.int64)
    counts = counts_in_spans(terms, start, end)
    check_counts(counts, terms, start, end)
    assert (counts.first.dtype, counts.term.dtype, counts.times.dtype) == (
        np.int64, np.uint64, np.int32,
    )  # fmt: skip


@given(
    st.lists(NASTY, max_size=6), SPANS, st.integers(1, 40), st.sampled_from(["en", "none", "zh"])
)
def test_a_long_text_is_read_in_windows(
    texts: list[str], spans: list[tuple[int, int]], window: int, language: str
) -> None:
    """With the same terms, places and counts."""
    text = " ".join(texts)
    start = np.array([lo for lo, _ in spans], dtype=np.int64)
    end = np.array([hi for _, hi in spans], dtype=np.int64)
    whole = text_terms(text, language)
    counts = counts_in_spans(whole, start, end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms_module, "_WINDOW", window)
        patch.setattr(terms_module, "_OCCURRENCES", window)
        terms = text_terms(text, language)
        found = counts_in_spans(terms, start, end)
    assert terms.vocabulary.tolist() == whole.vocabulary.tolist()
    for name in ("hash", "start", "end"):
        assert getattr(terms, name).tolist() == getattr(whole, name).tolist()
    for one, other in zip(found, counts, strict=True):
        assert one.tolist() == other.tolist()
        assert one.dtype == other.dtype


@pytest.mark.unwatched
def test_terms_of_a_long_text_take_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """All in all a few bytes a character, with what is made on the way: a word takes fifty."""
    monkeypatch.setattr(terms_module, "_WINDOW", 1 << 14)
    monkeypatch.setattr(terms_module, "_OCCURRENCES", 1 << 12)
    text = f"{ENGLISH}\n" * 3000
    start = np.arange(0, len(text), 100)
    text_terms(text[:20_000], "none")  # what is learnt about words
    tracemalloc.start()
    try:
        terms = text_terms(text, "none")
        counts_in_spans(terms, start, start + 100)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(terms.code) == 17 * 3000
    assert peak / len(text) < 14


@given(st.lists(st.tuples(NASTY, NASTY), max_size=4))
def test_counts_joined_and_added(texts: list[tuple[str, str]]) -> None:
    def row(text: str) -> TermCounts:
        return counts_in_spans(text_terms(text, "en"), np.zeros(1, np.int64), np.array([len(text)]))

    def as_counters(counts: TermCounts) -> list[Counter[int]]:
        bounds = counts.first.tolist()
        return [
            Counter(dict(zip(counts.term[lo:hi].tolist(), counts.times[lo:hi].tolist(), strict=True)))
            for lo, hi in pairwise(bounds)
        ]  # fmt: skip

    ones, others = (
        join_counts([row(one) for one, _ in texts]),
        join_counts([row(two) for _, two in texts]),
    )
    assert as_counters(ones) == [as_counters(row(one))[0] for one, _ in texts]
    both = [a + b for a, b in zip(as_counters(ones), as_counters(others), strict=True)]
    assert as_counters(add_counts(ones, others)) == both


def test_every_language_has_its_stemmer_and_folded_stop_words() -> None:
    for language in LANGUAGES:
        assert stemmer(language)("lamp")
        assert all(folded(word) == word for word in stop_words(language))
    assert "and" in stop_words("en")
    assert "и" in stop_words("ru")
    assert not stop_words("none")

"""The short ways of seeking claims give what the long ones give."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkwise.core import Document, Hit
from chunkwise.metrics.claims import text_normalization as plain
from chunkwise.metrics.claims.claim_support import supports
from chunkwise.metrics.claims.hit_texts import ReadableHits, whole_words
from chunkwise.metrics.claims.text_normalization import (
    Readable,
    letters_of,
    longest_word,
    number_ends,
)
from chunkwise.text.terms import text_terms
from how_many import examples

LATIN = "".join(map(chr, range(0x300))) + "‘’“”–—…‐‑−‰€₿½™×→≤•"
WORDS = ["lamp", "Lamps", "lit", "1,000", "12.5", "-7", "C#", "C++", "naïve", "straße", "ﬁre", "x²",
         "1’000", "3½", "№", "(-5)", "e.g.", "50%", "£9", "don’t", "燈", "ไฟ", "lit\u00adtle", "Lamp™",
         "e-mail", "email", "5e-mail", "E‑Mail", "&", "and", "R&D"]  # fmt: skip
TEXTS = st.one_of(
    st.text(st.sampled_from(LATIN), max_size=40),
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=12).map("".join),
)


@given(TEXTS)
def test_the_faster_reading_of_latin_texts_reads_the_same(text: str) -> None:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if plain._LATIN.fullmatch(folded):
        assert plain._LATIN_TOKEN.findall(folded) == plain._TOKEN.findall(folded)


@pytest.mark.unwatched
def test_every_latin_character_is_read_the_same_between_others() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    latin = "".join(plain._LATIN.findall(every))
    assert len(latin) > 700
    for point in map(ord, latin):
        for text in (f"a{chr(point)}b", f"1{chr(point)}2", f" {chr(point)}5", f"a {chr(point)} #"):
            folded = text.casefold()
            if plain._LATIN.fullmatch(folded):
                assert plain._LATIN_TOKEN.findall(folded) == plain._TOKEN.findall(folded), point


@example("0E-MAIL", "EMAIL")
@example("e-mail2", "email")
@given(TEXTS, TEXTS)
def test_a_text_that_a_quick_look_refuses_holds_nothing(text: str, claim: str) -> None:
    letters = letters_of(text)
    if letters is None:
        return
    held, sought = plain.plain_form(text), plain.plain_form(claim)
    if longest_word(sought) not in letters:
        assert not plain.holds(held, sought)
    numbers = plain.numbers_of(sought)
    if any(end not in letters for end in number_ends(numbers)):
        assert not numbers <= plain.numbers_of(held)


def test_no_character_of_a_quick_look_becomes_a_letter_or_a_digit() -> None:
    for point in range(0x3000):
        if letters_of(chr(point)) is not None:
            for text in (f"lamp{chr(point)}", f"{chr(point)}27", f"a{chr(point)}b"):
                for word in plain.plain_form(text).split():
                    letters = letters_of(text) or ""
                    assert not word.isascii() or not word.isalpha() or word in letters


@settings(max_examples=examples(20))
@given(st.data())
@pytest.mark.parametrize("language", ["en", "none"])
def test_the_terms_of_a_hit_are_those_of_its_text(language: str, data: st.DataObject) -> None:
    text = data.draw(TEXTS)
    document = Document("d", text)
    size = len(text)
    cuts = st.tuples(st.integers(0, size), st.integers(0, size)).filter(lambda at: at[0] < at[1])
    places = data.draw(st.lists(cuts, min_size=1, max_size=5)) if size else []
    hits = [Hit(document, start, end, 0.0, 1, 1) for start, end in places]
    whole = Hit(document, 0, size, 0.0, 1, 1)
    read = ReadableHits([*hits, whole])
    for hit in hits:
        start, end = whole_words(text, hit.start, hit.end)
        expected = frozenset(text_terms(text[start:end], language).hash.tolist())
        assert read(hit).terms(language) == expected


def test_a_word_that_a_hit_cuts_in_two_is_not_found_in_it() -> None:
    document = Document("d", "The lighthouse keeper lights lamps at dusk.")
    claim = Readable("The lighthouse keeper lights lamps", "en")
    whole = Hit(document, 0, len(document.text), 0.0, 1, 1)
    part = Hit(document, 9, len(document.text), 0.0, 2, 1)
    read = ReadableHits([whole, part])
    assert supports(read(whole), claim, 1.0)
    assert not supports(read(part), claim, 1.0)

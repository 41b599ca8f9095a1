"""The exactness everything rests on: a span's size is what the tokenizer counts in its text, by itself."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_text import NASTY, PIECES

from chunkwise.text.measure import Measure, measure_of
from chunkwise.text.tokenizers import TokenizerLike, get_tokenizer

NAMED = ["o200k_base", "cl100k_base", "words", "characters"]
EVERY: list[TokenizerLike] = [*NAMED, str.split, lambda text: len(text) // 3 + 2]


def measure(text: str, tokenizer: TokenizerLike) -> Measure:
    return measure_of(text, get_tokenizer(tokenizer))


@pytest.mark.parametrize("tokenizer", EVERY)
@settings(max_examples=300, deadline=None)
@given(NASTY, st.data())
def test_the_count_of_any_span_is_the_count_of_its_text(
    tokenizer: TokenizerLike, text: str, data: st.DataObject
) -> None:
    sizes = measure(text, tokenizer)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert sizes.count(start, end) == sizes.tokenizer.count(text[start:end])


SPANS = [
    "".join(random.Random(5).choices(PIECES, k=45)) + "\ud800 \udc00x",
    "don't you're WE'LL I'd 'sabc'll X's 12's é's 文's a_b's.b,c)d]e 1.5,2;3:4!5?6",
]


@pytest.mark.parametrize("tokenizer", NAMED)
@pytest.mark.parametrize("text", SPANS, ids=["pieces", "marks"])
def test_the_count_of_every_span_of_a_nasty_text(tokenizer: str, text: str) -> None:
    sizes = measure(text, tokenizer)
    wrong = [
        (start, end)
        for start in range(len(text) + 1)
        for end in range(start, len(text) + 1)
        if sizes.count(start, end) != sizes.tokenizer.count(text[start:end])
    ]
    assert wrong == []


@pytest.mark.parametrize("tokenizer", NAMED)
def test_long_spans_of_long_texts(tokenizer: str) -> None:
    """Far ends, spaces beyond the look-back, stretches without any place to restart."""
    rng = random.Random(9)
    words = [*PIECES, " " * 200, "x" * 300, "文" * 200, "/" * 90, "\n" * 90, "'" * 80, "1" * 200]
    text = "".join(rng.choice(words) for _ in range(800))
    sizes = measure(text, tokenizer)
    for _ in range(400):
        start, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        assert sizes.count(start, end) == sizes.tokenizer.count(text[start:end]), (start, end)


@pytest.mark.parametrize("tokenizer", EVERY)
@settings(max_examples=150, deadline=None)
@given(NASTY, st.data())
def test_fill_knows_the_exact_size_of_what_it_reaches(
    tokenizer: TokenizerLike, text: str, data: st.DataObject
) -> None:
    sizes = measure(text, tokenizer)
    start = data.draw(st.integers(0, len(text)))
    limit = data.draw(st.integers(1, 20))
    end, size = sizes.fill(start, limit)
    assert start <= end <= len(text)
    assert end == sizes.reach(start, limit)
    assert size == sizes.tokenizer.count(text[start:end])


@pytest.mark.parametrize("tokenizer", NAMED)
@settings(max_examples=100, deadline=None)
@given(NASTY, st.data())
def test_reach_and_back_step_over_whole_tokens(
    tokenizer: str, text: str, data: st.DataObject
) -> None:
    sizes = measure(text, tokenizer)
    place = data.draw(st.integers(0, len(text)))
    amount = data.draw(st.integers(0, 12))
    assert sizes.before(sizes.back(place, amount)) <= max(sizes.before(place) - amount, 0)
    assert 0 <= sizes.back(place, amount) <= place
    assert sizes.before(len(text)) == sizes.tokenizer.count(text)


def test_the_characters_of_a_span_need_no_tokens() -> None:
    sizes = measure("abc" * 10, "characters")
    assert sizes.count(3, 12) == 9
    assert sizes.fill(25, 10) == (30, 5)
    assert "starts" not in vars(sizes)

"""The exactness everything rests on: a span's size is what the tokenizer counts in its text, by itself."""

import random
import re
from typing import SupportsIndex

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.text.characters import CharacterArrays
from chunkwise.text.tokens import measure as measure_module
from chunkwise.text.tokens.measure import TokenMeasure, measure_of
from chunkwise.text.tokens.openai import OpenAITokenizer
from chunkwise.text.tokens.tokenizers import TokenizerLike, get_tokenizer
from how_many import examples
from tables import cases
from text.nasty_text import NASTY, PIECES

NAMED = ["o200k_base", "cl100k_base", "words", "characters"]
EVERY: list[TokenizerLike] = [*NAMED, str.split, lambda text: len(text) // 3 + 2]


def measure(text: str, tokenizer: TokenizerLike) -> TokenMeasure:
    return measure_of(CharacterArrays(text), get_tokenizer(tokenizer))


@pytest.mark.parametrize("tokenizer", EVERY)
@settings(max_examples=examples(40), deadline=None)
@given(NASTY, st.data())
def test_the_count_of_any_span_is_the_count_of_its_text(
    tokenizer: TokenizerLike, text: str, data: st.DataObject
) -> None:
    sizes = measure(text, tokenizer)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert sizes.count(start, end) == sizes.tokenizer.count(text[start:end])


@pytest.mark.parametrize("tokenizer", EVERY)
@given(st.one_of(NASTY, st.text()))
def test_a_tokenizer_that_says_so_looks_at_two_characters_to_restart(
    tokenizer: TokenizerLike, text: str
) -> None:
    found = get_tokenizer(tokenizer)
    assert getattr(found, "restart_sees_two", False) == (tokenizer in NAMED)
    if tokenizer in NAMED and found.restart is not None:
        for at in range(1, len(text)):
            alone = found.restart.match(text[at - 1 : at + 1], 1)
            assert (found.restart.match(text, at) is None) == (alone is None)


class FarSighted(OpenAITokenizer):
    """Restarts behind two spaces only: what lies between two characters does not say so."""

    restart = re.compile(r"(?<=\w {2})(?=\w)")
    restart_sees_two = False
    seam = None

    def count(self, text: str) -> int:
        return len(self.offsets(text))

    def offsets(self, text: str) -> NDArray[np.int64]:
        found = [0, *(each.end() for each in re.finditer(r"\w {2}(?=\w)", text))]
        return np.array(found if text else [], dtype=np.int64)


@pytest.mark.parametrize("at_once", [2, 1 << 15])
@given(NASTY, st.data())
def test_many_spans_are_counted_as_each_is(at_once: int, text: str, data: st.DataObject) -> None:
    """Also where they are so many that a few are looked at after the other."""
    places = st.integers(0, len(text))
    spans = data.draw(st.lists(st.tuples(places, places).map(sorted), max_size=20))
    for tokenizer in (*NAMED, FarSighted("cl100k_base")):
        if isinstance(
            tokenizer, FarSighted
        ):  # it would look behind the start of a span that begins with a space
            spans = [span for span in spans if text[span[0] : span[0] + 1] != " "]
        starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        sizes = TokenMeasure(text, get_tokenizer(tokenizer))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(measure_module, "_AT_ONCE", at_once)
            found = sizes.counts(starts, ends).tolist()
        assert found == [sizes.tokenizer.count(text[start:end]) for start, end in spans]


SPANS = [
    "".join(random.Random(5).choices(PIECES, k=45)) + "\ud800 \udc00x",
    "don't you're WE'LL I'd 'sabc'll X's 12's é's 文's a_b's.b,c)d]e 1.5,2;3:4!5?6",
]


@cases("tokenizer", NAMED)
@cases("text", SPANS)
def test_the_count_of_every_span_of_a_nasty_text(tokenizer: str, text: str) -> None:
    sizes = measure(text, tokenizer)
    wrong = [
        (start, end)
        for start in range(len(text) + 1)
        for end in range(start, len(text) + 1)
        if sizes.count(start, end) != sizes.tokenizer.count(text[start:end])
    ]
    assert wrong == []


SEAMS = [
    "abcdefghijklmnopqrstuvwxyz", "abcdeABCDE", "stmdlrveSTLRVE'", "ab'sll漢ʰ\u0301AB", "ACGT漢a",
    "--=*#.,;:!?()[]{}a ", "-=*#'/\n a.", "aA1-' ",
]  # fmt: skip


@cases("tokenizer", ["o200k_base", "cl100k_base"])
@cases("letters", SEAMS)
def test_spans_between_tokens_inside_words_and_runs_of_signs(tokenizer: str, letters: str) -> None:
    rng = random.Random(letters)
    for _ in range(40):
        text = "".join(rng.choices(letters, k=rng.randint(5, 120)))
        sizes = measure(text, tokenizer)
        cuts = [*sizes.starts.tolist(), len(text)]
        for _ in range(40):
            start, end = sorted((rng.choice(cuts), rng.choice(cuts)))
            assert sizes.count(start, end) == sizes.tokenizer.count(text[start:end]), (
                text,
                start,
                end,
            )
            stop, size = sizes.fill(start, rng.randint(1, 30))
            assert size == sizes.tokenizer.count(text[start:stop]), (text, start, stop)


def test_a_long_word_is_not_counted_again_between_two_of_its_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyz", k=5000))
    sizes = measure(text, "o200k_base")
    start, end = sizes.starts[[500, 900]].tolist()
    monkeypatch.delattr(OpenAITokenizer, "count")
    assert sizes.count(start, end) == 400
    assert sizes.fill(start, 400) == (end, 400)


@pytest.mark.parametrize("tokenizer", NAMED)
@settings(max_examples=examples(25), deadline=None)
@given(NASTY, st.integers(1, 20))
def test_reaches_of_all_positions(tokenizer: str, text: str, limit: int) -> None:
    sizes = measure(text, tokenizer)
    every = np.arange(len(text) + 1)
    assert sizes.reaches(every, limit).tolist() == [sizes.reach(p, limit) for p in every.tolist()]


@pytest.mark.parametrize("tokenizer", NAMED)
@settings(max_examples=examples(25), deadline=None)
@given(NASTY, st.integers(1, 9))
def test_counts_of_many_spans(tokenizer: str, text: str, size: int) -> None:
    sizes, starts = measure(text, tokenizer), np.arange(len(text))
    ends = np.minimum(starts + size, len(text))
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    expected = [sizes.tokenizer.count(text[start:end]) for start, end in spans]
    assert sizes.counts(starts, ends).tolist() == expected


@cases("tokenizer", NAMED)
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
@settings(max_examples=examples(40), deadline=None)
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
@settings(max_examples=examples(25), deadline=None)
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


@pytest.mark.parametrize("tokenizer", NAMED)
@settings(max_examples=examples(40), deadline=None)
@given(NASTY, st.integers(1, 30), st.integers(1, 40))
def test_a_text_measured_in_parts_is_measured_as_a_whole(
    tokenizer: str, text: str, part: int, limit: int
) -> None:
    whole = measure(text, tokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkwise.text.tokens.measure._WINDOW", part)
        parts = measure(text, tokenizer)
        places = np.arange(len(text) + 1)
        assert parts.befores(places).tolist() == whole.befores(places).tolist()
        assert parts.reaches(places, limit).tolist() == whole.reaches(places, limit).tolist()
        assert parts.counts(places, places[::-1].copy().clip(places)).tolist() == [
            whole.count(at, max(at, len(text) - at)) for at in places.tolist()
        ]
        for at in places.tolist():
            assert parts.before(at) == whole.before(at)
            assert parts.fill(at, limit) == whole.fill(at, limit)
            assert parts.back(at, limit) == whole.back(at, limit)


def test_many_spans_of_a_text_of_few_pairs_are_counted_without_a_look_at_each() -> None:
    text = "a\n\n" * 5000
    starts = np.arange(0, len(text), 3)

    class Counted(str):
        """A text that knows how often a piece of it was taken."""

        taken = 0

        def __getitem__(self, key: SupportsIndex | slice) -> str:
            Counted.taken += 1
            return super().__getitem__(key)

    sizes = TokenMeasure(Counted(text), get_tokenizer("o200k_base"))
    assert sizes.counts(starts, starts + 1).tolist() == [1] * len(starts)
    assert Counted.taken < 10

"""Tokens looked up by word are the tokens the encoder gives, whatever the text and whatever was met before."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text.tokens import openai as openai_module
from chunkwise.text.tokens.openai import OpenAITokenizer, TokenCache
from how_many import examples
from tables import cases
from text.nasty_text import NASTY, PIECES

NAMES = ["cl100k_base", "o200k_base"]
TOKENIZERS = {name: OpenAITokenizer(name) for name in NAMES}
WORDS = {name: TokenCache(TOKENIZERS[name]._byte_starts) for name in NAMES}
"""Kept from one example to the next: what was learned from other texts must not matter."""

PROSE = st.lists(
    st.one_of(
        st.sampled_from(
            ["the", " the", " quick,", "it's", "'s", " 1234", "\n", "\r\n\n", "  ", "\t", "//", " a.b", "_x"]
        ),
        st.sampled_from(PIECES),
    ),
    min_size=20,
    max_size=200,
).map("".join)  # fmt: skip


def check(name: str, text: str) -> None:
    data = text.encode("utf-8", "replace")
    assert WORDS[name].starts(data).tolist() == TOKENIZERS[name]._byte_starts(data).tolist()


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(75), deadline=None)
@given(st.one_of(PROSE, NASTY))
def test_any_text_gets_the_encoder_s_tokens(name: str, text: str) -> None:
    check(name, text)


@cases("name", NAMES)
@cases("space", "\t\v\f\r\n\x1c\x1f \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000")
def test_white_space_of_all_kinds_before_a_space(name: str, space: str) -> None:
    """Where white space runs on, the tokenizer does not restart."""
    for end in ("x", "/", "'s", "…", "é", "語", ""):
        check(name, f"word{space} {end} more {space}{space} {end}, and so on. " * 3)


@pytest.mark.unwatched
@pytest.mark.parametrize("name", NAMES)
def test_blocks_giant_words_and_forgetting(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyzäöü"
    fresh = " ".join("".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(20_000))
    giant = "x" * 200_000
    monkeypatch.setattr(openai_module, "_MOST_WORDS", 5_000)
    text = f"{fresh} {giant} {fresh[::-1]}"
    check(name, text)
    assert len(WORDS[name]._first) < 5_000 + openai_module._BLOCK


def test_only_new_words_are_asked_about() -> None:
    """Work is counted, not timed: a text of known words asks for its first and last piece alone."""
    asked = []
    encode = TOKENIZERS["o200k_base"]._byte_starts
    words = TokenCache(lambda data: (asked.append(len(data)), encode(data))[1])
    text = b"so it goes, and so it goes on. " * 10_000
    words.starts(text)
    first = sum(asked)
    asked.clear()
    words.starts(text)
    assert first < 200
    assert sum(asked) < 40


def test_threads_share_it() -> None:
    words = TokenCache(TOKENIZERS["o200k_base"]._byte_starts)
    texts = [
        f"The {n}th text tells of {n * 7} things, {n % 3} of them new. ".encode() * 50
        for n in range(40)
    ]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(words.starts, texts * 3))
    for text, starts in zip(texts * 3, found, strict=True):
        assert np.array_equal(starts, TOKENIZERS["o200k_base"]._byte_starts(text))

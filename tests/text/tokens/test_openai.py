"""Tokens found a window at a time are those of the whole text."""

import random
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text.tokens import openai
from chunkwise.text.tokens.openai import OpenAITokenizer
from how_many import examples
from text.nasty_text import PIECES

OPENAI = ["cl100k_base", "o200k_base"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows so small that every text has many, the margin so narrow that some do not fit together."""
    monkeypatch.setattr(openai, "_WINDOW", 40)
    monkeypatch.setattr(openai, "_MARGIN", 2)


def check(name: str, text: str) -> None:
    encode = OpenAITokenizer(name)._encoded
    data = text.encode()
    lengths = encode(data).tolist()
    starts = openai.token_starts(data, encode).tolist()
    assert [*starts, len(data)] == list(accumulate(lengths, initial=0))


@pytest.mark.unwatched
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize(
    "alphabet",
    [
        LETTERS, LETTERS + "AEIOU", "etaoin's", "abC漢ʰ\u0301é", "ab -1👍", "-", "--=*#.(", "-/", "////-\n",
        "-/a\r\n", "---=a' 1",
    ],
)  # fmt: skip
def test_long_words(name: str, alphabet: str) -> None:
    rng = random.Random(alphabet)
    for _ in range(25):
        check(name, "".join(rng.choices(alphabet, k=400)))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize(
    "text",
    [
        "a" * 3000,
        "ab" * 900,
        "don't" * 300,
        "天地玄黃" * 200,
        "é" * 500,
        "-" * 3000,
        "/" * 3000,
        "",
    ],
)
def test_what_repeats(name: str, text: str) -> None:
    check(name, text)


def test_windows_are_parted_and_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a window is ever encoded at once where letters or spaces allow it."""
    monkeypatch.setattr(openai, "_WINDOW", 500)
    encode = OpenAITokenizer("o200k_base")._encoded
    asked: list[int] = []
    text = "".join(random.Random(4).choices(LETTERS, k=20_000)).encode()
    openai.token_starts(text, lambda data: (asked.append(len(data)), encode(data))[1])
    assert max(asked) == 500
    assert sum(asked) < 30_000


@pytest.mark.parametrize("sign", "-=*/_#")
def test_a_run_of_one_sign_is_encoded_once(monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    """The tokenizer reads such runs a hundred times slower than prose."""
    monkeypatch.setattr(openai, "_WINDOW", 4000)
    encode = OpenAITokenizer("o200k_base")._encoded
    asked: list[int] = []
    text = sign.encode() * 100_000
    openai.token_starts(text, lambda data: (asked.append(len(data)), encode(data))[1])
    assert sum(size for size in asked if size > 1000) < 12_000


NAMES = st.sampled_from(OPENAI)


@settings(max_examples=examples(25), deadline=None)
@given(NAMES, st.lists(st.sampled_from(PIECES), min_size=60, max_size=200).map("".join))
def test_nasty_text(name: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai, "_WINDOW", 60)
        patch.setattr(openai, "_MARGIN", 3)
        check(name, text)

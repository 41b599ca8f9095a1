"""Tokenizers: exact to OpenAI's by a naive encoder, any tokenizer.json, words, characters, a function."""

import random
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np
import pytest
import tokenizers as hf
from hypothesis import assume, given, settings

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.text.tokens.openai import _token_bytes
from chunkwise.text.tokens.tokenizers import Tokenizer, get_tokenizer, tokenizer_names
from how_many import examples
from tables import cases
from text.nasty_text import NASTY, PIECES
from text.tokens.naive_bpe import encode, offsets, ranks

OPENAI = ["cl100k_base", "o200k_base"]

PROSE = [
    "The quick brown fox doesn't jump; it's 1234567 years old, and we'll see.",
    "Größenwahn überfällt Straßenbahnschaffner in Österreich-Ungarn.",
    "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。「そうです。」と彼は言った。",
    "यह पहला वाक्य है। هذه جملة أولى. Это предложение. สวัสดีครับ 안녕하세요",
    "def f(x):\n    return x ** 2  # ☃\n\n\n\tif x == 'y':\r\n\t\tpass\n",
    "👨‍👩‍👧‍👦 and 🇩🇪 and e\u0301 <|endoftext|> https://example.com/a/b//c?d=e#f",
]


@cases("name", OPENAI)
def test_the_length_of_every_token(name: str) -> None:
    known = {number: len(token) for token, number in ranks(name).items()}
    assert dict(enumerate(_token_bytes(name).tolist())) == known


@pytest.mark.unwatched
@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize("text", PROSE)
def test_prose_and_code_are_cut_as_openai_cuts_them(name: str, text: str) -> None:
    tokenizer = get_tokenizer(name)
    assert tokenizer.offsets(text).tolist() == offsets(name, text)
    assert tokenizer.count(text) == len(encode(name, text))


@pytest.mark.parametrize("name", OPENAI)
@settings(max_examples=examples(50), deadline=None)
@given(NASTY)
def test_any_text_is_cut_as_openai_cuts_it(name: str, text: str) -> None:
    # What the newest Unicode assigns, one of the two tables may not know yet.
    assume(all(category(char) != "Cn" for char in text))
    tokenizer = get_tokenizer(name)
    assert tokenizer.offsets(text).tolist() == offsets(name, text)
    assert tokenizer.count(text) == len(encode(name, text))


def test_counts_everyone_knows() -> None:
    """From OpenAI's own cookbook: 6 tokens each, and a word cl100k cuts in six."""
    for name in OPENAI:
        assert get_tokenizer(name).count("tiktoken is great!") == 6
    assert get_tokenizer("cl100k_base").count("antidisestablishmentarianism") == 6


@cases("name", OPENAI)
def test_a_special_token_in_a_text_is_text(name: str) -> None:
    assert get_tokenizer(name).count("<|endoftext|>") > 3
    assert b"".join(encode(name, "<|endoftext|>")) == b"<|endoftext|>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tokenizer.json a kind, each trained here, one of them set to truncate and pad."""
    made = tmp_path_factory.mktemp("tokenizers")
    corpus = [*PROSE, "".join(PIECES)] * 3
    special = ["[UNK]", "[CLS]", "<|endoftext|>"]
    word_piece = hf.Tokenizer(hf.models.WordPiece(unk_token="[UNK]"))
    word_piece.normalizer = hf.normalizers.BertNormalizer()
    word_piece.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    word_piece.train_from_iterator(
        corpus,
        hf.trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False),
    )
    word_piece.post_processor = hf.processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", word_piece.token_to_id("[CLS]"))]
    )
    word_piece.enable_truncation(8)
    word_piece.enable_padding(length=16)
    byte_level = hf.Tokenizer(hf.models.BPE())
    byte_level.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level.train_from_iterator(
        corpus,
        hf.trainers.BpeTrainer(
            vocab_size=500, special_tokens=special, show_progress=False,
            initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        ),
    )  # fmt: skip
    unigram = hf.Tokenizer(hf.models.Unigram())
    unigram.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    unigram.train_from_iterator(
        corpus,
        hf.trainers.UnigramTrainer(
            vocab_size=300, special_tokens=special, unk_token="[UNK]", show_progress=False
        ),
    )
    for name, tokenizer in (
        ("word_piece", word_piece),
        ("byte_level", byte_level),
        ("unigram", unigram),
    ):
        (made / name).mkdir()
        tokenizer.save(str(made / name / "tokenizer.json"))
    return made


HUGGING_FACE = ["word_piece", "byte_level", "unigram"]


@cases("name", HUGGING_FACE)
def test_a_folder_and_its_file_are_the_same_tokenizer(folder: Path, name: str) -> None:
    text = " ".join(PROSE)
    by_folder = get_tokenizer(str(folder / name))
    by_file = get_tokenizer(str(folder / name / "tokenizer.json"))
    assert by_folder.offsets(text).tolist() == by_file.offsets(text).tolist()
    assert by_file.count(text) > 100  # whatever the file says of truncation


@cases("name", HUGGING_FACE)
def test_only_the_text_counts(folder: Path, name: str) -> None:
    tokenizer = get_tokenizer(str(folder / name))
    assert tokenizer.count("") == 0
    assert tokenizer.count("a") < 4  # no [CLS], no padding
    assert tokenizer.count("<|endoftext|>") > 1


@pytest.mark.parametrize("name", [*OPENAI, "words", "characters", *HUGGING_FACE])
@settings(max_examples=examples(20), deadline=None)
@given(NASTY)
def test_offsets_are_one_a_token_in_order_inside_the_text(
    folder: Path, name: str, text: str
) -> None:
    tokenizer = get_tokenizer(str(folder / name) if name in HUGGING_FACE else name)
    starts = tokenizer.offsets(text)
    assert len(starts) == tokenizer.count(text)
    assert (np.diff(starts) >= 0).all()
    assert not len(starts) or (starts[0] >= 0 and starts[-1] < len(text))


@cases("name", [*OPENAI, "words", "characters", *HUGGING_FACE])
@cases("text", ["\ud800", "a \udc00b. \ud83d", "\ud83d\ude00"])
def test_half_a_surrogate_pair_is_a_character(folder: Path, name: str, text: str) -> None:
    tokenizer = get_tokenizer(str(folder / name) if name in HUGGING_FACE else name)
    starts = tokenizer.offsets(text)
    assert tokenizer.count(text) == len(starts)
    assert len(starts) > 0 or name == "word_piece"  # whose normaliser drops what is no character
    assert (starts < len(text)).all()


def test_words_and_characters() -> None:
    assert get_tokenizer("words").offsets("Two words\n天地 x").tolist() == [0, 4, 10, 11, 13]
    assert get_tokenizer("words").count("a\x1cb c\u3000d") == 4
    assert get_tokenizer("characters").offsets("e\u0301👍").tolist() == [0, 1, 2]


@cases(
    "function, size",
    [(len, 9), (str.split, 2), (lambda text: np.int64(7), 7), (lambda text: text.encode(), 9)],
)
def test_a_function_counts_or_encodes(function: object, size: int) -> None:
    tokenizer = get_tokenizer(function)  # type: ignore[arg-type]
    assert tokenizer.count("two words") == size
    starts = tokenizer.offsets("two words and a few more")
    assert (np.diff(starts) >= 0).all()
    assert starts[0] == 0


@cases("answer", [-1, 2.0, None])
def test_a_function_that_counts_nothing_real_is_told_so(answer: Any) -> None:
    with pytest.raises(InvalidParameter, match=rf"returned {answer} .*'x'"):
        get_tokenizer(lambda text: answer).count("x")


def test_a_tokenizer_object_is_taken_as_it_is() -> None:
    tokenizer = get_tokenizer("words")
    assert isinstance(tokenizer, Tokenizer)
    assert get_tokenizer(tokenizer) is tokenizer


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="klingon") as error:
        get_tokenizer("klingon")
    assert all(name in str(error.value) for name in tokenizer_names())


def test_what_is_no_tokenizer(tmp_path: Path) -> None:
    broken = tmp_path / "tokenizer.json"
    broken.write_text('{"model": 3}')
    for wrong in (str(broken), str(tmp_path / "absent.json"), str(tmp_path), 7, None):
        with pytest.raises(InvalidParameter):
            get_tokenizer(wrong)  # type: ignore[arg-type]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidParameter, match="no such file"):
        get_tokenizer(str(tmp_path / "empty"))


def test_long_text_without_a_space_is_counted() -> None:
    rng = random.Random(3)
    text = "".join(rng.choice("ab1/文") for _ in range(3000))
    for name in OPENAI:
        assert get_tokenizer(name).offsets(text).tolist() == offsets(name, text)


@cases(
    "model, tokenizer",
    [
        ("text-embedding-3-large", "cl100k_base"),
        ("openai:text-embedding-3-small", "cl100k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("gpt-4.1-mini", "o200k_base"),
    ],
)
def test_a_model_names_the_tokenizer_it_reads_with(model: str, tokenizer: str) -> None:
    assert get_tokenizer(model).name == tokenizer


def test_an_unknown_tokenizer_is_told_with_the_nearest_names() -> None:
    with pytest.raises(UnknownName, match="did you mean cl100k_base"):
        get_tokenizer("cl100k_bse")
    with pytest.raises(UnknownName, match="did you mean text-embedding-3"):
        get_tokenizer("text-embedding-3-larg")

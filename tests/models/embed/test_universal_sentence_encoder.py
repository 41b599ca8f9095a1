"""The multilingual sentence encoder: its graph without the tokenizer, its tokens, and a vector a sentence."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.models import get_embedder
from chunkwise.models.embed.embedder import suits_late
from chunkwise.models.embed.pretrained import PretrainedEmbedder
from chunkwise.models.embed.universal_sentence_encoder import (
    SentenceEncoder,
    _without_tokenizer,
)
from chunkwise.models.weights.catalog import SETS, USE_MULTILINGUAL
from chunkwise.models.weights.installed import ensure, model_status

KNOWN_TOKENS = {
    "What is the Saxon Garden in Polish?": [825, 32, 12, 192, 47657, 21628, 16, 39130, 21],
    "<s> </s> <unk>": [87, 9, 65, 6372, 9, 65, 87, 39089, 65],
}
"""By the tokenizer of onnxruntime-extensions, which the export was made for."""


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    if model_status(USE_MULTILINGUAL).state != "here":
        pytest.skip("no weights: chunkwise models get multilingual")
    return SentenceEncoder(ensure(USE_MULTILINGUAL)["model.onnx"], 256)


def test_it_is_a_set_and_a_model_for_late_vectors() -> None:
    assert SETS["multilingual"] == ("use-multi",)
    model = get_embedder("use-multi(long=truncate)", cache=False)
    assert isinstance(model, PretrainedEmbedder)
    assert suits_late(model)
    assert {"de", "zh", "ar"} <= set(model.languages)
    assert model.identity == "use-multi:b8b05b01f086:b8b05b01f086:sentences:256:truncate"
    assert pickle.loads(pickle.dumps(model)).identity == model.identity


def test_a_model_without_a_tokenizer_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="SentencepieceTokenizer"):
        _without_tokenizer(b"\x3a\x0a\x0a\x08\x22\x06MatMul")  # a graph of one node


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"none\.onnx"):
        SentenceEncoder(tmp_path / "none.onnx", 256).embed(["a"])


@pytest.mark.parametrize("text", KNOWN_TOKENS)
def test_tokens_are_those_of_the_models_own_tokenizer(encoder: SentenceEncoder, text: str) -> None:
    assert encoder._encode(text).ids.tolist() == KNOWN_TOKENS[text]


def test_offsets_are_those_of_the_text(encoder: SentenceEncoder) -> None:
    text = "Ein  Haus. ﬁne Ⅷ \ud800 你好。\n\nZwei 🎈 Häuser"
    (tokens,) = encoder.token_vectors([text])
    assert (np.diff(tokens.start) >= 0).all()
    assert (tokens.end >= tokens.start).all()
    assert tokens.end[-1] == len(text)
    assert np.array_equal(tokens.start, encoder.token_starts(text))


def test_tokens_have_the_vector_of_their_sentence(encoder: SentenceEncoder) -> None:
    one, two = "Die Frist beträgt drei Monate.", "Der Hund schläft im Garten."
    (tokens,) = encoder.token_vectors([f"{one} {two}"])
    parts = encoder.embed([one, two])
    at = int(tokens.start.searchsorted(len(one)))
    np.testing.assert_allclose(tokens.vectors[:at], np.tile(parts[0], (at, 1)), atol=1e-6)
    rest = len(tokens.vectors) - at
    np.testing.assert_allclose(tokens.vectors[at:], np.tile(parts[1], (rest, 1)), atol=1e-6)
    whole = tokens.vectors.sum(axis=0, dtype=np.float64)
    together = encoder.embed([f"{one} {two}"])[0]
    np.testing.assert_allclose(together, whole / np.linalg.norm(whole), atol=1e-6)


def test_the_same_in_another_language_is_near(encoder: SentenceEncoder) -> None:
    english = "The notice period is three months."
    others = ["Die Kündigungsfrist beträgt drei Monate.", "通知期限为三个月。", "Der Hund schläft."]
    german, chinese, other = encoder.embed(others) @ encoder.embed([english])[0]
    assert min(german, chinese) > 0.7
    assert other < 0.3


def test_a_long_sentence_is_read_in_parts_and_truncate_leaves_out_the_rest(
    encoder: SentenceEncoder,
) -> None:
    words = " ".join(f"Wort{number}" for number in range(60))
    short = SentenceEncoder(encoder.path, 16)
    first = SentenceEncoder(encoder.path, 16, "truncate")
    assert short.count_long([words]) == 0
    assert first.count_long([words, "Wort"]) == 1
    assert short.embed([words])[0] @ first.embed([words])[0] < 0.999
    beginning = words[: int(first._encode(words).end[15])]
    np.testing.assert_allclose(first.embed([words]), first.embed([beginning]), atol=1e-6)


def test_texts_without_words_are_zeros(encoder: SentenceEncoder) -> None:
    assert not encoder.embed(["", " \n\t"]).any()
    assert [len(each.vectors) for each in encoder.token_vectors(["", " "])] == [0, 0]

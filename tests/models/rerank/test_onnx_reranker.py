"""A cross-encoder in an ONNX file: a small one is built here whose scores can be worked out by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.rerank.cross_encoder import OnnxReranker
from chunkwise.models.rerank.reranker import Reranker

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] lamps lamp lit at dusk leave is asked for in writing the when".split()
)
SPECIAL = {"[PAD]", "[CLS]", "[SEP]"}
QUERY = "when lamps lit"
TEXTS = ["lamps lit at dusk", "leave is asked for in writing", "lamps", "", "xyz \ud83d xyz"]


def tokenizer(window: int | None = None) -> Any:
    made = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(sorted(SPECIAL))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    if window:
        made.enable_truncation(window)
    return made


def model(
    outputs: int = 1, types: bool = True, integer: int = TensorProto.INT64, name: str = "logits"
) -> Any:
    """Two bags of words, by token type, and their product; without types the whole bag's square.

    The embedding is one number a word and a column each: specials are 0, so the score counts shared words.
    """
    size = len(WORDS)
    table = np.eye(size, dtype=np.float32)
    table[: len(SPECIAL) + 1] = 0
    inputs = [helper.make_tensor_value_info("input_ids", integer, [1, "n"])]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["words"])]
    if types:
        inputs.append(helper.make_tensor_value_info("token_type_ids", integer, [1, "n"]))
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
            helper.make_node("Sub", ["one", "second"], ["first"]),
            helper.make_node("Unsqueeze", ["first", "last"], ["first_column"]),
            helper.make_node("Unsqueeze", ["second", "last"], ["second_column"]),
            helper.make_node("Mul", ["words", "first_column"], ["first_words"]),
            helper.make_node("Mul", ["words", "second_column"], ["second_words"]),
        ]
    else:
        nodes += [
            helper.make_node("Identity", ["words"], ["first_words"]),
            helper.make_node("Identity", ["words"], ["second_words"]),
        ]
    nodes += [
        helper.make_node("ReduceSum", ["first_words", "middle"], ["first_bag"], keepdims=0),
        helper.make_node("ReduceSum", ["second_words", "middle"], ["second_bag"], keepdims=0),
        helper.make_node("Mul", ["first_bag", "second_bag"], ["shared"]),
        helper.make_node("MatMul", ["shared", "head"], [name]),
    ]
    head = np.array([[-1.0], [2.0], [5.0]], np.float32)[:outputs] if outputs > 1 else [[1.0]]
    constants = {
        "table": table,
        "one": np.array(1.0, np.float32),
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
        "head": np.repeat(np.array(head, np.float32).T, size, axis=0),
    }
    used = {each for node in nodes for each in node.input}
    graph = helper.make_graph(
        nodes,
        "overlap",
        inputs,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, outputs])],
        [numpy_helper.from_array(value, key) for key, value in constants.items() if key in used],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(made)
    return made


def saved(folder: Path, made: Any = None, window: int | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(made or model(), folder / "model.onnx")
    tokenizer(window).save(str(folder / "tokenizer.json"))
    return folder / "model.onnx"


def shared(query: str, text: str) -> float:
    """What the model computes, worked out with words: each pair of equal words counts."""
    known = set(WORDS[len(SPECIAL) + 1 :])
    return float(sum(a == b for a in query.split() for b in text.split() if a in known))


def by_hand(query: str, texts: Sequence[str]) -> Any:
    return np.array([shared(query, text) for text in texts], np.float32)


def test_scores_are_those_of_the_model(tmp_path: Path) -> None:
    reranker = OnnxReranker(saved(tmp_path))
    assert isinstance(reranker, Reranker)
    given = reranker.scores(QUERY, TEXTS)
    assert given.dtype == np.float32
    np.testing.assert_array_equal(given, by_hand(QUERY, TEXTS))
    assert given.argmax() == 0
    assert reranker.scores(QUERY, []).shape == (0,)


def test_a_score_depends_on_its_pair_alone(tmp_path: Path) -> None:
    reranker = OnnxReranker(saved(tmp_path))
    together = reranker.scores(QUERY, TEXTS * 5)
    alone = [reranker.scores(QUERY, [text])[0] for text in TEXTS]
    np.testing.assert_array_equal(together, np.array(alone * 5))


def test_two_classes_give_the_logit_of_the_second(tmp_path: Path) -> None:
    path = saved(tmp_path, model(outputs=2))
    np.testing.assert_array_equal(
        OnnxReranker(path).scores(QUERY, TEXTS), 3 * by_hand(QUERY, TEXTS)
    )


def test_the_passage_is_cut_to_the_window_and_the_question_kept(tmp_path: Path) -> None:
    reranker = OnnxReranker(saved(tmp_path), window=10)  # 3 special, 3 of the question, 4 left
    inside = "at at at lamps"
    np.testing.assert_array_equal(
        reranker.scores(QUERY, [inside + " lit" * 500, "at " + inside + " lit"]), [1.0, 0.0]
    )
    # A question that fills the window by itself leaves room for the passage still.
    assert reranker.scores("lamps " * 99, ["lamps lamps lamps"])[0] == 3 * 4


def test_the_window_is_what_the_files_say(tmp_path: Path) -> None:
    assert OnnxReranker(saved(tmp_path / "a")).window == 512
    assert OnnxReranker(saved(tmp_path / "b", window=40)).window == 40
    path = saved(tmp_path / "c" / "onnx", window=40)
    (tmp_path / "c" / "onnx" / "tokenizer.json").rename(tmp_path / "c" / "tokenizer.json")
    (tmp_path / "c" / "config.json").write_text('{"max_position_embeddings": 20}')
    (tmp_path / "c" / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')
    assert OnnxReranker(path).window == 20
    (tmp_path / "c" / "config.json").write_text("[broken")
    assert OnnxReranker(path).window == 40
    assert OnnxReranker(path, window=12).window == 12


def test_words_of_the_text_that_look_special_are_words(tmp_path: Path) -> None:
    reranker = OnnxReranker(saved(tmp_path))
    np.testing.assert_array_equal(reranker.scores(QUERY, ["[SEP] lamps [PAD] [CLS]"]), [1.0])
    pair = reranker._tokenizer.encode("lamps", "[SEP] lit")
    assert pair.ids.count(WORDS.index("[SEP]")) == 2


def test_the_identity_follows_weights_tokenizer_and_window(tmp_path: Path) -> None:
    first = OnnxReranker(saved(tmp_path / "a"))
    assert OnnxReranker(saved(tmp_path / "b")).identity == first.identity
    others = [
        OnnxReranker(saved(tmp_path / "c", model(outputs=2))),
        OnnxReranker(saved(tmp_path / "a"), window=100),
    ]
    path = saved(tmp_path / "d")
    told = json.loads((tmp_path / "d" / "tokenizer.json").read_text())
    told["model"]["unk_token"] = "[PAD]"
    (tmp_path / "d" / "tokenizer.json").write_text(json.dumps(told))
    others.append(OnnxReranker(path))
    for weight in (1.0, 2.0):
        path = saved(tmp_path / f"e{weight}")
        made = model()
        made.graph.initializer[-1].CopyFrom(
            numpy_helper.from_array(np.full((len(WORDS), 1), weight, np.float32), "head")
        )
        onnx.save(
            made, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=0
        )
        others.append(OnnxReranker(path))
    assert others[-1].path.read_bytes() == others[-2].path.read_bytes()
    assert len({each.identity for each in (first, *others)}) == 6


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no such file"):
        OnnxReranker(tmp_path / "none.onnx")
    path = saved(tmp_path / "a")
    for window in (4, 0):
        with pytest.raises(InvalidParameter, match=f"window is {window}; the minimum is 8"):
            OnnxReranker(path, window=window)
    (tmp_path / "a" / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidParameter, match=r"is not a tokenizer\.json"):
        OnnxReranker(path).scores("a", ["b"])
    (tmp_path / "a" / "tokenizer.json").unlink()
    with pytest.raises(InvalidParameter, match=r"json into its folder"):
        OnnxReranker(path)
    path = saved(tmp_path / "b")
    path.write_bytes(b"not a model")
    with pytest.raises(InvalidParameter, match="cannot be opened as an ONNX model"):
        OnnxReranker(path).scores("a", ["b"])


def test_models_that_are_no_cross_encoders_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a", model(outputs=3))
    with pytest.raises(InvalidParameter, match=r"gives \(1, 3\) numbers per pair"):
        OnnxReranker(path).scores("a", ["b"])
    made = model(types=False)
    made.graph.input[0].name = made.graph.node[0].input[1] = "pixels"
    with pytest.raises(InvalidParameter, match="has the input 'pixels'"):
        OnnxReranker(saved(tmp_path / "b", made)).scores("a", ["b"])

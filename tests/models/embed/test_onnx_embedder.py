"""MiniLM: the same vector to the bit whatever else is read, equal to pooling by hand, fit for any text."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.embed import onnx as onnx_embedder
from chunkwise.models.embed.embedder import TokenEmbedder
from chunkwise.models.embed.onnx import OnnxEmbedder
from chunkwise.models.embed.pretrained import PretrainedEmbedder, minilm
from chunkwise.models.weights.catalog import MINILM
from chunkwise.models.weights.installed import ensure
from tables import cases

TEXTS = [
    "The ferry leaves at six.",
    "A boat departs in the early morning.",
    "Interest rates were raised by a quarter of a point.",
    "Grüße aus Köln 🎈, 漢字 и кириллица",
    "one",
    "The lamp is lit at dusk. " * 6,
]


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    return ensure(MINILM)


@pytest.fixture(scope="module")
def model() -> PretrainedEmbedder:
    return minilm(threads=2)


def by_hand(files: dict[str, Path], texts: list[str]) -> list[NDArray[np.float64]]:
    """What sentence-transformers does: run the graph, average every token, divide by the length."""
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(files["model.onnx"]))
    tokenizer = Tokenizer.from_file(str(files["tokenizer.json"]))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pooled = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        (output,) = session.run(
            ["last_hidden_state"], {**feed, "token_type_ids": np.zeros_like(ids)}
        )
        mean = output[0].astype(np.float64).mean(axis=0)
        pooled.append(mean / np.linalg.norm(mean))
    return pooled


@pytest.mark.usefixtures("large_inputs")
def test_equals_pooling_by_hand(model: PretrainedEmbedder, files: dict[str, Path]) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.dtype == np.float32
    for vector, expected in zip(vectors, by_hand(files, TEXTS), strict=True):
        assert vector @ expected > 0.99999


@pytest.mark.usefixtures("large_inputs")
def test_a_vector_depends_on_the_text_alone(model: PretrainedEmbedder) -> None:
    together = model.embed(TEXTS)
    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    backwards = model.embed(TEXTS[::-1])[::-1]
    one_thread = minilm(threads=1).embed(TEXTS)
    four_threads = minilm(threads=4).embed([*TEXTS, "a stranger in between", *TEXTS])
    for other in (alone, backwards, one_thread, four_threads[: len(TEXTS)]):
        assert np.array_equal(together, other)


def test_means_what_the_model_means(model: PretrainedEmbedder) -> None:
    ferry, boat, rates = model.embed(TEXTS[:3])
    assert ferry @ boat > 0.4 > 0.2 > ferry @ rates


def test_vectors_have_length_one_and_empty_texts_none(model: PretrainedEmbedder) -> None:
    vectors = model.embed(["word", "", " \n\t ", "\x00\x01", "\u200b"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 0, 0, 0], abs=1e-6)
    assert model.embed([]).shape == (0, 384)


def test_token_places_are_code_points(model: PretrainedEmbedder) -> None:
    text = "🎈🎈 Tür\x00e\u0301 \ud800 naïve"
    (tokens,) = model.token_vectors([text])
    words = [text[a:b] for a, b in zip(tokens.start, tokens.end, strict=True)]
    assert words == ["🎈🎈", "Tü", "r\x00e", "naïve"]
    assert len(tokens.vectors) == len(tokens.start)
    assert tokens.start.tolist() == sorted(tokens.start.tolist())
    assert model.token_starts(text).tolist() == tokens.start.tolist()


def test_token_vectors_are_what_the_mean_is_taken_of(model: PretrainedEmbedder) -> None:
    (tokens,) = model.token_vectors([TEXTS[0]])
    assert tokens.vectors.shape == (len(model.token_starts(TEXTS[0])), 384)
    mean = tokens.vectors.mean(axis=0)
    # The two special tokens are in the pooled vector and not here, so only nearly the same.
    assert mean @ model.embed([TEXTS[0]])[0] / np.linalg.norm(mean) > 0.9


def test_marks_of_the_model_are_text(model: PretrainedEmbedder) -> None:
    assert len(model.token_starts("[SEP]")) == 3
    assert model.embed(["[CLS] [SEP] [MASK]"]).any()


@pytest.mark.usefixtures("large_inputs")
def windows_of(model: PretrainedEmbedder, texts: list[str]) -> list[int]:
    assert isinstance(model._model, OnnxEmbedder)
    return [len(model._model._encode(text).windows) for text in texts]


def test_long_texts_are_read_to_the_end(model: PretrainedEmbedder) -> None:
    lamp, rate = "The lamp is lit at dusk. ", "Interest rates rose again. "
    long = lamp * 12 + rate * 12
    small = minilm(window=64)
    vector = small.embed([long])[0]
    cut = minilm(window=64, long="truncate").embed([long, lamp * 12])
    topic = model.embed([rate])[0]
    assert np.array_equal(cut[0], cut[1])
    assert vector @ topic > cut[0] @ topic + 0.1
    assert windows_of(small, [long, lamp, ""]) == [3, 1, 0]
    assert windows_of(model, [lamp * 60 + rate * 60]) == [3]


def test_a_long_text_is_the_token_weighted_mean_of_its_windows(model: PretrainedEmbedder) -> None:
    small = minilm(window=12)
    text = "First sentence is here. Second sentence follows it. Third sentence ends."
    sentences = ["First sentence is here.", "Second sentence follows it.", "Third sentence ends."]
    assert windows_of(small, [text]) == [2]
    parts = [" ".join(sentences[:2]), sentences[2]]
    assert [len(model.token_starts(part)) for part in parts] == [10, 4]
    sums = []
    for part in parts:
        # A unit vector's direction times the length of the raw sum, found again through the tokens.
        raw = small.token_vectors([part])[0].vectors
        unit = model.embed([part])[0]
        total = _sum_with_special_tokens(small, part)
        assert total @ unit == pytest.approx(np.linalg.norm(total), rel=1e-5)
        assert len(raw) == len(model.token_starts(part))
        sums.append(total)
    expected = sums[0] + sums[1]
    vector = small.embed([text])[0]
    assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def _sum_with_special_tokens(model: PretrainedEmbedder, text: str) -> NDArray[np.float64]:
    inner = model._model
    return inner._read(inner._encode(text).ids).sum(axis=0, dtype=np.float64)


@cases(
    "text",
    ["x" * 300_000, "\ud800\udfff" * 50, "\x00" * 5000, "e" + "\u0301" * 3000, "한국어" * 300],
)
def test_hostile_texts(model: PretrainedEmbedder, text: str) -> None:
    (vector,) = model.embed([text])
    assert np.isfinite(vector).all()
    (tokens,) = model.token_vectors([text])
    assert len(tokens.start) == len(tokens.end) == len(tokens.vectors)
    assert (np.diff(tokens.start) >= 0).all()
    assert (tokens.end <= len(text)).all()


def test_identity_tells_what_changes_a_vector(files: dict[str, Path], tmp_path: Path) -> None:
    path = files["model.onnx"]
    plain = OnnxEmbedder(path)
    others = [OnnxEmbedder(path, window=128), OnnxEmbedder(path, long="truncate")]
    others += [OnnxEmbedder(path, pooling="cls")]
    assert len({each.identity for each in [plain, *others]}) == 4
    changed = tmp_path / "tokenizer.json"
    changed.write_text(files["tokenizer.json"].read_text() + "\n")
    assert OnnxEmbedder(path, changed).identity != plain.identity
    assert minilm().identity.removeprefix("minilm:") == plain.identity.removeprefix("model:")
    assert isinstance(plain, TokenEmbedder)
    assert plain.dimensions == minilm().dimensions == 384


def test_first_token_pooling(files: dict[str, Path]) -> None:
    embedder = OnnxEmbedder(files["model.onnx"], pooling="cls")
    raw = embedder._read(embedder._encode(TEXTS[0]).ids)[0]
    assert embedder.embed([TEXTS[0]])[0] == pytest.approx(raw / np.linalg.norm(raw), abs=1e-6)


def test_travels_to_another_process(model: PretrainedEmbedder) -> None:
    there = pickle.loads(pickle.dumps(model))
    assert there.identity == model.identity
    assert np.array_equal(there.embed(TEXTS[:1]), model.embed(TEXTS[:1]))
    inner = pickle.loads(pickle.dumps(model._model))
    assert inner.identity == model._model.identity


def test_what_is_wrong_is_said(files: dict[str, Path], tmp_path: Path) -> None:
    model, tokenizer = files["model.onnx"], files["tokenizer.json"]
    for wrong in ({"pooling": "max"}, {"long": "drop"}, {"window": 2}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            OnnxEmbedder(model, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="no such file"):
        OnnxEmbedder(tmp_path / "none.onnx")
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"not a graph")
    with pytest.raises(ChunkwiseError, match=r"bad\.onnx cannot be opened"):
        OnnxEmbedder(bad, tokenizer).embed(["a"])
    with pytest.raises(InvalidParameter, match=r"json into its folder"):
        OnnxEmbedder(bad)
    empty = tmp_path / "tokenizer.json"
    empty.write_text("{}")
    with pytest.raises(InvalidParameter, match=r"is not a tokenizer\.json"):
        OnnxEmbedder(model, empty).embed(["a"])
    for threads in (0, -1):
        with pytest.raises(InvalidParameter, match=f"threads is {threads}"):
            OnnxEmbedder(model, threads=threads)
        with pytest.raises(InvalidParameter, match=f"threads is {threads}"):
            minilm(threads=threads)
    with pytest.raises(InvalidParameter, match="window is 2"):
        minilm(window=2)


def test_a_window_larger_than_the_model_is_one_line(files: dict[str, Path]) -> None:
    embedder = OnnxEmbedder(files["model.onnx"], window=2000)
    with pytest.raises(ChunkwiseError, match="try a smaller one"):
        embedder.embed(["word " * 600])


def _graph(path: Path, inputs: list[str], output: list[int | str]) -> Path:
    """A graph of one step: the ids as numbers, in the shape asked for."""
    import onnx
    from onnx import TensorProto, helper

    width = [1] if len(output) == 3 else []
    nodes = [helper.make_node("Cast", ["input_ids"], ["number"], to=TensorProto.FLOAT)]
    if width:
        axes = helper.make_tensor("axes", TensorProto.INT64, [1], [2])
        nodes.append(helper.make_node("Unsqueeze", ["number", "axes"], ["out"]))
    else:
        axes = None
        nodes.append(helper.make_node("Identity", ["number"], ["out"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in inputs],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, output)],
        [axes] if axes else [],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(path))
    return path


def test_feeds_only_what_the_graph_takes(files: dict[str, Path], tmp_path: Path) -> None:
    path = _graph(tmp_path / "ids.onnx", ["input_ids"], ["b", "s", "d"])
    embedder = OnnxEmbedder(path, files["tokenizer.json"])
    assert embedder.dimensions == 1
    assert embedder.embed(["hello"]).tolist() == [[1.0]]


def test_a_graph_of_another_kind_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    pooled = _graph(tmp_path / "pooled.onnx", ["input_ids"], ["b", "s"])
    with pytest.raises(ChunkwiseError, match="without pooling"):
        OnnxEmbedder(pooled, files["tokenizer.json"]).embed(["hello"])
    odd = _graph(tmp_path / "odd.onnx", ["input_ids", "pixel_values"], ["b", "s", 1])
    with pytest.raises(ChunkwiseError, match="has the input 'pixel_values'"):
        OnnxEmbedder(odd, files["tokenizer.json"]).embed(["hello"])


def _table(
    path: Path, seed: int = 1, integer: str = "INT64", outside: str = "", scale: float = 1.0
) -> Path:
    """A model that looks each word up in a table of random numbers, kept in a second file if that is named."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    kind = getattr(TensorProto, integer)
    table = (scale * np.random.default_rng(seed).normal(size=(30_522, 3))).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "g",
        [helper.make_tensor_value_info("input_ids", kind, ["b", "s"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "s", 3])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    if outside:
        (path.parent / outside).unlink(missing_ok=True)
        onnx.save(model, str(path), save_as_external_data=True, location=outside, size_threshold=0)
    else:
        onnx.save(model, str(path))
    return path


@cases("outside", ["model.onnx.data", "model.onnx_data"])
def test_weights_in_a_second_file_are_part_of_the_identity(
    files: dict[str, Path], tmp_path: Path, outside: str
) -> None:
    identities, vectors = [], []
    for seed in (1, 2, 1):
        path = _table(tmp_path / "model.onnx", seed, outside=outside)
        embedder = OnnxEmbedder(path, files["tokenizer.json"])
        identities.append(embedder.identity)
        vectors.append(embedder.embed(["hello"]).tolist())
    assert identities[0] == identities[2] != identities[1]
    assert vectors[0] == vectors[2] != vectors[1]


def test_inputs_of_32_bits(files: dict[str, Path], tmp_path: Path) -> None:
    narrow = _table(tmp_path / "narrow.onnx", integer="INT32")
    wide = _table(tmp_path / "wide.onnx")
    one, other = (OnnxEmbedder(path, files["tokenizer.json"]) for path in (narrow, wide))
    assert np.array_equal(one.embed(["a word"]), other.embed(["a word"]))


@pytest.mark.parametrize("scale", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(
    files: dict[str, Path], tmp_path: Path, scale: float
) -> None:
    embedder = OnnxEmbedder(_table(tmp_path / "m.onnx", scale=scale), files["tokenizer.json"])
    for read in (embedder.embed, embedder.token_vectors):
        with pytest.raises(ChunkwiseError, match=r"m\.onnx .*finite"):
            read(["a word", "another"])


def test_a_window_that_special_tokens_fill(files: dict[str, Path], tmp_path: Path) -> None:
    told = json.loads(files["tokenizer.json"].read_text())
    mark: Any = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    text: Any = {"Sequence": {"id": "A", "type_id": 0}}
    told["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [mark, mark, text, mark],
        "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]}},
    }
    path = _table(tmp_path / "model.onnx")
    (tmp_path / "tokenizer.json").write_text(json.dumps(told))
    with pytest.raises(InvalidParameter, match="around a text; the minimum is"):
        OnnxEmbedder(path, window=3).embed(["hello world"])
    assert len(OnnxEmbedder(path, window=4)._encode("hello world").windows) == 2


def test_everything_is_opened_before_threads_begin(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def spread(work: object, items: object, threads: object) -> Any:
        seen.append({"_session", "_output", "_before", "_behind"} <= vars(embedder).keys())
        return iter(())

    monkeypatch.setattr(onnx_embedder, "over_threads", spread)
    embedder = OnnxEmbedder(files["model.onnx"])
    embedder.token_vectors([""])
    embedder = OnnxEmbedder(files["model.onnx"])
    embedder.embed([""])
    assert seen == [True, True]


class TestFilesBesideTheModel:
    @pytest.fixture(params=["", "onnx"])
    def path(self, request: pytest.FixtureRequest, files: dict[str, Path], tmp_path: Path) -> Path:
        """A model beside its files, or in a folder of its own below them."""
        shutil.copy(files["tokenizer.json"], tmp_path)
        return _table(tmp_path / request.param / "model.onnx")

    def pooled_by(self, folder: Path, told: object) -> None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(told))

    def test_pooling_and_window_are_what_they_say(self, path: Path, tmp_path: Path) -> None:
        plain = OnnxEmbedder(path)
        assert (plain.pooling, plain.window) == ("mean", 256)
        self.pooled_by(
            tmp_path, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
        )
        (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 512}')
        first = OnnxEmbedder(path)
        assert (first.pooling, first.window) == ("cls", 512)
        assert np.array_equal(
            first.embed(["a word"]), OnnxEmbedder(path, pooling="cls").embed(["a word"])
        )
        assert not np.allclose(first.embed(["a word"]), plain.embed(["a word"]))
        assert ":cls:512:" in first.identity
        asked = OnnxEmbedder(path, pooling="mean", window=100)
        assert (asked.pooling, asked.window) == ("mean", 100)
        self.pooled_by(tmp_path, {"pooling_mode": "cls"})
        assert OnnxEmbedder(path).pooling == "cls"

    def test_what_says_nothing_usable_changes_nothing(self, path: Path, tmp_path: Path) -> None:
        self.pooled_by(tmp_path, [])
        for said in ('{"max_seq_length": null}', '{"max_seq_length": true}', "[broken"):
            (tmp_path / "sentence_bert_config.json").write_text(said)
            assert (OnnxEmbedder(path).pooling, OnnxEmbedder(path).window) == ("mean", 256)
        self.pooled_by(tmp_path, {"word_embedding_dimension": 3})
        assert OnnxEmbedder(path).pooling == "mean"

    def test_another_way_to_pool_is_refused(self, path: Path, tmp_path: Path) -> None:
        self.pooled_by(tmp_path, {"pooling_mode_max_tokens": True, "pooling_mode_cls_token": True})
        with pytest.raises(InvalidParameter, match="cls_token and max_tokens"):
            OnnxEmbedder(path)
        assert OnnxEmbedder(path, pooling="mean").pooling == "mean"


def test_the_identity_of_minilm_stays() -> None:
    """Hours of embedding are kept under it."""
    assert minilm().identity == "minilm:afdb6f1a0e45:be50c3628f2b:mean:256:windows"

"""Packs of an encoder: read by their header, and computed as a plain forward pass computes them."""

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models import get_embedder
from chunkwise.models.embed.embedder import suits_late
from chunkwise.models.embed.onnx import OnnxEmbedder
from chunkwise.models.int8_weights import EmbeddingPack, encoder_graph, is_pack, read_pack
from chunkwise.models.onnx_file import load_tokenizer
from chunkwise.models.weights.catalogue import GRANITE_30M
from chunkwise.models.weights.installed import ensure, model_status

onnxruntime = pytest.importorskip("onnxruntime")

TEXTS = [
    "dusk",
    "How much protein should a female eat?",
    "Ünicode 🎈, <s> and <pad> as text, 你好.\n\nAnother paragraph.",
    "The committee meets once a quarter; members who miss two meetings leave it. " * 4,
]
ANSWERS = {
    "how much protein should a female eat": "Women between 19 and 70 need 46 grams a day on average.",
    "when are the street lights switched on": "The lamps are lit at dusk.",
    "what is the top of a mountain called": "The summit is its highest point.",
    "how do I give back something I bought": "Goods may be returned within 30 days with the receipt.",
    "why did the server stop answering": "An outage was caused by a full disk on the database host.",
}


# ------------------------------------------------------------------ small packs, made here


def written(folder: Path, **changes: Any) -> Path:
    """A pack of two layers with random numbers."""
    sizes: dict[str, Any] = {
        "hidden": 128, "layers": 2, "heads": 4, "intermediate": 256, "vocab": 40, "max_positions": 18,
        "type_vocab": 1, "layer_norm_eps": 1e-5, "position_offset": 2,
    }  # fmt: skip
    random = np.random.default_rng(5)
    tensors: list[dict[str, Any]] = []
    data: list[bytes] = []

    def add(name: str, *shape: int, group: int = 0) -> None:
        count = math.prod(shape)
        if group:
            codes = random.integers(-127, 128, count).astype(np.int8)
            data.append(codes.tobytes())
            data.append(random.uniform(0.0005, 0.002, count // group).astype("<f4").tobytes())
        else:
            data.append(random.normal(0, 0.3, count).astype("<f4").tobytes())
        length = count + 4 * count // group if group else 4 * count
        kind = "i8" if group else "f32"
        tensors.append({"name": name, "dtype": kind, "shape": shape, "len": length, "group": group})

    hidden, inner = sizes["hidden"], sizes["intermediate"]
    add("word_emb", sizes["vocab"], hidden, group=64)
    add("pos_emb", sizes["max_positions"], hidden)
    add("type_emb", 1, hidden)
    norms = ["emb_ln"]
    for layer in range(sizes["layers"]):
        for part, rows, columns in (
            ("qkv", 3 * hidden, hidden), ("ao", hidden, hidden), ("f1", inner, hidden), ("f2", hidden, inner),
        ):  # fmt: skip
            # One of them in 32 bits: a pack may mix both.
            add(f"l{layer}.{part}.w", rows, columns, group=0 if (layer, part) == (1, "ao") else 64)
            add(f"l{layer}.{part}.b", rows)
        norms += [f"l{layer}.aln", f"l{layer}.fln"]
    for name in norms:
        add(f"{name}.w", hidden)
        add(f"{name}.b", hidden)
    tokenizer = json.dumps(
        {
            "version": "1.0", "added_tokens": [], "normalizer": None,
            "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
            "model": {
                "type": "WordLevel", "unk_token": "w0",
                "vocab": {f"w{number}": number for number in range(sizes["vocab"])},
            },
        }
    ).encode()  # fmt: skip
    header: dict[str, Any] = {
        "format": 1, "meta": {"pooling": "cls", "max_length": 16}, "arch": sizes,
        "tokenizer_len": len(tokenizer), "tensors": tensors,
    }  # fmt: skip
    header |= changes
    head = json.dumps(header).encode()
    path = folder / "model.hmsemb"
    path.write_bytes(b"HMSEMB01" + struct.pack("<Q", len(head)) + head + tokenizer + b"".join(data))
    return path


def forward(pack: EmbeddingPack, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """RoBERTa as its paper has it, head by head, in 64 bits."""
    sizes = pack.architecture

    def table(name: str) -> NDArray[np.float64]:
        return pack.table(name).astype(np.float64)

    def linear(state: Any, name: str) -> Any:
        return state @ table(f"{name}.w").T + table(f"{name}.b")

    def normalised(state: Any, name: str) -> Any:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + sizes.layer_norm_eps)
        return centred / spread * table(f"{name}.w") + table(f"{name}.b")

    places = np.arange(len(ids)) + sizes.position_offset
    state = table("word_emb")[ids] + table("pos_emb")[places] + table("type_emb")[0]
    state = normalised(state, "emb_ln")
    width = sizes.hidden // sizes.heads
    for layer in range(sizes.layers):
        query, key, value = np.split(linear(state, f"l{layer}.qkv"), 3, axis=-1)
        heads = []
        for low in range(0, sizes.hidden, width):
            own = slice(low, low + width)
            scores = np.exp(query[:, own] @ key[:, own].T / math.sqrt(width))
            heads.append(scores / scores.sum(axis=-1, keepdims=True) @ value[:, own])
        mixed = linear(np.concatenate(heads, axis=-1), f"l{layer}.ao")
        state = normalised(state + mixed, f"l{layer}.aln")
        inner = linear(state, f"l{layer}.f1")
        inner *= 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        state = normalised(state + linear(inner, f"l{layer}.f2"), f"l{layer}.fln")
    return np.asarray(state)


def computed(graph: bytes, ids: NDArray[np.int64]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    found: NDArray[np.float32] = session.run(["last_hidden_state"], {"input_ids": ids[None]})[0][0]
    return found


def cosines(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    length = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    return np.asarray((one * other).sum(axis=-1) / length)


class TestSmallPack:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return written(tmp_path)

    @pytest.mark.parametrize("count", [1, 2, 16])
    def test_the_graph_is_the_forward_pass(self, path: Path, count: int) -> None:
        pack = read_pack(path)
        ids = np.random.default_rng(count).integers(0, 40, count)
        expected = forward(pack, ids)
        np.testing.assert_allclose(
            computed(encoder_graph(pack, exact=True), ids), expected, atol=1e-4
        )
        assert cosines(computed(encoder_graph(pack), ids), expected).min() > 0.999

    def test_weights_in_groups_are_codes_times_scales(self, path: Path) -> None:
        pack = read_pack(path)
        words: Any = pack.tensors["word_emb"]
        assert words.codes.shape == (40, 2, 64)
        for row, column in ((0, 0), (0, 63), (0, 64), (39, 127)):
            product = float(words.codes[row, column // 64, column % 64]) * float(
                words.scales[row, column // 64]
            )
            assert pack.table("word_emb")[row, column] == pytest.approx(product, rel=1e-6)

    def test_the_library_of_onnx_finds_nothing_wrong_with_it(self, path: Path) -> None:
        onnx = pytest.importorskip("onnx")
        model = onnx.ModelProto.FromString(encoder_graph(read_pack(path), exact=True))
        onnx.checker.check_model(model, full_check=True)

    def test_an_embedder_reads_what_the_header_says(self, path: Path) -> None:
        model = OnnxEmbedder(path)
        assert (model.pooling, model.window, model.dimensions) == ("cls", 16, 128)
        assert not model.suits_late
        state = computed(encoder_graph(read_pack(path)), np.array([3, 7]))[0]
        np.testing.assert_allclose(
            model.embed(["w3 w7"])[0], state / np.linalg.norm(state), atol=1e-6
        )

    def test_a_window_the_model_has_no_places_for_is_told(self, path: Path) -> None:
        with pytest.raises(ChunkwiseError, match=r"17 tokens at once.*a smaller one"):
            OnnxEmbedder(path, window=30).embed(["w1 " * 17])

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"format": 2}, "format is 2"),
            ({"arch": {}}, "hidden"),
            ({"tokenizer_len": 3}, "bytes"),
            ({"tensors": [{"name": "x", "dtype": "f16", "shape": [1], "len": 2}]}, "f16"),
            ({"tensors": [{"name": "x", "dtype": "f32", "shape": [2], "len": 4}]}, "x has 4 bytes"),
            ({"tensors": [{"name": "x", "dtype": "f32", "shape": [1 << 40], "len": 4}]}, "buffer"),
        ],
    )
    def test_what_is_wrong_with_a_pack_is_told(
        self, tmp_path: Path, changes: dict[str, Any], told: str
    ) -> None:
        with pytest.raises(InvalidParameter, match=f"model.hmsemb cannot be read.*{told}"):
            read_pack(written(tmp_path, **changes))

    @pytest.mark.parametrize("kept", [3, 8, 12, 16, 100, 20_000, -1])
    def test_a_pack_that_breaks_off_is_told(self, path: Path, kept: int) -> None:
        path.write_bytes(path.read_bytes()[:kept])
        with pytest.raises(InvalidParameter, match="cannot be read as the weights"):
            read_pack(path)

    def test_a_missing_tensor_is_told_by_its_name(self, path: Path) -> None:
        pack = read_pack(path)
        left = {name: own for name, own in pack.tensors.items() if name != "l1.f2.b"}
        with pytest.raises(InvalidParameter, match=r"l1\.f2\.b"):
            encoder_graph(pack._replace(tensors=left))

    def test_other_files_are_none(self, tmp_path: Path) -> None:
        (tmp_path / "model.onnx").write_bytes(b"\x08\x09:")
        (tmp_path / "empty").write_bytes(b"")
        assert not is_pack(tmp_path / "model.onnx")
        assert not is_pack(tmp_path / "empty")


# ------------------------------------------------------------------ granite


@pytest.fixture(scope="module")
def path() -> Path:
    if model_status(GRANITE_30M).state != "here":
        pytest.skip("no weights: chunkwise models get granite-30m")
    return ensure(GRANITE_30M)["model.hmsemb"]


@pytest.fixture(scope="module")
def pack(path: Path) -> EmbeddingPack:
    return read_pack(path)


def test_it_is_known_by_its_name() -> None:
    model = get_embedder("granite-30m(long=truncate)", cache=False)
    assert model.identity == "granite-30m:6a1cc24734a5:6a1cc24734a5:cls:512:truncate"
    assert not suits_late(model)


def test_the_catalogue_says_what_the_header_says(path: Path, pack: EmbeddingPack) -> None:
    data = path.read_bytes()
    header = json.loads(data[16 : 16 + struct.unpack("<Q", data[8:16])[0]])
    said, read = header["meta"], GRANITE_30M.encoding
    assert read is not None
    assert (said["pooling"], said["max_length"]) == (read.pooling, read.window)
    assert (said["query_prefix"], said["passage_prefix"]) == (
        read.query_prefix,
        read.passage_prefix,
    )
    assert said["license"] == GRANITE_30M.licence
    assert pack.architecture.hidden == read.dimensions
    assert pack.architecture.max_positions - pack.architecture.position_offset == read.window


def test_vectors_are_those_of_a_plain_forward_pass(path: Path, pack: EmbeddingPack) -> None:
    tokenizer = load_tokenizer(path)
    exact = encoder_graph(pack, exact=True)
    vectors = get_embedder("granite-30m", cache=False).embed(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        ids = np.array(tokenizer.encode(text).ids)
        assert (ids[0], ids[-1]) == (0, 2)
        expected = forward(pack, ids)
        np.testing.assert_allclose(computed(exact, ids), expected, atol=1e-4)
        # What is used rounds to 8 bits in every layer, which no other program does in the same way.
        assert cosines(vector, expected[0]) > 0.9995


def test_the_answer_is_nearest_to_its_question(path: Path) -> None:
    model = get_embedder("granite-30m", cache=False)
    near = model.embed(list(ANSWERS), "query") @ model.embed(list(ANSWERS.values())).T
    assert near.argmax(axis=1).tolist() == list(range(len(ANSWERS)))


def test_spaces_alone_are_no_text(path: Path) -> None:
    model = OnnxEmbedder(path)
    assert load_tokenizer(path).encode(" \n\t", add_special_tokens=False).ids
    assert not model.embed(["", " \n\t\u3000"]).any()
    assert [len(each.vectors) for each in model.token_vectors(["", " \n"])] == [0, 0]
    assert model.embed([" a "]).any()


def test_a_vector_depends_on_its_text_alone_to_the_bit(path: Path) -> None:
    texts = [*TEXTS, *ANSWERS, *ANSWERS.values()] * 2
    alone = OnnxEmbedder(path, threads=1)
    expected = np.stack([alone.embed([text])[0] for text in texts])
    for threads in (1, 2, 4):
        model = OnnxEmbedder(path, threads=threads)
        assert np.array_equal(model.embed(texts), expected)
        assert np.array_equal(model.embed(texts[::-1]), expected[::-1])

"""Embedders by name: read as the record in the catalog says, whichever weights are here."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.models import embedders, get_embedder
from chunkwise.models.embed.onnx import OnnxEmbedder
from chunkwise.models.embed.pretrained import PretrainedEmbedder, minilm
from chunkwise.models.weights.catalog import ALL, MINILM, Weights
from chunkwise.models.weights.installed import ensure, model_status
from chunkwise.testkit import check_embedder

EMBEDDERS = [weights for weights in ALL if weights.kind == "embedder"]
QUERY = "how much protein should a female eat"
PASSAGES = [
    "Women between 19 and 70 need 46 grams of protein a day on average.",
    "The lamps are lit at dusk.",
    "The summit is the highest point of a mountain.",
]
PUBLISHED = {
    "bge-small": [0.0152, -0.0227, 0.0086, -0.0742, 0.0039],
    "arctic-s": [-0.0416, -0.0867, 0.0209, 0.0554, -0.0272],
}
"""First numbers of the vector of "hello world", by other people's exports of the same models."""


@pytest.fixture(params=EMBEDDERS, ids=lambda weights: weights.name)
def weights(request: pytest.FixtureRequest) -> Weights:
    found: Weights = request.param
    if model_status(found).state != "here":
        pytest.skip(f"no weights: chunkwise models get {found.name}")
    return found


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    return ensure(MINILM)


def test_every_name_is_in_the_registry() -> None:
    assert [weights.name for weights in EMBEDDERS] == list(embedders.builtin)
    for weights in EMBEDDERS:
        model = get_embedder(f"{weights.name}(long=truncate)", cache=False)
        assert isinstance(model, PretrainedEmbedder)
        assert model.identity.startswith(f"{weights.name}:")
        assert model.dimensions == (512 if weights.name == "use-multi" else 384)
        with pytest.raises(InvalidParameter, match=weights.name):
            get_embedder(f"{weights.name}(size=3)")


def test_the_identity_of_minilm_is_what_indexes_and_caches_have() -> None:
    assert minilm().identity == "minilm:afdb6f1a0e45:be50c3628f2b:mean:256:windows"


def test_an_identity_tells_prefix_and_pooling() -> None:
    identities = {name: get_embedder(name, cache=False).identity for name in embedders.builtin}
    assert len(set(identities.values())) == len(identities)
    assert "'query: ':'passage: '" in identities["e5-small"]
    assert ":cls:512:windows:'Represent this sentence" in identities["bge-small"]
    assert identities["gte-small"].endswith(":mean:512:windows")


@pytest.mark.usefixtures("large_inputs")
def test_it_keeps_the_contract(weights: Weights) -> None:
    check_embedder(get_embedder(weights.name, cache=False))


def test_the_right_passage_is_nearest(weights: Weights) -> None:
    model = get_embedder(weights.name, cache=False)
    near = model.embed([QUERY], "query")[0] @ model.embed(PASSAGES).T
    assert near.argmax() == 0
    assert near[0] - near[1:].max() > 0.1


def test_the_prefix_is_read_before_the_text(weights: Weights) -> None:
    model = get_embedder(weights.name, cache=False)
    assert weights.encoding is not None
    if weights.encoding.pooling == "sentences":
        pytest.skip("its tokenizer is inside the model, and it has no prefix")
    files = ensure(weights)
    # A model may have its tokenizer inside.
    model_file, tokenizer = files[weights.files[0].name], files.get("tokenizer.json")
    plain = OnnxEmbedder(model_file, tokenizer, weights.encoding.pooling)
    for kind in ("query", "passage"):
        prefix: str = getattr(weights.encoding, f"{kind}_prefix")
        expected = plain.embed([prefix + QUERY])
        np.testing.assert_allclose(model.embed([QUERY], kind), expected, atol=1e-6)  # type: ignore[arg-type]


def test_vectors_are_those_others_get(weights: Weights) -> None:
    if weights.name not in PUBLISHED:
        pytest.skip("no published vector is known")
    vector = get_embedder(weights.name, cache=False).embed(["hello world"])[0]
    # Eight bits against thirty-two: numbers of about 0.05 differ by some hundredths.
    assert vector[:5] == pytest.approx(PUBLISHED[weights.name], abs=0.02)


class TestPrefixes:
    """With the weights every machine has."""

    def made(self, files: dict[str, Path], **given: object) -> OnnxEmbedder:
        return OnnxEmbedder(files["model.onnx"], files["tokenizer.json"], **given)  # type: ignore[arg-type]

    def test_a_prefix_is_text_before_the_text(self, files: dict[str, Path]) -> None:
        plain = self.made(files)
        model = self.made(files, query_prefix="query: ", passage_prefix="passage: ")
        for text in ("dusk", "  dusk", "Ünicode 🎈", "[SEP] x"):
            asked, read = model.embed([text], "query"), model.embed([text])
            assert np.array_equal(asked, plain.embed([f"query: {text}"]))
            assert np.array_equal(read, plain.embed([f"passage: {text}"]))
        assert not model.embed(["", " \n"], "query").any()

    @pytest.mark.usefixtures("large_inputs")
    def test_every_window_has_the_prefix_and_room_for_it(self, files: dict[str, Path]) -> None:
        model = self.made(files, window=12, passage_prefix="passage: ")
        plain = self.made(files, window=12)
        text = "one two three four five six seven eight nine ten"
        assert plain.count_long([text]) == 0
        assert model.count_long([text]) == 1
        (tokens,) = model.token_vectors([text])
        assert len(tokens.vectors) == len(tokens.start) == 10
        parts = ["one two three four five six seven eight", "nine ten"]
        sums = [
            plain._read(plain._encode(f"passage: {part}").ids).sum(axis=0, dtype=np.float64)
            for part in parts
        ]
        whole = np.sum(sums, axis=0)
        np.testing.assert_allclose(model.embed([text])[0], whole / np.linalg.norm(whole), atol=1e-6)
        with pytest.raises(InvalidParameter, match="special tokens and the prefix"):
            self.made(files, window=4, passage_prefix="passage: ").embed(["a"])

    @pytest.mark.usefixtures("large_inputs")
    def test_it_is_part_of_the_identity_and_travels(self, files: dict[str, Path]) -> None:
        plain = self.made(files)
        models = [
            plain, self.made(files, query_prefix="a"), self.made(files, passage_prefix="a"),
        ]  # fmt: skip
        assert len({each.identity for each in models}) == 3
        there = pickle.loads(pickle.dumps(models[1]))
        assert there.identity == models[1].identity
        assert np.array_equal(there.embed(["x"], "query"), models[1].embed(["x"], "query"))
        named = pickle.loads(pickle.dumps(get_embedder("e5-small(window=64)", cache=False)))
        assert named.identity == get_embedder("e5-small(window=64)", cache=False).identity

"""The strategy semantic: where it cuts, what it asks of a model, and that its limits hold."""

import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise import Document, chunk_text
from chunkwise.base.errors import InvalidParameter, MissingExtra, UnknownName
from chunkwise.chunkers.cluster import ClusterChunker
from chunkwise.chunkers.semantic import SemanticChunker, border_similarity, named_embedder
from chunkwise.ext import get_strategy
from chunkwise.models.embed.embedder import Embedder
from chunkwise.testkit import check_chunker, check_chunks
from chunkwise.text.analyzed import Analyzed
from hash_embedder import HashEmbedder, PlainHashEmbedder
from how_many import examples
from tables import cases

HARBOUR = (
    "The harbour wakes before the sun does. Fishing boats leave the quay while it is dark. "
    "Their nets are mended on the pier. Gulls follow every boat that brings fish back. "
    "The catch is sold at the harbour market. "
)
BREAD = (
    "A bread dough needs flour, water, salt and yeast. Knead the dough until it is smooth. "
    "Let the dough rise in a warm bowl. Bake the loaf in a hot oven. "
    "The crust of the loaf turns brown and crisp. "
)
LAW = (
    "The court heard the appeal in March. The judge asked both lawyers about the contract. "
    "The defendant had broken the contract. The court ordered the defendant to pay damages. "
    "The lawyers may appeal against the judgment. "
)
METHODS = ("threshold", "percentile", "deviation", "gradient")


@cases("method", METHODS)
def test_two_subjects_are_cut_where_one_turns_to_the_other(method: str) -> None:
    chunks = chunk_text(HARBOUR + BREAD, strategy=f"semantic(method={method})")
    assert len(HARBOUR) in [chunk.start for chunk in chunks]


def test_by_default_each_subject_is_one_chunk() -> None:
    chunks = chunk_text(HARBOUR + BREAD + LAW, strategy="semantic")
    assert [chunk.text for chunk in chunks] == [HARBOUR.strip(), BREAD.strip(), LAW.strip()]


def test_late_vectors_find_the_subjects_too_with_a_threshold_of_their_own() -> None:
    spec = "semantic(vectors=late, method=percentile, amount=80)"
    starts = [chunk.start for chunk in chunk_text(HARBOUR + BREAD + LAW, strategy=spec)]
    assert starts == [0, len(HARBOUR), len(HARBOUR + BREAD)]


class Compass:
    """Each text has the direction its first word names, in degrees."""

    identity, dimensions = "compass", 2

    def embed(self, texts: list[str], kind: str = "passage") -> np.ndarray:
        angle = np.radians([float(text.split()[0]) for text in texts])
        return np.column_stack((np.cos(angle), np.sin(angle))).astype(np.float32)


def told(angles: list[int]) -> str:
    return "\n\n".join(f"{angle} degrees it shall be, and not one more." for angle in angles)


def cuts(angles: list[int], **parameters: object) -> list[int]:
    """How many sentences precede each cut."""
    chunks = chunk_text(
        told(angles),
        strategy=SemanticChunker(
            **{"model": Compass(), "min_tokens": 0, "buffer": 0, **parameters}
        ),
    )
    return np.cumsum([chunk.text.count("degrees") for chunk in chunks])[:-1].tolist()


def test_a_threshold_is_a_cosine() -> None:
    angles = [0, 0, 59, 59, 120, 120]  # cos 59° = 0.515, cos 61° = 0.485
    assert cuts(angles) == [4]
    assert cuts(angles, threshold=0.52) == [2, 4]
    assert cuts(angles, threshold=-1) == []
    assert cuts([0, 1, 2], threshold=1) == [1, 2]


def test_methods_look_at_the_documents_own_similarities() -> None:
    angles = [0, 0, 0, 5, 5, 5, 10, 10, 10, 14, 14, 14]
    assert cuts(angles) == []
    assert cuts(angles, method="percentile", amount=80) == [3, 6]
    assert cuts(angles, method="percentile", amount=0) == [3, 6, 9]
    assert cuts(angles, method="deviation", amount=1) == [3, 6]
    assert cuts(angles, method="deviation", amount=3) == []
    # Ever faster, then suddenly: the last step is the lowest, but the one at 3 is the deepest dip.
    slope = [0, 0, 0, 30, 30, 30, 45, 65, 90, 122]
    assert cuts(slope, method="percentile", amount=88) == [9]
    assert cuts(slope, method="gradient", amount=88) == [3]


def test_a_text_that_says_the_same_all_the_time_has_no_turn() -> None:
    for method in METHODS:
        assert cuts([20] * 30, method=method) == []


def test_the_buffer_makes_one_stray_sentence_no_turn() -> None:
    angles = [0, 0, 0, 70, 0, 0, 0, 90, 90, 90, 90]
    assert cuts(angles, threshold=0.4) == [3, 4, 7]
    assert cuts(angles, threshold=0.4, buffer=2) == [7]


def test_similarity_is_that_of_the_sums_on_either_side() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(9001, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for buffer in (0, 1, 3):
        found = border_similarity(vectors, buffer)
        assert len(found) == 9000
        for border in (1, 2, 4095, 4096, 4097, 4098, 8192, 8193, 9000):
            left = vectors[max(border - 1 - buffer, 0) : border].sum(axis=0)
            right = vectors[border : border + 1 + buffer].sum(axis=0)
            cosine = left @ right / np.linalg.norm(left) / np.linalg.norm(right)
            assert found[border - 1] == pytest.approx(cosine, abs=1e-4)
    assert border_similarity(vectors[:1], 1).tolist() == []


def test_units_that_say_nothing_are_no_turn() -> None:
    vectors = np.array([[1, 0], [0, 0], [1, 0]], dtype=np.float32)
    assert border_similarity(vectors, 0).tolist() == [1, 1]


def test_fragments_join_the_neighbor_nearer_in_meaning() -> None:
    angles = [0, 0, 0, 70, 100, 100, 100]  # nearer to what follows
    assert cuts(angles, threshold=0.9) == [3, 4]
    assert cuts(angles, threshold=0.9, min_tokens=15) == [3]
    assert cuts([0, 0, 0, 30, 100, 100, 100], threshold=0.9, min_tokens=15) == [4]
    # Nothing joins where the limit forbids it, on the better side or on both.
    assert cuts(angles, threshold=0.9, min_tokens=15, max_tokens=45) == [3]
    assert cuts([*angles, 100], threshold=0.9, min_tokens=15, max_tokens=45) == [4]
    # Then it takes over a sentence from the better side.
    assert cuts(angles, threshold=0.9, min_tokens=15, max_tokens=34) == [3, 5]


def test_a_group_over_the_limit_is_cut_at_a_weak_place() -> None:
    angles = [0, 0, 0, 20, 20, 20, 20, 20]
    assert cuts(angles, max_tokens=60) == [3]
    assert cuts([0] * 8, max_tokens=60) == [5]


@pytest.mark.unwatched
@pytest.mark.parametrize("vectors", ["own", "late"])
def test_the_contract_holds_with_any_vectors(vectors: str) -> None:
    check_chunker(
        SemanticChunker(model=HashEmbedder(), vectors=vectors, max_tokens=30), overlap=False
    )


@pytest.mark.unwatched
def test_the_contract_holds_on_large_and_strange_documents() -> None:
    line = "word and word " * 20_000
    strange = "👨‍👩‍👧‍👦🇩🇪" * 3000
    for text in (line, strange, "x" * 200_000, "Yes. " * 5000):
        document = Document("x", text)
        strategy = get_strategy(SemanticChunker(model=HashEmbedder(), max_tokens=200))
        check_chunks(document, list(strategy.chunks(document)), limit=strategy.limit, overlap=False)


@settings(max_examples=examples(40), deadline=None)
@given(
    words=st.lists(st.sampled_from("tide lamp. bread; dough! 文字。 👨‍👩‍👧 e\u0301 \n\n # Head\n |a| - x".split(" "))),
    size=st.integers(1, 40),
    share=st.sampled_from([0.0, 0.4, 0.9]),
    method=st.sampled_from(METHODS),
    late=st.booleans(),
)  # fmt: skip
def test_limit_order_and_coverage_on_any_text(
    words: list[str], size: int, share: float, method: str, late: bool
) -> None:
    made = SemanticChunker(
        model=HashEmbedder(), max_tokens=size, overlap=int(size * share), method=method,
        vectors="late" if late else "own", buffer=size % 3,
    )  # fmt: skip
    document = Document("any", " ".join(words), format="markdown")
    strategy = get_strategy(made)
    check_chunks(document, list(strategy.chunks(document)), limit=strategy.limit)


def test_overlap_repeats_the_end_of_the_group_before() -> None:
    text = HARBOUR + BREAD + LAW
    chunks = chunk_text(text, strategy="semantic(overlap_sentences=1)")
    assert len(chunks) == 3
    for before, after in pairwise(chunks):
        assert text[after.start : before.end].count(".") == 1


def test_a_sentence_is_read_once_whatever_the_buffer() -> None:
    document = Analyzed(Document("x", HARBOUR + BREAD))
    for buffer in (0, 1, 5):
        model = HashEmbedder()
        SemanticChunker(model=model, buffer=buffer).split(document)
        assert model.asked == [text.strip() + "." for text in (HARBOUR + BREAD).split(".")[:-1]]


def test_a_heading_is_read_and_kept_with_what_follows() -> None:
    text = "# Harbour\n\nBoats leave.\n\n# Bread\n\nDough rises."
    model = HashEmbedder()
    chunks = chunk_text(text, strategy=SemanticChunker(model=model, min_tokens=0, threshold=1.0))
    assert model.asked == ["# Harbour\n\nBoats leave.", "# Bread\n\nDough rises."]
    assert [chunk.text for chunk in chunks] == model.asked


def test_late_vectors_need_a_model_that_looks_inside_a_text() -> None:
    class Costly(PlainHashEmbedder):
        @property
        def dimensions(self) -> int:  # type: ignore[override]
            raise AssertionError("an endpoint would send a request for it")

    for strategy in (SemanticChunker, ClusterChunker):
        made = strategy(model=Costly(), vectors="late")
        with pytest.raises(InvalidParameter, match=r"hash has no token vectors; .*'own'"):
            chunk_text(HARBOUR + BREAD, strategy=made)


@cases("text", ["", " \n\t "])
def test_a_text_without_words_has_no_pieces(text: str) -> None:
    for vectors in ("own", "late"):
        for strategy in (SemanticChunker, ClusterChunker):
            made = strategy(model=HashEmbedder(), vectors=vectors)
            assert list(made.split(Analyzed(Document("x", text)))) == []


def test_text_without_marks_is_grouped_in_parts() -> None:
    model = HashEmbedder()
    chunk_text("tide " * 2000 + "bread " * 2000, strategy=SemanticChunker(model=model))
    assert 15 <= len(model.asked) <= 25


@cases(
    "parameters, message",
    [
        ({"threshold": 1.5}, "threshold is 1.5; the maximum is 1.0"),
        ({"threshold": "low"}, "threshold is 'low'; expected a number"),
        ({"threshold": float("nan")}, "threshold is nan; expected a number"),
        ({"threshold": True}, "threshold is True; expected a number"),
        ({"method": "magic"}, "allowed: 'threshold', 'percentile'"),
        ({"amount": 3}, "instead; amount is for"),
        ({"method": "percentile", "amount": 101}, "the maximum is 100.0"),
        ({"buffer": 0.5}, "buffer is 0.5; expected an integer"),
        ({"vectors": "both"}, "allowed: 'own', 'late'"),
        ({"model": 5}, "model is 5; expected a name"),
        ({"max_tokens": 10, "min_tokens": 11}, "must not exceed max_tokens"),
    ],
)
def test_a_wrong_parameter_is_told(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        get_strategy("semantic", **parameters)


def test_a_threshold_may_be_written_as_a_whole_number() -> None:
    assert get_strategy("semantic(threshold=1)").chunker.threshold == 1  # type: ignore[attr-defined]
    assert (
        get_strategy("semantic(max_tokens=800, overlap=0, threshold=0.25)").label
        == "semantic(max_tokens=800, overlap=0, threshold=0.25)"
    )


def test_an_unknown_model_is_told() -> None:
    with pytest.raises(UnknownName, match="nonesuch"):
        chunk_text("One. Two.", strategy="semantic(model=nonesuch)")


def test_a_missing_library_is_answered_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(model: str) -> Embedder:
        raise MissingExtra(f"the model {model}", "fastembed")

    monkeypatch.setattr("chunkwise.chunkers.semantic.named_embedder", missing)
    for name in ("semantic", "cluster"):
        with pytest.raises(
            MissingExtra, match=rf"strategy {name} needs .*'chunkwise\[fastembed\]'"
        ):
            chunk_text("One. Two.", strategy=name)


@pytest.mark.usefixtures("processes")
def test_strategies_are_listed_without_loading_a_runtime() -> None:
    code = (
        "import json, sys; from chunkwise.chunkers import describe_strategies, get_strategy; describe_strategies(); "
        "get_strategy('semantic'); get_strategy('cluster'); "
        "print(json.dumps([m for m in ('onnxruntime', 'tokenizers', 'scipy') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_a_model_is_loaded_once() -> None:
    assert named_embedder("minilm") is named_embedder("minilm")


@cases(
    "text, spec",
    [
        ("Same sentence here. " * 200, "semantic(max_tokens=100, min_tokens=40)"),
        ("word " * 3000, "semantic(max_tokens=100, min_tokens=40)"),
        ("word " * 3000, "cluster(max_tokens=100, min_tokens=40)"),
    ],
)
def test_a_fragment_takes_over_from_a_full_neighbor(text: str, spec: str) -> None:
    sizes = [chunk.token_count for chunk in get_strategy(spec).chunks(Document("d", text))]
    assert min(sizes) >= 40


@given(
    st.lists(st.sampled_from((*HARBOUR.split(". "), *LAW.split(". "), "Yes", "No")), min_size=40),
    st.integers(60, 120),
    st.sampled_from(("semantic", "cluster")),
)
@settings(max_examples=examples(30), deadline=None)
def test_no_chunk_of_short_sentences_is_below_the_least(
    sentences: list[str], limit: int, name: str
) -> None:
    text = " ".join(f"{each.strip('. ')}." for each in sentences)
    strategy = get_strategy(f"{name}(max_tokens={limit}, min_tokens=20)", model=HashEmbedder())
    document = Document("d", text)
    chunks = list(strategy.chunks(document))
    check_chunks(document, chunks, limit=strategy.limit, overlap=False)
    # Two neighbors that do not fit into one chunk hold at least 61 tokens in sentences of at most 14.
    assert min(chunk.token_count for chunk in chunks) >= 20

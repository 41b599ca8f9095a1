"""The contracts of embedders and rerankers: kept by ours, and each breach found in ones that break it."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import BrokenContract, ChunkwiseError
from chunkwise.models.embed.embedder import Kind
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.testkit import check_embedder, check_language_model, check_reranker
from hash_embedder import HashEmbedder, PlainHashEmbedder
from rule_summarizer import FirstSentences
from tables import cases

Rows = NDArray[np.float32]


def test_what_we_have_keeps_the_contract() -> None:
    check_embedder("minilm")
    check_embedder(PlainHashEmbedder(), ["my own", "", "texts"])
    check_embedder(HashEmbedder())


class NotNormalised(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        return 2 * super().embed(texts, kind)


class NotFinite(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        return super().embed(texts, kind) * np.float32("nan")


class WordsForNothing(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        return super().embed([text if text.strip() else "nothing" for text in texts], kind)


class MixesABatch(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        rows = super().embed(texts, kind)
        mixed = rows + np.float32(0.01) * rows.mean(axis=0) * rows.any(axis=1, keepdims=True)
        length = np.linalg.norm(mixed, axis=1, keepdims=True)
        return (mixed / np.where(length == 0, 1, length)).astype(np.float32)


class SortsTheTexts(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        words = sorted(text for text in texts if text.strip())
        return super().embed([words.pop(0) if text.strip() else text for text in texts], kind)


class SortsQuestionsOnly(SortsTheTexts):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        read = super() if kind == "query" else PlainHashEmbedder()
        return read.embed(texts, kind)


class Doubles(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        return super().embed(texts, kind).astype(np.float64)  # type: ignore[return-value]


class DropsRepeats(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        return super().embed(list(dict.fromkeys(texts)), kind)


class OtherDimensions(PlainHashEmbedder):
    dimensions = 17

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        return PlainHashEmbedder().embed(texts, kind)


class NoDimensions(PlainHashEmbedder):
    dimensions = 0


class NoName(PlainHashEmbedder):
    identity = ""


class OneByObject(PlainHashEmbedder):
    """Counts how often it was made: its name is none after a copy."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.identity = f"number {type(self).made}"

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(self), ()


class ForgetsItself(PlainHashEmbedder):
    """Its copy gives other vectors by the same name."""

    turned = False

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Turned, ()


class Turned(PlainHashEmbedder):
    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
        return -super().embed(texts, kind)


class CannotTravel(PlainHashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.hook = lambda: None


class Renames(PlainHashEmbedder):
    @property
    def identity(self) -> str:  # type: ignore[override]
        return "read" if self.asked else "unread"

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return AlwaysRead, ()


class AlwaysRead(PlainHashEmbedder):
    identity = "read"


@cases(
    "broken, said",
    [
        (NotNormalised, "has length 2, expected 1"),
        (NotFinite, "has length nan"),
        (WordsForNothing, "the vector of '' has length 1, expected 0"),
        (MixesABatch, "has another vector"),
        (SortsTheTexts, "has another vector"),
        (SortsQuestionsOnly, "has another vector"),
        (Doubles, r"returned float64 \(16, 16\); expected float32 \(16, 16\)"),
        (DropsRepeats, r"returned float32 \(15, 16\)"),
        (OtherDimensions, r"expected float32 \(16, 17\)"),
        (NoDimensions, "dimensions is 0"),
        (NoName, "identity of NoName is ''"),
        (OneByObject, "its pickle has the identity number"),
        (ForgetsItself, "its pickle returns another vector for"),
        (CannotTravel, "cannot be pickled"),
        (Renames, "identity or dimensions changed after use"),
    ],
)
def test_a_breach_is_told(broken: type[PlainHashEmbedder], said: str) -> None:
    with pytest.raises(BrokenContract, match=said):
        check_embedder(broken())


def test_texts_of_ones_own_are_read_too() -> None:
    class FearsTheSea(PlainHashEmbedder):
        def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Rows:
            return super().embed(["" if "sea" in text else text for text in texts], kind)

    with pytest.raises(BrokenContract, match="the vector of 'the sea' has length 0, expected 1"):
        check_embedder(FearsTheSea(), ["the sea"])


class Lengths:
    identity = "lengths"

    def scores(self, query: str, texts: Sequence[str]) -> Rows:
        return np.array([len(text) for text in texts], np.float32)


class Places(Lengths):
    def scores(self, query: str, texts: Sequence[str]) -> Rows:
        return np.arange(len(texts), dtype=np.float32)


class Whole(Lengths):
    def scores(self, query: str, texts: Sequence[str]) -> Rows:
        return np.array([len(text) for text in texts])


class Short(Lengths):
    def scores(self, query: str, texts: Sequence[str]) -> Rows:
        return super().scores(query, texts[:1])


def test_rerankers_are_held_to_theirs() -> None:
    check_reranker(Lengths(), ["mine"])
    for broken, said in (
        (Places, "s score depends on the other texts"),
        (Short, "scores for"),
        (Whole, "returned int64"),
    ):
        with pytest.raises(BrokenContract, match=said):
            check_reranker(broken())


class Echo:
    """A language model that says what it was asked."""

    identity = "echo"
    price_name = "local"
    window: int | None = None
    concurrency = 1

    def complete(self, request: Request, stop: object = None) -> Completion:
        return Completion(request.user, len(request.user), len(request.user))


class Refuses(Echo):
    """To say why nothing comes is within the contract."""

    def complete(self, request: Request, stop: object = None) -> Completion:
        raise ChunkwiseError("not today")


class SaysText(Echo):
    def complete(self, request: Request, stop: object = None) -> Completion:
        return request.user  # type: ignore[return-value]


class FearsSurrogates(Echo):
    def complete(self, request: Request, stop: object = None) -> Completion:
        return Completion(request.user, len(request.user.encode()), 1)


class CountsBelowNothing(Echo):
    def complete(self, request: Request, stop: object = None) -> Completion:
        return Completion("", -1, 0)


class NoLlmName(Echo):
    identity = ""


class NoPrice(Echo):
    price_name = ""


class NoWindow(Echo):
    window = 0


class NobodyAtOnce(Echo):
    concurrency = 0


class RenamesItself(Echo):
    def complete(self, request: Request, stop: object = None) -> Completion:
        self.identity += "!"
        return super().complete(request)


def test_language_models_are_held_to_theirs() -> None:
    for kept in (Echo(), Refuses(), FirstSentences()):
        check_language_model(kept, ["mine"])
    for broken, said in (
        (SaysText, "returned str.* Completion"),
        (FearsSurrogates, "raised UnicodeEncodeError"),
        (CountsBelowNothing, "prompt_tokens is -1"),
        (NoLlmName, "identity of NoLlmName is ''"),
        (NoPrice, "price_name is ''"),
        (NoWindow, "window is 0"),
        (NobodyAtOnce, "concurrency is 0"),
        (RenamesItself, "its identity changed after use"),
    ):
        with pytest.raises(BrokenContract, match=said):
            check_language_model(broken())

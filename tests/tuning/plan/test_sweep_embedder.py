"""A sweep's model: money as it goes, and one failure for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.models.embed.embedder import Embedder, Kind, TokenEmbedder
from chunkwise.models.http_client import EndpointError
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from chunkwise.tuning.plan.sweep_budget import FailFastEmbedder, SweepEmbedder, sweep_embedder
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import Outcome
from hash_embedder import HashEmbedder, PlainHashEmbedder
from tables import cases
from tuning.run.small_sweep import inputs, plan_of, sweep

DOCUMENTS, QUERIES = inputs()
SIZES = (30, 60, 120, 240)
PLAN = plan_of(
    *(
        Configuration(f"sentences(max_tokens={size}, overlap=0)", retriever, "none", 0, vectors)
        for size in SIZES
        for retriever, vectors in (("dense", "own"), ("bm25", "none"))
    )
)
PRICE = 5.0


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


def spent_on(texts: Sequence[str]) -> float:
    return PRICE * sum(map(get_tokenizer(DEFAULT_TOKENIZER).count, texts)) / 1e6


def swept(folder: Path, money: float, embedder: Embedder) -> list[Outcome]:
    paid = replace(sweep(), max_cost=(money, "USD"), price=(PRICE, "USD"))
    model = sweep_embedder(paid, embedder)
    return run_plan(PLAN, DOCUMENTS, QUERIES, paid, SweepRecord(folder), embedder=model)


def test_what_the_budget_does_not_allow_is_not_asked(tmp_path: Path) -> None:
    whole = PlainHashEmbedder()
    assert not any(each.error for each in swept(tmp_path / "whole", 1e9, whole))
    money = spent_on(whole.asked) / 2
    (tmp_path / "home").rename(tmp_path / "kept before")

    first = PlainHashEmbedder()
    found = swept(tmp_path / "out", money, first)
    assert 0 < spent_on(first.asked) <= money
    words, own = ([each for each in found if each.configuration.vectors == v] for v in ("none", "own"))  # fmt: skip
    assert not any(each.error for each in words)
    assert not own[0].error
    assert own[-1].error.startswith("cost limit reached: ")
    # What is refused once stays refused: a smaller chunking behind it would be an odd one out.
    failed = [bool(each.error) for each in own]
    assert failed == sorted(failed)
    assert len({each.error for each in own if each.error}) == 1

    rest = PlainHashEmbedder()
    assert not any(each.error for each in swept(tmp_path / "out", 1e9, rest))
    assert not set(first.asked) & set(rest.asked), "what was paid for is kept"
    assert set(first.asked) | set(rest.asked) == set(whole.asked)


def test_late_vectors_are_paid_for_as_well(tmp_path: Path) -> None:
    paid = replace(sweep(), max_cost=(0.0, "USD"), price=(PRICE, "USD"))
    model = sweep_embedder(paid, HashEmbedder())
    assert isinstance(model, TokenEmbedder)
    late = plan_of(Configuration("sentences(max_tokens=60)", "dense", "none", 0, "late"))
    (found,) = run_plan(
        late, DOCUMENTS, QUERIES, paid, SweepRecord(tmp_path / "out"), embedder=model
    )
    assert found.error.startswith("cost limit reached: about 0")
    plain = sweep_embedder(paid, PlainHashEmbedder())
    assert not hasattr(plain, "token_vectors")


class Endpoint(PlainHashEmbedder):
    """Hands out batches, and fails as it is told."""

    def __init__(self, status: int | None) -> None:
        super().__init__()
        self.status = status
        self.requests = 0

    def embed_each(
        self, texts: Sequence[str], kind: Kind = "passage"
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        self.requests += 1
        if self.status != 200:
            raise EndpointError("host", "answered", "look", self.status)
        yield 0, self.embed(texts, kind)


@cases("status, requests", [(None, 1), (401, 1), (503, 1), (400, 4)])
def test_one_failure_is_that_of_all_but_for_texts_that_are_refused(
    tmp_path: Path, status: int | None, requests: int
) -> None:
    endpoint = Endpoint(status)
    model = SweepEmbedder(endpoint)
    found = run_plan(
        PLAN, DOCUMENTS, QUERIES, sweep(), SweepRecord(tmp_path / "out"), embedder=model
    )
    assert endpoint.requests == requests
    assert {each.error for each in found} == {"", "host answered; look"}
    assert sum(bool(each.error) for each in found) == len(SIZES)


def test_an_endpoint_is_watched_and_can_travel_by_its_name() -> None:
    named = sweep(model="http://127.0.0.1:9/v1#nobody")
    model = sweep_embedder(named)
    assert isinstance(model, FailFastEmbedder)
    assert model.requested == named.embedder
    assert sweep_embedder(sweep()) is None
    own = HashEmbedder()
    assert sweep_embedder(sweep(), own) is own


def asking(call: Callable[[], object]) -> str:
    with pytest.raises(ChunkwiseError) as raised:
        call()
    return str(raised.value)


def test_a_model_that_failed_says_so_whatever_it_is_asked() -> None:
    model = SweepEmbedder(Endpoint(503))
    said = asking(lambda: list(model.embed_each(["a"])))
    assert asking(lambda: model.embed(["b"])) == said
    assert asking(lambda: model.dimensions) == said
    fine = SweepEmbedder(PlainHashEmbedder())
    texts = [f"lamp {n}" for n in range(150)]
    rows = np.concatenate([rows for _, rows in fine.embed_each(texts)])
    assert np.array_equal(rows, PlainHashEmbedder().embed(texts))

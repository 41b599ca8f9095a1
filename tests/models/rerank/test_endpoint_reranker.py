"""Scores from a server on loopback, in both spellings of the protocol and in neither."""

import pickle
from typing import Any

import numpy as np
import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.http_client import EndpointError
from chunkwise.models.rerank.endpoint import EndpointReranker
from chunkwise.models.rerank.reranker import Reranker
from models.endpoint_server import Answer, Seen, in_turn, serving
from tables import cases
from untimed import HANG

KEY = "not-a-real-key-0123456789"
QUERY = "when are the lamps lit"
TEXTS = ["the lamps are lit at dusk", "leave is asked for", "when it rains", "lit lamps"]


@pytest.fixture(autouse=True)
def _loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("A_KEY", KEY)


def reranker(url: str, **given: Any) -> EndpointReranker:
    quick = {"backoff": 0.001, "longest_wait": 0.02, "timeout": HANG, **given}
    return EndpointReranker(url, "some-model", "A_KEY", **quick)


def overlap(query: str, text: str) -> float:
    asked, said = set(query.split()), set(text.split())
    return len(asked & said) / len(asked | said)


def ranked(query: str, texts: list[str]) -> list[tuple[int, float]]:
    pairs = [(place, overlap(query, text)) for place, text in enumerate(texts)]
    return sorted(pairs, key=lambda pair: -pair[1])


def first_spelling(number: int, seen: Seen) -> Answer:
    """{model, query, documents, top_n} to {results: [{index, relevance_score}]}, best first."""
    assert set(seen.body) == {"model", "query", "documents", "top_n"}
    pairs = ranked(seen.body["query"], seen.body["documents"])[: seen.body["top_n"]]
    return Answer({"results": [{"index": at, "relevance_score": score} for at, score in pairs]})


def second_spelling(number: int, seen: Seen) -> Answer:
    """{query, texts} to [{index, score}]; the other spelling is refused."""
    if "texts" not in seen.body:
        return Answer(b"Failed to deserialize the JSON body: missing field `texts`", 422)
    if len(seen.body["texts"]) > 3:
        return Answer({"error": "batch size 4 > maximum allowed batch size 3"}, 413)
    pairs = ranked(seen.body["query"], seen.body["texts"])
    return Answer([{"index": at, "score": score} for at, score in pairs])


EXPECTED = np.array([overlap(QUERY, text) for text in TEXTS], np.float32)


@cases("speaks", [first_spelling, second_spelling])
def test_scores_in_the_order_of_the_texts(speaks: Any) -> None:
    with serving(speaks) as server:
        model = reranker(server.url)
        assert isinstance(model, Reranker)
        given = model.scores(QUERY, TEXTS)
        assert given.dtype == np.float32
        np.testing.assert_array_equal(given, EXPECTED)
        before = len(server.seen)
        np.testing.assert_array_equal(model.scores(QUERY, TEXTS[:2]), EXPECTED[:2])
    assert len(server.seen) == before + 1  # which spelling it is was learned
    assert {seen.path for seen in server.seen} == {"/rerank"}
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_many_texts_go_in_batches() -> None:
    texts = [f"lamp number {number}" for number in range(25)]
    with serving(first_spelling) as server:
        given = reranker(f"{server.url}/v2/rerank", batch=4).scores("number 7", texts)
        assert reranker(server.url).scores("q", []).shape == (0,)
    np.testing.assert_array_equal(
        given, np.array([overlap("number 7", text) for text in texts], np.float32)
    )
    assert len(server.seen) == 7
    assert {seen.path for seen in server.seen} == {"/v2/rerank"}


def test_a_refused_text_is_named() -> None:
    def limited(number: int, seen: Seen) -> Answer:
        long = any(len(text) > 99 for text in seen.body["documents"])
        return Answer(b"too long", 400) if long else first_spelling(number, seen)

    with serving(limited) as server, pytest.raises(EndpointError, match="“wick wick"):
        reranker(server.url).scores(QUERY, [*TEXTS, "wick " * 50])


@cases(
    "answer, said",
    [
        ({"results": [{"index": 0, "relevance_score": 1}]}, "returned 1 score for 2 texts"),
        ([{"index": 0, "score": 1}, {"index": 0, "score": 1}], "returned 2 scores for 2 texts"),
        ([{"index": 0, "score": 1}, {"index": 1}], "returned something other than a score"),
        (
            [{"index": 0, "score": 1}, {"index": 1, "score": "1"}],
            "returned something other than a score",
        ),
        (
            [{"index": 0, "score": 1}, {"index": 1, "score": 1e300}],
            "returned something other than a score",
        ),
        (
            [{"index": 0, "score": 1}, {"index": 1, "score": 10**400}],
            "returned something other than a score",
        ),
        ({"data": []}, "returned something other than a score"),
        ("\x1b[2J", "returned something other than a score"),
    ],
)
def test_answers_that_are_none_are_said_clearly(answer: Any, said: str) -> None:
    with (
        serving(in_turn(Answer(answer))) as server,
        pytest.raises(EndpointError, match=said) as caught,
    ):
        reranker(server.url).scores("q", ["one", "two"])
    assert str(caught.value).isprintable()


def test_a_number_too_large_for_json_is_no_score() -> None:
    body = b'{"results": [{"index": 0, "relevance_score": 1e999}]}'
    with (
        serving(in_turn(Answer(body))) as server,
        pytest.raises(EndpointError, match="returned something other than a score"),
    ):
        reranker(server.url).scores("q", ["one"])


def test_identity_and_pickles_have_no_key() -> None:
    with serving(first_spelling) as server:
        model = reranker(server.url)
        model.scores(QUERY, TEXTS)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.scores(QUERY, TEXTS), EXPECTED)
    assert model.identity.endswith("/rerank#'some-model'")
    assert KEY.encode() not in pickle.dumps(model)
    assert KEY not in repr(model) + repr(vars(model))


def test_settings_outside_their_bounds_are_refused() -> None:
    for wrong in ({"batch": 0}, {"concurrency": 0}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            reranker("https://host/rerank", **wrong)
    with pytest.raises(InvalidParameter, match="model name"):
        EndpointReranker("https://host/rerank", "")


def test_a_key_quoted_in_json_is_not_shown() -> None:
    for said in ({"error": f"bad {KEY}"}, {"data": [KEY]}, {"results": [{"index": KEY}, {}]}):
        with serving(in_turn(Answer(said))) as server, pytest.raises(EndpointError) as caught:
            reranker(server.url).scores("q", ["one", "two"])
        assert KEY[:6] not in str(caught.value) + repr(caught.value)
        assert "[key]" in str(caught.value)

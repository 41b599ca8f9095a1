"""Vectors from a server on loopback that keeps to the protocol, and from ones that do not."""

import base64
import pickle
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.embed import endpoint as embedder_module
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.embed.endpoint import EndpointEmbedder, unit_rows
from chunkwise.models.http_client import EndpointError, key_variable_for
from how_many import examples
from models.endpoint_server import Answer, Seen, in_turn, serving, vector
from tables import cases
from untimed import HANG

KEY = "sk-not-a-real-key-0123456789"
TEXTS = ["Lamps are lit at dusk.", "Leave is asked for in writing.", "灯は夕暮れに灯る。"]


@pytest.fixture(autouse=True)
def _loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def embedder(url: str, **given: Any) -> EndpointEmbedder:
    quick = {"backoff": 0.001, "longest_wait": 0.02, "timeout": HANG, **given}
    return EndpointEmbedder(url, "some-model", "OPENAI_API_KEY", **quick)


def expected(texts: Sequence[str], size: int = 5) -> Any:
    rows = np.array([vector(text, size) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def good(number: int, seen: Seen, *, encoded: bool = False) -> Answer:
    """As the protocol has it; rows in another order than asked, told by their index."""
    size = seen.body.get("dimensions", 5)
    rows = []
    for place, text in enumerate(seen.body["input"]):
        row: Any = vector(text, size)
        if encoded:
            row = base64.b64encode(np.array(row, "<f4").tobytes()).decode()
        rows.append({"object": "embedding", "index": place, "embedding": row})
    return Answer({"object": "list", "data": rows[::-1], "model": seen.body["model"]})


def answering(data: Any) -> Any:
    return in_turn(Answer(data))


@cases("encoded", [False, True])
def test_vectors_of_length_one_in_the_order_of_the_texts(encoded: bool) -> None:
    with serving(partial(good, encoded=encoded)) as server:
        model = embedder(f"{server.url}/v1")
        given = model.embed(TEXTS)
        assert model.dimensions == 5
    assert isinstance(model, Embedder)
    assert given.dtype == np.float32
    np.testing.assert_allclose(given, expected(TEXTS), atol=1e-6)
    (seen,) = server.seen  # the number of dimensions was learned on the way
    assert seen.path == "/v1/embeddings"
    assert seen.body == {"model": "some-model", "input": TEXTS, "encoding_format": "float"}


def test_dimensions_are_asked_for_and_checked() -> None:
    with serving(good) as server:
        model = embedder(server.url, dimensions=3)
        assert model.dimensions == 3
        assert server.seen == []
        assert model.embed(TEXTS).shape == (3, 3)
        assert server.seen[0].body["dimensions"] == 3
    with (
        serving(lambda n, seen: Answer({"data": [{"embedding": [1.0, 2.0]}]})) as server,
        pytest.raises(EndpointError, match="vector of 2 numbers; 3 "),
    ):
        embedder(server.url, dimensions=3).embed(["one"])


def test_dimensions_are_learned_once_by_one_short_text() -> None:
    with serving(good) as server:
        model = embedder(server.url)
        assert [model.dimensions, model.dimensions] == [5, 5]
        assert model.embed([]).shape == (0, 5)
    assert len(server.seen) == 1


def test_a_text_without_words_is_zeros_and_not_sent() -> None:
    with serving(good) as server:
        given = embedder(server.url).embed(["", TEXTS[0], " \n\t", TEXTS[1]])
    np.testing.assert_allclose(given[[1, 3]], expected(TEXTS[:2]), atol=1e-6)
    assert not given[[0, 2]].any()
    assert server.seen[0].body["input"] == TEXTS[:2]


def test_batches_are_bounded_by_count_and_by_characters() -> None:
    texts = [f"text number {number}" for number in range(23)] + ["long " * 50, "short", "end"]
    with serving(good) as server:
        model = embedder(server.url, batch=4, batch_characters=100, concurrency=3)
        given = model.embed(texts)
        assert model.slice_size == 12
    np.testing.assert_allclose(given, expected(texts), atol=1e-6)
    sent = [seen.body["input"] for seen in server.seen]
    assert sorted(text for batch in sent for text in batch) == sorted(texts)
    assert all(len(batch) <= 4 for batch in sent)
    assert all(len(batch) == 1 or sum(map(len, batch)) <= 100 for batch in sent)
    assert ["long " * 50] in sent
    assert server.most_at_once <= 3


def test_questions_and_passages_get_their_prefixes() -> None:
    with serving(good) as server:
        plain = embedder(server.url)
        model = embedder(server.url, query_prefix="query: ", passage_prefix="passage: ")
        model.embed(["lamps"], "query")
        model.embed(["lamps"])
    assert [seen.body["input"] for seen in server.seen] == [["query: lamps"], ["passage: lamps"]]
    assert model.identity != plain.identity


def test_a_text_that_is_too_long_is_named_and_the_others_are_asked_for() -> None:
    def limited(number: int, seen: Seen) -> Answer:
        if any(len(text) > 60 for text in seen.body["input"]):
            return Answer(b'{"error": {"message": "maximum context length"}}', 400)
        return good(number, seen)

    long = "The regulations of the year of the great flood " * 9
    with (
        serving(limited) as server,
        pytest.raises(EndpointError) as caught,
    ):
        embedder(server.url).embed([*TEXTS, long, "after"])
    said = str(caught.value)
    assert "“The regulations of the year" in said
    assert f"({len(long)} characters)" in said
    assert "maximum context length" in said
    assert caught.value.status == 400
    assert len(server.seen) <= 7  # halves, not one by one


def test_another_failure_ends_the_asking_but_loses_nothing_that_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, failed = Event(), Event()
    monkeypatch.setattr(embedder_module, "Event", lambda: failed)

    def failing(number: int, seen: Seen) -> Answer:
        if "text 0" in seen.body["input"]:
            begun.wait(HANG)
            return Answer(b"who?", 401)
        begun.set()
        failed.wait(HANG)  # still under way when the other has failed
        return good(number, seen)

    texts = [f"text {number}" for number in range(40)]
    runs: list[tuple[int, Any]] = []
    with serving(failing) as server, pytest.raises(EndpointError, match="answered 401"):
        runs.extend(embedder(server.url, batch=2, concurrency=2).embed_each(texts))
    assert [(first, len(rows)) for first, rows in runs] == [(2, 2)]
    assert len(server.seen) == 2


def test_a_server_that_refuses_everything_is_not_asked_for_every_text() -> None:
    texts = [f"text {number}" for number in range(1000)]
    with (
        serving(in_turn(Answer(b"no such field", 400))) as server,
        pytest.raises(EndpointError, match=r"“text [0-9]+”"),
    ):
        embedder(server.url).embed(texts)
    assert len(server.seen) < 60


@pytest.fixture(scope="module")
def good_server() -> Iterator[str]:
    with serving(good) as server:
        yield server.url


@settings(deadline=None, max_examples=examples(25))
@given(
    texts=st.lists(
        st.sampled_from(["", " ", "lamp", "dusk", "quay", "a longer text"]), max_size=30
    ),
    batch=st.integers(1, 7),
    concurrency=st.integers(1, 3),
)
def test_runs_of_rows_make_up_the_whole(
    good_server: str, texts: list[str], batch: int, concurrency: int
) -> None:
    model = embedder(good_server, dimensions=5, batch=batch, concurrency=concurrency)
    whole = np.full((len(texts), 5), np.nan, np.float32)
    for first, rows in model.embed_each(texts):
        assert np.isnan(whole[first : first + len(rows)]).all()
        whole[first : first + len(rows)] = rows
    np.testing.assert_array_equal(model.embed(texts), whole)
    for row, text in zip(whole, texts, strict=True):
        wanted = expected([text])[0] if text.strip() else np.zeros(5)
        np.testing.assert_allclose(row, wanted, atol=1e-6)


def test_a_server_that_takes_smaller_batches_gets_them() -> None:
    def picky(number: int, seen: Seen) -> Answer:
        return good(number, seen) if len(seen.body["input"]) <= 2 else Answer(b"", 413)

    texts = [f"text {number}" for number in range(9)]
    with serving(picky) as server:
        given = embedder(server.url).embed(texts)
    np.testing.assert_allclose(given, expected(texts), atol=1e-6)


def test_an_error_that_is_no_refusal_is_not_asked_about_twice() -> None:
    with (
        serving(in_turn(Answer(b"who?", 401))) as server,
        pytest.raises(EndpointError, match="check the key in OPENAI_API_KEY"),
    ):
        embedder(server.url).embed(TEXTS)
    assert len(server.seen) == 1


def test_a_busy_server_is_waited_for() -> None:
    def busy(number: int, seen: Seen) -> Answer:
        return Answer(b"", 429, {"Retry-After": "0"}) if number % 2 == 0 else good(number, seen)

    texts = [f"text {number}" for number in range(8)]
    with serving(busy) as server:
        given = embedder(server.url, batch=2, concurrency=1).embed(texts)
    np.testing.assert_allclose(given, expected(texts), atol=1e-6)
    assert len(server.seen) == 8


ONE = {"embedding": [1.0, 0.0], "index": 0}
TWO = {"embedding": [0.0, 1.0], "index": 1}


@cases(
    "answer, said",
    [
        ({"data": [ONE]}, "returned 1 vector for 2 texts"),
        ({"data": [ONE, TWO, TWO]}, "returned 3 vectors for 2 texts"),
        ({"data": [ONE, ONE]}, r"numbered its 2 rows \[0, 0\]"),
        ({"data": [ONE, {**TWO, "index": 7}]}, r"numbered its 2 rows \[0, 7\]"),
        ({"data": [ONE, {**TWO, "index": True}]}, "numbered its 2 rows"),
        ({"data": [ONE, {"embedding": [0.0, 1.0]}]}, r"numbered its 2 rows \[0, None\]"),
        ({"data": [ONE, {**TWO, "embedding": [1.0]}]}, "vector of 1 number; 2 "),
        ({"data": [ONE, {**TWO, "embedding": []}]}, "returned something other than a vector"),
        ({"data": [ONE, {**TWO, "embedding": None}]}, "returned something other than a vector"),
        (
            {"data": [ONE, {**TWO, "embedding": ["1", "2"]}]},
            "returned something other than a vector",
        ),
        (
            {"data": [ONE, {**TWO, "embedding": [[1.0, 2.0]]}]},
            "returned something other than a vector",
        ),
        (
            {"data": [ONE, {**TWO, "embedding": [1.0, [2.0]]}]},
            "returned something other than a vector",
        ),
        (
            {"data": [ONE, {**TWO, "embedding": [1.0, None]}]},
            "returned something other than a vector",
        ),
        ({"data": [ONE, {**TWO, "embedding": {"a": 1}}]}, "returned something other than a vector"),
        (
            {"data": [ONE, {**TWO, "embedding": [10**400, 1]}]},
            "returned something other than a vector",
        ),
        (
            {"data": [ONE, {**TWO, "embedding": "not base64!"}]},
            "returned something other than a vector",
        ),
        ({"data": [ONE, {**TWO, "embedding": "QUJD"}]}, "returned something other than a vector"),
        (
            {"data": [ONE, {**TWO, "embedding": "AADAfwAAgD8="}]},
            "returned something other than a vector",
        ),  # a NaN inside
        ({"data": [ONE, "two"]}, "without a list of vectors"),
        ({"data": {"0": ONE}}, "without a list of vectors"),
        ({"error": "\x1b[31mred"}, "without a list of vectors"),
        ([ONE, TWO], "without a list of vectors"),
        ("text", "without a list of vectors"),
        (None, "without a list of vectors"),
    ],
)
def test_answers_that_are_none_are_said_clearly(answer: Any, said: str) -> None:
    with (
        serving(answering(answer)) as server,
        pytest.raises(EndpointError, match=said) as caught,
    ):
        embedder(server.url).embed(["one", "two"])
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


@cases("number", ["NaN", "1e999", "-Infinity"])
def test_numbers_that_are_not_finite_are_refused(number: str) -> None:
    body = b'{"data": [{"index": 0, "embedding": [1.0, %s]}]}' % number.encode()
    with (
        serving(in_turn(Answer(body))) as server,
        pytest.raises(EndpointError),
    ):
        embedder(server.url).embed(["one"])


def test_rows_without_any_index_are_taken_as_they_come() -> None:
    data = [{"embedding": [3.0, 4.0]}, {"embedding": [0, 2]}]
    with serving(answering({"data": data})) as server:
        given = embedder(server.url).embed(["one", "two"])
    np.testing.assert_allclose(given, [[0.6, 0.8], [0.0, 1.0]])


@settings(deadline=None)
@given(
    rows=st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=1, max_size=5,
    ),
    data=st.data(),
)  # fmt: skip
def test_any_finite_rows_in_any_order_become_unit_rows_in_order(
    rows: list[list[float]], data: st.DataObject
) -> None:
    items = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    mixed = data.draw(st.permutations(items))
    for row, unit in zip(rows, unit_rows({"data": mixed}, len(rows), "host"), strict=True):
        length = np.linalg.norm(unit.astype(np.float64))
        assert length == pytest.approx(1.0, abs=1e-6) if any(row) else not unit.any()
        if any(row):  # the same direction, told by an independent way to divide
            largest = max(map(abs, row))
            scaled = [Fraction(number) / Fraction(largest) for number in row]
            whole = float(sum(number * number for number in scaled)) ** 0.5
            assert unit == pytest.approx([float(number) / whole for number in scaled], abs=1e-6)


def test_the_identity_tells_models_apart_and_never_has_the_key() -> None:
    made = [
        EndpointEmbedder("https://host/v1", "a"), EndpointEmbedder("https://host/v1", "b"),
        EndpointEmbedder("https://host/v2", "a"), EndpointEmbedder("https://other/v1", "a"),
        EndpointEmbedder("https://host/v1", "a", dimensions=64),
        EndpointEmbedder("https://host:8443/v1", "a"), EndpointEmbedder("https://host/v1", "a@64"),
        EndpointEmbedder("https://host/v1?deployment=private-one", "a"),
        EndpointEmbedder("https://host/v1?deployment=private-two", "a"),
    ]  # fmt: skip
    assert len({model.identity for model in made}) == len(made)
    again = EndpointEmbedder("https://HOST/v1/embeddings", "a", "OTHER", batch=2)
    assert again.identity == made[0].identity
    for model in (*made, again):
        assert "private" not in model.identity + repr(model)
        assert KEY.encode() not in pickle.dumps(model)
        assert KEY not in repr(vars(model)) + repr(model)


def test_a_key_goes_to_the_host_it_was_made_for_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(good) as server:
        EndpointEmbedder(server.url, "a").embed(["one"])
        monkeypatch.setenv("CHUNKWISE_API_KEY", "mine")
        EndpointEmbedder(server.url, "a").embed(["one"])
    assert [seen.headers.get("authorization") for seen in server.seen] == [None, "Bearer mine"]
    assert key_variable_for("https://api.openai.com/v1") == "OPENAI_API_KEY"
    assert key_variable_for("https://API.OpenAI.com:443/v1") == "OPENAI_API_KEY"
    assert key_variable_for("https://api.openai.com.example.org/v1") == "CHUNKWISE_API_KEY"


def test_a_used_embedder_can_be_pickled_and_used() -> None:
    with serving(good) as server:
        model = embedder(server.url)
        first = model.embed(TEXTS)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).embed(TEXTS), first)


@cases(
    "wrong",
    [{"batch": 0}, {"concurrency": 0}, {"batch_characters": 0}, {"dimensions": -1}, {"dimensions": 0},
     {"attempts": 0}, {"timeout": -1.0}],
)  # fmt: skip
def test_settings_outside_their_bounds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        EndpointEmbedder("https://host/v1", "a", **wrong)
    with pytest.raises(InvalidParameter, match="model name"):
        EndpointEmbedder("https://host/v1", "")


def test_a_key_quoted_in_json_is_not_shown() -> None:
    for said in ({"error": f"bad {KEY}"}, {"data": [KEY]}, {"results": [{"index": KEY}, {}]}):
        with serving(in_turn(Answer(said))) as server, pytest.raises(EndpointError) as caught:
            embedder(server.url).embed(["one", "two"])
        assert KEY[:6] not in str(caught.value) + repr(caught.value)
        assert "[key]" in str(caught.value)


def test_a_service_is_not_asked_without_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = EndpointEmbedder("https://api.openai.com/v1", "text-embedding-3-small")
    with pytest.raises(EndpointError, match="export OPENAI_API_KEY="):
        model.embed(["a lamp"])

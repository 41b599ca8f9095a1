"""Addresses as people write them, and JSON posted to endpoints that answer late, wrongly, elsewhere or not at all."""

import gzip
import json
import logging
import os
import pickle
import socket
import traceback
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base import secrets
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.retries import pause, retry_after
from chunkwise.chunkers import get_strategy
from chunkwise.models import get_embedder, get_reranker
from chunkwise.models.http_batches import in_order
from chunkwise.models.http_client import (
    Endpoint,
    EndpointError,
    JsonClient,
    excerpt,
    place,
    place_and_query,
    with_path,
    worth_another_try,
)
from models.endpoint_server import Answer, Seen, in_turn, serving
from tables import cases
from untimed import HANG

KEY = "sk-not-a-real-key-0123456789"


@pytest.fixture(autouse=True)
def _loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("A_KEY", KEY)


def client(url: str, **settings: object) -> JsonClient:
    patience = {"backoff": 0.001, "longest_wait": 0.02, "timeout": HANG, **settings}
    return JsonClient(Endpoint(url, "some-model", "A_KEY", **patience))  # type: ignore[arg-type]


def error_of(call: JsonClient, payload: object = None) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        call.post(payload)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


def test_posts_json_with_the_key_and_reads_json() -> None:
    with serving(lambda number, seen: Answer({"said": seen.body})) as server:
        payload = {"text": "dusk · 灯 · \ud83d half", "n": 1.5}
        assert client(f"{server.url}/v1/x?api-version=3").post(payload) == {
            "said": {"text": "dusk · 灯 · ? half", "n": 1.5}
        }
    (seen,) = server.seen
    assert seen.path == "/v1/x?api-version=3"
    assert seen.headers["authorization"] == f"Bearer {KEY}"


def test_the_key_is_read_when_a_call_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(in_turn(Answer({}))) as server:
        asked = client(server.url)
        monkeypatch.delenv("A_KEY")
        asked.post({})
        monkeypatch.setenv("A_KEY", "another")
        asked.post({})
    assert "authorization" not in server.seen[0].headers
    assert server.seen[1].headers["authorization"] == "Bearer another"


@cases("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_asks_again_where_that_may_help(status: int) -> None:
    turns = in_turn(Answer(b"later", status), Answer(b"", status), Answer({"fine": True}))
    with serving(turns) as server:
        assert client(server.url).post({}) == {"fine": True}
    assert len(server.seen) == 3


@cases("status", [400, 401, 403, 404, 413, 422, 501])
def test_does_not_ask_again_where_it_cannot(status: int) -> None:
    with serving(in_turn(Answer(b'{"error": "no"}', status))) as server:
        error = error_of(client(server.url))
    assert len(server.seen) == 1
    assert error.status == status
    assert f'answered {status}: {{"error": "no"}}' in str(error)


def test_attempts_are_bounded_and_told() -> None:
    with serving(in_turn(Answer(b"busy", 503))) as server:
        error = error_of(client(server.url, attempts=3))
        assert len(server.seen) == 3
        assert "answered 503: busy (asked 3 times)" in str(error)
        once = error_of(client(server.url, attempts=1))
        assert "asked" not in str(once)
    assert len(server.seen) == 4


def test_a_spent_quota_is_not_asked_for_again() -> None:
    body = b'{"error": {"code": "insufficient_quota"}}'
    with serving(in_turn(Answer(body, 429))) as server:
        assert "limit" in str(error_of(client(server.url)))
    assert len(server.seen) == 1


class Waits(Event):
    """Notes how long it is waited for, and lets nobody wait."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout)
        return False


def test_waits_as_long_as_the_server_asks_within_bounds() -> None:
    turns = in_turn(Answer(b"", 429, {"Retry-After": "0.6"}), Answer({}))
    with serving(turns) as server:
        waits = Waits()
        client(server.url, longest_wait=0.15).post({}, waits)
    assert waits.seconds == [0.15]
    assert len(server.seen) == 2


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    with serving(in_turn(Answer(b"", 429, {"Retry-After": "3600"}), Answer({}))) as server:
        error = error_of(client(server.url, longest_wait=1.0))
    assert error.status == 429
    assert "3,600 s" in str(error)
    assert len(server.seen) == 1


def test_retry_after_in_seconds_and_as_a_date() -> None:
    assert retry_after("7") == 7
    assert retry_after(" 1.5 ") == 1.5
    assert retry_after("-3") == 0
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=9_000), usegmt=True)
    assert retry_after(soon) == pytest.approx(9_000, abs=HANG)
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    for nonsense in (None, "", "soon", "nan", "99 o'clock", "Wed, 99 Oct 99999 07:28:00 GMT"):
        assert retry_after(nonsense) is None


@given(header=st.text(max_size=40), attempt=st.integers(1, 2000))
def test_no_header_makes_a_wait_out_of_bounds(header: str, attempt: int) -> None:
    assert 0 <= pause(attempt, 0.5, 60.0, retry_after(header)) <= 60


def test_waits_double_with_jitter() -> None:
    for attempt, most in ((1, 0.5), (2, 1.0), (3, 2.0), (9, 60.0)):
        waits = [pause(attempt, 0.5, 60.0) for _ in range(50)]
        assert all(most / 2 <= wait <= most for wait in waits)
        assert len(set(waits)) > 10


def test_which_statuses_are_worth_another_try() -> None:
    again = {status for status in range(100, 600) if worth_another_try(status, b"")}
    assert again == {408, 409, 425, 429} | set(range(500, 600)) - {501, 505, 511}


def test_a_server_that_hangs_is_left_after_the_time_out() -> None:
    with serving(in_turn(Answer(hang=True), Answer({"fine": 1}))) as server:
        # Whatever else the machine does, one of twenty answers comes within a second.
        assert client(server.url, timeout=1.0, attempts=20).post({}) == {"fine": 1}
        hung = serving(in_turn(Answer(hang=True)))
        with hung as other:
            error = error_of(client(other.url, timeout=0.1, attempts=2))
    assert "did not answer within 0.1 s (asked 2 times)" in str(error)
    assert len(server.seen) >= 2


@cases("beginning", [b"", b"HTTP/1.1 200 OK\r\nX-A: "])
def test_a_server_that_sends_its_headers_byte_by_byte_is_left_after_the_time_out(
    beginning: bytes,
) -> None:
    sent: list[bytes] = []
    whole = (
        beginning + b"HTTP/1.1 200 OK\r\nX-B: " + b"b" * 200 + b"\r\nContent-Length: 2\r\n\r\n{}"
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.recv(65536)
                connection.sendall(beginning)
                for at in range(len(beginning), len(whole)):
                    connection.sendall(whole[at : at + 1])
                    sent.append(whole[at : at + 1])
                    gone.wait(0.02)

        gone = Event()
        thread = Thread(target=drip, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        with pytest.raises(EndpointError, match=r"did not answer within 0\.2 s"):
            JsonClient(Endpoint(url, timeout=0.2, attempts=1)).post({})
        gone.set()
        thread.join(HANG)
    assert len(sent) > 0


def test_a_server_that_is_not_there() -> None:
    with serving(in_turn(Answer({}))) as server:
        pass
    error = error_of(client(f"{server.url}/v1/embeddings", attempts=2))
    assert error.endpoint == server.url.removeprefix("http://") + "/v1/embeddings"
    assert "check the URL and that the server runs" in str(error)


def test_a_body_that_ends_too_soon_is_asked_for_again() -> None:
    short = Answer(b'{"a"', headers={"Content-Length": "500", "Connection": "close"})
    with serving(in_turn(short, Answer({"a": 1}))) as server:
        assert client(server.url).post({}) == {"a": 1}
    assert len(server.seen) == 2


@cases(
    "body",
    [b"", b"<html>\x1b[31mSign in\x07</html>", b'{"a": NaN}', b"[Infinity]", b"\xff\xfe\x00",
     b'{"a": 1} trailing', b"[" * 100_000, b"9" * 5000],
)  # fmt: skip
def test_what_is_no_json_is_said_and_shown_harmlessly(body: bytes) -> None:
    with serving(in_turn(Answer(body))) as server:
        error = error_of(client(server.url))
    assert "returned invalid JSON" in str(error)
    assert str(error).isprintable()
    assert len(str(error)) < 500
    assert len(server.seen) == 1


def test_huge_bodies_are_bounded_compressed_or_not() -> None:
    squeezed = Answer(gzip.compress(b" " * 3_000_000), headers={"Content-Encoding": "gzip"})
    for answer in (Answer(b" " * 3_000_000), squeezed):
        with serving(in_turn(answer)) as server:
            error = error_of(client(server.url, most_bytes=100_000))
        assert "more than 100,000 bytes" in str(error)
    with serving(in_turn(Answer(b"x" * 3_000_000, 400))) as server:
        assert len(str(error_of(client(server.url)))) < 500


def test_what_a_refusal_says_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(in_turn(Answer(b"", 401))) as server:
        assert "check the key in A_KEY" in str(error_of(client(server.url)))
        monkeypatch.delenv("A_KEY")
        assert "set the key in the environment variable A_KEY" in str(error_of(client(server.url)))
        assert "no key was sent" in str(error_of(JsonClient(Endpoint(server.url))))
    with serving(in_turn(Answer(b"", 404))) as server:
        assert "model name ('some-model')" in str(error_of(client(server.url)))


def test_a_server_that_quotes_the_key_does_not_give_it_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"bad key {KEY}, that is {KEY[:9]}***, from {KEY}{KEY}".encode()
    for status in (400, 401, 200, 503):
        with serving(in_turn(Answer(said, status))) as server:
            asked = client(server.url, attempts=2)
            error = error_of(asked)
        shown = [str(error), repr(error), repr(asked), caplog.text, repr(error.args)]
        shown.append(repr(error.__cause__))
        assert not any(KEY[:6] in text for text in shown)
        assert "[key]" in str(error)
        for kept in (error, asked, asked.endpoint):
            assert KEY.encode() not in pickle.dumps(kept)
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.status) == (str(error), error.status)


def test_a_pickled_client_works_where_it_arrives() -> None:
    with serving(in_turn(Answer({"fine": 1}))) as server:
        asked = client(server.url)
        asked.post({})
        assert pickle.loads(pickle.dumps(asked)).post({}) == {"fine": 1}


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "nul\x00"])
def test_a_key_no_header_can_hold_is_refused_unseen(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", {"A_KEY": key})
    error = error_of(client("http://127.0.0.1:9"))
    assert key not in str(error)
    assert "A_KEY" in str(error)


@cases("status", [301, 302, 307, 308])
def test_redirects_get_neither_key_nor_texts(status: int) -> None:
    with serving(in_turn(Answer({}))) as other:
        for place in (other.url, "/new", "http://[", ""):
            with serving(in_turn(Answer(b"", status, {"Location": place}))) as server:
                error = error_of(client(server.url), {"text": "private"})
            assert f"redirects to {place or 'no address'}" in str(error)
            assert len(server.seen) == 1
        assert other.seen == []


@cases(
    "url", ["", "host/v1", "ftp://host/v1", "file:///etc/passwd", "https://", "http://[", "http://h:x/",
            "http://h/\n", "https://user:secret@host/v1", "https://secret@host/v1", "https://host/v1?api_key=secret",
            "https://host/v1?v=2&X-Auth-Token=secret", "https://host/?code=secret", "https://host/?SIG=secret"],
)  # fmt: skip
def test_urls_that_are_none_are_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Endpoint(url)
    assert "secret" not in str(caught.value)


def test_a_key_that_is_hardly_one_spoils_no_words() -> None:
    assert excerpt("check the key 'k', k", "k") == "check the key '[key]', [key]"
    secrets.use_key("k")
    assert secrets.mask("check the key 'k', k") == "check the key 'k', k"


def test_a_query_is_sent_and_not_shown() -> None:
    with serving(in_turn(Answer(b"", 404))) as server:
        asked = client(f"{server.url}/v1?deployment=private")
        error = error_of(asked)
    assert server.seen[0].path == "/v1?deployment=private"
    assert "private" not in repr(asked) + repr(asked.endpoint) + str(error) + repr(error)


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_copied_process_has_connections_of_its_own() -> None:
    def all_right(asked: JsonClient, first: int) -> bool:
        return all(asked.post(number) == number for number in range(first, first + 30))

    with serving(lambda number, seen: Answer(seen.body)) as server:
        asked = client(server.url, attempts=1)
        asked.post(0)  # leaves a connection open
        children = []
        for first in (1000, 2000, 3000):
            child = os.fork()
            if not child:
                right = False
                try:
                    right = all_right(asked, first)
                finally:
                    os._exit(0 if right else 1)
            children.append(child)
        assert all_right(asked, 4000)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]


@cases(
    "said",
    ["abcdefgh\\/ijklmnop+qrst", "ab\\u0063defgh/ijklmnop+qrst", "abcdefgh%2Fijklmnop%2Bqrst",
     "abcdefgh&#47;ijklmnop&#43;qrst", "abcdefgh…qrst", "ABCDEFGH/IJKLMNOP+QRST"],
)  # fmt: skip
def test_a_key_written_with_escapes_is_not_shown_either(said: str) -> None:
    shown = excerpt(f'{{"error": "bad key {said}", "code": 3}}', "abcdefgh/ijklmnop+qrst")
    assert shown == '{"error": "bad key [key]", "code": 3}'


def test_settings_outside_their_bounds_are_refused() -> None:
    for name, value in (("timeout", 0.0), ("backoff", -1.0), ("longest_wait", float("nan"))):
        with pytest.raises(InvalidParameter, match=name):
            Endpoint("https://host/", **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="attempts is 0"):
        Endpoint("https://host/", attempts=0)


def test_results_keep_their_order_and_requests_their_number() -> None:
    together = Event()

    def answer(number: int, seen: Seen) -> Answer:
        if number == 2:
            together.set()
        together.wait(HANG)  # the first three are under way at once, or this takes long
        return Answer(seen.body)

    with serving(answer) as server:
        asked = client(server.url)
        assert in_order(asked.post, list(range(20)), 3) == list(range(20))
    assert server.most_at_once == 3


def test_a_failure_ends_the_waiting_of_the_others() -> None:
    def work(item: int, stop: Event) -> int:
        if item == 0:
            raise EndpointError("host", "failed")
        stop.wait(2 * HANG)
        return item

    with pytest.raises(EndpointError, match="host failed"):
        in_order(work, list(range(50)), 4)


@given(text=st.text(max_size=400), key=st.text("abc-", min_size=6, max_size=30))
def test_an_excerpt_shows_only_what_shows(text: str, key: str) -> None:
    shown = excerpt(text + key + text, key, most=80)
    assert shown.isprintable()
    assert len(shown) <= 80
    assert key not in shown
    json.dumps(shown).encode("utf-8")


WITH_A_KEY = [
    "https://user:SECRET@host/v1", "https://SECRET@host/v1", "https://host/v1?api_key=SECRET", "https://host/v1?SECRET-key",
    "https://host/v1?a=b&access_token=SECRET", "HTTPS://host/v1?Key=SECRET", "https://host:99999/v1?key=SECRET",
    "https://user:SECRET@[host/v1", "htps://user:SECRET@host/v1", "ftp://host/v1?key=SECRET",
]  # fmt: skip


@cases(
    "written, full",
    [
        ("https://host", "https://host/v1/embeddings"),
        ("https://host/", "https://host/v1/embeddings"),
        ("https://host/v1", "https://host/v1/embeddings"),
        ("https://host/v1/", "https://host/v1/embeddings"),
        ("http://host:8080/v1/embeddings", "http://host:8080/v1/embeddings"),
        ("https://host/a/b/embeddings?api-version=1", "https://host/a/b/embeddings?api-version=1"),
    ],
)
def test_addresses_as_people_write_them(written: str, full: str) -> None:
    assert with_path(written, "/embeddings", "/v1/embeddings") == full


@cases("url", WITH_A_KEY)
@cases("name", ["", "#model"])
@cases("make", [get_embedder, get_reranker])
def test_a_key_in_the_address_is_refused_and_not_repeated(
    make: object, url: str, name: str
) -> None:
    with pytest.raises(ChunkwiseError) as caught:
        make(url + name)  # type: ignore[operator]
    assert "SECRET" not in str(caught.value)
    frames = traceback.format_exception(caught.value)
    assert "SECRET" not in "".join(frames)
    if "http" in url.lower() and "[" not in url and "99999" not in url:
        assert "environment variable" in str(caught.value)


@cases("url", WITH_A_KEY[:6])
def test_no_chunk_is_labeled_with_a_key(url: str) -> None:
    for strategy in ("semantic", "cluster"):
        with pytest.raises(InvalidParameter) as caught:
            get_strategy(strategy, model=f"{url}#model")
        assert "SECRET" not in str(caught.value)
        assert "environment variable" in str(caught.value)
        with pytest.raises(InvalidParameter) as caught:
            get_strategy(f"{strategy}(model={url}#model)")  # without its quotes
        assert "SECRET" not in str(caught.value)
    fine = get_strategy("semantic", model="https://host/v1?deployment=a#model")
    assert fine.label.endswith("model='https://host/v1?deployment=a#model')")


def test_places_show_host_and_path_and_tell_queries_apart() -> None:
    assert place("https://USER:pw@Host:8080/A/b?x=1") == "host:8080/A/b"
    assert place_and_query("https://host/v1") == "host/v1"
    marks = {place_and_query(f"https://host/v1?deployment={name}") for name in "ab"}
    assert len(marks) == 2
    assert not any("deployment" in mark for mark in marks)


def test_an_address_without_a_model_says_how_to_write_it() -> None:
    with pytest.raises(InvalidParameter) as caught:
        get_embedder("https://host/v1?deployment=a")
    assert str(caught.value) == "https://host/v1 has no model; expected https://host/v1#NAME"

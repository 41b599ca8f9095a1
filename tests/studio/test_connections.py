"""Clients that send slowly, read nothing or come in crowds: they are left, and others are answered."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from chunkwise.studio import connections
from chunkwise.studio.connections import server_of
from chunkwise.studio.server import bound_socket
from untimed import HANG

LARGE = b"x" * 16_000_000
WHOLE = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"


async def _app(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    body = LARGE if scope["path"] == "/large" else b"here"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    """A real one in a thread, whose time-outs are short."""
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(connections, name, 0.05)
    with bound_socket("127.0.0.1", None) as bound:
        server = server_of(_app, lifespan="off")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            server.config.port = bound.getsockname()[1]
            yield server
        finally:
            server.should_exit = True
            thread.join(HANG)


@pytest.fixture
def port(server: uvicorn.Server) -> int:
    return server.config.port


@contextmanager
def _sent(port: int, data: bytes, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), HANG, (source, 0)) as made:
        made.sendall(data)
        yield made


def _answer(of: socket.socket) -> bytes:
    """All until the server closes the connection."""
    found = b""
    try:
        while part := of.recv(1 << 20):
            found += part
    except ConnectionError:
        pass
    return found


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET / HTTP/1.1\r\nhost: a\r\n", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nab"],
)  # fmt: skip
def test_a_request_that_does_not_come_to_its_end_is_left(port: int, begun: bytes) -> None:
    with _sent(port, begun) as slow:
        assert _answer(slow) == b""
    with _sent(port, WHOLE) as other:
        assert _answer(other).count(b"here")


def test_headers_that_come_letter_by_letter_are_left(port: int) -> None:
    def send(slow: socket.socket) -> None:
        while True:
            slow.sendall(b"x")
            time.sleep(0.01)

    with _sent(port, WHOLE[:10]) as slow, pytest.raises(ConnectionError):
        send(slow)


def test_a_client_that_reads_nothing_is_left(server: uvicorn.Server, port: int) -> None:
    with _sent(port, WHOLE.replace(b"/ ", b"/large ", 1)) as deaf:
        while not server.server_state.total_requests or server.server_state.connections:
            time.sleep(0.01)
        assert len(_answer(deaf)) < len(LARGE)


def test_one_address_has_so_many_connections_and_others_are_answered(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_PER_ADDRESS", 3)
    monkeypatch.setattr(connections, "HEADER_SECONDS", HANG)
    taken = [socket.create_connection(("127.0.0.1", port), HANG) for _ in range(3)]
    with _sent(port, b"") as crowding:
        assert _answer(crowding) == b""
    with _sent(port, WHOLE, "127.0.0.2") as other:
        assert _answer(other).count(b"here")
    for each in taken:
        each.close()
    while True:
        with _sent(port, WHOLE) as again:
            if _answer(again).count(b"here"):
                return

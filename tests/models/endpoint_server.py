"""A server on loopback that speaks the protocols of model endpoints, and misbehaves when told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np

from untimed import HANG


class Seen(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any


class Answer(NamedTuple):
    """What goes back; bytes as they are, anything else as JSON."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012
    hang: bool = False


class Server:
    """Hands every request to `answer` (its number counts from 0) and remembers it."""

    def __init__(self, answer: Callable[[int, Seen], Answer]) -> None:
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self.closing = threading.Event()
        self._now = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or the body waits for a word from the client, 40 ms

            def do_POST(self) -> None:
                outer._answer(self, answer)

            def log_message(self, *args: object) -> None: ...

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *args: object) -> None: ...  # clients hang up on purpose

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _answer(
        self, handler: BaseHTTPRequestHandler, answer: Callable[[int, Seen], Answer]
    ) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        seen = Seen(handler.path, {k.lower(): v for k, v in handler.headers.items()}, None)
        seen = seen._replace(body=json.loads(raw))
        with self._lock:
            number = len(self.seen)
            self.seen.append(seen)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            given = answer(number, seen)
        finally:
            with self._lock:
                self._now -= 1
        if given.hang:
            self.closing.wait(HANG)
            handler.close_connection = True
            return
        body = given.body if isinstance(given.body, bytes) else json.dumps(given.body).encode()
        handler.send_response(given.status)
        headers = {"Content-Length": str(len(body)), **given.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def arrived(self, count: int) -> int:
        """How many requests came, once so many have: a client that gives up is quicker than the thread that reads."""
        give_up = time.monotonic() + HANG
        while len(self.seen) < count and time.monotonic() < give_up:
            time.sleep(0.005)
        return len(self.seen)

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serving(answer: Callable[[int, Seen], Answer]) -> Iterator[Server]:
    server = Server(answer)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def in_turn(*answers: Answer) -> Callable[[int, Seen], Answer]:
    """The first answer to the first request and so on; the last one to all that follow."""
    return lambda number, seen: answers[min(number, len(answers) - 1)]


def vector(text: str, size: int = 5) -> list[float]:
    """A vector that depends on the text alone; not of length 1."""
    spread = sum(ord(letter) * (place + 1) for place, letter in enumerate(text))
    return [float(number) for number in np.random.default_rng(spread).normal(0.0, 3.0, size)]

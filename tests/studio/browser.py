"""Chromium as the tests drive it: over its debugging pipe, with every request, message and fault that it had."""

from __future__ import annotations

import base64
import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from io import RawIOBase
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from chunkwise.studio.app import studio_app
from chunkwise.studio.project import Project
from chunkwise.studio.server import bound_socket
from studio.made_studio import TOKEN
from untimed import HANG

needs_browser = pytest.mark.skipif(
    not shutil.which("chromium"), reason="needs chromium: apt-get install chromium"
)


@cache
def _axe() -> str:
    """The script of axe-core, which the package of that name carries for Python."""
    if importlib.util.find_spec("axe_core_python") is None:
        return ""
    return (files("axe_core_python") / "axe.min.js").read_text("utf-8")


class Browser:
    """One tab; commands are those of the DevTools protocol."""

    def __init__(self, to_browser: RawIOBase, from_browser: RawIOBase) -> None:
        self._out = to_browser
        self._in = from_browser
        self._rest = b""
        self._number = 0
        self.requests: list[str] = []
        self.faults: list[str] = []
        """Messages of the console that are errors, and exceptions that nothing caught."""
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **values: Any) -> Any:
        return self._send(method, self._session, **values)

    def _send(self, method: str, session: str | None = None, **values: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if session is not None:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, (method, found["error"])
                return found["result"]

    def _next(self) -> Any:
        while b"\0" not in self._rest:
            part = self._in.read(1 << 16)
            assert part, "the browser has gone"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, values: Any) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.faults.append(str(values["exceptionDetails"])[:600])
        elif method == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.faults.append(f"{values['entry']['text']} {values['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "assert"):
            self.faults.append(str(values["args"])[:600])

    def run(self, script: str) -> Any:
        """The value of an expression, awaited."""
        found = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, (script, found["exceptionDetails"])
        return found["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Until an expression is true in the page: it looks again whenever something is drawn."""
        came = self.run(
            f"new Promise((done) => {{ const until = performance.now() + {1000 * HANG}; "
            "const look = () => { let found = false; "
            f"try {{ found = {condition}; }} catch {{}} "
            "if (found || performance.now() > until) done(Boolean(found)); "
            "else setTimeout(look, 20); }; look(); })"
        )
        assert came, (condition, self.faults)

    def open(self, address: str, ready: str = "true") -> None:
        self.send("Page.navigate", url=address)
        self.wait_for(f"document.readyState === 'complete' && ({ready})")

    def follow(self, script: str) -> None:
        """Runs what leads to another page, until that one is loaded."""
        self.run(f"setTimeout(() => {{ {script} }}, 0); true")
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def size(self, width: int, height: int = 900) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )  # fmt: skip

    def scheme(self, name: str) -> None:
        wanted = [{"name": "prefers-color-scheme", "value": name}]
        self.send("Emulation.setEmulatedMedia", features=wanted)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            typed = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            text = {"text": typed} if typed and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def axe_findings(self) -> list[str]:
        """What axe-core finds that is serious or worse: its rules and where; none where it is not installed."""
        script = _axe()
        if not script:
            return []
        self.run(f"{script}; true")
        found = self.run(
            "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations"
            ".filter(({ impact }) => impact === 'serious' || impact === 'critical')"
            ".flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)}`)))"
        )
        return [str(each) for each in found]

    def picture(self, path: Path) -> None:
        """What is seen, as a file: for people."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))


@contextmanager
def opened_browser(folder: Path) -> Iterator[Browser]:
    to_browser, from_browser = os.pipe(), os.pipe()

    def as_three_and_four() -> None:
        # To free places first: one may lie where the other is to go.
        ours, theirs = (
            fcntl.fcntl(end, fcntl.F_DUPFD, 5) for end in (to_browser[0], from_browser[1])
        )
        os.dup2(ours, 3)
        os.dup2(theirs, 4)

    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe"]
    command += ["--hide-scrollbars", "--disable-extensions", "--disable-dev-shm-usage"]
    process = subprocess.Popen(
        command, preexec_fn=as_three_and_four, close_fds=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser[0])
    os.close(from_browser[1])
    with (
        os.fdopen(to_browser[1], "wb", buffering=0) as out,
        os.fdopen(from_browser[0], "rb", buffering=0) as into,
    ):
        try:
            yield Browser(out, into)
        finally:
            process.terminate()
            process.wait(timeout=HANG)


class BrowsedStudio:
    """A studio that can go and come back at the same address, and the browser that looks at it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.port = 0
        self.browser: Browser

    def start(self) -> None:
        listening = bound_socket("127.0.0.1", self.port or None)
        self.port = listening.getsockname()[1]
        config = uvicorn.Config(
            studio_app(self.project, token=TOKEN, port=self.port), log_level="critical", lifespan="off", ws="none"
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        while not self._server.started:
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

    def as_person(self, who: str, path: str = "/labelling") -> None:
        self.browser.run(f"localStorage.setItem('chunkwise-name', {json.dumps(who)})")
        self.open(path, "document.querySelector('#passages > li.here')")

    def api(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        )  # fmt: skip
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())

"""Debian's Chromium as Playwright drives it, with every request, message and fault that a page had."""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from resources import note_start
from untimed import HANG

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Page

Value = TypeVar("Value")

_MISSING = [
    *(() if shutil.which("chromium") else ("chromium (apt-get install chromium)",)),
    *(() if importlib.util.find_spec("playwright") else ("playwright (pip install playwright)",)),
]
needs_browser = pytest.mark.skipif(bool(_MISSING), reason=f"needs {' and '.join(_MISSING)}")


@cache
def _axe() -> str:
    """The script of axe-core, which the package of that name carries for Python."""
    if importlib.util.find_spec("axe_core_python") is None:
        return ""
    return (files("axe_core_python") / "axe.min.js").read_text("utf-8")


class _Chromium:
    """One process of the browser, driven in a thread of its own: any thread may ask, and none has a running loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.do(self._launch)

    async def _launch(self) -> None:
        from playwright.async_api import async_playwright

        self._driver = await async_playwright().start()
        self.process = await self._driver.chromium.launch(
            executable_path=shutil.which("chromium"), timeout=1000 * HANG,
            args=["--disable-gpu", "--disable-dev-shm-usage"],
        )  # fmt: skip

    def do(self, work: Callable[[], Awaitable[Value]]) -> Value:
        """Called there, too: Playwright sends its message at once, and from another thread the answer may be first."""

        async def done() -> Value:
            return await work()

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(HANG + 60)

    def close(self) -> None:
        async def ended() -> None:
            await self.process.close()
            await self._driver.stop()

        self.do(ended)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_starting = threading.Lock()
_running: list[_Chromium] = []


def _chromium() -> _Chromium:
    note_start("Chromium")
    with _starting:
        if not _running:
            _running.append(_Chromium())
            atexit.register(stop)  # where no test does
        return _running[0]


def stop() -> None:
    """Behind the last test of a file: others may fork, which a process with threads should not."""
    while _running:
        _running.pop().close()


class Browser:
    """One tab with cookies and a storage of its own; what is not here is done with Playwright's `page`."""

    def __init__(self, chromium: _Chromium, page: Page) -> None:
        self._chromium, self._page = chromium, page
        self.requests: list[str] = []
        self.faults: list[str] = []
        """Messages of the console that are errors, and exceptions that nothing caught."""
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.faults.append(str(error)[:600]))
        page.on("console", self._note)

    def do(self, work: Callable[[Page], Awaitable[Value]]) -> Value:
        """Something with Playwright's own page: `browser.do(lambda page: page.mouse.move(x, y))`."""
        return self._chromium.do(lambda: work(self._page))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self.faults.append(f"{message.text[:600]} {message.location.get('url', '')}")

    def run(self, script: str) -> Any:
        """The value of an expression, awaited."""
        return self.do(lambda page: page.evaluate(script))

    def wait_for(self, condition: str) -> None:
        """Until an expression is true in the page; what is not there yet makes it false."""
        looked = f"() => {{ try {{ return Boolean({condition}); }} catch {{ return false; }} }}"
        try:
            self.do(lambda page: page.wait_for_function(looked, polling=20))
        except Exception as error:
            raise AssertionError(f"{condition} ({error}); faults: {self.faults}") from error

    def open(self, address: str, ready: str = "true") -> None:
        self.do(lambda page: page.goto(address))
        self.wait_for(ready)

    def click(self, selector: str) -> None:
        """As a person does: what is hidden, disabled or covered is waited for."""
        self.do(lambda page: page.locator(selector).first.click())

    def fill(self, selector: str, value: str) -> None:
        """A field, as if it were typed."""
        self.do(lambda page: page.fill(selector, value))

    def sees(self, selector: str) -> bool:
        return self.do(lambda page: page.is_visible(selector))

    def follow(self, selector: str) -> None:
        """Clicks what leads to another page, until that one is loaded."""
        self.run("window.isLeft = true")
        self.click(selector)
        self.wait_for("!window.isLeft && document.readyState === 'complete'")

    def press(self, key: str) -> None:
        self.do(lambda page: page.keyboard.press(key))

    def type(self, text: str) -> None:
        """Where the focus is."""
        self.do(lambda page: page.keyboard.insert_text(text))

    def size(self, width: int, height: int = 900) -> None:
        self.do(lambda page: page.set_viewport_size({"width": width, "height": height}))

    def scheme(self, name: str) -> None:
        self.do(lambda page: page.emulate_media(color_scheme=name))  # type: ignore[arg-type]

    def axe_findings(self) -> list[str]:
        """What axe-core finds: its rules and where; none where it is not installed."""
        script = _axe()
        if not script:
            return []
        self.run(f"{script}; true")
        found = self.run(
            "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations"
            ".flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)}`)))"
        )
        return [str(each) for each in found]

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """What is seen, as a file: for people."""
        self.do(lambda page: page.screenshot(path=path, full_page=whole))


@contextmanager
def opened_browser(*, touch: bool = False, policy: bool = True) -> Iterator[Browser]:
    """Somebody's browser: nothing of it is seen by the next one; without `policy` a page's own (CSP) does not count."""
    chromium = _chromium()

    async def opened() -> Browser:
        context = await chromium.process.new_context(
            viewport={"width": 1280, "height": 900}, has_touch=touch, bypass_csp=not policy
        )
        # Nothing that works takes as long, on a slow and busy machine either.
        context.set_default_timeout(1000 * HANG)
        return Browser(chromium, await context.new_page())

    browser = chromium.do(opened)
    try:
        yield browser
    finally:
        browser.do(lambda page: page.context.close())

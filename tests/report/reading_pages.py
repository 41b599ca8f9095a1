"""Pages of HTML as tests read them: by their tags, and in a browser."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from real_browser import opened_browser

EVIL = (
    "<script>document.title='owned'</script></style></title>\"'><img src=x onerror=\"document.title='owned'\">"
    "<!-- ]]> &amp; \x00\x1b[31m\u202eabc\u2066\u200f\ufeff\x85\u2028\ud800 " + "w" * 90
)


class Page(HTMLParser):
    """Tags with their attributes, and the text of each element by its path of tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.headings: list[str] = []
        self.text = self.style = self.script = self.title = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "h2":
            self.headings.append("")
        if tag not in ("meta", "wbr", "input", "br", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside in ("style", "script"):
            setattr(self, inside, getattr(self, inside) + data)
            return
        self.text += data
        self.title += data if inside == "title" and self.open[-2] == "head" else ""
        if inside == "h2":
            self.headings[-1] += data

    @property
    def policy(self) -> dict[str, str]:
        content = next(a["content"] for _, a in self.tags if a.get("http-equiv"))
        return dict(rule.strip().split(" ", 1) for rule in (content or "").split(";"))


def part(html: str, name: str) -> str:
    """One section of the page."""
    found = re.search(f'<section id="{name}".*?</section>', html, re.S)
    return found[0] if found else ""


def plain(html: str) -> str:
    """The text of some HTML."""
    return unescape(re.sub("<[^>]*>", "", html.replace("<bdi>", "").replace("<wbr>", "")))


def changed(value: Any, change: Callable[[str], str]) -> Any:
    """Every string inside, keys too."""
    if isinstance(value, str):
        return change(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return type(value)(**{name: changed(own, change) for name, own in fields.items()})
    if isinstance(value, Mapping):
        return {change(key): changed(own, change) for key, own in value.items()}
    if isinstance(value, list | tuple):
        inner = [changed(own, change) for own in value]
        return type(value)(*inner) if hasattr(value, "_fields") else type(value)(inner)
    return value


def luminance(color: str) -> float:
    """Of a color #rrggbb, as contrast is reckoned from."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def in_browser(
    html: str, folder: Path, script: str, width: int = 1280, *, as_it_is: bool = False
) -> list[str]:
    """What a script finds once the page is drawn without its policy: what is not escaped would run.

    The last is the title of the page `as_it_is`, policy and all, once its own scripts have run.
    """
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    with opened_browser(policy=False) as browser:
        browser.size(width)
        browser.open(file.as_uri())
        found = [str(each) for each in browser.run(f"(() => {{{script}}})().map(String)")]
    if as_it_is:
        with opened_browser() as browser:
            browser.open(file.as_uri())
            found.append(browser.run("document.title"))
    return found

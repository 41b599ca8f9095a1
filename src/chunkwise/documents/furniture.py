"""Which blocks of a page are its main text, and which are furniture: navigation, banners, side columns, footers.

The elements are watched as they go by. What says itself what it is counts first (HTML's landmarks and roles), then its
class and id, then whether it is nearly all links; each of them is left aside where nothing would remain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from chunkwise.core import Block

CONTAINERS = frozenset({
    "article", "aside", "center", "details", "dialog", "div", "dl", "fieldset", "footer", "form", "header", "li",
    "main", "menu", "nav", "ol", "p", "search", "section", "select", "table", "ul",
})  # fmt: skip
_ROLES = {
    "main": "main",
    "article": "article",
    "navigation": "nav",
    "menu": "nav",
    "menubar": "nav",
    "toolbar": "nav",
    "search": "nav",
    "dialog": "nav",
    "alertdialog": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
}
_TAGS = {"search": "nav", "dialog": "nav", "select": "nav"}
_INSIDE = frozenset({"main", "article", "section"})
"""A header or footer in one of them is that of a part, not that of the page."""

_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_HINTS = frozenset("""
    ad ads advert advertisement advertisements advertising breadcrumb breadcrumbs comments contentinfo cookie cookies
    disqus footer masthead menu menubar nav navbar navigation navfooter navheader newsletter pager pagination popup
    promo promos promoted related share sharing sidebar skip social sphinxsidebar sponsor sponsored subscribe subscription
    tagcloud toolbar topbar widget widgets
""".split())
# A part of the page that has one of them is the page itself, or the frame around its text.
_FRAMES = frozenset("article body container content has layout main no page post text with wrap wrapper".split())
_COLOPHON = re.compile(
    r"\W*(?:©|\(c\)|copyright\b|all rights reserved|powered by|(?:created|generated|built|made) (?:by|with|using|on)\b"
    r"|last (?:updated|modified|changed)|(?:back to |go to )?top$)",
    re.IGNORECASE,
)
_SIGNS = frozenset({"", "¶", "#", "§", "🔗", "⚓", "∞", "link", "anchor", "permalink"})
_PERMALINK = re.compile(r"permalink|headerlink|anchor", re.IGNORECASE)
_DENSE = 0.6
"""Share of a part's text that is links."""
_LEAST = 0.3
"""Share of a page that must be left without what is dense with links, or that is left in."""
_TAIL = 4
"""Blocks at a page's end among which its colophon is looked for."""


def is_permalink(text: str, attributes: Mapping[str, str], in_heading: bool) -> bool:
    """Whether a link's text is only a sign for the place it stands at: ¶, #, Permalink to this heading."""
    if "#" not in (attributes.get("href") or ""):
        return False
    text = text.strip()[:100].lower()
    if text.startswith(("permalink to ", "link to this ", "skip to ")):
        return True
    named = any(_PERMALINK.search(attributes.get(name) or "") for name in ("class", "title", "aria-label"))
    return text in _SIGNS and (in_heading or named or text == "¶")


class _Open(NamedTuple):
    kind: str
    first: int
    """Number of the block it begins with."""
    text: int
    linked: int
    links: int


class _Part(NamedTuple):
    """Blocks of one element."""

    first: int
    end: int
    unlinked: int


class Furniture:
    """Watches one page; `kept` is the result."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._inside = 0
        self._quoted = 0
        self._text = 0
        self._linked = 0
        self._links = 0
        self._link = 0
        self._of_blocks: list[tuple[int, int]] = []
        """Characters so far, and those of links, at the end of each block."""
        self._parts: dict[str, list[_Part]] = {kind: [] for kind in ("main", "article", "furniture", "hint", "dense")}
        self._nested_mains = 0
        self._nested_articles = 0

    # What goes by.

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """A container begins; all text before it is in blocks."""
        kind = self._kind(tag, attributes)
        self._inside += kind in _INSIDE
        self._open.append(_Open(kind, len(self._of_blocks), self._text, self._linked, self._links))

    def end(self) -> None:
        """The last container that began ends; all text in it is in blocks."""
        kind, first, text, linked, links = self._open.pop()
        self._inside -= kind in _INSIDE
        text, linked = self._text - text, self._linked - linked
        part = _Part(first, len(self._of_blocks), text - linked)
        if part.first == part.end:
            return
        if kind in self._parts:
            self._parts[kind].append(part)
        elif self._links - links > 1 and linked >= _DENSE * text:
            self._parts["dense"].append(part)

    def start_link(self) -> None:
        self._link += 1
        self._links += 1

    def end_link(self) -> None:
        self._link -= 1

    def characters(self, text: str) -> None:
        length = len(text.strip())
        self._text += length
        if self._link:
            self._linked += length

    def block(self) -> None:
        """A block was made of the text so far."""
        self._of_blocks.append((self._text, self._linked))

    def _kind(self, tag: str, attributes: Mapping[str, str]) -> str:
        role = (attributes.get("role") or "").lower() if attributes else ""
        kind = _ROLES.get(role) or _TAGS.get(tag, tag)
        if kind in ("main", "article"):
            return kind
        if kind == "nav" or (kind in ("header", "footer", "aside") and not self._inside):
            return "furniture"
        if attributes and _is_hinted(attributes):
            return "hint"
        return "hint" if kind == "footer" and tag == "footer" else kind

    # What it comes to.

    def kept(self, blocks: Sequence[Block], text: str, title: str) -> list[bool]:
        """Of each block whether it is main text; all of them where nothing else is left."""
        everything = [True] * len(blocks)
        kept = self._without(everything, self._parts["furniture"])
        kept = self._without(kept, self._small(self._parts["hint"], kept))
        found = self._main(kept)
        if found is None:
            found = self._without(kept, self._parts["dense"])
            if self._characters(found) < _LEAST * self._characters(kept):
                found = kept  # a page of links: these are its text
            found = self._trimmed(found, blocks, text)
        return _with_title(found, blocks, text, title)

    def _main(self, kept: list[bool]) -> list[bool] | None:
        """What is in `main`, or else in articles, if that is most of the page."""
        for kind, share in (("main", 0.1), ("article", 0.5)):
            inside = _covered(self._parts[kind], len(kept))
            both = [a and b for a, b in zip(kept, inside, strict=True)]
            if any(both) and self._unlinked(both) >= share * self._unlinked(kept):
                return both
        return None

    def _small(self, parts: list[_Part], kept: list[bool]) -> list[_Part]:
        """Without those that hold half of the page: they are the page, whatever they are called."""
        half = self._unlinked(kept) / 2
        return [part for part in parts if part.unlinked <= half]

    def _without(self, kept: list[bool], parts: list[_Part]) -> list[bool]:
        left = [a and not b for a, b in zip(kept, _covered(parts, len(kept)), strict=True)]
        return left if any(left) else kept

    def _trimmed(self, kept: list[bool], blocks: Sequence[Block], text: str) -> list[bool]:
        """Without links before the first and behind the last words of the page, and its colophon."""
        trimmed = list(kept)
        order = [number for number, keep in enumerate(kept) if keep]
        for number in order:
            if not self._is_link(number, blocks, text):
                break
            trimmed[number] = False
        for number in reversed(order[-_TAIL:]):
            block = blocks[number]
            colophon = block.kind != "heading" and _COLOPHON.match(text, block.start, block.end)
            if not colophon and not self._is_link(number, blocks, text):
                break
            trimmed[number] = False
        return trimmed if any(trimmed) else kept

    def _is_link(self, number: int, blocks: Sequence[Block], text: str) -> bool:
        if blocks[number].kind == "heading":
            return False
        characters, linked = self._of_block(number)
        return linked >= _DENSE * characters and linked > 0

    def _of_block(self, number: int) -> tuple[int, int]:
        text, linked = self._of_blocks[number]
        before = self._of_blocks[number - 1] if number else (0, 0)
        return text - before[0], linked - before[1]

    def _characters(self, kept: list[bool]) -> int:
        return sum(self._of_block(number)[0] for number, keep in enumerate(kept) if keep)

    def _unlinked(self, kept: list[bool]) -> int:
        return self._characters(kept) - sum(
            self._of_block(number)[1] for number, keep in enumerate(kept) if keep
        )


def _is_hinted(attributes: Mapping[str, str]) -> bool:
    names: set[str] = set()
    for attribute in ("class", "id"):
        if value := attributes.get(attribute):
            names.update(name.lower() for name in _NAME.findall(value[:300]))
    return not names.isdisjoint(_HINTS) and names.isdisjoint(_FRAMES)


def _covered(parts: list[_Part], count: int) -> list[bool]:
    """Of each block whether one of these holds it."""
    steps = [0] * (count + 1)
    for part in parts:
        steps[part.first] += 1
        steps[part.end] -= 1
    return [depth > 0 for depth in accumulate(steps[:-1])]


def _with_title(
    kept: list[bool], blocks: Sequence[Block], text: str, title: str
) -> list[bool]:
    """With the heading in a banner that is the page's title, where the main text has none of its own."""
    tops = [n for n, block in enumerate(blocks) if block.kind == "heading" and block.level == 1]
    if any(kept[number] for number in tops):
        return kept
    for number in tops:
        heading = " ".join(text[blocks[number].start : blocks[number].end].split())
        if heading and " ".join(title.split()).startswith(heading):
            kept[number] = True
            break
    return kept

"""Which blocks of a page are its main text, and which are furniture: navigation, banners, side columns, footers.

The elements are watched as they go by. What says itself what it is counts first (HTML's landmarks and roles), then its
class and id, then where the prose is and where only links are; each of them is left aside where nothing would remain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, pairwise
from typing import NamedTuple

from chunkwise.core import Block
from chunkwise.documents.formats.html.article import (
    ArticleBody,
    Part,
    body_of_article,
    has_dateline,
    headline,
    says_article,
    with_headline,
)

CONTAINERS = frozenset({
    "article", "aside", "blockquote", "center", "details", "dialog", "div", "dl", "fieldset", "figure", "footer",
    "form", "header", "li", "main", "menu", "nav", "ol", "p", "search", "section", "select", "table", "ul",
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
_BANNER, _FOOTER = "page header", "page footer"
_INSIDE = frozenset({"main", "article", "section"})
"""A header or footer in one of them is that of a part, not that of the page."""
_QUOTES = frozenset({"blockquote", "figure"})
"""A footer in one of them says where it is from."""

_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_HINTS = frozenset(
    """
    ad ads advert advertisement advertisements advertising breadcrumb breadcrumbs comments contentinfo cookie cookies
    disqus footer masthead menu menubar nav navbar navigation navfooter navheader newsletter pager pagination popup
    promo promos promoted related share sharing sidebar skip social sphinxsidebar sponsor sponsored subscribe
    subscription tagcloud toolbar topbar widget widgets
""".split()
)
# A part of the page that has one of them is the page itself, or the frame around its text.
_FRAMES = frozenset(
    "article body container content has layout main no page post text with wrap wrapper".split()
)
_COLOPHON = re.compile(
    r"\W*(?:©|\(c\)|copyright\b|all rights reserved|powered by|(?:created|generated|built|made) (?:by|with|using|on)\b"
    r"|last (?:updated|modified|changed)|(?:back to |go to )?top$)",
    re.IGNORECASE,
)
_IMPRINT = re.compile(
    r"©|\(c\)|copyright|rights reserved|powered by|licen[cs]e|imprint|privacy|cookie|contact|@"
    r"|\b(?:tel|phone|e-?mail)\b",
    re.IGNORECASE,
)
_SOURCES = re.compile(
    r"\b(?:references|sources|further reading|bibliography|footnotes|quellen|literatur|références|fuentes|fonti)\W*\Z",
    re.IGNORECASE,
)
_SIGNS = frozenset({"", "¶", "#", "§", "🔗", "⚓", "∞", "link", "anchor", "permalink"})
_PERMALINK = re.compile(r"permalink|headerlink|anchor", re.IGNORECASE)
_DENSE = 0.6
"""Share of a part's text that is links."""
_FRAME_TAGS = frozenset({"main", "article", "section", "div", "center", "form", "table"})
PLAIN = (
    CONTAINERS - _FRAME_TAGS - _INSIDE - _QUOTES - set(_TAGS) - {"nav", "aside", "header", "footer"}
)
"""What is nothing of all that unless an attribute says so; a page may have a million of them."""
_LONG = 80
"""Bytes outside of links with which a block is prose."""
_MOST = 0.8
"""Share of the prose that makes an element the body of the page."""
_NEARLY_ALL = 0.9
"""The same on a page that says that it is an article."""
_SHORTER = 0.6
"""Behind the element of an article, paragraphs that are so much shorter are comments and notes, and no more of it."""
_PARAGRAPHS, _BESIDE = 3, 1 / 3
"""The element of an article has so many of its own; others beside it have at most this share of its prose."""
_SCRAPS, _LINKED = 0.6, 0.2
"""Around the body goes what has less of its text in prose, and more of it in links."""
_IN_MAIN, _IN_ARTICLE = 0.1, 0.5
"""Least share of a page's words that `main`, or its one article, must hold to be believed."""
_TAIL = 4
"""Blocks at a page's end among which its colophon is looked for."""


def is_permalink(text: str, attributes: Mapping[str, str], in_heading: bool) -> bool:
    """Whether a link's text is only a sign for the place it stands at: ¶, #, Permalink to this heading."""
    if "#" not in (attributes.get("href") or ""):
        return False
    text = text.strip()[:100].lower()
    if text.startswith(("permalink to ", "link to this ", "skip to ")):
        return True
    named = any(
        _PERMALINK.search(attributes.get(name) or "") for name in ("class", "title", "aria-label")
    )
    return text in _SIGNS and (in_heading or named or text == "¶")


class _Open(NamedTuple):
    depth: int
    kind: str
    first: int
    """Number of the block it begins with."""
    text: int
    linked: int


class Furniture:
    """Watches one page; `kept` is the result."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self.depth = 0
        """Of the innermost container that is open and watched, how many elements were open with it."""
        self._inside = 0
        self._quoted = 0
        self._text = 0
        self._linked = 0
        self._link = 0
        self._links: list[bool] = []
        self._of_blocks: list[tuple[int, int]] = []
        """Bytes of text so far, and those of links, at the end of each block."""
        self._parts: dict[str, list[Part]] = {
            kind: [] for kind in ("main", "article", "furniture", "hint", _BANNER, _FOOTER)
        }
        self._frames: list[Part] = []
        self.says_article = False
        """Whether the page says that it is one: news, a post."""
        self.permalinks = 0
        """Headings with a link to themselves: a page with sections to refer to is no news."""

    # What goes by.

    def start(self, depth: int, tag: str, attributes: Mapping[str, str]) -> None:
        """A container begins, the so manyth element of those that are open; all text before it is in blocks."""
        if not attributes and tag in PLAIN:
            return
        kind = self._kind(tag, attributes)
        self._inside += kind in _INSIDE
        self._quoted += kind in _QUOTES
        self._open.append(_Open(depth, kind, len(self._of_blocks), self._text, self._linked))
        self.depth = depth

    def end(self) -> None:
        """The innermost container that is watched ends; all text in it is in blocks."""
        _, kind, first, text, linked = self._open.pop()
        self.depth = self._open[-1].depth if self._open else 0
        self._inside -= kind in _INSIDE
        self._quoted -= kind in _QUOTES
        text, linked = self._text - text, self._linked - linked
        part = Part(first, len(self._of_blocks), text - linked)
        if part.first == part.end:
            return
        if kind in (_BANNER, _FOOTER):
            self._parts["furniture"].append(part)
        # Without a link it is that of a report or a letter rather than that of a site.
        if kind in self._parts and not (kind in (_BANNER, _FOOTER) and linked):
            self._parts[kind].append(part)
        if kind in _FRAME_TAGS:
            self._frames.append(part)

    def start_link(self, leads_away: bool = True) -> None:
        """`leads_away`: unless it is a heading's link to itself."""
        self._links.append(leads_away)
        self._link += leads_away

    def end_link(self) -> None:
        self._link -= self._links.pop()

    def characters(self, length: int) -> None:
        """Bytes of text without white space around it."""
        self._text += length
        if self._link:
            self._linked += length

    def block(self, length: int) -> None:
        """A block was made of the text so far, of which these bytes are the last."""
        self._text += length
        if self._link:
            self._linked += length
        self._of_blocks.append((self._text, self._linked))

    def _kind(self, tag: str, attributes: Mapping[str, str]) -> str:
        if attributes and not self.says_article:
            self.says_article = says_article(attributes)
        role = (attributes.get("role") or "").lower() if attributes else ""
        kind = _ROLES.get(role) or _TAGS.get(tag, tag)
        if kind in ("main", "article") or (kind == "footer" and self._quoted):
            return kind
        if kind == "nav" or (kind == "aside" and not self._inside):
            return "furniture"
        if kind in ("header", "footer") and not self._inside:
            return _BANNER if kind == "header" else _FOOTER
        if attributes and _is_hinted(attributes):
            return "hint"
        return "hint" if kind == "footer" and tag == "footer" else kind

    # What it comes to.

    def kept(self, blocks: Sequence[Block], text: str, title: str) -> list[bool]:
        """Of each block whether it is main text; all of them where nothing else is left."""
        everything = [True] * len(blocks)
        kept = self._without(everything, self._beside_the_article(self._parts["furniture"]))
        kept = self._without(kept, self._small(self._parts["hint"], kept))
        main = self._main(kept)
        result = self._body(kept if main is None else main, blocks, says_main=main is not None)
        dated = not self.permalinks and has_dateline(blocks, text, headline(blocks, text, title, 0))
        if self.says_article or dated:
            result = self._article_alone(result, blocks, text, title)
        if main is None:
            result = self._trimmed(result, blocks, text)
        for part in _outermost(self._parts[_FOOTER]):
            words = text[blocks[part.first].start : blocks[part.end - 1].end]
            if part.unlinked >= _LONG and not _IMPRINT.search(words):
                result[part.first : part.end] = [True] * (part.end - part.first)
        return self._with_title(result, blocks, text, title)

    def _body(self, kept: list[bool], blocks: Sequence[Block], *, says_main: bool) -> list[bool]:
        """Without the links and scraps around the element that holds nearly all of the prose, or else an article."""
        if not self._frames:
            return kept
        sums = [(0, 0, 0)]
        for number, prose in enumerate(self._prose(kept, blocks)):
            characters, linked = self._own[number] if kept[number] else (0, 0)
            a, b, c = sums[-1]
            sums.append((a + characters, b + linked, c + prose))
        result = list(kept)

        def drop(*around: tuple[int, int]) -> None:
            for lo, hi in around:
                characters, linked, prose = (b - a for a, b in zip(sums[lo], sums[hi], strict=True))
                if prose < _SCRAPS * characters and linked > _LINKED * characters:
                    result[lo:hi] = [False] * (hi - lo)

        first, end = 0, len(kept)
        for part in sorted(self._frames, key=lambda part: (part.first, -part.end)):
            if part.first < first or part.end > end:
                continue
            whole, inside = sums[end][2] - sums[first][2], sums[part.end][2] - sums[part.first][2]
            if inside < _MOST * whole or not whole:
                continue
            drop((first, part.first), (part.end, end))
            first, end = part.first, part.end
        of_blocks = [after[2] - before[2] for before, after in pairwise(sums)]
        if not says_main and (article := self._article(of_blocks, first, end)):
            drop((first, article.first), (article.end, end))
        return result if any(result) else kept

    def _article_alone(
        self, kept: list[bool], blocks: Sequence[Block], text: str, title: str
    ) -> list[bool]:
        """Without links to others, and what is behind the element with nearly all of the prose: who wrote it."""
        prose = self._prose(kept, blocks)
        sums = [*accumulate(prose, initial=0)]
        elements = sorted(self._frames, key=lambda part: (part.first, -part.end))
        first, end = 0, len(kept)
        for part in elements:
            inside = sums[part.end] - sums[part.first]
            if first <= part.first and part.end <= end and inside >= _NEARLY_ALL * sums[-1]:
                first, end = part.first, part.end
        # Comments are lists on most pages, and few articles are.
        paragraphs = [
            size if block.kind != "item" else 0 for size, block in zip(prose, blocks, strict=True)
        ]
        body = None if self.permalinks else body_of_article(elements, paragraphs)
        told = headline(blocks, text, title, body.first if body else 0)
        if body:
            first, end = self._alone(elements, body, told, first, end, kept, prose, blocks)
            kept = [
                keep and (number == told or first <= number < end)
                for number, keep in enumerate(kept)
            ]
        article = self._article(paragraphs, first, end)
        if article and sums[article.end] - sums[article.first] >= _IN_ARTICLE * (
            sums[end] - sums[first]
        ):
            sizes = _mean_size(prose[article.first : article.end])
            if _mean_size(prose[article.end : end]) < _SHORTER * sizes:
                end = article.end
        own = self._own_links(first, end, kept, prose, blocks, text)
        result = []
        for number, keep in enumerate(kept):
            is_told = prose[number] > 0 or blocks[number].kind == "heading" or first <= number
            linked = self._is_linked(number) and not prose[number] and number not in own
            result.append(keep and number < end and is_told and not linked)
        return result if any(result) and sums[-1] else kept

    def _alone(
        self,
        elements: list[Part],
        body: ArticleBody,
        told: int | None,
        first: int,
        end: int,
        kept: list[bool],
        prose: list[int],
        blocks: Sequence[Block],
    ) -> tuple[int, int]:
        """The blocks of the element with headline and body, and of these the body, where the rest has no sections."""
        sums = [*accumulate(prose, initial=0)]
        around = with_headline(elements, body, told)
        if around:
            share = (sums[around.end] - sums[around.first]) / (sums[-1] or 1)
            if _IN_MAIN <= share < _NEARLY_ALL:
                first, end = around.first, around.end
        start = min(body.first, told) if told is not None and told >= first else body.first
        whole = Part(body.first, body.end, 0)
        if not (first <= start and body.end <= end) or not all(
            whole.holds(part) or part.holds(body) for part in body.rivals
        ):
            return first, end
        rest = [number for number in (*range(first, start), *range(body.end, end)) if kept[number]]
        headings = sum(blocks[n].kind == "heading" and not self._is_linked(n) for n in rest)
        coded = any(blocks[n].kind == "code" for n in rest)
        if (
            headings == 0
            and not coded
            and sums[body.end] - sums[start] < _NEARLY_ALL * (sums[end] - sums[first])
        ):
            return start, body.end
        return first, end

    def _own_links(
        self,
        first: int,
        end: int,
        kept: list[bool],
        prose: list[int],
        blocks: Sequence[Block],
        text: str,
    ) -> set[int]:
        """Linked blocks that are the article's own: rows, headings above its prose, lists between it or of sources.

        Those of other articles stand above words that are linked, too, or behind the last of the prose.
        """
        links: set[int] = set()
        behind = max((number for number in range(first, end) if prose[number]), default=first)
        before, heads = "", False
        """The last block before a list, and whether what follows is this article's."""
        for number in range(first, end):
            block = blocks[number]
            if not kept[number]:
                continue
            linked = self._is_linked(number) and not prose[number]
            if not linked:
                before = text[block.start : block.end]
                heads = prose[number] > 0 or before.endswith((":", "："))
            elif block.kind == "row":
                links.add(number)
            elif block.kind == "heading":
                below = next((index for index in range(number + 1, end) if kept[index]), None)
                heads = below is not None and self._is_told_at_length(below)
                if heads and number < behind:
                    links.add(number)
            elif block.kind == "item":
                if (heads and number < behind) or _SOURCES.search(before[-_LONG:]):
                    links.add(number)
            else:
                heads = False
        return links

    def _is_told_at_length(self, number: int) -> bool:
        """A teaser has few words, and a link to the rest of them."""
        characters, linked = self._own[number]
        return characters >= 2 * _LONG and linked <= characters / 10

    def _prose(self, kept: list[bool], blocks: Sequence[Block]) -> list[int]:
        """Bytes of each block that is kept and long enough to be prose, or is code or a row."""
        result = []
        for number, keep in enumerate(kept):
            characters, linked = self._own[number] if keep else (0, 0)
            long = characters - linked >= _LONG or blocks[number].kind in ("code", "row")
            result.append(characters - linked if long and linked <= characters / 2 else 0)
        return result

    def _is_linked(self, number: int) -> bool:
        characters, linked = self._own[number]
        return linked > characters / 2

    def _article(self, prose: list[int], first: int, end: int) -> Part | None:
        """The element between these blocks that has far more prose of its own than any other beside it."""
        inside = [part for part in self._frames if first <= part.first and part.end <= end]
        inside.sort(key=lambda part: (part.first, -part.end))
        own, paragraphs = [0] * len(inside), [0] * len(inside)
        open_, following = list[int](), 0
        for number in range(first, end):
            while open_ and inside[open_[-1]].end <= number:
                open_.pop()
            while following < len(inside) and inside[following].first <= number:
                open_.append(following)
                following += 1
            if open_ and prose[number]:
                own[open_[-1]] += prose[number]
                paragraphs[open_[-1]] += 1
        most = max(range(len(inside)), key=own.__getitem__, default=None)
        if most is None or paragraphs[most] < _PARAGRAPHS:
            return None
        result = inside[most]
        beside = (
            its for its, part in zip(own, inside, strict=True)
            if part.end <= result.first or part.first >= result.end
        )  # fmt: skip
        return result if max(beside, default=0) <= _BESIDE * own[most] else None

    def _main(self, kept: list[bool]) -> list[bool] | None:
        """What is in `main`, or else in the one article that is most of the page."""
        largest = max(self._parts["article"], key=lambda part: part.unlinked, default=None)
        for parts, share in (
            (self._parts["main"], _IN_MAIN),
            ([largest] if largest else [], _IN_ARTICLE),
        ):
            if not parts:
                continue
            inside = _covered(parts, len(kept))
            both = [a and b for a, b in zip(kept, inside, strict=True)]
            if any(both) and self._unlinked(both) >= share * self._unlinked(kept):
                return both
        return None

    def _beside_the_article(self, parts: list[Part]) -> list[Part]:
        """Without those that hold the largest `main` or article: a header that was never closed holds the page."""
        landmarks = [
            max(group, key=lambda part: part.unlinked)
            for group in (self._parts["main"], self._parts["article"])
            if group
        ]
        return [
            part for part in parts
            if not any(part.holds(one) and one.unlinked > part.unlinked / 2 for one in landmarks)
        ]  # fmt: skip

    def _small(self, parts: list[Part], kept: list[bool]) -> list[Part]:
        """Without those that hold half of the page, or together nearly all: they are it, whatever they are called."""
        if not parts:
            return parts
        whole = self._unlinked(kept)
        small = [part for part in parts if part.unlinked <= whole / 2]
        if whole - sum(part.unlinked for part in _outermost(small)) < _IN_MAIN * whole:
            return [part for part in small if part.unlinked < _LONG]
        return small

    def _without(self, kept: list[bool], parts: list[Part]) -> list[bool]:
        if not parts:
            return kept
        left = [a and not b for a, b in zip(kept, _covered(parts, len(kept)), strict=True)]
        return left if any(left) else kept

    def _trimmed(self, kept: list[bool], blocks: Sequence[Block], text: str) -> list[bool]:
        """Without links before the first and behind the last words of the page, and its colophon."""
        trimmed = list(kept)
        order = [number for number, keep in enumerate(kept) if keep]
        for number in order:
            if not self._is_link(number, blocks):
                break
            trimmed[number] = False
        for number in reversed(order[-_TAIL:]):
            block = blocks[number]
            colophon = block.kind != "heading" and _COLOPHON.match(text, block.start, block.end)
            if not colophon and not self._is_link(number, blocks):
                break
            trimmed[number] = False
        return trimmed if any(trimmed) else kept

    def _with_title(
        self, kept: list[bool], blocks: Sequence[Block], text: str, title: str
    ) -> list[bool]:
        """With the banner that holds the page's title, where the main text has none of its own."""
        tops = [n for n, block in enumerate(blocks) if block.kind == "heading" and block.level == 1]
        if any(kept[number] for number in tops):
            return kept
        named = _words(title)
        for number in tops:
            heading = _words(text[blocks[number].start : blocks[number].end])
            if heading and named[: len(heading)] == heading:
                kept[number] = True
                for part in _outermost(self._parts[_BANNER]):
                    if part.first <= number < part.end:
                        kept[part.first : part.end] = [True] * (part.end - part.first)
                break
        return kept

    def _is_link(self, number: int, blocks: Sequence[Block]) -> bool:
        if blocks[number].kind == "heading":
            return False
        characters, linked = self._own[number]
        return linked >= _DENSE * characters and linked > 0

    @cached_property
    def _own(self) -> list[tuple[int, int]]:
        """Bytes of each block, and those of links; asked for when the last block is made."""
        sums = self._of_blocks
        both = zip(sums, [(0, 0), *sums], strict=False)
        return [(text - before, linked - others) for (text, linked), (before, others) in both]

    def _unlinked(self, kept: list[bool]) -> int:
        return sum(text - linked for text, linked in compress(self._own, kept))


def _mean_size(prose: list[int]) -> float:
    return sum(prose) / max(sum(map(bool, prose)), 1)


def _is_hinted(attributes: Mapping[str, str]) -> bool:
    names: set[str] = set()
    for attribute in ("class", "id"):
        if value := attributes.get(attribute):
            names.update(name.lower() for name in _NAME.findall(value[:300]))
    return not names.isdisjoint(_HINTS) and names.isdisjoint(_FRAMES)


def _outermost(parts: list[Part]) -> list[Part]:
    """In their order, without those inside others: a page may nest them without end."""
    result: list[Part] = []
    for part in sorted(parts, key=lambda part: (part.first, -part.end)):
        if not result or part.first >= result[-1].end:
            result.append(part)
    return result


def _covered(parts: list[Part], count: int) -> list[bool]:
    """Of each block whether one of these holds it."""
    steps = [0] * (count + 1)
    for part in parts:
        steps[part.first] += 1
        steps[part.end] -= 1
    return [depth > 0 for depth in accumulate(steps[:-1])]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())

"""The table of contents of an EPUB: the place each entry names, and how deep it stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element

Point = tuple[int, str, str]
"""Level (1 = top), title and reference, empty where the entry has none."""


class Entry(NamedTuple):
    level: int
    title: str
    fragment: str
    """The element it names in its file; empty for the file itself."""


def nav_points(root: _Element) -> Iterator[Point]:
    """Entries of an EPUB 3 navigation document; its lists of pages and landmarks are none."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end"))
    level = 0
    for event, element in walk:
        name = _name(element)
        if name == "ol":
            level += 1 if event == "start" else -1
        elif event == "end":
            continue
        elif name == "nav" and _is_no_toc(element):
            walk.skip_subtree()
        elif name == "a" or (name == "span" and _name(element.getparent()) == "li"):
            title = _text(element)
            if title:
                yield max(level, 1), title, element.get("href") or ""
            walk.skip_subtree()  # a link in a link is read once


def ncx_points(root: _Element) -> Iterator[Point]:
    """Entries of the older ncx."""
    from lxml import etree

    level = 0
    for event, element in etree.iterwalk(root, events=("start", "end"), tag="{*}navPoint"):
        if event == "end":
            level -= 1
            continue
        level += 1
        label, content = element.find("{*}navLabel/{*}text"), element.find("{*}content")
        title = "" if label is None else _text(label)
        if title:
            yield level, title, "" if content is None else content.get("src") or ""


def by_file(
    points: Iterable[Point], place: Callable[[str], tuple[str, str]], files: Collection[str]
) -> dict[str, list[Entry]]:
    """Entries by the file they name; one that names none stands where the first below it does."""
    entries: dict[str, list[Entry]] = {}
    waiting: list[Entry] = []
    for level, title, reference in points:
        path, fragment = place(reference)
        if path in files:
            above = [entry._replace(fragment=fragment) for entry in waiting if entry.level < level]
            entries.setdefault(path, []).extend([*above, Entry(level, title, fragment)])
            waiting = []
        else:
            waiting = lineage(waiting, [Entry(level, title, "")])
    return entries


def lineage(above: list[Entry], entries: Iterable[Entry]) -> list[Entry]:
    """The last entry with those it stands below."""
    line = above.copy()
    for entry in entries:
        while line and line[-1].level >= entry.level:
            line.pop()
        line.append(entry)
    return line


def _is_no_toc(nav: _Element) -> bool:
    types = [str(value) for key, value in nav.items() if str(key).endswith("type")]
    return bool(types) and not any("toc" in value.split() for value in types)


def _name(element: _Element | None) -> str:
    return "" if element is None else str(element.tag).rpartition("}")[2]


def _text(element: _Element) -> str:
    return " ".join("".join(element.itertext()).split())

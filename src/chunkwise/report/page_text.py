"""Anyone's text inside a page of HTML: shown as it is, obeyed never."""

from __future__ import annotations

from html import escape

from chunkwise.report.plain_text import one_line


def attribute(text: str, most: int = 0) -> str:
    """For an attribute between double quotes, or a title: one line, cut behind `most` characters."""
    return escape(one_line(text, most))


def words(text: str, most: int = 0) -> str:
    """On one line, in a direction of its own: what stands beside it keeps its place."""
    return f"<bdi>{attribute(text, most)}</bdi>"


def passage(text: str, most: int, lines: int) -> str:
    """A few lines of a text, empty ones left out; an ellipsis tells that there are more."""
    given = [line for line in text[:most].splitlines() if line.strip()]
    kept = "\n".join(one_line(line).strip() for line in given[:lines])
    more = len(text) > most or len(given) > lines
    return f"<bdi>{escape(kept)}{' …' if more else ''}</bdi>"


def breakable(name: str) -> str:
    """The name of a metric, which may be broken behind its dots and underscores."""
    return attribute(name).replace("_", "_<wbr>").replace(".", ".<wbr>").replace("@", "<wbr>@")


def section(id: str, title: str, body: str, lead: str = "") -> str:
    """A part of a page with its heading; nothing where there is nothing to tell."""
    if not body:
        return ""
    told = f'<p class="lead">{lead}</p>' if lead else ""
    return f'<section id="{id}" aria-labelledby="{id}-h"><h2 id="{id}-h">{title}</h2>{told}{body}</section>'

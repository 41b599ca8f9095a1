"""How a notebook draws values of rooms that may know nothing of pages: by the name of their class, when one asks."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from html import escape

from chunkwise.base.wording import shortened

_DRAWN_BY = "chunkwise.report.notebook"


def drawn(value: object) -> str:
    """HTML of a value; `report` is imported for it, and by nobody below it."""
    result: str = importlib.import_module(_DRAWN_BY).html_of(value)
    return result


_SHOWN = 60
_SEEN = 4 * _SHOWN
"""Characters of a text that are looked at and, with white space folded, shown in a console."""


def beginning(text: str, start: int = 0, end: int | None = None) -> str:
    """The first words of a stretch of text, on one line."""
    end = len(text) if end is None else end
    return shortened(" ".join(text[start : min(end, start + _SEEN)].split()), _SHOWN)


def card(title: str, facts: Mapping[str, object], text: str) -> str:
    """HTML for a notebook: a title, facts in one line, the text as it is; everything escaped."""
    line = " · ".join(f"{escape(name)} {escape(str(value))}" for name, value in facts.items())
    return (
        '<div style="border-left:3px solid #888;padding:.2em .8em;margin:.4em 0">'
        f"<strong>{escape(title)}</strong> <small>{line}</small>"
        f'<pre style="white-space:pre-wrap;margin:.3em 0 0">{escape(text)}</pre></div>'
    )

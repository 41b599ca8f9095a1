"""A chart in a page: drawn at two widths, of which the page shows the one that fits, and told as a table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from chunkwise.base.errors import MissingExtra
from chunkwise.report.charts.look import CONFIG, Spec
from chunkwise.report.charts.svg import fit_for_a_page
from chunkwise.report.page_text import attribute


class Room(NamedTuple):
    """What a chart is drawn for: so many pixels, on a telephone or not."""

    width: int
    narrow: bool


_WIDE, _NARROW = 900, 340
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
HALF = 480
"""For a chart that stands beside another."""


def drawn(draw: Callable[[Room], Spec], told: str, *, wide: int = _WIDE) -> str:
    """The chart as HTML; empty where the library is not installed, a line where it fails: the page is made."""
    if not can_draw():
        return ""
    half = " half" if wide < _WIDE else ""
    rooms = {"wide": Room(wide, False), "narrow": Room(_NARROW, True)}
    try:
        shown = "".join(
            fit_for_a_page(_svg(_whole(draw(room))), told, name, hints=not room.narrow)
            for name, room in rooms.items()
        )
    except ValueError:  # all that the library raises
        return '<p class="none">This chart could not be drawn; its table says the same.</p>'
    return f'<figure class="chart{half}">{shown}</figure>'


def as_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The numbers of a chart, behind a click, or open where there is no chart; cells are HTML."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        f'<details class="numbers"{"" if can_draw() else " open"}><summary>As a table</summary>'
        f'<div class="wide-table"><table class="plain"><caption>{attribute(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def can_draw() -> bool:
    """Whether the library is there; to load it takes milliseconds, its engine starts with the first chart."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


def without_charts() -> str:
    """One line that says what is missing, and the command for it; empty where nothing is."""
    if can_draw():
        return ""
    missing = MissingExtra("Drawing charts", "charts")
    return f'<p class="hint">{attribute(str(missing))}. Until then there are tables in their place.</p>'


def _whole(spec: Spec) -> str:
    return json.dumps(_shown({"config": CONFIG, **spec}), sort_keys=True)


def _shown(value: Any) -> Any:
    """Every text inside without what XML cannot hold: the engine measures letters as XML, and such a one ends all."""
    if isinstance(value, str):
        return _NO_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _shown(own) for name, own in value.items()}
    return [_shown(own) for own in value] if isinstance(value, list) else value


@lru_cache(maxsize=64)
def _svg(spec: str) -> str:
    """The same specification gives the same bytes; notebooks show one fragment again and again."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])

"""Numbers, counts, lists, intervals, times, sizes and money as people read them: the one place that words them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "text", "code", "score", "change", "share", "number", "count", "bytes", "seconds", "money", "p"
]
"""What a value is: `score` and `share` are of 1 and read as per cent, `change` is a difference of scores in points."""


def format_number(value: float, kind: Kind) -> str:
    """One number as its kind is written: `81%`, `−2.1 pts`, `1,234`, `1.5 MB`; one minus sign everywhere."""
    match kind:
        case "score" | "share":
            written = _percent(value)
        case "change":
            written = f"{round(100 * value, 1) or 0.0:+.1f} pts".replace("+0.0", "0.0")
        case "count":
            written = f"{value:,.0f}"
        case "bytes":
            written = _bytes(value)
        case "seconds":
            written = _seconds(value)
        case "money":
            written = f"${value:,.2f}" if value >= 0.01 or not value else "under $0.01"
        case "p":
            written = "<0.001" if value < 0.001 else f"{value:.3f}"
        case "number":
            written = _three_digits(value)
        case _:
            written = str(value)
    return written.replace("-", "−")


def percent(share: float) -> str:
    """ "83%"."""
    return format_number(share, "share")


def points(amount: float) -> str:
    """A difference whose direction a word tells: "2.1 pts"."""
    return format_number(amount, "change").removeprefix("+")


def format_estimate(mean: float, low: float | None, high: float | None, kind: Kind) -> str:
    """A mean with its interval, the unit once: `81% (73–87)`."""
    ends = format_interval(low, high, kind)
    written = format_number(mean, kind)
    return f"{written} ({ends})" if ends else written


def format_interval(low: float | None, high: float | None, kind: Kind) -> str:
    """Without the unit, which stands behind the mean; empty where there is none."""
    if low is None or high is None:
        return ""
    ends = [
        format_number(end, kind).removesuffix("%").removesuffix(" pts").removeprefix("+")
        for end in (low, high)
    ]
    # A minus is not read beside a dash.
    return (" to " if any("−" in end for end in ends) else "–").join(ends)


def format_change(difference: float, kind: Kind) -> str:
    """A difference of two values of one kind: in points where they are shares, else with its sign."""
    if kind in ("score", "share"):
        return format_number(difference, "change")
    written = format_number(difference, kind)
    return f"+{written}" if difference > 0 else written


def _three_digits(value: float) -> str:
    """Three digits that say something; counts stay whole."""
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if 1 <= abs(value) < 10 or not value else f"{value:.3g}"


def _percent(share: float) -> str:
    """A digit more where whole numbers would say nothing: near none, and near all."""
    value = 100 * share
    if 0 < value < 0.05:
        return "<0.1%"
    if 99.95 < value < 100:
        return ">99.9%"
    near = 0 < abs(value) < 9.95 or 99 < value < 100
    return f"{value:.1f}%" if near else f"{value:.0f}%"


def _bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,.0f} bytes"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:,.1f} ms" if seconds < 0.01 else f"{1000 * seconds:,.0f} ms"
    if seconds < 120:
        return f"{seconds:,.1f} s" if seconds < 20 else f"{seconds:,.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes:,} min" if minutes < 120 else f"{minutes / 60:,.1f} h"


def plural(count: float, noun: str) -> str:
    """The noun alone; it is one that takes an s, or "ies" for its y."""
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeiou" else f"{noun}s"


def thousands(value: float) -> str:
    """A whole number, or one rounded to it: "1,234"."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}"


def one_or_many(count: float, one: str, many: str) -> str:
    """The word that goes with a count: "is" or "are", "its" or "their"."""
    return one if count == 1 else many


def counted(count: float, noun: str) -> str:
    """ "1 chunk", "2 chunks", "2,000 entries"."""
    shown = thousands(count)
    return f"{shown} {noun if shown == '1' else plural(2, noun)}"


def from_to(start: int, end: int) -> str:
    """Where something stands in a text: "1,200–1,350"."""
    return f"{thousands(start)}–{thousands(end)}"


def main_reason(reasons: Counter[str]) -> str:
    """ "the model refused (and 2 other reasons)": the most frequent one."""
    (reason, _), *others = reasons.most_common()
    return f"{reason} (and {counted(len(others), 'other reason')})" if others else reason


def shortened(text: str, most: int = 80) -> str:
    """The beginning of a text, where it has more characters than `most`; an ellipsis says that it goes on."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shown(value: object, most: int = 80) -> str:
    """A value as a message shows it, not all of it: it may be a whole corpus, or a number of thousands of digits."""
    if isinstance(value, str):
        return repr(shortened(value, most - 2))  # its quotes count
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a number with more than 40 digits"
    return shortened(repr(value), most)


def listed(names: Sequence[str], most: int = 6) -> str:
    """ "en, de, fr and 3 more"."""
    message = ", ".join(names[:most])
    return f"{message} and {len(names) - most:,} more" if len(names) > most else message


def all_listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def as_set(value: float) -> str:
    """A limit, a margin or a time that somebody set, as it was set: "0.8", "30", "1,000"."""
    # Ten digits hide that 0.1 + 0.2 is not quite 0.3; whole numbers have all of theirs.
    return f"{value:,.0f}" if abs(value) >= 1e10 else f"{Decimal(f'{value:.10g}'):,f}"


def did_you_mean(name: str, known: Collection[str], otherwise: str | None = None) -> str:
    """The hint beside an unknown name: what begins or is spelled like it, else what is allowed."""
    spelled = {item.lower(): item for item in reversed(list(known))}
    wanted = name.lower()
    near = [item for low, item in reversed(spelled.items()) if wanted and low.startswith(wanted)][
        :5
    ]
    near = near or [spelled[low] for low in get_close_matches(wanted, spelled, n=3)]
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"allowed: {', '.join(known)}" if otherwise is None else otherwise

"""Numbers, counts, lists, intervals, times, sizes and money as people read them: the one place that words them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from difflib import get_close_matches


def percent(share: float) -> str:
    """ "83 %", with a digit more where whole numbers would say nothing: near none, and near all."""
    if 0 < share < 0.0005:
        return "under 0.1 %"
    value = 100 * share
    # All but a few are not all.
    if 99 < value < 100:
        return "over 99.9 %" if share > 0.9995 else f"{value:.1f} %"
    return f"{value:.1f} %" if 0 < value < 10 else f"{round(value)} %"


def short_number(value: float, *, whole: int = 100_000) -> str:
    """1,234 below `whole`, then 123k, 4.6M: never more digits than a label has room for."""
    if round(value) < whole:
        return f"{round(value):,}"
    for unit in ("k", "M", "B"):
        value /= 1000
        # 999,999 is 1M, not 1,000k.
        if round(value) < 1000:
            return _scaled(value) + unit
    return _scaled(value / 1000) + "T"


def _scaled(value: float) -> str:
    digits = 1 if round(value, 1) < 100 else 0
    return f"{value:,.{digits}f}".removesuffix(".0")


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


def counted_short(count: float, noun: str) -> str:
    """ "1 token", "123k tokens": where nobody needs every digit."""
    shown = short_number(count)
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
        return "a number of more than 40 digits"
    return shortened(repr(value), most)


def listed(names: Sequence[str], most: int = 6) -> str:
    """ "en, de, fr and 3 more"."""
    told = ", ".join(names[:most])
    return f"{told} and {len(names) - most:,} more" if len(names) > most else told


def all_listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def score(value: float | None) -> str:
    """Three digits, never "-0.000"; "unscored" where there is none."""
    if value is None:
        return "unscored"
    shown = f"{value:.3f}"
    return "0.000" if shown == "-0.000" else shown


def two_digits(value: float) -> str:
    """A measure of agreement or likeness (κ, τ, a cosine), never "-0.00"."""
    shown = f"{value:.2f}"
    return "0.00" if shown == "-0.00" else shown


def as_set(value: float) -> str:
    """A limit, a margin or a time that somebody set, as it was set: "0.8", "30", "1,000"."""
    # Ten digits hide that 0.1 + 0.2 is not quite 0.3; whole numbers have all of theirs.
    return f"{value:,.0f}" if abs(value) >= 1e10 else f"{Decimal(f'{value:.10g}'):,f}"


def beside_limit(value: float, limit: float) -> str:
    """What went past a limit, with as many digits as tell it from that: "0.10004" beside "0.1"."""
    least = max(3, len(f"{abs(value):.0f}"))
    shown = [f"{value:.{digits}g}" for digits in range(least, 18)] or [f"{value:.0f}"]
    told = next((each for each in shown if float(each) != limit), shown[-1])
    return f"{Decimal(told):,f}"


def target(value: float) -> str:
    """The level a metric is held to: "0.70", or as many digits as it was set with; "30" is no share."""
    shown = as_set(value)
    return two_digits(value) if abs(value) < 1 and len(shown) <= len("0.70") else shown


def times(value: float) -> str:
    """How often as much: "1.25×"."""
    return f"{value:,.2f}×"


def p_value(p: float) -> str:
    """ "0.042", or "<0.001"."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def number(value: float) -> str:
    """Of any size: three digits behind the point, fewer where there are many before it."""
    if abs(value) < 10:
        return score(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def signed(value: float) -> str:
    """A number with its sign; what is shown as nothing has none."""
    shown = number(value)
    return f"+{shown}" if value > 0 and shown != "0.000" else shown


def points(difference: float, *, plus: bool = True) -> str:
    """A difference in points of a hundred with its sign, a true minus; an amount has no plus."""
    value = round(100 * difference, 1)
    return f"{'+' if value > 0 and plus else '−' if value < 0 else ''}{abs(value):.1f}"


def relative_change(share: float | None) -> str:
    """ "-35 %" of what was there before; empty where there was nothing."""
    if share is None:
        return ""
    value = round(100 * share)
    return f"{value:+,} %" if value else "0 %"


def between(low: str, high: str) -> str:
    """ "0.1–0.2", but "-0.1 to 0.2": a minus is not read beside a dash."""
    return f"{low} to {high}" if "-" in low + high else f"{low}–{high}"


def p_words(p: float | None) -> str:
    """As a sentence says it: "p = 0.042", "p < 0.001"."""
    if p is None:
        return "p not known"
    shown = p_value(p)
    return f"p < {shown[1:]}" if shown[0] == "<" else f"p = {shown}"


def interval(low: float | None, high: float | None, worded: Callable[[float], str] = score) -> str:
    """Of scores, or of what `worded` is for; empty where there is none."""
    return "" if low is None or high is None else between(worded(low), worded(high))


def with_interval(
    mean: float | None,
    low: float | None,
    high: float | None,
    worded: Callable[[float], str] = score,
) -> str:
    """A mean with its interval, as sentences say them: "0.812 (0.790 to 0.834)"."""
    if mean is None:
        return "not known"
    told = worded(mean)
    return told if low is None or high is None else f"{told} ({worded(low)} to {worded(high)})"


def points_between(low: float, high: float, *, plus: bool = True) -> str:
    """Both ends of an interval, in points of a hundred."""
    return f"{points(low, plus=plus)} to {points(high, plus=plus)}"


def size_in_bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,.0f} bytes"


def megabytes(count: float) -> str:
    """Where sizes stand under each other."""
    return f"{count / 1e6:,.1f} MB"


def time_words(seconds: float) -> str:
    """As exact as a guess can be: 40 s, 3 min, 1 h 20 min."""
    if seconds < 59.5:
        return f"{seconds:.0f} s" if seconds >= 0.5 else "a moment"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours:,} h {rest} min" if rest and hours < 10 else f"{round(minutes / 60):,} h"


def seconds_taken(seconds: float) -> str:
    """What a clock measured: "12.3 s"."""
    return f"{seconds:,.1f} s"


def milliseconds(seconds: float) -> str:
    """Of one step among many: "8.2 ms", "120 ms"."""
    shown = 1000 * seconds
    return f"{shown:,.1f} ms" if shown < 10 else f"{shown:,.0f} ms"


def dollars(money: float) -> str:
    """To the cent, or two digits that matter, however small it is."""
    if money >= 0.1 or not money:
        return f"${money:,.2f}"
    return f"${Decimal(f'{money:.2g}'):f}"  # $0.0000001, never $1e-07


def rough_dollars(money: float) -> str:
    """What something takes or took: of less than a cent nobody wants the digits."""
    return dollars(money) if money >= 0.01 or not money else "under $0.01"


def money_words(amount: float, currency: str) -> str:
    """In any currency: cents, and what is less than one in full."""
    shown = f"{amount:,.2f}" if amount >= 0.01 or not amount else f"{amount:.4f}"
    return f"{shown} {currency}".rstrip()


def did_you_mean(name: str, known: Collection[str], otherwise: str | None = None) -> str:
    """The hint beside an unknown name: what begins or is spelled like it, else what is allowed."""
    spelled = {each.lower(): each for each in reversed(list(known))}
    wanted = name.lower()
    near = [each for low, each in reversed(spelled.items()) if wanted and low.startswith(wanted)][
        :5
    ]
    near = near or [spelled[low] for low in get_close_matches(wanted, spelled, n=3)]
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"allowed: {', '.join(known)}" if otherwise is None else otherwise

"""Settings, versions and hashes of a run, as they are read on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chunkwise.evaluation.results import Json
from chunkwise.report.page_text import attribute, words


def values_table(values: Mapping[str, Json] | Mapping[str, str]) -> str:
    """A line a value; those inside others are named by their path."""
    rows = "".join(
        f'<tr><th scope="row">{attribute(name)}</th><td>{words(shown)}</td></tr>'
        for name, shown in _flat("", dict(values))
    )
    return f'<table class="plain values"><tbody>{rows}</tbody></table>'


def _flat(name: str, value: Json) -> Iterator[tuple[str, str]]:
    """Nested values by their path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{name} › {key}" if name else str(key), inner)
    elif isinstance(value, list):
        yield name, ", ".join(shown for each in value for _, shown in _flat("", each)) or "none"
    else:
        yield name, "none" if value is None or value == "" else str(value)

"""Text of documents inside a prompt: between marks that it cannot hold itself, so that it stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b

_FENCED = re.compile(r"<([a-z_]+(?: \d+)?) ([0-9a-f]{8})>\n(.*?)\n</\1 \2>", re.DOTALL)


def fenced(text: str, name: str = "passage", number: int | None = None) -> str:
    """The text between an opening and a closing mark that share a word which is not in the text."""
    return _between(text, name if number is None else f"{name} {number}", _mark(text, [text]))


def told_apart(values: Mapping[str, str]) -> dict[str, str]:
    """What fills one prompt, with no mark of a text in any other text: whoever knows one could close or feign it."""
    # From the left, outermost first: a text that holds fences of its own stands inside of one.
    texts = [found[3] for value in values.values() for found in _FENCED.finditer(value)]
    if len(texts) < 2:
        return dict(values)
    everything = "\n".join(texts)

    def again(found: re.Match[str]) -> str:
        name, mark, text = found.groups()
        return found[0] if mark not in everything else _between(text, name, _mark(text, texts))

    return {name: _FENCED.sub(again, value) for name, value in values.items()}


def _between(text: str, name: str, mark: str) -> str:
    return f"<{name} {mark}>\n{text}\n</{name} {mark}>"


def _mark(text: str, others: Iterable[str]) -> str:
    # From the text itself: the same prompt every time, and a long document that comes first in many prompts has
    # the same mark in all of them, so that a server reads it once.
    salt = 0
    while True:
        mark = blake2b(
            f"{salt}\n{text}".encode("utf-8", "surrogatepass"), digest_size=4
        ).hexdigest()
        if not any(mark in each for each in others):
            return mark
        salt += 1

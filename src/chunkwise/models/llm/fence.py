"""Text of documents inside a prompt: between marks that it cannot hold itself, so that it stays text."""

from __future__ import annotations

from hashlib import blake2b


def fenced(text: str, name: str = "passage", number: int | None = None) -> str:
    """The text between an opening and a closing mark that share a word which is not in the text."""
    mark = _mark(text)
    opening = name if number is None else f"{name} {number}"
    return f"<{opening} {mark}>\n{text}\n</{opening} {mark}>"


def _mark(text: str) -> str:
    # From the text itself: the same prompt every time, and nobody who writes a text can know it beforehand
    # and have it in the text as well.
    salt = 0
    while True:
        mark = blake2b(
            f"{salt}\n{text}".encode("utf-8", "surrogatepass"), digest_size=4
        ).hexdigest()
        if mark not in text:
            return mark
        salt += 1

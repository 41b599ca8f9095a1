"""The keys in the beginning of a JSON text, each with the records it stands in: by them formats are told apart."""

from __future__ import annotations

import re

from chunkwise.testsets.reading_json.question_record import OWN_FIELDS

_TOKENS = re.compile(rb'"((?:[^"\\]|\\.)*+)(?:"\s*+(:?)|\\?\Z)|([{}\[\]])', re.DOTALL)
"""Strings, and whether each is a key; one without an end takes all that is left. Brackets."""
_DEEPEST = 3


class JsonKeys:
    """Keys by the path of keys that leads to their records; lists add nothing to it."""

    def __init__(self, head: bytes) -> None:
        self._names: dict[tuple[str, ...], set[str]] = {}
        if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")):
            self._walk(head)

    def at(self, *path: str) -> set[str]:
        """The keys of the records that are found under these keys; of the outermost ones without any."""
        return self._names.get(path, set())

    def is_ours(self, *path: str) -> bool:
        """Whether the records there have fields of our own, which another format would throw away."""
        return bool(self.at(*path) & OWN_FIELDS)

    def _walk(self, head: bytes) -> None:
        path: list[str] = []  # the key before each open bracket, empty for those in lists
        key = ""
        for text, colon, bracket in _TOKENS.findall(head):
            if bracket in (b"{", b"["):
                path.append(key)
                key = ""
            elif bracket:
                key = ""
                if path:
                    path.pop()
            elif colon:
                key = text.decode("utf-8", "replace")
                if len(path) <= 2 * _DEEPEST:
                    self._names.setdefault(tuple(filter(None, path)), set()).add(key)
            else:
                key = ""

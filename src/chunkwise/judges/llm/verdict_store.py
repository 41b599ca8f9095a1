"""What a language model said before: kept by the model, the prompt, what was asked and the text it was asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chunkwise.models.cache import CachedTexts, ModelCache

NOT_ASKED = "the language model was not asked"


class VerdictStore:
    """The verdicts of one model: on disk as they arrive, and why there is none where there is none.

    A passage is known by its text alone: the same words in another chunking, found by another search or with another
    k, are the same passage.
    """

    def __init__(self, identity: str, cache: ModelCache | None = None) -> None:
        self._texts = CachedTexts(cache, identity, "verdict")
        self._labels: dict[bytes, str] = {}
        self._reasons: dict[bytes, str] = {}
        self._looked_up: set[bytes] = set()
        self._planned: set[bytes] = set()
        self._kept = 0

    def anew(self) -> VerdictStore:
        """The same store, with nothing planned yet."""
        return VerdictStore(self._texts.identity, self._texts.cache)

    def key(self, version: str, asked: Sequence[str], text: str) -> bytes:
        """`version` is the prompt's; `asked` are the question, the statement … that the text is held against."""
        return self._texts.key(text, [version, *asked])

    def look_up(self, keys: Iterable[bytes]) -> None:
        """Reads what is kept, all at once."""
        new = [key for key in dict.fromkeys(keys) if key not in self._looked_up]
        self._looked_up.update(new)
        known = self._texts.get(new)
        self._labels.update(known)
        self._kept += len(known)

    def label(self, key: bytes) -> str | None:
        """None: there is no verdict (yet), see `reason`."""
        if key not in self._looked_up:
            self.look_up([key])
        return self._labels.get(key)

    def reason(self, key: bytes) -> str:
        """Why there is no label."""
        return self._reasons.get(key, NOT_ASKED)

    def plan(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those that nobody has asked about yet; from now on they count as asked about."""
        self.look_up(keys)
        new = [
            key
            for key in dict.fromkeys(keys)
            if key not in self._labels and key not in self._planned
        ]
        self._planned.update(new)
        return new

    def unplan(self, keys: Iterable[bytes]) -> None:
        """They were shown, and nothing was said of them: whoever needs a verdict may plan them again."""
        self._planned.difference_update(keys)

    def keep(self, labels: Mapping[bytes, str]) -> None:
        """On disk before the next is asked for."""
        self._labels.update(labels)
        self._looked_up.update(labels)
        self._texts.put(labels)

    def fail(self, keys: Iterable[bytes], reason: str) -> None:
        """Not kept: another run asks again."""
        for key in keys:
            self._reasons.setdefault(key, reason)

    @property
    def kept(self) -> int:
        """How many verdicts of earlier runs were found."""
        return self._kept

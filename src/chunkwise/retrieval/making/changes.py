"""What an update did to an index."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Changes:
    """Documents, by what became of them."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: int = 0
    """Sources that could not be read."""
    plain: int = 0
    """Chunks that a language model wrote no context for: they have their headings, and the next update asks again."""
    notes: tuple[str, ...] = ()
    """What a user should know of the choices made for them."""

    def __str__(self) -> str:
        counts = ("added", "changed", "removed", "unchanged", "skipped")
        told = [f"{getattr(self, name):,} {name}" for name in counts if getattr(self, name)]
        return ", ".join(told) or "no documents"


class Tally:
    """Counts documents by comparing them with those an index had."""

    def __init__(self, before: dict[str, str]) -> None:
        self._before = before
        self._seen: set[str] = set()
        self.added = self.changed = self.unchanged = self.skipped = 0

    @property
    def documents(self) -> int:
        """Seen so far."""
        return self.added + self.changed + self.unchanged

    def add(self, id: str, fingerprint: str) -> None:
        self._seen.add(id)
        known = self._before.get(id)
        if known is None:
            self.added += 1
        elif known == fingerprint:
            self.unchanged += 1
        else:
            self.changed += 1

    def has(self, id: str) -> bool:
        return id in self._seen

    def changes(self, notes: tuple[str, ...] = (), plain: int = 0) -> Changes:
        removed = len(self._before) - self.changed - self.unchanged
        return Changes(
            self.added, self.changed, removed, self.unchanged, self.skipped, plain, notes
        )

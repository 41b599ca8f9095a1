"""What a user asks to be tried."""

from __future__ import annotations

from dataclasses import dataclass

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Grid:
    """Values to be combined, by the parameter they are for; the first names what they are values of."""

    names: tuple[str, ...]
    """Strategies, or retrievers."""
    values: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    """Parameters with their values, in the order they were written: max_tokens, overlap, context, neighbours …"""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A plan as it is written down, before it is expanded."""

    documents: tuple[str, ...]
    test_queries: str | None
    chunkers: tuple[Grid, ...]
    retrieval: tuple[Grid, ...]
    objective: str = "recall@1000t"
    k: int = 5
    model: str = "minilm"
    """Empty: none, words alone."""
    seconds: float | None = None
    """The time that may be spent; None: as long as it takes."""
    money: float | None = None
    """What models may cost, where they are paid for; None: whatever it costs."""
    currency: str = ""
    """Of `money` and `price`, as the user wrote it."""
    price: float | None = None
    """Of a million tokens embedded; None: nothing is paid for."""
    seed: int = 0
    exact: bool = False
    """Every chunk is embedded by itself, also in the sweep."""
    finalists: int = 5
    """The best of those with late vectors that are run again with vectors of their own, and the defaults with them;
    0: none."""
    test_share: float = 0.5
    """Of the questions, where the file does not split them itself."""

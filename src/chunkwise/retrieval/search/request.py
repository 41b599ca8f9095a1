"""How much a search hands out, and what is done to the chunks it found."""

from __future__ import annotations

from dataclasses import dataclass

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.rerank.reranker import Reranker

DEFAULT_COUNT = 5
DEFAULT_BUDGET = 1000


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Limits hold together: `count` hits at most and `budget` tokens at most."""

    count: int | None = None
    budget: int | None = None
    neighbours: int = 0
    diversity: float | None = None
    """Balance of maximal marginal relevance; None: chunks stay in their order."""
    reranker: Reranker | None = None

    def __post_init__(self) -> None:
        _whole("k", self.count, 1, "hits")
        _whole("budget", self.budget, 1, "tokens")
        _whole("neighbours", self.neighbours, 0, "chunks")
        balance = self.diversity
        if balance is not None and (
            isinstance(balance, bool)
            or not isinstance(balance, int | float)
            or not 0 <= balance <= 1
        ):
            raise InvalidParameter(
                f"mmr is {balance!r}; from 0 (diversity alone) to 1 (relevance alone), such as 0.7"
            )

    @property
    def needs_chunks(self) -> str:
        """The first step given that works on chunks alone, by its name; empty: none."""
        steps = {
            "neighbours": self.neighbours > 0,
            "mmr": self.diversity is not None,
            "rerank": self.reranker is not None,
        }
        return next((name for name, given in steps.items() if given), "")


def _whole(name: str, value: object, least: int, unit: str) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidParameter(
            f"{name} is {value!r}; a whole number of {unit} is needed, {least} or more"
        )

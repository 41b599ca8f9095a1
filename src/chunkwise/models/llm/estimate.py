"""What asking will take, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens, money and time; what is kept already is not asked again and not counted."""

    calls: int = 0
    kept: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    """At most: as if every answer were as long as it may be."""
    money: float | None = 0.0
    """US dollars, about: other tokenizers count otherwise, and an answer may have to be asked for twice.
    None: the model's price is not known."""
    seconds: float | None = 0.0
    """About; None: nothing is known of the model's speed."""

    def __add__(self, other: Estimate) -> Estimate:
        def both(one: float | None, two: float | None) -> float | None:
            return None if one is None or two is None else one + two

        return Estimate(
            self.calls + other.calls,
            self.kept + other.kept,
            self.prompt_tokens + other.prompt_tokens,
            self.output_tokens + other.output_tokens,
            both(self.money, other.money),
            both(self.seconds, other.seconds),
        )

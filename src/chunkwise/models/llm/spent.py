"""What asking took: calls, tokens, money."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Spent:
    """Of one client, so far."""

    calls: int = 0
    kept: int = 0
    """Answers that were known before; they cost nothing."""
    failed: int = 0
    """Requests without a usable answer."""
    prompt_tokens: int = 0
    output_tokens: int = 0
    money: float | None = 0.0
    """In US dollars; None: the model's price is not known."""
    seconds: float = 0.0
    """Of all calls together, which may have run side by side."""
    is_estimated: bool = False
    """Whether some tokens were counted by us, because the server did not: about right."""

    def with_call(
        self,
        prompt_tokens: int,
        output_tokens: int,
        money: float | None,
        seconds: float,
        *,
        is_counted: bool = True,
    ) -> Spent:
        return replace(
            self,
            calls=self.calls + 1,
            prompt_tokens=self.prompt_tokens + prompt_tokens,
            output_tokens=self.output_tokens + output_tokens,
            money=None if self.money is None or money is None else self.money + money,
            seconds=self.seconds + seconds,
            is_estimated=self.is_estimated or not is_counted,
        )

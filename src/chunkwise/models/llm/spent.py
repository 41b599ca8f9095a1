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
    lost: int = 0
    """Attempts that were sent and not answered; they may be charged, and count as if they were."""
    unasked: int = 0
    """Requests the limit of cost did not allow."""

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

    def with_lost(self, money: float | None) -> Spent:
        """One more attempt that nothing came of; `money` is what it may have cost."""
        return replace(
            self,
            money=None if self.money is None or money is None else self.money + money,
            is_estimated=True,
            lost=self.lost + 1,
        )

    def since(self, before: Spent) -> Spent:
        """What was spent after `before`; the money is not known where one of the two is not."""
        known = self.money is not None and before.money is not None
        return replace(
            self,
            calls=self.calls - before.calls,
            kept=self.kept - before.kept,
            failed=self.failed - before.failed,
            prompt_tokens=self.prompt_tokens - before.prompt_tokens,
            output_tokens=self.output_tokens - before.output_tokens,
            money=(self.money or 0.0) - (before.money or 0.0) if known else None,
            seconds=self.seconds - before.seconds,
            lost=self.lost - before.lost,
            unasked=self.unasked - before.unasked,
        )

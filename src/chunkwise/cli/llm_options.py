"""`--llm` and what goes with it: which language model is asked, at what price, and what that will take."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.models.llm.cost import LlmEstimate, LlmUsage

LLM_VARIABLE = "CHUNKWISE_LLM"
"""The model where `--llm` is not given."""

_OPTIONS = (
    click.option("--llm", metavar="NAME", envvar=LLM_VARIABLE, show_envvar=True,
                 help="local, PATH.gguf, openai:NAME or https://HOST/v1#NAME; see `chunkwise models`."),
    click.option("--max-cost", type=click.FloatRange(0.0), metavar="DOLLARS",
                 help="Stop before the model has cost more than this."),
    click.option("--price", metavar="IN/OUT",
                 help="Dollars for a million tokens of question and of answer, such as 0.15/0.60."),
    click.option("--concurrency", type=click.IntRange(1, 256), metavar="N",
                 help="Requests under way at once.  [default: as the model allows]"),
    click.option("--dry-run", is_flag=True,
                 help="Say how many calls, tokens, dollars and minutes it takes; send nothing."),
)  # fmt: skip


_NAMES = ("llm", "max_cost", "price", "concurrency", "dry_run")
NONE_NAMED = "no language model is named (--llm, CHUNKWISE_LLM): the small local one is asked"


def is_typed(option: str) -> bool:
    """Whether the user wrote it: a model that the environment names for all commands is no wish to ask it here."""
    source = click.get_current_context().get_parameter_source(option)
    return source == click.core.ParameterSource.COMMANDLINE


def refuse_unasked(why: str) -> None:
    """What is written about a language model where none is asked is a slip."""
    for name in filter(is_typed, _NAMES):
        raise click.UsageError(f"--{name.replace('_', '-')} is given, and {why}")


def or_local(options: dict[str, Any]) -> None:
    """Where no model is named the local one is meant, and that is said."""
    from chunkwise.cli.messages import say

    if not options["llm"]:
        options["llm"] = "local"
        say(NONE_NAMED)


def llm_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --llm, --max-cost, --price, --concurrency and --dry-run to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class LlmClients:
    """The clients of one command: one a model, and one limit of cost for all of them."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from chunkwise.models.llm.cost import LlmBudget

        self._options = options
        self._budget = LlmBudget(options.get("max_cost"))
        self._made: dict[str, LlmClient] = {}

    @property
    def made(self) -> list[LlmClient]:
        """Those that were asked for so far."""
        return list(self._made.values())

    @property
    def fell_short(self) -> bool:
        """Whether somebody did not answer, or the limit did not allow to ask."""
        return any(each.spent.failed or each.spent.unasked for each in self.made)

    def of(self, name: str) -> LlmClient:
        """The client of the model of this name."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> LlmClient:
        from chunkwise.models import get_language_model
        from chunkwise.models.llm.client import LlmClient
        from chunkwise.models.llm.cost import parse_price

        options = self._options
        price = parse_price(options["price"]) if options.get("price") else None
        _fetch(name, bool(options.get("quiet") or options.get("as_json")))
        return LlmClient(
            get_language_model(name),
            price=price,
            budget=self._budget,
            concurrency=options.get("concurrency"),
        )


def llm_client(options: Mapping[str, Any]) -> LlmClient | None:
    """The client these options ask for; None where no model is named."""
    name = options.get("llm")
    return LlmClients(options).of(name) if name else None


def show_estimate(estimate: LlmEstimate, as_json: bool = False) -> None:
    """What asking will take, on stdout: in words, or as JSON."""
    if as_json:
        click.echo(json.dumps(asdict(estimate), indent=2))
        return
    click.echo(estimate_words(estimate))


def estimate_words(estimate: LlmEstimate) -> str:
    """One line: calls, tokens, money, time."""
    from chunkwise.models.llm.cost import rough_dollars
    from chunkwise.report.plain_text import one_line

    if not estimate.calls:
        known = f"; every answer ({estimate.kept:,}) is kept from earlier runs"
        return f"nothing is to be asked{known if estimate.kept else ''}"
    parts = [_many(estimate.calls, "call")]
    if estimate.kept:
        parts[0] += f" ({estimate.kept:,} more are kept from earlier runs)"
    parts.append(f"about {estimate.prompt_tokens:,} tokens to read")
    parts.append(f"at most {estimate.output_tokens:,} to write")
    parts.append(
        _about(rough_dollars(estimate.money))
        if estimate.money
        else "no money"
        if estimate.money == 0
        else "the price is not known (--price IN/OUT)"
    )
    if estimate.seconds is not None:
        parts.append(f"about {_time(estimate.seconds)}")
    return one_line("; ".join(parts))


def show_spent(spent: LlmUsage) -> None:
    """What asking took: one line on stderr, nothing where nobody was asked."""
    if said := spent_words(spent):
        click.echo(said, err=True)


def spent_words(spent: LlmUsage) -> str:
    """One line; empty where nothing was asked and nothing was kept."""
    from chunkwise.models.llm.cost import rough_dollars

    if not (spent.calls or spent.kept or spent.failed or spent.lost or spent.unasked):
        return ""
    about = "about " if spent.is_estimated else ""
    parts = [_many(spent.calls, "call")]
    if spent.kept:
        parts.append(f"{spent.kept:,} answered from earlier runs")
    if spent.calls:
        parts.append(f"{about}{spent.prompt_tokens:,} tokens read, {spent.output_tokens:,} written")
    if spent.calls or spent.lost:
        if spent.money:
            money = rough_dollars(spent.money)
            parts.append(_about(money) if about else money)
        elif spent.money is None:
            parts.append("at a price that is not known")
    if spent.failed:
        parts.append(f"{spent.failed:,} without a usable answer")
    if spent.lost:
        parts.append(f"{_many(spent.lost, 'attempt')} sent and not answered, counted as if charged")
    if spent.unasked:
        parts.append(f"{spent.unasked:,} not asked, for the limit of cost")
    return f"language model: {'; '.join(parts)}"


def _fetch(name: str, quiet: bool) -> None:
    """The weights of the local model, with a bar, where they are not here yet."""
    from chunkwise.cli.progress import progress
    from chunkwise.models.weights.catalogue import SMOLLM2
    from chunkwise.models.weights.installed import ensure, model_status

    if name == "local" and model_status(SMOLLM2).state != "here":
        with progress(f"fetching {SMOLLM2.name}", SMOLLM2.size, quiet) as advance:
            ensure(SMOLLM2, advance=advance)


def _about(money: str) -> str:
    return money if money.startswith("under") else f"about {money}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _time(seconds: float) -> str:
    minutes = seconds / 60
    if minutes >= 120:
        return f"{minutes / 60:,.1f} hours"
    return f"{minutes:,.0f} minutes" if minutes >= 2 else _many(max(1, round(seconds)), "second")

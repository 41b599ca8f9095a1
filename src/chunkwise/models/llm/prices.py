"""What models cost: a table in a file, and the user's own on top of it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from chunkwise.errors import ChunkwiseError, InvalidParameter

PRICES_VARIABLE = "CHUNKWISE_PRICES"
"""A file of one's own, of the same form as prices.toml; its lines go before those of the package."""


_DATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")


class Price(NamedTuple):
    """US dollars for a million tokens."""

    prompt: float
    output: float

    def of(self, prompt_tokens: int, output_tokens: int) -> float:
        return (self.prompt * prompt_tokens + self.output * output_tokens) / 1e6


FREE = Price(0.0, 0.0)
FREE_NAME = "local"
"""Of models that run here, and of no other."""


def price_of(name: str) -> Price | None:
    """By the model's name, with or without the date behind it; None: not known."""
    if name == FREE_NAME:
        return FREE
    table = _table()
    return table.get(name) or table.get(_DATE.sub("", name))


def parse_price(text: str) -> Price:
    """`IN/OUT`, in dollars for a million tokens."""
    parts = text.split("/")
    try:
        price = Price(*map(float, parts))
    except (TypeError, ValueError):
        price = Price(-1, -1)
    if not _is_sound(price):
        raise InvalidParameter(
            f"price is {text!r}; dollars for a million tokens of question and of answer are needed: 0.15/0.60"
        )
    return price


def dollars(money: float) -> str:
    """To the cent, or two digits that matter, however small it is."""
    if money >= 0.1 or not money:
        return f"${money:,.2f}"
    return f"${Decimal(f'{money:.2g}'):f}"  # $0.0000001, never $1e-07


def rough_dollars(money: float) -> str:
    """What something takes or took: of less than a cent nobody wants the digits."""
    return dollars(money) if money >= 0.01 or not money else "under $0.01"


def _is_sound(price: Price) -> bool:
    return all(0 <= each < 1e6 for each in price)


def _table() -> Mapping[str, Price]:
    packaged = (resources.files("chunkwise") / "models" / "llm" / "prices.toml").read_text("utf-8")
    found = _read(packaged, "prices.toml")
    if own := os.environ.get(PRICES_VARIABLE):
        try:
            found |= _read(Path(own).expanduser().read_text("utf-8"), own)
        except (OSError, UnicodeDecodeError) as error:
            raise ChunkwiseError(f"the price table {own} cannot be read: {error}") from error
    return found


def _read(text: str, where: str) -> dict[str, Price]:
    try:
        rows = tomllib.loads(text).get("prices", {})
        found = {
            name: Price(float(prompt), float(output)) for name, (prompt, output) in rows.items()
        }
        if wrong := [name for name, price in found.items() if not _is_sound(price)]:
            raise ValueError(f"{wrong[0]} has a price below 0 or beyond all bounds")
        return found
    except (tomllib.TOMLDecodeError, TypeError, ValueError, AttributeError) as error:
        raise ChunkwiseError(
            f'the price table {where} cannot be read ({error}); a line is: "model-name" = [0.15, 0.60]'
        ) from error

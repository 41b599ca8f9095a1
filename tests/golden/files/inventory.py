"""Keep stock of a small shop."""

from __future__ import annotations

from dataclasses import dataclass, field


class OutOfStock(Exception):
    """Raised when more is sold than is there."""


@dataclass
class Item:
    name: str
    price: float
    count: int = 0

    @property
    def value(self) -> float:
        return self.price * self.count


@dataclass
class Inventory:
    items: dict[str, Item] = field(default_factory=dict)

    def add(self, name: str, price: float, count: int) -> Item:
        """Add pieces; the price is the latest one."""
        item = self.items.setdefault(name, Item(name, price))
        item.price = price
        item.count += count
        return item

    def sell(self, name: str, count: int = 1) -> float:
        item = self.items.get(name)
        if item is None or item.count < count:
            raise OutOfStock(name)
        item.count -= count
        return item.price * count

    def total(self) -> float:
        return sum(item.value for item in self.items.values())


def reorder(inventory: Inventory, least: int = 5) -> list[str]:
    """Names of what runs low, the scarcest first."""
    low = [item for item in inventory.items.values() if item.count < least]
    return [item.name for item in sorted(low, key=lambda item: (item.count, item.name))]

"""What is open while a page is read: lists, their items, tables."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class OpenList:
    ordered: bool
    next_number: int
    group: int


@dataclass(slots=True)
class OpenItem:
    marker: str
    level: int
    group: int


@dataclass(slots=True)
class OpenTable:
    group: int
    layout: bool = False
    in_head: bool = False
    in_cell: bool = False
    only_headers: bool = True
    rows: int = 0
    cells: list[str] = field(default_factory=list)

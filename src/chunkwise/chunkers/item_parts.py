"""What belongs to a list's item besides its own text: the code, table or paragraph indented under it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.analysis import Analyzed

_DEEP = 2
"""Columns: what stands less far to the right is no part of an item."""


class ItemParts(NamedTuple):
    """Starts of blocks that are no places to cut a list at."""

    parts: NDArray[np.int64]
    """Of what belongs to the item before it."""
    items: NDArray[np.int64]
    """Of the items right behind such parts: their list goes on."""


def item_parts(document: Analyzed) -> ItemParts:
    """Blocks between two items of one list, or indented below an item with nothing less deep between."""
    blocks, lines = document.blocks, document.lines
    count = len(blocks)
    is_item, breaks = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    is_item[blocks.of("item")] = True
    if not is_item.any() or document.document.format == "code":
        return ItemParts(blocks.start[:0], blocks.start[:0])
    breaks[blocks.of("heading")] = True
    item = _last(is_item)
    following = count - 1 - _last(is_item[::-1])[::-1]
    one_list = (item >= 0) & (following < count)
    one_list[one_list] = blocks.group[item[one_list]] == blocks.group[following[one_list]]
    line = lines.start.searchsorted(blocks.start, "right") - 1
    breaks |= ~is_item & ~one_list & (lines.indent[line] < _DEEP)
    part = ~is_item & ~breaks & (item > _last(breaks))
    behind = is_item & np.append(False, part[:-1])
    return ItemParts(blocks.start[part], blocks.start[behind])


def _last(wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each block the last wanted one up to it, or -1."""
    return np.maximum.accumulate(np.where(wanted, np.arange(len(wanted)), -1))

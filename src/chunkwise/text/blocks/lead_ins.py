"""Lead-ins: "The following steps:", a paragraph or item that ends in a colon before its list, table or code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import BlockKind
from chunkwise.text.blocks.blocks import CODE_OF, Blocks
from chunkwise.text.characters import CLOSER, CharacterArrays, one_of

_COLONS = ":：﹕"
_MARKS_BEHIND = 3
"""Closing marks behind a colon: "**Steps:**"."""
_LED_IN: tuple[BlockKind, ...] = ("item", "code", "header", "row")


def lead_ins(characters: CharacterArrays, blocks: Blocks) -> NDArray[np.int64]:
    """Indices of blocks that end in a colon and whose list, table or code is the next block."""
    led = blocks.of(*_LED_IN)
    led = led[led > 0]
    before = led - 1
    kind = blocks.kind[before]
    item = kind == CODE_OF["item"]
    # An item leads in what is below it; the next item of its list is none of it.
    below = (blocks.kind[led] != CODE_OF["item"]) | (blocks.level[led] > blocks.level[before])
    before = before[(kind == CODE_OF["paragraph"]) | (item & below)]
    last = blocks.end[before] - 1
    for _ in range(_MARKS_BEHIND):
        last = last - characters.have(last, CLOSER)
    return before[one_of(characters.points.take(last, mode="clip"), _COLONS)]

"""Files of every format, damaged: read, or told in plain words; what is read can be cut."""

from __future__ import annotations

import random

from chunkwise.core import Document
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunks
from documents.mutated_files import checked_outcomes, mutated
from torture.run import Part

_STRATEGY = get_strategy("structure(max_tokens=60)")


def case(rng: random.Random) -> str:
    """One file with one to four damages."""
    number = rng.getrandbits(48)
    loader = mutated(number)[0]
    try:
        for found in checked_outcomes(number):
            if isinstance(found, Document) and rng.random() < 0.3:
                chunks = list(_STRATEGY.chunks(found))
                check_chunks(found, chunks, limit=_STRATEGY.limit)
    except Exception as error:
        error.args = (f"{loader}, damage {number}: {error}",)
        raise
    return loader


FILES = Part(
    "files",
    "Files damaged",
    "a file of any format with one to four damages: documents that can be cut, or one line in plain words",
    case,
    block=200,
    hang=300,
)

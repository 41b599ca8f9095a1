"""Is everything there? By the references: all of them covered, or not."""

from __future__ import annotations

import numpy as np

from chunkwise.core import Score
from chunkwise.metrics.spans.relevance import covered_references
from chunkwise.metrics.spans.tables import Found, Gold

NO_REFERENCES = "no references"


def spans(gold: Gold, found: Found) -> list[Score]:
    """1 where the hits together cover every reference of the question (95 % of it), else 0."""
    total = np.bincount(gold.question, minlength=gold.questions)
    covered = np.bincount(gold.question[covered_references(gold, found)], minlength=gold.questions)
    return [
        Score(float(own == every)) if every else Score(None, NO_REFERENCES)
        for own, every in zip(covered.tolist(), total.tolist(), strict=True)
    ]

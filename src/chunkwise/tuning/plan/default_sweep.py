"""The sweep of the shortest command: what usually matters, done in minutes on a small corpus."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.models import DEFAULT
from chunkwise.tuning.plan.grid import NotTried
from chunkwise.tuning.sweep import Grid, Sweep, SweepValue

SIZES = (100, 200, 400, 800)
"""Tokens: each twice the last, for what is found changes with the size's order, not with its last digit."""
_SMALL = SIZES[:-1]
"""Of chunks that are handed out with their parents, which are not much larger than 800."""
_TYPICAL = 200
OVERLAPS: tuple[SweepValue, ...] = (0, "25%")

NOT_TRIED_BY_DEFAULT = (
    NotTried(
        "semantic, cluster",
        "they cut by meaning, for which a model reads every sentence by itself: a pass of their own over the "
        "documents; name them in a plan of your own to try them",
    ),
    NotTried(
        "neighbours",
        "they double the searches; parent_child hands out what stands around a chunk, too. Name them in a plan of "
        "your own to try them",
    ),
)
"""What a plan of one's own can have, and the usual one has not."""

NO_HEADINGS = NotTried("sections, context = 'headings'", "the documents have no headings to go by")


def default_sweep(
    documents: Sequence[str],
    test_queries: str | None,
    *,
    has_headings: bool,
    objective: str = "recall@1000t",
    k: int = 5,
    model: str = DEFAULT,
    seconds: float | None = None,
    seed: int = 0,
    exact: bool = False,
    test_share: float = 0.5,
) -> Sweep:
    """About thirty chunkings; an empty `model`: by words alone."""
    return Sweep(
        tuple(documents), test_queries, default_chunkers(has_headings), default_retrieval(model),
        objective, k, model, seconds, seed=seed, exact=exact, test_share=test_share,
    )  # fmt: skip


def default_chunkers(has_headings: bool) -> tuple[Grid, ...]:
    """Sections and headings only where there are some."""
    sized, lapped = ("max_tokens", SIZES), ("overlap", OVERLAPS)
    once: tuple[tuple[str, tuple[SweepValue, ...]], ...] = (
        ("max_tokens", (_TYPICAL,)), ("overlap", (0,)), ("context", ("headings",)),
    )  # fmt: skip
    by_sentences = (
        ("sentences", "recursive", "sections") if has_headings else ("sentences", "recursive")
    )
    found = (
        Grid(by_sentences, (sized, lapped)),
        # Whole paragraphs, lists and tables: what is repeated of one tells little about the next.
        Grid(("structure",), (sized, ("overlap", (0,)))),
        # Counted by tokens like the others, so that sizes can be compared.
        Grid(
            ("parent_child",),
            (("max_tokens", _SMALL), ("overlap", (0,)), ("tokenizer", ("o200k_base",))),
        ),
    )
    return (*found, Grid((*by_sentences, "structure"), once)) if has_headings else found


def default_retrieval(model: str) -> tuple[Grid, ...]:
    """By words, by vectors, by both, and at several sizes at once."""
    if not model:
        return (Grid(("bm25", "multiscale(dense=0)")),)
    return (Grid(("bm25", "dense", "hybrid", "multiscale")),)


def not_tried_by_default(has_headings: bool) -> tuple[NotTried, ...]:
    """What the usual sweep leaves out, for its plan."""
    return NOT_TRIED_BY_DEFAULT if has_headings else (*NOT_TRIED_BY_DEFAULT, NO_HEADINGS)

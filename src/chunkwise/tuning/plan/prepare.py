"""A sweep made ready for its documents: read, fitted to them, expanded."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.documents import LoadOptions
from chunkwise.evaluation.skipped import Skipped
from chunkwise.models import DEFAULT, get_embedder
from chunkwise.models.embed.embedder import Embedder, TokenEmbedder
from chunkwise.testsets.testset import TestSet
from chunkwise.text.tokens.tokenizers import canonical_name, get_tokenizer
from chunkwise.tuning.plan.default_sweep import default_chunkers, not_tried_by_default
from chunkwise.tuning.plan.grid import NotTried
from chunkwise.tuning.plan.plan import Plan, plan_sweep
from chunkwise.tuning.plan.sweep_budget import SweepEstimate, estimate_sweep
from chunkwise.tuning.sweep import Sweep, metrics_to_score, objective_of
from chunkwise.tuning.sweep_inputs import SweepInputs, read_sweep_inputs

TOKENS_PER_SECOND = 2500.0
"""What the usual model reads on one core of a server; others may be ten times slower or faster."""


@dataclass(frozen=True, slots=True)
class PreparedSweep:
    """Everything is known but the figures."""

    sweep: Sweep
    plan: Plan
    inputs: SweepInputs

    def estimate(self, known: Collection[str] = (), jobs: int = 1) -> SweepEstimate:
        """What is left to do when these configurations are done."""
        sweep, inputs = self.sweep, self.inputs
        plan = self.plan
        if not len(inputs.questions):
            # Nobody asks: no vector is made for a search.
            waiting = (each for each in plan.configurations if each.key not in known)
            plan = Plan(tuple(replace(each, vectors="none") for each in waiting))
        return estimate_sweep(
            plan, known=known, documents=len(inputs.documents),
            characters=inputs.characters, tokens=inputs.tokens(sweep.tokenizer), questions=len(inputs.questions),
            tokens_per_second=TOKENS_PER_SECOND, finalists=0 if sweep.exact else sweep.finalists,
            price=sweep.price, currency=sweep.currency, jobs=jobs,
        )  # fmt: skip


def check_sweep(sweep: Sweep, embedder: Embedder | None = None) -> tuple[Sweep, bool]:
    """The sweep with its objective in full, and whether its model gives late vectors; wrong names are told at once."""
    objective = objective_of(sweep.objective, sweep.k)
    metrics_to_score(objective, sweep.k)
    if "-" in (*sweep.documents, sweep.test_queries):
        raise InvalidParameter(
            "'-' is standard input, which is read once, and a sweep is gone on with; name a file instead"
        )
    if sweep.seed < 0:
        raise InvalidParameter(f"seed is {sweep.seed}; a whole number is needed, 0 or more")
    late = sweep.embedder in ("", DEFAULT)
    if embedder is not None or not late:
        # Not by `isinstance`, which looks at every member: an endpoint would be asked for its dimensions.
        late = hasattr(
            embedder or get_embedder(sweep.embedder), TokenEmbedder.token_vectors.__name__
        )
    if not isinstance(sweep.tokenizer, str):
        raise InvalidParameter(
            f"tokenizer is {sweep.tokenizer!r}; a sweep is written down and gone on with, so it needs a name, or the "
            "path of a tokenizer.json"
        )
    get_tokenizer(sweep.tokenizer)
    sweep = replace(
        sweep, objective=objective, tokenizer=canonical_name(sweep.tokenizer),
        documents=tuple(map(shortest_path, sweep.documents)),
        test_queries=sweep.test_queries and shortest_path(sweep.test_queries),
    )  # fmt: skip
    return sweep, late


def shortest_path(path: str) -> str:
    """The same however it is written: below the current folder from there, elsewhere from the root."""
    whole = os.path.abspath(path)
    try:
        return str(Path(whole).relative_to(os.getcwd()))
    except ValueError:
        return whole


def prepare_sweep(
    sweep: Sweep,
    left_out: Skipped,
    *,
    embedder: Embedder | None = None,
    documents: Sequence[Document] = (),
    questions: TestSet | None = None,
    options: LoadOptions | None = None,
) -> PreparedSweep:
    """Where the sweep is the usual one, it is fitted to the documents, and what it leaves out is said."""
    sweep, late = check_sweep(sweep, embedder)
    inputs = read_sweep_inputs(
        sweep, left_out, documents=documents, questions=questions, options=options
    )
    sweep, unusual = _fitted(sweep, inputs)
    found = plan_sweep(sweep, late=late)
    return PreparedSweep(sweep, replace(found, left_out=(*found.left_out, *unusual)), inputs)


def _fitted(sweep: Sweep, inputs: SweepInputs) -> tuple[Sweep, tuple[NotTried, ...]]:
    if sweep.chunkers not in (default_chunkers(True), default_chunkers(False)):
        return sweep, ()
    has_headings = inputs.has_headings
    return replace(sweep, chunkers=default_chunkers(has_headings)), not_tried_by_default(
        has_headings
    )

"""BM25 in SQL, over the same terms as everywhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.bm25 import Bm25
from chunkwise.retrieval.postgres.about import About

K1, B = Bm25.k1, Bm25.b

# Lucene's BM25: a term adds idf · tf / (tf + k1 (1 - b + b · length / mean)), idf = ln(1 + (N - df + ½) / (df + ½)).
# Scores are compared as 4-byte numbers, so that chunks with equal words tie whatever the order of the sum was.
# `offset 0` keeps the server from reading all postings to join them: it takes those of one term after the other.
WORDS = """
    select p.chunk as number,
        sum(asked.weight * p.times / (p.times + %(flat)s::float8 + %(slope)s::float8 * p.terms))::real as score
    from (
        select term, times * ln(1 + (%(rows)s - seen + 0.5::float8) / (seen + 0.5::float8)) as weight
        from unnest(%(terms)s::bigint[], %(times)s::float8[]) as query(term, times),
            lateral (select count(*) as seen from {postings} f where f.term = query.term) as frequency
        offset 0
    ) as asked, lateral (
        select chunk, times, terms from {postings} where term = asked.term offset 0
    ) as p
    where {allowed}
    group by p.chunk
    order by score desc, number
    limit %(depth)s
"""
ALLOWED = "p.chunk in (select c.number from {chunks} c where %s)"


def asked(terms: NDArray[np.uint64], about: About) -> dict[str, Any]:
    """A question's distinct terms and how often it says each, as the statement takes them."""
    distinct, times = np.unique(terms, return_counts=True)
    mean = about.terms / about.chunks if about.terms else 1.0
    return {
        "terms": distinct.view(np.int64).tolist(),
        "times": times.astype(float).tolist(),
        "rows": about.chunks,
        "flat": K1 * (1 - B),
        "slope": K1 * B / mean,
    }

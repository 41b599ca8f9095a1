"""Retrieval without choosing a size: all sizes at once vote for atoms, and the best atoms fill a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import parameters
from chunkwise.base.blas_threads import one_blas_thread
from chunkwise.base.cores import cores
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.retrieval.graph.build_graph import NameGraph
from chunkwise.retrieval.graph.walk_along_names import Walk, Walked, with_walk
from chunkwise.retrieval.multiscale.late_interaction import (
    QueryTokens,
    atom_maxima,
    compared_atoms,
    window_scores,
)
from chunkwise.retrieval.multiscale.naming import Naming
from chunkwise.retrieval.multiscale.select import (
    AtomCandidates,
    AtomTexts,
    ScoredSpan,
    WholeBlockAtoms,
    assemble,
    share_budget,
)
from chunkwise.retrieval.multiscale.window_votes import (
    BestWindows,
    SizeVotes,
    WindowBm25,
    Windows,
    atom_votes,
    cosines,
    running_products,
    votes_of,
    whole_documents,
    window_lengths,
    windows_of,
)
from chunkwise.retrieval.ranking import best
from chunkwise.retrieval.searchable import AtomTable
from chunkwise.text.names import NameSpan

_NUMBERS_AT_ONCE = 8_000_000
"""Scores that a thread holds at a time: what decides how many questions are answered together."""
_MAXSIM = 1.0
_FEWEST = 32
"""Questions below which a block is not cut in two for another thread."""
_READ_SIZE, _READ = 200, 32
"""Tokens of the windows that a reranker reads, and how many of them a question."""


WindowReader = Callable[[int, Windows], NDArray[np.float32]]
"""The number of a question, windows of atoms: how well each answers it, read together."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedWindows:
    """An index's atoms with their windows of every size: made once, searched often."""

    atoms: AtomTable
    words: tuple[WindowBm25, ...]
    """One entry a size."""
    lengths: tuple[NDArray[np.float64], ...]
    """Of the windows' summed vectors; empty for an index of words alone."""

    @property
    def sizes(self) -> tuple[Windows, ...]:
        return tuple(word.windows for word in self.words)

    def within(self, low: int, high: int, terms: NDArray[np.uint64]) -> PreparedWindows:
        """The atoms of one document as an index of their own, with these terms alone."""
        atoms = self.atoms.within(low, high, terms)
        words, lengths = [], []
        for number, size in enumerate(self.words):
            first, stop = size.windows.first.searchsorted([low, high]).tolist()
            windows = Windows(
                size.windows.first[first:stop] - low, size.windows.stop[first:stop] - low
            )
            words.append(WindowBm25(windows, size.half_worth[first:stop]))
            if self.lengths:
                lengths.append(self.lengths[number][first:stop])
        return PreparedWindows(atoms, tuple(words), tuple(lengths))


class _Voted(NamedTuple):
    """The atoms with most votes, and those of each named document with its part of the budget."""

    candidates: AtomCandidates
    named: list[tuple[AtomCandidates, int]]


class AskedNames(NamedTuple):
    """A graph of names, and what each question may name."""

    graph: NameGraph
    of_questions: Sequence[Sequence[NameSpan]]


@dataclass(frozen=True, kw_only=True)
class Multiscale:
    """Windows of several sizes and whole documents, by words, by vectors and, where they are kept, by those of tokens.

    Use it whenever a budget of tokens is to be filled: no size has to be chosen.
    """

    sizes: tuple[int, ...] = param(
        (40, 100, 200, 400, 800),
        "window sizes in tokens; the whole document is always added",
        unit="tokens",
    )
    words: float = param(1.0, "weight of BM25")
    dense: float = param(0.5, "weight of the vectors")
    maxsim: float | None = param(
        None, "weight of token vectors (late interaction); None: 1 if the index has them"
    )
    rerank: float = param(1.0, "weight of the reranker, if any")
    graph: float = param(
        0.0, "weight of the graph walk, if the index has a graph", low=0.0, high=10.0
    )  # fmt: skip
    depth: int = param(400, "top windows per size that vote", unit="windows", low=1, high=1_000_000)
    least: int = param(
        12, "minimum span length, except for whole documents", unit="tokens",
        low=0, high=1000,
    )  # fmt: skip

    def __post_init__(self) -> None:
        parameters.check(self)
        for name in ("words", "dense", "maxsim", "rerank"):
            weight = getattr(self, name)
            if name == "maxsim" and weight is None:
                continue
            number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not number or not 0 <= weight < math.inf:
                raise InvalidParameter(
                    f"{name} is {weight!r}; expected a weight of 0 or more, such as 0.5"
                )
        if not self.words and not self.dense and not self.maxsim:
            raise InvalidParameter(
                "words and dense are both 0; at least one, or maxsim, must be positive"
            )
        whole = isinstance(self.sizes, tuple) and all(type(size) is int for size in self.sizes)
        if not whole or len(set(self.sizes)) < len(self.sizes) or min(self.sizes, default=1) < 1:
            raise InvalidParameter(
                f"sizes is {self.sizes!r}; expected distinct token counts, such as [40, 200, 800]"
            )

    def prepare(self, atoms: AtomTable) -> PreparedWindows:
        """What is the same for every question."""
        sizes = [windows_of(atoms.document, atoms.tokens, size) for size in self.sizes]
        sizes.append(whole_documents(atoms.document))
        words = tuple(WindowBm25.of(windows, atoms.terms.length) for windows in sizes)
        lengths = window_lengths(atoms, sizes) if atoms.vectors is not None else []
        return PreparedWindows(atoms, words, tuple(lengths))

    def search(
        self,
        atoms: AtomTable | PreparedWindows,
        queries: Sequence[NDArray[np.uint64]],
        vectors: NDArray[np.float32] | None,
        budget: int,
        allowed: NDArray[np.bool_] | None = None,
        texts: AtomTexts | None = None,
        tokens: Sequence[NDArray[np.float32]] | None = None,
        read: WindowReader | None = None,
        names: AskedNames | None = None,
        namings: Sequence[Naming | None] = (),
    ) -> list[list[ScoredSpan]]:
        """For every question (its terms, its vector, those of its tokens) spans that hold `budget` tokens at most.

        Without `texts` no header of a table is told from its rows. With `read` the windows that the others find best
        are read by a reranker, which votes, too. Documents that a question names have a share of the budget.
        """
        prepared = self.prepare(atoms) if isinstance(atoms, AtomTable) else atoms
        table = prepared.atoms
        if budget < 1 or not len(table):
            return [[] for _ in queries]
        reads = read is not None and self.rerank > 0
        most = self._most(prepared, vectors, tokens)
        if reads:
            most += self.rerank * len(prepared.words)
        every = self._points_of(prepared, queries, vectors, allowed, tokens, read)

        def named(at: int, points: NDArray[np.float64]) -> list[tuple[AtomCandidates, int]]:
            naming = namings[at] if namings else None
            if naming is None:
                return []
            vector = None if vectors is None else vectors[at : at + 1]
            token = None if tokens is None else tokens[at : at + 1]
            return [
                (
                    self._within(
                        prepared,
                        document,
                        points,
                        queries[at],
                        naming,
                        vector,
                        token,
                        allowed,
                        part,
                    ),
                    part,
                )
                for document, share in naming.shares().items()
                if (part := int(share * budget))
            ]

        def voted(low: int, high: int) -> list[_Voted]:
            result = []
            for at, points in enumerate(every(low, high), low):
                if names is None:
                    points = points / most
                    result.append(_Voted(AtomCandidates.of(points, budget), named(at, points)))
                    continue
                walked = self._walk().scores(
                    names.graph, table, points, queries[at], names.of_questions[at], allowed
                )
                points = with_walk(names.graph, walked, self.graph)
                if allowed is not None:
                    points[~allowed] = 0
                result.append(_Voted(AtomCandidates.of(points, budget), []))
            return result

        # Texts may be read for the spans, and a server's are read by the thread that asks alone: so are passages.
        if reads:
            result = [row for at in range(len(queries)) for row in voted(at, at + 1)]
        else:
            result = _in_blocks(voted, len(queries), _NUMBERS_AT_ONCE // (len(table) + 1))
        blocks = WholeBlockAtoms(table, texts, budget)
        return [
            assemble(
                table, share_budget(table, candidates, own, blocks), budget, blocks, self.least
            )
            for candidates, own in result
        ]

    def _within(
        self,
        prepared: PreparedWindows,
        document: int,
        points: NDArray[np.float64],
        query: NDArray[np.uint64],
        naming: Naming,
        vector: NDArray[np.float32] | None,
        tokens: Sequence[NDArray[np.float32]] | None,
        allowed: NDArray[np.bool_] | None,
        budget: int,
    ) -> AtomCandidates:
        """The best atoms of a named document for the rest of the question; for all of it if no word of it is there."""
        low, high = prepared.atoms.document.searchsorted([document, document + 1]).tolist()
        if prepared.atoms.tokens[low:high].sum() <= budget:  # there is nothing to choose
            every = np.arange(low, high)
            every = every if allowed is None else every[allowed[low:high]]
            every = every[np.argsort(-points[every], kind="stable")]
            return AtomCandidates(every, points[every])
        part = prepared.within(low, high, naming.rest)
        if not len(part.atoms.terms.row):
            part = prepared.within(low, high, query)
        some = None if allowed is None else allowed[low:high]
        terms = part.atoms.terms.hashes
        (own,) = self._points_of(part, [terms], vector, some, tokens, None)(0, 1)
        result = AtomCandidates.of(own / self._most(part, vector, tokens), budget)
        return result._replace(numbers=result.numbers + low)

    def walks(
        self,
        prepared: PreparedWindows,
        queries: Sequence[NDArray[np.uint64]],
        vectors: NDArray[np.float32] | None,
        names: AskedNames,
        allowed: NDArray[np.bool_] | None = None,
        tokens: Sequence[NDArray[np.float32]] | None = None,
        read: WindowReader | None = None,
    ) -> Iterator[Walked]:
        """What `search` does along names, question by question, with every step."""
        every = self._points_of(prepared, queries, vectors, allowed, tokens, read)
        for at, points in enumerate(every(0, len(queries))):
            asked = names.of_questions[at]
            yield self._walk().scores(
                names.graph, prepared.atoms, points, queries[at], asked, allowed, keep_steps=True
            )

    def _walk(self) -> Walk:
        return Walk()

    def _points_of(
        self,
        prepared: PreparedWindows,
        queries: Sequence[NDArray[np.uint64]],
        vectors: NDArray[np.float32] | None,
        allowed: NDArray[np.bool_] | None,
        tokens: Sequence[NDArray[np.float32]] | None,
        read: WindowReader | None,
    ) -> Callable[[int, int], Iterator[NDArray[np.float64]]]:
        """The votes of all voices for every atom, for the questions from one number to another."""
        table = prepared.atoms
        excluded = [None if allowed is None else ~size.touching(allowed) for size in prepared.sizes]
        passages = windows_of(table.document, table.tokens, _READ_SIZE) if read else None

        def within(points: NDArray[np.float64]) -> NDArray[np.float64]:
            if allowed is not None:
                points[~allowed] = 0
            return points

        def points_of(low: int, high: int) -> Iterator[NDArray[np.float64]]:
            asked = None if vectors is None else vectors[low:high]
            best_windows = self._best_windows(prepared, queries[low:high], asked, excluded)
            for at, found in enumerate(best_windows, low):
                points = within(atom_votes(found, len(table)))
                if tokens is not None:
                    compared = compared_atoms(table, points, allowed)
                    near = self._by_tokens(prepared, tokens[at], compared, excluded)
                    points = within(points + atom_votes(near, len(table)))
                if read is not None and passages is not None and self.rerank:
                    weight = self.rerank * len(prepared.words)
                    windows = _by_reading(table, points, passages, partial(read, at), weight)
                    points = within(points + atom_votes([windows], len(table)))
                yield points

        return points_of

    def votes(
        self,
        prepared: PreparedWindows,
        query: NDArray[np.uint64],
        vector: NDArray[np.float32] | None,
        tokens: NDArray[np.float32] | None = None,
    ) -> list[SizeVotes]:
        """How `search` comes to its choice for one question: the votes of every size, signal by signal."""
        sizes, everything = (*self.sizes, 0), [None] * len(prepared.sizes)
        vectors = None if vector is None else vector[None, :]
        result = next(self._best_windows(prepared, [query], vectors, everything))
        signals = ["words"] * (len(sizes) if self.words else 0)
        signals += ["vectors"] * (len(result) - len(signals))
        if tokens is not None:
            compared = compared_atoms(prepared.atoms, atom_votes(result, len(prepared.atoms)), None)
            near = self._by_tokens(prepared, tokens, compared, everything)
            result, signals = result + near, [*signals, *["token vectors"] * len(near)]
        return [
            votes_of(windows, sizes[at % len(sizes)], signal, len(prepared.atoms))
            for at, (windows, signal) in enumerate(zip(result, signals, strict=True))
        ]

    def _most(self, prepared: PreparedWindows, vectors: object, tokens: object) -> float:
        """The votes of an atom that is in the best window of every size."""
        dense = self.dense if self._by_meaning(prepared, vectors) else 0.0
        maxsim = self.maxsim_weight if tokens is not None else 0.0
        return len(prepared.words) * (self.words + dense + maxsim) or 1.0

    @property
    def maxsim_weight(self) -> float:
        """How much token vectors count where there are any."""
        return _MAXSIM if self.maxsim is None else self.maxsim

    def _by_meaning(self, prepared: PreparedWindows, vectors: object) -> bool:
        return vectors is not None and bool(prepared.lengths) and self.dense > 0

    def _best_windows(
        self,
        prepared: PreparedWindows,
        queries: Sequence[NDArray[np.uint64]],
        vectors: NDArray[np.float32] | None,
        excluded: Sequence[NDArray[np.bool_] | None],
    ) -> Iterator[list[BestWindows]]:
        """One list a question; `excluded` are the windows of every size that may not vote."""
        by_words = (
            self._by_words(prepared, queries, excluded) if self.words else [[] for _ in queries]
        )
        by_vectors: Sequence[list[BestWindows]] = [[] for _ in queries]
        if vectors is not None and self._by_meaning(prepared, vectors):
            by_vectors = self._by_vectors(prepared, vectors, excluded)
        for one, other in zip(by_words, by_vectors, strict=True):
            yield one + other

    def _by_words(
        self,
        prepared: PreparedWindows,
        queries: Sequence[NDArray[np.uint64]],
        excluded: Sequence[NDArray[np.bool_] | None],
    ) -> list[list[BestWindows]]:
        hashes = np.unique(np.concatenate(queries)) if len(queries) else np.empty(0, np.uint64)
        batch = prepared.atoms.terms.columns(hashes)
        terms = [hashes.searchsorted(np.unique(query)) for query in queries]
        result: list[list[BestWindows]] = [[] for _ in queries]
        for words, skipped in zip(prepared.words, excluded, strict=True):
            postings = words.postings(batch)
            for best_windows, own in zip(result, terms, strict=True):
                scores = postings.scores(own, len(words.windows))
                best_windows.append(
                    self._best_of_size(words.windows, scores, skipped, self.words, 0.0)
                )
        return result

    def _by_vectors(
        self,
        prepared: PreparedWindows,
        vectors: NDArray[np.float32],
        excluded: Sequence[NDArray[np.bool_] | None],
    ) -> list[list[BestWindows]]:
        result: list[list[BestWindows]] = [[] for _ in vectors]
        # A question without a direction is as near to one window as to any other: it has no vote.
        pointing = np.flatnonzero((vectors != 0).any(axis=1))
        products = running_products(prepared.atoms, vectors[pointing])
        for windows, length, skipped in zip(
            prepared.sizes, prepared.lengths, excluded, strict=True
        ):
            scored = cosines(products, windows, length)
            for at, scores in zip(pointing.tolist(), scored, strict=True):
                result[at].append(self._best_of_size(windows, scores, skipped, self.dense, None))
        return result

    def _by_tokens(
        self,
        prepared: PreparedWindows,
        vectors: NDArray[np.float32],
        atoms: NDArray[np.int64],
        excluded: Sequence[NDArray[np.bool_] | None],
    ) -> list[BestWindows]:
        """Of one question, compared with the tokens of these atoms alone."""
        table = prepared.atoms.token_vectors
        query = QueryTokens.of(vectors)
        if table is None or not len(query):
            return []
        maxima = atom_maxima(table, atoms, query)
        before = np.zeros(len(prepared.atoms) + 1, np.int64)
        before[atoms + 1] = 1
        np.cumsum(before, out=before)
        low, high = (
            np.concatenate([before[getattr(windows, edge)] for windows in prepared.sizes])
            for edge in ("first", "stop")
        )
        ends = np.cumsum([len(windows) for windows in prepared.sizes])[:-1]
        of_sizes = np.split(window_scores(maxima, low, high), ends)
        return [
            self._best_of_size(windows, scores, skipped, self.maxsim_weight, None)
            for windows, scores, skipped in zip(prepared.sizes, of_sizes, excluded, strict=True)
        ]

    def _best_of_size(
        self,
        windows: Windows,
        scores: NDArray[np.float32],
        excluded: NDArray[np.bool_] | None,
        weight: float,
        floor: float | None,
    ) -> BestWindows:
        if excluded is not None:
            scores[excluded] = -np.inf
        ranking = best(scores, self.depth)
        first, stop = windows.first[ranking.numbers], windows.stop[ranking.numbers]
        return BestWindows(first, stop, ranking.scores, weight, floor)


def _by_reading(
    atoms: AtomTable,
    points: NDArray[np.float64],
    windows: Windows,
    read: Callable[[Windows], NDArray[np.float32]],
    weight: float,
) -> BestWindows:
    """The windows with most votes a token so far, in the order in which a reranker puts them."""
    size = np.append(0, np.cumsum(atoms.tokens, dtype=np.int64))
    voted = np.append(0, np.cumsum(points * atoms.tokens))
    mean = (voted[windows.stop] - voted[windows.first]) / np.maximum(
        size[windows.stop] - size[windows.first], 1
    )
    chosen = best(np.where(mean > 0, mean, -np.inf).astype(np.float32), _READ).numbers
    some = Windows(windows.first[chosen], windows.stop[chosen])
    scores = read(some) if len(some) else np.empty(0, np.float32)
    order = np.lexsort((np.arange(len(scores)), -scores))
    order = order[np.isfinite(scores[order])]
    return BestWindows(some.first[order], some.stop[order], scores[order], weight)


def _in_blocks(
    answer: Callable[[int, int], list[_Voted]], questions: int, fit: int
) -> list[_Voted]:
    """Blocks of questions that fit into memory, a thread a core; a question's answer depends on no other's."""
    threads = cores()
    size = max(1, min(fit, max(_FEWEST, -(-questions // threads))))
    low = range(0, questions, size)
    high = [min(at + size, questions) for at in low]
    if len(low) < 2 or threads < 2:
        parts = map(answer, low, high)
        return [row for part in parts for row in part]
    from concurrent.futures import ThreadPoolExecutor

    with one_blas_thread(), ThreadPoolExecutor(min(threads, len(low))) as pool:
        return [row for part in pool.map(answer, low, high) for row in part]

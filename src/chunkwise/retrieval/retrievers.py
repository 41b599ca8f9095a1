"""What a retriever is, and those there are: bm25, dense, hybrid, and several sizes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import parameters
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.base.registry import Registry
from chunkwise.core import Span
from chunkwise.models.rerank.reranker import Reranker, scores_of
from chunkwise.options import Graph
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.errors import (
    no_graph_error,
    no_token_vectors_error,
)
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.fusion import (
    Fusion,
    WeightedRanking,
    followed,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from chunkwise.retrieval.graph.build_graph import graph_of
from chunkwise.retrieval.graph.walk_along_names import AllowedEdges, Chain, Walk, chain_of
from chunkwise.retrieval.multiscale import (
    AskedNames,
    Multiscale,
    NameTable,
    Naming,
    PreparedWindows,
    ScoredSpan,
    Windows,
)
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.searchable import (
    AtomTable,
    CandidateSpan,
    QueryBatch,
    Searchable,
)
from chunkwise.retrieval.tables_lists_code import WholeBlock, WholeBlocks
from chunkwise.text.language import UNKNOWN, language_of_text
from chunkwise.text.names import name_spans
from chunkwise.text.terms import CODE, NONE, Holds, QueryWord, query_words, terms_of_query_words

registry = Registry(
    "retriever",
    "chunkwise.retrievers",
    {
        "bm25": "chunkwise.retrieval.retrievers:Bm25Retriever",
        "dense": "chunkwise.retrieval.retrievers:DenseRetriever",
        "hybrid": "chunkwise.retrieval.retrievers:HybridRetriever",
        "multiscale": "chunkwise.retrieval.retrievers:MultiscaleRetriever",
        "graph": "chunkwise.retrieval.retrievers:GraphRetriever",
        "communities": "chunkwise.retrieval.graph.communities_retriever:CommunitiesRetriever",
    },
    needs=("rank(source, questions, depth, only) or spans(source, questions, budget, only)",),
    example="hybrid(dense=1, fusion='rrf')",
)


@runtime_checkable
class ChunkRetriever(Protocol):
    """Ranks the chunks of an index; what is made of them is not its business."""

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        """The best chunks for every question, `depth` at most; a pure function of its arguments."""


@runtime_checkable
class SpanRetriever(Protocol):
    """Hands out spans of any length that fill a budget of tokens, whatever the chunks are."""

    def spans(
        self, source: Searchable, questions: QueryBatch, budget: int, only: Filter
    ) -> list[list[CandidateSpan]]:
        """For every question spans that do not overlap, in the order they are to be shown."""


@runtime_checkable
class RerankingSpanRetriever(SpanRetriever, Protocol):
    """One that lets a reranker have a say in which spans they are."""

    def reranked_spans(
        self,
        source: Searchable,
        questions: QueryBatch,
        budget: int,
        only: Filter,
        reranker: Reranker,
    ) -> list[list[CandidateSpan]]:
        """As `spans`, the best passages read together with the question."""


Retriever = ChunkRetriever | SpanRetriever


def get_retriever(retriever: str | Retriever) -> Retriever:
    """A retriever from "name(parameter=value)", `./file.py:Class`, or an object with `rank` or `spans`."""
    made: Retriever = registry.make(retriever)
    return made


def _k1() -> Any:
    return param(K1, "BM25 term frequency saturation", low=0.0, high=10.0)


def _b() -> Any:
    return param(B, "BM25 length normalization", low=0.0, high=1.0)


@dataclass(frozen=True, kw_only=True)
class Bm25Retriever:
    """BM25 over the stems of words; needs no model.

    Use it where the exact words matter: names, numbers, terms of a trade.
    """

    k1: float = _k1()
    b: float = _b()

    def __post_init__(self) -> None:
        parameters.check(self)

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        return source.words(questions.texts, depth, only, k1=self.k1, b=self.b)


@dataclass(frozen=True, kw_only=True)
class DenseRetriever:
    """The cosine between the vectors of question and chunk.

    Use it where questions are put in other words than the documents.
    """

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        if not len(questions):
            return []
        result = source.nearest(questions.vectors, depth, only)
        # A question without a word has no direction: it is near to nothing.
        words = (questions.vectors != 0).any(axis=1).tolist()
        return [ranking if some else NOTHING for ranking, some in zip(result, words, strict=True)]


@dataclass(frozen=True, kw_only=True)
class HybridRetriever:
    """BM25 and vectors, fused.

    Use it when you do not know which of the two suits your questions.
    """

    fusion: Fusion = param(
        "weighted",
        "weighted: normalized scores; rrf: reciprocal rank fusion, constant 60",
        choices=("weighted", "rrf"),
    )
    dense: float = param(0.5, "weight of the vectors; BM25 has weight 1", low=0.0, high=10.0)
    depth: int = param(400, "chunks per retriever to fuse", unit="chunks", low=1, high=1_000_000)
    k1: float = _k1()
    b: float = _b()

    def __post_init__(self) -> None:
        parameters.check(self)

    def rank(
        self, source: Searchable, questions: QueryBatch, depth: int, only: Filter
    ) -> list[Ranking]:
        deep = max(self.depth, depth)
        near = DenseRetriever().rank(source, questions, deep, only)
        words = source.words(questions.texts, deep, only, k1=self.k1, b=self.b)
        return [
            followed(self._fused(one, other), (one, other), depth)
            for one, other in zip(words, near, strict=True)
        ]

    def _fused(self, words: Ranking, near: Ranking) -> Ranking:
        """Of `self.depth` chunks a side, however many are wanted: those behind must not change the order of these."""
        words, near = words.first(self.depth), near.first(self.depth)
        fuse = weighted_fusion if self.fusion == "weighted" else reciprocal_rank_fusion
        # Where fewer chunks share a word with the question than were asked for, the next one's score is 0.
        floor = None if len(words.numbers) >= self.depth else 0.0
        return fuse(
            [WeightedRanking(words, floor=floor), WeightedRanking(near, self.dense)], 2 * self.depth
        )


class SizeShare(NamedTuple):
    """How much one size says for a place, by words or by vectors."""

    size: int
    """Tokens; 0: the whole document."""
    signal: str
    share: float
    """Of the score of the best window of this size."""


_prepared: WeakKeyDictionary[Searchable, dict[tuple[int, ...], PreparedWindows]] = (
    WeakKeyDictionary()
)
"""Windows of the indexes that are open, by their sizes: the same for every search, gone with the index."""
_name_tables: WeakKeyDictionary[Searchable, tuple[AtomTable, NameTable]] = WeakKeyDictionary()
"""The same of the names of documents."""
_KEPT = 4
"""Choices of sizes an index keeps windows of."""


@dataclass(frozen=True, kw_only=True)
class MultiscaleRetriever(Multiscale):
    __doc__ = Multiscale.__doc__

    def spans(
        self, source: Searchable, questions: QueryBatch, budget: int, only: Filter
    ) -> list[list[CandidateSpan]]:
        return self._spans(source, questions, budget, only, None)

    def reranked_spans(
        self,
        source: Searchable,
        questions: QueryBatch,
        budget: int,
        only: Filter,
        reranker: Reranker,
    ) -> list[list[CandidateSpan]]:
        return self._spans(source, questions, budget, only, reranker)

    def _spans(
        self,
        source: Searchable,
        questions: QueryBatch,
        budget: int,
        only: Filter,
        reranker: Reranker | None,
    ) -> list[list[CandidateSpan]]:
        asked = self._asked(source, questions, only, reranker)
        match = self.search(
            asked.windows, asked.terms, asked.vectors, budget, asked.allowed, asked.texts, asked.tokens,
            asked.read, asked.names, asked.namings,
        )  # fmt: skip
        return [_candidate_spans(source, spans) for spans in match]

    def _asked(
        self,
        source: Searchable,
        questions: QueryBatch,
        only: Filter,
        reranker: Reranker | None,
    ) -> _Asked:
        """All that is looked up before a search; what the index cannot do is told here."""
        atoms = source.atom_table()
        if not self.words and not self.maxsim and atoms.vectors is None:
            raise InvalidParameter(
                "words is 0, but the index has no sentence vectors; set words=1, or rebuild the "
                "index with vectors ('late' or 'both')"
            )
        if self.maxsim and atoms.token_vectors is None:
            raise no_token_vectors_error()
        if self.graph and atoms.mentions is None:
            raise no_graph_error()
        allowed = source.allowed("atom", only)
        holds = partial(atoms.terms.holds, allowed=allowed)
        texts = _Texts(atoms, source, allowed)
        tokens = None
        if atoms.token_vectors is not None and self.maxsim_weight:
            tokens = questions.token_vectors
        names = None
        if self.graph:
            names = AskedNames(graph_of(source), [name_spans(text) for text in questions.texts])
        words = [self._words_of(text, source, atoms, questions, holds) for text in questions.texts]
        return _Asked(
            self._windows(source, atoms),
            [word.terms for word in words],
            questions.vectors if atoms.vectors is not None and self.dense else None,
            allowed,
            texts,
            tokens,
            partial(_read, reranker, questions.texts, texts) if reranker is not None else None,
            names,
            _namings(source, words, allowed) if questions.naming and not self.graph else [],
        )

    def namings(
        self, source: Searchable, questions: QueryBatch, only: Filter = EVERYTHING
    ) -> list[Naming | None]:
        """The documents that each question names, and what else it asks; None: it names nothing."""
        atoms, allowed = source.atom_table(), source.allowed("atom", only)
        holds = partial(atoms.terms.holds, allowed=allowed)
        words = [self._words_of(text, source, atoms, questions, holds) for text in questions.texts]
        return _namings(source, words, allowed)

    def chains_for(
        self,
        source: Searchable,
        questions: QueryBatch,
        places: Sequence[Sequence[tuple[int, int, int]]],
        only: Filter = EVERYTHING,
        reranker: Reranker | None = None,
    ) -> list[list[Chain]]:
        """How places (document, start, end) of each question were found, by the walk of the search itself."""
        if not self.graph:
            raise InvalidParameter(
                "this retriever has no graph paths to explain; choose graph, or "
                "multiscale(graph=0.5)"
            )
        asked = self._asked(source, questions, only, reranker)
        atoms = asked.windows.atoms
        assert asked.names is not None
        walks = self.walks(
            asked.windows, asked.terms, asked.vectors, asked.names, asked.allowed, asked.tokens, asked.read
        )  # fmt: skip
        edges = AllowedEdges(asked.names.graph, asked.allowed)
        result = []
        for spans, own, walked in zip(asked.names.of_questions, places, walks, strict=True):
            chains = []
            for document, start, end in own:
                stretch = _atoms_of(atoms, document, start, end)
                chains.append(chain_of(edges, walked, spans, stretch, self.graph))
            result.append(chains)
        return result

    def votes_for(
        self, source: Searchable, questions: QueryBatch, places: Sequence[tuple[int, int, int]]
    ) -> list[list[SizeShare]]:
        """Why places (document, start, end) are found for the first question: the share of the best window of every
        size that each of them holds, by words, by vectors and by those of tokens."""
        atoms = source.atom_table()
        holds = atoms.terms.holds
        terms = self._words_of(questions.texts[0], source, atoms, questions, holds).terms
        vector = questions.vectors[0] if atoms.vectors is not None and self.dense else None
        tokens = None
        if atoms.token_vectors is not None and self.maxsim_weight and questions.token_vectors:
            tokens = questions.token_vectors[0]
        votes = self.votes(self._windows(source, atoms), terms, vector, tokens)
        result = []
        for document, start, end in places:
            first, stop = _atoms_of(atoms, document, start, end)
            result.append(
                [
                    SizeShare(vote.size, vote.signal, float(vote.share[first:stop].max(initial=0)))
                    for vote in votes
                ]
            )
        return result

    def _words_of(
        self, text: str, source: Searchable, atoms: AtomTable, questions: QueryBatch, holds: Holds
    ) -> _AskedWords:
        """The words of a question; without terms to search where no document is in its language and the model knows it.

        There words find names alone, and small words that mean something else: "was" is German, too.
        """
        languages = source.languages
        words = query_words(text, languages, holds)
        if languages and atoms.vectors is not None and self.dense > 0:
            message = language_of_text(text)
            is_foreign = not {message, CODE, NONE, UNKNOWN}.intersection(languages)
            if is_foreign and message in questions.model_languages:
                return _AskedWords(words, np.empty(0, np.uint64))
        return _AskedWords(words, terms_of_query_words(words))

    def _windows(self, source: Searchable, atoms: AtomTable) -> PreparedWindows:
        known = _prepared.get(source, {})
        windows = known.get(self.sizes)
        if windows is None or windows.atoms is not atoms:
            windows = self.prepare(atoms)
            # What was made of atoms that have changed since is of no use any more.
            current = [(sizes, old) for sizes, old in known.items() if old.atoms is atoms]
            _prepared[source] = dict([*current[1 - _KEPT :], (self.sizes, windows)])
        return windows


@dataclass(frozen=True, kw_only=True)
class GraphRetriever(MultiscaleRetriever):
    """Several sizes at once, and a walk along names from what is found to what only a name leads to.

    Use it where an answer stands in two places: the second passage shares a name with the first, not with the question.
    """

    graph: float = param(0.5, "weight of the graph walk", low=0.0, high=10.0)
    hops: int = param(Walk.hops, "maximum hops from the passages of the question", low=1, high=4)
    start: int = param(
        Walk.start, "passages per hop to start from", unit="passages", low=1, high=100
    )
    common: int = param(
        Walk.common, "names in more passages aren't followed", unit="passages", low=1, high=10_000
    )
    mention: float = param(
        Walk.mention,
        "weight of a mention relative to a passage about the name",
        low=0.0,
        high=1.0,
    )
    rest: float = param(
        Walk.rest, "weight of the name relative to the missing words", low=0.0, high=10.0
    )

    def _walk(self) -> Walk:
        return Walk(self.hops, self.start, self.common, self.mention, self.rest)


def _atoms_of(atoms: AtomTable, document: int, start: int, end: int) -> tuple[int, int]:
    """The first atom that a place touches, and the one behind the last."""
    low, high = atoms.document.searchsorted([document, document + 1]).tolist()
    first = low + int(atoms.end[low:high].searchsorted(start, "right"))
    return first, low + int(atoms.start[low:high].searchsorted(end))


class _AskedWords(NamedTuple):
    """The words of a question, and the terms among them that find passages."""

    words: list[QueryWord]
    terms: NDArray[np.uint64]


class _Asked(NamedTuple):
    """What `Multiscale` is handed for some questions."""

    windows: PreparedWindows
    terms: list[NDArray[np.uint64]]
    vectors: NDArray[np.float32] | None
    allowed: NDArray[np.bool_] | None
    texts: _Texts
    tokens: list[NDArray[np.float32]] | None
    read: Callable[[int, Windows], NDArray[np.float32]] | None
    names: AskedNames | None
    namings: list[Naming | None]


def _namings(
    source: Searchable, asked: Sequence[_AskedWords], allowed: NDArray[np.bool_] | None
) -> list[Naming | None]:
    atoms, known = source.atom_table(), _name_tables.get(source)
    if known is None or known[0] is not atoms:
        numbers, ids, titles = source.document_numbers(), source.ids(), source.titles()
        known = atoms, NameTable.of(atoms, numbers, ids, titles, source.languages)
        _name_tables[source] = known
    namings = [known[1].naming(words, atoms, allowed) for words, _ in asked]
    # Words that find no passages at all find none in a named document.
    return [
        naming and (naming if len(terms) else naming._replace(rest=terms))
        for naming, (_, terms) in zip(namings, asked, strict=True)
    ]


def follows_names(retriever: str | Retriever | None) -> bool:
    """Whether it walks along names, which the index must have: of the two of ours that can."""
    if isinstance(retriever, str):
        if retriever.partition("(")[0].strip() not in ("graph", "multiscale"):
            return False
        retriever = get_retriever(retriever)
    return isinstance(retriever, MultiscaleRetriever) and retriever.graph > 0


def graph_for(retriever: str | Retriever | None) -> Graph | None:
    """What of a graph an index needs that is made to be asked by this one; None: nothing."""
    return "names" if follows_names(retriever) else None


@dataclass(frozen=True, slots=True)
class _Texts:
    atoms: AtomTable
    source: Searchable
    allowed: NDArray[np.bool_] | None = None

    def passages(self, windows: Windows) -> list[str]:
        """What may be read of each window: nothing that a filter keeps out."""
        result = []
        for first, stop in zip(windows.first.tolist(), windows.stop.tolist(), strict=True):
            text = self.source.document(int(self.atoms.document[first])).text
            own = [at for at in range(first, stop) if self.allowed is None or self.allowed[at]]
            bounds = zip(self.atoms.start[own].tolist(), self.atoms.end[own].tolist(), strict=True)
            result.append("".join(text[start:end] for start, end in bounds))
        return result

    def says(self, atom: int) -> bool:
        document = self.source.document(int(self.atoms.document[atom]))
        return any(map(str.isalnum, document.text[self.atoms.start[atom] : self.atoms.end[atom]]))

    def blocks(self, atom: int) -> list[range]:
        result = self._around(atom)
        if result is None:
            return []
        return self._atoms_of(atom, [Span(result.start, result.end), Span(result.own, result.end)])

    def parts(self, atom: int) -> list[range]:
        blocks, result = self._blocks_of(atom), self._around(atom)
        if result is None or result.kind != "code" or result.body == result.own:
            return []
        return self._atoms_of(atom, blocks.parts_of_code(result, int(self.atoms.start[atom])))

    def _blocks_of(self, atom: int) -> WholeBlocks:
        return self.source.blocks(int(self.atoms.document[atom]))

    def _around(self, atom: int) -> WholeBlock | None:
        start, end = int(self.atoms.start[atom]), int(self.atoms.end[atom])
        return self._blocks_of(atom).around(start, end)

    def _atoms_of(self, atom: int, spans: Sequence[Span]) -> list[range]:
        """Those of places around an atom, each range once."""
        number = int(self.atoms.document[atom])
        low, high = self.atoms.document.searchsorted([number, number + 1]).tolist()
        starts = self.atoms.start[low:high]
        atoms: dict[range, None] = {}
        for start, end in spans:
            first = low + int(starts.searchsorted(start, "right")) - 1
            stop = low + int(starts.searchsorted(end))
            atoms.setdefault(self._allowed_around(atom, first, stop))
        return list(atoms)

    def _allowed_around(self, atom: int, first: int, stop: int) -> range:
        if self.allowed is None or self.allowed[first:stop].all():
            return range(first, stop)
        if not first <= atom < stop:  # what it leads in
            return range(atom, atom + 1)
        # What a filter keeps out parts a block.
        barred = np.flatnonzero(~self.allowed[first:stop]) + first
        at = int(barred.searchsorted(atom))
        first = int(barred[at - 1]) + 1 if at else first
        return range(first, int(barred[at]) if at < len(barred) else stop)


def _read(
    reranker: Reranker, asked: Sequence[str], texts: _Texts, at: int, passages: Windows
) -> NDArray[np.float32]:
    return scores_of(reranker, asked[at], texts.passages(passages))


def _candidate_spans(source: Searchable, spans: Sequence[ScoredSpan]) -> list[CandidateSpan]:
    return [
        CandidateSpan(
            span.document, span.start, span.end, span.score, source.section_path(span.section)
        )
        for span in spans
    ]


def default_retriever(
    source: Searchable, *, budget: int | None, needs_chunks: bool, only: Filter = EVERYTHING
) -> str:
    """What suits the index and what is wanted of it."""
    vectors = source.settings.vectors
    # Sentences of several sizes would pass by what a model was asked to write.
    wants_chunks = needs_chunks or only.level is not None or source.has_summaries
    # Chunks embedded each by itself leave nothing to make the vectors of other sizes from.
    if budget and not wants_chunks and vectors != "own":
        return "multiscale"
    return "bm25" if vectors == "none" else "hybrid"

"""What a metric may look at: questions, what was retrieved for each, what was answered, and the index behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeVar

from chunkwise.chunkers.chunk_offsets import Position
from chunkwise.core import Document, Hit, Query, Score, Span
from chunkwise.metrics.claims.text_normalization import without_citation_marks
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable
from chunkwise.metrics.token_budget import in_tokens
from chunkwise.models.embed.embedder import Embedder
from chunkwise.retrieval.indexes import Index
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike

NO_CITATIONS = "no citations"


class AnswerCitation(NamedTuple):
    """A place that is said to support a claim."""

    claim: str
    """A sentence of the answer, or a part of one; empty: the whole answer."""
    doc_id: str
    start: int | None = None
    """None: the place is told by the quote, or is the whole document."""
    end: int | None = None
    """None beside a start: behind the quote, or, without one, the end of the sentence."""
    quote: str = ""
    """What is said to stand there; empty: it is not said."""
    unresolved: str = ""
    """Why nobody can say where it points: it is not scored. Empty: it can be said."""

    @property
    def said(self) -> str:
        """The claim without citation marks."""
        return without_citation_marks(self.claim).strip()


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answered to a question."""

    text: str
    citations: tuple[AnswerCitation, ...] = ()
    is_refusal: bool = False
    """Whether it says that the documents do not answer the question: it claims nothing of what they say."""

    @property
    def said(self) -> str:
        """The text without citation marks: what is compared, as a mark is no part of what is claimed."""
        return without_citation_marks(self.text)

    @property
    def scored(self) -> Answer:
        """With the citations alone of which one can say where they point."""
        known = tuple(citation for citation in self.citations if not citation.unresolved)
        return self if len(known) == len(self.citations) else replace(self, citations=known)

    @property
    def why_uncited(self) -> str:
        """Why there is no citation to score; empty: there is one."""
        if not self.citations:
            return NO_CITATIONS
        return "" if self.scored.citations else self.citations[0].unresolved


Hits = Sequence[Sequence[Hit]]
"""By question, best first."""
Verdicts = Sequence[Sequence[Score]]
"""Of one judge: a score a hit, by question."""

T = TypeVar("T")

NOWHERE = "nowhere"
"""Marks a document that was made to hold a hit which stands in none."""


def is_nowhere(hit: Hit) -> bool:
    """Whether this is a hit that could not be found in the documents."""
    return hit.document.metadata.get(NOWHERE) is True


@dataclass(frozen=True)
class Evidence:
    """Input of metrics: queries, hits, answers, documents and index of one run."""

    queries: Sequence[Query]
    hits: Hits
    """Hits per question: k, or those within the budget; for name@k the first k."""
    documents: Sequence[Document] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """Answers by question id."""
    index: Index | None = None
    """The index; None for hits of another system."""
    chunking: Chunking | None = None
    """All chunks, if known."""
    position: Position | None = None
    """Accuracy of the offsets of chunks from a file."""
    relevance_threshold: float = 0.5
    unit: Literal["characters", "tokens"] = "characters"
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER
    embedder: str | Embedder = ""
    """Embedder for text similarity; empty: the default."""
    ask_judge: Callable[[str, Sequence[Query], Hits], Verdicts] | None = None
    """Function that returns the verdicts of a judge by name."""
    _made: dict[str, object] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Compute a value shared by several metrics once, under a unique key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # type: ignore[return-value]

    def verdicts(self, judge: str) -> Verdicts:
        """One score per hit by this judge."""
        if self.ask_judge is None:
            return [[Score(None, f"{judge} was not used") for _ in hit] for hit in self.hits]
        return self.ask_judge(judge, self.queries, self.hits)

    def with_hits(self, hits: Hits) -> Evidence:
        """The same run with other hits."""
        return replace(self, hits=hits, _made={})

    @property
    def texts(self) -> dict[str, str]:
        """Document texts by id."""
        return {document.id: document.text for document in self.documents}

    @property
    def numbers(self) -> dict[str, int]:
        """Document positions by id."""
        return {document.id: number for number, document in enumerate(self.documents)}

    @property
    def gold(self) -> Gold:
        """The references of the questions as arrays."""
        return Gold.of(self.queries, self.numbers, self.texts)

    def tables(self) -> tuple[Gold, HitTable]:
        """References and hits as arrays, in the run's unit."""
        gold, table = self.gold, HitTable.of(self.hits, self.numbers)
        if self.unit == "tokens":
            gold, table, *_ = in_tokens(gold, table, None, self.documents, self.tokenizer)
        return gold, table

    def chunk_spans(self) -> Iterator[tuple[Analyzed, list[Span]]]:
        """Documents with their chunks, or with their hits if chunks are unknown."""
        own: list[list[Span]] = [[] for _ in self.documents]
        numbers = self.numbers
        hits = [hit for hits in self.hits for hit in hits if not is_nowhere(hit) and not hit.level]
        rows = sorted({(numbers[hit.doc_id], hit.start, hit.end) for hit in hits})
        if self.chunking is not None:
            chunks = self.chunking.without_summaries
            columns = (chunks.document, chunks.start, chunks.end)
            rows = list(zip(*(column.tolist() for column in columns), strict=True))
        for number, start, end in rows:
            own[number].append(Span(start, end))
        for document, spans in zip(self.documents, own, strict=True):
            if spans:
                yield Analyzed(document), spans

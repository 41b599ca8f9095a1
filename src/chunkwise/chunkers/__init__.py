"""Strategies: one file each, every one a pure function from an analysed document to spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from chunkwise import parameters, spec
from chunkwise.chunkers.catalogue import describe
from chunkwise.chunkers.derived import check_summary
from chunkwise.chunkers.foreign import foreign_pieces
from chunkwise.core import Chunk, Document, Piece, Span
from chunkwise.errors import BrokenContract, InvalidParameter
from chunkwise.registry import Registry
from chunkwise.text.analysis import Analyzed
from chunkwise.text.outline import SectionLookup
from chunkwise.text.tokenizers import DEFAULT, TokenizerLike

registry = Registry(
    "strategy",
    "chunkwise.chunkers",
    {
        "characters": "chunkwise.chunkers.characters:Characters",
        "words": "chunkwise.chunkers.words:Words",
        "tokens": "chunkwise.chunkers.tokens:Tokens",
        "sentences": "chunkwise.chunkers.sentences:Sentences",
        "paragraphs": "chunkwise.chunkers.paragraphs:Paragraphs",
        "recursive": "chunkwise.chunkers.recursive:Recursive",
        "sections": "chunkwise.chunkers.sections:Sections",
        "structure": "chunkwise.chunkers.structure:Structure",
        "code": "chunkwise.chunkers.code:Code",
        "semantic": "chunkwise.chunkers.semantic:Semantic",
        "cluster": "chunkwise.chunkers.cluster:Cluster",
        "parent_child": "chunkwise.chunkers.parent_child:ParentChild",
        "raptor": "chunkwise.chunkers.raptor.raptor:Raptor",
    },
)


class Chunker(Protocol):
    """What a strategy has to offer; a `limit` property (tokenizer, size) makes its hard limit checkable."""

    def split(self, document: Analyzed) -> Sequence[Span | Piece]: ...


class Strategy:
    """A chunker with the name and the label it goes by in tables, files and cache keys."""

    def __init__(self, name: str, chunker: Chunker) -> None:
        self.name = name
        self.chunker = chunker
        self.label = spec.describe(name, chunker)

    def __repr__(self) -> str:
        return f"<Strategy {self.label}>"

    @property
    def limit(self) -> tuple[TokenizerLike, int] | None:
        found: tuple[TokenizerLike, int] | None = getattr(self.chunker, "limit", None)
        return found

    @property
    def summary_limit(self) -> int | None:
        """The most tokens of a summary; None: it makes none, or says nothing about their size."""
        found: int | None = getattr(self.chunker, "summary_tokens", None)
        return found

    @property
    def asks_a_model(self) -> bool:
        """Whether it asks a language model, whose limits and answers stay in one process."""
        return hasattr(self.chunker, "llm")

    @property
    def unit(self) -> str:
        """What sizes are counted in: tokens, words or characters."""
        tokenizer = self.limit[0] if self.limit else DEFAULT
        return tokenizer if tokenizer in ("words", "characters") else "tokens"

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        """The chunks of one document, in order."""
        analyzed = document if isinstance(document, Analyzed) else Analyzed(document)
        if not analyzed.text or analyzed.text.isspace():
            return
        measure = analyzed.measure(self.limit[0] if self.limit else DEFAULT)
        source, size, outline = analyzed.document, len(analyzed.text), SectionLookup(analyzed)
        label = self.label
        made = Chunk.__new__  # called as the function it is: a class takes a third longer
        for index, piece in enumerate(self._pieces(analyzed)):
            start, end, context, count, parent, summary, summarised, level = piece
            if not 0 <= start < end <= size:
                raise BrokenContract(
                    f"the strategy {self.name} returned ({start}, {end}) for {source.id}, which has "
                    f"{size:,} characters; spans start at 0 or later, end after they start and within the text"
                )
            if level:
                check_summary(piece, f"the strategy {self.name}, for {source.id}")
                count = measure.tokenizer.count(summary) if count < 0 else count
            elif count < 0:
                count = measure.count(start, end)
            yield made(
                Chunk, source, index, start, end, count, context, label, outline, parent,
                summary, summarised, level,
            )  # fmt: skip

    def _pieces(self, analyzed: Analyzed) -> Sequence[Piece]:
        if self.name in registry.builtin:
            return self.chunker.split(analyzed)  # type: ignore[return-value]
        return foreign_pieces(self.name, self.chunker, analyzed)


def get_strategy(strategy: str | Chunker | Strategy, **parameters_given: object) -> Strategy:
    """A strategy from "name(parameter=value)", `./file.py:Class`, or an object with `split`.

    Keywords are parameters too: `get_strategy("sentences", max_tokens=100, tokenizer=my_count)`.
    """
    if isinstance(strategy, Strategy):
        return strategy
    if not isinstance(strategy, str):
        return Strategy(_name_of(strategy), _checked(strategy))
    name, values = spec.parse(strategy)
    made = parameters.build(registry.get(name), name, {**values, **parameters_given})
    return Strategy(name, _checked(made))


def _checked(chunker: Any) -> Chunker:
    if not callable(getattr(chunker, "split", None)):
        raise InvalidParameter(f"{type(chunker).__name__} is no strategy: it has no method `split`")
    made: Chunker = chunker
    return made


def _name_of(chunker: object) -> str:
    for name, target in registry.builtin.items():
        if target == f"{type(chunker).__module__}:{type(chunker).__qualname__}":
            return name
    return type(chunker).__name__


def describe_all() -> list[dict[str, Any]]:
    """Every strategy with its parameters, defaults, bounds and when to use it."""
    return [describe(name, cls) for name, cls in registry.all().items()]

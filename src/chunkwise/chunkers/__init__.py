"""Strategies: one file each, every one a pure function from an analysed document to spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from chunkwise import parameters, spec
from chunkwise.core import Chunk, Document, Piece, Span
from chunkwise.errors import InvalidParameter
from chunkwise.registry import Registry
from chunkwise.text.analysis import Analyzed
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

    @property
    def limit(self) -> tuple[TokenizerLike, int] | None:
        found: tuple[TokenizerLike, int] | None = getattr(self.chunker, "limit", None)
        return found

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        """The chunks of one document, in order."""
        analyzed = document if isinstance(document, Analyzed) else Analyzed(document)
        if not analyzed.text or analyzed.text.isspace():
            return
        measure = analyzed.measure(self.limit[0] if self.limit else DEFAULT)
        for index, found in enumerate(self.chunker.split(analyzed)):
            piece = found if isinstance(found, Piece) else Piece(*found)
            count = piece.token_count
            if count < 0:
                count = measure.count(piece.start, piece.end)
            yield Chunk(
                analyzed.document,
                index,
                piece.start,
                piece.end,
                count,
                piece.context,
                self.label,
                analyzed,
            )


def get_strategy(strategy: str | Chunker | Strategy) -> Strategy:
    """A strategy from "name(parameter=value)", `./file.py:Class`, or an object with `split`."""
    if isinstance(strategy, Strategy):
        return strategy
    if not isinstance(strategy, str):
        if not callable(getattr(strategy, "split", None)):
            raise InvalidParameter(f"{strategy!r} is no strategy: it has no method `split`")
        return Strategy(_name_of(strategy), strategy)
    name, values = spec.parse(strategy)
    return Strategy(name, parameters.build(registry.get(name), name, values))


def _name_of(chunker: object) -> str:
    for name, target in registry.builtin.items():
        if target == f"{type(chunker).__module__}:{type(chunker).__qualname__}":
            return name
    return type(chunker).__name__


def describe_all() -> list[dict[str, Any]]:
    """Every strategy with its parameters, defaults, bounds and when to use it."""
    from chunkwise.chunkers.catalogue import describe

    return [describe(name, cls) for name, cls in registry.all().items()]

"""Strategies: one file each, a pure function from an analyzed document to spans; here they are found by name."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from chunkwise.base import parameters, spec
from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import BrokenContract
from chunkwise.base.registry import Registry
from chunkwise.base.user_code import code_fingerprint
from chunkwise.base.wording import counted
from chunkwise.chunkers.check_pieces import check_summary, foreign_pieces
from chunkwise.chunkers.packing.overlap import UNITS, overlap_tokens
from chunkwise.core import Chunk, Document, Piece, Span
from chunkwise.text.analyzed import Analyzed, SectionLookup
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike

_MODELS = {"model": "embedder", "llm": "language model"}
"""Parameters that name a model, which costs more than all else a strategy does."""
_MEGABYTES_PER_SECOND = {
    "characters": 490, "words": 130, "tokens": 56, "pages": 42, "recursive": 37, "paragraphs": 31, "parent_child": 29,
    "sections": 28, "sentences": 26, "structure": 20, "code": 16, "semantic": 0.014, "cluster": 0.014,
}  # fmt: skip
"""Of English text in memory, by a core, with minilm where an embedder is asked; a language model sets its own pace."""


def describe_strategy(name: str, cls: type) -> dict[str, Any]:
    """Name, purpose, when to use it, what it asks, how fast it is, and every parameter with default and bounds."""
    purpose, _, use = (inspect.getdoc(cls) or "").partition("\n\n")
    fields = parameters.fields(cls)
    return {
        "name": name,
        "purpose": " ".join(purpose.split()),
        "use": " ".join(use.split()),
        "asks": [_MODELS[item.name] for item in fields if item.name in _MODELS],
        "megabytes_per_second": _MEGABYTES_PER_SECOND.get(name),
        "parameters": [_parameter(cls, field) for field in fields],
    }


def _parameter(cls: type, field: dataclasses.Field[Any]) -> dict[str, Any]:
    allowed = parameters.bounds(field)
    default = None if field.default is dataclasses.MISSING else field.default
    unit, amount = getattr(cls, "default_overlap", ("", 0))
    return {
        "name": field.name,
        "default": amount if field.name == unit else default,
        "unit": allowed.unit,
        "low": allowed.low,
        "high": allowed.high,
        "choices": list(allowed.choices),
        "aliases": list(allowed.aliases),
        "help": allowed.help,
    }


strategies = Registry(
    "strategy",
    "chunkwise.chunkers",
    {
        "characters": "chunkwise.chunkers.characters:CharacterChunker",
        "words": "chunkwise.chunkers.words:WordChunker",
        "tokens": "chunkwise.chunkers.tokens:TokenChunker",
        "sentences": "chunkwise.chunkers.sentences:SentenceChunker",
        "paragraphs": "chunkwise.chunkers.paragraphs:ParagraphChunker",
        "pages": "chunkwise.chunkers.pages:PageChunker",
        "recursive": "chunkwise.chunkers.recursive:RecursiveChunker",
        "sections": "chunkwise.chunkers.sections:SectionChunker",
        "structure": "chunkwise.chunkers.structure:StructureChunker",
        "code": "chunkwise.chunkers.code:CodeChunker",
        "semantic": "chunkwise.chunkers.semantic:SemanticChunker",
        "cluster": "chunkwise.chunkers.cluster:ClusterChunker",
        "parent_child": "chunkwise.chunkers.parent_child:ParentChildChunker",
        "raptor": "chunkwise.chunkers.raptor:RaptorChunker",
    },
    needs=("split(document)",),
    example="sentences(max_tokens=200, overlap=50)",
    libraries=("langchain", "llamaindex", "haystack"),
    by_library="chunkwise.chunkers.third_party_splitters:splitter_class",
)


class Chunker(Protocol):
    """What a strategy has to offer; a `limit` property (tokenizer, size) makes its hard limit checkable."""

    def split(self, document: Analyzed) -> Sequence[Span | Piece]: ...


_SIZES = ("max_tokens", "max_chars", "max_words")


class Strategy:
    """A chunker with the name and the label it goes by in tables, files and cache keys."""

    def __init__(self, name: str, chunker: Chunker) -> None:
        self.name = name
        self.chunker = chunker
        self.label = spec.describe(name, chunker, self._size_and_overlap())

    def __repr__(self) -> str:
        return f"<Strategy {self.label}>"

    def _size_and_overlap(self) -> dict[str, object]:
        """Parameters that every label shows, defaults resolved: what ran is never left to the reader's memory."""
        if self.name not in strategies.builtin:
            return {}
        names = {field.name for field in parameters.fields(type(self.chunker))}
        shown = {name: getattr(self.chunker, name) for name in _SIZES if name in names}
        return shown | dict.fromkeys(UNITS) | dict([self.repeated] if self.repeated else [])

    @property
    def limit(self) -> tuple[TokenizerLike, int] | None:
        result: tuple[TokenizerLike, int] | None = getattr(self.chunker, "limit", None)
        return result

    @property
    def code(self) -> str:
        """A fingerprint of its code; empty for our own, which change with the version alone."""
        return "" if self.name in strategies.builtin else code_fingerprint(type(self.chunker))

    @property
    def is_of_file(self) -> bool:
        """Whether it was named by a user's file, whose code may end the process it runs in."""
        return ".py:" in self.name

    @property
    def summary_limit(self) -> int | None:
        """The most tokens of a summary; None: it makes none, or says nothing about their size."""
        result: int | None = getattr(self.chunker, "summary_tokens", None)
        return result

    @property
    def asks_a_model(self) -> bool:
        """Whether it asks a language model, whose limits and answers stay in one process."""
        return hasattr(self.chunker, "llm")

    @property
    def in_segments(self) -> bool:
        """Whether it fills chunks from the left and looks ahead no further than their size: what a chunk is does not
        depend on what stands far from it."""
        return self.name in strategies.builtin and bool(getattr(self.chunker, "in_segments", False))

    @property
    def asks_for_overlap(self) -> bool:
        """Whether an overlap is named, and one can tell where it is missing."""
        return bool(getattr(self.chunker, "asks_for_overlap", False)) and self.limit is not None

    @property
    def repeated(self) -> tuple[str, int] | None:
        """The parameter that decides the overlap and the amount, defaults resolved; None: it has none."""
        known: tuple[str, int] | None = getattr(self.chunker, "repeated", None)
        given: object = getattr(self.chunker, "overlap", None)
        if known is not None:
            return known if known[1] else ("overlap", 0)  # nothing is nothing in any unit
        if self.limit is None:
            return None
        if isinstance(given, bool) or not isinstance(given, int | str):
            return None
        return "overlap", overlap_tokens(given, self.limit[1])

    @property
    def overlap_asked(self) -> int:
        """The overlap that is named, counted as the limit is; 0: none, or one in words or sentences."""
        overlap: int | str | None = getattr(self.chunker, "overlap", None)
        if self.limit is None or overlap is None or self.name not in strategies.builtin:
            return 0
        return overlap_tokens(overlap, self.limit[1])

    @property
    def unit(self) -> str:
        """What sizes are counted in: tokens, words or characters."""
        tokenizer = self.limit[0] if self.limit else DEFAULT_TOKENIZER
        return tokenizer if tokenizer in ("words", "characters") else "tokens"

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        """The chunks of one document, in order."""
        analyzed = document if isinstance(document, Analyzed) else Analyzed(document)
        if not analyzed.text or analyzed.text.isspace():
            return
        measure = analyzed.measure(self.limit[0] if self.limit else DEFAULT_TOKENIZER)
        source, size, outline = analyzed.document, len(analyzed.text), SectionLookup(analyzed)
        label = self.label
        contexts: dict[str, int] = {}  # a table's header stands beside many chunks
        made = Chunk.__new__  # called as the function it is: a class takes a third longer
        for index, piece in enumerate(self._pieces(analyzed)):
            start, end, context, count, parent, summary, summarized, level = piece
            if not 0 <= start < end <= size:
                raise BrokenContract(
                    f"the strategy {self.name} returned ({start}, {end}) for {source.id}, which has "
                    f"{counted(size, 'character')}; spans start at 0 or later, end after they start and within the text"
                )
            if level:
                check_summary(piece, f"the strategy {self.name}, for {source.id}")
                count = measure.tokenizer.count(summary) if count < 0 else count
            elif count < 0:
                count = measure.count(start, end)
            if context and context not in contexts:
                contexts[context] = measure.tokenizer.count(context)
            yield made(
                Chunk, source, index, start, end, count, context, label, outline, parent,
                summary, summarized, level, contexts[context] if context else 0,
            )  # fmt: skip

    def _pieces(self, analyzed: Analyzed) -> Sequence[Piece]:
        if self.name in strategies.builtin:
            return self.chunker.split(analyzed)  # type: ignore[return-value]
        return foreign_pieces(self.name, self.chunker, analyzed)


def get_strategy(strategy: str | Chunker | Strategy, **parameters_given: object) -> Strategy:
    """Make a strategy by name or from an object.

    Args:
        strategy: "name(parameter=value)", `./file.py:Class`, or an object with `split`.
        **parameters_given: Parameters that are not in the name.

    Example:
        >>> get_strategy("sentences", max_tokens=100, tokenizer=my_count)
    """
    trust_caller(strategy, parameters_given)
    if isinstance(strategy, Strategy):
        return strategy
    if not isinstance(strategy, str):
        return Strategy(_name_of(strategy), strategies.checked(strategy))
    return Strategy(spec.parse(strategy)[0], strategies.make(strategy, **parameters_given))


def _name_of(chunker: object) -> str:
    for name, target in strategies.builtin.items():
        if target == f"{type(chunker).__module__}:{type(chunker).__qualname__}":
            return name
    return type(chunker).__name__


def describe_strategies() -> list[dict[str, Any]]:
    """List every strategy with its parameters, defaults, bounds and purpose."""
    return [describe_strategy(name, cls) for name, cls in strategies.all().items()]

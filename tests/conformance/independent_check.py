"""The contract checked a second time, sharing no code with chunkwise: plain loops, tiktoken-free, offsets only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Protocol

import regex


class ChunkLike(Protocol):
    """What is checked of a chunk."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def token_count(self) -> int: ...


_CONJUNCT = regex.compile(
    r"(?=\p{InCB=Consonant})(?<=\p{InCB=Consonant}[\p{InCB=Extend}\p{InCB=Linker}]*\p{InCB=Linker}\p{InCB=Extend}*)"
)
"""Between consonants that a virama joins: one cluster by Unicode's rules, two by `\\X` of the `regex` module."""


@cache
def breaks(text: str) -> frozenset[int]:
    """Positions between what a reader sees as two characters."""
    found, position = {0}, 0
    for cluster in regex.findall(r"\X", text):
        position += len(cluster)
        found.add(position)
    return frozenset(found - {match.start() for match in _CONJUNCT.finditer(text)})


@cache
def counter(tokenizer: str) -> Callable[[str], int]:
    """How long a text is by a tokenizer's name."""
    if tokenizer == "characters":
        return len
    if tokenizer == "words":
        return lambda text: len(text.split())
    # Its compiled part alone: the package reads three vocabularies, which takes longer than these tests.
    package = find_spec("bpe_openai")
    assert package is not None
    spec = PathFinder.find_spec("bpe_openai._bindings", package.submodule_search_locations)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    encoding = module.tokenizer_for_encoding(tokenizer)
    return lambda text: len(encoding.encode(text))


def problems(
    text: str, chunks: Sequence[ChunkLike], limit: int, tokenizer: str, overlap: int = 0
) -> list[str]:
    """Every breach of the contract, one line each; none is what we want."""
    found: list[str] = []
    allowed, count = breaks(text), counter(tokenizer)
    covered = last = -1
    for number, chunk in enumerate(chunks):
        where = f"chunk {number} [{chunk.start}:{chunk.end}]"
        if chunk.text != text[chunk.start : chunk.end] or not chunk.text:
            found.append(f"{where} is not the text at its offsets, or empty")
        if chunk.start <= last:
            found.append(f"{where} does not start after the one before")
        if text[max(covered, 0) : max(chunk.start, covered, 0)].strip():
            found.append(f"{where} leaves text out before it")
        if chunk.start not in allowed or chunk.end not in allowed:
            found.append(f"{where} breaks a grapheme")
        if chunk.text.count("\ufffd") > text[chunk.start : chunk.end].count("\ufffd"):
            found.append(f"{where} has a replacement character")
        size = count(chunk.text)
        if size != chunk.token_count:
            found.append(f"{where} says {chunk.token_count} tokens and has {size}")
        if size > limit and any(chunk.start < place < chunk.end for place in allowed):
            found.append(f"{where} has {size} tokens, the limit is {limit}")
        if not overlap and chunk.start < covered:
            found.append(f"{where} repeats text without overlap")
        last, covered = chunk.start, max(covered, chunk.end)
    if text[max(covered, 0) :].strip():
        found.append("text is left out at the end")
    return found

"""Requests of a sharded index to the server of one shard, answered."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.bm25 import Bm25, CorpusStatistics
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.local.columns import term_table
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.metadata_conditions import (
    COMPARISONS,
    Clause,
    Combined,
    Condition,
    check_depth,
)
from chunkwise.retrieval.ranking import Ranking

NUMBER_BITS = 40
"""Of a number that tell chunks and documents of one shard; those above tell the shard."""
NUMBERS = (1 << NUMBER_BITS) - 1
_MOST = 1 << 20
"""Chunks a question, or numbers looked up at once."""


def answer_shard(index: object, call: str, given: str) -> str:
    """What a server of one part answers, JSON to JSON: `found`, and the `stamp` of the state that it is true of.

    Who asks may name the stamp of the state he means; where it is another by now, nothing is looked up.
    """
    if type(index) is not LocalIndex:
        raise InvalidParameter("a shard is an index in a folder, or in memory; this is another one")
    answers: dict[str, Callable[..., Any]] = {
        "about": _about,
        "frequencies": _frequencies,
        "words": _words,
        "nearest": _nearest,
        "chunks": lambda index, numbers: [list(each) for each in index.chunks(_numbers(numbers))],
        "vectors": lambda index, numbers: index.chunk_vectors(_numbers(numbers)).tolist(),
        "document": _document,
        "atoms": lambda index, number: [
            each.tolist() for each in index.atoms(*_numbers([number], index.document_count))
        ],
        "range": lambda index, number: index.chunk_range(*_numbers([number], index.document_count)),
        "ids": lambda index: index.ids(),
        "table": lambda index: [each.tolist() for each in index.chunk_table()[:4]],
        "stats": lambda index: asdict(index.stats()),
    }
    if call not in answers:
        raise InvalidParameter(f"call is {call!r:.80}; allowed: {', '.join(answers)}")
    try:
        asked = json.loads(given)
        stamp = stamp_of(index)
        if asked.pop("stamp", None) not in (None, stamp):
            return json.dumps(
                {"stamp": stamp}
            )  # numbers and counts of another state mean nothing here
        return json.dumps({"stamp": stamp, "found": answers[call](index, **asked)})
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:  # fmt: skip
        raise InvalidParameter(f"a shard cannot {call} what it was given ({error})") from error


_stamps: WeakKeyDictionary[LocalIndex, str] = WeakKeyDictionary()


def stamp_of(index: LocalIndex) -> str:
    """Another one for every other content, whoever serves it and since when."""
    found = _stamps.get(index)
    if found is None:
        hashed = blake2b(repr(index.settings).encode("utf-8", "surrogatepass"), digest_size=16)
        for name in ("document.fingerprint", "id.bytes", "record.bytes"):
            hashed.update(np.ascontiguousarray(index.arrays[name]).data)
        found = _stamps[index] = hashed.hexdigest()
    return found


def _numbers(given: Sequence[int], most: int = NUMBERS) -> list[int]:
    if len(given) > _MOST or not all(type(each) is int and 0 <= each < most for each in given):
        raise ValueError("numbers of this part are needed")
    return list(given)


def _about(index: LocalIndex) -> dict[str, Any]:
    length = term_table(index.arrays, "chunk").length
    return {
        "settings": asdict(index.settings), "languages": list(index.languages), "documents": index.document_count,
        "chunks": index.chunk_count, "length": int(length.sum(dtype=np.int64)), "summaries": index.has_summaries,
    }  # fmt: skip


def _frequencies(index: LocalIndex, terms: list[int]) -> list[int]:
    """In how many chunks each term stands."""
    table = term_table(index.arrays, "chunk").columns(np.array(terms, np.uint64))
    found: list[int] = np.diff(table.first).tolist()
    return found


def _words(
    index: LocalIndex,
    terms: list[list[int]],
    depth: int,
    only: Mapping[str, Any],
    k1: float,
    b: float,
    rows: int,
    length: int,
    frequency: list[list[int]],
) -> list[Any]:
    terms_known, counts = zip(*frequency, strict=True) if frequency else ((), ())
    known = CorpusStatistics(rows, length, dict(zip(terms_known, counts, strict=True)))
    bm25 = Bm25(term_table(index.arrays, "chunk"), k1, b, known)
    asked = [np.array(each, np.uint64) for each in terms]
    return _sent(bm25.top(asked, min(depth, _MOST), index.allowed("chunk", _filter(only))))


def _nearest(
    index: LocalIndex, vectors: list[str], depth: int, only: Mapping[str, Any]
) -> list[Any]:
    rows = np.array([np.frombuffer(base64.b64decode(each), "<f4") for each in vectors], np.float32)
    return _sent(index.nearest(rows, min(depth, _MOST), _filter(only)))


def _document(index: LocalIndex, number: int) -> dict[str, Any]:
    (own,) = _numbers([number], index.document_count)
    found = {name: index.text_of(name, own) for name in ("id", "record", "text")}
    rows = index.block_rows(own).tolist()
    return {**found, "pages": list(index.document(own).pages), "blocks": rows}


def _sent(rankings: Sequence[Ranking]) -> list[Any]:
    return [[each.numbers.tolist(), each.scores.tolist()] for each in rankings]


def described(only: Filter) -> dict[str, Any]:
    return {
        "documents": only.documents, "sections": only.sections, "pages": only.pages, "level": only.level,
        "where": [_described_clause(each) for each in only.where],
    }  # fmt: skip


def _described_clause(clause: Clause) -> dict[str, Any]:
    if isinstance(clause, Condition):
        return {"key": clause.key, "comparison": clause.comparison, "values": clause.values}
    return {"how": clause.how, "clauses": [_described_clause(each) for each in clause.clauses]}


def _filter(given: Mapping[str, Any]) -> Filter:
    where = tuple(_clause(each) for each in given["where"])
    pages = given["pages"]
    return Filter(
        tuple(given["documents"]), tuple(given["sections"]), None if pages is None else tuple(pages),
        given["level"], where,
    )  # fmt: skip


def _clause(given: Mapping[str, Any], depth: int = 0) -> Clause:
    check_depth(depth)
    if given.get("how") in ("and", "or", "not"):
        return Combined(given["how"], tuple(_clause(each, depth + 1) for each in given["clauses"]))
    if given["comparison"] not in COMPARISONS or not isinstance(given["key"], str):
        raise ValueError(f"{given['comparison']!r:.40} is no comparison")
    return Condition(given["key"], given["comparison"], tuple(given["values"]))

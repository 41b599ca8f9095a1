"""A filter as a WHERE clause: patterns, words and pages are parameters, never part of the statement."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.postgres.loading import key_of
from chunkwise.retrieval.postgres.storable import readable

DOCUMENTS = "select number from {documents} where key = any(%(keys)s::bytea[]) or id ~ any(%(patterns)s::text[])"
SECTIONS = """select s.document, s.number from {sections} s where exists (
    select from unnest(%(words)s::text[]) as asked(word) where strpos(s.words, asked.word) > 0)"""

_PLACES = """select from generate_subscripts(c.place_pages, 1) as at where at %% 2 = 1
    and c.place_pages[at] <= %(last_page)s and c.place_pages[at + 1] >= %(first_page)s"""
"""Of a summary: a place on one of the pages asked for."""


class Condition(NamedTuple):
    """Stands behind `where`; holds for chunks `c`."""

    text: str
    values: dict[str, object]


def condition(only: Filter) -> Condition:
    clauses = ["true"]
    if only.documents:
        # As an array, so that it is looked up once and an index scan of vectors can go on.
        clauses.append(f"c.document = any(array({DOCUMENTS}))")
    if only.sections:
        clauses.append(
            f"exists (select from ({SECTIONS}) as asked"
            " where asked.document = c.document and asked.number = any(c.sections))"
        )
    if only.pages:
        clauses.append("c.first_page <= %(last_page)s and c.last_page >= %(first_page)s")
        clauses.append(f"(c.level = 0 or exists ({_PLACES}))")
    if only.level is not None:
        clauses.append("c.level = %(level)s")
    return Condition(" and ".join(clauses), values_of(only))


def values_of(only: Filter) -> dict[str, object]:
    """What a filter asks for, as the statements take it."""
    values: dict[str, object] = {}
    if only.documents:
        values["keys"] = [key_of(id) for id in only.documents]
        values["patterns"] = [as_regex(readable(pattern)) for pattern in only.documents]
    if only.sections:
        values["words"] = [readable(words.casefold()) for words in only.sections]
    if only.pages:
        values["first_page"], values["last_page"] = only.pages
    if only.level is not None:
        values["level"] = only.level
    return values


def as_regex(pattern: str) -> str:
    """What `fnmatch` means by a pattern, in the server's own language of patterns."""
    out, position = ["^"], 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            out += [".*"] * (out[-1] != ".*")
        elif char == "?":
            out.append(".")
        elif char == "[" and (close := _closing(pattern, position)) > 0:
            out.append(_bracket(pattern[position:close]))
            position = close + 1
        else:
            out.append(_literal(char))
    return "".join(out) + "$"


def _closing(pattern: str, position: int) -> int:
    """Where a set ends; its first character may be a closing bracket; -1: it does not, and `[` means itself."""
    behind = position + (pattern[position : position + 1] == "!")
    return pattern.find("]", behind + 1) if behind < len(pattern) else -1


def _bracket(inside: str) -> str:
    negated, inside = inside.startswith("!"), inside.removeprefix("!")
    parts, position = list[str](), 0
    while position < len(inside):
        if inside[position + 1 : position + 2] == "-" and position + 2 < len(inside):
            low, high = inside[position], inside[position + 2]
            if low <= high:  # `z-a` holds nothing
                parts.append(f"{_code(low)}-{_code(high)}")
            position += 3
        else:
            parts.append(_code(inside[position]))
            position += 1
    if not parts:
        return "." if negated else "(?!.)."
    return f"[{'^' * negated}{''.join(parts)}]"


def _literal(char: str) -> str:
    return char if re.match(r"\w", char, re.ASCII) else _code(char)


def _code(char: str) -> str:
    """By number: no character is special then."""
    return f"\\U{ord(char):08x}"

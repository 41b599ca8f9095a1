"""Conditions joined by and, or, not and brackets: the same documents as a naive filter takes, in every engine."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval import Index, index, open_index
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.metadata_conditions import (
    Combined,
    Condition,
    MetadataTable,
    conditions_of,
    parse_where,
)
from retrieval.postgres_server import new_url
from tables import cases
from untimed import is_linear

KEYS = ["year", "lang", "author.name", "tags", 'it\'s "so"', "draft"]
SQL = "x'; drop table documents; --"
VALUES: list[Any] = [2022, 2023.5, "2023", "de", "en", True, False, SQL, "", "a and b=1", "50%s"]
ROWS: list[dict[str, Any]] = [
    {},
    {"year": 2022, "lang": "de", "author": {"name": "de"}},
    {"year": "2023", "lang": "en", "tags": ["de", 2022], "draft": True},
    {"year": 2023.5, "lang": None, "tags": [], 'it\'s "so"': "x'; drop table documents; --"},
    {"lang": ["de", "en"], "draft": "false", "author": {"name": "a and b=1"}},
    {"year": 2024, "draft": False, "lang": "", 'it\'s "so"': "50%s"},
]


def naive(row: Mapping[str, Any], where: Any) -> bool:
    """What the language says, told once more, one document at a time."""
    if isinstance(where, list):
        return all(naive(row, each) for each in where)
    return all(_naive_of(row, key, said) for key, said in where.items())


def _naive_of(row: Mapping[str, Any], key: str, said: Any) -> bool:
    if key == "$and":
        return all(naive(row, each) for each in said)
    if key == "$or":
        return any(naive(row, each) for each in said)
    if key == "$not":
        return not naive(row, said)
    found: Any = row
    for part in [key] if key in row else key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return all(_compares(found, sign, value) for sign, value in said.items())


def _compares(found: Any, sign: str, value: Any) -> bool:
    own = found if isinstance(found, list) else [found]
    if sign == "exists":
        return (found is not None) == value
    if sign in ("=", "in"):
        return any(
            _same(one, other) for one in own for other in (value if sign == "in" else [value])
        )
    if sign in ("!=", "not in"):
        return not _compares(found, "=" if sign == "!=" else "in", value)
    return any(_before(one, value, sign) for one in own)


def _same(one: Any, other: Any) -> bool:
    if one is None:
        return False
    if isinstance(one, bool) or isinstance(other, bool):
        texts = [
            str(each).lower() if isinstance(each, bool | str) else "no" for each in (one, other)
        ]
        return texts[0] == texts[1] and texts[0] in ("true", "false")
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    with suppress(ValueError):
        return float(one) == float(other)
    return False


def _before(one: Any, other: Any, sign: str) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or one is None:
        return False
    pair: tuple[Any, Any] = (one, other)
    try:
        pair = float(one), float(other)
    except ValueError:
        if not (isinstance(one, str) and isinstance(other, str)):
            return False
    low, high = pair
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[sign]


_values = st.sampled_from(VALUES)
_said = st.one_of(
    st.dictionaries(st.sampled_from(["=", "!=", ">", ">=", "<", "<="]), _values, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from(["in", "not in"]), st.lists(_values, min_size=1, max_size=3), min_size=1),
    st.fixed_dictionaries({"exists": st.booleans()}),
)  # fmt: skip
_leaves = st.dictionaries(st.sampled_from(KEYS), _said, min_size=1, max_size=2)
clauses = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"$or": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$not": inner}),
    ),
    max_leaves=6,
)


@cache
def made(engine: str) -> Index:
    documents = [
        Document(f"d{number}", "Leave is approved.", metadata=row)
        for number, row in enumerate(ROWS)
    ]
    if engine == "memory":
        return index(documents, vectors="none")
    place = new_url() if engine == "postgres" else str(Path(tempfile.mkdtemp()) / "kb")
    index(documents, vectors="none", into=place)
    return open_index(place)


@pytest.mark.parametrize("engine", ["memory", "folder", "postgres"])
@given(clauses)
def test_every_engine_takes_what_a_naive_filter_takes(engine: str, where: Any) -> None:
    wanted = {f"d{number}" for number, row in enumerate(ROWS) if naive(row, where)}
    for asked in ({"k": 20, "retriever": "bm25"}, {"budget": 500}):
        hits = made(engine).search("leave", where=where, **asked)  # type: ignore[call-overload]
        assert {hit.doc_id for hit in hits} == wanted


_texts = st.one_of(
    st.sampled_from([each for each in VALUES if isinstance(each, str)]), st.text(max_size=4)
)
_typed = st.recursive(
    st.one_of(
        st.builds(lambda key, sign, value: Condition(key, sign, (value,)), st.sampled_from(KEYS),
                  st.sampled_from(["=", "!=", ">", ">=", "<", "<="]), _texts),
        st.builds(lambda key, sign, values: Condition(key, sign, tuple(values)), st.sampled_from(KEYS),
                  st.sampled_from(["in", "not in"]), st.lists(_texts, min_size=1, max_size=3)),
        st.builds(lambda key, there: Condition(key, "exists", (there,)), st.sampled_from(KEYS), st.booleans()),
    ),
    lambda inner: st.one_of(
        st.builds(lambda some: Combined("or", tuple(some)), st.lists(inner, min_size=2, max_size=3)),
        st.builds(lambda some: Combined("and", tuple(some)), st.lists(inner, min_size=2, max_size=3)),
        st.builds(lambda one: Combined("not", (one,)), inner),
    ),
    max_leaves=5,
)  # fmt: skip


@given(_typed)
def test_a_clause_is_written_so_that_it_can_be_typed(clause: Condition | Combined) -> None:
    table = MetadataTable([*ROWS, dict.fromkeys(KEYS, "")])
    again = table.mask([parse_where(str(clause))])
    assert np.array_equal(again, table.mask([clause])), str(clause)


@cases(
    "text, numbers",
    [
        ("year=2022 or lang=en", [1, 2, 4]),
        ("year>=2023 and (lang=en or draft=false)", [2, 5]),
        ("(year>=2023) and lang exists", [2, 5]),
        ("not year exists", [0, 4]),
        ("year not exists", [0, 4]),
        ("not (lang in de,en or year exists)", [0]),
        ("not lang in de,en and year exists", [3, 5]),
        ("lang=de OR lang=en AND draft=true", [1, 2, 4]),
        ("author exists", [1, 4]),
        ('author.name="a and b=1"', [4]),
        ("nothing exists", []),
    ],
)
def test_expressions_are_read_as_they_are_typed(text: str, numbers: list[int]) -> None:
    assert np.flatnonzero(MetadataTable(ROWS).mask([parse_where(text)])).tolist() == numbers


@cases(
    "text, value",
    [
        ('note="rock and roll"', "rock and roll"),
        ("note=foo(bar) so on", "foo(bar) so on"),
        ("note=:( and lang=de", ":( and lang=de"),
        ("note=who exists", "who exists"),
        ('note="a or b=1"', "a or b=1"),
    ],
)
def test_a_value_with_a_joining_word_is_quoted(text: str, value: str) -> None:
    assert parse_where(text) == Condition("note", "=", (value,))


@cases(
    "given_where, said",
    [
        (
            "(year=2024",
            "unclosed parenthesis: put keys and values with parentheses in double quotes",
        ),
        ("note=rock and roll", "expected a key, a comparison and a value"),
        ("(" * 60 + "a=1" + ")" * 60, "nested more than"),
        ("not " * 60 + "a=1", "nested more than"),
        ({"$or": []}, "$or takes a list"),
        ({"$or": {"a": 1}}, "$or takes a list"),
        ({"$or": [{}]}, "empty $and, $or or $not"),
        ({"a": {"exists": 1}}, "by 'exists', which takes True or False"),
        ({"$not": []}, "empty $and, $or or $not"),
    ],
)
def test_what_is_no_expression_is_refused(given_where: Any, said: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Filter(where=given_where)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_data_nested_too_deep_are_refused() -> None:
    where: Any = {"a": 1}
    for _ in range(100):
        where = {"$not": where}
    with pytest.raises(InvalidParameter, match="nested more than"):
        conditions_of(where)


def test_an_unknown_key_is_an_error_wherever_it_stands() -> None:
    for where in ("year=1 or yaer=2", "not yaer=2", {"$or": [{"yaer": 1}, {"year": 1}]}):
        with pytest.raises(InvalidParameter, match="did you mean year"):
            MetadataTable(ROWS).mask(conditions_of(where))


_signs = st.sampled_from(
    ["a=1", " and ", " or ", "not ", "(", ")", '"', "b in c,d", " exists", "x", "\\"]
)


@given(st.lists(_signs, max_size=12))
def test_any_text_is_an_expression_or_refused(parts: list[str]) -> None:
    with suppress(InvalidParameter):
        assert str(parse_where("".join(parts)))


def test_long_expressions_take_time_in_proportion() -> None:
    for sign in ("a=1 and ", "a and ", "(", "not ", ' "', "a=1 or (b=2) ", " exists", "and or "):
        is_linear(lambda size, sign=sign: _tried(sign * size), 400)  # type: ignore[misc]


def _tried(text: str) -> None:
    with suppress(InvalidParameter):
        parse_where(text)

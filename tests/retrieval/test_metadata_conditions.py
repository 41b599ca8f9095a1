"""Conditions on metadata: how they are written, what they take, the same in every engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Block, Document
from chunkwise.core.document import PageBoxes
from chunkwise.retrieval import Index, index, open_index
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexed_document import metadata_of, record_of
from chunkwise.retrieval.metadata_conditions import (
    Condition,
    MetadataTable,
    conditions_of,
    parse_condition,
)
from retrieval.postgres_server import STRATEGY, new_url
from retrieval.tiny_embedder import Tiny
from tables import cases
from untimed import is_linear

SQL = "x'; drop table documents; --"
LONG = "k" * 5_000
METADATA: dict[str, dict[str, Any]] = {
    "a": {"year": 2024, "lang": "de", "price": 9.5, "tags": ["new", "sale"], "draft": False},
    "b": {"year": 2023, "lang": "en", "price": 10, "tags": [], "draft": True, "n": None},
    "c": {"year": "2024", "lang": "fr", "day": "2024-05-01", "author": {"name": "Ann", "born": 1970}},
    "d": {SQL: SQL, 'quo"te': "it's \"so\"", "日本": "東京", LONG: LONG, "nul": "a\0b", "half": "\ud800"},
    "e": {"blocks": [1, 2], "day": "2023-12-31", "%(taken)s": "%s {documents}", "a.b": 1, "a": {"b": 2}},
    "f": {},
    "g": {"boxes": "b", "blocks": [3]},
}  # fmt: skip
DOCUMENTS = [
    Document(
        id,
        f"Leave is approved by {id}. Leave is paid.",
        metadata=known,
        blocks=(Block("paragraph", 0, 23),) if id in "bdg" else None,
        boxes=PageBoxes.of([(0, 23, (1, 0.0, 0.0, 9.0, 9.0))]) if id in "cdg" else None,
    )
    for id, known in METADATA.items()
]
CASES: list[tuple[object, str]] = [
    ("year=2024", "ac"),
    ("year = 2024", "ac"),
    ("year==2024.0", "a"),  # of the text 2024 it is another text
    ({"year": 2024}, "ac"),
    ({"year": "2024"}, "ac"),
    ({"year": np.int64(2024)}, "ac"),
    ("year!=2024", "bdefg"),
    ("lang in de,en", "ab"),
    ("lang in  de , en", "ab"),
    ('lang in "de"', "a"),
    ({"lang": ["de", "en"]}, "ab"),
    ({"lang": {"not in": ("de", "en")}}, "cdefg"),
    ("lang not in de,en", "cdefg"),
    ("price>=10", "b"),
    ("price < 10", "a"),
    ({"price": {">": 9, "<=": 9.5}}, "a"),
    ("price>cheap", ""),
    ("year>2023", "ac"),
    ("tags=sale", "a"),
    ("tags in sale,old", "a"),
    ("tags!=sale", "bcdefg"),
    ("draft=true", "b"),
    ({"draft": False}, "a"),
    ({"draft": 0}, ""),
    ({"n": None}, "abcdefg"),
    ({"draft": {"!=": None}}, "ab"),
    ("day>=2024", "c"),
    ({"day": {"<": date(2024, 1, 1)}}, "e"),
    ({"day": {">": datetime(2024, 1, 1)}}, "c"),
    ("author.name=Ann", "c"),
    ("author.born<1980", "c"),
    ("a.b=1", "e"),
    ("blocks=2", "e"),
    ("boxes=b", "g"),
    (["year=2024", "lang=de"], "a"),
    ({SQL: SQL}, "d"),
    ({SQL: {"!=": SQL}}, "abcefg"),
    ({"year": SQL}, ""),
    ({'quo"te': "it's \"so\""}, "d"),
    ('"quo\\"te"="it\'s \\"so\\""', "d"),
    ("日本=東京", "d"),
    ({LONG: LONG}, "d"),
    ({"nul": "a\0b"}, "d"),
    ({"half": "\ud800"}, "d"),
    ({"%(taken)s": "%s {documents}"}, "e"),
]  # fmt: skip


@cache
def made(engine: str) -> Index:
    if engine == "memory":
        return index(DOCUMENTS, STRATEGY, embedder=Tiny(), vectors="late")
    place = new_url() if engine == "postgres" else str(_folder())
    index(DOCUMENTS, STRATEGY, embedder=Tiny(), vectors="late", into=place)
    return open_index(place, embedder=Tiny())


@cache
def _folder() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp()) / "kb"


ENGINES = pytest.mark.parametrize("engine", ["memory", "folder", "postgres"])


@ENGINES
@pytest.mark.parametrize(("where", "ids"), CASES)
def test_the_documents_that_meet_a_condition_are_found(engine: str, where: Any, ids: str) -> None:
    hits = made(engine).search("who approves leave", k=20, retriever="bm25", where=where)
    assert sorted({hit.doc_id for hit in hits}) == sorted(ids)


@ENGINES
@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid", "multiscale"])
def test_every_retriever_holds_to_it(engine: str, retriever: str) -> None:
    limit: dict[str, Any] = {"budget": 500} if retriever == "multiscale" else {"k": 20}
    found = made(engine).search(
        "leave is approved", retriever=retriever, where="lang in de,en and year>=2024", **limit
    )
    assert {hit.doc_id for hit in found} == {"a"}


@ENGINES
def test_hits_and_chunks_have_the_metadata(engine: str) -> None:
    (hit, *_) = made(engine).search("leave", where={"lang": "de"})
    assert hit.metadata == METADATA["a"] == hit.to_dict()["metadata"]
    chunk = next(each for each in made(engine).chunks() if each.doc_id == "a")
    assert chunk.metadata == METADATA["a"] == chunk.to_dict()["metadata"]
    json.dumps(hit.to_dict())


@ENGINES
def test_an_unknown_key_lists_those_there_are(engine: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        made(engine).search("leave", where={"yaer": 2024})
    said = str(caught.value)
    assert said.startswith("no document has the metadata 'yaer'; did you mean year? known: ")
    assert "lang" in said
    assert "author.name" in said
    assert len(said) < 1_000
    assert "\n" not in said


@pytest.mark.usefixtures("large_inputs")
def test_the_line_about_an_unknown_key_is_short_whatever_the_keys_are() -> None:
    rows = [{f"a{number}": 1, "x\ny\x1b[2J" * number: 2} for number in range(3_000)]
    for key in ("a", "b", "q\n", "k" * 10_000):
        with pytest.raises(InvalidParameter) as caught:
            MetadataTable(rows).mask(conditions_of({key: 1}))
        said = str(caught.value)
        assert len(said) < 2_000
        assert said.isprintable()


def test_an_index_without_metadata_says_so() -> None:
    plain = index([Document("a", "Leave is paid.")], vectors="none")
    with pytest.raises(InvalidParameter, match="no document of this index has metadata"):
        plain.search("leave", where="year=2024")


def test_a_record_that_was_written_without_metadata_has_none() -> None:
    assert metadata_of('{"title": "", "source": ""}') == {}
    assert metadata_of(record_of(DOCUMENTS[0])) == METADATA["a"]


@pytest.mark.parametrize("engine", ["folder", "postgres"])
def test_what_changes_in_the_metadata_alone_is_seen(engine: str, tmp_path: Path) -> None:
    place = new_url() if engine == "postgres" else str(tmp_path / "kb")
    kb = index([Document("a", "Leave is paid.", metadata={"year": 1})], vectors="none", into=place)
    assert len(kb.search("leave", where={"year": 1})) == 1
    changed = Document("a", "Leave is paid.", metadata={"year": 2})
    other = index([changed], vectors="none", into=place)
    assert len(other.search("leave", where={"year": 2})) == 1
    if engine == "postgres":  # an index that was open before sees it with the next question
        assert len(kb.search("leave", where={"year": 2})) == 1


def test_what_is_true_is_not_one() -> None:
    kb = index(
        [Document("a", "Leave.", metadata={"n": 1}), Document("b", "Leave.", metadata={"n": True})],
        vectors="none",
    )
    assert [hit.doc_id for hit in kb.search("leave", where={"n": 1})] == ["a"]
    assert [hit.doc_id for hit in kb.search("leave", where={"n": True})] == ["b"]
    assert Filter(where={"n": 1}) != Filter(where={"n": True})  # type: ignore[arg-type]


@cases(
    "given, said",
    [
        ("year", "where is 'year'; expected a key, a comparison and a value, such as year=2024"),
        ("", "where is ''"),
        ("=3", "where is '=3'"),
        ("lang in ", "where is 'lang in '"),
        ("x" * 500, "…'; expected a key"),
        (3, "where is int; expected conditions"),
        (b"a=b", "where is bytes"),
        ([3], "where contains int"),
        ({3: 4}, "where has the key 3"),
        ({"a": {}}, "where has no condition for"),
        ({"a": {"~": 1}}, "where compares 'a' by '~'; allowed: =, !=, >"),
        ({"a": {"in": 1}}, "by 'in', which takes a list of values"),
        ({"a": {">": [1]}}, "by '>', which takes one value"),
        ({"a": object()}, "where compares 'a' with object"),
        ({"a": [["b"]]}, "where compares 'a' with list"),
    ],
)
def test_what_is_no_condition_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Filter(where=given)
    assert said in str(caught.value)


def test_conditions_are_read_as_they_are_typed() -> None:
    assert parse_condition("note=made in china") == Condition("note", "=", ("made in china",))
    assert parse_condition("note in a=b,c") == Condition("note", "in", ("a=b", "c"))
    assert parse_condition('"my key" not  in "a, b",c') == Condition(
        "my key", "not in", ("a, b", "c")
    )
    assert parse_condition('"a=b"<= 3') == Condition("a=b", "<=", ("3",))
    assert parse_condition('"a" b=3') == Condition('"a" b', "=", ("3",))
    assert parse_condition("lang=") == Condition("lang", "=", ("",))
    assert str(parse_condition("price >= 10")) == "price>=10"
    assert str(parse_condition("lang not in de,en")) == "lang not in de,en"
    assert bool(Filter(where="a=1"))  # type: ignore[arg-type]


@given(st.text())
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    with suppress(InvalidParameter):
        assert parse_condition(text).key


_plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(
    st.lists(st.dictionaries(st.text(max_size=3), _plain | st.lists(_plain)), min_size=1),
    st.sampled_from(["=", "!=", ">", ">=", "<", "<="]),
    _plain,
)
def test_any_value_can_be_compared(
    rows: list[Mapping[str, Any]], comparison: str, value: Any
) -> None:
    table = MetadataTable(rows)
    for key in rows[0]:
        taken = table.mask(conditions_of({key: {comparison: value}}))
        opposite = {"=": "!=", "!=": "="}.get(comparison)
        if opposite:
            assert (taken ^ table.mask(conditions_of({key: {opposite: value}}))).all()


def test_long_conditions_take_time_in_proportion() -> None:
    for sign in (" ", "=", '"', " in", "\\", '"a', "not "):
        is_linear(lambda size, sign=sign: _tried(sign * size), 2_000)  # type: ignore[misc]


def _tried(text: str) -> None:
    with suppress(InvalidParameter):
        parse_condition(text)


@cases("text", ["price>>3", "price<>3", "price=>3", "price > > 3", "price==!3", "price===3"])
def test_two_comparisons_in_a_row_are_a_slip(text: str) -> None:
    with pytest.raises(InvalidParameter, match="in double quotes"):
        parse_condition(text)


def test_a_value_in_quotes_may_begin_with_a_sign() -> None:
    assert parse_condition('note=">3"') == Condition("note", "=", (">3",))
    assert parse_condition("note in >3,<4") == Condition("note", "in", (">3", "<4"))

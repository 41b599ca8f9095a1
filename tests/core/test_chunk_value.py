"""A chunk is a frozen value with defaults, though its fields are set by hand."""

import json
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given as tried_with
from hypothesis import strategies as st

import chunkwise
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.write_chunks import row_of
from chunkwise.core import Chunk, Document, Fact, Hit, Query, Reference, Span
from chunkwise.text.tokens.tokenizers import get_tokenizer

DOCUMENT = Document("d", "One two three.")


def test_every_field_is_set_to_what_was_given() -> None:
    given = {
        "document": DOCUMENT, "index": 1, "start": 4, "end": 7, "token_count": 2, "context": "c",
        "strategy": "s", "outline": None, "parent": Span(0, 14), "summary": "m",
        "summarized": (Span(4, 7),), "level": 1, "context_token_count": 5,
    }  # fmt: skip
    assert [each.name for each in fields(Chunk)] == list(given)
    for chunk in (Chunk(**given), Chunk(*given.values())):  # type: ignore[arg-type]
        assert {name: getattr(chunk, name) for name in given} == given


def test_fields_left_out_have_the_defaults_the_class_declares() -> None:
    chunk = Chunk(DOCUMENT, 0, 0, 3, 1)
    for each in fields(Chunk)[5:]:
        assert getattr(chunk, each.name) == each.default


def test_a_chunk_is_frozen_and_compared_by_value() -> None:
    chunk = Chunk(DOCUMENT, 0, 0, 3, 1)
    with pytest.raises(FrozenInstanceError):
        chunk.start = 1  # type: ignore[misc]
    assert chunk == Chunk(DOCUMENT, 0, 0, 3, 1) != replace(chunk, end=7)
    assert hash(chunk) == hash(Chunk(DOCUMENT, 0, 0, 3, 1))
    assert pickle.loads(pickle.dumps(chunk)) == chunk


def test_a_console_shows_where_a_chunk_is_and_how_it_begins() -> None:
    assert repr(Chunk(DOCUMENT, 2, 4, 14, 3)) == (
        "Chunk(id='d::2', start=4, end=14, token_count=3, text='two three.')"
    )
    long = Document("l", "The lamp\n\n  is \x1b[31mlit. " * 1000)
    shown = repr(Chunk(long, 0, 0, len(long.text), 9000, parent=Span(0, 5)))
    assert "parent=Span(start=0, end=5), text='The lamp is \\x1b[31mlit. The lamp is" in shown
    assert shown.endswith("…')")
    assert len(shown) < 200
    summary = Chunk(DOCUMENT, 3, 0, 14, 2, summary="In short.", summarized=(Span(0, 14),), level=1)
    assert repr(summary).endswith("token_count=2, level=1, text='In short.')")


def test_a_chunk_as_plain_values_is_ready_for_json() -> None:
    chunk = chunkwise.chunk_text("# A\n\nOne. Two.", "sentences(max_tokens=50)", format="markdown")[
        0
    ]
    values = json.loads(json.dumps(chunk.to_dict()))
    assert values["text"] == chunk.text
    assert (values["id"], values["start"], values["end"]) == (chunk.id, chunk.start, chunk.end)
    assert values["spans"] == [[chunk.start, chunk.end]]
    assert values["section"] == "A"


def test_a_notebook_shows_hostile_text_as_text() -> None:
    hostile = "<script>alert(1)</script> {{ 7*7 }}"
    chunk = chunkwise.chunk_text(hostile, "characters(size=100)", id="<b>")[0]
    hit = chunkwise.Hit(chunk.document, 0, len(hostile), 0.5, 1, 9)
    for shown in (chunk._repr_html_(), hit._repr_html_()):
        assert "<script>" not in shown
        assert "<b>" not in shown
        assert "&lt;script&gt;" in shown


@tried_with(st.text(max_size=2_000))
def test_a_console_shows_a_hit_in_one_short_line(text: str) -> None:
    hit = chunkwise.Hit(Document("d", text), 0, len(text), 0.25, 3, 7)
    assert "\n" not in repr(hit)
    assert len(repr(hit)) < 400
    assert repr(hit).startswith("Hit(rank=3, score=0.25, doc_id='d', start=0")
    assert json.loads(json.dumps(hit.to_dict()))["text"] == text


TABLE = "| name | out |\n|---|---|\n" + "".join(f"| boat {n} | yes |\n" for n in range(40))


def test_plain_values_have_the_columns_of_a_file_of_chunks() -> None:
    chunk = chunkwise.chunk_text(TABLE, "structure(max_tokens=60)", format="markdown")[1]
    assert list(chunk.to_dict()) == list(row_of(chunk))


def test_what_stands_beside_a_chunk_is_counted_as_the_chunk_is() -> None:
    def letters(text: str) -> int:
        return len(text)

    for tokenizer in ("o200k_base", "words", letters):
        strategy = get_strategy("structure", max_tokens=200, tokenizer=tokenizer)
        count = get_tokenizer(tokenizer).count
        cut = chunkwise.chunk_text(TABLE, strategy, format="markdown")
        assert any(each.context for each in cut)
        for each in cut:
            assert each.context_token_count == count(each.context)
            assert each.to_dict()["context_token_count"] == row_of(each)["context_token_count"]
            assert row_of(each)["context_token_count"] == each.context_token_count
            assert pickle.loads(pickle.dumps(each)) == each


def test_a_context_of_a_chunk_made_by_hand_is_counted_when_it_is_written() -> None:
    chunk = Chunk(DOCUMENT, 0, 0, 3, 1, context="Of two words", strategy="words(max_words=9)")
    assert chunk.to_dict()["context_token_count"] is None
    assert row_of(chunk)["context_token_count"] == 3


def test_metadata_of_any_kind_is_ready_for_json() -> None:
    given = {
        "on": date(2024, 5, 1),
        "at": datetime(2024, 5, 1, 9, 30),
        "tags": ("a", {"b"}),
        "by": {1: Path("x")},
    }
    document = Document("d.txt", "One lamp is lit.", metadata=given)
    (chunk,) = chunkwise.chunk(document)
    hit = Hit(document, 0, 3, 1.0, 1, 1)
    plain = {
        "on": "2024-05-01",
        "at": "2024-05-01T09:30:00",
        "tags": ["a", ["b"]],
        "by": {"1": "x"},
    }
    for each in (document, chunk, hit):
        assert json.loads(json.dumps(each.to_dict()))["metadata"] == plain
    assert json.loads(row_of(chunk)["metadata"]) == plain


def test_a_question_is_ready_for_json() -> None:
    query = Query("q", "Where?", (Reference("d.txt", 0, 3),), facts=(Fact("lamp"),))
    found = json.loads(json.dumps(query.to_dict()))
    assert (found["id"], found["references"][0]["doc_id"]) == ("q", "d.txt")

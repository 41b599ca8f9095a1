"""A generated question as a row of a test set, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chunkwise.core import Document, Fact, Passage, Query, Reference
from chunkwise.generating.rows_file import Row

GENERATED = "generated"
"""The field that says who wrote a question, and by which prompt."""
REVIEW = "review"
"""The field that says what a person decided: accepted or edited."""


def row_of(query: Query, documents: Mapping[str, Document], made: Mapping[str, str]) -> Row:
    """With the text at every place, by which it is found again when a document has changed."""
    row: Row = {"query_id": query.id, "query": query.text}
    if query.answer is not None:
        row["answer"] = query.answer
    row["references"] = [_reference(each, documents) for each in query.references]
    if query.facts:
        row["facts"] = [{"fact": fact.text} for fact in query.facts]
    row["types"] = list(query.types)
    row[GENERATED] = dict(made)
    return row


def query_of(row: Mapping[str, Any]) -> Query:
    """Of a row that `row_of` made; edited ones keep their places."""
    return Query(
        str(row["query_id"]),
        str(row["query"]),
        tuple(_place(each) for each in row.get("references", ())),
        row.get("answer"),
        tuple(Fact(str(each["fact"])) for each in row.get("facts", ())),
        tuple(map(str, row.get("types", ()))),
    )


def _reference(reference: Reference, documents: Mapping[str, Document]) -> Row:
    first, *others = (
        {**place._asdict(), "text": documents[place.doc_id].text[place.start : place.end]}
        for place in reference.places
    )
    return {**first, "alternatives": others} if others else first


def _place(row: Mapping[str, Any]) -> Reference:
    others = tuple(
        Passage(each["doc_id"], each["start"], each["end"]) for each in row.get("alternatives", ())
    )
    return Reference(row["doc_id"], row["start"], row["end"], others)

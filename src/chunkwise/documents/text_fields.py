"""Which fields of a record hold its text, id and title."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chunkwise.records.fields import field_of, listed

TEXT_FIELDS = (
    "text", "content", "contents", "body", "page_content", "passage", "passage_text", "document",
    "document_text", "doc_text", "full_text", "raw_text", "article", "chunk", "markdown",
)  # fmt: skip
ID_FIELDS = (
    "doc_id", "_id", "id", "docid", "document_id", "docno", "passage_id", "pid", "uid", "uuid",
    "key",
)  # fmt: skip
TITLE_FIELDS = ("title", "headline", "subject", "name")
_CHUNK_FIELDS = frozenset("id doc_id index start end text token_count strategy".split())
_QUESTION_FIELDS = ("query", "question", "user_input")
_GOLD_FIELDS = (
    "references", "reference_spans", "relevant_spans", "spans", "evidence", "snippets", "reference",
    "relevant_text", "relevant_texts", "relevant_passage", "relevant_passages", "relevant", "quote",
    "quotes", "reference_text", "reference_texts", "reference_contexts", "expected", "expected_answer",
    "expected_facts", "expected_entities", "facts", "key_facts", "ground_truth", "ground_truths",
    "reference_answer", "gold_answer", "gt_answer", "retrieval_gt", "labels", "judgements", "judgments",
)  # fmt: skip
"""What says how a question is to be answered; not `answer`: a list of questions and answers may be what is searched."""


def text_field_of(record: Mapping[str, object], chosen: str | None) -> str | None:
    """The field of the text: of the usual names the first that holds one, else the first."""
    texts = [name for name, value in record.items() if isinstance(value, str)]
    return field_of(texts, TEXT_FIELDS, chosen) or field_of(record, TEXT_FIELDS, chosen)


def has_text(record: object, chosen: str | None) -> bool:
    """Whether this is a record of a corpus at all."""
    if not isinstance(record, Mapping):
        return False
    name = text_field_of(record, chosen)
    return name is not None and isinstance(record[name], str)


def is_blank(text: str) -> bool:
    """Whether a text is nothing but white space and a byte order mark."""
    text = text.lstrip("\ufeff")
    return not text or text.isspace()


def is_chunk(names: Iterable[str]) -> bool:
    """Whether chunkwise wrote this record itself."""
    return _CHUNK_FIELDS.issubset(names)


def are_questions(records: Iterable[object]) -> bool:
    """Whether all of these are questions without a text, and half of them or more say what is expected."""
    expected = count = 0
    for record in records:
        if not isinstance(record, Mapping) or field_of(record, TEXT_FIELDS, None) is not None:
            return False
        question = field_of(record, _QUESTION_FIELDS, None)
        if question is None or not isinstance(record[question], str):
            return False
        count += 1
        expected += field_of(record, _GOLD_FIELDS, None) is not None
    return count > 0 and expected * 2 >= count


QUESTIONS = (
    "looks like test questions, which are no documents; name the field of the text with --text-field to read it as "
    "documents"
)


def no_text(record: Mapping[str, object], chosen: str | None) -> str:
    """Why a record is no document, and what to do."""
    name = text_field_of(record, chosen)
    if name is not None:
        return f"its {name!r} is {_kind(record[name])}, not a text"
    if chosen is not None:
        return f"no text in its field {chosen!r}"
    return f"no text field among {listed(record)}; name it with --text-field"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else "a number"

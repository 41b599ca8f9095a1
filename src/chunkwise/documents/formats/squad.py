"""The texts of a SQuAD file: an article is one document, its paragraphs joined by an empty line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from chunkwise.core import Block, Document
from chunkwise.documents.document_ids import Ids
from chunkwise.records.fields import WrongField, items, optional_string, record_of, string

_BETWEEN = "\n\n"


class SquadParagraph(NamedTuple):
    """A paragraph, and where it stands in the document its article makes."""

    where: str
    document: str
    start: int
    context: str
    questions: object


class BadSquadEntry(NamedTuple):
    """An article or a paragraph that is none."""

    where: str
    reason: str


def squad_articles(value: object) -> list[object] | None:
    """Of parsed JSON, `{"data": [{"title", "paragraphs": [{"context", "qas"}]}]}`; None: it is no SQuAD."""
    articles = value.get("data") if isinstance(value, Mapping) else None
    if not isinstance(articles, list):
        return None
    is_squad = any(
        isinstance(paragraph, Mapping) and isinstance(paragraph.get("context"), str)
        for article in articles
        if isinstance(article, Mapping) and isinstance(article.get("paragraphs"), list)
        for paragraph in article["paragraphs"]
    )
    return articles if is_squad else None


def squad_paragraphs(articles: list[object], name: str) -> Iterator[SquadParagraph | BadSquadEntry]:
    """Every paragraph in its order; `name` is what messages call the file."""
    ids = Ids()
    for number, article in enumerate(articles, 1):
        where = f"{name}, article {number}"
        try:
            record = record_of(article, "the article")
            title = optional_string(record, "title")
            paragraphs = items(record.get("paragraphs"), "paragraphs")
        except WrongField as error:
            yield BadSquadEntry(where, str(error))
            continue
        id = ids.distinct((title or "").strip() or f"article {number}", "")
        start = 0
        for at, value in enumerate(paragraphs, 1):
            place = f"{where}, paragraph {at}"
            try:
                paragraph = record_of(value, "the paragraph")
                context = string(paragraph, "context")
            except WrongField as error:
                yield BadSquadEntry(place, str(error))
                continue
            yield SquadParagraph(place, id, start, context, paragraph.get("qas"))
            start += len(context) + len(_BETWEEN)


def squad_documents(articles: list[object], origin: str) -> Iterator[Document | BadSquadEntry]:
    """The articles; each paragraph is declared as a block."""
    gathered: dict[str, list[SquadParagraph]] = {}
    for paragraph in squad_paragraphs(articles, origin):
        if isinstance(paragraph, BadSquadEntry):
            yield paragraph
        else:
            gathered.setdefault(paragraph.document, []).append(paragraph)
    for id, paragraphs in gathered.items():
        blocks = (
            Block("paragraph", row.start, row.start + len(row.context))
            for row in paragraphs
            if row.context
        )
        text = _BETWEEN.join(row.context for row in paragraphs)
        yield Document(id, text, title=id, source=origin, blocks=tuple(blocks))

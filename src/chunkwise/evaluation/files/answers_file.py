"""Answers of a system, with what they cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.answering.answered import NOT_FOUND
from chunkwise.base.errors import ChunkwiseError
from chunkwise.chunkers.given.stated_place import (
    OnBad,
    document_of,
    read_rows,
    stated_place,
)
from chunkwise.core import Document, Query
from chunkwise.documents.document_names import DocumentNames
from chunkwise.evaluation.files.named_questions import Questions
from chunkwise.metrics.answers.answer import Answer, AnswerCitation
from chunkwise.metrics.claims.plain_form import plain_form
from chunkwise.records.fields import kind, string_in

_TEXTS = ("answer", "response", "generated_answer", "output", "text")
_CLAIMS = ("claim", "sentence", "statement")
_QUOTES = ("quote", "cited_text", "text", "page_content")


class _Known:
    def __init__(self, documents: Sequence[Document]) -> None:
        self.ids = [document.id for document in documents]
        self.names = DocumentNames(documents)


def read_answers(
    path: str, queries: Sequence[Query], documents: Sequence[Document], on_bad: OnBad
) -> dict[str, Answer]:
    """Answers by the id of their question; of two for one question the first is kept.

    A record has query_id (or the question's text), answer and, if it likes, citations: records with claim, doc_id and
    start and end or a quote; `found` false says that the documents do not answer the question. What cannot be used is a
    line to `on_bad`.
    """
    questions, known = Questions(queries), _Known(documents)
    found: dict[str, Answer] = {}
    seen = False
    for where, fields in read_rows(path, on_bad, ("answers", "rows", "data")):
        seen = True
        meant = questions.find(fields, by_own_id=True)
        answer = next((each for name in _TEXTS if isinstance(each := fields.get(name), str)), None)
        if isinstance(meant, str):
            on_bad(f"{where}: {meant}")
        elif answer is None:
            on_bad(f"{where}: no answer; name it {', '.join(_TEXTS)}")
        else:
            citations = _citations(fields.get("citations"), where, known, on_bad)
            refusal = not citations and _is_refusal(answer, fields.get("found"))
            for question in meant:
                id = queries[question].id
                if id in found:
                    on_bad(f"{where}: a second answer to {id!r}; the first is kept")
                else:
                    found[id] = Answer(answer, citations, refusal)
    if not seen:
        raise ChunkwiseError(f"no answer in {path}; an answer is a record with query_id and answer")
    return found


def _is_refusal(answer: str, found: object) -> bool:
    """Whether it is the answer of `chunkwise ask` to what the documents do not say; an empty one is none at all."""
    return bool(answer.strip()) and (found is False or plain_form(answer) == plain_form(NOT_FOUND))


def _citations(
    given: object, where: str, known: _Known, on_bad: OnBad
) -> tuple[AnswerCitation, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        on_bad(f"{where}: its citations are {kind(given)}, not a list; they are left out")
        return ()
    found = []
    for at, each in enumerate(given, 1):
        if isinstance(each, str):
            each = {"doc_id": each}
        if isinstance(each, Mapping):
            found.append(_citation(each, known))
        else:
            on_bad(f"{where}, citation {at}: a record is needed, this is {kind(each)}")
    return tuple(found)


def _citation(fields: Mapping[str, object], known: _Known) -> AnswerCitation:
    """A document that is not there keeps its name: that it leads nowhere is for the metrics to say."""
    said = stated_place(fields)
    number = document_of(said, known.names)
    doc_id = known.ids[number] if isinstance(number, int) else next(iter(said.names), "")
    claim, quote = string_in(fields, *_CLAIMS) or "", string_in(fields, *_QUOTES) or ""
    return AnswerCitation(claim, doc_id, said.start, said.end, quote)

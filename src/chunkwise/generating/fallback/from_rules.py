"""All questions that rules find in the documents, spread over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from chunkwise.core import Query
from chunkwise.generating.candidate import question_id, words_in
from chunkwise.generating.fallback.amounts import amounts
from chunkwise.generating.fallback.definitions import definitions
from chunkwise.generating.fallback.headings import headings
from chunkwise.generating.fallback.plain_question import PlainQuestion
from chunkwise.generating.ground import Ground, SourcePassage
from chunkwise.generating.locating import reference_at
from chunkwise.generating.question_types import FALLBACK
from chunkwise.generating.spreading import by_size
from chunkwise.text.analysis import Analyzed

MADE_BY = "rules: definitions, amounts, headings"


def rule_questions(ground: Ground) -> Iterator[tuple[Query, str]]:
    """With the language of their document; documents take turns by size, definitions come before headings."""
    passages: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in ground.passages:
        passages[passage.at].append(passage)
    lines = {at: _of_document(own, ground) for at, own in passages.items()}
    sizes = {at: len(ground.documents[at].text) for at in lines}
    for at, found in by_size(lines, sizes):
        yield _query(found, at, ground), passages[at][0].language


def _of_document(passages: list[SourcePassage], ground: Ground) -> Iterator[PlainQuestion]:
    """The kinds take turns, each in reading order."""
    analyzed = Analyzed(passages[0].document)
    if analyzed.document.format == "code":
        return
    language = passages[0].language
    kinds = [
        (each for each in definitions(analyzed) if _says_what(each, language, ground)),
        (
            each
            for each in amounts(analyzed)
            if language == "en" and _says_what(each, language, ground)
        ),
        headings(passages),
    ]
    open_kinds = [iter(each) for each in kinds]
    while open_kinds:
        for each in list(open_kinds):
            found = next(each, None)
            if found is None:
                open_kinds.remove(each)
            else:
                yield found


def _says_what(found: PlainQuestion, language: str, ground: Ground) -> bool:
    """Whether its subject is a rare thing, not a word of every page."""
    return not found.subject or ground.is_rare(words_in(found.subject, language))


def _query(found: PlainQuestion, at: int, ground: Ground) -> Query:
    document = ground.documents[at]
    reference = reference_at(document, found.span, ground.documents)
    name = question_id(found.question, reference.places[:1])
    return Query(name, found.question, (reference,), found.answer, (), (FALLBACK, found.kind))

"""Where to start with a corpus: a strategy for it and for each large folder, and notes on what is unusual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkwise.base.wording import counted, listed, one_or_many, percent, thousands
from chunkwise.profiling.results import (
    FITS,
    DocumentGroup,
    ProfileAdvice,
)
from chunkwise.text.language import UNKNOWN, WITHOUT_SPACES

_MANY_OVERSIZED = 0.02
_CHUNK = 400
"""Tokens of a usual chunk."""
_MANY_REPEATED = 0.01
_MANY_FOREIGN = 0.05
"""Of the documents whose language is known: those not in the most frequent one."""


def notes(
    total: DocumentGroup, *, mixed: bool, folders: Sequence[DocumentGroup]
) -> tuple[ProfileAdvice, ...]:
    """Notes on the whole corpus, the folder most concerned named."""
    found = (
        *_mixed(total, folders, mixed),
        *_text(total, folders),
        *_languages(total),
        *_long_sections(total),
        *_contexts(total),
    )
    return tuple(ProfileAdvice("corpus", "note", "", why) for why in found)


def _mixed(total: DocumentGroup, folders: Sequence[DocumentGroup], mixed: bool) -> Iterator[str]:
    spread = total.lengths.p95 > 10 * max(total.lengths.median, 1)
    if mixed:
        yield "The corpus is mixed: one setting may not fit all of it. Measure the parts apart."
    elif spread:
        yield (
            f"Document lengths differ widely (median {thousands(total.lengths.median)}, 95% have at most"
            f" {counted(total.lengths.p95, 'token')}): one setting may not fit all."
        )
    elif len(total.formats) > 1 and len(folders) == 1 and total.documents >= 5:
        names = ", ".join(total.formats)
        yield (
            f"Documents of several formats ({names}) lie in one folder: one setting may not fit all;"
            " folders by kind would let you measure each."
        )


def _text(total: DocumentGroup, folders: Sequence[DocumentGroup]) -> Iterator[str]:
    oversized, repeats = total.oversized, total.repeats
    if oversized.over_200 or oversized.share_over_100 >= _MANY_OVERSIZED:
        where = max(folders, key=lambda group: group.oversized.share_over_100).name
        where = "the folder itself" if where == "." else where
        place = f", most often in {where}" if len(folders) > 1 else ""
        is_are = one_or_many(oversized.over_100, "is", "are")
        yield (
            f"{counted(oversized.over_100, 'sentence')} ({percent(oversized.share_over_100)}) {is_are} longer"
            f" than 100 tokens and {thousands(oversized.over_200)} longer than 200{place}: chunks smaller than that"
            " cut inside them. Look whether they are sentences or text without full stops."
        )
    if repeats.token_share >= _MANY_REPEATED:
        yield (
            f"{percent(repeats.token_share)} of the tokens are passages that occur more than once"
            f" ({counted(repeats.passages, 'passage')}): duplicates compete with each other in retrieval."
            " Remove them, or count any copy as right."
        )


def _languages(total: DocumentGroup) -> Iterator[str]:
    prose = total.spoken
    unspaced = {name: n for name, n in prose.items() if name in WITHOUT_SPACES}
    if sum(unspaced.values()) * 5 >= max(sum(prose.values()), 1):
        yield (
            f"Words are not parted by spaces in {', '.join(unspaced)}: give sizes in tokens, not in words."
        )
    known = {name: n for name, n in prose.items() if name != UNKNOWN}
    # Together: of twenty-five languages none may have many documents.
    others = sum(known.values()) - max(known.values(), default=0)
    if others and others >= _MANY_FOREIGN * sum(known.values()):
        names = listed(list(known))
        yield f"Several languages ({names}): the same text has more tokens in some than in others."


def _long_sections(total: DocumentGroup) -> Iterator[str]:
    longest = total.longest_section
    if longest is None or longest.tokens <= 3200 or total.sections.count < 3 * total.documents:
        return
    where = f"“{longest.section}” in {longest.document}" if longest.section else longest.document
    yield (
        f"{percent(1 - total.fits[800])} of the sections are longer than 800 tokens, the longest has"
        f" {thousands(longest.tokens)} ({where}): they are cut inside, so give them overlap."
    )


def _contexts(total: DocumentGroup) -> Iterator[str]:
    """Chunks of long documents seldom say what they are about; a short document is its own context."""
    if total.lengths.median < 3 * _CHUNK:
        return
    calls = counted(total.tokens // _CHUNK, "call")
    yield (
        f"The documents are long ({thousands(total.lengths.median)} tokens in the median), so many chunks do not "
        "say what they are about: contextual chunks may pay. --context headings costs nothing (3 points fewer missed "
        "references of contracts and handbooks); --context neighbors asks a language model about each chunk, "
        f"{calls} for chunks of {_CHUNK} tokens. chunkwise tune --llm NAME compares them."
    )


MEASURE = "A starting point, to be measured."

_MOST_FOLDERS = 12
_LEAST_SHARE = 0.02
"""Of the corpus's tokens: smaller folders follow the advice for all."""

_MOSTLY = 0.75
_SHORT_DOCUMENT = 300
_LONG_DOCUMENT = 2000
_SMALL_PARAGRAPH = 100
_VERSE = 40
_OWN_WAY = ("code", "table")
_STRUCTURED = ("markdown", "html", "docx", "epub")


def advise(
    total: DocumentGroup, folders: Sequence[DocumentGroup], formats: Sequence[DocumentGroup]
) -> tuple[ProfileAdvice, ...]:
    """The start for the corpus, those of folders and formats that differ from it, then notes."""
    if not total.tokens:
        why = "every document is empty" if total.documents else "no document was read"
        return (ProfileAdvice("corpus", "note", "", f"There is no text to look at: {why}."),)
    main = start(total, "corpus")
    others = [start(group, f"folder {group.name}") for group in _large(folders, total)]
    if len({advice.strategy_spec for advice in others}) < 2:
        # Folders agree; a format that wants to be cut in its own way may still be among them.
        kinds = [group for group in _large(formats, total) if group.name in _OWN_WAY]
        others = [start(group, f"format {group.name}") for group in kinds]
    others = [advice for advice in others if advice.strategy_spec != main.strategy_spec]
    return (main, *others, *notes(total, mixed=bool(others), folders=folders))


def _large(groups: Sequence[DocumentGroup], total: DocumentGroup) -> list[DocumentGroup]:
    return [group for group in groups if group.tokens >= _LEAST_SHARE * total.tokens][
        :_MOST_FOLDERS
    ]


def start(group: DocumentGroup, scope: str) -> ProfileAdvice:
    """A strategy and a size for one group; the first rule that applies."""
    for rule in (_code, _tables, _short, _verses, _structure, _sections, _prose):
        found = rule(group)
        if found is not None:
            spec, why = found
            return ProfileAdvice(scope, "start", spec, f"Start with {spec}: {why} {MEASURE}")
    raise AssertionError("the last rule always applies")


SpecAndReason = tuple[str, str] | None


def _code(group: DocumentGroup) -> SpecAndReason:
    files = group.formats.get("code", 0)
    if files < 0.6 * group.documents:
        return None
    return "code(max_tokens=400)", (
        f"{thousands(files)} of {counted(group.documents, 'document')} {one_or_many(files, 'is', 'are')} source code, "
        f"{thousands(group.lengths.median)} tokens in the median; functions and classes stay whole while they fit."
    )


def _tables(group: DocumentGroup) -> SpecAndReason:
    share = group.share(group.tables)
    if share < 0.5:
        return None
    return "structure(max_tokens=400)", (
        f"{percent(share)} of the tokens are in tables; rows stay whole and carry their table's header."
    )


def _short(group: DocumentGroup) -> SpecAndReason:
    lengths = group.lengths
    if lengths.median > _SHORT_DOCUMENT or lengths.p95 > 4 * _SHORT_DOCUMENT:
        return None
    size = 150 if lengths.p95 <= 150 else 200 if lengths.p95 <= 200 else 250
    structured = (
        group.documents_with_headings * 2 > group.documents or group.lists.count >= group.documents
    )
    name = "structure" if structured else "sentences"
    return f"{name}(max_tokens={size})", (
        f"the documents are short ({thousands(lengths.median)} tokens in the median, 95% have at most"
        f" {thousands(lengths.p95)}), so most are one chunk; 150–250 tokens suit recipes, entries and notes."
    )


def _verses(group: DocumentGroup) -> SpecAndReason:
    paragraphs = group.paragraphs
    many = paragraphs.count >= 10 * (group.documents - group.empty_documents)
    # Under headings a few small paragraphs are a section like any other, unless they are verses.
    limit = _VERSE if group.sections.count >= 3 * group.documents else _SMALL_PARAGRAPH
    small = paragraphs.median <= limit and paragraphs.p95 <= 1.5 * limit
    # Documentation has small paragraphs too, but code and tables between them.
    plain = group.share(group.code) + group.share(group.tables) < 0.02
    if not (many and small and plain and group.share(paragraphs) >= 0.7):
        return None
    size = 100 if paragraphs.p95 <= 100 else 200 if paragraphs.p95 <= 200 else 300
    return f"paragraphs(max_tokens={size})", (
        f"{counted(paragraphs.count, 'paragraph')} of {thousands(paragraphs.median)} tokens in the median,"
        f" 95% have at most {thousands(paragraphs.p95)}: text in small units, such as verses, aphorisms or"
        " entries, is found best a paragraph at a time."
    )


def _structure(group: DocumentGroup) -> SpecAndReason:
    shares = {
        "code": group.share(group.code), "lists": group.share(group.lists), "tables": group.share(group.tables)
    }  # fmt: skip
    structured = sum(group.formats.get(name, 0) for name in _STRUCTURED)
    if sum(shares.values()) < 0.35 or structured * 2 < group.documents:
        return None
    told = ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if share >= 0.01)
    size = _fitting(group) or 400
    return f"structure(max_tokens={size})", (
        f"much of the text is not running prose ({told} of the tokens); lists, tables and code stay"
        f" whole while they fit, and {percent(group.fits[size])} of the sections fit into {counted(size, 'token')}."
    )


def _fitting(group: DocumentGroup) -> int | None:
    """The smallest usual size that most sections fit into."""
    return next((size for size in FITS[1:] if group.fits[size] >= _MOSTLY), None)


def _sections(group: DocumentGroup) -> SpecAndReason:
    filled = group.documents - group.empty_documents
    if group.documents_with_headings * 2 < filled or group.sections.count < 3 * filled:
        return None
    size, count = _fitting(group), counted(group.sections.count, "section")
    if size is not None:
        return f"sections(max_tokens={size})", (
            f"{percent(group.fits[size])} of the {count} fit whole into {counted(size, 'token')}."
        )
    return "sections(max_tokens=400, overlap_sentences=2)", (
        f"headings divide the text, {percent(group.fits[800])} of the {count} fit into 800 tokens (median"
        f" {thousands(group.sections.median)}) and the others are cut inside; 300–500 tokens suit long text."
    )


def _prose(group: DocumentGroup) -> SpecAndReason:
    median = group.lengths.median
    size = 400 if median >= _LONG_DOCUMENT else 300
    headed = group.documents_with_headings
    kind = "PDFs" if group.formats.get("pdf", 0) * 2 > group.documents else "documents"
    headings = "have no headings" if not headed else "have few headings to go by"
    return f"sentences(max_tokens={size}, overlap=50)", (
        f"the {kind} {headings} and are {thousands(median)} tokens long in the median; whole sentences in"
        f" chunks of {'300–500' if size == 400 else '200–400'} tokens suit {'long ' if size == 400 else ''}prose."
    )

"""Notes on what is unusual in a corpus, each with the figure it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkwise.base.wording import counted, listed, one_or_many, percent, thousands
from chunkwise.profiling.results import DocumentGroup
from chunkwise.text.language import UNKNOWN, WITHOUT_SPACES

_MANY_OVERSIZED = 0.02
_CHUNK = 400
"""Tokens of a usual chunk."""
_MANY_REPEATED = 0.01
_MANY_FOREIGN = 0.05
"""Of the documents whose language is known: those not in the most frequent one."""


def notes(total: DocumentGroup, folders: Sequence[DocumentGroup]) -> tuple[str, ...]:
    """Notes on the whole corpus, the folder most concerned named."""
    if not total.tokens:
        why = "every document is empty" if total.documents else "no document was read"
        return (f"No text to profile: {why}.",)
    return (
        *_mixed(total, folders),
        *_text(total, folders),
        *_languages(total),
        *_long_sections(total),
        *_contexts(total),
    )


def _mixed(total: DocumentGroup, folders: Sequence[DocumentGroup]) -> Iterator[str]:
    if total.lengths.p95 > 10 * max(total.lengths.median, 1):
        yield (
            f"Document lengths differ widely (median {thousands(total.lengths.median)}, 95% have "
            f"at most {counted(total.lengths.p95, 'token')}): one configuration may not fit all."
        )
    elif len(total.formats) > 1 and len(folders) == 1 and total.documents >= 5:
        names = ", ".join(total.formats)
        yield (
            f"One folder has several formats ({names}): one configuration may not fit all. "
            f"Separate folders let you measure each."
        )


def _text(total: DocumentGroup, folders: Sequence[DocumentGroup]) -> Iterator[str]:
    oversized, repeats = total.oversized, total.repeats
    if oversized.over_200 or oversized.share_over_100 >= _MANY_OVERSIZED:
        where = max(folders, key=lambda group: group.oversized.share_over_100).name
        where = "the folder itself" if where == "." else where
        place = f", most often in {where}" if len(folders) > 1 else ""
        is_are = one_or_many(oversized.over_100, "is", "are")
        yield (
            f"{counted(oversized.over_100, 'sentence')} ({percent(oversized.share_over_100)}) "
            f"{is_are} longer than 100 tokens and {thousands(oversized.over_200)} longer than "
            f"200{place}: smaller chunks split them. Check whether they are sentences or text "
            "without full stops."
        )
    if repeats.token_share >= _MANY_REPEATED:
        yield (
            f"{percent(repeats.token_share)} of the tokens are in repeated passages "
            f"({counted(repeats.passages, 'passage')}): duplicates compete in retrieval. Remove "
            "them, or count every copy as relevant."
        )


def _languages(total: DocumentGroup) -> Iterator[str]:
    prose = total.spoken
    unspaced = {name: n for name, n in prose.items() if name in WITHOUT_SPACES}
    if sum(unspaced.values()) * 5 >= max(sum(prose.values()), 1):
        yield (
            f"{', '.join(unspaced)} text has no spaces between words: give sizes in tokens, not "
            "in words."
        )
    known = {name: n for name, n in prose.items() if name != UNKNOWN}
    # Together: of twenty-five languages none may have many documents.
    others = sum(known.values()) - max(known.values(), default=0)
    if others and others >= _MANY_FOREIGN * sum(known.values()):
        names = listed(list(known))
        yield f"Several languages ({names}): the same text has more tokens in some of them."


def _long_sections(total: DocumentGroup) -> Iterator[str]:
    longest = total.longest_section
    if longest is None or longest.tokens <= 3200 or total.sections.count < 3 * total.documents:
        return
    where = f"“{longest.section}” in {longest.document}" if longest.section else longest.document
    yield (
        f"{percent(1 - total.fits[800])} of the sections exceed 800 tokens, the longest has"
        f" {thousands(longest.tokens)} ({where}): use overlap, since they will be split."
    )


def _contexts(total: DocumentGroup) -> Iterator[str]:
    """Chunks of long documents seldom say what they are about; a short document is its own context."""
    if total.lengths.median < 3 * _CHUNK:
        return
    calls = counted(total.tokens // _CHUNK, "call")
    yield (
        f"The documents are long (median {thousands(total.lengths.median)} tokens), so many "
        f"chunks don't name their topic: try contextual retrieval. --context headings is free "
        f"(3 points fewer missed references in contracts and handbooks); --context neighbors "
        f"calls a language model per chunk, {calls} for chunks of {_CHUNK} tokens. chunkwise "
        f"tune --llm NAME compares them."
    )

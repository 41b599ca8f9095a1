"""The report of an answer: its claims with their marks, where each stands, and what was read for it."""

from __future__ import annotations

from collections.abc import Iterator

from chunkwise.answering.cited_answer import Citation, CitedAnswer, Claim, mark_of
from chunkwise.base.wording import counted, format_number, from_to, shortened, thousands
from chunkwise.models.llm.cost import NO_PRICE, tokens_words
from chunkwise.report.report import (
    Code,
    Excerpt,
    Headline,
    Level,
    Next,
    Note,
    Report,
    ReportPart,
    Section,
    TextRun,
)
from chunkwise.report.sanitize import one_line

_QUOTE = 150
"""Characters of a quote that are shown unless whole quotes are asked for."""
_MOVED = "The model cited another passage, but the quote is in this one."


def answer_report(
    answered: CitedAnswer, *, is_whole: bool = True, next_command: str = ""
) -> Report:
    """Build the report of one answer.

    Args:
        answered: What `ask` returned.
        is_whole: Show whole quotes, instead of their beginnings.
        next_command: What to run next.
    """
    parts: list[ReportPart] = []
    if answered.reason:
        parts.append(Headline(f"No answer: {answered.reason}", "bad"))
    else:
        parts += [*_answer(answered), *_unsupported(answered), *_sources(answered, is_whole)]
        parts += _read(answered)
    parts += [Next(next_command)] if next_command else []
    return Report(answered.question, tuple(parts), "answer")


def cited_claims(answered: CitedAnswer) -> Iterator[tuple[str, Claim, Citation]]:
    """Claims with their marks and places."""
    number = 0
    for claim in answered.claims:
        if claim.citation is not None:
            number += 1
            yield mark_of(claim, number), claim, claim.citation


def claim_text(answered: CitedAnswer, claim: Claim) -> str:
    """What is quoted as it stands is shown with the fence or header it needs; what a model wrote needs none."""
    if answered.quoted_by and claim.citation:
        return f"{claim.citation.opening}{claim.text}{claim.citation.closing}"
    return claim.text


def made_with(answered: CitedAnswer) -> str:
    """Model, wording and what they took."""
    if answered.quoted_by:
        return f"exact sentences, chosen by {answered.quoted_by.partition(':')[0]}"
    return f"{answered.llm} · {answered.prompt}{_usage(answered)}"


def _answer(answered: CitedAnswer) -> Iterator[ReportPart]:
    """Sentences in one paragraph; code, rows and items on their lines."""
    if answered.refusal:
        yield Headline(answered.refusal, "")
        if answered.note:
            yield Note(answered.note)
        return
    sentences: list[str] = []
    for mark, claim, _ in cited_claims(answered):
        text = claim_text(answered, claim)
        if "\n" not in text:
            sentences.append(f"{text} [{mark}]")
            continue
        if sentences:
            yield Headline(" ".join(sentences))
        sentences = []
        yield Code(text, f"[{mark}]")
    if sentences:
        yield Headline(" ".join(sentences))


def _unsupported(answered: CitedAnswer) -> Iterator[ReportPart]:
    notes = tuple(
        Note(f"{claim.text} ({claim.note})", is_warning=True)
        for claim in answered.claims
        if not claim.citation
    )
    if notes:
        what = "Text by the model" if answered.refusal else "Other text by the model"
        yield Section(f"{what}, not supported by the passages", notes)


def _sources(answered: CitedAnswer, is_whole: bool) -> Iterator[ReportPart]:
    parts: list[ReportPart] = []
    for mark, claim, citation in cited_claims(answered):
        name, place = f"[{mark}] {citation.id}", _place(citation)
        if answered.quoted_by:  # the claim is the quote
            parts.append(Note(f"{name} · {place}"))
            continue
        quote = one_line(citation.quote).strip()
        level: Level = "" if claim.state == "supported" else "bad"
        shown = quote if is_whole else shortened(quote, _QUOTE)
        parts.append(Excerpt((TextRun(f"“{shown}”"),), name, place, level))
        if claim.note:
            parts.append(Note(claim.note, is_warning=True))
        if claim.is_moved:
            parts.append(Note(_MOVED))
    if parts:
        yield Section("Sources", tuple(parts))


def _place(citation: Citation) -> str:
    """Section, page, lines, characters."""
    # The title is often the outermost heading, too.
    is_titled = citation.section[:1] == (citation.title,)
    parts = [" › ".join(citation.section[1:] if is_titled else citation.section)]
    if citation.page is not None:
        parts.append(f"page {citation.page}")
    if citation.lines is not None:
        first, last = citation.lines
        parts.append(
            f"line {thousands(first)}" if first == last else f"lines {from_to(first, last)}"
        )
    parts.append(f"characters {from_to(citation.start, citation.end)}")
    return " · ".join(filter(None, parts))


def _read(answered: CitedAnswer) -> Iterator[Note]:
    if not answered.passages:
        return
    yield Note(f"Read: {counted(len(answered.passages), 'passage')} · {made_with(answered)}")
    yield Note(", ".join(passage.id for passage in answered.passages), detail=True)
    if answered.left_out:
        left_out = counted(answered.left_out, "passage")
        yield Note(f"Omitted, beyond the model's context window: {left_out}", is_warning=True)


def _usage(answered: CitedAnswer) -> str:
    used = answered.usage
    if used is None:
        return ""
    if not used.calls:
        return " · cached answer" if used.kept else ""
    money = f" · {format_number(used.money, 'money')}" if used.money else ""
    if used.money is None:
        money = f" · {NO_PRICE}"
    return f" · {tokens_words(used.prompt_tokens, used.output_tokens)}{money}"

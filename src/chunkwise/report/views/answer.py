"""What is shown of an answer: the claims with their marks, where each stands, and what the model was given to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkwise.answering.cited_answer import Citation, CitedAnswer, Claim, mark_of
from chunkwise.base.wording import dollars, from_to, thousands
from chunkwise.core import SECTION_SEPARATOR
from chunkwise.models.llm.cost import NO_PRICE, tokens_words
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.view import View

_QUOTE = 600
"""Characters of a quote that are shown; its place is exact in any case."""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One sentence of the answer."""

    text: str
    state: str
    """supported, quoted, or unsupported."""
    mark: str
    """The number of its citation; empty: nothing supports it."""
    place: str
    """File, section, page, lines, characters of what it rests on."""
    quote: str
    """Empty where it is the claim itself."""
    note: str
    """What is wrong with it."""
    is_moved: bool
    """The quote stands in another passage than the one the model named."""


@dataclass(frozen=True, slots=True)
class AnswerView(View):
    """One answer."""

    fragment_template: ClassVar[str] = "fragment_answer.html.j2"

    question: str
    reason: str
    """Why there is no answer at all; empty: there is one, or none was found."""
    not_found: str
    """What is said where the documents do not answer; empty: they do."""
    note: str
    """Why the model was not asked."""
    claims: tuple[ClaimRow, ...]
    """With a citation each."""
    unsupported: tuple[ClaimRow, ...]
    passages: tuple[str, ...]
    """Ids of what the model was given to read."""
    left_out: int
    """Passages that had no room in its window."""
    made_with: str
    """Model, wording and what they took."""


def answer_view(answered: CitedAnswer) -> AnswerView:
    cited = [claim for claim in answered.claims if claim.citation]
    is_quoted = bool(answered.quoted_by)
    return AnswerView(
        answered.question,
        answered.reason,
        answered.refusal,
        answered.note,
        tuple(
            _claim(claim, mark_of(claim, number), is_quoted)
            for number, claim in enumerate(cited, 1)
        ),
        tuple(_claim(claim, "") for claim in answered.claims if not claim.citation),
        tuple(each.id for each in answered.passages),
        answered.left_out,
        _made_with(answered),
    )


def _made_with(answered: CitedAnswer) -> str:
    if answered.quoted_by:
        return f"sentences as they stand there, chosen by {answered.quoted_by.partition(':')[0]}"
    return f"{answered.llm} · {answered.prompt}{_usage(answered)}"


def _claim(claim: Claim, mark: str, is_quoted: bool = False) -> ClaimRow:
    citation = claim.citation
    quote = one_line(citation.quote, _QUOTE).strip() if citation and not is_quoted else ""
    # What is quoted as it stands is shown with the fence or header it needs; what a model wrote needs none.
    opening, closing = (citation.opening, citation.closing) if citation and is_quoted else ("", "")
    return ClaimRow(
        f"{opening}{claim.text}{closing}",
        claim.state,
        mark,
        _place(citation) if citation else "",
        quote,
        claim.note,
        claim.is_moved,
    )


def _place(citation: Citation) -> str:
    parts = [one_line(citation.id, 120)]
    # The title is often the outermost heading, too.
    section = (
        citation.section[1:] if citation.section[:1] == (citation.title,) else citation.section
    )
    if section:
        parts.append(one_line(SECTION_SEPARATOR.join(section), 200))
    if citation.page is not None:
        parts.append(f"page {citation.page}")
    if citation.lines is not None:
        first, last = citation.lines
        parts.append(
            f"line {thousands(first)}" if first == last else f"lines {from_to(first, last)}"
        )
    parts.append(f"characters {from_to(citation.start, citation.end)}")
    return " · ".join(parts)


def _usage(answered: CitedAnswer) -> str:
    used = answered.usage
    if used is None:
        return ""
    if not used.calls:
        return " · answered from an earlier run" if used.kept else ""
    money = f" · {dollars(used.money)}" if used.money else ""
    if used.money is None:
        money = f" · {NO_PRICE}"
    return f" · {tokens_words(used.prompt_tokens, used.output_tokens)}{money}"

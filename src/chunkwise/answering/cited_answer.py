"""A cited answer as a value and a record: passages a model is given, what it is asked, its claims with their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.repr_html import beginning, drawn
from chunkwise.base.wording import counted
from chunkwise.core import SECTION_SEPARATOR, Document, Hit, HitPlace, Span
from chunkwise.models.llm.cost import LlmUsage
from chunkwise.models.llm.language_model import LanguageModel, Request
from chunkwise.models.llm.prompt import fenced, load_prompt
from chunkwise.retrieval.tables_lists_code import NO_FRAME, Frame, whole_blocks
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

_SPARE = 1.3
"""Tokens of other models' tokenizers for one of ours: a small vocabulary takes more."""
_MARKS = 30
"""Tokens of the marks around a passage."""


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A numbered passage of a prompt; `text` is always `document.text[start:end]`."""

    number: int
    id: str
    """`doc_id::index` of the chunk, or `doc_id@start-end`."""
    document: Document = field(repr=False)
    start: int
    end: int
    section: tuple[str, ...] = ()
    opening: str = ""
    """Text added before a passage that starts inside a block: a code fence or table header."""
    closing: str = ""
    hidden: tuple[Span, ...] = ()
    """Hidden spans inside it, such as Markdown comments."""

    @property
    def doc_id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]

    @property
    def shown(self) -> str:
        """The text as the model reads it: without comments, with code fences and table headers."""
        text = self.document.text_without(Span(self.start, self.end), self.hidden)
        return f"{self.opening}{text}{self.closing}"


def passages_of(hits: Sequence[Hit]) -> list[NumberedPassage]:
    """In the order of the hits; of a summary the places it stands for, as only they can be cited.

    What lies inside a passage before it is not given twice, and what has neither letter nor digit not at all.
    """
    passages: list[NumberedPassage] = []
    for hit in hits:
        for document, start, end, _ in _cited_places(hit):
            is_known = any(
                passage.doc_id == document.id and passage.start <= start and end <= passage.end
                for passage in passages
            )
            if is_known or not any(map(str.isalnum, document.text[start:end])):
                continue
            is_chunk = hit.chunk is not None and not hit.level
            id = f"{document.id}::{hit.chunk}" if is_chunk else f"{document.id}@{start}-{end}"
            around = NO_FRAME if hit.level else Frame(hit.opening, hit.closing)
            section = hit.section if document is hit.document else ()
            passages.append(
                NumberedPassage(
                    len(passages) + 1, id, document, start, end, section, *around,
                    whole_blocks(document).hidden(start, end),
                )
            )  # fmt: skip
    return passages


_SUMMARISED_TOKENS = 4_000
"""Of what one summary over several documents stands for, what is read: it may be all there is."""


def _cited_places(hit: Hit) -> Sequence[HitPlace]:
    """What a hit stands for; of more than can be read, the beginnings in each of the documents in turn."""
    every = hit.places
    if not hit.elsewhere or sum(row.tokens for row in every) <= _SUMMARISED_TOKENS:
        return every
    turn: Counter[str] = Counter()
    turns = []
    for at, row in enumerate(every):
        turns.append((turn[row.doc_id], at))
        turn[row.doc_id] += 1
    left = _SUMMARISED_TOKENS
    kept: list[int] = []
    for _, at in sorted(turns):
        if every[at].tokens > left and kept:
            break
        left -= every[at].tokens
        kept.append(at)
    return [every[at] for at in sorted(kept)]


def fitting_passages(
    passages: Sequence[NumberedPassage], window: int | None, other_tokens: int
) -> list[NumberedPassage]:
    """The first ones, as many as the window has room for beside `other_tokens`; of the very first at least a part."""
    if window is None:
        return list(passages)
    count = get_tokenizer(DEFAULT_TOKENIZER).count
    room = window / _SPARE - other_tokens
    kept: list[NumberedPassage] = []
    for passage in passages:
        room -= count(passage.shown) + _MARKS
        if room < 0:
            break
        kept.append(passage)
    if not kept and passages:
        kept = _beginning(passages[0], room + count(passages[0].shown), count)
    return kept


def _beginning(
    passage: NumberedPassage, room: float, count: Callable[[str], int]
) -> list[NumberedPassage]:
    """As much of a passage as there is room for; nothing where that is no more than a word or two."""
    size = len(passage.text)
    part = passage
    while size and count(part.shown) > room:
        size = size * 3 // 4
        end = passage.start + size
        _, closing = whole_blocks(passage.document).frame(passage.start, end)
        hidden = whole_blocks(passage.document).hidden(passage.start, end)
        part = replace(passage, end=end, closing=closing, hidden=hidden)
    return [part] if size > _MARKS else []


ClaimState = Literal["supported", "quoted", "unsupported"]
"""The quote stands there and the words of the claim do, too; the quote stands there, and whether it says the claim the
words do not show; no quote that stands anywhere."""

NOT_FOUND = "Not in these documents."
UNSHOWN = "The retrieved passages don't contain an answer."
"""Where passages were read: the answer may stand elsewhere, or in other words."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited span; `quote` is always `document.text[start:end]`."""

    passage: int
    """Number of the passage in the prompt."""
    id: str
    """`doc_id::index` of the chunk, or `doc_id@start-end`."""
    doc_id: str
    start: int
    end: int
    quote: str
    title: str = ""
    section: tuple[str, ...] = ()
    page: int | None = None
    lines: tuple[int, int] | None = None
    """First and last line in the file, from 1; None if the text was extracted."""
    opening: str = ""
    """Text shown before a quote that starts inside a block: a code fence or table header."""
    closing: str = ""
    """Text shown after a quote that ends inside code."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer, checked against the passages."""

    text: str
    state: ClaimState
    citation: Citation | None = None
    """None if unsupported."""
    is_moved: bool = False
    """Whether the quote is in a different passage than the model cited."""
    note: str = ""
    """The problem; empty if supported."""


@dataclass(frozen=True, slots=True, repr=False)
class CitedAnswer:
    """An answer with its claims, their verdicts and their spans."""

    question: str
    claims: tuple[Claim, ...] = ()
    passages: tuple[NumberedPassage, ...] = ()
    """Passages in the prompt."""
    left_out: int = 0
    """Passages that didn't fit the context window."""
    reason: str = ""
    """Why there is no answer, if the model failed."""
    note: str = ""
    """Why the model wasn't called, or nothing was quoted."""
    llm: str = ""
    """The language model; empty for quoted answers."""
    prompt: str = ""
    """Name, version and hash of the prompt."""
    quoted_by: str = ""
    """The model that chose quoted sentences; empty for LLM answers."""
    usage: LlmUsage | None = None
    """LLM usage of this question; None in a batch."""
    query_id: str = "1"

    @property
    def found(self) -> bool:
        """Whether the answer has a supported claim."""
        return any(claim.citation for claim in self.claims)

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer, including "not in these documents"."""
        return not self.reason

    @property
    def text(self) -> str:
        """The supported part of the answer."""
        if self.reason:
            return ""
        return _joined([claim.text for claim in self.claims if claim.citation]) or self.refusal

    @property
    def refusal(self) -> str:
        """Why there is no answer; empty if there is one."""
        if self.found or self.reason:
            return ""
        # What was read is a part of the documents: the rest may say it.
        return UNSHOWN if self.claims or self.passages else NOT_FOUND

    @property
    def marked(self) -> str:
        """All claims, with citation numbers or a mark for unsupported ones."""
        if self.reason:
            return ""
        parts = [self.refusal] if self.refusal else []
        number = 0
        for claim in self.claims:
            number += claim.citation is not None
            parts.append(beside(claim.text, f"[{mark_of(claim, number)}]"))
        return _joined(parts)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Citations, numbered from 1 in `marked`."""
        return tuple(claim.citation for claim in self.claims if claim.citation)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, as `chunkwise ask --json` prints them."""
        return answer_row(self)

    def __str__(self) -> str:
        return self.marked or f"no answer: {self.reason}"

    def __repr__(self) -> str:
        cited = counted(len(self.citations), "citation")
        return f"<CitedAnswer {beginning(self.question)!r}: {beginning(str(self))!r}, {cited}>"

    def _repr_html_(self) -> str:
        return drawn(self)


def beside(text: str, mark: str) -> str:
    """A mark behind a text; behind lines of code or of a table on a line of its own."""
    return f"{text}\n{mark}" if "\n" in text else f"{text} {mark}"


def _joined(parts: Sequence[str]) -> str:
    """Sentences in one line, code and tables on lines of their own."""
    lines = [""]
    for part in parts:
        if "\n" in part:
            lines += [part, ""]
        else:
            lines[-1] = f"{lines[-1]} {part}".lstrip()
    return "\n".join(line for line in lines if line)


def mark_of(claim: Claim, number: int) -> str:
    """The number of its citation, with a question mark where the words do not show that it says the claim."""
    if claim.state == "unsupported":
        return "unsupported"
    return f"{number}?" if claim.state == "quoted" else f"{number}"


def answer_row(answered: CitedAnswer) -> dict[str, Any]:
    """`answer` has what the documents hold, `marked` all that was claimed, `citations` a place for each claim that has
    one. Offsets are half-open, in Unicode code points of the document's text."""
    return {
        "query_id": answered.query_id,
        "query": answered.question,
        "found": answered.found,
        "answer": answered.text,
        "marked": answered.marked,
        "claims": _claims(answered.claims),
        "citations": [_citation(claim) for claim in answered.claims if claim.citation],
        "passages": [
            {"number": passage.number, "id": passage.id, "doc_id": passage.doc_id,
             "start": passage.start, "end": passage.end}
            for passage in answered.passages
        ],
        "left_out": answered.left_out,
        "note": answered.note,
        "llm": answered.llm,
        "prompt": answered.prompt,
        "quoted_by": answered.quoted_by,
        "usage": None if answered.usage is None else asdict(answered.usage),
    }  # fmt: skip


def _claims(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Each with the number of its citation, from 1; null: it has none."""
    numbers = accumulate(int(claim.citation is not None) for claim in claims)
    return [
        {
            "text": claim.text,
            "state": claim.state,
            "note": claim.note,
            "citation": number if claim.citation else None,
        }
        for claim, number in zip(claims, numbers, strict=True)
    ]


def _citation(claim: Claim) -> dict[str, Any]:
    citation = claim.citation
    assert citation is not None
    said = {"claim": claim.text, "state": claim.state, "note": claim.note, "moved": claim.is_moved}
    return said | asdict(citation) | {"section": SECTION_SEPARATOR.join(citation.section)}


Form = Literal["claims", "plain"]
"""Claims with passage and quote, as JSON; or a few sentences, whose places in the passages are sought afterwards."""

_PROMPTS: dict[Form, str] = {"claims": "answer", "plain": "answer_plain"}
_MOST_TOKENS: dict[Form, int] = {"claims": 700, "plain": 100}
_MOST_CLAIMS = 8
_SMALL = 1_000_000_000
"""Bytes of a model's file under which it writes sentences, but no claims with quotes as JSON."""


class AnswerRequest(NamedTuple):
    """A request with what was put into it."""

    request: Request
    passages: list[NumberedPassage]
    left_out: int
    form: Form


def usual_form(model: LanguageModel) -> Form:
    """Claims, but of small local models sentences."""
    # What fetches models comes with it, which an evaluation has no use for.
    from chunkwise.models.llm.local import LocalModel

    is_small = isinstance(model, LocalModel) and model.path.stat().st_size < _SMALL
    return "plain" if is_small else "claims"


def request_for(
    question: str,
    passages: Sequence[NumberedPassage],
    model: LanguageModel,
    form: Form | None = None,
) -> AnswerRequest:
    """With as many of the passages as the model can hold."""
    form = form or usual_form(model)
    if form not in _PROMPTS:
        raise InvalidParameter(f"form is {form!r}; allowed: {', '.join(_PROMPTS)}")
    prompt = load_prompt(_PROMPTS[form])
    most = _MOST_TOKENS[form]
    other = (
        get_tokenizer(DEFAULT_TOKENIZER).count(f"{prompt.system}\n{prompt.user}\n{question}") + most
    )
    kept = fitting_passages(passages, model.window, other)
    system, user = prompt.filled(
        question=question,
        passages="\n\n".join(fenced(passage.shown, "passage", passage.number) for passage in kept),
        count=str(len(kept)),
    )
    schema = _schema(len(kept)) if form == "claims" else None
    request = Request(system, user, schema, most, version=prompt.version)
    return AnswerRequest(request, kept, len(passages) - len(kept), form)


def _schema(passages: int) -> dict[str, Any]:
    """A claim can name no passage that is not there; its quote is written before the claim itself."""
    claim = _record(
        passage={"type": "integer", "enum": list(range(1, passages + 1))},
        quote={"type": "string"},
        claim={"type": "string"},
    )
    claims = {"type": "array", "items": claim, "maxItems": _MOST_CLAIMS}
    return _record(found={"type": "boolean"}, claims=claims)


def _record(**fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }

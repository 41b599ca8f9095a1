"""What is asked of the model: the question and the passages, in one of two forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from chunkwise.answering.passages import GivenPassage, fitting
from chunkwise.errors import InvalidParameter
from chunkwise.models.llm.fence import fenced
from chunkwise.models.llm.language_model import LanguageModel, Request
from chunkwise.models.llm.local_model import LocalModel
from chunkwise.models.llm.prompt import load_prompt
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

Form = Literal["claims", "plain"]
"""Claims with passage and quote, as JSON; or a few sentences, whose places in the passages are sought afterwards."""

_PROMPTS: dict[Form, str] = {"claims": "answer", "plain": "answer_plain"}
_MOST_TOKENS: dict[Form, int] = {"claims": 700, "plain": 100}
_MOST_CLAIMS = 8
_SMALL = 1_000_000_000
"""Bytes of a model's file under which it writes sentences, but no claims with quotes as JSON."""


class Asked(NamedTuple):
    """A request with what was put into it."""

    request: Request
    passages: list[GivenPassage]
    left_out: int
    form: Form


def usual_form(model: LanguageModel) -> Form:
    """Claims, but of small local models sentences."""
    is_small = isinstance(model, LocalModel) and model.path.stat().st_size < _SMALL
    return "plain" if is_small else "claims"


def request_for(
    question: str, passages: Sequence[GivenPassage], model: LanguageModel, form: Form | None = None
) -> Asked:
    """With as many of the passages as the model can hold."""
    form = form or usual_form(model)
    if form not in _PROMPTS:
        raise InvalidParameter(f"form is {form!r}; allowed are: {', '.join(_PROMPTS)}")
    prompt = load_prompt(_PROMPTS[form])
    most = _MOST_TOKENS[form]
    other = get_tokenizer(DEFAULT).count(f"{prompt.system}\n{prompt.user}\n{question}") + most
    kept = fitting(passages, model.window, other)
    system, user = prompt.filled(
        question=question,
        passages="\n\n".join(fenced(each.text, "passage", each.number) for each in kept),
        count=str(len(kept)),
    )
    schema = _schema(len(kept)) if form == "claims" else None
    request = Request(system, user, schema, most, version=prompt.version)
    return Asked(request, kept, len(passages) - len(kept), form)


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

"""What a model is asked for a question, and the form of its answer."""

from __future__ import annotations

from chunkwise.core import SECTION_SEPARATOR
from chunkwise.generating.ground import SourcePassage
from chunkwise.generating.question_types import Kind
from chunkwise.generating.tasks import Task
from chunkwise.models.llm.fence import fenced
from chunkwise.models.llm.language_model import Request, Schema
from chunkwise.models.llm.prompt import Prompt, load_prompt

_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4}
# Quotes come first: what is asked then is about them.
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "quotes": _TEXTS,
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "facts": _TEXTS,
    },
    "required": ["quotes", "question", "answer", "facts"],
    "additionalProperties": False,
}
MOST_TOKENS = 400
"""Of an answer."""


def request_for(task: Task) -> Request:
    """One question of one kind about these passages."""
    prompt = _prompt(task.kind)
    system, user = prompt.filled(
        passages="\n\n".join(
            _shown(passage, number if len(task.passages) > 1 else None)
            for number, passage in enumerate(task.passages, 1)
        )
    )
    return Request(system, user, SCHEMA, MOST_TOKENS, version=prompt.version)


def prompt_version(kind: Kind) -> str:
    """Name, number and hash of the wording."""
    return _prompt(kind).version


def _shown(passage: SourcePassage, number: int | None) -> str:
    """Between marks, with where it stands: the title and the headings are text of the document, too."""
    place = SECTION_SEPARATOR.join(filter(None, (passage.document.title, *passage.path)))
    text = f"{place}\n\n{passage.text}" if place else passage.text
    return fenced(text, "passage", number)


def _prompt(kind: Kind) -> Prompt:
    return load_prompt(f"questions_{kind.replace('-', '_')}")

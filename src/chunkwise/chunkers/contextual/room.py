"""What a model can hold beside the wording of a prompt and the answer."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.chunkers.contextual.reach import Reach, size_of
from chunkwise.core import Chunk
from chunkwise.models.llm.language_model import LanguageModel
from chunkwise.models.llm.prompt import Prompt

ANSWER_TOKENS = 160
"""More than a context may have: a model that ends its sentence is cut there, one that does not before."""
USUAL_WINDOW = 100_000
"""Of a model that does not tell its own."""
_MARKS = 250
"""The marks around the parts of a document, and what a server puts around a question."""
_LEAST = 64.0
_LEFT_OUT = "\n[…]\n"


class Room(NamedTuple):
    """Tokens for text of the document."""

    tokens: float
    cautious: bool
    """The model has a window of its own: its tokens count, which may be more than ours."""


def room_of(model: LanguageModel, prompt: Prompt) -> Room:
    """Never less than a few tokens: what does not fit then is the model's to refuse."""
    cautious = model.window is not None
    window = USUAL_WINDOW if model.window is None else model.window
    wording = size_of(f"{prompt.system}\n{prompt.user}", cautious)
    return Room(max(_LEAST, window - wording - ANSWER_TOKENS - _MARKS), cautious)


def passage_of(reach: Reach, chunk: Chunk, most: float) -> tuple[str, float]:
    """The chunk's text and its size; of one that is too long, the beginning and the end."""
    size = reach.size(chunk.start, chunk.end)
    if size <= most:
        return chunk.text, size
    first = reach.forth(chunk.start, most / 2)
    last = reach.back(chunk.end, most / 2)
    return f"{reach.text[chunk.start : first]}{_LEFT_OUT}{reach.text[last : chunk.end]}", most

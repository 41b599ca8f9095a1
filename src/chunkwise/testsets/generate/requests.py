"""What a model is asked for a question, task by task: in waves no larger than what is still needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice

from chunkwise.core import SECTION_SEPARATOR
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmUsage
from chunkwise.models.llm.language_model import Reply, Request, Schema
from chunkwise.models.llm.prompt import Prompt, fenced, load_prompt
from chunkwise.testsets.generate.plan import QuestionTask
from chunkwise.testsets.generate.question_types import QuestionType
from chunkwise.testsets.generate.source_passages import SourcePassage

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
TRIES = 2
"""Calls one request may take: an answer of the wrong form is asked for once more."""
_IN_A_ROW = 5
"""Requests without an answer after which no more are sent."""


def request_for(task: QuestionTask) -> Request:
    """One question of one kind about these passages."""
    prompt = _prompt(task.kind)
    system, user = prompt.filled(
        passages="\n\n".join(
            _shown(passage, number if len(task.passages) > 1 else None)
            for number, passage in enumerate(task.passages, 1)
        )
    )
    return Request(system, user, SCHEMA, MOST_TOKENS, version=prompt.version)


def prompt_version(kind: QuestionType) -> str:
    """Name, number and hash of the wording."""
    return _prompt(kind).version


def _shown(passage: SourcePassage, number: int | None) -> str:
    """Between marks, with where it stands: the title and the headings are text of the document, too."""
    title, path = passage.document.title, passage.path
    # The first heading of most documents is their title.
    names = path if path and path[0] == title else (title, *path)
    place = SECTION_SEPARATOR.join(filter(None, names))
    text = f"{place}\n\n{passage.text}" if place else passage.text
    return fenced(text, "passage", number)


def _prompt(kind: QuestionType) -> Prompt:
    return load_prompt(f"questions_{kind.replace('-', '_')}")


def ask_in_waves(
    tasks: Iterator[QuestionTask], client: LlmClient, max_calls: int, needed: Callable[[], int]
) -> Iterator[tuple[QuestionTask, Reply]]:
    """In the order of the tasks, until nothing more is needed, the tasks or the calls are used up, or a whole wave and
    five requests in a row went unanswered.

    An answer that is known already counts as a call: a run that is repeated ends where it ended.
    """
    before = client.spent
    in_a_row = 0
    while (count := needed()) > 0:
        used = calls_since(before, client)
        wave = list(islice(tasks, min(count, (max_calls - used) // TRIES)))
        if not wave:
            return
        answered = False
        for task, reply in _in_order(wave, client):
            answered |= reply.is_answered
            in_a_row = 0 if reply.is_answered else in_a_row + 1
            yield task, reply
        # A wave may be one request: the last question that is missing.
        if not answered and in_a_row >= _IN_A_ROW:
            return


def calls_since(before: LlmUsage, client: LlmClient) -> int:
    """Made, or answered from what is kept."""
    return client.spent.calls + client.spent.kept - before.calls - before.kept


def _in_order(wave: list[QuestionTask], client: LlmClient) -> Iterator[tuple[QuestionTask, Reply]]:
    """What comes too early waits; in the client's cache it is safe already."""
    waiting: dict[int, Reply] = {}
    following = 0
    with closing(client.ask_each([request_for(task) for task in wave])) as replies:
        for number, reply in replies:
            waiting[number] = reply
            while following in waiting:
                yield wave[following], waiting.pop(following)
                following += 1

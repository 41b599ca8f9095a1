"""Asks a model task by task: in waves no larger than what is still needed, answers in the order of the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice

from chunkwise.generating.asking import request_for
from chunkwise.generating.tasks import Task
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.reply import Reply

_TRIES = 2
"""Calls one request may take: an answer of the wrong form is asked for once more."""


def answers(
    tasks: Iterator[Task], client: LlmClient, max_calls: int, needed: Callable[[], int]
) -> Iterator[tuple[Task, Reply]]:
    """Until nothing more is needed, the tasks or the calls are used up, or a whole wave went unanswered.

    An answer that is known already counts as a call: a run that is repeated ends where it ended.
    """
    before = client.spent
    while (count := needed()) > 0:
        used = client.spent.calls + client.spent.kept - before.calls - before.kept
        wave = list(islice(tasks, min(count, (max_calls - used) // _TRIES)))
        if not wave:
            return
        answered = False
        for task, reply in _in_order(wave, client):
            answered |= reply.is_answered
            yield task, reply
        if not answered:
            return


def _in_order(wave: list[Task], client: LlmClient) -> Iterator[tuple[Task, Reply]]:
    """What comes too early waits; in the client's cache it is safe already."""
    waiting: dict[int, Reply] = {}
    following = 0
    with closing(client.ask_each([request_for(task) for task in wave])) as replies:
        for number, reply in replies:
            waiting[number] = reply
            while following in waiting:
                yield wave[following], waiting.pop(following)
                following += 1

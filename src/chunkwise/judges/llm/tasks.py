"""What is to be asked of a language model, all of it known before the first request is sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import OnProgress
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Reply, Request


@dataclass(frozen=True, slots=True)
class Task:
    """One request, and who takes the reply."""

    request: Request
    take: Callable[[Reply], None]


def work_through(
    client: LlmClient, tasks: Sequence[Task], advance: OnProgress | None = None
) -> str:
    """Asks all of it; an error that every request would meet is the reason of those that are left, and returned."""
    waiting = dict.fromkeys(range(len(tasks)))

    def took(at: int, reply: Reply) -> None:
        del waiting[at]
        tasks[at].take(reply)
        if advance is not None:
            advance(1, f"{len(tasks) - len(waiting):,} of {len(tasks):,} calls")

    try:
        with closing(client.ask_each([task.request for task in tasks])) as replies:
            for at, reply in replies:
                took(at, reply)
    except ChunkwiseError as error:
        for at in list(waiting):
            took(at, Reply(reason=str(error)))
        return str(error)
    return ""

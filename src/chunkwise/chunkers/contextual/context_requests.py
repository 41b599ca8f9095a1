"""What is asked about many chunks, made when it is asked: a prompt can hold a whole document."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Protocol, overload

from chunkwise.chunkers.contextual.room import ANSWER_TOKENS
from chunkwise.models.llm.language_model import Request
from chunkwise.models.llm.prompt import Prompt

TEMPERATURE = 0.3


class Fill(Protocol):
    """Fills the gaps of a prompt for the chunk at a position of its document."""

    @property
    def shares_prefix(self) -> bool:
        """Whether the prompts of one document begin with the same long text."""

    def values(self, at: int) -> dict[str, str]: ...


class ContextRequests(Sequence[Request]):
    """May be read from several threads."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._asked: list[tuple[Fill, int]] = []
        self._lock = Lock()

    def add(self, fill: Fill, at: int) -> None:
        self._asked.append((fill, at))

    def __len__(self) -> int:
        return len(self._asked)

    @overload
    def __getitem__(self, index: int) -> Request: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Request]: ...

    def __getitem__(self, index: int | slice) -> Request | Sequence[Request]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        fill, at = self._asked[index]
        with self._lock:  # sizes of a document are remembered as they are asked for
            values = fill.values(at)
        system, user = self._prompt.filled(**values)
        user = user.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent
        return Request(
            system, user, max_tokens=ANSWER_TOKENS, temperature=TEMPERATURE,
            version=self._prompt.version, shares_prefix=fill.shares_prefix,
        )  # fmt: skip

"""A lock that a database keeps for one writer, and that ends by itself when the writer is gone."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import thousands

SECONDS = 20.0
"""For which a writer has the index unless it says that it is still there."""
LOOK_AGAIN = 0.2

Take = Callable[[str, float, str], str]
"""`take(writer, until, before)`: in one step of the database the lock is this writer's, where `before` holds it or its
time is over; gives who holds it now. Nobody is an empty text."""


class Lease:
    """Renewed by a thread as long as its writer lives; what is written later may be another writer's."""

    def __init__(self, shown: str, take: Take) -> None:
        self._shown = shown
        self._take = take
        self._held_until = 0.0
        """By the clock that never goes back."""
        self.writer = ""

    @contextmanager
    def held(self, wait: float) -> Iterator[None]:
        self.writer = f"process {os.getpid()}, {secrets.token_hex(8)}"
        self._acquire(wait)
        over = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(over,), daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()
            self._held_until = 0.0
            with suppress(ChunkwiseError):  # it ends by itself
                self._take("", 0.0, self.writer)

    def _acquire(self, wait: float) -> None:
        until = time.monotonic() + wait
        while True:
            asked = time.monotonic()
            holder = self._take(self.writer, time.time() + SECONDS, "")
            if holder == self.writer:
                self._held_until = asked + SECONDS
                return
            if time.monotonic() >= until:
                raise ChunkwiseError(
                    f"{self._shown} is being written by {holder.partition(',')[0] or 'another'}; "
                    f"waited {thousands(wait)} s: try again when it is done"
                )
            time.sleep(LOOK_AGAIN)

    def _renew(self, over: threading.Event) -> None:
        while not over.wait(SECONDS / 4):
            self.renew()

    def renew(self) -> None:
        """What cannot be said now is said next time; once it is over, another may have written, so it stays over."""
        asked = time.monotonic()
        if asked >= self._held_until:
            return
        with suppress(ChunkwiseError):
            is_held = self._take(self.writer, time.time() + SECONDS, self.writer) == self.writer
            self._held_until = asked + SECONDS if is_held else 0.0

    def check(self) -> None:
        """Before every step that writes."""
        if time.monotonic() >= self._held_until:
            raise self.overtaken()

    def overtaken(self) -> ChunkwiseError:
        return ChunkwiseError(
            f"{self._shown}: another writer took over while this one could not be heard; nothing of this update "
            "counts: run it again"
        )

"""Connections of a server: so many per address, and none that takes forever to send a request or to read an answer."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MOST_PER_ADDRESS = 200
HEADER_SECONDS = 10.0
BODY_SECONDS = 60.0
ANSWER_SECONDS = 120.0
"""For the client to read what is sent before more is."""


class Listener(socket.socket):
    """A socket that takes so many connections of one address at a time, and closes others at once."""

    any_number = ""
    """The address that may have as many as it likes: that of a proxy, behind which there are many."""
    _open: tuple[tuple[socket.socket, str], ...] = ()

    def accept(self) -> tuple[socket.socket, Any]:
        while True:
            taken, client = super().accept()
            self._open = tuple(item for item in self._open if item[0].fileno() >= 0)
            there = sum(address == client[0] for _, address in self._open)
            if there < MOST_PER_ADDRESS or client[0] == self.any_number:
                self._open = (*self._open, (taken, client[0]))
                return taken, client
            taken.close()


class _Connection(H11Protocol):
    """HTTP as Uvicorn speaks it, with time-outs."""

    _awaited: object = None
    """What the client is to send; None: it waits itself."""
    _deadline: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for item in (self._deadline, self._reading):
            if item is not None:
                item.cancel()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()

    def _set_deadline(self) -> None:
        """One for all of the headers and one for all of the body, however often a part of them comes."""
        seconds = {h11.IDLE: HEADER_SECONDS, h11.SEND_BODY: BODY_SECONDS}
        awaited = self.conn.their_state if self.conn.their_state in seconds else None
        if awaited is not self._awaited:
            self._awaited = awaited
            if self._deadline is not None:
                self._deadline.cancel()
            self._deadline = None
            if awaited is not None:
                self._deadline = self.loop.call_later(seconds[awaited], self.transport.abort)


def server_of(app: ASGIApp, **settings: Any) -> uvicorn.Server:
    """Runs until Ctrl-C; `settings` are those of Uvicorn that are not the same for every server."""
    config = uvicorn.Config(
        app, loop="asyncio", http=_Connection, ws="none", log_level="critical", access_log=False,
        proxy_headers=False, server_header=False, timeout_graceful_shutdown=1, **settings,
    )  # fmt: skip
    config.load()
    return uvicorn.Server(config)

"""Serves the studio, or its API alone, until it is stopped: on the loopback, or to users over TLS."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlencode

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.options import ServerOptions
from chunkwise.studio.access_control import (
    LOOPBACK,
    Access,
    KeyAccess,
    TokenAccess,
    UserAccess,
    new_token,
)
from chunkwise.studio.accounts import Account, Accounts, Sessions, accounts_in, hashed_key, new_key
from chunkwise.studio.app import Login, server_app
from chunkwise.studio.connections import Listener, server_of
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources
from chunkwise.studio.rate_limits import USUAL_LIMITS, RequestLimits

USUAL_PORT = 8420
_TRIED = 20
"""Ports behind the usual one that are tried where it is taken and none was named."""
_HEAD_START = 0.4
"""Seconds for the first page: what is imported and read meanwhile would take the interpreter from it."""


class ServerSettings(ServerOptions):
    """Where a server listens, who is let in there, and how much may be asked of it."""

    limits: RequestLimits = USUAL_LIMITS

    @property
    def is_local(self) -> bool:
        return self.host in LOOPBACK

    @property
    def any_host(self) -> bool:
        """Where a request may name any host: a browser has compared the certificate with it, or the proxy knows it."""
        return self.tls_cert is not None or bool(self.proxy)

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"

    def check(self) -> str:
        """The address to bind; what would let in others without names or in the clear is refused before all else."""
        if not self.is_local and self.users is None:
            raise InvalidParameter(
                f"host is {self.host!r}; without --users FILE allowed: {', '.join(LOOPBACK)}, as anyone who "
                "reaches it could read your documents. Add users (chunkwise serve users add FILE NAME), or tunnel: "
                f"ssh -L {USUAL_PORT}:127.0.0.1:{USUAL_PORT} HOST"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InvalidParameter("set both --tls-cert and --tls-key")
        for file in (self.users, self.tls_cert, self.tls_key):
            if file is not None and not file.is_file():
                raise InvalidParameter(f"{file} does not exist or is not a file")
        if not self.is_local and self.tls_cert is None and not self.proxy:
            raise InvalidParameter(
                f"host is {self.host!r}, and passwords would be sent unencrypted; set --tls-cert and "
                "--tls-key, or --proxy ADDRESS for a TLS proxy"
            )
        if self.proxy:
            _check_address(self.proxy)
        if self.user_header and not (self.proxy and self.users):
            raise InvalidParameter("--user-header also needs --proxy ADDRESS and --users FILE")
        return "127.0.0.1" if self.host == "localhost" else self.host


def _check_address(text: str) -> None:
    try:
        ip_address(text)
    except ValueError:
        raise InvalidParameter(
            f"proxy is {text!r}; expected the IP address it connects from, such as 127.0.0.1 or 10.0.0.7"
        ) from None


def bound_socket(host: str, port: int | None) -> Listener:
    """One that listens; without a port the usual one, or the next that is free."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [port] if port is not None else [*range(USUAL_PORT, USUAL_PORT + _TRIED), 0]
    problem: OSError | None = None
    for item in wanted:
        made = Listener(kind, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, item))
            made.listen(128)
        except OSError as error:
            made.close()
            problem = error
            continue
        return made
    assert problem is not None
    why = problem.strerror or str(problem)
    raise ChunkwiseError(
        f"port {port} on {host} cannot be used: {why}; choose another with --port, or omit --port"
    )


def serve(
    sources: ProjectSources,
    settings: ServerSettings,
    *,
    has_pages: bool = True,
    page: str = "/documents",
    token: str = "",
    on_ready: Callable[[str, str], None],
) -> None:
    """Serve the studio, or its API alone, until Ctrl-C.

    Args:
        sources: What is served.
        settings: Where, and to whom.
        has_pages: False: only the API.
        page: The first page.
        token: What lets the one user of this machine in; by default a new one.
        on_ready: Gets the address once requests are answered, and a key for this run where there is no other.
    """
    address = settings.check()
    with bound_socket(address, settings.port) as bound:
        bound.any_number = settings.proxy
        port = bound.getsockname()[1]
        project = Project(sources)
        access, login, key = _access(settings, port, has_pages, token)
        first = page if has_pages else "/api"
        if isinstance(access, TokenAccess):
            first = f"{page}?{urlencode({'token': access.token})}"
        app = server_app(
            project, port=port, access=access, limits=settings.limits, login=login, has_pages=has_pages,
            any_host=settings.any_host and not isinstance(access, TokenAccess),
        )  # fmt: skip
        try:
            server = server_of(
                app, lifespan="off", ssl_certfile=settings.tls_cert, ssl_keyfile=settings.tls_key
            )  # fmt: skip
        except OSError as error:  # that of TLS, too, is one
            raise ChunkwiseError(
                f"{settings.tls_cert} and {settings.tls_key} are not a valid TLS certificate and key: {error}"
            ) from None
        shown = f"[{address}]" if ":" in address else address
        # The socket listens already: whoever comes now is answered as soon as the loop runs.
        on_ready(f"{settings.scheme}://{shown}:{port}{first}", key)
        project.start(after=_HEAD_START)
        try:
            server.run(sockets=[bound])
        finally:
            project.stop()


def _access(
    settings: ServerSettings, port: int, has_pages: bool, token: str
) -> tuple[Access, Login | None, str]:
    """Who is let in, where they log in, and a key for this run where nobody else has one."""
    if has_pages and settings.users is None:
        return TokenAccess(token or new_token(), port), None, ""
    key, more = "", accounts_in(os.environ)
    if settings.users is None and not more:
        key = new_key()
        more = [Account("you", "reader", keys=(hashed_key(key),))]
    accounts = Accounts(settings.users, more)
    if not has_pages and not settings.proxy:
        return KeyAccess(accounts), None, key
    sessions = Sessions(accounts)
    access = UserAccess(
        accounts, sessions, port, proxy=settings.proxy, user_header=settings.user_header
    )
    if not has_pages or settings.user_header:
        return access, None, key
    secure = settings.tls_cert is not None or bool(settings.proxy)
    return (
        access,
        Login(accounts, sessions, access.cookie, secure=secure, proxy=settings.proxy),
        key,
    )

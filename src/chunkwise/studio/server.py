"""Serves the studio on the loopback until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlencode

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.studio.app import studio_app
from chunkwise.studio.guard import LOOPBACK, new_token
from chunkwise.studio.project import Project, ProjectSources

USUAL_PORT = 8420
_TRIED = 20
"""Ports behind the usual one that are tried where it is taken and none was named."""
_HEAD_START = 0.4
"""Seconds for the first page: what is imported and read meanwhile would take the interpreter from it."""


def check_host(host: str) -> str:
    """Only this machine may ask; whatever else a host is, it is refused before anything is read."""
    if host not in LOOPBACK:
        raise InvalidParameter(
            f"host is {host!r}; allowed: {', '.join(LOOPBACK)}. The studio has no users and passwords yet, so that "
            "everybody who reaches it could read your documents; from another machine go through a tunnel: "
            f"ssh -L {USUAL_PORT}:127.0.0.1:{USUAL_PORT} HOST"
        )
    return "127.0.0.1" if host == "localhost" else host


def bound_socket(host: str, port: int | None) -> socket.socket:
    """One that listens; without a port the usual one, or the next that is free."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [port] if port is not None else [*range(USUAL_PORT, USUAL_PORT + _TRIED), 0]
    problem: OSError | None = None
    for each in wanted:
        made = socket.socket(kind, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, each))
            made.listen(128)
        except OSError as error:
            made.close()
            problem = error
            continue
        return made
    assert problem is not None
    why = problem.strerror or str(problem)
    raise ChunkwiseError(
        f"port {port} on {host} cannot be used: {why}; name another one: --port {USUAL_PORT}, or leave --port out"
    )


def check_installed() -> None:
    """The exact command, before anything is read or bound."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("the studio", "studio") from None


def serve(
    sources: ProjectSources,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    page: str = "/documents",
    on_ready: Callable[[str], None],
) -> None:
    """Until Ctrl-C; `on_ready` gets the address with the token once requests are answered."""
    address = check_host(host)
    check_installed()
    import uvicorn

    with bound_socket(address, port) as listening:
        own = listening.getsockname()[1]
        token = new_token()
        project = Project(sources)
        config = uvicorn.Config(
            studio_app(project, token=token, port=own),
            loop="asyncio", http="h11", ws="none", lifespan="off", log_level="critical", access_log=False,
            proxy_headers=False, server_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        shown = f"[{address}]" if ":" in address else address
        # The socket listens already: whoever comes now is answered as soon as the loop runs.
        on_ready(f"http://{shown}:{own}{page}?{urlencode({'token': token})}")
        project.start(after=_HEAD_START)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            project.stop()

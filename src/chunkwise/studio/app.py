"""The application: addresses of the API, pages that show the same views, assets; every refusal is a sentence."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from chunkwise import __version__
from chunkwise.base.errors import (
    ChunkwiseError,
    InvalidParameter,
    MissingExtra,
    NotAllowed,
    UnknownName,
    without_passwords,
)
from chunkwise.records.typed import json_text
from chunkwise.report.page import OWN, rendered
from chunkwise.studio.endpoint import Conflict, NotFound, NotReady
from chunkwise.studio.guard import Guard
from chunkwise.studio.project import Project

# The API is imported beside the first page, which is there without it.
if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

    from chunkwise.report.views.view import View

Work = Callable[["Request", bytes], "Response"]
"""From a request and its body to the answer."""
PACKAGE = "chunkwise.studio"
_log = logging.getLogger(PACKAGE)
"""Faults of ours: without a handler of the user's they go to the terminal."""
_AT_ONCE = 4
"""Requests that are worked on at the same time; others wait."""
_BETWEEN_EVENTS = 0.25
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_STATUS: tuple[tuple[type[ChunkwiseError], int], ...] = (
    (NotFound, 404),
    (NotReady, 503),
    (Conflict, 409),
    (NotAllowed, 403),
    (InvalidParameter, 400),
    (UnknownName, 400),
)


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page: where it is, its template, and the addresses of the API whose answers it shows at once."""

    path: str
    template: str
    api: str = ""
    """Empty: its script asks for all it shows."""
    shows_query: bool = True
    """False: the query of its address is for its script alone."""


PAGES = (
    PageRoute("/documents", "documents.html.j2"),
    PageRoute("/documents/{number}", "document.html.j2", "/api/documents/{number}", False),
    PageRoute("/search", "search.html.j2"),
    PageRoute("/runs", "runs.html.j2", "/api/runs"),
    PageRoute("/runs/{number}", "", "/api/runs/{number}"),
    PageRoute("/compare", "comparison.html.j2", "/api/compare"),
    PageRoute("/history", "history.html.j2", "/api/history"),
    PageRoute("/questions", "questions.html.j2", "/api/questions"),
    PageRoute("/question", "question.html.j2", "/api/question"),
    PageRoute("/labelling", "labelling.html.j2"),
    PageRoute("/adjudication", "adjudication.html.j2"),
    PageRoute("/edit", "edit.html.j2"),
)


def studio_app(project: Project, *, token: str, port: int) -> ASGIApp:
    """What a server runs; needs Starlette."""
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.responses import RedirectResponse
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("the studio", "studio") from None
    from anyio import CapacityLimiter

    limiter = CapacityLimiter(_AT_ONCE)

    def answering(work: Work) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            from anyio.to_thread import run_sync

            body = await request.body() if request.method == "POST" else b""
            return await run_sync(partial(_or_refusal, work, request, body), limiter=limiter)

        return answer

    async def home(request: Request) -> Response:
        return RedirectResponse("/documents", 303)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        said = {
            404: f"There is no page {request.url.path}.",
            405: f"{request.method} is not taken here; this address is only read.",
        }.get(error.status_code, error.detail)
        return refusal(request.scope, error.status_code, said)

    async def failed(request: Request, error: Exception) -> Response:
        _log.error("%s %s went wrong", request.method, request.url.path, exc_info=error)
        said = f"This went wrong, and it is a fault of chunkwise: {type(error).__name__}. The terminal says more."
        return refusal(request.scope, 500, said)

    routes = [
        Route("/", home),
        Route("/api/openapi.json", answering(lambda request, body: _json(_description()))),
        Route("/api/events", partial(_events, project)),
        Route("/api/{rest:path}", answering(partial(_api, project)), methods=["GET", "POST"]),
        Route("/assets/{name}", answering(_asset)),
        *(Route(each.path, answering(partial(_page, project, each))) for each in PAGES),
    ]
    handlers: Any = {HTTPException: refused, Exception: failed}
    return Guard(
        Starlette(routes=routes, exception_handlers=handlers),
        token=token,
        port=port,
        refuse=refusal,
    )


def _or_refusal(work: Work, request: Request, body: bytes) -> Response:
    try:
        return work(request, body)
    except ChunkwiseError as error:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
        return refusal(request.scope, status, without_passwords(str(error)))


def refusal(scope: Scope, status: int, sentence: str) -> Response:
    """A sentence: on a page, or as JSON under /api."""
    from starlette.responses import HTMLResponse

    if scope["path"].startswith("/api/"):
        return _json({"error": sentence}, status)
    page = _rendered("refusal.html.j2", None, status=status, sentence=sentence)
    return HTMLResponse(page, status)


def _json(value: object, status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(json_text(value).encode("utf-8"), status, media_type="application/json")


@lru_cache(maxsize=1)
def _description() -> dict[str, Any]:
    from chunkwise.studio.api import ENDPOINTS
    from chunkwise.studio.openapi import openapi

    return openapi(ENDPOINTS, __version__)


def _api(project: Project, request: Request, body: bytes) -> Response:
    from chunkwise.studio.api import endpoint_at

    path = request.url.path
    endpoint, values = endpoint_at(path)
    if endpoint is None:
        raise NotFound(f"there is no address {path!r:.120}; all are described at /api/openapi.json")
    if (request.method == "POST") != (endpoint.method == "POST"):
        said = (
            "this address is only read"
            if endpoint.method == "GET"
            else "send a POST with a body of JSON"
        )
        return refusal(request.scope, 405, f"{request.method} is not taken here; {said}.")
    if endpoint.method == "POST":
        return _json(endpoint.answer(project, endpoint.read_body(values, body)))
    query = request.query_params.multi_items()
    return _json(endpoint.answer(project, endpoint.read(values, query)))


def _view_of(project: Project, page: PageRoute, request: Request) -> Any:
    from chunkwise.studio.api import BY_PATH

    endpoint = BY_PATH[page.api]
    # What only the page's script reads, such as the strategy that is shown, stays in the address for it.
    query = request.query_params.multi_items() if page.shows_query else ()
    return endpoint.answer(project, endpoint.read(request.path_params, query))


def _page(project: Project, page: PageRoute, request: Request, body: bytes) -> Response:
    from starlette.responses import HTMLResponse

    template = page.template
    view: Any = _view_of(project, page, request) if page.api else None
    if not template:
        template, view = view.shown.page_template, view.shown
    return HTMLResponse(_rendered(template, view, title=project.title, path=page.path))


def _rendered(template: str, view: View | None, **values: object) -> str:
    known = {"title": "", "path": "", **values}
    return rendered(template, PACKAGE, view=view, asset_url=asset_url, studio=known)


def _state_of(project: Project) -> Callable[[], str]:
    """The state as JSON, whenever it is asked for."""
    from chunkwise.studio.documents import NoParameters, state

    return lambda: json_text(state(project, NoParameters()))


async def _events(project: Project, request: Request) -> Response:
    """The state whenever it changes, until all is done."""
    from anyio import sleep
    from anyio.to_thread import run_sync
    from starlette.responses import StreamingResponse

    state = await run_sync(_state_of, project)

    async def told() -> AsyncIterator[str]:
        last = ""
        while True:
            working = project.working
            now = state()
            if now != last:
                yield f"data: {now}\n\n"
                last = now
            if not working:
                yield "event: done\ndata: {}\n\n"
                return
            await sleep(_BETWEEN_EVENTS)

    return StreamingResponse(told(), media_type="text/event-stream")


@lru_cache(maxsize=1)
def _assets() -> dict[str, tuple[bytes, str]]:
    """Every style and script by its name, with a version: what is not listed here is not served."""
    found = {}
    for package in (OWN, PACKAGE):
        for file in (files(package) / "assets").iterdir():
            content = file.read_bytes()
            found[file.name] = content, hashlib.sha256(content).hexdigest()[:12]
    return found


def asset_url(name: str) -> str:
    return f"/assets/{name}?v={_assets()[name][1]}"


def _asset(request: Request, body: bytes) -> Response:
    from starlette.responses import Response

    name = request.path_params["name"]
    if name not in _assets():
        raise NotFound(f"there is no asset {name!r:.80}")
    content, version = _assets()[name]
    suffix = re.sub(r".*(?=\.)", "", name)
    # A module imports others by their bare names, which have no version in them: those are asked for again.
    known = request.query_params.get("v") == version
    keep = "private, max-age=31536000, immutable" if known else "no-cache"
    return Response(
        content, media_type=_TYPES[suffix], headers={"cache-control": keep, "etag": f'"{version}"'}
    )

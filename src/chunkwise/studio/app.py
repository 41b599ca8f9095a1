"""The application: addresses of the API, pages that show the same views, assets; every refusal is a sentence."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from http import HTTPStatus
from importlib.resources import files
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from anyio import CapacityLimiter, sleep
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from chunkwise.base.errors import (
    ChunkwiseError,
    InvalidParameter,
    NotAllowed,
    UnknownName,
)
from chunkwise.base.secrets import mask
from chunkwise.base.version import __version__
from chunkwise.base.wording import as_set, counted
from chunkwise.records.json import json_text
from chunkwise.report.page import OWN, rendered
from chunkwise.report.report import Report
from chunkwise.report.to_html import render_in_frame
from chunkwise.studio.access_control import CALLER, Access, Guard
from chunkwise.studio.accounts import Accounts, Caller, Role, Sessions
from chunkwise.studio.limited_requests import limited
from chunkwise.studio.project import Project
from chunkwise.studio.rate_limits import (
    TRIES_A_MINUTE,
    USUAL_LIMITS,
    AskedTooOften,
    RateLimit,
    RequestLimits,
    RequestQueue,
)
from chunkwise.studio.read_request import Conflict, NoParameters, NotFound, NotReady, TooMuch
from chunkwise.studio.request_metrics import RequestMetrics

# The API is imported beside the first page, which is there without it.
if TYPE_CHECKING:
    from starlette.types import ASGIApp, Scope

    from chunkwise.report.view import View
    from chunkwise.studio.api import ApiEndpoint

Work = Callable[[Request, bytes], Response]
"""From a request and its body to the answer."""
PACKAGE = "chunkwise.studio"
_log = logging.getLogger(PACKAGE)
"""Faults of ours: without a handler of the user's they go to the terminal."""
ENDPOINT_PATH = "chunkwise.endpoint"
"""Where the declared address of a request is kept, in its scope: what was asked for may be anything."""
UNITS = "chunkwise.units"
"""What was paid for a request already, in its scope."""
_PICTURE_UNITS = 2.0
_HASHED_AT_ONCE = 2
"""Passwords: each takes 16 MB, and a core for some tenths of a second."""
_BUSY = "Too many requests are waiting; try again in a moment."
_BETWEEN_EVENTS = 0.25
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_STATUS: tuple[tuple[type[ChunkwiseError], int], ...] = (
    (NotFound, 404),
    (NotReady, 503),
    (Conflict, 409),
    (TooMuch, 429),
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
    needs: Role = "reader"


PAGES = (
    PageRoute("/documents", "documents.html.j2"),
    PageRoute("/documents/{number}", "document.html.j2", "/api/documents/{number}", False),
    PageRoute("/search", "search.html.j2"),
    PageRoute("/ask", "ask.html.j2"),
    PageRoute("/sweeps", "sweeps.html.j2"),
    PageRoute("/runs", "runs.html.j2", "/api/runs"),
    PageRoute("/runs/{number}", "", "/api/runs/{number}"),
    PageRoute("/compare", "", "/api/compare"),
    PageRoute("/history", "", "/api/history"),
    PageRoute("/questions", "questions.html.j2", "/api/questions"),
    PageRoute("/question", "question.html.j2", "/api/question"),
    PageRoute("/labeling", "labeling.html.j2", needs="labeler"),
    PageRoute("/adjudication", "adjudication.html.j2", needs="labeler"),
    PageRoute("/edit", "question_review.html.j2", needs="owner"),
)


class Server:
    """What requests are answered with: the project, the addresses, what may be asked how often, what was counted."""

    def __init__(self, project: Project, limits: RequestLimits, *, has_pages: bool = True) -> None:
        self.project, self.limits, self.has_pages = project, limits, has_pages
        self.rate = RateLimit(limits.units_a_minute)
        self.queue = RequestQueue(limits.at_once + limits.waiting)
        self.metrics = RequestMetrics()
        self._limiter: CapacityLimiter | None = None

    @property
    def endpoints(self) -> Sequence[ApiEndpoint]:
        from chunkwise.studio.api import ENDPOINTS, SERVICE

        return ENDPOINTS if self.has_pages else SERVICE

    def answering(self, work: Work, path: str = "") -> Callable[[Request], Awaitable[Response]]:
        """In a thread, when its turn has come; `path` is what is counted, where the work does not say it."""

        self._limiter = self._limiter or CapacityLimiter(self.limits.at_once)
        limiter = self._limiter

        async def answer(request: Request) -> Response:

            began, counted = monotonic(), path
            body = await request.body() if request.method == "POST" else b""
            if not self.queue.enter():
                answered = refusal(request.scope, 503, _BUSY, retry=5)
            else:
                try:
                    answered = await run_sync(
                        partial(self._answer_of, work, request, body), limiter=limiter
                    )
                    counted = path or request.scope.get(ENDPOINT_PATH, "other")
                finally:
                    self.queue.leave()
            self.metrics.count(
                request.method, counted or "other", answered.status_code, monotonic() - began
            )
            return answered

        return answer

    def _answer_of(self, work: Work, request: Request, body: bytes) -> Response:
        """Within the limits of one request; processor time beyond what was declared is paid for afterwards."""
        caller: Caller | None = request.scope.get(CALLER)
        began = thread_time()
        try:
            return _or_refusal(
                lambda request, body: limited(lambda: work(request, body)), request, body
            )
        finally:
            units = (thread_time() - began) * self.limits.units_a_second - request.scope.get(
                UNITS, 0
            )
            if caller is not None and units > 0:
                self.rate.charge(caller.name, units)

    def check_role(self, request: Request, role: Role) -> None:
        caller: Caller = request.scope[CALLER]
        if not caller.may(role):
            raise NotAllowed(
                f"this needs the role {role}; {caller.name} is a {caller.role}. The owner of the users file "
                "can change it: chunkwise serve users role FILE NAME ROLE"
            )

    def pay(self, request: Request, units: float) -> None:
        """What a request costs, before it is answered."""
        caller: Caller = request.scope[CALLER]
        request.scope[UNITS] = units
        if wait := self.rate.take(caller.name, units):
            raise AskedTooOften(
                f"rate limit exceeded for {caller.name}: {counted(self.limits.units_a_minute, 'unit')} per minute; "
                f"this request costs {as_set(units)}; try again in {counted(wait, 'second')}",
                wait,
            )

    def gauges(self) -> dict[str, tuple[str, float]]:
        project = self.project
        return {
            "chunkwise_requests_now": ("Requests in progress or waiting.", self.queue.length),
            "chunkwise_documents": ("Documents loaded.", len(project.corpus)),
            "chunkwise_ready": ("1 if an index can be searched.", float(project.index is not None)),
        }


def server_app(
    project: Project,
    *,
    port: int,
    access: Access,
    limits: RequestLimits = USUAL_LIMITS,
    login: Login | None = None,
    any_host: bool = False,
    has_pages: bool = True,
) -> ASGIApp:
    """Build the application: pages and API, or the API without pages. Needs Starlette."""

    server = Server(project, limits, has_pages=has_pages)
    answering = server.answering

    async def home(request: Request) -> Response:
        return RedirectResponse("/documents", 303)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        message = {
            404: f"There is no page {request.url.path}.",
            405: f"{request.method} is not allowed here; use GET.",
        }.get(error.status_code, error.detail)
        return refuse(request.scope, error.status_code, message)

    async def left(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it

    async def failed(request: Request, error: Exception) -> Response:
        _log.error("%s %s went wrong", request.method, request.url.path, exc_info=error)
        message = f"Internal error: {type(error).__name__}. The terminal shows details."
        return refuse(request.scope, 500, message)

    def refuse(scope: Scope, status: int, sentence: str) -> Response:
        if login is not None and status == 401 and not scope["path"].startswith("/api/"):
            return login.redirect(scope["path"])
        return refusal(scope, status, sentence, pages=has_pages)

    routes = [
        Route("/api/openapi.json", answering(partial(_described, server), "/api/openapi.json")),
        Route("/api/events", partial(_events, project, _state)),
        *(
            [
                Route("/api/sweeps/events", partial(_events, project, _sweeps)),
                Route("/api/drafts/events", partial(_events, project, _drafts)),
            ]
            if has_pages
            else []
        ),
        Route(
            "/api/documents/{number:int}/pages/{page:int}.png",
            answering(partial(_picture, server), "/api/documents/{number}/pages/{page}.png"),
        ),
        Route("/api/{rest:path}", answering(partial(_api, server)), methods=["GET", "POST"]),
        Route("/metrics", answering(partial(_metrics, server), "/metrics")),
    ]
    if has_pages:
        routes += [
            Route("/", home),
            Route("/assets/{name}", answering(_asset, "/assets")),
            *(Route(item.path, answering(partial(_page, server, item), item.path)) for item in PAGES),
        ]  # fmt: skip
    open_paths: frozenset[str] = frozenset()
    if login is not None:
        routes += login.routes()
        open_paths = frozenset({"/login", *(f"/assets/{name}" for name in _assets())})
    handlers: Any = {HTTPException: refused, ClientDisconnect: left, Exception: failed}
    return Guard(
        Starlette(routes=routes, exception_handlers=handlers),
        access=access,
        port=port,
        refuse=refuse,
        any_host=any_host,
        open_paths=open_paths,
        limits=limits,
    )


def _or_refusal(work: Work, request: Request, body: bytes) -> Response:
    try:
        return work(request, body)
    except ChunkwiseError as error:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
        retry = error.seconds if isinstance(error, AskedTooOften) else 0
        return refusal(request.scope, status, mask(str(error)), retry=retry)


class Login:
    """The page to log in, for people whom a file of users knows; an address has few tries, and fewer for one name."""

    def __init__(
        self,
        accounts: Accounts,
        sessions: Sessions,
        cookie: str,
        *,
        secure: bool,
        proxy: str = "",
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._accounts, self._sessions, self._cookie = accounts, sessions, cookie
        self._secure, self._proxy = secure, proxy
        self._hashing: CapacityLimiter | None = None
        self._tries = RateLimit(TRIES_A_MINUTE, now)

    def redirect(self, path: str) -> Response:

        return RedirectResponse(f"/login?{urlencode({'next': path})}", 303)

    def routes(self) -> list[Any]:

        return [
            Route("/login", self._answer, methods=["GET", "POST"]),
            Route("/logout", self._leave, methods=["POST"]),
        ]

    async def _answer(self, request: Request) -> Response:

        wanted = "/" + request.query_params.get("next", "/documents").lstrip("/\\")
        if request.method == "GET":
            return HTMLResponse(_rendered("login.html.j2", None, sentence="", wanted=wanted))
        given = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        name, password = given.get("name", ""), given.get("password", "")
        address = self._address(request)
        if wait := self._tries.take(address, 1) or self._tries.take(f"{address} {name}", 2):
            message = f"Too many attempts; try again in {counted(wait, 'second')}."
            return HTMLResponse(
                _rendered("login.html.j2", None, sentence=message, wanted=wanted), 429
            )
        self._hashing = self._hashing or CapacityLimiter(_HASHED_AT_ONCE)
        caller = await run_sync(self._accounts.of_password, name, password, limiter=self._hashing)
        if caller is None:
            message = "The name or password is wrong."
            return HTMLResponse(
                _rendered("login.html.j2", None, sentence=message, wanted=wanted), 401
            )
        answer = RedirectResponse(wanted, 303)
        answer.set_cookie(
            self._cookie, self._sessions.begin(caller.name, monotonic()), path="/", httponly=True,
            samesite="lax", secure=self._secure,
        )  # fmt: skip
        return answer

    def _address(self, request: Request) -> str:
        """Whose tries count; a proxy writes the address that it was asked from behind those it was sent."""
        address = request.client.host if request.client else ""
        if self._proxy and address == self._proxy:
            named = request.headers.getlist("x-forwarded-for")
            return ",".join(named).rpartition(",")[2].strip() or address
        return address

    async def _leave(self, request: Request) -> Response:

        self._sessions.end(request.cookies.get(self._cookie, ""))
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(self._cookie, path="/")
        return answer


def refusal(
    scope: Scope, status: int, sentence: str, *, retry: int = 0, pages: bool = True
) -> Response:
    """A sentence: on a page, or as JSON under /api and where there are no pages."""

    if not pages or scope["path"].startswith("/api/"):
        answer = _json({"error": sentence}, status)
    else:
        heading = HTTPStatus(status).phrase
        page = _rendered(
            "refusal.html.j2", None, heading=heading, sentence=sentence, caller=scope.get(CALLER)
        )
        answer = HTMLResponse(page, status)
    if retry:
        answer.headers["retry-after"] = str(retry)
    if status == 401:
        answer.headers["www-authenticate"] = "Bearer"
    return answer


def _json(value: object, status: int = 200) -> Response:

    return Response(json_text(value).encode("utf-8"), status, media_type="application/json")


def _described(server: Server, request: Request, body: bytes) -> Response:
    from chunkwise.studio.openapi import openapi

    title = "chunkwise studio" if server.has_pages else "chunkwise"
    return _json(openapi(server.endpoints, __version__, title))


def _metrics(server: Server, request: Request, body: bytes) -> Response:

    text = server.metrics.text(server.gauges())
    return Response(text.encode(), media_type="text/plain; version=0.0.4")


def _api(server: Server, request: Request, body: bytes) -> Response:
    from chunkwise.studio.api import endpoint_at

    path = request.url.path
    endpoint, values = endpoint_at(path, server.endpoints)
    if endpoint is None:
        raise NotFound(f"no endpoint {path!r:.120}; see /api/openapi.json")
    if endpoint.method != request.method.replace("HEAD", "GET"):
        hint = "GET" if endpoint.method == "GET" else "POST with a JSON body"
        return refusal(request.scope, 405, f"{request.method} is not allowed; use {hint}.")
    request.scope[ENDPOINT_PATH] = endpoint.path
    server.check_role(request, endpoint.needs)
    server.pay(request, endpoint.units)
    asked = endpoint.read(values, request.query_params.multi_items(), body)
    return _json(endpoint.answer(server.project, _signed(asked, request.scope[CALLER])))


def _signed(asked: Any, caller: Caller) -> Any:
    """What somebody who logged in says is signed with that name, whatever the request says."""
    is_signed = caller.is_known and hasattr(asked, "who")
    return msgspec.structs.replace(asked, who=caller.name) if is_signed else asked


def _picture(server: Server, request: Request, body: bytes) -> Response:

    from chunkwise.studio.pdf_pages import picture

    server.pay(request, _PICTURE_UNITS)
    values = request.path_params
    drawn = picture(server.project, values["number"], values["page"])
    return Response(
        drawn, media_type="image/png", headers={"cache-control": "private, max-age=600"}
    )


def _view_of(server: Server, page: PageRoute, request: Request) -> Any:
    from chunkwise.studio.api import BY_PATH

    endpoint = BY_PATH[page.api]
    server.pay(request, endpoint.units)
    # What only the page's script reads, such as the strategy that is shown, stays in the address for it.
    query = request.query_params.multi_items() if page.shows_query else ()
    asked = _signed(endpoint.read(request.path_params, query), request.scope[CALLER])
    return endpoint.answer(server.project, asked)


def _page(server: Server, page: PageRoute, request: Request, body: bytes) -> Response:

    server.check_role(request, page.needs)
    template, project = page.template, server.project
    view: Any = _view_of(server, page, request) if page.api else None
    if not template:
        view = view if isinstance(view, Report) else view.report
    caller: Caller = request.scope[CALLER]
    return HTMLResponse(
        _rendered(template, view, title=project.title, path=page.path, caller=caller)
    )


def _rendered(template: str, view: View | Report | None, **values: object) -> str:
    """A page in the studio's frame."""
    known = {"title": "", "path": "", "caller": None, **values}
    if isinstance(view, Report):
        return render_in_frame(view, PACKAGE, asset_url=asset_url, studio=known)
    return rendered(template, PACKAGE, view=view, asset_url=asset_url, studio=known)


Progress = Callable[[Project], tuple[str, bool]]
"""The state now, as JSON, and whether more will come."""


def _state(project: Project) -> tuple[str, bool]:
    from chunkwise.studio.documents import state

    working = project.working  # asked first: what comes to its end meanwhile is sent once more
    return json_text(state(project, NoParameters())), working


def _sweeps(project: Project) -> tuple[str, bool]:
    from chunkwise.studio.sweeps import is_running, sweeps

    running = is_running(project)
    return json_text(sweeps(project, NoParameters())), running


def _drafts(project: Project) -> tuple[str, bool]:
    from chunkwise.studio.draft_questions import drafts, is_running

    running = is_running(project)
    return json_text(drafts(project, NoParameters())), running


async def _events(project: Project, progress: Progress, request: Request) -> Response:
    """Send the state whenever it changes, until all is done."""

    async def events() -> AsyncIterator[str]:
        last = ""
        while True:
            now, goes_on = await run_sync(progress, project)
            if now != last:
                yield f"data: {now}\n\n"
                last = now
            if not goes_on:
                yield "event: done\ndata: {}\n\n"
                return
            await sleep(_BETWEEN_EVENTS)

    return StreamingResponse(events(), media_type="text/event-stream")


@lru_cache(maxsize=1)
def _assets() -> dict[str, tuple[bytes, str]]:
    """Every style and script by its name, with a version: what is not listed here is not served."""
    result = {}
    for package in (OWN, PACKAGE):
        for file in (files(package) / "assets").iterdir():
            content = file.read_bytes()
            result[file.name] = content, hashlib.sha256(content).hexdigest()[:12]
    return result


def asset_url(name: str) -> str:
    return f"/assets/{name}?v={_assets()[name][1]}"


def _asset(request: Request, body: bytes) -> Response:

    name = request.path_params["name"]
    if name not in _assets():
        raise NotFound(f"no asset {name!r:.80}")
    content, version = _assets()[name]
    suffix = re.sub(r".*(?=\.)", "", name)
    # A module imports others by their bare names, which have no version in them: those are asked for again.
    known = request.query_params.get("v") == version
    keep = "private, max-age=31536000, immutable" if known else "no-cache"
    return Response(
        content, media_type=_TYPES[suffix], headers={"cache-control": keep, "etag": f'"{version}"'}
    )

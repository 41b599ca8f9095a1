"""Who may ask the server anything: the right host, the right origin, the token, and no more than a bounded body."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_BYTES = 1 << 20
"""Of the body of a request."""
_SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing inline runs or styles, and nothing comes from or goes to anywhere else."""
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Refuse = Callable[["Scope", int, str], "Response"]
"""Makes the answer to a refused request: a sentence on a page, or as JSON under /api."""


def new_token() -> str:
    return secrets.token_urlsafe(24)


class Guard:
    """Stands before the whole application: no address, asset or error page is served without it."""

    def __init__(self, app: ASGIApp, *, token: str, port: int, refuse: Refuse) -> None:
        self._app = app
        self._token = token
        self._refuse = refuse
        self.cookie = f"chunkwise_{port}"
        """Cookies know no ports: two studios on one machine keep theirs apart by the name."""
        names = ["127.0.0.1", "localhost", "[::1]"]
        self._hosts = {f"{name}:{port}" for name in names}
        if port == 80:
            self._hosts |= set(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # there are no web sockets here
        headers = _texts(scope)
        refused = self._why_not(scope, headers)
        if refused is not None:
            await self._refuse(scope, *refused)(scope, receive, _with_headers(send))
            return
        token = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if token is not None and scope["method"] in _SAFE:
            await self._let_in(scope, receive, send)
            return
        await self._bounded(scope, receive, _with_headers(send))

    def _why_not(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and sentence; None: come in."""
        if headers.get("host", "").lower() not in self._hosts:
            return 403, (
                "This studio answers to its own address on this machine alone (127.0.0.1 or localhost, with its port); "
                "the request names another host."
            )
        origin = headers.get("origin")
        own = {f"http://{host}" for host in self._hosts}
        if origin is not None and origin.lower() not in own:
            return (
                403,
                "The request comes from a page of another site; the studio takes none of those.",
            )
        if scope["method"] not in _SAFE and origin is None and "authorization" not in headers:
            return (
                403,
                "A request that changes something has to say which page it comes from (Origin).",
            )
        site = headers.get("sec-fetch-site", "none")
        goes_there = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in _SAFE
        if site not in ("none", "same-origin") and (not goes_there or _is_api(scope)):
            return (
                403,
                "The request comes from a page of another site; the studio takes none of those.",
            )
        if not self._has_token(scope, headers):
            return 403, (
                "The token is missing or wrong. Open the address that `chunkwise studio` printed when it was started; "
                "a script sends the token as `Authorization: Bearer TOKEN`."
            )
        length = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,15}", length) or int(length) > MOST_BYTES:
            return 413, f"The request is too large: {MOST_BYTES:,} bytes is the most that is taken."
        return None

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        given = [query.get("token"), _cookie(headers.get("cookie", ""), self.cookie)]
        scheme, _, said = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given.append(said.strip())
        return any(
            hmac.compare_digest(each.encode("utf-8", "replace"), self._token.encode())
            for each in given
            if each
        )

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The token becomes a cookie, and leaves the address: addresses are kept, shown and sent on."""
        from starlette.responses import RedirectResponse

        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # A path that begins with two slashes would be the address of another server.
        path = "/" + scope["path"].lstrip("/\\")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.set_cookie(self.cookie, self._token, path="/", httponly=True, samesite="lax")
        await answer(scope, receive, _with_headers(send))

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A body without a length is counted as it comes."""
        seen, began = 0, False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > MOST_BYTES:
                raise _TooMuch
            return message

        async def told(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self._app(scope, counted, told)
        except _TooMuch:
            if not began:
                said = f"The request is too large: {MOST_BYTES:,} bytes is the most that is taken."
                await self._refuse(scope, 413, said)(scope, receive, send)


class _TooMuch(Exception):
    """A body went over what is taken."""


def _is_api(scope: Scope) -> bool:
    return bool(scope["path"].startswith("/api/"))


def _texts(scope: Scope) -> dict[str, str]:
    """The headers by their names; of one that is sent twice the first, joined with the second by a comma."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _cookie(header: str, wanted: str) -> str:
    """Browsers send those of every server on this host."""
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        if name == wanted:
            return value
    return ""


def _with_headers(send: Send) -> Send:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", [])}
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            kept = [each for each in own if each[0] not in there]
            message = {**message, "headers": [*message.get("headers", []), *kept]}
        await send(message)

    return sent

"""Who may ask the server anything: by host, origin, token, key or session."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from chunkwise.base.wording import counted
from chunkwise.studio.accounts import Accounts, Caller, Sessions
from chunkwise.studio.rate_limits import USUAL_LIMITS, RequestLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


LOOPBACK = ("127.0.0.1", "localhost", "::1")
CALLER = "chunkwise.caller"
"""Where the application finds who asks, in the scope of a request."""
TOKEN_FILE = "studio-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
_SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing inline runs or styles, and nothing comes from or goes to anywhere else."""
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # Not "no-referrer": with it a browser sends the forms of our own pages with the origin "null".
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Refuse = Callable[["Scope", int, str], Response]
"""Makes the answer to a refused request: a sentence on a page, or as JSON under /api."""
_FROM_ELSEWHERE = "Requests from pages of other sites are refused."


def new_token() -> str:
    return secrets.token_urlsafe(24)


def kept_token(folder: Path, *, renew: bool = False) -> str:
    """The token of a project folder, so that open pages outlive a restart; made where there is none.

    Only its owner may read the file. Where it cannot be written, the token lasts for this run.
    """
    file = folder / TOKEN_FILE
    try:
        is_private = stat.S_ISREG(file.lstat().st_mode) and not file.stat().st_mode & 0o077
        known = file.read_text("ascii").strip() if is_private and not renew else ""
    except (OSError, UnicodeDecodeError):
        known = ""
    if _TOKEN.fullmatch(known):
        return known
    token = new_token()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # a link, and what others may read, are not written to
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(f"{token}\n")
        ignored = folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text(f"{TOKEN_FILE}\n", "utf-8")
    return token


class Access(Protocol):
    """How somebody is known."""

    cookie: str
    """The name of the cookie it is known by; empty: none is."""

    def caller(self, scope: Scope, headers: dict[str, str]) -> Caller | None:
        """None: nobody who may come in."""

    def refusal(self, scope: Scope) -> tuple[int, str]:
        """What is said then."""


class TokenAccess:
    """One user on this machine, who has the address that the command printed."""

    def __init__(self, token: str, port: int) -> None:
        self.token = token
        self.cookie = f"chunkwise_{port}"
        """Cookies know no ports: two studios on one machine keep theirs apart by the name."""

    def caller(self, scope: Scope, headers: dict[str, str]) -> Caller | None:
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        given = [query.get("token"), cookie_in(headers, self.cookie), _bearer(headers)]
        known = any(
            hmac.compare_digest(item.encode("utf-8", "replace"), self.token.encode())
            for item in given
            if item
        )
        return Caller("you", "owner") if known else None

    def refusal(self, scope: Scope) -> tuple[int, str]:
        return 403, (
            "The token is missing or wrong. Open the URL that `chunkwise studio` printed at startup. "
            "A script sends the token as `Authorization: Bearer TOKEN`."
        )


class KeyAccess:
    """Programs that send a key; no cookie, so that no page can ask in somebody's name."""

    cookie = ""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def caller(self, scope: Scope, headers: dict[str, str]) -> Caller | None:
        key = _bearer(headers) or headers.get("x-api-key", "")
        return self._accounts.of_key(key) if key else None

    def refusal(self, scope: Scope) -> tuple[int, str]:
        return 401, (
            "The key is missing or wrong; send it as `Authorization: Bearer KEY`. "
            "`chunkwise serve users key FILE NAME` makes one."
        )


class UserAccess:
    """People who log in, programs with keys, and whoever a trusted proxy says that it is."""

    def __init__(
        self,
        accounts: Accounts,
        sessions: Sessions,
        port: int,
        *,
        proxy: str = "",
        user_header: str = "",
    ) -> None:
        self._accounts, self._sessions = accounts, sessions
        self._proxy, self._user_header = proxy, user_header.lower()
        self._keys = KeyAccess(accounts)
        self.cookie = f"chunkwise_{port}"

    def caller(self, scope: Scope, headers: dict[str, str]) -> Caller | None:
        if self._proxy and (scope.get("client") or ("",))[0] != self._proxy:
            return None
        if self._user_header:
            # Whom the proxy let in counts, and nobody else: what a browser sends by itself was taken out there.
            account = self._accounts.named(headers.get(self._user_header, ""))
            return account.caller if account else None
        if "authorization" in headers or "x-api-key" in headers:
            return self._keys.caller(scope, headers)
        token = cookie_in(headers, self.cookie)
        return self._sessions.caller(token, time.monotonic()) if token else None

    def refusal(self, scope: Scope) -> tuple[int, str]:
        if self._proxy and (scope.get("client") or ("",))[0] != self._proxy:
            return 403, "This studio only accepts requests from its proxy."
        if self._user_header:
            return (
                403,
                "The proxy names a user who is not in the users file; ask its owner to add you.",
            )
        return 401, "Log in first; a script sends a key as `Authorization: Bearer KEY`."


class Guard:
    """Stands before the whole application: no address, asset or error page is served without it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        port: int,
        refuse: Refuse,
        any_host: bool = False,
        open_paths: frozenset[str] = frozenset(),
        limits: RequestLimits = USUAL_LIMITS,
    ) -> None:
        self._app = app
        self._access = access
        self._refuse = refuse
        self._any_host = any_host
        """Where others come in by names that are not known here; what they have, no other site can send."""
        self._open = open_paths
        """Answered to everybody: the page to log in, and what it is drawn with."""
        self._most_bytes = limits.most_bytes
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
        caller = self._access.caller(scope, headers)
        refused = self._why_not(scope, headers, caller)
        if refused is not None:
            await self._refuse(scope, *refused)(scope, receive, _with_headers(send))
            return
        scope = {**scope, CALLER: caller}
        token = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if token is not None and scope["method"] in _SAFE and isinstance(self._access, TokenAccess):
            await self._let_in(self._access, scope, receive, send)
            return
        await self._bounded(scope, receive, _with_headers(send))

    def _why_not(
        self, scope: Scope, headers: dict[str, str], caller: Caller | None
    ) -> tuple[int, str] | None:
        """Status and sentence; None: come in."""
        host = headers.get("host", "").lower()
        if not self._any_host and host not in self._hosts:
            return 403, (
                "This server only accepts requests to 127.0.0.1 or localhost with its port; "
                "the request names another host."
            )
        origin = headers.get("origin")
        own = {f"{scheme}://{host}" for scheme in ("http", "https")}
        own = own if self._any_host else {f"http://{item}" for item in self._hosts}
        if origin is not None and origin.lower() not in own:
            return 403, _FROM_ELSEWHERE
        # What comes without a cookie is asked in nobody's name: all that it lacks is a key.
        is_scripted = (
            not self._access.cookie or "authorization" in headers or "x-api-key" in headers
        )
        if scope["method"] not in _SAFE and origin is None and not is_scripted:
            return (
                403,
                "A request that changes data needs an Origin header.",
            )
        site = headers.get("sec-fetch-site", "none")
        goes_there = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in _SAFE
        if site not in ("none", "same-origin") and (not goes_there or _is_api(scope)):
            return 403, _FROM_ELSEWHERE
        if caller is None and scope["path"] not in self._open:
            return self._access.refusal(scope)
        length = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,15}", length) or int(length) > self._most_bytes:
            return 413, self._too_large
        return None

    @property
    def _too_large(self) -> str:
        return f"The request is too large; at most {counted(self._most_bytes, 'byte')} are allowed."

    async def _let_in(
        self, access: TokenAccess, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """The token becomes a cookie, and leaves the address: addresses are kept, shown and sent on."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # A path that begins with two slashes would be the address of another server.
        path = "/" + scope["path"].lstrip("/\\")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.set_cookie(access.cookie, access.token, path="/", httponly=True, samesite="lax")
        await answer(scope, receive, _with_headers(send))

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A body without a length is counted as it comes."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most_bytes:
                raise HTTPException(413, self._too_large)
            return message

        await self._app(scope, counted, send)


def _is_api(scope: Scope) -> bool:
    return bool(scope["path"].startswith("/api/"))


def _texts(scope: Scope) -> dict[str, str]:
    """The headers by their names; of one that is sent twice the first, joined with the second by a comma."""
    result: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        result[key] = f"{result[key]}, {text}" if key in result else text
    return result


def _bearer(headers: dict[str, str]) -> str:
    scheme, _, said = headers.get("authorization", "").partition(" ")
    return said.strip() if scheme.lower() == "bearer" else ""


def cookie_in(headers: dict[str, str], wanted: str) -> str:
    """Browsers send those of every server on this host."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == wanted:
            return value
    return ""


def _with_headers(send: Send) -> Send:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", [])}
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            kept = [item for item in own if item[0] not in there]
            message = {**message, "headers": [*message.get("headers", []), *kept]}
        await send(message)

    return sent

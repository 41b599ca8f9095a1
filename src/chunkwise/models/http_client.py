"""JSON to a model's endpoint and back: its address, time-outs, retries, bounds, what went wrong, and a hidden key."""

from __future__ import annotations

import hashlib
import json
import os
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from threading import Event, Lock
from typing import Any, NamedTuple, TypeVar
from urllib.parse import SplitResult, parse_qsl, urlsplit

from chunkwise.base.allow_hosts_and_code_from_files import PROVIDERS
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.parameters import check, param
from chunkwise.base.retries import Retryable, retry, retry_after, within
from chunkwise.base.secrets import mask_keys, names_secret, use_key
from chunkwise.base.wording import as_set, counted, shortened, thousands


def split_url(url: str) -> SplitResult:
    """The parts of an http or https URL; anything else is refused with what is allowed."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        # Not the URL itself: it may hold a key.
        raise InvalidParameter("not an endpoint URL; allowed: https://host/path or http://…")
    return parts


def parse_public_url(url: str) -> SplitResult:
    """The parts of a URL that holds no key: it would end up in labels, files and other people's logs."""
    parts = split_url(url)
    advice = "put the key into an environment variable and give the variable's name"
    if "@" in parts.netloc:
        raise InvalidParameter(
            f"the URL for {parts.hostname} has a user name or password in it; {advice}"
        )
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if names_secret(name) or name.lower() == "code":
            raise InvalidParameter(f"the URL for {parts.hostname} has a key in its query; {advice}")
    return parts


def place(url: str) -> str:
    """Host and path: what errors and cache keys may show."""
    parts = split_url(url)
    return f"{parts.netloc.rpartition('@')[2].lower()}{parts.path}"


def place_and_query(url: str) -> str:
    """The place and a hash of the query: two deployments are told apart, and none is shown."""
    query = split_url(url).query
    mark = f"?{hashlib.sha256(query.encode('utf-8', 'replace')).hexdigest()[:12]}" if query else ""
    return f"{place(url)}{mark}"


def with_path(url: str, ending: str, bare: str) -> str:
    """`url` with `ending` behind its path unless it is there; a host alone gets `bare`; a query stays."""
    parts = split_url(url)
    path = parts.path.rstrip("/")
    if not path:
        path = bare
    elif not path.endswith(ending):
        path += ending
    return parts._replace(path=path, fragment="").geturl()


BY_HOST = PROVIDERS
ANY_OTHER = "CHUNKWISE_API_KEY"
"""For a server of one's own, or one not listed; a server that needs no key is asked without."""


def key_variable_for(url: str) -> str:
    return BY_HOST.get(split_url(url).hostname or "", ANY_OTHER)


_LONGEST = 240


class EndpointError(ChunkwiseError):
    """An endpoint refused, failed or answered nonsense; says where, what it said and what to check."""

    def __init__(
        self, endpoint: str, reason: str, advice: str = "", status: int | None = None
    ) -> None:
        reason = mask_keys(reason)  # before anybody pickles or logs it
        super().__init__(endpoint, reason, advice, status)
        self.endpoint = endpoint
        self.reason = reason
        self.advice = advice
        self.status = status

    def __str__(self) -> str:
        text = f"{self.endpoint} {self.reason}"
        return f"{text}; {self.advice}" if self.advice else text


class NoAnswer(EndpointError):
    """Nobody was there, or nothing whole came back."""


def excerpt(text: str, key: str | None = None, most: int = _LONGEST) -> str:
    """The beginning on one line, only characters that show, and nothing of a key."""
    head = mask_keys(text[: 4 * most], key)
    shown = " ".join("".join(c if c.isprintable() else " " for c in head).split())
    return shortened(shown, most)


def first_words(text: str) -> str:
    """Enough of a text to find it again."""
    return f"“{excerpt(text, most=60)}” ({counted(len(text), 'character')})"


_AGAIN = frozenset({408, 409, 425, 429})
_NEVER = frozenset({501, 505, 511})


def worth_another_try(status: int, body: bytes) -> bool:
    """Whether the same request may be answered later; a spent quota will not be."""
    if status == 429 and b"insufficient_quota" in body:
        return False
    return status in _AGAIN or (500 <= status < 600 and status not in _NEVER)


Result = TypeVar("Result")

_LONGEST_REFUSAL = 65_536
_TOO_LONG = 5
"""Times our longest wait; a server that asks for more will not answer while anybody waits."""
_MARGIN = 0.1
"""Seconds after which a request ends however its bytes drip in; the library's time-outs, which say more, come first."""
ENDPOINT_THREADS = "chunkwise-endpoint"
"""How the names of threads begin that wait for a model's answer."""
_GAVE_UP = frozenset({504, 524})
"""Said by one in front of the server, which may be at work still."""


@dataclass(frozen=True)
class Endpoint:
    """Where to ask and how patiently; the key itself is no part of it, only the variable's name."""

    url: str = field(repr=False)
    model: str = ""
    key_variable: str | None = None
    timeout: float = param(
        60.0, "maximum size of an answer", unit="seconds", low=0.001, high=86_400.0
    )
    attempts: int = param(5, "maximum attempts per request", low=1, high=20)
    backoff: float = param(
        0.5,
        "first delay between attempts; later ones double",
        unit="seconds",
        low=0.0,
        high=86_400.0,
    )
    longest_wait: float = param(
        60.0, "maximum delay between attempts", unit="seconds", low=0.0, high=86_400.0
    )
    most_bytes: int = param(64 << 20, "maximum size of an answer", unit="bytes", low=1)
    method: str = "POST"
    key_form: str = "Authorization: Bearer {}"
    """The header that holds the key."""
    headers: tuple[tuple[str, str], ...] = ()
    """Others that it wants."""
    connect_timeout: float = param(
        15.0, "maximum wait for a connection", unit="seconds", low=0.001, high=86_400.0
    )

    def __post_init__(self) -> None:
        check(self)
        parse_public_url(self.url)

    @property
    def place(self) -> str:
        """Host and path: what errors and cache keys may show, without a query that may hold secrets."""
        return place(self.url)

    def key(self) -> str | None:
        """The key as the environment has it now; a server on this machine may need none."""
        key = os.environ.get(self.key_variable, "").strip() if self.key_variable else ""
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            raise EndpointError(
                self.place, "was not called", f"{self.key_variable} has invalid characters"
            )
        return use_key(key) if key else None


class _Answer(NamedTuple):
    status: int
    body: bytes
    wait: float | None


class _NotReached(Exception):
    """Nothing whole came back; the next attempt may fare better."""

    def __init__(self, problem: str, *, was_sent: bool = True) -> None:
        super().__init__(problem)
        self.was_sent = was_sent
        """Whether somebody may be at work on it."""


class JsonClient:
    """Posts JSON to one endpoint, from any number of threads, over connections that stay open."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._lock = Lock()
        self._client: Any = None
        self._process = os.getpid()
        self._closing: weakref.finalize[..., JsonClient] | None = None

    def __repr__(self) -> str:
        return f"JsonClient({self.endpoint!r})"

    @property
    def identity(self) -> str:
        """Where and which model; never the key."""
        return f"endpoint:{place_and_query(self.endpoint.url)}#{self.endpoint.model!r}"

    def __reduce__(self) -> tuple[type[JsonClient], tuple[Endpoint]]:
        return JsonClient, (self.endpoint,)  # connections stay where they are

    def post(
        self,
        payload: object,
        stop: Event | None = None,
        lost: Callable[[bool], None] | None = None,
    ) -> Any:
        """Post the payload and return the JSON that comes back; retried where that may help, until `stop` is set.

        `lost` is told of every attempt that was sent and not answered, and whether there will be another; it may raise.
        """
        endpoint = self.endpoint
        body = json.dumps(payload, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        seconds = endpoint.timeout + _MARGIN

        def attempt(number: int) -> Any:
            asked = f" (asked {number} times)" if number > 1 else ""
            again = number < endpoint.attempts
            is_lost, wait = True, None
            try:
                answer = within(seconds, partial(self._send, body), f"{ENDPOINT_THREADS}-request")
            except TimeoutError:
                failure = self._failure(f"{self._late}{asked}", NoAnswer)
            except _NotReached as problem:
                failure, is_lost = self._failure(f"{problem}{asked}", NoAnswer), problem.was_sent
            else:
                if 200 <= answer.status < 300:
                    try:
                        return self._parsed(answer.body)
                    except EndpointError:
                        if lost:
                            lost(False)
                        raise
                if not worth_another_try(answer.status, answer.body):
                    raise self._refusal(answer)
                wait = answer.wait
                if wait is not None and wait > _TOO_LONG * endpoint.longest_wait:
                    raise self._refusal(answer, f", retry after {thousands(wait)} s")
                failure, is_lost = self._refusal(answer, asked), answer.status in _GAVE_UP
            if is_lost and lost:
                lost(again)
            raise Retryable(failure, wait)

        return retry(attempt, endpoint.attempts, endpoint.backoff, endpoint.longest_wait, stop)

    def ask(
        self,
        payload: object,
        read: Callable[[Any], Result],
        stop: Event | None = None,
        lost: Callable[[bool], None] | None = None,
    ) -> Result:
        """What `read` makes of the JSON that comes back."""
        answer = self.post(payload, stop, lost)
        try:
            return read(answer)
        except EndpointError as error:
            reason = mask_keys(error.reason, self.endpoint.key())
            raise EndpointError(error.endpoint, reason, error.advice, error.status) from None

    def close(self) -> None:
        """Lets its connections go; who asks again opens others."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None and self._process == os.getpid():
            client.close()

    def _open(self) -> Any:
        """The client of this process: over a connection shared with a parent each would read the other's answers."""
        if self._process != os.getpid():
            # A new lock as well: a thread of the parent may have held it when the process was copied.
            self._lock, self._client, self._process = Lock(), None, os.getpid()
            if self._closing is not None:
                self._closing.detach()  # the parent's connections are the parent's to close
        with self._lock:
            if self._client is None:
                import httpx2

                seconds = self.endpoint.timeout
                self._client = httpx2.Client(
                    verify=_trusted(),
                    timeout=httpx2.Timeout(
                        seconds, connect=min(seconds, self.endpoint.connect_timeout)
                    ),
                    follow_redirects=False,
                )
                self._closing = weakref.finalize(self, self._client.close)
            return self._client

    def _send(self, body: bytes) -> _Answer:
        """One attempt; no redirect is followed: key and texts are meant for no other address."""
        client = self._open()
        import httpx2

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers |= dict(self.endpoint.headers)
        key = self.endpoint.key()
        if key:
            name, _, form = self.endpoint.key_form.partition(": ")
            headers[name] = form.format(key)
        elif self.endpoint.key_variable in BY_HOST.values():
            variable = self.endpoint.key_variable
            raise EndpointError(
                self.endpoint.place, "was not called: it needs a key", f"export {variable}=your key"
            )
        url = self.endpoint.url
        until = time.monotonic() + self.endpoint.timeout
        try:
            with client.stream(
                self.endpoint.method, url, content=body, headers=headers
            ) as response:
                if response.is_redirect:
                    target = excerpt(
                        response.headers.get("location", "").partition("?")[0], key, 120
                    )
                    raise EndpointError(
                        self.endpoint.place,
                        f"redirects to {target or 'no address'}",
                        "not followed; use that URL if you trust it",
                    )
                content = self._read(response, until)
                wait = retry_after(response.headers.get("retry-after"))
                return _Answer(response.status_code, content, wait)
        except httpx2.TimeoutException as error:
            was_sent = not isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            raise _NotReached(self._late, was_sent=was_sent) from None
        except httpx2.HTTPError as error:
            # Without its cause: the request that hangs on it has the key in a header.
            text = excerpt(f"{type(error).__name__}: {error}", key)
            was_sent = not isinstance(error, httpx2.ConnectError)
            raise _NotReached(f"failed ({text})", was_sent=was_sent) from None

    def _read(self, response: Any, until: float) -> bytes:
        """The whole body, no longer than allowed; of a refusal the beginning is enough."""
        fine = 200 <= response.status_code < 300
        most = self.endpoint.most_bytes if fine else _LONGEST_REFUSAL
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > most:
                if not fine:
                    break
                raise self._failure(f"answered with more than {counted(most, 'byte')}")
            if time.monotonic() > until:
                raise _NotReached(self._late)
        return bytes(body[:most])

    def _parsed(self, body: bytes) -> Any:
        try:
            return json.loads(body, parse_constant=_no_number)
        except (ValueError, RecursionError):  # a UnicodeDecodeError is a ValueError
            text = excerpt(body[:4096].decode("utf-8", "replace"), self.endpoint.key())
            raise self._failure(f"returned invalid JSON: {text or 'nothing'}") from None

    @property
    def _late(self) -> str:
        return f"did not answer within {as_set(self.endpoint.timeout)} s"

    def _failure(self, reason: str, kind: type[EndpointError] = EndpointError) -> EndpointError:
        return kind(self.endpoint.place, reason, "check the URL and that the server runs")

    def _refusal(self, answer: _Answer, more: str = "") -> EndpointError:
        text = excerpt(answer.body.decode("utf-8", "replace"), self.endpoint.key())
        reason = f"answered {answer.status}: {text}" if text else f"answered {answer.status}"
        advice = self._advice(answer.status)
        return EndpointError(self.endpoint.place, f"{reason}{more}", advice, answer.status)

    def _advice(self, status: int) -> str:
        endpoint = self.endpoint
        if status in (401, 403):
            if endpoint.key_variable is None:
                return "no key was sent; set the environment variable for it"
            if endpoint.key() is None:
                return f"set the key in the environment variable {endpoint.key_variable}"
            return f"check the key in {endpoint.key_variable} and its permissions"
        if status == 429:
            return "rate limit or quota exceeded; send fewer concurrent requests, or retry later"
        if status >= 500:
            return "server error; try again later"
        if not endpoint.model:
            return "check the URL and the request"
        return f"check the URL and the model name ({endpoint.model!r})"


def model_client(
    url: str, model: str, key_variable: str | None, ending: str, bare: str, **patience: Any
) -> JsonClient:
    """A client for a model; `url` is a host, `…/v1` or the address itself, the key's variable the host's usual one."""
    if not model:
        raise InvalidParameter("an endpoint needs a model name")
    address = with_path(url, ending, bare)
    return JsonClient(Endpoint(address, model, key_variable or key_variable_for(url), **patience))


@cache
def _trusted() -> Any:
    """Whose certificates are believed; reading them takes longer than a request to a near server."""
    import httpx2

    return httpx2.create_ssl_context()


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")

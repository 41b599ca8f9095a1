"""Send alerts: to a file, to a webhook, or to any service of Apprise. Waits are bounded and no address is shown."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.retries import Retryable, retry, within
from chunkwise.base.wording import as_set
from chunkwise.records.write import append_json_lines

if TYPE_CHECKING:
    from apprise import NotifyBase

ATTEMPTS = 3
PAUSE = 1.0
"""Seconds before the second attempt; twice as many before the third."""
TIME_LIMIT = 10.0
"""Seconds per attempt, however slowly a receiver answers."""
_RETRIED = frozenset({408, 425, 429})
_LOCAL = ("localhost", "127.0.0.1", "::1")
_SEPARATOR = re.compile(r",(?=\s*(?:exit\s*(?:,|$)|[a-z][a-z\d+.-]*:))", re.IGNORECASE)
_ALLOWED = (
    "allowed: exit, file:FILE, webhook:https://…, an Apprise URL (slack://…, mailtos://…), or "
    "env:NAME for a variable with a URL"
)


class NotSent(ChunkwiseError):
    """An alert could not be sent; the message has the reason and no secret."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One receiver of alerts."""

    kind: Literal["exit", "file", "webhook", "service"]
    target: str = field(default="", repr=False)
    """A file, or a URL, or `env:NAME` for the variable that has the URL."""

    @property
    def variable(self) -> str | None:
        name = self.target.removeprefix("env:")
        return None if name == self.target else name

    @property
    def label(self) -> str:
        """What may be printed: nearly every part of a URL can be a key."""
        if self.kind == "webhook":
            parts = urlsplit(self.target)
            return f"webhook:{parts.scheme}://{parts.netloc.rpartition('@')[2]}/…"
        if self.kind == "service":
            return f"{self.target.partition(':')[0]}://…"
        return f"file:{self.target}" if self.target else self.kind


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """The alerts of a run in the form that each kind of channel sends."""

    subject: str
    text: str
    rows: tuple[Mapping[str, Any], ...]
    """One JSON line per alert."""
    payload: Mapping[str, Any]
    """The JSON body for a webhook."""


def parse_channels(words: Sequence[str]) -> tuple[Channel, ...]:
    """The channels of `exit,file:alerts.jsonl,slack://…`, each once; errors show no secret."""
    texts = (text.strip() for word in words for text in _SEPARATOR.split(word))
    return tuple(dict.fromkeys(_parse_channel(text) for text in texts if text))


def _parse_channel(text: str) -> Channel:
    kind, _, target = text.partition(":")
    if text == "exit":
        return Channel("exit")
    if kind in ("file", "webhook") and target:
        return Channel(kind, target)  # type: ignore[arg-type]
    if (kind == "env" and target) or "://" in text:
        return Channel("service", text)
    raise InvalidParameter(f"--alert: unknown channel {kind!r}; {_ALLOWED}")


def resolve_channels(
    channels: Sequence[Channel], environment: Mapping[str, str] = os.environ
) -> tuple[Channel, ...]:
    """The channels with their URLs, each checked as far as it can be before anything is evaluated."""
    resolved = tuple(_with_url(channel, environment) for channel in channels)
    for channel in resolved:
        if channel.kind == "file":
            from chunkwise.base.atomic_files import check_writable

            check_writable(Path(channel.target))
        elif channel.kind == "webhook":
            _check_webhook(channel.target)
        elif channel.kind == "service":
            _service(channel)
    return resolved


def _with_url(channel: Channel, environment: Mapping[str, str]) -> Channel:
    name = channel.variable
    if name is None:
        return channel
    if url := environment.get(name, "").strip():
        return replace(channel, target=url)
    raise InvalidParameter(f"--alert: the variable {name} is not set; export {name}=https://…")


def _check_webhook(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise InvalidParameter("--alert: webhook needs a URL, as in webhook:https://host/path")


def _service(channel: Channel) -> NotifyBase:
    """The plugin for a service; raises for a URL that is not one, and for a password in plain sight."""
    try:
        from apprise import Apprise, AppriseAsset
    except ImportError:
        raise ChunkwiseError(
            f"--alert {channel.label} needs Apprise: pip install 'chunkwise[alerts]'"
        ) from None
    # Redirects would hand an alert to an address that nobody gave; time limits and further attempts are ours.
    asset = AppriseAsset(
        app_id="chunkwise", http_redirects=False, async_mode=False, service_timeout=0,
        interpret_emojis=False, image_url_mask="",
    )  # fmt: skip
    try:
        service = Apprise.instantiate(channel.target, asset=asset, suppress_exceptions=False)
    except TypeError as error:
        reason = _without_parts(channel.target, str(error))
        raise InvalidParameter(f"--alert: {channel.label}: {reason}") from None
    if service is None:
        raise InvalidParameter(f"--alert: {channel.label} is not a URL of a service; {_ALLOWED}")
    if service.password and not service.secure and service.host not in _LOCAL:
        raise InvalidParameter(
            f"--alert: {channel.label} would send its password unencrypted; use an encrypted "
            f"scheme such as mailtos://"
        )
    return service


def send(channel: Channel, message: AlertMessage) -> None:
    """Send the alerts; raises `NotSent` once the last attempt has failed."""
    if channel.kind == "file":
        try:
            append_json_lines(Path(channel.target), message.rows)
        except OSError as error:
            raise NotSent(f"{channel.label}: {error.strerror or error}") from None
    elif channel.kind == "webhook":
        _with_retries(channel, lambda: _post(channel.target, message.payload))
    elif channel.kind == "service":
        _with_retries(channel, lambda: _notify(channel, message))


def _with_retries(channel: Channel, send_once: Callable[[], None]) -> None:
    def attempt(number: int) -> None:
        try:
            within(TIME_LIMIT, send_once, "chunkwise-alert")
        except TimeoutError:
            problem = f"did not answer within {as_set(TIME_LIMIT)} s"
        except _Failed as error:
            problem = str(error)
        else:
            return
        raise Retryable(NotSent(f"{channel.label}: {problem} ({number} attempts)"))

    retry(attempt, ATTEMPTS, PAUSE, TIME_LIMIT)


class _Failed(Exception):
    """One attempt failed, and another may not."""


def _post(url: str, payload: Mapping[str, Any]) -> None:
    import httpx2

    headers = {"Content-Type": "application/json", "User-Agent": "chunkwise"}
    try:
        with httpx2.stream(
            "POST", url, content=json.dumps(payload), headers=headers, timeout=TIME_LIMIT
        ) as response:
            status = response.status_code
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise _Failed(f"could not be reached ({type(error).__name__})") from None
    if status in _RETRIED or status >= 500:
        raise _Failed(f"answered {status}")
    if not 200 <= status < 300:
        raise NotSent(f"{Channel('webhook', url).label}: answered {status}")


def _notify(channel: Channel, message: AlertMessage) -> None:
    from apprise import Apprise, NotifyFormat, NotifyType

    service = Apprise()
    service.add(_service(channel))
    # As text: no markup, mention or link of a document is obeyed.
    result = service.notify(
        body=message.text,
        title=message.subject,
        notify_type=NotifyType.WARNING,
        body_format=NotifyFormat.TEXT,
    )
    if not result:
        logs = [entry.message for entry in result.logs()]
        raise _Failed(_without_parts(channel.target, logs[-1] if logs else "was not delivered"))


def _without_parts(url: str, text: str) -> str:
    """A text without any part of the URL that could be a key."""
    for part in re.findall(r"[^/:@?&=,;#]{6,}", url.partition("://")[2]):
        text = text.replace(part, "***")
    return text

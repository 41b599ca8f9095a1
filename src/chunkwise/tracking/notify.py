"""Where alerts go: a file, a webhook, Slack, mail. Waits are bounded, tries are few, and no address is shown whole."""

from __future__ import annotations

import json
import os
import re
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import unquote, urlsplit

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, without_passwords
from chunkwise.base.retries import Retryable, retry, within
from chunkwise.base.wording import as_set
from chunkwise.records.write import append_json_lines

ChannelKind = Literal["exit", "file", "webhook", "slack", "email"]
SMTP_VARIABLE = "CHUNKWISE_SMTP"
"""The server mail goes through: smtp://user:password@host:port, or smtps://…"""
FROM_VARIABLE = "CHUNKWISE_SMTP_FROM"
ATTEMPTS = 3
PAUSE = 1.0
"""Seconds before the second try; twice as many before the third."""
LONGEST = 10.0
"""Seconds that one try may take, however slowly a receiver answers."""
_AGAIN = frozenset({408, 425, 429})
_LOCAL = ("localhost", "127.0.0.1", "::1")
_BETWEEN = re.compile(rf",(?=\s*(?:exit\s*(?:,|$)|(?:{'|'.join(get_args(ChannelKind)[1:])}):))")
_MAIL = re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+")


class NotTold(ChunkwiseError):
    """An alert could not be handed on; the message says why."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One way in which alerts are told."""

    kind: ChannelKind
    target: str = field(default="", repr=False)
    """A file, an address of the web, or addresses of mail."""

    @property
    def shown(self) -> str:
        """As it may be printed: the path of a webhook is its key."""
        if self.kind in ("webhook", "slack"):
            parts = urlsplit(self.target)
            return f"{self.kind}:{parts.scheme}://{parts.netloc.rpartition('@')[2]}/…"
        return f"{self.kind}:{self.target}" if self.target else self.kind


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """What is told, in the form of each way."""

    subject: str
    text: str
    html: str
    rows: tuple[Mapping[str, Any], ...]
    """A line of JSON for each alert."""
    webhook: Mapping[str, Any]
    slack: Mapping[str, Any]


def channels_of(words: Sequence[str]) -> tuple[Channel, ...]:
    """From `exit,file:alerts.jsonl,webhook:https://…`, each once; what is wrong is told without its secrets."""
    found: dict[Channel, None] = {}
    for text in words:
        for word in filter(None, (part.strip() for part in _BETWEEN.split(text))):
            kind, _, target = word.partition(":")
            found[_checked(kind.strip(), _from_environment(target.strip()))] = None
    return tuple(found)


def _from_environment(target: str) -> str:
    """`env:NAME` stands for what the variable holds: the address of a webhook is its key."""
    name = target.removeprefix("env:")
    if name == target:
        return target
    if not os.environ.get(name, "").strip():
        raise InvalidParameter(
            f"--alert: env:{name} is meant, and the variable {name} is not set; export {name}=https://…"
        )
    return os.environ[name].strip()


def _checked(kind: str, target: str) -> Channel:
    if kind not in get_args(ChannelKind):
        raise InvalidParameter(
            f"--alert: {without_passwords(kind)!r} is no way to tell of an alert; allowed: exit, file:FILE, "
            "webhook:https://…, slack:https://…, email:ADDRESS"
        )
    if kind == "exit":
        if target:
            raise InvalidParameter("--alert: exit stands alone, as in exit,file:alerts.jsonl")
    elif not target:
        raise InvalidParameter(f"--alert: {kind} needs a target, as in {_EXAMPLES[kind]}")
    elif kind in ("webhook", "slack"):
        try:
            parts = urlsplit(target)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or not target.isprintable() or " " in target:
            raise InvalidParameter(
                f"--alert: {kind} has no address of the web; allowed: {_EXAMPLES[kind]}"
            )
    elif kind == "email":
        for each in target.split(","):
            if not _MAIL.fullmatch(each.strip()):
                raise InvalidParameter(
                    f"--alert: {each.strip()!r} is no address of mail; allowed: {_EXAMPLES[kind]}"
                )
    return Channel(kind, target)  # type: ignore[arg-type]


_EXAMPLES = {
    "file": "file:alerts.jsonl",
    "webhook": "webhook:https://host/path",
    "slack": "slack:https://hooks.slack.com/services/…",
    "email": "email:team@example.org",
}


def check_channels(channels: Sequence[Channel], environment: Mapping[str, str]) -> None:
    """What can be known to be wrong before anything is evaluated."""
    for channel in channels:
        if channel.kind == "email":
            _server(environment)
        elif channel.kind == "file":
            from chunkwise.base.atomic_files import check_writable

            check_writable(Path(channel.target))


def send(
    channel: Channel, message: AlertMessage, environment: Mapping[str, str] | None = None
) -> None:
    """Tells it, or raises `NotTold` once the last try has failed."""
    environment = os.environ if environment is None else environment
    if channel.kind == "file":
        _append(Path(channel.target), message.rows)
    elif channel.kind in ("webhook", "slack"):
        payload = message.slack if channel.kind == "slack" else message.webhook
        body = json.dumps(payload, ensure_ascii=True).encode("ascii")
        _tried(channel, lambda: _post(channel.target, body))
    elif channel.kind == "email":
        server = _server(environment)
        _tried(channel, lambda: _hand_over(server, _mail(message, channel.target, server)))


def _append(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    try:
        append_json_lines(file, rows)
    except OSError as error:
        raise NotTold(f"file:{file}: {error.strerror or error}") from None


class _Again(Exception):
    """It may work at the next attempt."""


class _Never(Exception):
    """It will not."""


def _tried(channel: Channel, work: Callable[[], None]) -> None:
    def attempt(number: int) -> None:
        try:
            within(LONGEST, work, "chunkwise-alert")
        except _Never as problem:
            raise NotTold(f"{channel.shown}: {problem}") from None
        except (_Again, TimeoutError) as problem:
            why = str(problem) or f"did not answer within {as_set(LONGEST)} s"
            error = NotTold(f"{channel.shown}: {why} (tried {number} times)")
            raise Retryable(error) from None

    retry(attempt, ATTEMPTS, PAUSE, LONGEST)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An alert is meant for the address that was given, and for no other."""

    def redirect_request(self, *args: Any, **given: Any) -> None:
        return None


def _post(url: str, body: bytes) -> None:
    request = urllib.request.Request(
        url, body, {"Content-Type": "application/json", "User-Agent": "chunkwise"}, method="POST"
    )
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=LONGEST) as answer:
            answer.read(1)
    except urllib.error.HTTPError as error:
        with error:
            kind = _Again if error.code in _AGAIN or error.code >= 500 else _Never
            raise kind(f"answered {error.code}") from None
    except urllib.error.URLError as error:
        raise _Again(f"could not be reached ({_reason(error.reason)})") from None
    except TimeoutError:
        raise _Again(f"did not answer within {as_set(LONGEST)} s") from None
    except (OSError, ValueError) as error:
        raise _Again(f"broke off ({type(error).__name__})") from None
    except Exception as error:  # of http.client, for answers that are none
        raise _Again(f"answered with no HTTP ({type(error).__name__})") from None


def _reason(reason: object) -> str:
    own = getattr(reason, "strerror", None) or type(reason).__name__
    return str(own)


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in."""

    host: str
    port: int
    is_encrypted: bool
    sender: str
    user: str = ""
    password: str = field(default="", repr=False)


def _server(environment: Mapping[str, str]) -> MailServer:
    given = environment.get(SMTP_VARIABLE, "").strip()
    wanted = f"export {SMTP_VARIABLE}=smtp://user:password@host:587, or smtps://…"
    if not given:
        raise InvalidParameter(
            f"--alert: email needs a server, and {SMTP_VARIABLE} is not set; {wanted}"
        )
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("smtp", "smtps") and bool(parts.hostname)
        port = parts.port
    except ValueError:
        usable, port = False, None
    if not usable:
        raise InvalidParameter(f"{SMTP_VARIABLE} is no address of a mail server; {wanted}")
    is_encrypted = parts.scheme == "smtps"
    user = unquote(parts.username or "")
    sender = environment.get(FROM_VARIABLE, "").strip() or (user if "@" in user else "")
    sender = sender or f"chunkwise@{parts.hostname}"
    if not _MAIL.fullmatch(sender):
        raise InvalidParameter(
            f"{FROM_VARIABLE} is {sender!r}; an address is wanted: watch@example.org"
        )
    usual = 465 if is_encrypted else 587
    return MailServer(
        parts.hostname or "", port or usual, is_encrypted, sender, user, unquote(parts.password or "")
    )  # fmt: skip


def _mail(message: AlertMessage, to: str, server: MailServer) -> EmailMessage:
    mail = EmailMessage()
    # Headers end with their line: what is anybody's text has none.
    mail["Subject"] = " ".join(message.subject.split())[:200]
    mail["From"] = server.sender
    mail["To"] = ", ".join(each.strip() for each in to.split(","))
    mail["Date"] = formatdate()
    mail["Message-ID"] = make_msgid(domain=server.sender.rpartition("@")[2])
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(message.text)
    if message.html:
        mail.add_alternative(message.html, subtype="html")
    return mail


def _hand_over(server: MailServer, mail: EmailMessage) -> None:
    try:
        if server.is_encrypted:
            opened: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=LONGEST, context=ssl.create_default_context()
            )
        else:
            opened = smtplib.SMTP(server.host, server.port, timeout=LONGEST)
        with opened as smtp:
            smtp.ehlo()
            if not server.is_encrypted and smtp.has_extn("starttls"):
                smtp.starttls(context=ssl.create_default_context())
                smtp.ehlo()
            elif server.password and not server.is_encrypted and server.host not in _LOCAL:
                raise _Never("offers no encryption, and the password is not sent without")
            if server.password:
                smtp.login(server.user, server.password)
            smtp.send_message(mail)
    except smtplib.SMTPAuthenticationError as error:
        raise _Never(f"refused user and password ({error.smtp_code})") from None
    except smtplib.SMTPRecipientsRefused:
        raise _Never("refused the address") from None
    except smtplib.SMTPResponseException as error:
        kind = _Never if 500 <= error.smtp_code < 600 else _Again
        raise kind(f"answered {error.smtp_code}") from None
    except ValueError:  # encodings, mostly: of a host's name, of a password
        raise _Never("takes only plain letters in host, user and password") from None
    except (OSError, smtplib.SMTPException) as error:
        raise _Again(f"could not be reached ({_reason(error)})") from None

"""Receivers of alerts on this machine: a web server and a mail server that remember what they were sent."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from untimed import HANG


@dataclass
class WebReceiver:
    """Answers with the statuses of `answers`, the last one again and again; None: it hangs."""

    url: str = ""
    answers: list[int | None] = field(default_factory=lambda: [200])
    bodies: list[bytes] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)


@contextmanager
def web_receiver(*answers: int | None) -> Iterator[WebReceiver]:
    own = WebReceiver(answers=list(answers) or [200])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            own.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            status = own.answers.pop(0) if len(own.answers) > 1 else own.answers[0]
            if status is None:
                own.left.wait(HANG)
                return
            self.send_response(status)
            if status in (301, 302):
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    with _served(server, own.left):
        own.url = f"http://127.0.0.1:{server.server_address[1]}/services/T0/secret-path"
        yield own


@dataclass
class MailReceiver:
    """What came through SMTP."""

    port: int = 0
    senders: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    mails: list[bytes] = field(default_factory=list)
    refuses: bool = False


@contextmanager
def mail_receiver(*, refuses: bool = False) -> Iterator[MailReceiver]:
    own = MailReceiver(refuses=refuses)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            def say(text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

            say("220 here")
            while line := self.rfile.readline():
                word = line.decode().strip()
                verb = word[:4].upper()
                if verb in ("EHLO", "HELO"):
                    say("250 here")
                elif verb == "MAIL":
                    own.senders.append(word)
                    say("250 ok")
                elif verb == "RCPT":
                    own.recipients.append(word)
                    say("550 nobody" if own.refuses else "250 ok")
                elif verb == "DATA":
                    say("354 go on")
                    lines = []
                    while (part := self.rfile.readline()) not in (b".\r\n", b""):
                        lines.append(part)
                    own.mails.append(b"".join(lines))
                    say("250 taken")
                elif verb == "QUIT":
                    say("221 bye")
                    return
                else:
                    say("250 ok")

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    with _served(server, threading.Event()):
        own.port = server.server_address[1]
        yield own


@contextmanager
def _served(server: socketserver.BaseServer, left: threading.Event) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        left.set()
        server.shutdown()
        thread.join(HANG)
        server.server_close()

"""Nobody but the user of this machine is answered: host, origin, token, size, and what every answer forbids."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from chunkwise.studio.access_control import new_token
from chunkwise.studio.api import ENDPOINTS
from chunkwise.studio.app import PAGES
from chunkwise.studio.project import Project
from chunkwise.studio.rate_limits import RequestLimits
from studio.made_studio import ADDRESS, PORT, TOKEN, client, client_of, project
from tables import cases

__all__ = ["client", "project"]  # fixtures

EVERYWHERE = [
    "/", "/api/openapi.json", "/api/events", "/assets/studio.js", "/nothing", "/api/nothing",
    *(each.path.replace("{number}", "0") for each in (*PAGES, *ENDPOINTS)),
]  # fmt: skip


@cases("path", EVERYWHERE)
def test_nothing_is_answered_without_the_token(project: Project, path: str) -> None:
    answer = client_of(project, accept="*/*").get(path)
    assert answer.status_code == 403
    assert "token is missing or wrong" in answer.text
    if path.startswith("/api/"):
        assert list(answer.json()) == ["error"]
    else:
        assert answer.headers["content-type"].startswith("text/html")


@cases("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%ff", "é"])
def test_a_wrong_token_is_none(project: Project, token: str) -> None:
    stranger = client_of(project, accept="*/*")
    assert stranger.get("/documents", params={"token": token}).status_code == 403
    sent = token.encode("latin-1")
    assert (
        stranger.get("/documents", headers={b"authorization": b"Bearer " + sent}).status_code == 403
    )
    cookie = {b"cookie": f"chunkwise_{PORT}=".encode() + sent}
    assert stranger.get("/documents", headers=cookie).status_code == 403


def test_the_token_of_the_address_becomes_a_cookie_and_leaves_the_address(project: Project) -> None:
    browser = client_of(project, accept="*/*")
    first = browser.get("/search", params={"token": TOKEN, "q": "a lamp & a boat"})
    assert first.status_code == 303
    assert first.headers["location"] == "/search?q=a+lamp+%26+a+boat"
    cookie = first.headers["set-cookie"].lower()
    assert f"chunkwise_{PORT}=" in cookie
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "domain" not in cookie
    assert browser.get("/search").status_code == 200  # the client keeps the cookie


def test_the_way_in_leads_to_no_other_server(project: Project) -> None:
    for path in ("//evil.example/", "/\\evil.example", "///evil.example//x"):
        answer = client_of(project, accept="*/*").get(f"{ADDRESS}{path}?token={TOKEN}")
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/")
        assert not answer.headers["location"].startswith(("//", "/\\"))


@cases(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{PORT}", ""]
)  # fmt: skip
def test_another_host_is_refused_although_it_leads_here(client: TestClient, host: str) -> None:
    answer = client.get("/documents", headers={"host": host})
    assert answer.status_code == 403


@cases("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_its_own_names_are_taken(client: TestClient, host: str) -> None:
    assert client.get("/documents", headers={"host": f"{host}:{PORT}"}).status_code == 200


@cases(
    "origin", ["http://evil.example", "null", f"http://127.0.0.1:{PORT + 1}", f"https://127.0.0.1:{PORT}"]
)  # fmt: skip
def test_a_page_of_another_site_asks_in_vain(client: TestClient, origin: str) -> None:
    for method in ("GET", "POST"):
        answer = client.request(method, "/api/documents", headers={"origin": origin})
        assert answer.status_code == 403


def test_its_own_pages_are_taken(client: TestClient) -> None:
    own = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
    assert client.get("/api/documents", headers=own).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_server_on_this_machine_is_another_site(client: TestClient, site: str) -> None:
    """Cookies and SameSite know no ports; the browser says where a request comes from all the same."""
    picture = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
    assert client.get("/documents", headers=picture).status_code == 403
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    assert client.get("/documents", headers=link).status_code == 200
    assert client.get("/api/documents", headers=link).status_code == 403


def test_a_change_says_where_it_comes_from(project: Project) -> None:
    cookie = client_of(project, cookie=f"chunkwise_{PORT}={TOKEN}")
    assert cookie.post("/documents").status_code == 403
    assert cookie.post("/documents", headers={"origin": ADDRESS}).status_code == 405


def test_a_body_is_bounded_with_its_length_and_without(client: TestClient) -> None:
    large = client.post("/api/documents", content=b"x" * (RequestLimits().most_bytes + 1))
    assert large.status_code == 413
    assert f"{RequestLimits().most_bytes:,} bytes" in large.json()["error"]
    for length in ("-1", "1e3", "9" * 40):
        assert client.get("/documents", headers={"content-length": length}).status_code == 413

    def endless() -> Iterator[bytes]:
        for _ in range(RequestLimits().most_bytes // 65536 + 2):
            yield b"x" * 65536

    assert client.post("/api/documents", content=endless()).status_code in (405, 413)


@cases("path", ["/documents", "/documents/0", "/runs/0", "/nothing", "/api/documents", "/api/no"])
def test_every_answer_forbids_what_a_page_does_not_need(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    rules = dict(
        rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";")
    )
    assert rules["default-src"] == "'none'"
    assert {rules["script-src"], rules["style-src"], rules["connect-src"]} == {"'self'"}
    assert rules["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def test_tokens_are_long_and_differ() -> None:
    assert len({new_token() for _ in range(50)}) == 50
    assert min(len(new_token()) for _ in range(50)) >= 32

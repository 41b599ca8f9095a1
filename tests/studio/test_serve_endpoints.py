"""The API without pages: keys, roles, limits, metrics; chunk, search, ask and evaluate over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers.chunk import chunk_text
from chunkwise.studio.access_control import KeyAccess, UserAccess
from chunkwise.studio.accounts import (
    Account,
    Accounts,
    Sessions,
    hashed_key,
    with_account,
    write_accounts,
)
from chunkwise.studio.api import SERVICE
from chunkwise.studio.app import Login, server_app
from chunkwise.studio.project import Project
from chunkwise.studio.rate_limits import USUAL_LIMITS, RequestLimits
from chunkwise.studio.server import ServerSettings
from studio.made_studio import ADDRESS, LEAVE, PORT, number_of, project
from tables import cases

__all__ = ["project"]  # a fixture

KEY, OTHER = "a-key-of-the-tests", "another-key-of-the-tests"
PASSWORD = "correct horse battery"


def served(
    project: Project, limits: RequestLimits = USUAL_LIMITS, key: str = KEY, **headers: str
) -> TestClient:
    accounts = Accounts(
        None,
        [Account(name, "reader", keys=(hashed_key(each),)) for name, each in (("a", KEY), ("b", OTHER))],
    )  # fmt: skip
    app = server_app(project, port=PORT, access=KeyAccess(accounts), limits=limits, has_pages=False)
    given = {"authorization": f"Bearer {key}"} if key else {}
    return TestClient(
        app, base_url=ADDRESS, headers={**given, **headers}, raise_server_exceptions=False
    )


@cases("path", ["/api/state", "/api/openapi.json", "/metrics", "/nothing", "/", "/api/events"])
@cases("key", ["", "wrong", KEY[:-1], KEY.upper()])
def test_nothing_is_answered_without_a_key(project: Project, path: str, key: str) -> None:
    answer = served(project, key=key).get(path)
    assert answer.status_code == 401
    assert "The key is missing or wrong" in answer.json()["error"]
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_key_may_stand_in_a_header_of_its_own(project: Project) -> None:
    assert served(project, key="", **{"x-api-key": KEY}).get("/api/state").status_code == 200


@cases(
    "path",
    ["/documents", "/", "/login", "/assets/studio.js", "/runs", "/api/runs", "/api/questions"],
)
def test_there_are_no_pages(project: Project, path: str) -> None:
    answer = served(project).get(path)
    assert answer.status_code == 404
    assert list(answer.json()) == ["error"]


def test_a_text_is_cut_as_the_library_cuts_it(project: Project) -> None:
    found = served(project).post(
        "/api/chunk", json={"text": LEAVE, "strategy": "sentences(max_tokens=20)"}
    )
    chunks = chunk_text(LEAVE, "sentences(max_tokens=20)")
    assert [each["text"] for each in found.json()["chunks"]] == [each.text for each in chunks]
    assert all(
        LEAVE[each["start"] : each["end"]] == each["text"] for each in found.json()["chunks"]
    )


@cases(
    "body, said",
    [
        ("{", "JSON"),
        ("[]", "object"), ('{"txt": "a"}', "txt"), ("{}", "text"), ('{"text": 3}', "text: "),
        ('{"text": "a", "strategy": "./x.py:Cut"}', "names"), ('{"text": "a", "strategy": "regex(regex=\'a\')"}', ""),
        ('{"text": "a", "format": "html"}', "format: "), ("[" * 100_000, "object"),
        ('{"text": ' + "[" * 100_000, ""), ("", "text"), (b'{"text": "\xff"}', "JSON"),
    ],
)  # fmt: skip
def test_a_body_that_cannot_be_used_is_a_sentence(
    project: Project, body: str | bytes, said: str
) -> None:
    answer = served(project).post("/api/chunk", content=body)
    assert answer.status_code in (400, 403)
    assert said in answer.json()["error"]


@cases(
    "strategy",
    ["characters(max_chars=200000, overlap=199999)", "characters(max_chars=1)", "tokens(max_tokens=2)",
     "characters(max_chars=200000, overlap=199990)"],
)  # fmt: skip
def test_no_request_is_cut_into_more_than_memory_holds(project: Project, strategy: str) -> None:
    text = "Ask first. " * 36_000
    answer = served(project).post("/api/chunk", json={"text": text, "strategy": strategy})
    assert answer.status_code == 400, answer.text[:200]


def test_a_document_is_not_cut_into_more_than_memory_holds_either(project: Project) -> None:
    number = number_of(project, "line.txt")
    strategy = "characters(max_chars=40000, overlap=39990)"
    answer = served(project).get(f"/api/documents/{number}/cuts", params={"strategy": strategy})
    assert answer.status_code == 400
    assert "overlap" in answer.json()["error"]


def test_processor_time_is_paid_for_afterwards(project: Project) -> None:
    client = served(project, RequestLimits(units_a_second=1e9))
    path = "/api/search?q=lamp"
    assert [client.get(path).status_code for _ in range(2)] == [200, 429]
    assert client.get(path, headers={"authorization": f"Bearer {OTHER}"}).status_code == 200


def test_a_search_answers_with_the_hits_of_one_retriever_as_fields(project: Project) -> None:
    client = served(project)
    found = client.get("/api/search?q=who decides on leave&retriever=bm25&k=2").json()
    wanted = project.ready_index().search("who decides on leave", retriever="bm25", k=2)
    assert [(each["doc_id"], each["start"], each["end"], each["text"]) for each in found["hits"]] == [
        (hit.doc_id, hit.start, hit.end, hit.text) for hit in wanted
    ]  # fmt: skip
    assert found["token_count"] == sum(hit.token_count for hit in wanted)


def test_errors_and_needed_values_are_described(project: Project) -> None:
    client = served(project)
    searching = client.get("/api/openapi.json").json()["paths"]["/api/search"]["get"]
    assert {"400", "401", "404", "429", "503"} <= searching["responses"].keys()
    needed = [each["name"] for each in searching["parameters"] if each["required"]]
    assert needed == ["q"]
    assert client.get("/api/search").status_code == 400


def test_questions_are_scored_with_intervals(project: Project) -> None:
    questions = [
        {"id": "q1", "query": "How is leave asked for?", "relevant_text": "asked for in writing"}
    ]
    body = {"questions": questions, "budget": 60, "metrics": ["recall"]}
    found = served(project).post("/api/evaluate", json=body).json()
    assert found["questions"][0]["scores"] == {"recall@60t": 1.0} or "recall" in str(
        found["summary"]
    )
    assert served(project).post("/api/evaluate", json={"questions": []}).status_code == 400
    wrong = served(project).post("/api/evaluate", json={"questions": [{"nothing": 1}]})
    assert wrong.status_code == 400
    assert "question 1" in wrong.json()["error"]


def test_reading_addresses_take_no_post_and_the_others_no_get(project: Project) -> None:
    client = served(project)
    assert client.post("/api/state", json={}).status_code == 405
    refused = client.get("/api/chunk")
    assert refused.status_code == 405
    assert "POST" in refused.json()["error"]
    assert client.delete("/api/chunk").status_code == 405


def test_who_asks_too_much_waits_and_others_do_not(project: Project) -> None:
    client = served(project, RequestLimits(units_a_minute=4, units_a_second=0))
    path = "/api/search?q=lamp&budget=9"
    assert [client.get(path).status_code for _ in range(3)] == [200, 200, 429]
    refused = client.get(path)
    assert int(refused.headers["retry-after"]) > 0
    assert "4 units" in refused.json()["error"]
    assert client.get("/api/state").status_code == 200  # what costs nothing is still answered
    assert client.get(path, headers={"authorization": f"Bearer {OTHER}"}).status_code == 200


def test_pictures_of_pages_cost_units(project: Project) -> None:
    client = served(project, RequestLimits(units_a_minute=4))
    path = "/api/documents/0/pages/1.png"
    assert [client.get(path).status_code for _ in range(2)] == [404, 429]


def test_a_queue_that_is_full_is_told(project: Project) -> None:
    refused = served(project, RequestLimits(at_once=1, waiting=-1)).get("/api/state")
    assert refused.status_code == 503


def test_a_body_is_bounded(project: Project) -> None:
    client = served(project, RequestLimits(most_bytes=1000))
    assert client.post("/api/chunk", json={"text": "x" * 2000}).status_code == 413


def test_metrics_count_declared_addresses_alone(project: Project) -> None:
    client = served(project)
    client.get("/api/state")
    client.get("/api/documents/0")
    client.get("/api/made-up-by-a-stranger")
    text = client.get("/metrics").text
    assert 'chunkwise_requests_total{method="GET",path="/api/state",status="200"} 1' in text
    assert 'path="/api/documents/{number}"' in text
    assert 'path="other",status="404"} 1' in text
    assert "stranger" not in text
    assert 'chunkwise_request_seconds_bucket{path="/api/state",le="+Inf"} 1' in text
    assert f"chunkwise_documents {len(project.corpus)}" in text


def test_the_description_has_what_is_served_and_nothing_else(project: Project) -> None:
    described = served(project).get("/api/openapi.json").json()
    assert set(described["paths"]) == {each.path for each in SERVICE}
    body = described["paths"]["/api/chunk"]["post"]["requestBody"]["content"]["application/json"]
    name = body["schema"]["$ref"].rpartition("/")[2]
    assert described["components"]["schemas"][name]["required"] == ["text"]
    assert "{number}" not in str(described["paths"]["/api/chunk"])


# Users of a studio that others reach.


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("users") / "users.json"
    accounts = with_account((), "ana", "owner", password=PASSWORD)
    write_accounts(file, with_account(accounts, "rea", "reader", password=PASSWORD, key=KEY))
    return file


def of_users(
    project: Project,
    users: Path,
    headers: Mapping[str, str] = {},
    *,
    any_host: bool = True,
    **options: str,
) -> TestClient:
    accounts = Accounts(users)
    sessions = Sessions(accounts)
    access = UserAccess(accounts, sessions, PORT, **options)
    proxy = options.get("proxy", "")
    login = Login(accounts, sessions, access.cookie, secure=False, proxy=proxy, now=lambda: 0.0)
    app = server_app(
        project, port=PORT, access=access, login=None if options.get("user_header") else login, any_host=any_host
    )  # fmt: skip
    return TestClient(
        app, base_url="http://studio.example", headers=dict(headers), follow_redirects=False,
        raise_server_exceptions=False, client=("10.0.0.7", 1234),
    )  # fmt: skip


ORIGIN = {"origin": "http://studio.example"}


def test_a_stranger_is_led_to_the_page_to_log_in(project: Project, users: Path) -> None:
    client = of_users(project, users)
    led = client.get("/runs/0")
    assert led.status_code == 303
    assert led.headers["location"] == "/login?next=%2Fruns%2F0"
    assert client.get("/api/state").status_code == 401
    assert "Password" in client.get("/login").text
    assert client.get("/assets/studio.css").status_code == 200


def test_people_log_in_and_out(project: Project, users: Path) -> None:
    client = of_users(project, users, ORIGIN)
    wrong = client.post("/login", data={"name": "ana", "password": "not the password"})
    assert wrong.status_code == 401
    right = client.post("/login?next=//evil.example/", data={"name": "ana", "password": PASSWORD})
    assert right.status_code == 303
    assert right.headers["location"] == "/evil.example/"
    cookie = right.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert client.get("/documents").status_code == 200
    assert client.post("/logout").status_code == 303
    assert client.get("/documents").status_code == 303


def test_passwords_are_tried_so_often_and_no_more(project: Project, users: Path) -> None:
    client = of_users(project, users, ORIGIN)
    tried = [
        client.post("/login", data={"name": "nobody", "password": "x"}).status_code
        for _ in range(7)
    ]
    assert tried[:5] == [401] * 5
    assert tried[5:] == [429] * 2


@cases("proxy", ["", "10.0.0.7"])
def test_tries_of_one_address_lock_nobody_else_out(
    project: Project, users: Path, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_password(password: str, hashed: str) -> bool:  # without the time that a hash takes
        return password == PASSWORD and bool(hashed)

    monkeypatch.setattr("chunkwise.studio.accounts.is_password", is_password)
    attacker = of_users(project, users, ORIGIN, **({"proxy": proxy} if proxy else {}))
    guesses = [{"name": name, "password": "x"} for name in ("ana", *map(str, range(20)))]

    def sent(answered: dict[str, str], address: str) -> int:
        # What a client writes there itself stands before what the proxy adds.
        headers = {"x-forwarded-for": f"10.9.9.9, {address}"} if proxy else {}
        attacker._transport.client = (proxy or address, 1)  # type: ignore[attr-defined]
        return attacker.post("/login", data=answered, headers=headers).status_code

    assert {sent(each, "10.1.1.1") for each in guesses} == {401, 429}
    assert sent(guesses[0], "10.1.1.1") == 429
    assert sent({"name": "ana", "password": PASSWORD}, "10.2.2.2") == 303


@cases("host, status", [("127.0.0.1:8420", 303), ("evil.example", 403), ("evil.example:8420", 403)])
def test_with_users_another_host_is_refused_too(
    project: Project, users: Path, host: str, status: int
) -> None:
    client = of_users(project, users, any_host=False)
    assert client.get("/documents", headers={"host": host}).status_code == status


def test_any_host_is_taken_only_where_tls_or_a_proxy_compares_it() -> None:
    given = [{}, {"tls_cert": Path("c")}, {"proxy": "10.0.0.7"}, {"users": Path("u")}]
    assert [ServerSettings(**each).any_host for each in given] == [False, True, True, False]


def test_another_site_cannot_log_somebody_in(project: Project, users: Path) -> None:
    client = of_users(project, users, {"origin": "http://evil.example"})
    assert client.post("/login", data={"name": "ana", "password": PASSWORD}).status_code == 403
    assert of_users(project, users).post("/login", data={"name": "ana"}).status_code == 403


def test_a_role_that_may_not_is_told_so(project: Project, users: Path) -> None:
    from chunkwise.studio.api import ENDPOINTS

    changing = [each for each in ENDPOINTS if each.needs != "reader"]
    client = of_users(project, users, {"authorization": f"Bearer {KEY}"})
    assert client.get("/api/state").status_code == 200
    for each in changing:
        answer = client.post(each.path.replace("{number}", "0"), json={})
        assert answer.status_code == 403
        assert f"role {each.needs}; rea is" in answer.json()["error"]


def test_the_proxy_says_who_asks_and_nobody_else_does(project: Project, users: Path) -> None:
    known = {"x-remote-user": "ana"}
    options = {"proxy": "10.0.0.7", "user_header": "X-Remote-User"}
    assert of_users(project, users, known, **options).get("/documents").status_code == 200
    for headers in (
        {},
        {"x-remote-user": "mallory"},
        {"x-remote-user": "ana, rea"},
        {"authorization": f"Bearer {KEY}"},
    ):
        refused = of_users(project, users, headers, **options).get("/documents")
        assert refused.status_code == 403
    elsewhere = of_users(project, users, known, **{**options, "proxy": "10.0.0.8"}).get(
        "/documents"
    )
    assert elsewhere.status_code == 403


@cases(
    "given, said",
    [
        ({"users": True}, "--tls-cert"),
        ({}, "without --users FILE"), ({"users": True, "proxy": "example.org"}, "proxy is"),
        ({"users": True, "tls_cert": Path("no.pem"), "tls_key": Path("no.key")}, "no.pem"),
        ({"users": True, "tls_cert": Path("no.pem")}, "--tls-key"),
        ({"user_header": "X-User", "host": "127.0.0.1"}, "--proxy"),
    ],
)  # fmt: skip
def test_what_would_let_others_in_unsafely_is_refused(
    users: Path, given: dict[str, object], said: str
) -> None:
    values = {"host": "0.0.0.0", **given, **({"users": users} if given.get("users") else {})}
    with pytest.raises(InvalidParameter, match=said):
        ServerSettings(**values).check()  # type: ignore[arg-type]


def test_a_proxy_or_tls_lets_others_in(users: Path) -> None:
    assert ServerSettings(host="0.0.0.0", users=users, proxy="127.0.0.1").check() == "0.0.0.0"
    assert (
        ServerSettings(host="0.0.0.0", users=users, tls_cert=users, tls_key=users).check()
        == "0.0.0.0"
    )


def test_labels_of_whoever_logged_in_are_signed_with_that_name(
    project: Project, users: Path
) -> None:
    client = of_users(project, users, ORIGIN)
    client.post("/login", data={"name": "ana", "password": PASSWORD})
    first = client.get("/api/labeling", params={"who": "somebody else"}).json()
    assert first["who"] == "ana"
    kept = client.post(
        "/api/label", json={"key": "k1", "kind": "skip", "who": "somebody else", "id": first["id"]}
    )
    assert kept.status_code == 200, kept.text
    found = client.get("/api/labels").json()
    assert "ana" in str(found)
    assert "somebody else" not in str(found)
    assert 'data-name="ana"' in client.get("/labeling").text

"""Alerts reach real receivers, hostile text stays text there, and no receiver holds anybody up or learns a secret."""

import email
import email.policy
import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.report.alert_messages import AlertTemplates, alert_message
from chunkwise.report.views.watch import Excerpts, WatchView, watch_view
from chunkwise.tracking import notify
from chunkwise.tracking.history import History
from chunkwise.tracking.notify import (
    AlertMessage,
    Channel,
    NotTold,
    channels_of,
    check_channels,
    send,
)
from chunkwise.tracking.run import KeptHit, KeptRun
from chunkwise.tracking.watch import watch_run
from tables import cases
from tracking.made_runs import kept_run
from tracking.receivers import mail_receiver, web_receiver

HOSTILE = "<!channel> <https://evil|click> *bold* `x` & <script>alert(1)</script>\r\nBcc: all@evil.org\x1b[31m\u202e"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "PAUSE", 0.0)


def hostile_run(score: float) -> KeptRun:
    run = kept_run({f"q{n}": score for n in range(20)}, label=HOSTILE, objective="recall@5")
    questions = tuple(
        replace(
            each, text=HOSTILE, types=(HOSTILE,),
            hits=(KeptHit("a.md" if score > 0.5 else "b.md", 0, 30),),
        )
        for each in run.questions
    )  # fmt: skip
    return replace(run, questions=questions)


@pytest.fixture
def view(tmp_path: Path) -> WatchView:
    history = History(tmp_path / "runs.db")
    watch_run(history, history.run(history.add(hostile_run(0.9)).number))
    outcome = watch_run(history, history.run(history.add(hostile_run(0.1)).number), command=HOSTILE)
    texts = {"a.md": HOSTILE, "b.md": HOSTILE}
    found = watch_view(outcome, excerpts=Excerpts(texts, history.run(1), outcome.run))
    assert found.alerts
    return found


@pytest.fixture
def message(view: WatchView) -> AlertMessage:
    return alert_message(view, HOSTILE)


def test_ways_are_read_with_commas_in_them() -> None:
    found = channels_of(
        [
            "exit,file:a,b.jsonl , webhook:https://h/x?a=1,2,slack:https://hooks/y",
            "email:a@x.org,b@y.org,exit",
        ]
    )
    assert [(each.kind, each.target) for each in found] == [
        ("exit", ""), ("file", "a,b.jsonl"), ("webhook", "https://h/x?a=1,2"), ("slack", "https://hooks/y"),
        ("email", "a@x.org,b@y.org"),
    ]  # fmt: skip
    assert [each.shown for each in found[2:4]] == ["webhook:https://h/…", "slack:https://hooks/…"]
    assert "hooks" not in repr(found)


@cases(
    "words",
    ["pager:x", "exit:1", "file:", "webhook:ftp://h/x", "slack:hooks", "webhook:https://h:0/ x", "email:nobody",
     "email:a@b\r\nBcc: c@d", "webhook:http://[", "webhook:https://user:geheim@h o/"],
)  # fmt: skip
def test_a_way_that_is_none_is_told_without_its_secret(words: str) -> None:
    with pytest.raises(InvalidParameter, match="--alert") as told:
        channels_of([words])
    assert "geheim" not in str(told.value)


def test_a_file_gets_a_line_for_each_alert(message: AlertMessage, tmp_path: Path) -> None:
    channel = Channel("file", str(tmp_path / "deep" / "alerts.jsonl"))
    send(channel, message)
    send(channel, message)
    lines = (tmp_path / "deep" / "alerts.jsonl").read_text("ascii").splitlines()
    assert len(lines) == 2
    row = json.loads(lines[0])
    assert (row["kind"], row["alert"]["metric"], row["run"]["number"]) == (
        "chunkwise alert", "recall@5", 2,
    )  # fmt: skip
    with pytest.raises(NotTold, match="directory"):
        send(Channel("file", str(tmp_path)), message)


def test_a_webhook_gets_all_of_it_as_json(message: AlertMessage) -> None:
    with web_receiver() as web:
        send(Channel("webhook", web.url), message)
        found = json.loads(web.bodies[0])
    assert (found["kind"], found["alerts"][0]["metric"]) == ("chunkwise alerts", "recall@5")
    assert len(web.bodies) == 1


def test_slack_obeys_nothing_that_a_document_says(message: AlertMessage) -> None:
    with web_receiver() as web:
        send(Channel("slack", web.url), message)
        found = json.loads(web.bodies[0])
    assert {block["text"]["type"] for block in found["blocks"]} == {"plain_text"}
    assert all(len(block["text"]["text"]) <= 3000 for block in found["blocks"])
    assert "<" not in found["text"]
    assert HOSTILE.split()[0] in found["blocks"][1]["text"]["text"]


def test_a_mail_has_one_subject_and_no_header_of_a_document(message: AlertMessage) -> None:
    with mail_receiver() as server:
        environment = {
            "CHUNKWISE_SMTP": f"smtp://127.0.0.1:{server.port}",
            "CHUNKWISE_SMTP_FROM": "watch@here.org",
        }
        send(Channel("email", "a@x.org, b@y.org"), message, environment)
    mail = email.message_from_bytes(server.mails[0], policy=email.policy.default)
    assert mail["Subject"] == message.subject
    assert mail["Bcc"] is None
    assert [word.partition("<")[2] for word in server.recipients] == ["a@x.org>", "b@y.org>"]
    assert "watch@here.org" in server.senders[0]
    plain, html = (mail.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    assert "recall@5 fell" in plain.get_content()
    assert "<script>" not in html.get_content()
    assert "&lt;script&gt;" in html.get_content()


def test_a_mail_server_whose_name_is_none_is_told(message: AlertMessage) -> None:
    with pytest.raises(NotTold, match="plain letters"):
        send(Channel("email", "a@b.org"), message, {"CHUNKWISE_SMTP": "smtp://mail..example.org"})


def test_nothing_that_is_told_has_control_characters(message: AlertMessage) -> None:
    for text in (message.subject, message.text, message.html):
        assert not set("\x1b\r\u202e") & set(text)
    assert "\n" not in message.subject


@pytest.mark.parametrize(("answers", "sent"), [((500, 200), 2), ((429, 503, 200), 3)])
def test_a_receiver_that_fails_is_asked_again(
    message: AlertMessage, answers: tuple[int, ...], sent: int
) -> None:
    with web_receiver(*answers) as web:
        send(Channel("webhook", web.url), message)
    assert len(web.bodies) == sent


@cases(
    "answers, sent, words", [((500,), 3, r"500 \(tried 3 times"), ((404,), 1, "404"), ((302,), 1, "302")]
)  # fmt: skip
def test_a_receiver_that_goes_on_failing_is_told_without_its_path(
    message: AlertMessage, answers: tuple[int, ...], sent: int, words: str
) -> None:
    with web_receiver(*answers) as web, pytest.raises(NotTold, match=words) as told:
        send(Channel("slack", web.url), message)
    assert len(web.bodies) == sent
    assert "secret-path" not in str(told.value)


def test_a_receiver_that_hangs_is_left(message: AlertMessage, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(notify, "LONGEST", 0.2)
    with web_receiver(None) as web, pytest.raises(NotTold, match=r"did not answer within 0.2 s"):
        send(Channel("webhook", web.url), message)
    assert len(web.bodies) == 3


def test_nobody_there_and_no_http_are_told(message: AlertMessage) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(NotTold, match="could not be reached"):
        send(Channel("webhook", f"http://127.0.0.1:{port}/"), message)
    with pytest.raises(NotTold, match="could not be reached"):
        send(Channel("email", "a@b.org"), message, {"CHUNKWISE_SMTP": f"smtp://127.0.0.1:{port}"})
    with mail_receiver() as server, pytest.raises(NotTold, match="no HTTP"):
        send(Channel("webhook", f"http://127.0.0.1:{server.port}/"), message)


def test_a_mail_server_that_refuses_the_address_is_asked_once(message: AlertMessage) -> None:
    with mail_receiver(refuses=True) as server, pytest.raises(NotTold, match="refused the address"):
        send(Channel("email", "a@b.org"), message, {"CHUNKWISE_SMTP": f"smtp://127.0.0.1:{server.port}"})  # fmt: skip
    assert len(server.recipients) == 1


def test_mail_without_a_server_is_told_before_any_work(tmp_path: Path) -> None:
    mail = [Channel("email", "a@b.org")]
    for environment in ({}, {"CHUNKWISE_SMTP": "host:25"}, {"CHUNKWISE_SMTP": "smtp://u:geheim@["}):
        with pytest.raises(InvalidParameter, match="CHUNKWISE_SMTP") as told:
            check_channels(mail, environment)
        assert "geheim" not in str(told.value)
    with pytest.raises(InvalidParameter, match="CHUNKWISE_SMTP_FROM"):
        check_channels(mail, {"CHUNKWISE_SMTP": "smtp://h", "CHUNKWISE_SMTP_FROM": "x\r\ny@z"})
    with pytest.raises(ChunkwiseError, match="cannot write"):
        check_channels([Channel("file", str(tmp_path))], {})


def template(tmp_path: Path, text: str) -> str:
    file = tmp_path / "alert.j2"
    file.write_text(text, "utf-8")
    return str(file)


def test_a_team_has_forms_of_its_own(message: AlertMessage, tmp_path: Path) -> None:
    chat = '{"msg": {{ subject|tojson }}, "metrics": [{% for a in alerts %}{{ a.metric|tojson }}{% endfor %}]}'
    line = (
        '{"metric": {{ alert.metric|tojson }}, "run": {{ run.number }}, "text": {{ text|tojson }}}'
    )
    ways = [f"slack={template(tmp_path, chat)}"]
    (tmp_path / "line.j2").write_text(line, "utf-8")
    (tmp_path / "mail.j2").write_text("Quality: {{ text }}", "utf-8")
    ways += [f"file={tmp_path / 'line.j2'}", f"email={tmp_path / 'mail.j2'}"]
    made = AlertTemplates(ways).applied(message)
    assert made.slack == {"msg": message.subject, "metrics": ["recall@5"]}
    assert [(row["metric"], row["run"]) for row in made.rows] == [("recall@5", 2)]
    assert HOSTILE.split()[0] in made.rows[0]["text"]
    assert (made.text, made.html) == (f"Quality: {message.text}", "")
    assert made.webhook == message.webhook
    with mail_receiver() as mail:
        send(Channel("email", "a@x.org"), made, {"CHUNKWISE_SMTP": f"smtp://127.0.0.1:{mail.port}"})
    got = email.message_from_bytes(mail.mails[0], policy=email.policy.default)
    assert got.get_content_type() == "text/plain"


@cases(
    "text, told",
    [
        ('{"a": {{ nobody }}}', "nobody"),
        ("{{ text }}", "no JSON"),
        ("[1]", "no JSON object"),
        ("{{ ''.__class__.__mro__ }}", "cannot be filled"),
        ("{{ 1 // 0 }}", "cannot be filled"),
    ],
)
def test_a_form_that_cannot_be_filled_is_told(
    message: AlertMessage, tmp_path: Path, text: str, told: str
) -> None:
    made = AlertTemplates([f"webhook={template(tmp_path, text)}"])
    with pytest.raises(ChunkwiseError, match=told):
        made.applied(message)


def test_a_form_that_is_none_is_told_before_any_work(tmp_path: Path) -> None:
    for word, told in (
        ("pager=x", "allowed: file, webhook, slack, email"),
        ("slack", "slack=alert.json.j2"),
        (f"slack={tmp_path / 'none.j2'}", "cannot be read"),
        (f"slack={template(tmp_path, '{% for %}')}", "line 1"),
    ):
        with pytest.raises(ChunkwiseError, match=told):
            AlertTemplates([word])


def test_an_address_may_stand_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_CHAT", " https://hooks/secret ")
    (found,) = channels_of(["slack:env:TEAM_CHAT"])
    assert (found.kind, found.target) == ("slack", "https://hooks/secret")
    monkeypatch.delenv("TEAM_CHAT")
    with pytest.raises(InvalidParameter, match="the variable TEAM_CHAT is not set"):
        channels_of(["slack:env:TEAM_CHAT"])

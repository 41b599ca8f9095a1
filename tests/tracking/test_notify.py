"""Alerts reach real receivers, hostile text stays text there, and no receiver holds anybody up or learns a secret."""

import email
import email.policy
import html
import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from apprise.plugins.slack import NotifySlack

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.report.alert_messages import AlertTemplates, alert_message
from chunkwise.report.watch_report import PassageTexts, WatchedRunReport
from chunkwise.tracking import notify
from chunkwise.tracking.history import History
from chunkwise.tracking.notify import (
    AlertMessage,
    Channel,
    NotSent,
    parse_channels,
    resolve_channels,
    send,
)
from chunkwise.tracking.run import KeptHit, KeptRun
from chunkwise.tracking.watch import watch_run
from tables import cases
from tracking.made_runs import kept_run
from tracking.receivers import mail_receiver, web_receiver

HOSTILE = "<!channel> <https://evil|click> *bold* `x` & <script>alert(1)</script>\r\nBcc: all@evil.org\x1b[31m\u202e"

SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


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
def message(tmp_path: Path) -> AlertMessage:
    history = History(tmp_path / "runs.db")
    watch_run(history, history.run(history.add(hostile_run(0.9)).number))
    outcome = watch_run(history, history.run(history.add(hostile_run(0.1)).number), command=HOSTILE)
    assert outcome.alerts
    texts = {"a.md": HOSTILE, "b.md": HOSTILE}
    passages = PassageTexts(texts, history.run(1), outcome.run)
    return alert_message(WatchedRunReport(outcome, texts=passages))


def test_channels_are_separated_by_commas_and_may_have_commas_in_them() -> None:
    channels = parse_channels(
        ["exit,file:a,b.jsonl , webhook:https://h/x?a=1,2,slack://A/B/C", "mailto://h?to=a@x.org,b@y.org,exit"]
    )  # fmt: skip
    assert [(channel.kind, channel.target) for channel in channels] == [
        ("exit", ""), ("file", "a,b.jsonl"), ("webhook", "https://h/x?a=1,2"), ("service", "slack://A/B/C"),
        ("service", "mailto://h?to=a@x.org,b@y.org"),
    ]  # fmt: skip
    assert [channel.label for channel in channels[2:4]] == ["webhook:https://h/…", "slack://…"]
    assert "A/B/C" not in repr(channels)


@cases(
    "words",
    ["pager:geheim", "exit:1", "file:", "webhook:ftp://h/geheim", "slack:geheim", "webhook:https://h:0/ geheim",
     "slack://geheim", "nobody://geheim", "webhook:http://[", "webhook:https://user:geheim@h o/",
     "mailto://user:geheim@example.org?to=a@example.org", "https://example.org/geheim"],
)  # fmt: skip
def test_a_channel_that_cannot_work_is_refused_without_its_secret(words: str) -> None:
    with pytest.raises(InvalidParameter, match="--alert") as refused:
        resolve_channels(parse_channels([words]))
    assert "geheim" not in str(refused.value)


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
    with pytest.raises(NotSent, match="directory"):
        send(Channel("file", str(tmp_path)), message)


def test_a_webhook_gets_all_of_it_as_json(message: AlertMessage) -> None:
    with web_receiver() as web:
        send(Channel("webhook", web.url), message)
        found = json.loads(web.bodies[0])
    assert (found["kind"], found["alerts"][0]["metric"]) == ("chunkwise alerts", "recall@5")
    assert len(web.bodies) == 1


def test_slack_obeys_no_markup_of_a_document(
    message: AlertMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with web_receiver() as web:
        monkeypatch.setattr(NotifySlack, "webhook_url", web.url)
        send(Channel("service", SLACK), message)
    (body,) = map(json.loads, web.bodies)
    text = body["attachments"][0]["text"]
    assert not body["mrkdwn"]
    assert "<" not in text
    assert html.escape(HOSTILE.split()[0]) in text


def test_a_mail_has_one_subject_and_no_header_of_a_document(message: AlertMessage) -> None:
    with mail_receiver() as server:
        url = f"mailto://127.0.0.1:{server.port}?from=watch@here.org&to=a@x.org,b@y.org"
        send(Channel("service", url), message)
    mail = email.message_from_bytes(server.mails[0], policy=email.policy.default)
    assert mail["Subject"] == message.subject
    assert mail["Bcc"] is None
    assert [word.partition("<")[2] for word in server.recipients] == ["a@x.org>", "b@y.org>"]
    assert "watch@here.org" in server.senders[0]
    assert mail.get_content_type() == "text/plain"
    assert "recall@5 fell" in mail.get_content()


def test_nothing_that_is_told_has_control_characters(message: AlertMessage) -> None:
    for text in (message.subject, message.text):
        assert not set("\x1b\r\u202e") & set(text)
    assert "\n" not in message.subject


@pytest.mark.parametrize(("answers", "sent"), [((500, 200), 2), ((429, 503, 200), 3)])
def test_a_receiver_that_fails_is_asked_again(
    message: AlertMessage, answers: tuple[int, ...], sent: int
) -> None:
    with web_receiver(*answers) as web:
        send(Channel("webhook", web.url), message)
    assert len(web.bodies) == sent


@cases("answer, sent", [(500, 3), (404, 1), (302, 1)])
def test_a_webhook_that_goes_on_failing_is_reported_without_its_path(
    message: AlertMessage, answer: int, sent: int
) -> None:
    with web_receiver(answer) as web, pytest.raises(NotSent, match=str(answer)) as failed:
        send(Channel("webhook", web.url), message)
    assert len(web.bodies) == sent
    assert "secret-path" not in str(failed.value)


def test_a_service_that_fails_is_asked_again_and_reported_without_its_key(
    message: AlertMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answers in ((503, 200), (500,)):
        with web_receiver(*answers) as web:
            monkeypatch.setattr(NotifySlack, "webhook_url", web.url)
            if answers == (503, 200):
                send(Channel("service", SLACK), message)
                assert len(web.bodies) == 2
                continue
            with pytest.raises(NotSent, match="slack") as failed:
                send(Channel("service", SLACK), message)
            assert len(web.bodies) == 3
        assert not any(part in str(failed.value) for part in SLACK.split("/")[2:])


def test_a_receiver_that_hangs_is_left(message: AlertMessage, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(notify, "TIME_LIMIT", 0.2)
    with web_receiver(None) as web, pytest.raises(NotSent, match="did not answer"):
        send(Channel("webhook", web.url), message)


def test_a_receiver_that_is_not_there_is_reported(message: AlertMessage) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with mail_receiver(refuses=True) as server:
        for channel in (
            Channel("webhook", f"http://127.0.0.1:{port}/"),
            Channel("webhook", f"http://127.0.0.1:{server.port}/"),
            Channel("webhook", "http://mail..example.org/"),
            Channel("service", f"mailto://127.0.0.1:{port}?from=w@b.org&to=a@b.org"),
            Channel("service", f"mailto://127.0.0.1:{server.port}?from=w@b.org&to=a@b.org"),
        ):
            with pytest.raises(NotSent):
                send(channel, message)


def test_a_file_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="cannot write"):
        resolve_channels([Channel("file", str(tmp_path))])


def template(tmp_path: Path, text: str) -> str:
    file = tmp_path / "alert.j2"
    file.write_text(text, "utf-8")
    return str(file)


def test_templates_render_custom_forms(message: AlertMessage, tmp_path: Path) -> None:
    chat = '{"msg": {{ subject|tojson }}, "metrics": [{% for a in alerts %}{{ a.metric|tojson }}{% endfor %}]}'
    line = (
        '{"metric": {{ alert.metric|tojson }}, "run": {{ run.number }}, "text": {{ text|tojson }}}'
    )
    forms = []
    for form, text in (("webhook", chat), ("file", line), ("text", "Quality: {{ text }}")):
        (tmp_path / form).write_text(text, "utf-8")
        forms.append(f"{form}={tmp_path / form}")
    rendered = AlertTemplates(forms).apply(message)
    assert rendered.payload == {"msg": message.subject, "metrics": ["recall@5"]}
    assert [(row["metric"], row["run"]) for row in rendered.rows] == [("recall@5", 2)]
    assert HOSTILE.split()[0] in rendered.rows[0]["text"]
    assert rendered.text == f"Quality: {message.text}"


@cases(
    "text",
    ['{"a": {{ nobody }}}', "{{ text }}", "[1]", "{{ ''.__class__.__mro__ }}", "{{ 1 // 0 }}"],
)
def test_a_template_that_cannot_be_rendered_is_an_error(
    message: AlertMessage, tmp_path: Path, text: str
) -> None:
    templates = AlertTemplates([f"webhook={template(tmp_path, text)}"])
    with pytest.raises(ChunkwiseError):
        templates.apply(message)


def test_a_template_that_cannot_be_read_is_refused_before_any_work(tmp_path: Path) -> None:
    for word in (
        "pager=x",
        "text",
        f"text={tmp_path / 'none.j2'}",
        f"text={template(tmp_path, '{% for %}')}",
    ):
        with pytest.raises(ChunkwiseError, match="--alert-template"):
            AlertTemplates([word])


def test_a_variable_may_have_the_url() -> None:
    channels = parse_channels(["env:TEAM_CHAT,webhook:env:HOOK"])
    assert [channel.variable for channel in channels] == ["TEAM_CHAT", "HOOK"]
    found = resolve_channels(channels, {"TEAM_CHAT": f" {SLACK} ", "HOOK": "https://h/x"})
    assert [(channel.kind, channel.target) for channel in found] == [
        ("service", SLACK), ("webhook", "https://h/x")
    ]  # fmt: skip
    with pytest.raises(InvalidParameter, match="TEAM_CHAT"):
        resolve_channels(channels, {})

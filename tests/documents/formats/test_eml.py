"""Mail: what was written, by whom, to whom and when."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from chunkwise.documents.formats.eml import EmlLoader
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from tables import cases
from untimed import is_linear, lines_run


def mail(
    text: str = "Hello.\n\nThe boat leaves at nine.\n", subject: str = "Boat täglich"
) -> EmailMessage:
    made = EmailMessage()
    made["From"] = "Anna <anna@example.org>"
    made["To"] = "crew@example.org"
    made["Date"] = "Mon, 04 Mar 2024 09:00:00 +0100"
    made["Subject"] = subject
    made.set_content(text)
    return made


HEAD = "From: Anna <anna@example.org>\nTo: crew@example.org\nDate: Mon, 04 Mar 2024 09:00:00 +0100"


def test_subject_sender_and_paragraphs(reader, write) -> None:
    document = reader.one(write("a.eml", bytes(mail())))
    assert document.text == f"Boat täglich\n\n{HEAD}\n\nHello.\n\nThe boat leaves at nine."
    assert [block.kind for block in document.blocks] == ["heading"] + ["paragraph"] * 3
    assert (document.title, document.format) == ("Boat täglich", "eml")
    assert document.metadata["from"] == "Anna <anna@example.org>"


def test_the_plain_form_is_read_and_attachments_are_named(reader, write) -> None:
    made = mail()
    made.add_alternative("<p>The <b>other</b> form.</p>", subtype="html")
    made.add_attachment(b"\x89PNG" * 1000, "image", "png", filename="plan.png")
    document = reader.one(write("a.eml", bytes(made)))
    assert "other" not in document.text
    assert document.text.endswith("nine.\n\nAttachments: plan.png")
    assert document.metadata["attachments"] == ["plan.png"]


def test_html_alone_is_read_as_html(reader, write) -> None:
    made = mail()
    made.set_content("<h2>News</h2><ul><li>one<li>two</ul>", subtype="html")
    document = reader.one(write("a.eml", bytes(made)))
    assert document.text.endswith("News\n\n- one\n- two")
    assert [block.kind for block in document.blocks][-2:] == ["item", "item"]


def test_a_forwarded_mail_is_a_section_below(reader, write) -> None:
    outer = mail("See below.", "Fwd")
    outer.add_attachment(mail("Inner words.", "First"))
    document = reader.one(write("a.eml", bytes(outer)))
    levels = [
        (document.text[block.start : block.end], block.level)
        for block in document.blocks
        if block.kind == "heading"
    ]
    assert levels == [("Fwd", 1), ("First", 2)]
    assert document.text.endswith("Inner words.")


@cases(
    "data",
    [
        b"words without a header", b"\0\1\2\xff" * 50, b"\n\nbody", b"X-Nothing: 1\n\nbody",
    ],
)  # fmt: skip
def test_what_is_no_mail_is_one_line(reader, write, data) -> None:
    assert reader(write("a.eml", data)) == []
    assert len(reader.reasons) == 1


@cases(
    "data",
    [
        b"Subject: =?x-unknown?q?a?=\nContent-Type: text/plain; charset=x-nothing\n\ntext \xff",
        b"Subject: a\nContent-Type: multipart/mixed\n\n--\ntext",
        b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b",
        b"Subject: a\nContent-Transfer-Encoding: base64\n\n!!!text",
        b"Subject: a\nFrom: " + b"(" * 5000 + b"\nDate: x\n\ntext",
        b"Subject: a\r\nFrom: b\r\nContent-Type: text/html\r\n\r\n<p>text",
    ],
)
def test_broken_mail_is_read_as_far_as_it_goes(reader, write, data) -> None:
    documents = reader(write("a.eml", data))
    assert len(documents) == 1
    assert reader.skipped == []


@pytest.mark.usefixtures("large_inputs")
def test_parts_in_parts_without_end(reader, write) -> None:
    nested = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(3000)
    )
    documents = reader(write("a.eml", b"Subject: a\n" + nested))
    assert len(documents) + len(reader.skipped) == 1


def test_parts_without_a_boundary_are_one_text(reader, write) -> None:
    data = b"Subject: a\nContent-Type: multipart/mixed\n\nAll that was written."
    assert reader.one(write("a.eml", data)).text.endswith("All that was written.")


@cases("part", ["=?utf-8?q?a?= ", ';a="', "a@b, ", "\n x: ", "("])
@cases("name", ["From", "Content-Type: multipart/mixed", "Content-Disposition"])
def test_long_headers_take_no_time_without_bound(name, part) -> None:
    def work(size: int) -> object:
        source = Source("a", "a.eml", data=f"Subject: a\n{name}: {part * size}\n\ntext".encode())
        return list(EmlLoader().load(source, LoadOptions(), pytest.fail))

    is_linear(work, 300)


def test_time_is_linear() -> None:
    def work(size: int) -> object:
        source = Source("a", "a.eml", data=bytes(mail("Words here.\n\n" * size)))
        return list(EmlLoader().load(source, LoadOptions(), pytest.fail))

    is_linear(work, 200)


@cases("charset", ["punycode", "idna", "unicode_escape", "undefined", "hex"])
@cases("where", ["text", "header"])
def test_only_encodings_of_texts_are_encodings_of_mails(reader, write, charset, where) -> None:
    """Python has some that read a text in quadratic time."""
    subject = f"=?{charset}?q?boat-x5C-u00e4?=" if where == "header" else "Boat"
    body = "boat-\\u00e4 words-abcd"
    data = f"Subject: {subject}\nContent-Type: text/plain; charset={charset}\n\n{body}"
    document = reader.one(write("a.eml", data))
    assert document.text.endswith(body)
    assert document.title.endswith("boat-x5C-u00e4" if where == "header" else "Boat")


def test_a_name_of_an_encoding_that_is_none_takes_no_more_time(reader, write) -> None:
    words = "abcdefghi " * 20_000
    head = "Subject: a\nContent-Type: text/plain; charset="

    def work(charset: str) -> int:
        source = Source("a", "a.eml", data=f"{head}{charset}\n\nab-{words}".encode())
        return lines_run(lambda: list(EmlLoader().load(source, LoadOptions(), pytest.fail)))

    for charset in ("utf-8", "punycode"):  # what is imported late
        work(charset)
    assert work("punycode") < work("utf-8") + 500


def test_the_name_of_an_attachment_is_decoded(reader, write) -> None:
    made = (
        'From: a@b.c\nSubject: x\nContent-Type: multipart/mixed; boundary="z"\n\n--z\n\nWords.\n--z\n'
        "Content-Type: application/pdf\nContent-Disposition: attachment; "
        'filename="=?UTF-8?Q?Zarz=C4=85dzenie=2Epdf?="\n\nx\n--z--\n'
    )
    (document,) = reader(write("a.eml", made))
    assert document.metadata["attachments"] == ["Zarządzenie.pdf"]

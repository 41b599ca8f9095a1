"""The report of an answer: every claim with its mark and its place, and what nothing supports apart from it."""

from __future__ import annotations

from chunkwise.answering.cited_answer import Citation, CitedAnswer, Claim
from chunkwise.report.answer_report import answer_report
from chunkwise.report.report import Code, Excerpt, Headline, Note, all_parts
from chunkwise.report.to_html import report_fragment
from chunkwise.report.to_terminal import terminal_text

QUOTE = "The lamp burns all night. " * 20
PLACE = Citation(1, "a::0", "a", 0, 9, QUOTE, section=("A", "B"), page=2, lines=(1, 2), title="A")
CLAIMS = (
    Claim("It burns.", "supported", PLACE),
    Claim("It is red.", "quoted", PLACE, is_moved=True, note="words differ"),
    Claim("It is blue.", "unsupported", note="nowhere"),
)


def test_claims_have_marks_and_places() -> None:
    answered = CitedAnswer("Where?", CLAIMS, llm="m", prompt="p")
    report = answer_report(answered, is_whole=False, next_command="chunkwise search kb Where?")
    headline, *_ = report.parts
    assert isinstance(headline, Headline)
    assert headline.text == "It burns. [1] It is red. [2?]"
    first, second = (part for part in all_parts(report.parts) if isinstance(part, Excerpt))
    assert (first.title, first.place) == (
        "[1] a::0",
        "B · page 2 · lines 1–2 · characters 0–9",
    )
    assert (first.level, second.level) == ("", "bad")
    warnings = [
        each.text for each in all_parts(report.parts) if isinstance(each, Note) and each.is_warning
    ]
    assert warnings == ["It is blue. (nowhere)", "words differ"]
    assert len(terminal_text(report, 80).splitlines()) <= 25
    assert "It is blue." in report_fragment(answer_report(answered))


def test_code_keeps_its_lines() -> None:
    claims = (Claim("Light it:", "supported", PLACE), Claim("```\nx = 1\n```", "supported", PLACE))
    report = answer_report(CitedAnswer("How?", claims, quoted_by="m"))
    code = next(part for part in report.parts if isinstance(part, Code))
    assert (code.text, code.title) == ("```\nx = 1\n```", "[2]")
    assert not any(isinstance(part, Excerpt) for part in all_parts(report.parts))


def test_no_answer_says_why() -> None:
    assert "▼ No answer: it timed out" in terminal_text(
        answer_report(CitedAnswer("?", reason="it timed out"))
    )
    nothing = CitedAnswer("?", note="no passages were found for the question")
    assert "no passages were found for the question" in terminal_text(answer_report(nothing))

"""What a gate writes for continuous integration: questions and labels are hostile, and stay text."""

import io
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.evaluation.gate import Gate, gate
from chunkwise.report.ci_report import (
    github_annotations,
    junit_xml,
    no_workflow_commands,
)
from chunkwise.report.gate_report import gate_report
from chunkwise.report.to_markdown import to_markdown
from how_many import examples
from made_results import of_questions, question
from tables import cases

HOSTILE = (
    "</failure><failure>", "]]>&bogus;", "a|b\n| c |\n---", "::error::mine\n::set-output name=x::y", "##[add-mask]e",
    "\x00\x1b[31mred\x07\ud800\ufffe", "@everyone #1 https://evil.example <img src=x onerror=alert(1)>",
    "`` ` ``` </code>\n\n# head", "\u202egnp.exe", "%0A::warning::x", "![x](javascript:1)", "</details>",
)  # fmt: skip


def made(text: str, strategy: str = "sentences"):  # type: ignore[no-untyped-def]
    base = [question(n, {"recall@5": 1.0}, text=f"{text}") for n in range(30)]
    head = [question(n, {"recall@5": 0.0 if n < 20 else 1.0}, text=f"{text}") for n in range(30)]
    runs = [of_questions(tuple(rows), strategy=strategy) for rows in (base, head)]
    return gate(runs, metrics=["recall"], min_effect=0.02, no_new_zero=True)


ANY_TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60))


@pytest.mark.usefixtures("large_inputs")
@settings(max_examples=examples(40), deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_whatever_a_question_says_xml_has_the_same_cases(text: str, label: str) -> None:
    suites = ElementTree.fromstring(junit_xml(made(text, label)))
    (suite,) = suites
    assert suite.attrib | {"tests": "3", "failures": "2", "errors": "0"} == suite.attrib
    assert [len(case) for case in suite] == [0, 1, 1]
    assert [each.tag for case in suite for each in case] == ["failure", "failure"]


def comment_of(checked: Gate) -> str:
    return to_markdown(gate_report(checked))


@pytest.mark.usefixtures("large_inputs")
@settings(max_examples=examples(40), deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_whatever_a_question_says_the_comment_has_the_same_lines(text: str, label: str) -> None:
    found = comment_of(made(text, label)).splitlines()
    plain = comment_of(made("plain", "plain")).splitlines()
    assert [line.count("|") for line in found] == [line.count("|") for line in plain]
    assert [line for line in found if line.startswith(("<", "#"))] == [
        line for line in plain if line.startswith(("<", "#"))
    ]
    left = re.sub(r"&#\d+;|</?(details|summary|code)>", "", "\n".join(found))
    assert not re.search(r"[<>@`]|https?://", left.replace("> ", ""))


@pytest.mark.usefixtures("large_inputs")
@settings(max_examples=examples(40), deadline=None)
@given(ANY_TEXT)
def test_an_annotation_is_one_line_that_nothing_ends(text: str) -> None:
    lines = list(github_annotations(made(text)))
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("::error title=chunkwise%3A recall@5")
        assert len(line.splitlines()) == 1
        title = line[2:].split("::")[0]
        assert title.count(",") == 0


def test_the_comment_says_what_failed_and_which_questions() -> None:
    found = comment_of(made("Who keeps the log?"))
    assert "**▼ Failed: worse by 1 metric, 20 new zeros**" in found
    assert "| <code>recall&#64;5</code> | b | 100% | 33% | −66.7 pts (" in found
    assert "▼ worse |" in found
    assert "Who keeps the log?" in found
    assert "<details><summary>20 questions that fell to 0 (a break)" in found


def test_runs_that_are_not_comparable_are_an_error_and_no_failure() -> None:
    base = of_questions((question(1, {"recall@5": 1.0}),))
    found = gate([base, of_questions((question(2, {"recall@5": 1.0}),))], metrics=["recall"])
    (suite,) = ElementTree.fromstring(junit_xml(found))
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    assert comment_of(found).count("**▼ Not comparable**") == 1
    assert next(iter(github_annotations(found))).startswith("::error title=chunkwise%3A runs are")


@cases("active", [True, False])
def test_github_obeys_nothing_while_questions_are_shown(active: bool) -> None:
    out = io.StringIO()
    with no_workflow_commands(out, active=active):
        out.write("::error::mine\n")
    lines = out.getvalue().splitlines()
    first, last = lines[0], lines[-1]
    if active:
        token = first.removeprefix("::stop-commands::")
        assert len(token) > 30
        assert last == f"::{token}::"
    else:
        assert first == last == "::error::mine"


def test_every_file_says_what_has_no_score_any_more_and_what_was_left_out() -> None:
    base = [question(n, {"recall@5": 1.0, "citation_recall": None}) for n in range(30)]
    head = [question(n, {"recall@5": None, "citation_recall": None}) for n in range(29)]
    runs = [of_questions(tuple(rows)) for rows in (base, [*head, base[29]])]
    lost = gate(runs, metrics=["recall", "citation"])
    (suite,) = ElementTree.fromstring(junit_xml(lost))
    assert (suite.get("errors"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "1")
    cases = {case.get("name"): case for case in suite}
    assert "29 of the 30 questions" in "".join(cases["comparable"].itertext())
    assert [each.tag for each in cases["citation_recall"]] == ["skipped"]
    comment = comment_of(lost)
    assert comment.count("**▼ Not comparable**") == 1
    assert "29 of the 30 questions" in comment
    assert "Left out, no question has a score in any run: citation&#95;recall" in comment
    (line,) = github_annotations(lost)
    assert line.startswith("::error title=chunkwise%3A runs are not comparable::29 of the 30")
    same = gate([runs[0], runs[0]], metrics=["recall", "citation"])
    first, *_ = github_annotations(same)
    assert first.startswith("::warning title=chunkwise%3A left out%2C no question has a score")

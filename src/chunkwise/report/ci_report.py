"""A gate as continuous integration reads it: JUnit XML, a Markdown comment, annotations of GitHub.

Labels, ids and questions are anyone's text. In XML they are text without what XML forbids; in Markdown they stand in
`<code>`, every sign that could mean something written as a number; in an annotation they cannot end its line.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO
from xml.etree import ElementTree

from chunkwise.base.wording import as_set, counted, number, p_value, signed
from chunkwise.base.wording import interval as interval_words
from chunkwise.evaluation.comparison_result import Change
from chunkwise.evaluation.gate import NO_SCORES, Gate, GateCheck, NewZero, check_words
from chunkwise.report.sanitize import one_line

_TEXT_MOST = 300
"""Characters of a question."""
_ZEROS_MOST = 50
"""Questions that are listed in one place."""
_ANNOTATIONS_MOST = 8
"""GitHub shows ten errors of a step at most."""
_MEANS_NOTHING = frozenset(" ,?'+=%/()-")
"""Signs that Markdown leaves alone inside a line of code."""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(gate: Gate) -> str:
    """One test case a metric and run, one for new zeros a metric, one for whether the runs are comparable."""
    suites = ElementTree.Element("testsuites", name="chunkwise")
    suite = ElementTree.SubElement(suites, "testsuite", name="chunkwise compare")
    failures = 0
    comparable = _case(suite, "comparable")
    if gate.not_comparable:
        text = "\n".join(gate.not_comparable)
        _tell(comparable, "error", "the runs are not comparable", text)
    for name in gate.left_out:
        skipped = ElementTree.SubElement(_case(suite, name), "skipped")
        skipped.set("message", NO_SCORES)
    for check in gate.checks:
        case = _case(suite, f"{check.metric} of {check.run}")
        if check in gate.failing and not gate.not_comparable:
            failures += 1
            _tell(case, "failure", check_words(check), check_words(check))
        else:
            out = ElementTree.SubElement(case, "system-out")
            out.text = _xml_text(check_words(check))
    if gate.no_new_zero:
        for (run, metric), zeros in _by_metric(gate).items():
            case = _case(suite, f"no new zero: {metric} of {run}")
            if zeros and not gate.not_comparable:
                failures += 1
                lines = [_zero_words(each) for each in zeros]
                _tell(case, "failure", f"{counted(len(zeros), 'question')} broke", "\n".join(lines))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    suite.set("errors", str(int(bool(gate.not_comparable))))
    suite.set("skipped", str(len(gate.left_out)))
    ElementTree.indent(suites)
    return f"{ElementTree.tostring(suites, encoding='unicode', xml_declaration=True)}\n"


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname="chunkwise.compare", name=_xml_text(one_line(name, 200))
    )


def _tell(case: ElementTree.Element, kind: str, message: str, text: str) -> None:
    found = ElementTree.SubElement(case, kind, message=_xml_text(one_line(message, 500)))
    found.text = _xml_text(text)


def _xml_text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _by_metric(gate: Gate) -> dict[tuple[str, str], list[NewZero]]:
    found: dict[tuple[str, str], list[NewZero]] = {
        (check.run, check.metric): [] for check in gate.checks if check.tested is not None
    }
    for each in gate.new_zeros:
        found.setdefault((each.run, each.metric), []).append(each)
    return found


def _zero_words(zero: NewZero) -> str:
    after = "unscored" if zero.after is None else number(zero.after)
    return f"{number(zero.before)} → {after}  {one_line(zero.id, 60)}  {one_line(zero.text, _TEXT_MOST)}"


def markdown_comment(gate: Gate) -> str:
    """What is posted on a pull request: the outcome, the table, the questions that changed."""
    lines = [f"### chunkwise: {_headline(gate)}", ""]
    for at, label in enumerate(gate.labels):
        which = "before" if at == 0 else "after"
        lines.append(
            f"- {'abcdefghijklmnopqrstuvwxyz'[at % 26]} ({which}): {markdown_code(label, 200)}"
        )
    lines.append("")
    for reason in gate.not_comparable:
        lines.append(f"> {markdown_code(reason, 500)}")
        lines.append("")
    if gate.checks:
        lines += _table(gate.checks)
        lines.append("")
    if gate.left_out:
        names = ", ".join(markdown_code(name, 80) for name in gate.left_out)
        lines += [f"Left out, {NO_SCORES}: {names}", ""]
    lines += [f"<sub>{_small_print(gate)}</sub>", ""]
    if gate.new_zeros:
        what = "a break" if gate.no_new_zero else "told, not asked for"
        lines += _details(
            f"{counted(len(gate.new_zeros), 'question')} with nothing found any more ({what})",
            [_zero_line(each) for each in gate.new_zeros[:_ZEROS_MOST]],
            len(gate.new_zeros) - _ZEROS_MOST,
        )
    for moved in gate.changed:
        for words, changes in (("got worse", moved.worse), ("got better", moved.better)):
            if changes:
                head = f"{markdown_code(moved.metric, 80)} of {moved.run}: questions that {words}"
                lines += _details(head, [_change_line(each) for each in changes], 0)
    return "\n".join(lines).rstrip() + "\n"


def _headline(gate: Gate) -> str:
    if gate.outcome == "not comparable":
        return "⚠️ not comparable"
    failing = len(gate.failing)
    broken = len(gate.new_zeros) if gate.no_new_zero else 0
    if gate.outcome == "passed":
        return "✅ passed"
    told = [f"worse by {counted(failing, 'metric')}"] if failing else []
    told += [counted(broken, "new zero")] if broken else []
    return f"❌ failed: {', '.join(told)}"


def _table(checks: Sequence[GateCheck]) -> list[str]:
    lines = [
        "| metric | run | before | after | difference | interval | p | verdict |",
        "|---|---|--:|--:|--:|---|--:|---|",
    ]
    for check in checks:
        tested = check.tested
        ends = interval_words(*tested.corrected[1:]) if tested else "not a sample"
        p = p_value(tested.adjusted) if tested else ""
        verdict = f"**{check.verdict}**" if check.is_worse else check.verdict
        if check.verdict == "equivalent":
            verdict = f"equivalent within {as_set(check.margin)}"
        if check.lost:
            verdict += f"; {counted(check.lost, 'question')} without a score now"
        cells = (
            markdown_code(check.metric, 80), check.run, number(check.before), number(check.after),
            signed(check.difference), ends, p, verdict,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _small_print(gate: Gate) -> str:
    told = f"{counted(gate.questions, 'question')}, paired; interval and p after Holm's correction over "
    told += f"{counted(gate.tests, 'test')}; "
    if gate.margin:
        return told + (
            f"fails: shown to be worse and by more than {as_set(gate.margin)}; equivalent: two one-sided tests "
            f"show less than {as_set(gate.margin)} either way"
        )
    return f"{told}fails: shown to be worse"


def _details(head: str, lines: Sequence[str], more: int) -> list[str]:
    rest = [f"- … and {counted(more, 'other')}"] if more > 0 else []
    return [f"<details><summary>{head}</summary>", "", *lines, *rest, "", "</details>", ""]


def _zero_line(zero: NewZero) -> str:
    after = "unscored" if zero.after is None else number(zero.after)
    return (
        f"- {number(zero.before)} → {after} by {markdown_code(zero.metric, 80)}: {markdown_code(zero.id, 60)} "
        f"{markdown_code(zero.text, _TEXT_MOST)}"
    )


def _change_line(change: Change) -> str:
    return (
        f"- {number(change.first)} → {number(change.second)}: {markdown_code(change.id, 60)} "
        f"{markdown_code(change.text, _TEXT_MOST)}"
    )


def markdown_code(text: str, most: int) -> str:
    """As code that nothing in it can end: no link, mention, table cell, tag or emoji comes of it."""
    shown = "".join(
        sign if sign.isalnum() or sign in _MEANS_NOTHING or ord(sign) > 127 else f"&#{ord(sign)};"
        for sign in one_line(text, most)
    )
    return f"<code>{shown}</code>"


def github_annotations(gate: Gate) -> Iterator[str]:
    """Workflow commands of GitHub, a line each."""
    for reason in gate.not_comparable:
        yield _command("error", "runs are not comparable", reason)
    if gate.not_comparable:
        return
    if gate.left_out:
        yield _command("warning", f"left out, {NO_SCORES}", ", ".join(gate.left_out))
    for check in gate.failing[:_ANNOTATIONS_MOST]:
        yield _command("error", f"{check.metric} is worse", check_words(check))
    if gate.no_new_zero:
        for (_, metric), zeros in _by_metric(gate).items():
            if zeros:
                few = "\n".join(map(_zero_words, zeros[:_ANNOTATIONS_MOST]))
                title = f"{metric}: {counted(len(zeros), 'new zero')}"
                yield _command("error", title, few)
    for check in gate.checks:
        if check.lost and not gate.no_new_zero:
            what = (
                f"{counted(check.lost, 'question')} of {check.first} without a score in {check.run}"
            )
            yield _command("warning", f"{check.metric}: unscored", what)
    if gate.outcome == "passed":
        shown = "; ".join(f"{check.metric}: {check.verdict}" for check in gate.checks[:20])
        yield _command("notice", "gate passed", shown)


def _command(kind: str, title: str, message: str) -> str:
    value = _escaped(one_line(title, 200)).replace(":", "%3A").replace(",", "%2C")
    told = "\n".join(one_line(line, 500) for line in message.split("\n"))
    return f"::{kind} title=chunkwise%3A {value}::{_escaped(told)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


@contextmanager
def no_workflow_commands(out: IO[str], *, active: bool) -> Iterator[None]:
    """While others' text is shown in a job's log, GitHub obeys nothing in it; nobody can guess what ends this."""
    if not active:
        yield
        return
    token = f"chunkwise-{secrets.token_hex(16)}"
    out.write(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        out.write(f"::{token}::\n")
        out.flush()

"""A gate as continuous integration reads it: JUnit XML, and annotations of GitHub.

Labels, ids and questions are anyone's text. In XML they are text without what XML forbids; in an annotation they cannot
end its line.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO
from xml.etree import ElementTree

from chunkwise.base.wording import counted
from chunkwise.evaluation.gate import NO_SCORES, Gate, NewZero, check_words
from chunkwise.metrics.registry import format_score
from chunkwise.report.sanitize import one_line

_TEXT_MOST = 300
"""Characters of a question."""
_ANNOTATIONS_MOST = 8
"""GitHub shows ten errors of a step at most."""
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
            case = _case(suite, f"no question of {run} fell to 0 by {metric}")
            if zeros and not gate.not_comparable:
                failures += 1
                lines = [_zero_words(zero) for zero in zeros]
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
    result = ElementTree.SubElement(case, kind, message=_xml_text(one_line(message, 500)))
    result.text = _xml_text(text)


def _xml_text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _by_metric(gate: Gate) -> dict[tuple[str, str], list[NewZero]]:
    result: dict[tuple[str, str], list[NewZero]] = {
        (check.run, check.metric): [] for check in gate.checks if check.tested is not None
    }
    for zero in gate.new_zeros:
        result.setdefault((zero.run, zero.metric), []).append(zero)
    return result


def _zero_words(zero: NewZero) -> str:
    before, after = (format_score(zero.metric, value) for value in (zero.before, zero.after))
    return f"{before} → {after}  {one_line(zero.id, 60)}  {one_line(zero.text, _TEXT_MOST)}"


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

"""What troff does to a page before its macros are read: conditions, strings, numbers, macros that the page defines."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterator

COMMENTS = ('.\\"', "'\\\"")
CONTROL = re.compile(r"[.'][ \t]*([^\s\\]*)[ \t]*(.*)", re.DOTALL)
"""A request or macro, and what it is given."""
_ESCAPES_AT_END = re.compile(r"(?<!\\)\\+\Z")
_NAME = r"(?:\[([^\]\n]{0,40})\]|\((..)|([^\[(\n]))"
_STRING = re.compile(r"\\\*" + _NAME)
_NUMBER = re.compile(r"\\n[-+]?" + _NAME)
_ARGUMENT = re.compile(r"\\\$(?:([0-9*@])|\((\d\d))")
_GIVEN = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
_BRACE = re.compile(r"\\([\\{}])")
_EXPRESSION = re.compile(
    r"(?:\\n[-+]?(?:\[[^\]\n]{0,40}\]|\(..|[^\[(\n])|[0-9.]+[a-z]?|[-+*/%&:<>=!()]){1,200}"
)
_PIECE = re.compile(r"\d+|[<>=]=|[-+*/%&:<>=!()]")
_DEFINED = re.compile(r"[drm]\s*(\S+)")
_DEEPEST = 20
"""Brackets in brackets, and macros that call macros."""
_LONGEST = 1_000
"""Characters of a string."""
_GROWTH = 4
"""Times the length of a page that strings and macros may write, and a few thousand characters."""
_FEW = 20_000

_STRINGS = {"lq": "“", "rq": "”", "Tm": "™", "R": "®", "Aq": "'"}
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "/": lambda a, b: a // b if b else 0, "%": lambda a, b: a % b if b else 0,
    "&": lambda a, b: int(a > 0 and b > 0), ":": lambda a, b: int(a > 0 or b > 0),
    "<": operator.lt, ">": operator.gt, "=": operator.eq,
    "==": operator.eq, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


class Roff:
    """Lines of text and of macros that somebody knows; what is only for a typesetter is left out."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._strings = dict(_STRINGS)
        self._numbers = {".g": 1}
        self._macros: dict[str, list[str]] = {}
        self._defining: tuple[list[str], str] | None = None
        """The lines of what is being defined, and what ends them."""
        self._blocks: list[bool] = []
        """Of each bracket that is open, whether its condition holds."""
        self._failed = 0
        """How many of them do not."""
        self._otherwise: list[bool] = []
        self._left = 0

    def lines(self, text: str) -> Iterator[str]:
        self._left = _GROWTH * len(text) + _FEW
        reading = [_joined_lines(text)]
        while reading:
            line = next(reading[-1], None)
            if line is None:
                reading.pop()
                continue
            found = self._read(line, may_call=len(reading) < _DEEPEST)
            if isinstance(found, str):
                yield found
            elif found:
                reading.append(iter(found))

    def _read(self, line: str, *, may_call: bool) -> str | list[str] | None:
        """What a line is to its reader: itself, other lines in its place, or nothing."""
        control = CONTROL.match(line)
        if self._defining is not None:
            body, end = self._defining
            if control and control[1] == end:
                self._defining = None
            else:
                body.append(line)
            return None
        if self._failed:
            self._pass_over(line)
            return None
        for _ in range(_DEEPEST):  # a condition may stand behind a condition
            if line.startswith(COMMENTS):
                return None
            if control is None:
                return self._with_strings(self._close(line))
            name, rest = control.groups()
            if name not in ("if", "ie", "el"):
                return self._controlled(name, self._close(rest), may_call=may_call)
            line = self._branch(*self._condition(name, rest))
            if not line:
                return None
            control = CONTROL.match(line)
        return None

    def _controlled(self, name: str, rest: str, *, may_call: bool) -> str | list[str] | None:
        if not name or self._request(name, rest):
            return None
        if name in self._macros and name not in self._known:
            return self._called(name, self._with_strings(rest)) if may_call else None
        return f".{name} {self._with_strings(rest)}"

    def _request(self, name: str, rest: str) -> bool:
        """Whether it is a definition, which is remembered."""
        first, _, value = rest.partition(" ")
        words = rest.partition('\\"')[0].split()
        if name in ("de", "de1", "am", "am1"):
            body = self._macros.get(words[0], []) if name[0] == "a" and words else []
            self._defining = body, words[1] if len(words) > 1 else "."
            if words:
                self._macros[words[0]] = body
        elif name == "ig":
            self._defining = [], words[0] if words else "."
        elif name in ("ds", "as"):
            before = self._strings.get(first, "") if name == "as" else ""
            written = self._with_strings(value.lstrip().removeprefix('"'))
            self._strings[first] = (before + written)[:_LONGEST]
        elif name == "als" and len(words) > 1:
            if words[1] in self._macros:
                self._macros[words[0]] = self._macros[words[1]]
        elif name == "nr" and len(words) > 1:
            self._numbers[words[0]] = self._value(words[1])
        else:
            return False
        return True

    def _called(self, name: str, rest: str) -> list[str]:
        given = [(quoted.replace('""', '"') or bare) for quoted, bare in _GIVEN.findall(rest)]

        every = " ".join(given)

        def argument(match: re.Match[str]) -> str:
            if match[1] in ("*", "@"):
                written = every
            else:
                number = int(match[1] or match[2])
                written = given[number - 1] if 0 < number <= len(given) else ""
            self._left -= len(written)
            return written if self._left >= 0 else ""

        lines = []
        for line in self._macros[name]:
            self._left -= len(line) + 1
            if self._left < 0:
                break
            lines.append(_ARGUMENT.sub(argument, line.replace("\\\\", "\\")))
        return lines

    def _with_strings(self, text: str) -> str:
        """Strings that are not known are left to whoever knows signs."""

        def string(match: re.Match[str]) -> str:
            written = self._strings.get(match[1] or match[2] or match[3] or "")
            if written is None:
                return match[0]
            self._left -= len(written)
            return written if self._left >= 0 else ""

        return _STRING.sub(string, text) if "\\*" in text else text

    def _condition(self, name: str, rest: str) -> tuple[bool, str]:
        """Whether it holds where a page is read on a screen, and what stands behind it."""
        if name == "el":
            return (self._otherwise.pop() if self._otherwise else False), rest
        negated = rest.startswith("!")
        rest = rest.removeprefix("!")
        holds = False
        if rest[:1] in ("n", "t", "o", "e", "v") and not rest[1:2].isalnum():
            holds, rest = rest[0] in "no", rest[1:]
        elif defined := _DEFINED.match(rest):
            known = (self._strings, self._numbers, self._macros)
            holds, rest = any(defined[1] in each for each in known), rest[defined.end() :]
        elif expression := _EXPRESSION.match(rest):
            holds, rest = self._value(expression[0]) > 0, rest[expression.end() :]
        elif len(parts := rest[1:].split(rest[:1] or " ", 2)) == 3:
            one, other, rest = parts
            holds = self._with_strings(one) == self._with_strings(other)
        holds ^= negated
        if name == "ie":
            self._otherwise = [*self._otherwise[-_DEEPEST:], not holds]
        return holds, rest.lstrip()

    def _value(self, expression: str) -> int:
        def number(match: re.Match[str]) -> str:
            return str(self._numbers.get(match[1] or match[2] or match[3] or "", 0))

        return _result(iter(_PIECE.findall(_NUMBER.sub(number, expression))), 0)

    def _branch(self, holds: bool, rest: str) -> str:
        """What is left of the line where the condition holds."""
        if rest.startswith("\\{"):
            self._open(holds)
            rest = rest[2:].lstrip()
        if holds:
            return rest
        self._pass_over(rest)
        return ""

    def _pass_over(self, line: str) -> None:
        for brace in _BRACE.findall(line):
            if brace == "{":
                self._open(False)
            elif brace == "}":
                self._end()

    def _close(self, line: str) -> str:
        end, closed = len(line), False
        while line.endswith("\\}", 0, end):
            self._end()
            end, closed = end - 2, True
            while end and line[end - 1] in " \t":
                end -= 1
        return line[:end] if closed else line

    def _open(self, holds: bool) -> None:
        self._blocks.append(holds)
        self._failed += not holds

    def _end(self) -> None:
        if self._blocks:
            self._failed -= not self._blocks.pop()


def _result(pieces: Iterator[str], depth: int) -> int:
    """Of an expression without precedence, up to its closing bracket."""
    value, pending, negated = 0, "", False
    for piece in pieces:
        if piece == ")":
            break
        if piece == "(" or piece.isdigit():
            right = (
                int(piece[:10]) if piece != "(" else 0
            )  # what is larger is cut at `_MOST` anyway
            if piece == "(" and depth < _DEEPEST:
                right = _result(pieces, depth + 1)
            right = int(right <= 0) if negated else right
            value = int(_OPERATORS[pending](value, right)) if pending else right
            pending, negated = "", False
        elif piece == "!":
            negated = True
        else:
            pending = piece
    return max(-_MOST, min(value, _MOST))


_MOST = 10**9 - 1


def _joined_lines(text: str) -> Iterator[str]:
    """Lines without white space at their ends; one that ends in a backslash goes on with the next."""
    begun: list[str] = []
    for raw in text.splitlines():
        line = raw.rstrip()
        escapes = _ESCAPES_AT_END.search(line)
        is_open = escapes is not None and len(escapes[0]) % 2 == 1
        if is_open and not line.startswith(COMMENTS):
            # In front of white space it is a space, which the end of a line is, too.
            begun.append(line[:-1])
            if line == raw:
                continue
        else:
            begun.append(line)
        yield "".join(begun)
        begun.clear()
    if begun:
        yield "".join(begun)

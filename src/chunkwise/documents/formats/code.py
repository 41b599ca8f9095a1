"""Source code, kept to the character: its language by name or first line, and whether a text without a name is some."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from chunkwise.core import Document
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source
from chunkwise.records.encoding import decode

_KEYWORDS = "|".join(
    """
    abstract alter assert async await auto begin bool break case catch char class const constexpr continue create def
    default defmodule defp del delete do done drop echo elif else elsif end enum esac except exit explicit export
    extends extern fi final finally fn for foreach from func function go goto grant group if impl import in include
    inline insert int interface internal join let limit local loop match mod module mut my namespace new open order our
    override package pass private protected pub public raise record ref require return select sealed self set shift
    signed static struct sub suspend switch template then this throw trait try type typedef typename unless unset unsafe
    unsigned until update use using val values var virtual void volatile when where while with yield
    """.split()
)
# All patterns begin where the line does, and see lines whose runs of white space are one space each.
SURE = re.compile(
    r"(?:select|from|where|create|alter|drop|insert|update|grant)\b.*|.*[\w)>\]]\ ?[{;(]$|(?:async )?def \w+[(\[]"
    r"|class \w+\(.*\):$|from [\w.]+ import\b|(?:el)?if [\w.].*:$|for \w+(?:, ?\w+)* in .*:$|except [\w.]+.*:$",
    re.IGNORECASE,
)
"""Code although it may have as many words as a sentence."""
STATEMENT = re.compile(
    rf"""
      (?i:{_KEYWORDS})\b(?!\ ?[=:.-])(?:\ ?[;{{(]?$|.*[()\[\]{{}}=<>;$@*&"']|.*\.\w+|.*[:\\]$|\ \w+$)
    | (?:else|try|finally|do|default|public|private|protected|except):$
    | .*[;{{}}]$ | .*[=|]>.* | .*(?:->|::|:=|[=!]==?\ |&&|\|\||\+=|<-).*
    | [\w$.]+(?:\[.*\])?\ ?(?:[-+*/|&:?]=\ ?\S.*|=\ ?\S.*[;({{\[])
    | [\w$.:>!?-]+\(.*\)?[;,:{{)]*$
    | [@$%\#.&][\w-]+.*[(){{;=,\[:]?$ | \.\w+\(.*
    """,
    re.VERBOSE,
)
"""What hardly anything but a programming language has."""
COMMON = re.compile(
    r"""
      [\])}\[({"'`*&|?:+=<>.].* | .*[,(\[{)\]\\:=&|+]$ | [-+\d.,\ xXa-fA-FuUlL]+[,;)}\]]+$
    | [\w.]+[_.][\w.]+$ | [\w$.]+(?:\[.*\])?(?::\ [\w.\[\],\ |]+)?\ ?=\ ?\S.*
    """,
    re.VERBOSE,
)
"""What code has, and data, settings and lists as well."""
_WORD = r"(?:[aI]|[^\W\d_][^\W\d_A-Z]+['’]?[a-z]{0,2})"
SENTENCE = re.compile(rf"(?<![\w.(])(?:{_WORD}[,;]? ){{4}}[^\W\d_]+(?![\w(:\[<*&=])")
"""Five plain words in a row, none of them a name as programs write them."""
UNSPACED = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]{4}")
"""The same of scripts that are written without spaces."""
NOT_CODE = re.compile(r"\\[A-Za-z]|<(?!<)|>(?![>=])|\|(?![>|=]|.*->)")
"""What lines of LaTeX, HTML, quoted mail and tables begin with."""
MARK = re.compile(r"[={}\[\]<>_$&|@\\+]|[A-Za-z]{2}\((?!s\)|es\)|ies\))|::|->")
"""What prose can do without: verses and clauses may begin with `let` and `return` and end in semicolons."""
DIRECTIVE = re.compile(
    r"#(?:if|else|elif|error|import)\b|# ?(?:include|define|ifdef|ifndef|endif|pragma|undef)\b|#!?\[\w.*\]$|#!/"
)
"""What begins with # and is no remark."""
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
TRAILING_REMARK = re.compile(r" (?://|/\*|# |-- ).*$")


_LOOKED_AT = 20_000
_LINES = 100
"""Outside remarks; what comes after so many is no longer looked at."""
_LONGEST = 300
"""Characters of a line the patterns see, so that no line can make them slow."""
_PROSE_WIDTH = 80
"""Characters of prose that weigh as much as one line of code."""

# Shares of the lines outside remarks; a text must pass all of them.
_LEAST_LINES = 8
_LEAST_SIGNS = 4
_LEAST_SPACES = 4
_SIGNS = 0.2
_MARKED = 0.2
_EXPLAINED = 0.6
_PROSE = 0.15
_OPENING = 3
"""First lines of which none may be a sentence: a text about a program ends with the program."""

_DATA = ("<", "{", "[")
_REMARKS = ("//", "#", "--", "<!--", ";;")
_HEADING = re.compile(r"\n\n#{2,6} \S[^\n]*\n\n")
"""Of Markdown: program texts have their remarks right above what they explain."""
_POD = re.compile(r"=(?:head\d|pod|over|encoding)\b")


def looks_like_code(text: str) -> bool:
    """Most lines are statements and next to none is a sentence; remarks and long strings do not count."""
    head = text[:_LOOKED_AT]
    # Most records of most corpora; markup, data and patches.
    if head.count("\n") < _LEAST_LINES - 1 or head.lstrip()[:1] in _DATA or "\n@@ -" in head:
        return False
    if _HEADING.search(head):
        return False
    lines: list[str] = []
    for line in islice(_outside_remarks(head), _LINES):
        if len(lines) < _OPENING and _is_sentence(line):
            return False
        lines.append(line)
    signs = common = 0
    prose = 0.0
    for line in lines:
        if _is_sentence(line) or NOT_CODE.match(line):
            prose += max(1.0, len(line) / _PROSE_WIDTH)
            if prose > _PROSE * len(lines):
                return False
        elif STATEMENT.match(line) or DIRECTIVE.match(line):
            signs += 1
        elif COMMON.match(line):
            common += 1
    marked = sum(MARK.search(line) is not None for line in lines)
    return (
        len(lines) >= _LEAST_LINES
        and marked >= _MARKED * len(lines)
        and signs >= max(_LEAST_SIGNS, _SIGNS * len(lines))
        and signs + common >= _EXPLAINED * len(lines)
    )


def _is_sentence(line: str) -> bool:
    return _has_words(line) and not SURE.match(line) and _has_words(QUOTED.sub("", line))


def _has_words(line: str) -> bool:
    if line.count(" ") >= _LEAST_SPACES and SENTENCE.search(line):
        return True
    return not line.isascii() and UNSPACED.search(line) is not None


def _outside_remarks(text: str) -> Iterator[str]:
    """The lines that are not blank, nor in a remark, a long string or a fence, with single spaces."""
    closing = ""
    for raw in text.split("\n"):
        if closing:
            # The end of Perl's documentation is a line of its own; documentation may speak of it.
            if raw.startswith(closing) if closing[0] == "=" else closing in raw:
                closing = ""
            continue
        line = " ".join(raw[:_LONGEST].split())
        closing = _opened(line)
        if line.startswith("/*") or (closing and line.lstrip("bfru").startswith((closing, "="))):
            continue
        if line and (not line.startswith(_REMARKS) or DIRECTIVE.match(line)):
            yield TRAILING_REMARK.sub("", line)


def _opened(line: str) -> str:
    """What closes the remark, long string or fence that this line leaves open."""
    if line.startswith(("```", "~~~")):
        return line[:3]
    if _POD.match(line):
        return "=cut"
    if line.startswith("=begin"):
        return "=end"
    if line.rfind("/*") > line.rfind("*/"):
        # Elsewhere in a line it is a pattern of file names as often as not.
        return "*/" if line.startswith("/*") or " /*" in line else ""
    for quotes in ('"""', "'''"):
        if line.count(quotes) % 2:
            return quotes
    return ""


_SUFFIXES = {
    "bash": "bash zsh ksh",
    "c": "c h",
    "clojure": "clj cljs cljc",
    "cpp": "cpp hpp cc hh cxx hxx",
    "csharp": "cs",
    "css": "css scss less",
    "cuda": "cu cuh",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl",
    "fortran": "f90 f95",
    "fsharp": "fs fsx",
    "go": "go",
    "groovy": "groovy gradle",
    "haskell": "hs",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "nim": "nim",
    "ocaml": "ml mli",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "r": "r",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "sh": "sh",
    "solidity": "sol",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vue": "vue",
    "zig": "zig",
}
LANGUAGES = {f".{end}": name for name, ends in _SUFFIXES.items() for end in ends.split()}
_FILE_NAMES = {"makefile": "makefile", "dockerfile": "dockerfile", "rakefile": "ruby"}
_INTERPRETERS = {"python": "python", "node": "javascript", "bash": "bash", "sh": "sh"} | {
    name: name for name in ("ruby", "perl", "php", "lua")
}
_OTHER_NAMES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", "shell": "bash", "golang": "go"}
_SHEBANG = re.compile(rb"#![^\n]*?([a-z]+)[0-9.]*[ \t\r]*(?:\n|$)")


class CodeLoader:
    """By suffix; without one, by a shebang line or all its lines. Configuration files are plain text."""

    suffixes: tuple[str, ...] = tuple(LANGUAGES)
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        language = language_of(name, head)
        if language or suffix_of(name):
            return bool(language)
        # Imported here: its patterns take longer to compile than most files to read.

        return looks_like_code(head.decode("utf-8", "replace"))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        text = decode(data, source.origin, options.encoding)
        language = language_of(source.name, data[:256])
        yield Document(source.id, text, source=source.origin, format="code", language=language)


def language_of(name: str, head: bytes = b"") -> str:
    """In lower case, empty when it is not known to be code."""
    suffix = suffix_of(name)
    if suffix:
        return LANGUAGES.get(suffix, "")
    shebang = _SHEBANG.match(head[:256])
    if shebang:
        return _INTERPRETERS.get(shebang[1].decode(), "")
    return _FILE_NAMES.get(name.lower(), "")


def language_named(name: str) -> str:
    """The language people call by this name, as `language_of` writes it; empty when it is none."""
    name = name.strip().lower()
    name = _OTHER_NAMES.get(name, name)
    return name if name in _SUFFIXES else ""

"""A syntax tree in linear time, given up for text that is no code; classes and functions as sections of source code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tree_sitter import Parser

from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.text import source_code
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.source_code import LANGUAGES, grammar_for, syntax_tree
from tables import cases
from untimed import is_linear

SOURCES = {
    "python": (
        "import os\n\n\nclass Parser:\n    limit = 3\n\n    @property\n    def parse_line(self, line):\n"
        "        return line  # MARK\n\n\ndef other():\n    pass\n",
        "Parser > parse_line",
    ),
    "javascript": (
        "import x from 'y';\n\nexport class Parser {\n  parseLine(line) {\n    return line; // MARK\n  }\n}\n",
        "Parser > parseLine",
    ),
    "typescript": (
        "namespace Text {\n  export class Parser {\n    parseLine(line: string): string {\n"
        "      return line; // MARK\n    }\n  }\n}\n",
        "Text > Parser > parseLine",
    ),
    "tsx": ("export const View = (props: P) => {\n  return <b>MARK</b>;\n};\n\nlet z = 1;\n", "View"),
    "java": (
        "package a;\n\npublic class Parser<T> {\n    int n;\n\n    String parseLine(String line) {\n"
        "        return line; // MARK\n    }\n}\n",
        "Parser > parseLine",
    ),
    "go": (
        "package a\n\ntype Parser struct {\n\tn int\n}\n\nfunc (p *Parser) ParseLine(line string) string {\n"
        "\treturn line // MARK\n}\n",
        "Parser > ParseLine",
    ),
    "rust": (
        "use std::fmt;\n\nimpl<T> fmt::Display for Parser<T> {\n    fn parse_line(&self) -> u8 {\n"
        "        1 // MARK\n    }\n}\n",
        "Parser > parse_line",
    ),
    "c": ("#include <a.h>\n\nstatic char *parse_line(char *line)\n{\n    return line; /* MARK */\n}\n", "parse_line"),
    "cpp": (
        "namespace text {\n\nint Parser::parse_line(int line) {\n    return line; // MARK\n}\n\n}\n",
        "text > Parser > parse_line",
    ),
    "csharp": (
        "namespace Text\n{\n    class Parser\n    {\n        string ParseLine(string line)\n        {\n"
        "            return line; // MARK\n        }\n    }\n}\n",
        "Text > Parser > ParseLine",
    ),
    "ruby": (
        "module Text\n  class Parser\n    def parse_line(line)\n      line # MARK\n    end\n  end\nend\n",
        "Text > Parser > parse_line",
    ),
    "php": (
        "<?php\nclass Parser\n{\n    function parseLine($line)\n    {\n        return $line; // MARK\n    }\n}\n",
        "Parser > parseLine",
    ),
    "bash": ("set -e\n\nparse_line() {\n    echo \"$1\" # MARK\n}\n", "parse_line"),
}  # fmt: skip


def analyzed(text: str, language: str) -> Analyzed:
    return Analyzed(Document("x", text, format="code", language=language))


def test_every_language_has_a_case() -> None:
    assert set(SOURCES) == set(LANGUAGES)


@cases("language", SOURCES)
def test_the_path_of_a_line_is_the_classes_and_functions_around_it(language: str) -> None:
    text, path = SOURCES[language]
    document, at = analyzed(text, language), text.index("MARK")
    line = text.rfind("\n", 0, at) + 1
    assert " > ".join(document.section(line, at + 4)) == path
    assert document.section(0, 3) in ((), (path.split(" > ")[0],))


def test_a_chunk_of_two_methods_has_their_class_and_one_of_two_classes_nothing() -> None:
    text = "class A:\n    def a(self):\n        pass\n\n    def b(self):\n        pass\n\n\nclass B:\n    x = 1\n"
    document = analyzed(text, "python")
    assert document.section(text.index("    def a"), text.index("\n\n\nclass B")) == ("A",)
    assert document.section(text.index("    def b"), len(text)) == ()
    assert document.section(text.index("    def b"), text.index("\n\n\nclass B")) == ("A", "b")


def test_comments_decorators_and_indentation_belong_to_what_is_below() -> None:
    above = "    # Says it.\n    # Twice.\n    @cache\n"
    text = f"import os\n\nclass A:\n    x = 1\n\n{above}    def a(self):\n        pass\n"
    document = analyzed(text, "python")
    assert document.section(text.index("    # Says"), len(text)) == ("A", "a")


def test_closing_brackets_are_in_no_section_of_their_own() -> None:
    text = "class A {\n  f() {\n    return 1;\n  }\n}\n"
    assert analyzed(text, "javascript").section(text.index("  f()"), len(text)) == ("A", "f")


def test_characters_are_counted_and_not_bytes() -> None:
    text = "# Grüße an alle, 你好 👋\nNAME = 'é'\n\n\ndef später():\n    return 'ß'\n"
    at = text.index("    return")
    assert analyzed(text, "python").section(at, len(text)) == ("später",)


def test_chunks_of_code_have_their_path_as_section() -> None:
    body = "".join(f"        total += line.count('{letter}')\n" for letter in "abcdefghij")
    text = "".join(
        f"class C{n}:\n    def f(self, line):\n        total = 0\n{body}\n\n" for n in range(3)
    )
    for strategy in ("code(max_tokens=60)", "recursive(max_tokens=60, overlap=0)"):
        chunks = list(
            get_strategy(strategy).chunks(Document("x", text, format="code", language="python"))
        )
        assert {chunk.section_path for chunk in chunks} >= {f"C{n} > f" for n in range(3)}


@cases("text", ["", "}}}}", "def", "class", "class A", "\x00", "\ud800", "def f(:\n  x\n", "é" * 9])
@cases("language", ["python", "cpp", "unknown"])
def test_what_is_no_code_has_no_sections(text: str, language: str) -> None:
    document = analyzed(text, language)
    assert document.section(0, len(text)) in ((), ("f",), ("A",))
    assert (document.sections.start < max(len(text), 1)).all()


def test_sections_are_found_in_linear_time() -> None:
    is_linear(lambda size: analyzed("def f():\n    pass\n\n" * size, "python").section(0, 1), 200)


ROOT = Path(__file__).parents[2]
JAVA = (
    "class Lamp%d {\n    int wick = %d;\n    void trim(int by) {\n        wick -= by;\n    }\n}\n"
)
HOSTILE = [
    *(
        (language, unit)
        for language in ("python", "typescript", "java", "go", "rust", "c", "cpp", "csharp")
        for unit in ("“a。", '"a. ')
        if (language, unit) != ("typescript", "“a。")  # one error a line long, skipped at once
    ),
    *(("python", unit) for unit in ("def f(\n", "x ) y\n", "\\\n", "<a>")),
    *(("java", unit) for unit in ("a<", "%w(", "/* ")),
    ("javascript", "def f:\n "),
    ("tsx", "'"),
    ("bash", "def f(\n"),
]


def read_of(text: str, language: str, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, int]:
    """Whether there is a tree, and how many bytes the parser was given, some of them many times."""
    given = 0
    read: Callable[..., bytes] = source_code._Reader.read

    def counted(*arguments: object) -> bytes:
        nonlocal given
        found = read(*arguments)
        given += len(found)
        return found

    monkeypatch.setattr(source_code._Reader, "read", counted)
    grammar = grammar_for(language)
    assert grammar is not None
    found = syntax_tree(text.encode(), grammar)
    monkeypatch.undo()
    return found is not None, given


@pytest.mark.unwatched
@pytest.mark.parametrize(("language", "unit"), HOSTILE)
def test_a_parser_lost_in_errors_is_stopped(
    language: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, long = read_of((unit * 32_000)[:32_000], language, monkeypatch)
    assert not parsed
    # Errors stop it at one place, however long the text; what is read over and over, at so many readings a byte.
    if long >= 20_000:
        _, short = read_of((unit * 8_000)[:8_000], language, monkeypatch)
        assert long <= 4.4 * short


@pytest.mark.parametrize(
    ("language", "unit"),
    [
        ("ruby", "=>`\n"), ("ruby", "- <"), ("ruby", "< !\n"), ("ruby", ";.."),
        ("javascript", "*!\n"), ("javascript", "1 a:"), ("javascript", "- in {\n"), ("javascript", "+ + ,"),
    ],
)  # fmt: skip
def test_a_short_text_that_is_no_code_ends_it_soon(
    language: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each token of these costs the parser all that stands before it."""
    parsed, given = read_of((unit * 4_000)[:4_000], language, monkeypatch)
    assert not parsed
    assert given < 3_000


def test_no_log_is_kept_of_what_is_looked_for_behind_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The text ends amid a sample; the parser then reads it from every place again."""
    noted = 0
    note = source_code._Reader._note

    def counted(*said: Any) -> None:
        nonlocal noted
        noted += 1
        note(*said)

    monkeypatch.setattr(source_code._Reader, "_note", counted)
    grammar = grammar_for("java")
    assert grammar is not None
    ends_in_sample, ends_elsewhere = "/* " * 13_333, "/* " * 13_340
    assert syntax_tree(ends_elsewhere.encode(), grammar) is None
    elsewhere, noted = noted, 0
    assert syntax_tree(ends_in_sample.encode(), grammar) is None
    assert noted < 10 * elsewhere


@cases("path", sorted((ROOT / "src/chunkwise/chunkers").glob("*.py")))
def test_the_tree_of_code_is_the_parser_s_own(path: Path) -> None:
    grammar, source = grammar_for("python"), path.read_bytes()
    assert grammar is not None
    bounded = syntax_tree(source, grammar)
    assert bounded is not None
    assert str(bounded.root_node) == str(Parser(grammar).parse(source).root_node)


def test_a_few_errors_in_much_code_are_no_reason_to_stop() -> None:
    source = "".join(
        JAVA % (n, n) + ("%w( a < def f:\n" if n % 10 == 5 else "") for n in range(500)
    ).encode()
    grammar = grammar_for("java")
    assert grammar is not None
    bounded = syntax_tree(source, grammar)
    assert bounded is not None
    assert str(bounded.root_node) == str(Parser(grammar).parse(source).root_node)


def test_what_is_no_code_is_cut_at_its_lines() -> None:
    text = "def f(\n" * 5_000
    document = Document("d", text, format="code", language="python")
    unknown = Document("d", text, format="code", language="fortran")
    strategy = get_strategy("code(max_tokens=50)")
    assert [c.span for c in strategy.chunks(document)] == [c.span for c in strategy.chunks(unknown)]


@cases("shift", range(0, 8, 2))
def test_a_parser_stopped_amid_a_character_comes_to_an_end(shift: int) -> None:
    grammar = grammar_for("python")
    assert grammar is not None
    for unit in ("“a。", "\\é\n", "(👩‍🚀 ", "\ud83d( "):
        source = ("x" * shift + unit * 2_000).encode("utf-8", "surrogatepass")
        assert syntax_tree(source, grammar) is None or unit.startswith("\\")


@cases("size", range(120, 136))
def test_checked_pieces_may_end_amid_a_character(size: int) -> None:
    grammar = grammar_for("python")
    assert grammar is not None
    source = (f"x = '{'é灯👩' * 12}'\n" * 40).encode()[: size * 9].decode(errors="ignore").encode()
    bounded = syntax_tree(source, grammar)
    assert bounded is not None
    assert str(bounded.root_node) == str(Parser(grammar).parse(source).root_node)


def test_what_is_so_large_that_its_tree_may_fill_the_memory_is_not_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grammar = grammar_for("python")
    assert grammar is not None
    code = b"x = 1\n" * 20
    monkeypatch.setattr(source_code, "_LARGEST", len(code))
    assert syntax_tree(code, grammar) is not None
    assert syntax_tree(code + b" ", grammar) is None
    text = (code + b" ").decode()
    cut = get_strategy("code(max_tokens=20)").chunks(Document("a", text, format="code", language="python"))  # fmt: skip
    assert " ".join(chunk.text for chunk in cut).split() == text.split()

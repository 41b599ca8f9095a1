"""Classes and functions as sections of source code, in every language there is a grammar for."""

import pytest

from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.source_code import LANGUAGES
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


@pytest.mark.parametrize("language", SOURCES)
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


@pytest.mark.parametrize(
    "text", ["", "}}}}", "def", "class", "class A", "\x00", "\ud800", "def f(:\n  x\n", "é" * 9]
)
@pytest.mark.parametrize("language", ["python", "cpp", "unknown"])
def test_what_is_no_code_has_no_sections(text: str, language: str) -> None:
    document = analyzed(text, language)
    assert document.section(0, len(text)) in ((), ("f",), ("A",))
    assert (document.sections.start < max(len(text), 1)).all()


def test_sections_are_found_in_linear_time() -> None:
    is_linear(lambda size: analyzed("def f():\n    pass\n\n" * size, "python").section(0, 1), 200)

"""Source code without a file name is told by its lines, and nothing else is taken for it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.documents.formats.code import looks_like_code
from tables import cases
from untimed import lines_run

_SNIPPETS = {
    "python": 'import os\n\n\ndef total(items):\n    """The sum of what is in stock, however it was\n'
    '    counted before; see the notes on rounding."""\n    found = 0\n    for item in items:\n'
    "        if item.in_stock:\n            found += item.price\n    return found\n",
    "rust": "use std::fmt;\n\n/// A point in the plane, which is as flat as one would expect.\n#[derive(Debug)]\n"
    "pub struct Point {\n    x: f64,\n}\n\nimpl Point {\n    pub fn new(x: f64) -> Self {\n        Self { x }\n"
    "    }\n}\n",
    "java": "package org.example;\n\nimport java.util.List;\n\npublic class Stock {\n"
    "    private final List<Item> items;\n\n    public Stock(List<Item> items) {\n        this.items = items;\n    }\n"
    "}\n",
    "typescript": "import { Item } from './item';\n\nexport interface Stock {\n  items: Item[];\n}\n\n"
    "export const total = (stock: Stock): number =>\n  stock.items.reduce((sum, item) => sum + item.price, 0);\n",
    "go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfor i := 0; i < 10; i++ {\n\t\tfmt.Println(i)\n\t}\n}\n',
    "c": "#include <stdio.h>\n\n/* Prints the arguments, each on a\n   line of its own. */\n"
    "int main(int argc, char **argv)\n{\n    for (int i = 1; i < argc; i++)\n        puts(argv[i]);\n"
    "    return 0;\n}\n",
    "ruby": "require 'set'\n\nclass Stock\n  def initialize(items)\n    @items = items\n  end\n\n  def total\n"
    "    items.sum { |item| item.price }\n  end\nend\n",
    "lua": "local M = {}\n\nfunction M.total(items)\n  local sum = 0\n  for _, item in ipairs(items) do\n"
    "    sum = sum + item.price\n  end\n  return sum\nend\n\nreturn M\n",
    "haskell": "module Stock where\n\nimport qualified Data.Map as Map\n\ndata Item = Item { price :: Int }\n\n"
    "total :: [Item] -> Int\ntotal = sum . map price\n",
    "bash": 'set -euo pipefail\n\nfor file in *.txt; do\n  if [[ -s "$file" ]]; then\n    wc -l "$file"\n  fi\ndone\n',
    "sql": "SELECT c.name, SUM(o.amount) AS total\nFROM customers c\nJOIN orders o ON o.customer_id = c.id\n"
    "WHERE o.created_at >= '2024-01-01'\nGROUP BY c.name;\n",
    "css": "body {\n  margin: 0;\n  color: #333;\n}\n\n.title, .lead {\n  font-size: 2em;\n}\n",
    "perl": "use strict;\n\n=head1 NAME\n\nStock - what is there\n\n=cut\n\nsub total {\n    my ($items) = @_;\n"
    "    return scalar @$items;\n}\n",
    "elixir": "defmodule Stock do\n  def total(items) do\n    items\n    |> Enum.map(& &1.price)\n    |> Enum.sum()\n"
    "  end\nend\n",
    "python with a fence in a string": 'def f(x):\n    """Use it so:\n\n    ```\n    f(1)\n    ```\n    """\n'
    "    y = x + 1\n    return y\n",
    "windows": "def f(x):\r\n    y = x + 1\r\n    return y\r\n",
}
CODE = {name: f"{text}\n" * 4 for name, text in _SNIPPETS.items()}
"""Long enough to be sure of."""

NOT_CODE = {
    "nothing": "",
    "blank": "\n \n\t\n\n",
    "a line": "def f(x): return x",
    "prose": "The first thing to know about stock is that it is counted twice.\nIt is, after all, money; and money\n"
    "is counted; then it is counted again (by others); and so on;\nuntil the numbers agree;\nor do not;\n",
    "contract": "(a) the Seller (as defined below);\n(b) the Buyer;\n(c) any Affiliate(s) of the Party(ies);\n"
    "(d) Section 5(a), Section 6(b)(ii);\n    (i) taxes;\n    (ii) import duties;\n    (iii) use fees;\n"
    'provided, however, that:\n(e) return of goods ("Return");\n',
    "clauses in capitals": 'WHEREAS, the parties;\nFROM TIME TO TIME;\nSET FORTH (the "Terms");\nUNION;\nSELECT ONE;\n',
    "verses": "Red is the rose,\nGreen is the grass;\nLet it be sung;\nMy heart; my own;\nLet love return (alas);\n",
    "verses of keywords": "my love;\nour days;\nlet go;\nreturn;\nset sail;\nbreak;\ncontinue;\n",
    "recipe": "Ingredients:\n- 2 eggs,\n- 1 cup milk (cold);\n\nSteps:\n1. Beat the eggs;\n2. Fry;\n",
    "glossary": "assets: all things owned;\ncosts: what goes out;\nprofit: the rest;\nnotes: see below;\n",
    "headings of keywords": "import duties\nuse taxes\nreturn policy\nclass action\npackage tours\nopen house\n",
    "log": "2024-01-01 12:00:00 INFO app.main(): started pid=12\n2024-01-01 12:00:01 ERROR db.connect(host=x): failed\n"
    "2024-01-01 12:00:02 INFO done;\n",
    "stack trace": "java.lang.Error: x\n    at com.foo.Bar.baz(Bar.java:12)\n    at com.foo.Main.main(Main.java:3)\n",
    "yaml": 'services:\n  web:\n    image: nginx\n    ports:\n      - "80:80"\n    environment:\n      A_B: c\n',
    "settings": "[a]\nx = 1\ny = 2\n\n[b]\nz = foo\nname = value\n",
    "json": '{\n  "a": 1,\n  "b": [\n    {"c": "d()"}\n  ]\n}\n',
    "json lines": '{"a": 1}\n{"a": 2}\n{"a": 3}\n',
    "csv": "name,price,id\nfoo,1.5,a_1\nbar,2.5,a_2\nbaz,3.5,a_3\n",
    "html": "<div>\n<p>foo</p>\n<script>\nvar x = 1;\nfoo(x);\n</script>\n</div>\n",
    "latex": "\\documentclass{article}\n\\begin{document}\nLet $x = 1$;\n\\[ y = f(x) \\]\n\\end{document}\n",
    "contents": "1. Introduction ........ 1\n2. Methods ............. 3\n2.1 Data (a) ... 4\nAppendix A: Tables,\n",
    "german": "Die Kinder;\ndas Haus,\nder Hund (klein);\nein Baum:\nund so weiter,\nEnde;\n",
    "chinese": "第一条 总则;\n第二条 定义:\n(一)甲方;\n(二)乙方;\n",
    "mail": "Hi Bob,\n\n> x = f(1);\n> return x;\n\nthanks;\n\nAlice\n",
    "only fences": "```python\nimport foo\nfoo.bar(1)\n```\n\n```\nx = foo(1)\n```\n",
    "markdown": "# Use\n\nCall it with what you have:\n\n```python\nimport foo\nfoo.bar(1)\nx = foo.baz(2)\n```\n",
    "markdown with indented code": "The following call shows how it is done::\n\n    import foo\n    x = foo.bar(1)\n"
    "    y = foo.baz(x)\n    if y == 2:\n        return y\n    print(x, y)\n",
    "markdown table": "| a_b | c() |\n|-----|-----|\n| x = 1 | f(x); |\n| y = 2 | g(y); |\n",
    "patch": "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n import os\n-x = f(1)\n+x = f(2)\n return x\n",
    "session": ">>> import os\n>>> x = os.getcwd()\n>>> def f():\n...     return 1\n",
}  # fmt: skip


@cases("text", CODE.values())
def test_code(text: str) -> None:
    assert looks_like_code(text)


@cases("text", [text for text in _SNIPPETS.values() if text.count("\n") < 7])
def test_a_few_lines_are_too_few_to_tell(text: str) -> None:
    assert not looks_like_code(text)


def test_markdown_with_short_lines_is_no_code() -> None:
    methods = "connect(host, port)\nclose()\nsend(data)\nx = poll(3)\n"
    assert looks_like_code(methods * 4)
    assert not looks_like_code(f"# Client\n\n## Methods\n\n{methods * 4}")


@cases("text", NOT_CODE.values())
def test_not_code(text: str) -> None:
    assert not looks_like_code(text)
    assert not looks_like_code(text * 20)


@cases("text", CODE.values())
def test_a_text_about_a_program_is_no_program(text: str) -> None:
    assert not looks_like_code(f"What follows was written by somebody else.\n\n{text}")


def test_a_page_of_remarks_before_the_code() -> None:
    remarks = "# You may use this file under the terms that come with it, as everybody may.\n" * 100
    assert looks_like_code(remarks + CODE["python"])
    assert not looks_like_code(remarks)


def test_an_open_remark_hides_what_follows() -> None:
    assert not looks_like_code("/* and so on\n" + CODE["java"])


@pytest.mark.usefixtures("large_inputs")
@cases(
    "line",
    ["a", "a ", "a.", "a::", "(", "<", "= ", "/*", '"""', "'", "a: b, ", "if ", "_a->", "a<b, ", "{ ", "字", "a_b() "],
)  # fmt: skip
def test_no_text_makes_it_hang(line: str) -> None:
    """Only so much of a line is looked at, and of a text: what follows changes nothing, not even what it costs."""
    long = line * (10_000_000 // len(line))
    broken = (line * 200 + "\n") * 200
    for start, rest in (
        ("", long),
        ("x = 1\n" * 3, long),
        ("x = 1\n" * 3, broken),
        ("if ", broken),
    ):
        short = (start + rest)[:30_000]
        assert looks_like_code(start + rest) == looks_like_code(short)
        assert lines_run(lambda s=start + rest: looks_like_code(s)) == lines_run(
            lambda s=short: looks_like_code(s)
        )


@given(st.text(alphabet="ab_ \n\t(){};:=<>\"'#/*-.,", max_size=400))
def test_any_text_is_judged_and_only_its_beginning_counts(text: str) -> None:
    head = (text + "\n") * (20_000 // (len(text) + 1) + 1)
    assert looks_like_code(head) == looks_like_code(head + "A sentence that stands behind it.\n")


@cases(
    "record, expected",
    [
        ({"text": CODE["rust"]}, ("code", "")),
        ({"text": CODE["rust"], "title": "main.rs"}, ("code", "rust")),
        ({"text": CODE["rust"], "language": "Rust"}, ("code", "rust")),
        ({"text": CODE["c"], "lang": "C++"}, ("code", "cpp")),
        ({"text": CODE["c"], "language": "en"}, ("code", "")),
        ({"text": "#!/usr/bin/env python3\n" + CODE["python"]}, ("code", "python")),
        ({"text": CODE["python with a fence in a string"]}, ("code", "")),
        ({"text": "x", "title": "src/main.rs"}, ("text", "")),
        ({"text": CODE["rust"], "title": "src/main.rs"}, ("code", "rust")),
        ({"text": "It runs.", "url": "https://example.org/viewtopic.php"}, ("text", "")),
        ({"text": CODE["rust"], "url": "https://example.org/main.rs"}, ("code", "rust")),
        ({"text": "It runs programs.", "title": "Node.js"}, ("text", "")),
        ({"text": "It is a path.", "title": "all about src/main.rs"}, ("text", "")),
        ({"text": "He wrote it.", "language": "python"}, ("text", "")),
        ({"text": CODE["rust"], "source": "a.txt"}, ("text", "")),
        ({"text": CODE["rust"], "source": "a.md"}, ("markdown", "")),
        ({"text": CODE["rust"], "format": "text", "path": "a.rs"}, ("text", "")),
        ({"text": "x", "format": "code", "path": "a.rs"}, ("code", "rust")),
        ({"text": "x", "format": "markdown"}, ("markdown", "")),
        ({"text": "x", "format": ["code"]}, ("text", "")),
        ({"text": NOT_CODE["markdown"]}, ("markdown", "")),
        ({"text": NOT_CODE["only fences"]}, ("markdown", "")),
    ],
)
def test_the_format_of_a_record(reader, write, record, expected) -> None:
    document = reader.one(write("c.jsonl", json.dumps({"id": "1", **record})))
    assert (document.format, document.language) == expected
    assert (document.id, document.text) == ("1", record["text"])


def test_files_without_a_suffix_and_those_that_are_called_text(reader, write) -> None:
    for name, expected in (("script", "code"), ("a.txt", "text"), ("a.toml", "text")):
        document = reader.one(write(name, CODE["java"]))
        assert (document.format, document.text, document.id) == (expected, CODE["java"], name)
    assert reader.one(write("notes", NOT_CODE["contract"])).format == "text"
    assert reader.one(write("page", NOT_CODE["markdown"])).format == "markdown"
    assert reader.one(write("forced", CODE["java"]), loader="text").format == "text"


def test_records_of_csv_and_json(reader, write) -> None:
    quoted = CODE["lua"].replace('"', '""')
    assert reader.one(write("c.csv", f'id,text\n1,"{quoted}"\n')).format == "code"
    assert reader.one(write("c.json", json.dumps([{"text": CODE["lua"]}]))).format == "code"

"""The inputs on which released splitters were seen to fail, by name; all written or generated here."""

from __future__ import annotations

from typing import NamedTuple

FAMILY = "👨‍👩‍👧‍👦"


class Input(NamedTuple):
    """A text with the limit and overlap at which it broke a splitter."""

    name: str
    text: str
    limit: int = 100
    tokenizer: str = "cl100k_base"
    overlap: int = 0
    format: str = "text"


def _license() -> str:
    """Numbered clauses that repeat themselves, in capitals, with indents: what a license looks like."""
    verbs = ("use", "copy", "modify", "merge", "publish", "distribute", "sublicense", "sell")
    nouns = ("the Work", "any Derivative", "the Documentation", "a Contribution", "each Copy")
    parts = [
        "                 GRANT OF RIGHTS AND CONDITIONS\n                     Version 3, Spring\n"
    ]
    for n in range(1, 60):
        verb, noun = verbs[n % len(verbs)], nouns[n % len(nouns)]
        parts.append(
            f"   {n}. Subject to the terms of this Grant, each Holder hereby allows You to {verb} {noun}, "
            f"provided that:\n\n      (a) You must keep this notice in {noun}; and\n      (b) You must keep "
            f"this notice in all parts of {noun}; and\n\n      (c) nothing herein shall supersede (a) or (b).\n"
        )
    parts.append(
        '   THE WORK IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED.\n'
    )
    return "\n".join(parts)


def _log() -> str:
    line = "2031-03-0{} 04:1{}:00 INFO  worker-{} finished job in 12 ms; queue is empty\n"
    return "".join(line.format(n % 3 + 1, n % 7, n % 4) for n in range(400))


def _csv() -> str:
    rows = (
        f"{n},Keeper {n},Island of Row {n % 9},{n * 37 % 1000}.50,lamp and horn\n"
        for n in range(1, 241)
    )
    return "id,name,place,cost,note\n" + "".join(rows)


MARKDOWN = """# Lamp manual

Before anything else, read the table.

| part | count | note |
|------|------:|------|
| wick | 4 | trim daily |
| glass | 2 | never wet |

![the lamp room](lamp.png)

```python
def trim(wicks):
    for wick in wicks:
        # keep the flame even
        if wick.length > 3:
            wick.cut(3)
    return wicks
```

## Oil

- fill the *lower* tank
  - slowly
- close the valve

Done.
"""

HEADINGS = """Care of the lamp
================

Some words about the lamp.

~~~sh
# not a heading
lamp --trim
~~~

Weekly work
-----------

Clean the glass and the brass.

### Polish

Use the soft cloth.
"""

_LICENSE = _license()
_JAPANESE = "灯台守は毎朝、窓を磨いた。「今日も霧だ」と彼は言った。港の船は静かに待っていた！" * 150
_HTML_TEXT = "<p>The <strong>lamp</strong> is <em>lit</em> at <b>dusk</b>.</p><div>Row<table><tr><td>1</table></div>\n"

INPUTS: tuple[Input, ...] = (
    *(Input(f"license, overlap {n}", _LICENSE, 128, overlap=n) for n in (16, 32, 64)),
    Input("repeated phrases", "The lamp is lit. The lamp is out. The lamp is lit again. " * 80, 120, "characters"),
    Input("400 similar log lines", _log(), 200),
    Input("emoji", "Good morning 👋🏽 and thanks 🙏🏿! Flags: 🇳🇴🇮🇸, hearts: ❤️‍🔥. " * 60, 20),
    Input("Japanese", _JAPANESE, 200),
    Input("Yes. No.", "Yes. No. " * 200, 100),
    Input("CSV rows", _csv(), 100),
    Input("Markdown with table, code, image", MARKDOWN, 60, format="markdown"),
    Input("overlap 100 of 500", _LICENSE, 500, overlap=100),
    Input("fenced Python", MARKDOWN.split("\n\n", 4)[4], 40, format="markdown"),
    Input("inline HTML tags", _HTML_TEXT * 20, 60),
    Input("special tokens", "Text <|endoftext|> more <|im_start|>user<|im_end|> text. " * 50, 40),
    Input("no separators", "lanternoilwickglass" * 600, 100),
    Input("no separators, characters", "lanternoilwickglass" * 600, 100, "characters"),
    Input("emoji and CJK", f"灯台{FAMILY}の光🔦は遠くまで届く🌊。" * 120, 50),
    Input("family emoji, size 10", FAMILY * 28, 10, "characters"),
    Input("limit 1", f"a{FAMILY} é\u0301 b 灯台", 1),
    Input("empty", ""),
    Input("white space", " \n\t \r\n " * 80),
    Input("CRLF and runs of spaces", "One  lamp   lit.\r\n\r\n  Two    lamps out. \r\nThree.\r\n\r\n" * 60, 30),
    Input("~~~ fence and Setext headings", HEADINGS, 30, format="markdown"),
    Input("ten thousand headings", "".join(f"## Day {n}\n\nFog.\n\n" for n in range(10_000)), format="markdown"),
    Input("twenty thousand short lines", "a short 1\n" * 20_000),
    Input("dashes", "-" * 20_000),
    Input("Hangul letters", "\u1112\u1161\u11ab\u1100\u1173\u11af \u1106\u1161\u11af " * 100, 20),
    Input("Devanagari", "दीपक जलता है। क्षेत्र में कोहरा है? श्रीमान् ने कहा। " * 60, 30),
    Input("marks on one letter", "a" + "\u0323" * 300 + " b. " * 40, 20),
    Input("one line of commas", "lamp, oil, wick, glass, brass, rope, " * 300, 30),
    Input("no-break spaces", "lamp\u00a0room\u2003and\u202foil\u3000灯\u2028台 " * 100, 25),
    Input("byte order mark and NUL", "\ufeffStart.\x00 Middle.\x1f End. " * 80, 25),
)  # fmt: skip

"""Small documents that have broken splitters, texts that have broken models: what the checks run on."""

from __future__ import annotations

from chunkwise.core import Block, Document

_TABLE = "| lamp | code |\n|---|---|\n" + "".join(f"| north {n} | L{n:02} |\n" for n in range(40))
_MARKDOWN = (
    "---\ntitle: x\n---\n# One\n\nText with `code`, a [link](x) and **bold**.\n\nTwo\n===\n\n"
    "- item one\n  goes on\n- item two\n\n    indented in the list\n\n1. first\n2) second\n\n"
    "```python\ndef f():\n    # no heading\n    return 1\n```\n\n~~~\n# no heading either\n~~~\n\n"
    f"## Table\n\n{_TABLE}\n### Bare\n#### Heading\n\n> quoted\n> text\n\n***\n\nThe end"
)
_FAMILY = "👨‍👩‍👧‍👦"

_TEXTS = {
    "empty": "",
    "spaces": " \t\r\n\u3000" * 50,
    "one character": "x",
    "byte order mark": "\ufeffText after a mark. And more.",
    "no separators": "abcdefghij" * 200,
    "one line": "word " * 800,
    "short sentences": "Yes. No. " * 200,
    "dots": "." * 500,
    "dashes": "-" * 500 + "\n" + "=" * 500,
    "crlf": "One line.\r\nAnother line.\r\n\r\nA paragraph.\r\n" * 30,
    "carriage returns": "One.\rTwo.\r\rThree.\r" * 40,
    "families": _FAMILY * 60,
    "families in text": f"A family {_FAMILY} went home. " * 40,
    "flags": "🇩🇪🇫🇷🇯🇵" * 40,
    "combining marks": "e\u0301a\u0308o\u0302 " * 150,
    "one huge grapheme": "a" + "\u0301" * 400 + " b",
    "marks before headings": "a\n\n \u0301CHAPTER I\n\nText of it.\n\n\u00a0\u0301CHAPTER II\n\nMore.\n"
    * 20,
    "zero width": "a\u200bb\u200cc\u200d d\ufe0f" * 80,
    "han": "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。" * 40,
    "japanese": "「そうです。」と彼は言った。次の文です！" * 30,
    "hindi": "यह पहला वाक्य है। क्या यह दूसरा है? " * 40,
    "conjuncts": "राष्ट्रीय विद्यालय का क्षेत्र। " * 40,
    "thai": "สวัสดีครับ ผมชื่อสมชาย ยินดีที่ได้รู้จัก " * 40,
    "arabic": "هذه جملة أولى. هل هذا سؤال؟ نعم، هذا سؤال. " * 40,
    "korean": "안녕하세요. 저는 학생입니다. \u1112\u1161\u11ab\u1100\u1173\u11af " * 30,
    "special tokens": "<|endoftext|> is text, <|im_start|> too. " * 40,
    "lone surrogate": "before \ud83d after. " * 40,
    "control characters": "a\x00b\x1bc\x7fd\u2028e\u2029f\x0bg\x0ch\x85i " * 30,
    "digits": "1234567890" * 60 + " ١٢٣٤٥٦٧٨٩٠" * 30,
    "apostrophes": "don't you're we'll I'd 'sabc'll " * 60,
    "repeats": "The same phrase again. " * 120,
    "log": "".join(f"2024-05-01 12:00:{n % 60:02} INFO request {n} done\n" for n in range(120)),
    "csv": "id,name,note\n" + "".join(f'{n},"name {n}","a note; with, signs"\n' for n in range(90)),
    "nested brackets": "([{" * 150 + "}])" * 150,
    "html": "<div><p>Some <b>bold</b> text.</p><script>x</script></div>\n" * 30,
}


def hostile_documents() -> list[Document]:
    """Fresh documents of every kind, named after what is hostile about them."""
    documents = [Document(name, text) for name, text in _TEXTS.items()]
    documents.append(Document("markdown", _MARKDOWN, format="markdown"))
    documents += [
        Document(f"{name} as markdown", _TEXTS[name], format="markdown")
        for name in ("dashes", "crlf", "log", "nested brackets", "combining marks", "spaces")
    ]
    documents.append(
        Document("marked heading", "a\n\n \u0301One\n===\ntext\n" * 30, format="markdown")
    )
    code = (
        "class A:\n    def f(self):\n        return 'é'  # 👍\n\n\n@decorated\ndef g():\n    pass\n"
        * 20
    )
    documents.append(Document("python", code, format="code", language="python"))
    documents.append(
        Document("broken code", "def (((:\n\t}}}\n" * 40, format="code", language="python")
    )
    documents.append(Document("unknown code", code, format="code", language="brainfuck"))
    declared = "Title\n\nFirst. Second.\n\na | b\n1 | 2\n3 | 4"
    blocks = (
        Block("heading", 0, 5, 1), Block("paragraph", 7, 21), Block("header", 23, 28, 0, 1),
        Block("row", 29, 34, 0, 1), Block("row", 35, 40, 0, 1),
    )  # fmt: skip
    documents.append(Document("declared blocks", declared, format="html", blocks=blocks))
    return documents


HOSTILE_TEXTS = (
    "The lamps are lit at dusk.", "", "Leave is asked for in writing.", " \n\t\u3000", "灯は夕暮れに灯る。",
    "half \ud83d of a pair", "\udfff\udfff", "nul \x00, bell \x07, escape \x1b[31m", "\x00\x01", "\u200b\u200d",
    "👨‍👩‍👧‍👦", "e\u0301", "The lamps are lit at dusk.", "a", "<s> [CLS] <|endoftext|>",
    "the harbour master's word " * 60,
)  # fmt: skip
"""Passages and questions as no model expects them."""

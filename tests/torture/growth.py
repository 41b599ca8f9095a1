"""The same few signs over and over: four times as many take about four times as long, to cut and to read."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable

from chunkwise import Document
from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.reading import load
from chunkwise.documents.source import Source
from torture.chunks import FORMATS, SIGNS, STRATEGIES, made
from torture.run import Part

_SMALL = 16_000
"""Characters: below, a quadratic step hides behind what every text costs."""
_MOST = 9.0
"""Times the processor time of four times the text; quadratic work comes to 16."""
_NOTHING = 0.04
"""Seconds that say nothing."""

LOADED = {
    "html": [
        "<ol>", "<li>", "</li>", "<table>", "<tr><td>", "<p>", "</p>", "<!--", "<a href=x>", "<div>", "</div>", "<h1>",
        "&amp;", "<b>", "<footer>", "<pre>",
    ],
    "rtf": ["{", "}", "\\par ", "\\b ", "\\'e4", "\\u228?", "{\\footnote ", "\\cell ", "\\row "],
    "tex": ["\\section{", "}", "{", "$", "%", "\\begin{a}", "\\end{a}", "\\\\", "\\item ", "[", "]"],
    "eml": ["Subject: x\n", " x\n", "--a\n", "=?utf-8?q?x?=", "Content-Type: multipart/mixed; boundary=a\n", ">"],
    "srt": ["1\n", "00:00:01,000 --> 00:00:02,000\n", "x\n", "\n", "-->"],
    "xml": ["<a>", "</a>", "<a b='c'/>", "<![CDATA[", "]]>", "<!--", "&lt;", "<?x?>"],
    "csv": ["a,", "\"", "\n", ";", "\t", "\"\""],
    "json": ["[", "]", "{", "}", "\"a\":", "1,", "\"", "\\u00e4"],
    "jsonl": ["{\"text\": \"a\"}\n", "\n", "{", "x\n", "[1]\n"],
    "ipynb": ["{\"cells\": [", "{\"cell_type\": \"code\", \"source\": \"x\"},", "]", "}"],
    "md": ["---\n", "# ", "[", "](", "`", "* ", "> ", "|", "<!-- "],
    "rst": ["===\n", ".. ", "::", "`", "* ", "|"],
    "adoc": ["== ", "----\n", "* ", "|===\n", "[", "]"],
    "org": ["* ", "#+BEGIN_SRC\n", "#+END_SRC\n", "| ", ":PROPERTIES:\n", "[["],
    "txt": ["\n", "CHAPTER ", "=", "1.1 ", "\t"],
    "py": ["def f():\n", "(", ")", "'''", "#", "\n", " "],
}  # fmt: skip
"""By suffix: signs that its format knows."""


def _grows(work: Callable[[str], object], unit: str) -> None:
    """Fails where the work is more than linear in how often the unit is repeated."""
    size = _SMALL
    # Again with larger texts, where the first said so: a busy machine may lie once, and from two chunks on raptor
    # writes summaries.
    for _ in range(3):
        few, many = (_seconds(work, unit, times * size) for times in (1, 4))
        if many <= _NOTHING or many <= _MOST * max(few, _NOTHING / 4):
            return
        size *= 2
    raise AssertionError(
        f"{many:.2f} s of processor for {2 * size:,} characters, {few:.2f} s for {size // 2:,}"
    )


def _seconds(work: Callable[[str], object], unit: str, size: int) -> float:
    text = unit * (size // len(unit))
    started = time.process_time()
    work(text)
    return time.process_time() - started


def case(rng: random.Random) -> str:
    """A strategy or a loader, and a text that repeats up to three signs."""
    if rng.random() < 0.6:
        return _strategy(rng)
    suffix = rng.choice(sorted(LOADED))
    unit = "".join(rng.choices(LOADED[suffix] + rng.sample(SIGNS, 3), k=rng.randrange(1, 4)))
    lead = {"rtf": "{\\rtf1 ", "xml": "<?xml version='1.0'?><a>", "html": "<!doctype html>"}

    def read(text: str) -> None:
        data = (lead.get(suffix, "") + text).encode("utf-8", "surrogatepass")
        name = f"grown.{suffix}"
        for _ in load(Source("grown", name, data=data), LoadOptions(), _ignore):
            pass

    try:
        _grows(read, unit)
    except Exception as error:
        error.args = (f"reading {unit!r} as .{suffix}: {error}",)
        raise
    return f".{suffix}"


def _ignore(_: UnreadableDocument) -> None:
    """What cannot be read is told, and that is all."""


def _strategy(rng: random.Random) -> str:
    name = rng.choice(STRATEGIES)
    format, language = rng.choice(FORMATS)
    unit = "".join(rng.choices(SIGNS, k=rng.randrange(1, 4)))
    size = rng.choice([5, 50, 500])
    unit_of_size = {"characters": "max_chars", "words": "max_words"}.get(name, "max_tokens")
    spec = f"{name}({unit_of_size}={size}, overlap={rng.choice([0, size // 3])})"

    def cut(text: str) -> None:
        for _ in made(spec).chunks(Document("grown", text, format=format, language=language)):
            pass

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*failed: ", UserWarning)
            _grows(cut, unit)
    except Exception as error:
        error.args = (f"{spec} of {unit!r} as {format} {language}: {error}",)
        raise
    return name


GROWTH = Part(
    "growth",
    "Texts grown",
    "up to three signs over and over, cut or read as a format: four times as many take about four times as long",
    case,
    block=10,
    hang=600,
)

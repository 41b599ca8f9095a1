"""The texts everything is measured on: the shared data where it is there, generated text elsewhere."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MEGABYTE = 1_000_000

_NOUNS = (
    "harbour keeper lamp tide ledger bridge garden letter council winter engine orchard map".split()
)
_VERBS = (
    "carried opened measured kept followed repaired counted remembered crossed described".split()
)
_ADJECTIVES = "quiet narrow second patient northern early unlikely heavy public careful".split()
_TITLES = ("Dr. Hale", "Mrs. Orme", "J. R. Finch", "St. Anne", "Prof. Li", "Capt. Roy", "Mr. Vane")
_PROSE = ("books", "squad_distractors", "squad2", "cuad")
"""Books, then articles and contracts: a tokenizer that remembers words reads a repeated book too quickly."""
_LINKS = (", and", "; then", ", although", " because", " while", ", i.e. when", " before")


def _clause(rng: random.Random) -> str:
    subject = rng.choice(_TITLES) if rng.random() < 0.2 else f"the {rng.choice(_NOUNS)}"
    amount = f" at {rng.randint(1, 11)}.{rng.randint(10, 59)} a.m." if rng.random() < 0.06 else ""
    object_ = f"the {rng.choice(_ADJECTIVES)} {rng.choice(_NOUNS)}"
    return f"{subject} {rng.choice(_VERBS)} {object_}{amount}"


def _sentence(rng: random.Random) -> str:
    text = _clause(rng)
    for _ in range(rng.randint(0, 3)):
        text += f"{rng.choice(_LINKS)} {_clause(rng)}"
    text = text[0].upper() + text[1:]
    return f'"{text}," she said.' if rng.random() < 0.08 else text + rng.choice("......?!")


def _paragraph(rng: random.Random) -> str:
    return " ".join(_sentence(rng) for _ in range(rng.randint(2, 9)))


def generated_prose(size: int) -> str:
    """Paragraphs of made sentences, the same on every machine."""
    rng, parts, length = random.Random(7), [], 0
    while length < size:
        parts.append(_paragraph(rng))
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)


def generated_markdown(size: int) -> str:
    """Headings, paragraphs, lists, tables and code, the same on every machine."""
    rng, parts, length = random.Random(8), [], 0
    while length < size:
        depth = rng.randint(1, 4)
        parts.append(f"{'#' * depth} The {rng.choice(_ADJECTIVES)} {rng.choice(_NOUNS)}")
        parts += [_paragraph(rng) for _ in range(rng.randint(1, 4))]
        kind = rng.random()
        if kind < 0.3:
            parts.append("\n".join(f"- {_clause(rng)}" for _ in range(rng.randint(3, 8))))
        elif kind < 0.5:
            rows = "\n".join(f"| {rng.choice(_NOUNS)} | {rng.randint(1, 99)} |" for _ in range(6))
            parts.append(f"| name | count |\n|---|---|\n{rows}")
        elif kind < 0.7:
            parts.append(
                "```python\ndef count(items):\n    # no heading\n    return len(items)\n```"
            )
        length += sum(map(len, parts[-8:]))
    return "\n\n".join(parts)


def generated_code(size: int) -> str:
    """Python classes and functions, the same on every machine."""
    rng, parts, length = random.Random(10), ["import math\n"], 0
    while length < size:
        noun, verb, other = rng.choice(_NOUNS), rng.choice(_VERBS), rng.choice(_NOUNS)
        methods = "\n\n".join(
            f'    def {verb}_{rng.choice(_NOUNS)}(self, {other}: int) -> int:\n        """{_sentence(rng)}"""\n'
            f"        if {other} > {rng.randint(2, 99)}:\n            return self.{noun} + {other}\n"
            f"        return math.gcd({other}, {rng.randint(2, 99)})"
            for _ in range(rng.randint(1, 9))
        )
        parts.append(
            f'class {noun.title()}:\n    """{_sentence(rng)}"""\n\n    {noun} = 0\n\n{methods}\n'
        )
        length += len(parts[-1])
    return "\n\n".join(parts)


def texts_of(name: str) -> Iterator[tuple[str, str]]:
    """Name and text of each document of a shared set."""
    with (SHARED / name / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            yield document["doc_id"], document["text"]


def _shared_texts(name: str) -> Iterator[str]:
    return (text for _, text in texts_of(name))


def _up_to(size: int, names: Iterable[str]) -> Iterator[str]:
    """Texts of these sets until they have so many characters, or all of them."""
    for text in chain.from_iterable(map(_shared_texts, names)):
        yield text
        size -= len(text)
        if size <= 0:
            return


def available(name: str) -> bool:
    return (SHARED / name / "corpus.jsonl").is_file()


def _sized(text: str, size: int) -> str:
    """Exactly `size` bytes of UTF-8, or up to three fewer."""
    data = text.encode()
    data *= -(-size // len(data))
    return data[:size].decode(errors="ignore")


@lru_cache(maxsize=4)
def prose(size: int = 800_000) -> str:
    """English prose with paragraphs; of the shared data nothing comes twice before all of it came once."""
    if available("books"):
        return _sized("\n\n".join(_up_to(size, filter(available, _PROSE))), size)
    return _sized(generated_prose(min(size, 4 * MEGABYTE)), size)


@lru_cache(maxsize=4)
def markdown(size: int = 800_000) -> str:
    """Documentation with headings, lists, tables and code."""
    if available("docs_fastapi_en"):
        return _sized("\n\n".join(_shared_texts("docs_fastapi_en")), size)
    return _sized(generated_markdown(min(size, 4 * MEGABYTE)), size)


def origin() -> str:
    """One line for the page: where the text came from."""
    if available("books") and available("docs_fastapi_en"):
        return "English books and the FastAPI documentation from the shared data"
    return "generated prose and Markdown (seeded)"


def _no_separators(size: int) -> str:
    rng = random.Random(9)
    return _sized("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=100_003)), size)


def _headings_10k(size: int) -> str:
    body = (prose(200_000).replace("\n", " ") * 2)[: size // 10_000 - 20]
    return _sized("".join(f"## Heading {n}\n\n{body}\n\n" for n in range(10_000)), size)


def _headings_only(size: int) -> str:
    parts = (f"{'#' * (n % 6 + 1)} Heading number {n}\n\n" for n in range(size // 20))
    return _sized("".join(parts), size)


_HOSTILE: dict[str, tuple[Callable[[int], str], str]] = {
    "no separators": (_no_separators, "text"),
    "one letter": (lambda size: _sized("a", size), "text"),
    "one line of words": (lambda size: _sized(prose().replace("\n", " "), size), "text"),
    "white space": (lambda size: _sized(" \n\t  \n\n ", size), "text"),
    "spaces only": (lambda size: _sized(" ", size), "text"),
    "line feeds only": (lambda size: _sized("\n", size), "text"),
    "ten thousand headings": (_headings_10k, "markdown"),
    "headings only": (_headings_only, "markdown"),
    "a million short lines": (lambda size: _sized("a short 1\n", size), "text"),
    "short lines as Markdown": (lambda size: _sized("a short 1\n", size), "markdown"),
    "Yes. No.": (lambda size: _sized("Yes. No. ", size), "text"),
    "emoji families": (lambda size: _sized("👨‍👩‍👧‍👦", size), "text"),
    "dashes": (lambda size: _sized("-", size), "text"),
    "dashes as Markdown": (lambda size: _sized("-", size), "markdown"),
    "dashed lines": (lambda size: _sized("-" * 79 + "\n", size), "markdown"),
    "CJK without spaces": (lambda size: _sized("天地玄黃宇宙洪荒日月盈昃辰宿列張", size), "text"),
    "CJK sentences": (lambda size: _sized("天地玄黃，宇宙洪荒。日月盈昃！", size), "text"),
    "digits": (lambda size: _sized("3141592653589793", size), "text"),
    "full stops": (lambda size: _sized(".", size), "text"),
    "combining marks": (lambda size: _sized("e\u0301\u0302\u0303", size), "text"),
    "one grapheme": (lambda size: _sized("a" + "\u0301" * (size // 2), size), "text"),
    "flags": (lambda size: _sized("🇩🇪", size), "text"),
    "carriage returns": (lambda size: _sized("One.\rTwo.\r", size), "text"),
    "open brackets": (lambda size: _sized("[(", size), "markdown"),
    "table rows": (
        lambda size: "| a | b |\n|---|---|\n" + _sized("| 1 | two |\n", size),
        "markdown",
    ),
    "list items": (lambda size: _sized("- item\n", size), "markdown"),
    "nested list": (lambda size: _sized("- a\n  - b\n    - c\n      - d\n", size), "markdown"),
    "open fence": (lambda size: "```\n" + _sized("x = 1\n\n", size), "markdown"),
    "quotes": (lambda size: _sized("> > > q\n", size), "markdown"),
    "slashes": (lambda size: _sized("/", size), "text"),
    "Setext headings": (lambda size: _sized("a\n=\n", size), "markdown"),
    "numbered paragraphs": (lambda size: _sized("1. One\n\n2. Two\n\n", size), "text"),
    "headings in capitals": (lambda size: _sized("TITLE\n\ntext\n\n", size), "text"),
    "joiners in words": (lambda size: _sized("a\u200d b ", size), "text"),
    "log lines": (lambda size: _sized("2024-05-01 12:00:00 INFO request 17 done\n", size), "text"),
}


def hostile_names() -> list[str]:
    return list(_HOSTILE)


def hostile(name: str, size: int = 10 * MEGABYTE) -> tuple[str, str]:
    """A hostile text of `size` bytes and the format it is read as."""
    make, format = _HOSTILE[name]
    return make(size), format

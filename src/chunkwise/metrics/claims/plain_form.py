"""Texts in the form in which they are compared: words and numbers in one spelling, between single spaces."""

from __future__ import annotations

import unicodedata

import regex

# Written without spaces between words: every character is a word, so that a name is found inside a sentence.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
# A full stop between digits is part of a number; so is a minus that follows no word. C++ and C# are not C.
_TOKEN = regex.compile(
    rf"[{_UNSPACED}]\p{{M}}*"
    r"|(?<![^\s(\[])-(?=\d)"
    rf"|(?:[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]|(?<=\d)\.(?=\d))+(?:\+\+|\#(?![\p{{L}}\p{{N}}]))?"
    r"|[%‰°\p{Sc}]",
    regex.V1,
)
_THOUSANDS = regex.compile(
    r"(?<![\d.,])\d{1,3}(?:([,'’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?!\d)"
)
_BREAKS = regex.compile(r"[,'’\u00a0\u2009\u202f]")
_FRACTION = regex.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_INVISIBLE = regex.compile("[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")
_FOREIGN_DIGIT = regex.compile(r"(?![0-9])\p{Nd}")
_MINUS = regex.compile("[−‐‑]")
_NUMBER = regex.compile(r"-?\d[\d.]*")


def plain_form(text: str) -> str:
    """Case, compatible characters, white space and punctuation do not count; 1,000 is 1000. Begins and ends with a
    space, as every word does: what is found in it is found at the bounds of words."""
    if not text.isascii():
        text = _FRACTION.sub(" ", _INVISIBLE.sub("", text))
    text = _THOUSANDS.sub(lambda match: _BREAKS.sub("", match[0]), text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MINUS.sub("-", text))
        # Digits of scripts that Python's own tables do not know yet stay as they are.
        text = _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0], match[0])), text)
    words = " ".join(_TOKEN.findall(text.casefold()))
    return f" {words.replace('- ', '-')} " if words else " "


def holds(text: str, part: str) -> bool:
    """Whether a text holds another, both in their plain form; nothing is held by no text."""
    return part != " " and part in text


def numbers_of(text: str) -> frozenset[str]:
    """The numbers of a text in its plain form."""
    return frozenset(word for word in text.split() if _NUMBER.fullmatch(word))

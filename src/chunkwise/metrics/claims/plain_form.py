"""Texts in the form in which they are compared: words and numbers in one spelling, between single spaces."""

from __future__ import annotations

import re
import unicodedata

import regex

from chunkwise.metrics.claims.number_spelling import in_one_spelling
from chunkwise.metrics.claims.word_spelling import words_in_one_spelling

# Written without spaces between words: every character is a word, so that a name is found inside a sentence.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
HAN_NUMBER = "零〇一二三四五六七八九十百千万亿两兩萬億"
# A full stop between digits is part of a number; so is a minus that follows no word. C++ and C# are not C.
_TOKEN = regex.compile(
    rf"[{HAN_NUMBER}]+|[{UNSPACED}]\p{{M}}*"
    r"|(?<![^\s(\[])-(?=\d)"
    rf"|(?:[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]|(?<=\d)\.(?=\d))+(?:\+\+|\#(?![\p{{L}}\p{{N}}]))?"
    r"|\^\d+"
    r"|[%‰°\p{Sc}]",
    regex.V1,
)
# The same for texts of Latin letters and the usual punctuation, several times faster.
_LATIN = re.compile("[\0-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*")
_LATIN_TOKEN = re.compile(
    r"[^\W_]+(?:(?<=[0-9])\.(?=[0-9])[^\W_]+)*(?:\+\+|#(?![^\W_]))?"
    r"|[%‰°$¢-¥\u20a0-\u20bf]"
    r"|(?<![^ \t-\r\x85(\[])-(?=[0-9])"
    r"|\^[0-9]+"
)
_NUMBER = re.compile(r"(?<= )\S*\d\S*")
_RAISED = regex.compile(r"(?<=\d)[⁰¹²³⁴-⁹]+")
_APART = regex.compile(r"(?<=\d)(?=[¼-¾⅐-⅞₀-₉])")
_INVISIBLE = regex.compile("[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")
_FOREIGN_DIGIT = regex.compile(r"(?![0-9])\p{Nd}")
_ARABIC_MARK = regex.compile(r"(?<=\d)[٫٬](?=\d)")
_MINUS = regex.compile(r"[−‐‑]|(?<![^\s(\[])–(?=\d)")
# A price is found whether its sign stands before or behind it.
_SIGN_FIRST = re.compile(r"(?<![0-9] )([$¢-¥\u20a0-\u20bf]) (-?[0-9][0-9.]*)(?= )")


def plain_form(text: str, points: bool | None = None) -> str:
    """Case, compatible characters, white space and punctuation do not count; numbers are in one spelling, for which
    `points` says whether a point parts thousands (None: told by the text). Begins and ends with a space, as every
    word does: what is found in it is found at the bounds of words."""
    if not text.isascii():
        text = _APART.sub(" ", _RAISED.sub(r" ^\g<0>", _INVISIBLE.sub("", text)))
        text = unicodedata.normalize("NFKC", _MINUS.sub("-", text))
        text = _ARABIC_MARK.sub(lambda match: "." if match[0] == "٫" else ",", text)
        # Digits of scripts that Python's own tables do not know yet stay as they are.
        text = _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0], match[0])), text)
    text = words_in_one_spelling(in_one_spelling(text, points).casefold())
    token = _LATIN_TOKEN if _LATIN.fullmatch(text) else _TOKEN
    words = " ".join(token.findall(text))
    return _SIGN_FIRST.sub(r"\2 \1", f" {words.replace('- ', '-')} ") if words else " "


def readings(text: str) -> tuple[str, ...]:
    """The plain forms of something sought: 1.000 alone does not tell whether it is one or a thousand."""
    return tuple({plain_form(text, points): None for points in (False, True)})


def holds(text: str, part: str) -> bool:
    """Whether a text holds another, both in their plain form; nothing is held by no text."""
    return part != " " and part in text


def numbers_of(text: str) -> frozenset[str]:
    """The words with a digit of a text in its plain form."""
    return frozenset(_NUMBER.findall(text))

"""Texts in their plain form: case, punctuation and the writing of words and numbers do not count."""

from __future__ import annotations

import re
import unicodedata

import regex

from chunkwise.text.language import language_of_text

# Only what begins with a digit is looked at: everything else in a text is passed over quickly.
_WRITTEN = re.compile(r"[0-9](?<![0-9.,][0-9])[0-9]*(?:[.,'’][0-9]+)+")
_SPACED = re.compile(r"[1-9](?<![\w.,][0-9])(?<![0-9] [0-9])[0-9]{0,2}(?: [0-9]{3})+(?! ?[0-9])")
_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:([,'’])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:\.[0-9]{3})+,[0-9]+)")
_ONE_POINT = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_DECIMALS = re.compile(r"[0-9]+,[0-9]+")
_MONEY_BEFORE = re.compile(r"(?:[$£¥€]|eur|chf) ?\Z", re.IGNORECASE)
_MONEY_BEHIND = re.compile(r"\s?(?:[$£¥€]|eur|chf)", re.IGNORECASE)
_DECADE = "|".join(
    f"(?<={before}0)"
    for before in (
        "1[0-9][0-9]", "20[0-9]", "['’][1-9]", "[Ii]n the [1-9]", "of the [1-9]", "[Ss]ince the [1-9]",
        "[Dd]uring the [1-9]", "[Ee]arly [1-9]", "[Ll]ate [1-9]", "[Mm]id[ -][1-9]",
    )
)  # fmt: skip
# No unit: 5th, 5G and 3M, the 1960s, in the 60s.
_UNIT = re.compile(
    r"[0-9](?<![\w.][0-9])[0-9]*(?:\.[0-9]+)*(?!(?:st|nd|rd|th|[GHMST])\b)"
    rf"(?!(?:{_DECADE})s\b)(?=[^\W\d_]+(?![^\W_]))"
)
# What an apostrophe has shortened to one letter is no unit: "en 2019 l'entreprise" are no litres.
_ELIDED = re.compile(r"(?<=[0-9] )[lmst]['’](?=[^\W\d_]{2})", re.IGNORECASE)
_MILLIONS = re.compile(
    r"((?:[$£¥€]|\b(?:usd|eur|gbp|jpy|chf)) ?[0-9](?:[0-9.,]*[0-9])?) ?(k|mn?|bn?|tn)\b(?!['’])"
    r"|(?<![\w.,])([0-9](?:[0-9.,]*[0-9])?) ?(k|mn?|bn?|tn)(?= ?(?:[$£¥€]|(?:usd|eur|gbp|jpy|chf)\b))",
    re.IGNORECASE,
)
_SCALE = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion"}
# Three numbers side by side are no date; points keep together those that were written as one.
_SHORT_DATE = re.compile(
    r"(?<![\w./-])([0-9]{1,2})([/-])([0-9]{1,2})\2([0-9]{2})(?![\w/-]|\.[0-9])"
)
_AREA = re.compile(r"(?<=[0-9])(?=[cdk]?m[23]\b)")
_CLOCK = re.compile(r"(?<![\w.:])([01]?[0-9]|2[0-4]):([0-5][0-9])(?![\w:]|\.[0-9])")
_HALVES = re.compile(
    r"(?<![0-9/.,])(?:([0-9]{1,6}) )?(1/2|[13]/4|[1-4]/5|[1357]/8)(?![0-9/]|[.,][0-9])"
)
_MARKS = re.compile("[,'’]")
_WITH_POINTS = frozenset("da de el es fr id it nl pt ro tr".split())
"""Languages in which a point parts thousands."""


def in_one_spelling(text: str, points: bool | None = None) -> str:
    """The text with 1,000, 1 000, 1'000 and 12,34,567 without their marks, 3,5 and 3 1/2 as 3.5, 5kg as 5 kg,
    17:30 as 17h30, $5m as $5 million, 3/5/21 as 3.5.21.

    A comma before exactly three digits parts thousands, any other one decimals; several (3,5,7) are a list. A point
    before exactly three digits parts thousands where there are several, where a decimal comma follows, or in money,
    which has two decimals; else `points` says it, or, where that is None, the text's language. A space parts
    thousands where no other number stands beside them.
    """

    def spelled(match: re.Match[str]) -> str:
        nonlocal points
        number = match[0]
        if _GROUPS.fullmatch(number) or _INDIAN.fullmatch(number):
            return _MARKS.sub("", number)
        if _POINTS.fullmatch(number):
            return number.replace(".", "").replace(",", ".")
        if _ONE_POINT.fullmatch(number):
            if not _is_money(text, *match.span()):
                if points is None:
                    points = points_part_thousands(language_of_text(text))
                if not points:
                    return number
            return number.replace(".", "")
        return number.replace(",", ".") if _DECIMALS.fullmatch(number) else number

    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    text = _ELIDED.sub("", _SHORT_DATE.sub(r"\1.\3.\4", _MILLIONS.sub(_in_full, text)))
    if "/" in text:
        text = _HALVES.sub(_decimals, text)
    if ":" in text:
        text = _CLOCK.sub(r"\1h\2", text)
    return _AREA.sub(" ", _UNIT.sub(r"\g<0> ", _WRITTEN.sub(spelled, text)))


def _in_full(match: re.Match[str]) -> str:
    return f"{match[1] or match[3]} {_SCALE[(match[2] or match[4])[0].lower()]}"


def _decimals(match: re.Match[str]) -> str:
    part = int(match[2][0]) / int(match[2][2])
    return f"{int(match[1] or 0) + part:g}"


def points_part_thousands(language: str) -> bool:
    """Whether 1.000 is a thousand in a text of this language."""
    return language in _WITH_POINTS


def _is_money(text: str, start: int, end: int) -> bool:
    before = _MONEY_BEFORE.search(text[max(0, start - 4) : start])
    return bool(before or _MONEY_BEHIND.match(text, end))


# Only words that are written both ways: "vitamin E-rich" is no word "erich". A digit beside one is a word of its own.
_E_WORD = re.compile(
    r"(?<![^\W\d_])e-(?=(?:mail|book|commerce|learning|reader|banking|government|signature|ticket|sport|bike|scooter"
    r"|invoice|cigarette|waste|paper|health|voting)(?:s|ed|ing)?(?![^\W\d_]))"
)
# Between letters alone: elsewhere it is a sign of code or of a list of numbers.
_AND = re.compile(r"(?<=[^\W\d_])\s*&\s*(?=[^\W\d_])")


def words_in_one_spelling(folded: str) -> str:
    """Of a text whose case is folded."""
    if "e-" in folded:
        folded = _E_WORD.sub("e", folded)
    return _AND.sub(" and ", folded) if "&" in folded else folded


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
_FRACTION = re.compile("(?:(?<![0-9.,])([0-9]{1,6}) ?)?([¼-¾⅕-⅘⅛-⅞])")
_DECIMAL = {each: f"{unicodedata.numeric(each):g}"[1:] for each in "¼½¾⅕⅖⅗⅘⅛⅜⅝⅞"}
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
        text = _FRACTION.sub(lambda each: (each[1] or "0") + _DECIMAL[each[2]], text)
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

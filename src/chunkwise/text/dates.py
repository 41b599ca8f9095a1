"""Whether a number and what follows it are a date, "5 January 2020", or a day, "10. Mai"."""

from __future__ import annotations

import re

_MONTHS = frozenset(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar jänner februar feber märz mai juni juli oktober dezember mär mrz okt dez
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    januari februari maart mei augustus
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
    जनवरी फरवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर सितम्बर अक्टूबर अक्तूबर नवंबर नवम्बर दिसंबर दिसम्बर
    يناير فبراير مارس أبريل إبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
    มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม
    """.split()
)
_BETWEEN = frozenset("of de del di พ.ศ. г. года م".split())
"""Stand between a day, its month and its year, or behind the year."""
_YEAR = re.compile(r"['’]?\d{2,4}[.:]?")
_LAST_DAY = 31


def is_day(number: str, words: str) -> bool:
    """Whether the words behind a number are a month's name and nothing else."""
    return len(_names(number, words)) == 1


def is_date(number: str, words: str) -> bool:
    """Whether the words behind a number are a month's name and a year."""
    names = _names(number, words)
    return len(names) == 2 and _YEAR.fullmatch(names[1]) is not None


def _names(number: str, words: str) -> list[str]:
    """The words that are names or numbers, if the number may be a day and the first is a month."""
    if "." in number or not 1 <= int(number) <= _LAST_DAY:
        return []
    names = [name for name in words.lower().replace(",", " ").split() if name not in _BETWEEN]
    return names if names and names[0].rstrip(".") in _MONTHS else []

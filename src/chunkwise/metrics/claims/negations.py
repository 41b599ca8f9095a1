"""What a text denies: its negations, and the words behind them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from operator import itemgetter

from chunkwise.text.terms import stemmer, stop_words

# As they stand in the plain form: "don't" is "don t", every Chinese and Japanese character a word of its own.
_NEGATIONS = {
    "en": r"not|no|never|none|nobody|nothing|neither|nor|without|cannot|\w*n t|unable|impossible|forbidden|prohibit\w*",
    "de": r"nicht|kein\w*|nie|niemals|niemand\w*|nichts|ohne|weder|verboten\w*|untersagt\w*|unmöglich",
    "fr": r"ne|n|pas|non|jamais|sans|aucune?|rien|ni|interdite?s?|impossible",
    "es": r"no|nunca|jamás|sin|ningún|ninguna?|nada|nadie|tampoco|ni|prohibid[oa]s?|imposible",
    "it": r"non|no|mai|senza|nessun\w*|niente|nulla|né|vietat[oaie]|impossibile",
    "pt": r"não|nunca|jamais|sem|nenhuma?|nada|ninguém|nem|proibid[oa]s?|impossível",
    "nl": r"niet|geen|nooit|zonder|niets|niemand|noch|verboden|onmogelijk",
    "sv": r"inte|ej|aldrig|ingen|inget|inga|förbjud\w*",
    "da": r"ikke|aldrig|ingen|intet|uden|forbudt",
    "no": r"ikke|aldri|ingen|intet|uten|forbudt",
    "pl": r"nie|nigdy|bez|żaden|żadn\w*|nikt|nic|brak|zabronion\w*",
    "cs": r"ne|nikdy|bez|žádn\w*|nikdo|nic|zakázán\w*",
    "ru": r"не|нет|ни|без|никогда|никто|ничего|нельзя|запрещ\w*",
    "uk": r"не|немає|ні|без|ніколи|ніхто|нічого|заборон\w*",
    "bg": r"не|няма|без|никога|никой|нищо|забран\w*",
    "el": r"δεν|μην?|χωρίς|ποτέ|κανείς|τίποτα",
    "tr": r"değil\w*|yok\w*|asla|hiç\w*|yasak\w*",
    "ar": r"لا|لم|لن|ليس\w*|غير|بدون",
    "he": r"לא|אין|בלי|ללא",
    "hi": r"नहीं|मत|बिना",
    "zh": r"不|没|沒|無|无|未|勿|禁|莫",
    "ja": r"な い|な か|な く|な し|ま せ ん|ず|不|無|未|禁",
    "ko": r"않|없|못|아 니|안 (?=[되하돼])",
}  # fmt: skip
_NOT_NEGATIONS = {
    "en": r"not only|no later than|whether or not|no(?= \d)",
    "de": r"nicht nur|nicht zuletzt",
    "fr": r"non seulement",
    "es": r"no s[oó]lo",
    "zh": r"不 [仅僅但只论論断斷过過久同少]|[无無] [论論]|未 [来來]",
}
_JOINS = frozenset(
    "and or but und oder aber sondern et ou mais y o pero e ma mas en of maar".split()
)
_WORD = re.compile(r"\S+")
_NEAR = 4
"""Words behind a negation among which are those it denies."""


def denied(plain: str, language: str) -> list[list[str]]:
    """Of a text in its plain form, the stems behind every negation, up to an "and"; empty: nothing is denied."""
    negation, idiom = _patterns(language)
    plain = idiom.sub("", plain)
    return [_stems_behind(plain, match.end(), language) for match in negation.finditer(plain)]


def _stems_behind(plain: str, position: int, language: str) -> list[str]:
    small, stem = stop_words(language), stemmer(language)
    found = []
    # Not a slice: all that is left would be copied for every negation.
    for word in map(itemgetter(0), islice(_WORD.finditer(plain, position), _NEAR)):
        if word in _JOINS:
            break
        if word not in small:
            found.append(stem(word))
    return found


@lru_cache(maxsize=64)
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """English is looked for as well, because of a short text the language is easily mistaken; but "no" is a small
    word of Portuguese."""
    own = [language] if language in _NEGATIONS else ["de", "zh"]
    english = _NEGATIONS["en"].split("|")
    if language != "en":
        english = [word for word in english if word not in stop_words(language)]
    words = "|".join([*english, *(_NEGATIONS[each] for each in own)])
    idioms = "|".join(_NOT_NEGATIONS[each] for each in ("en", *own) if each in _NOT_NEGATIONS)
    whole = "(?<= )(?:{})(?= )"
    return re.compile(whole.format(words)), re.compile(whole.format(idioms))

"""The language of a document, told by its script and by the small words every text is full of; and names of months."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache

from chunkwise.core import Document

MONTHS = {
    "en": "january february march april may june july august september october november december".split(),
    "de": "januar februar märz april mai juni juli august september oktober november dezember".split(),
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split(),
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(),
}
"""By language, the first month first."""
_SHORT_MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mar apr mai jun jul aug sept okt nov dez",
)
MONTH_NUMBERS = {
    name: number
    for names in (*MONTHS.values(), *map(str.split, _SHORT_MONTHS))
    for number, name in enumerate(names, 1)
}
"""The names of months in these languages, and their short forms."""

SMALL_WORDS = {
    "en": "the of and to in is that it for was on with as be by at this are from or have an they which you were"
    " had not but his her there been their will would has when who more can if what said into your all its do we",
    "de": "der die das und ist nicht ein eine einen einem einer zu den dem des mit von auf für im sich auch als an"
    " es wird sie er ich bei aus nach werden wie dass oder war nur über sind durch haben noch kann wenn zum zur",
    "fr": "le la les des et est un une du dans que qui pour pas sur au aux avec ce cette il elle sont par plus ne se"
    " nous vous mais ou son ses leur être été ont avoir comme tout fait peut même où",
    "es": "el la los las de que y en un una es se no por con para su al lo como más pero sus le ha este esta cuando"
    " muy sin sobre también hay desde todo nos son entre está era ser fue puede",
    "it": "il lo la gli le di che e un una è per non in con si da del della dei delle nel nella al alla come più ma"
    " sono anche questo questa ha essere dal sul cui suo sua loro era stato ed",
    "pt": "o a os as de que e do da em um uma para com não no na por mais dos das como mas ao ele ela seu sua ou"
    " quando muito nos já está também só pelo pela até isso são foi ser há você",
    "nl": "de het een en van is dat die in niet zijn op te met voor aan er maar om hij ook als dan bij nog uit door"
    " naar wordt worden deze dit kan meer geen over zich hebben heeft was",
    "sv": "och att det som en är av för den till inte med på har om ett var jag han från men de så vi kan när eller"
    " ska också efter hade nu vid mot skulle",
    "da": "og at det som en er af for den til ikke med på har om et var jeg han fra men de så vi kan når eller skal"
    " også efter havde nu ved mod skulle blev af hvor",
    "no": "og at det som en er av for den til ikke med på har om et var jeg han fra men de så vi kan når eller skal"
    " også etter hadde nå ved mot skulle ble hvor seg",
    "pl": "i w nie na się z do to że jest jak o za od po przez dla są tym co być był może ich tak oraz jego tego"
    " które który ale lub już tylko jako",
    "cs": "a se v na je že s z do to o i k ve pro ale jako za by od po jsou byl jeho nebo jak při co již které který"
    " aby bylo tak podle může",
    "tr": "ve bir bu da de için ile olarak olan çok daha gibi en kadar sonra ne o değil ama var ise olduğu her"
    " tarafından göre olup veya ya mi",
    "fi": "ja on ei se että oli hän en mutta ovat kun niin tai myös joka sen ole kuin mukaan ollut voi tämä jos"
    " sekä hänen jossa jotka",
    "hu": "a az és hogy nem is egy van ez meg de volt már csak mint ha még el kell aki vagy által között után amely"
    " lehet ezt azt",
    "ro": "și de în la a cu pe nu că este un o din pentru care mai sau fi au ca prin sunt după al ale lui să dar fost",
    "id": "yang dan di dengan untuk pada ini dari dalam tidak adalah itu ke oleh sebagai akan atau telah juga karena"
    " lebih dapat mereka",
    "vi": "và của là có được trong cho không một các với những người này đã để khi về như từ ra đến tại cũng",
}

_TELLING = {
    "en": "he she how why where did does than then these those could should about may shall any some our my him out"
    " also",
    "de": "vom bis vor um wir uns ihr ihre ihren hat hatte was wer man unter diese dieser dieses sein seine wurde"
    " wurden welche welcher welches wo warum viele ab",
    "fr": "non je ils elles on deux très après sans sous leurs cet ces donc dont quand votre notre quel quelle chez"
    " depuis entre l' d' c' j' n' s' m' qu' jusqu' lorsqu'",
    "es": "del mi tu si porque donde hasta ya yo él así qué cómo cuál quién años tenía hemos sido dos les ni",
    "it": "i ai dalla sulla nei degli due perché mi chi dove così ci quando vostra nostra"
    " l' d' c' un' dell' nell' all' dall' sull' quest'",
    "pt": "sem seus suas tem à às num numa foram pelos anos onde porque",
    "sv": "i", "da": "i", "no": "i",
}  # fmt: skip
"""More that tell a language; with an apostrophe what is left of a word before a vowel."""

_ENGLISH_TOO = (
    "come over door men till met war per pour plus sin van para care pro com os dos son era ale den die par"
    " hat man mi chi due dont ab"
)
"""Small words of other languages that English spells as it does words of its own: half a proof."""

LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
"""The languages a small word speaks for."""
for _name, _words in SMALL_WORDS.items():
    for _word in dict.fromkeys(f"{_words} {_TELLING.get(_name, '')}".split()):
        LANGUAGES_OF[_word] = (*LANGUAGES_OF.get(_word, ()), _name)
for _word in _ENGLISH_TOO.split():
    LANGUAGES_OF[_word] = (*LANGUAGES_OF[_word], "en")

_LETTERS = {
    "de": "ß", "fr": "œ", "es": "ñ¿¡", "pt": "ãõ", "da": "æø", "no": "æø", "pl": "ąćęłńśźż", "cs": "ěřů", "tr": "ğış",
    "hu": "őű", "ro": "ășț", "vi": "ơưđ",
}  # fmt: skip
LETTERS_OF = {
    letter: tuple(name for name, letters in _LETTERS.items() if letter in letters)
    for letter in "".join(_LETTERS.values())
}
"""The languages whose own a letter or mark is, among those in Latin script."""

_SCRIPTS = (
    ("el", 0x0370, 0x03FF), ("ru", 0x0400, 0x04FF), ("hy", 0x0531, 0x0587), ("he", 0x0590, 0x05FF),
    ("ar", 0x0600, 0x06FF), ("hi", 0x0900, 0x097F), ("bn", 0x0980, 0x09FF), ("ta", 0x0B80, 0x0BFF),
    ("te", 0x0C00, 0x0C7F), ("th", 0x0E00, 0x0E7F), ("lo", 0x0E80, 0x0EFF), ("my", 0x1000, 0x109F),
    ("ka", 0x10A0, 0x10FF), ("ko", 0x1100, 0x11FF), ("am", 0x1200, 0x137F), ("km", 0x1780, 0x17FF),
    ("el", 0x1F00, 0x1FFF), ("ja", 0x3040, 0x30FF), ("zh", 0x3400, 0x9FFF), ("ko", 0xAC00, 0xD7AF),
    ("zh", 0x20000, 0x3134F),
)  # fmt: skip


@cache
def script_of(char: str) -> str:
    """The language whose script a letter belongs to; empty for Latin and rare ones."""
    point = ord(char)
    return next((name for name, low, high in _SCRIPTS if low <= point <= high), "")


WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})
"""Languages whose words no space parts."""


UNKNOWN = "unknown"

_LOOKED_AT = 2000
"""Characters from the start of the prose: more rarely changes the answer."""
_VOTES = 60
"""Of a word, shared by its languages; as many are the least evidence that counts."""
_PLENTY = 3 * _VOTES
"""Evidence from which on the language with most votes is the one, however close the next."""
_LEAD = 1.25
_KIN = frozenset({"da", "no"})
"""Have most small words in common: neither need lead the other."""

_WORD = re.compile(r"[^\W\d_]+'?")
# Code in a text is full of English words, whatever the text is written in.
_NOT_PROSE = re.compile(r"`[^`\n]*`|https?://\S+|<[^<>\n]*>")
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)


def language_of(document: Document) -> str:
    """A two-letter code, "code: python" for source code, or "unknown"."""
    if document.format == "code":
        return f"code: {document.language}" if document.language else "code"
    return language_of_text(document.text)


def language_of_text(text: str) -> str:
    """A two-letter code or "unknown", from the first few thousand characters."""
    # Twice as much is read as is looked at, so that a listing at the start does not decide.
    head = text[: 2 * _LOOKED_AT]
    fenced = _FENCE.split(head)
    prose = " ".join(fenced[::2]) if len(fenced) > 1 else head
    prose = _NOT_PROSE.sub(" ", prose[:_LOOKED_AT])
    return _by_script(prose) or _by_words(prose) or _by_script(head) or UNKNOWN


def _by_script(text: str) -> str:
    """For scripts that one language, or one and its kin, is written in."""
    if text.isascii():
        return ""
    letters, result = 0, Counter[str]()
    for char, count in Counter(text).items():
        if char.isalpha():
            letters += count
            result[script_of(char)] += count
    del result[""]
    han, kana = result.pop("zh", 0), result.pop("ja", 0)
    # Japanese mixes kana into Han; Chinese quotes a kana now and then.
    result["ja" if kana * 8 > han else "zh"] = han + kana
    name, most = max(result.items(), key=lambda item: item[1])
    # A Chinese character says as much as a Latin word: a third of the letters is most of the text.
    share = 0.3 if name in ("zh", "ja", "ko") else 0.5
    return _refined(name, text) if most and most >= share * letters else ""


def _refined(name: str, text: str) -> str:
    """Kin that share a script, told apart by letters only one of them has."""
    if name == "ru":
        if re.search("[іїєґ]", text):
            return "uk"
        return "ru" if re.search("[ыэё]", text) or not re.search("ъ[^яеёю]", text) else "bg"
    if name == "ar":
        return "fa" if re.search("[پچژگ]", text) else "ar"
    return name


def _by_words(text: str) -> str:
    votes: defaultdict[str, int] = defaultdict(int)
    evidence: defaultdict[str, int] = defaultdict(int)
    small = text.lower().replace("’", "'")
    for word, count in Counter(_WORD.findall(small)).items():
        languages = LANGUAGES_OF.get(word, ())
        if not languages and word[-1] == "'":
            languages = LANGUAGES_OF.get(word[:-1], ())
        for language in languages:
            # "de" speaks for six languages a little, "und" for one alone.
            share = _VOTES // len(languages)
            votes[language] += count * share
            # A word said twice tells no more, and a letter may be a label: "a", "b", "o".
            evidence[language] += share if len(word) > 1 else 0
    for letter in set() if small.isascii() else LETTERS_OF.keys() & set(small):
        for language in LETTERS_OF[letter]:
            votes[language] += _VOTES // 2  # once: a name of that language may be all about it
            evidence[language] += _VOTES // 2
    best = max(votes, key=lambda name: (votes[name], name), default="")
    if evidence[best] < _VOTES:
        return ""
    others = (votes[name] for name in votes if name != best and not {name, best} <= _KIN)
    clear = evidence[best] >= _PLENTY or votes[best] >= _LEAD * max(others, default=0)
    return best if clear else ""

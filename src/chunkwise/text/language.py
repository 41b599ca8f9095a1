"""The language of a document, told by its script and by the small words every text is full of."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from chunkwise.core import Document
from chunkwise.text.function_words import LANGUAGES_OF, LETTERS_OF, script_of

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
    letters, found = 0, Counter[str]()
    for char, count in Counter(text).items():
        if char.isalpha():
            letters += count
            found[script_of(char)] += count
    del found[""]
    han, kana = found.pop("zh", 0), found.pop("ja", 0)
    # Japanese mixes kana into Han; Chinese quotes a kana now and then.
    found["ja" if kana * 8 > han else "zh"] = han + kana
    name, most = max(found.items(), key=lambda item: item[1])
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
